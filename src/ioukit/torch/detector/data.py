"""Images and their boxes, read from files and checked.

Two formats of data sets are read. YOLO: a ``data.yaml`` names folders of images, and each image has a text file with
lines of ``class cx cy w h``, as fractions of the image. COCO: an annotation file with a folder of images.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit.datasets import GroundTruth
from ioukit.datasets.formats.image_files import SUFFIXES, image_sizes
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.yolo import read_split
from ioukit.errors import DatasetError

__all__ = [
    "SUFFIXES", "Data", "OnInvalid", "Pixels", "Record", "check_on_invalid", "open_image", "read_coco_data",
    "read_yolo_data",
]  # fmt: skip

MOST_OUTSIDE = 1.0  # pixels that a box may reach out of its image because of rounding

OnInvalid: TypeAlias = Literal["error", "skip"]
Pixels: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


@dataclass(frozen=True)
class Record:
    """One image and the objects in it.

    Attributes:
        path: The file of the image.
        size: (width, height) in pixels.
        boxes: (N, 4) float32 xyxy in pixels.
        labels: (N,) int64, classes from 0 on.
        image_id: The id of the image in a COCO file; the number of the image, from 0 on, in YOLO data.
    """

    path: Path
    size: tuple[int, int]
    boxes: np.ndarray[Any, np.dtype[np.float32]]
    labels: np.ndarray[Any, np.dtype[np.int64]]
    image_id: int


@dataclass(frozen=True)
class Data:
    """A data set, or one split of it.

    Attributes:
        records: The images, by ascending image id.
        names: The names of the classes.
        problems: How many problems of each kind were skipped; ``background`` counts images without objects.
        first: The message about the first problem of each kind.
        ground_truth: The objects for evaluation, crowds included.
    """

    records: tuple[Record, ...]
    names: tuple[str, ...]
    ground_truth: GroundTruth
    problems: dict[str, int] = field(default_factory=dict)
    first: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.records)


def check_on_invalid(value: str) -> OnInvalid:
    """Checks the policy for invalid data, and returns it.

    Raises:
        ValueError: If it is not ``"error"`` or ``"skip"``.
    """
    if value not in ("error", "skip"):
        raise ValueError(f"unknown on_invalid {value!r}; choose from error, skip")
    return value  # type: ignore[return-value]


def read_yolo_data(
    path: str | os.PathLike[str], split: Literal["train", "val"], *, on_invalid: OnInvalid = "error"
) -> Data:
    """Reads one split of a YOLO data set, as `ioukit.datasets.read` does, and decodes each image once.

    An image may have no text file, or an empty one: it then has no objects, and is counted as ``background``.

    Args:
        path: A ``data.yaml``, see `ioukit.datasets.formats.yolo.read_yolo`.
        split: The split to read.
        on_invalid: ``"error"`` stops at the first problem; ``"skip"`` leaves out the image, line or box and counts the
            problem. Problems are those of `ioukit.datasets.formats.yolo.read_yolo`, and an image that cannot be
            decoded to its end.

    Raises:
        DatasetError: If there is a problem. It names the file and the line, what was expected and what was found.
        OSError: If a file cannot be read.
    """
    problems = Problems(stop=check_on_invalid(on_invalid) == "error")
    gt = read_split(path, split, problems, size_of=_decoded_size)
    rows = np.split(np.arange(len(gt)), np.searchsorted(gt.image_ids, gt.images.ids[1:]))  # rows are sorted by image
    records = [
        Record(Path(file), (int(size[0]), int(size[1])), *_yolo_labels(gt, of_image, size), image_id)
        for file, size, of_image, image_id in zip(
            gt.images.attributes["path"].tolist(), gt.images.sizes, rows, gt.images.ids.tolist(), strict=True
        )
    ]
    return Data(tuple(records), gt.categories.names, gt, dict(problems.counts), problems.first)


def _yolo_labels(
    gt: GroundTruth, rows: np.ndarray[Any, np.dtype[np.intp]], size: np.ndarray[Any, np.dtype[np.float64]]
) -> tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.int64]]]:
    """Boxes and classes of an image, computed in float32 as in training."""
    limits = np.tile(size, 2).astype(np.float32)
    boxes = gt.attributes["fractions"][rows].astype(np.float32) * limits
    return boxes.clip(0, limits), gt.category_ids[rows]


def read_coco_data(
    annotations: str | os.PathLike[str], images: str | os.PathLike[str], *, on_invalid: OnInvalid = "error"
) -> Data:
    """Reads a COCO annotation file and the sizes of its images.

    Training does not use crowds; the evaluation uses them by COCO's rules.

    Args:
        annotations: ``instances_*.json``, or ``.json.gz``.
        images: The folder that the file names are relative to. No name may lead out of it.
        on_invalid: See `read_yolo_data`. A record that breaks COCO's format is always an error.

    Raises:
        DatasetError: If there is a problem. It names the record, what was expected and what was found.
        OSError: If a file cannot be read.
    """
    folder = Path(images)
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}")
    gt = GroundTruth.from_coco(annotations)
    problems = Problems(stop=check_on_invalid(on_invalid) == "error")
    position = np.searchsorted(gt.images.ids, gt.image_ids)
    order = np.argsort(position, kind="stable")
    starts = np.searchsorted(position[order], np.arange(len(gt.images) + 1))
    classes = np.searchsorted(gt.categories.ids, gt.category_ids)
    paths: list[Path] = []
    for image_id, name in zip(gt.images.ids.tolist(), gt.images.names, strict=True):
        path = folder / name
        if not name or folder.resolve() not in path.resolve().parents:
            problems.meet("bad file name", f"{annotations}: image {image_id}: file_name {name!r} is not in {folder}")
        paths.append(path)
    records = []
    sizes = image_sizes(paths, problems, size_of=_decoded_size)
    for number, (path, (width, height)) in enumerate(zip(paths, sizes.tolist(), strict=True)):
        if not width:
            continue
        size = (width, height)
        rows = order[starts[number] : starts[number + 1]]
        rows = rows[~gt.crowd[rows]]
        xywh = gt.boxes[rows]
        corners = np.hstack([xywh[:, :2], xywh[:, :2] + xywh[:, 2:]])
        inside = corners.clip(0, [*size, *size])
        empty = ((inside[:, 2:] - inside[:, :2]) <= 0).any(axis=1)
        outside = empty | (np.abs(inside - corners) > MOST_OUTSIDE + 0.001 * max(size)).any(axis=1)
        for row in rows[outside]:
            problems.meet(
                "box outside",
                f"{annotations}: annotation {gt.ids[row]}: box {gt.boxes[row].tolist()} has no area or reaches out of "
                f"the image of {size[0]} x {size[1]}",
            )
        boxes, labels = inside[~outside].astype(np.float32), classes[rows][~outside].astype(np.int64)
        records.append(Record(path, size, boxes, labels, int(gt.images.ids[number])))
    if not records:
        raise DatasetError(f"{annotations}: no image can be used")
    return Data(tuple(records), gt.categories.names, gt, dict(problems.counts), problems.first)


def _decoded_size(path: Path) -> tuple[int, int]:
    """(width, height) of an image.

    The whole image is decoded, so that a damaged file is found before the training starts.
    """
    height, width, _ = open_image(path).shape
    return width, height


def open_image(path: str | os.PathLike[str]) -> Pixels:
    """(H, W, 3) RGB, rotated by its Exif orientation.

    Raises:
        DatasetError: If the file cannot be read as an image.
        FileNotFoundError: If the file does not exist.
    """
    image, ops = (
        import_extra(f"PIL.{name}", extra="torch", needed_by="reading images") for name in ("Image", "ImageOps")
    )
    try:
        with image.open(path) as opened:
            return np.asarray(ops.exif_transpose(opened).convert("RGB"))
    except FileNotFoundError:
        raise
    except Exception as error:
        raise DatasetError(f"{path} cannot be read as an image: {error}") from None
