"""`ioukit merge`: makes one data set of several."""

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from ioukit.cli._arguments import OnInvalid, OnInvalidOption, QuietOption, ReaderOptions, ThreadsOption
from ioukit.cli._data_sets import (
    DetectionsOption,
    ForceOption,
    FromOption,
    Job,
    OutputPath,
    SummaryOption,
    ToOption,
    TruthOption,
    convert_data,
)
from ioukit.cli._talk import Talk

__all__ = ["EXAMPLES", "merge"]

EXAMPLES = """\b
Examples:
  ioukit merge cats.json dogs.json pets.json
  ioukit merge cars.json people.json street.json --duplicates join
  ioukit merge part1.json part2.json results.json --detections
"""


class Classes(str, Enum):
    """Which classes of two data sets are the same one."""

    BY_NAME = "by-name"
    BY_ID = "by-id"


class Duplicates(str, Enum):
    """What happens to an image that is in several data sets."""

    ERROR = "error"
    JOIN = "join"
    FIRST = "first"
    KEEP = "keep"


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="The data sets: any known format.")],
    output: OutputPath,
    *,
    target_format: ToOption = None,
    source_format: FromOption = None,
    classes: Annotated[
        Classes, typer.Option(help="Which classes become one class: those with the same name, or with the same id.")
    ] = Classes.BY_NAME,
    duplicates: Annotated[
        Duplicates,
        typer.Option(help="An image in several data sets: stop, join its objects, take the first one, or keep all."),
    ] = Duplicates.ERROR,
    truth: TruthOption = None,
    detections: DetectionsOption = False,
    options: ReaderOptions = None,
    force: ForceOption = False,
    on_invalid: OnInvalidOption = OnInvalid.ERROR,
    json: SummaryOption = None,
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Make one data set of several: images, classes and objects.

    Classes with the same name become one class. An id that two data sets use gets a new number in one of them. Names of
    images stay. Several files of detections must belong to the same ground truth: their rows are put into one file.
    """
    job = Job.of(
        sources,
        output,
        (source_format, target_format),
        truth=truth,
        detections=detections,
        options=options,
        force=force,
        on_invalid=on_invalid.value,
        threads=threads,
        json=json,
    )

    def joined(read: Sequence[Any], _: Any) -> Any:
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        if detections or truth:
            return datasets.Detections.concat(read)
        return datasets.merge(read, classes=classes.value, duplicates=duplicates.value)

    convert_data(job, Talk(quiet=quiet), joined, "merging")
