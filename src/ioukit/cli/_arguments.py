"""Options that several commands have in the same words, each on its own; groups are beside what they do.

Also the headings of the help, and what a shell completes a value with: names of registers, which are imported when
somebody asks.
"""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

RESULTS, RULES, CHECKS = "Results", "Rules", "Checks for CI jobs"
RUNS, IMAGES, READING = "Ledger and trackers", "Which images belong together", "How files are read"
STATISTICS, LARGE = "Intervals and tests", "Large data"
"""Headings of the help, for options that several commands have; `_help.py` has their order."""
HEADINGS = {
    "AnswerOptions": RESULTS, "ReportOptions": RESULTS, "TablesOptions": RESULTS, "RuleOptions": RULES,
    "NamedRules": RULES, "SendingOptions": CHECKS, "LogOptions": RUNS, "LabelOptions": IMAGES,
    "ReadingOptions": READING, "WritingOptions": READING, "PartsOptions": LARGE, "DecidingOptions": RESULTS,
    "OrderOptions": RULES,
}  # fmt: skip
"""The headings of groups of options, for those of their options that name none."""

ThreadsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", rich_help_panel=LARGE, help="Threads to use; the numbers are the same. [default: all]"
    ),
]
SeedOption: TypeAlias = Annotated[
    int,
    typer.Option(min=0, metavar="N", rich_help_panel=STATISTICS, help="Seed; the same one gives the same numbers."),
]
ReplicatesOption: TypeAlias = Annotated[
    int,
    typer.Option(
        min=0, metavar="N", rich_help_panel=STATISTICS, help="Data sets that intervals are made of; 0: no intervals."
    ),
]
ResamplesOption: TypeAlias = Annotated[
    int,
    typer.Option(
        min=2, metavar="N", rich_help_panel=STATISTICS, help="Replicates of the bootstrap.", show_default=True
    ),
]
"""For commands whose results are intervals."""
PermutationsOption: TypeAlias = Annotated[
    int, typer.Option(min=1, metavar="N", rich_help_panel=STATISTICS, help="Permutations of the test.")
]
EnoughPermutationsOption: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1,
        metavar="N",
        rich_help_panel=STATISTICS,
        help="Permutations of the test. [default: 1000, or more if many models or the level need them]",
    ),
]
"""For commands that compare models."""
LevelOption: TypeAlias = Annotated[
    float, typer.Option(metavar="P", rich_help_panel=STATISTICS, help="Probability of the intervals.")
]
TestLevelOption: TypeAlias = Annotated[
    float,
    typer.Option(
        metavar="P",
        rich_help_panel=STATISTICS,
        help="Probability of the intervals; a p-value shows a difference if it is at most 1 - P.",
    ),
]
"""For commands that compare models."""
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
    typer.Option(
        metavar="FILE",
        rich_help_panel=RESULTS,
        help="Also write Markdown; the file of $GITHUB_STEP_SUMMARY is appended to.",
    ),
]
CsvOption: TypeAlias = Annotated[
    Path | None, typer.Option(metavar="FILE", rich_help_panel=RESULTS, help="Also write the rows as CSV.")
]
OperatingPointsOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Leave out boxes below the threshold of their class, as ioukit operate wrote it, and calibrate scores if "
        "the file has a calibration.",
    ),
]


def complete_kind() -> list[str]:
    """The kinds of regions."""
    from ioukit.evaluation.kinds import REGION_KINDS  # noqa: PLC0415 - for a shell

    return [*REGION_KINDS]


def complete_sigmas() -> list[str]:
    """The named sets of keypoints; files are completed where none of them begins as the word does."""
    from ioukit.evaluation.kinds.keypoint_sets import names_of_sets  # noqa: PLC0415 - for a shell

    return [*names_of_sets()]


def complete_protocol() -> list[str]:
    """The protocols; files are completed where none of them begins as the word does."""
    from ioukit.evaluation.protocols import PROTOCOLS  # noqa: PLC0415 - for a shell

    return [*PROTOCOLS]


def complete_tool() -> list[str]:
    """The tools whose rules are known."""
    from ioukit.evaluation import TOOLS  # noqa: PLC0415 - for a shell

    return [name for name, tool in TOOLS.items() if tool.is_known]


def complete_format() -> list[str]:
    """The formats of data."""
    from ioukit.datasets import FORMATS  # noqa: PLC0415 - for a shell

    return [*FORMATS]


def complete_label_kind() -> list[str]:
    """The kinds of wrong labels."""
    from ioukit.label_errors import LABEL_ERROR_KINDS  # noqa: PLC0415 - for a shell

    return [kind.key for kind in LABEL_ERROR_KINDS]
