"""`ioukit merge`: makes one data set of several."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ioukit.cli._data_sets import DetectionsOption, OutputPath, ToOption, TruthOption, WritingOptions, convert_data


def merge(
    sources: Annotated[list[Path], typer.Argument(metavar="IN...", help="The data sets: any known format.")],
    output: OutputPath,
    *,
    to: ToOption = None,
    classes: Annotated[
        Literal["by-name", "by-id"],
        typer.Option(help="Which classes become one class: those with the same name, or with the same id."),
    ] = "by-name",
    duplicates: Annotated[
        Literal["error", "join", "first", "keep"],
        typer.Option(help="An image in several data sets: stop, join its objects, take the first one, or keep all."),
    ] = "error",
    ground_truth: TruthOption = None,
    detections: DetectionsOption = False,
    options: WritingOptions,
) -> None:
    """Make one data set of several: images, classes and objects.

    Classes with the same name become one class. An id that two data sets use gets a new number in one of them. Names of
    images stay. Several files of detections must belong to the same ground truth: their rows are put into one file.

    Examples:
      ioukit merge cats.json dogs.json pets.json
      ioukit merge cars.json people.json street.json --duplicates join
      ioukit merge part1.json part2.json results.json --detections
    """

    def joined(read: Sequence[Any], _: Any) -> Any:
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        if detections or ground_truth:
            return datasets.Detections.concat(read)
        return datasets.merge(read, classes=classes, duplicates=duplicates)

    convert_data(joined, sources, output, to, options, truth=ground_truth, detections=detections, doing="merging")
