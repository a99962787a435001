"""`ioukit remap`: gives classes other names, joins them or leaves them out."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._arguments import OnInvalid, OnInvalidOption, QuietOption, ReaderOptions, ThreadsOption
from ioukit.cli._data_sets import (
    ForceOption,
    FromOption,
    InputPath,
    Job,
    OutputPath,
    SummaryOption,
    ToOption,
    convert_data,
)
from ioukit.cli._near_names import did_you_mean, near_files
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "remap"]

EXAMPLES = """\b
Examples:
  ioukit remap instances.json vehicles.json --classes vehicles.csv
  ioukit remap instances.json vehicles.json --classes vehicles.txt --unmapped drop
  ioukit remap results.json results2.json --classes vehicles.csv --ground-truth instances.json
"""


class Unmapped(str, Enum):
    """What happens to classes that the file does not name."""

    KEEP = "keep"
    DROP = "drop"
    ERROR = "error"


def remap(
    source: InputPath,
    output: OutputPath,
    *,
    classes: Annotated[
        Path,
        typer.Option(
            "--classes",
            metavar="FILE",
            help="A text file with lines `old: new`, a CSV file with lines `old,new`, or a YAML mapping.",
        ),
    ],
    unmapped: Annotated[
        Unmapped, typer.Option(help="What happens to classes that the file does not name.")
    ] = Unmapped.KEEP,
    drop: Annotated[bool, typer.Option("--drop", help="Leave out objects whose class gets an empty new name.")] = False,
    ids_from: Annotated[
        Path | None,
        typer.Option("--ids-from", metavar="GT", help="Take the ids of the new classes from this data set."),
    ] = None,
    target_format: ToOption = None,
    source_format: FromOption = None,
    truth: Annotated[
        Path | None,
        typer.Option(
            "--ground-truth", metavar="GT", help="IN is detections, and GT is their ground truth before the renaming."
        ),
    ] = None,
    options: ReaderOptions = None,
    force: ForceOption = False,
    on_invalid: OnInvalidOption = OnInvalid.ERROR,
    json: SummaryOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Give classes other names. Classes that get the same name become one class.

    A class keeps its id. If several classes become one, it gets the id of the class that had the name before, otherwise
    the lowest id. An unknown old name is an error.
    """
    if not classes.exists():
        near = did_you_mean(near_files(classes))
        raise typer.BadParameter(f"{classes}: there is no such file{near}", param_hint="--classes")
    job = Job.of(
        [source],
        output,
        (source_format, target_format),
        truth=truth,
        options=options,
        force=force,
        on_invalid=on_invalid.value,
        threads=threads,
        json=json,
    )

    def renamed(read: Sequence[Any], gt: Any) -> Any:
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        mapping = datasets.read_class_map(classes)
        listed = None if ids_from is None else datasets.read(ids_from).categories
        ids = None if listed is None else dict(zip(listed.names, listed.ids.tolist(), strict=True))
        if gt is not None:
            return datasets.remap_detections(
                read[0], mapping, gt.categories, unmapped=unmapped.value, drop=drop, ids=ids
            )
        return datasets.remap(read[0], mapping, unmapped=unmapped.value, drop=drop, ids=ids)

    convert_data(job, Talk(quiet=quiet), renamed, "renaming")
