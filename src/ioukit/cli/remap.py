"""`ioukit remap`: gives classes other names, joins them or leaves them out."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from ioukit._near_names import did_you_mean, near_files
from ioukit.cli._data_sets import InputPath, OutputPath, ToOption, WritingOptions, convert_data


def remap(
    source: InputPath,
    output: OutputPath,
    *,
    classes: Annotated[
        Path,
        typer.Option(
            metavar="FILE",
            help="A text file with lines `old: new`, a CSV file with lines `old,new`, or a YAML or JSON mapping.",
        ),
    ],
    unmapped: Annotated[
        Literal["keep", "drop", "error"], typer.Option(help="What happens to classes that the file does not name.")
    ] = "keep",
    drop: Annotated[bool, typer.Option("--drop", help="Leave out objects whose class gets an empty new name.")] = False,
    ids_from: Annotated[
        Path | None, typer.Option(metavar="GT", help="Take the ids of the new classes from this data set.")
    ] = None,
    to: ToOption = None,
    ground_truth: Annotated[
        Path | None,
        typer.Option(metavar="GT", help="IN is detections, and GT is their ground truth before the renaming."),
    ] = None,
    options: WritingOptions,
) -> None:
    """Give classes other names. Classes that get the same name become one class.

    A class keeps its id. If several classes become one, it gets the id of the class that had the name before, otherwise
    the lowest id. An unknown old name is an error.

    Examples:
      ioukit remap instances.json vehicles.json --classes vehicles.csv
      ioukit remap instances.json vehicles.json --classes vehicles.txt --unmapped drop
      ioukit remap results.json results2.json --classes vehicles.csv --ground-truth instances.json
    """
    if not classes.exists():
        near = did_you_mean(near_files(classes))
        raise typer.BadParameter(f"{classes}: there is no such file{near}", param_hint="--classes")

    def renamed(read: Sequence[Any], gt: Any) -> Any:
        from ioukit import datasets  # noqa: PLC0415 - `ioukit --help` should not load the readers

        mapping = datasets.read_class_map(classes)
        listed = None if ids_from is None else datasets.read(ids_from).categories
        ids = None if listed is None else dict(zip(listed.names, listed.ids.tolist(), strict=True))
        if gt is not None:
            return datasets.remap_detections(read[0], mapping, gt.categories, unmapped=unmapped, drop=drop, ids=ids)
        return datasets.remap(read[0], mapping, unmapped=unmapped, drop=drop, ids=ids)

    convert_data(renamed, [source], output, to, options, truth=ground_truth, doing="renaming")
