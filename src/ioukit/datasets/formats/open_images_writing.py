"""Writing Open Images' CSV files: boxes, labels of images, names of classes, and detections."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns.hierarchy import NAMES, NEGATIVE, POSITIVE
from ioukit.datasets.formats.known_names import required
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.datasets.formats.text_files import abbreviate
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth

__all__ = ["CORNERS", "FLAGS", "MOST_OUTSIDE", "write_open_images", "write_open_images_detections"]

CORNERS = ("XMin", "XMax", "YMin", "YMax")
FLAGS = {
    "IsGroupOf": "group_of",
    "IsOccluded": "occluded",
    "IsTruncated": "truncated",
    "IsDepiction": "depiction",
    "IsInside": "inside",
}
"""The columns of flags, and the names of the flags."""
MOST_OUTSIDE = 0.001
"""The fraction of an image that a box may reach out of it: pixels are larger."""


def write_open_images(ground_truth: GroundTruth, path: Path) -> list[str]:
    """Write ``annotations-bbox.csv`` and ``class-descriptions.csv``, and the labels of images if there are some.

    Boxes are fractions of the image, and are cut at its edges. They come back as fractions, because the files do not
    have the sizes of images.

    Args:
        ground_truth: What to write. Where an image has no size, its boxes must be fractions already. The names of the
            classes in the files are their attribute ``label_name``, or their names.
        path: An empty folder.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If an image has no size and a box that is not in fractions, or if two images or classes have one
            name.
    """
    gt = ground_truth
    images = _image_ids(gt)
    classes = _class_names(gt)
    positions = np.searchsorted(gt.images.ids, gt.image_ids)
    corners = _fractions(gt, positions)
    inside = corners.clip(0, 1)
    notes = []
    if cut := int((np.abs(inside - corners) > 1e-9).any(axis=1).sum()):
        notes.append(f"{cut:,} boxes that reach out of their image: they are cut at its edges")
    flags = {column: gt.flags[name].astype(np.int64).tolist() for column, name in FLAGS.items() if name in gt.flags}
    of_class = np.searchsorted(gt.categories.ids, gt.category_ids).tolist()
    named = [classes[at] for at in of_class]
    of_image = [images[at] for at in positions.tolist()]
    rows = zip(of_image, named, *inside[:, [0, 2, 1, 3]].T.tolist(), *flags.values(), strict=True)
    _write_table(path / "annotations-bbox.csv", ("ImageID", "LabelName", *CORNERS, *flags), rows)
    described = zip(classes, gt.categories.names, gt.categories.ids.tolist(), strict=True)
    _write_table(path / "class-descriptions.csv", ("LabelName", "DisplayName", "ID"), described)
    labels: list[tuple[str, str, int]] = []
    by_id = dict(zip(gt.categories.ids.tolist(), classes, strict=True))
    for name, confidence in ((POSITIVE, 1), (NEGATIVE, 0)):
        for image, ids in zip(images, gt.images.attributes.get(name, ()), strict=False):
            labels += [(image, by_id[number], confidence) for number in ids.tolist()]
    if labels:
        _write_table(path / "annotations-human-imagelabels.csv", ("ImageID", "LabelName", "Confidence"), labels)
    if missing := len(set(images) - set(of_image) - {image for image, *_ in labels}):
        notes.append(f"{missing:,} images without objects")
    holds = Holds(
        flags=frozenset(FLAGS.values()),
        image_attributes=frozenset((POSITIVE, NEGATIVE)),
        category_attributes=frozenset((NAMES,)),
        image_sizes=False,
        category_ids=True,
        unused_categories=True,
    )
    return [*notes, *left_out_columns(gt, holds)]


def write_open_images_detections(
    detections: Detections, path: Path, *, ground_truth: GroundTruth | None = None
) -> list[str]:
    """Write the CSV file of detections that the challenge's evaluation reads.

    Args:
        detections: What to write.
        path: The file.
        ground_truth: The data set of the images and classes. Boxes become fractions of its images; where an image has
            no size, they must be fractions already.

    Returns:
        A note for each kind of loss.

    Raises:
        DatasetError: If there is no ground truth, if it lacks an image or a class, or as for :func:`write_open_images`.
    """
    ground_truth = required(ground_truth, detections.source)
    dt, listed = detections.known_to(ground_truth), ground_truth.images
    images, classes = _image_ids(ground_truth), _class_names(ground_truth)
    positions = np.searchsorted(listed.ids, dt.image_ids_in(listed))
    corners = _fractions(dt, positions, ground_truth)
    of_class = np.searchsorted(ground_truth.categories.ids, dt.category_ids).tolist()
    of_image = [images[at] for at in positions.tolist()]
    named = [classes[at] for at in of_class]
    rows = zip(of_image, named, dt.scores.tolist(), *corners[:, [0, 2, 1, 3]].T.tolist(), strict=True)
    _write_table(path, ("ImageID", "LabelName", "Score", *CORNERS), rows)
    return left_out_columns(dt, Holds())


def _write_table(path: Path, names: Sequence[str], rows: Iterable[Any]) -> None:
    with open(path, "w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(names)
        table.writerows(rows)


def _fractions(
    data: GroundTruth | Detections, positions: npt.NDArray[np.int64], ground_truth: GroundTruth | None = None
) -> npt.NDArray[np.float64]:
    """(N, 4) corners x1, y1, x2, y2 in fractions of the image."""
    listed: Any = data if ground_truth is None else ground_truth
    sizes = listed.images.sizes[positions]
    unknown = np.isnan(sizes).any(axis=1)
    corners = np.hstack([data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]])
    far = unknown & ((corners < -1) | (corners > 2)).any(axis=1)
    if far.any():
        row = int(far.argmax())
        label = listed.images.labels[positions[row]].item()
        raise DatasetError(
            f"{data.source}: image {label!r}: expected a width and a height, or boxes in fractions, found the box "
            f"{data.boxes[row].tolist()}"
        )
    return np.asarray(corners / np.tile(np.where(unknown[:, None], 1.0, sizes), 2))


def _image_ids(gt: GroundTruth) -> list[str]:
    """The id of each image in the files: its id if that is a string, else the name of its file without suffix."""
    labels = [str(label) for label in gt.images.labels.tolist()]
    if gt.images.keys is not None:
        return labels
    names = [os.path.splitext(name)[0] or label for name, label in zip(gt.images.names, labels, strict=True)]
    if len(set(names)) < len(names):
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise DatasetError(f"{gt.source}: expected images of different names, found {abbreviate(twice)} twice")
    return names


def _class_names(gt: GroundTruth) -> list[str]:
    """The name of each class in the files."""
    column = gt.categories.column(NAMES)
    names = [str(name) for name in (gt.categories.names if column is None else column.tolist())]
    if len(set(names)) < len(names) or "" in names or "LabelName" in names:
        raise DatasetError(f"{gt.source}: expected names of classes that differ, found {abbreviate(', '.join(names))}")
    return names
