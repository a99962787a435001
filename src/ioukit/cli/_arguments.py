"""Options that several commands have in the same words, each on its own; groups are beside what they do."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

ThreadsOption: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Threads to use; the numbers are the same. [default: all]")
]
SeedOption: TypeAlias = Annotated[
    int, typer.Option(min=0, metavar="N", help="Seed; the same one gives the same numbers.")
]
ReplicatesOption: TypeAlias = Annotated[
    int, typer.Option(min=0, metavar="N", help="Data sets that intervals are made of; 0 for no intervals.")
]
PermutationsOption: TypeAlias = Annotated[int, typer.Option(min=1, metavar="N", help="Permutations of the test.")]
LevelOption: TypeAlias = Annotated[float, typer.Option(metavar="P", help="Probability of the intervals.")]
BestAndWorstOption: TypeAlias = Annotated[
    bool, typer.Option("--per-class", help="Show every class, not the best and worst five.")
]
ModelNames: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--name", metavar="NAME", help="Name of a model, once per model in order. [default: names of the files]"
    ),
]
MarkdownOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Also write Markdown; the file of $GITHUB_STEP_SUMMARY is appended to."),
]
CsvOption: TypeAlias = Annotated[Path | None, typer.Option(metavar="FILE", help="Also write the rows as CSV.")]
OperatingPointsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Leave out boxes below the threshold of their class, as ioukit operate wrote it, and calibrate scores if "
        "the file has a calibration.",
    ),
]
