"""`ioukit convert`: writes a data set, or detections, in another format."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ioukit.cli._arguments import complete_format
from ioukit.cli._data_files import OnInvalid, RepairOption, repaired
from ioukit.cli._data_sets import DetectionsOption, InputPath, OutputPath, TruthOption, WritingOptions, convert_data

if TYPE_CHECKING:
    from ioukit.datasets import Detections, GroundTruth


def convert(
    source: InputPath,
    output: OutputPath,
    *,
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="FORMAT",
            autocompletion=complete_format,
            help="Format to write: coco, yolo, voc, kitti, open-images, lvis, dota, mot, crowdhuman, wider-face, "
            "padilla, cvat, labelme, via, createml, scalabel, csv, parquet, arrow.",
        ),
    ],
    ground_truth: TruthOption = None,
    detections: DetectionsOption = False,
    repair: RepairOption = None,
    options: WritingOptions,
) -> None:
    """Write a data set in another format, and tell what that format cannot hold.

    Boxes keep all digits that the format can hold. Lines that begin with "lost" name data that the files do not hold.

    Examples:
      ioukit convert instances.json labels --to padilla
      ioukit convert labels.odgt labels.json --to coco --option box=vbox
      ioukit convert results.json results.jsonl --to coco --detections
      ioukit convert dt.json repaired.json --to coco --ground-truth gt.json --repair boxes=xyxy
    """
    convert_data(
        lambda read, gt: _repaired(read[0], gt, repair or [], options.on_invalid),
        [source],
        output,
        to,
        options,
        truth=ground_truth,
        detections=detections,
        check_ids=not repair,
    )


def _repaired(
    data: "GroundTruth | Detections", gt: "GroundTruth | None", repairs: Sequence[str], on_invalid: OnInvalid
) -> "GroundTruth | Detections":
    """The data after the repairs of the options."""
    from ioukit.datasets import GroundTruth  # noqa: PLC0415 - `ioukit --help` should not load the readers

    if not repairs:
        return data
    if isinstance(data, GroundTruth):
        ours = [name if name.startswith("gt:") else f"gt:{name}" for name in repairs]
        return repaired(data, None, ours)[0]
    if gt is None:
        raise ValueError("repairs of detections need their ground truth: name it with --ground-truth")
    _, found = repaired(gt, data, repairs)
    return found.known_to(gt, on_invalid=on_invalid)
