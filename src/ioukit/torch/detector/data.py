"""Images and their boxes, read from files and checked.

Two formats of data sets are read. YOLO: a ``data.yaml`` names folders of images, and each image has a text file with
lines of ``class cx cy w h``, as fractions of the image. COCO: an annotation file with a folder of images.
"""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from ioukit._optional import import_extra
from ioukit.datasets import GroundTruth
from ioukit.errors import DatasetError

__all__ = [
    "Data", "OnInvalid", "Pixels", "Record", "check_on_invalid", "open_image", "read_coco_data", "read_yolo_data",
]  # fmt: skip

SUFFIXES = {".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff"}
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
    """The value itself.

    Raises:
        ValueError: If it is not ``"error"`` or ``"skip"``.
    """
    if value not in ("error", "skip"):
        raise ValueError(f"unknown on_invalid {value!r}; choose from error, skip")
    return value  # type: ignore[return-value]


class _Problems:
    """Stops at the first problem, or counts problems by kind."""

    def __init__(self, on_invalid: OnInvalid) -> None:
        self.stop = check_on_invalid(on_invalid) == "error"
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def meet(self, kind: str, message: str) -> None:
        if self.stop:
            raise DatasetError(message)
        self.count(kind, message)

    def count(self, kind: str, message: str) -> None:
        self.counts[kind] += 1
        self.first.setdefault(kind, message)


def read_yolo_data(
    path: str | os.PathLike[str], split: Literal["train", "val"], *, on_invalid: OnInvalid = "error"
) -> Data:
    """Reads one split of a YOLO data set.

    An image may have no text file, or an empty one: it then has no objects, and is counted as ``background``.

    Args:
        path: A ``data.yaml`` with ``train``, ``val`` and ``names`` (a list, or a mapping from 0 on), and ``path`` if
            the folders are not relative to the file. A split is a folder of images, or a ``.txt`` file with one path
            per line, relative to that file.
        split: The split to read.
        on_invalid: ``"error"`` stops at the first problem; ``"skip"`` leaves out the image, line or box and counts the
            problem. Problems are: an image that is listed or has labels but is missing, an image that cannot be
            decoded, a line that is not five numbers, a class out of range, a box outside of its image.

    Raises:
        DatasetError: If there is a problem; names file and line, what was expected and what came.
        OSError: If a file cannot be read.
    """
    yaml = import_extra("yaml", extra="torch", needed_by="data.yaml")
    path = Path(path)
    try:
        settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise DatasetError(f"{path}: not YAML: {error}") from None
    if not isinstance(settings, dict) or split not in settings or "names" not in settings:
        found = list(settings) if isinstance(settings, dict) else settings
        raise DatasetError(f"{path}: expected train, val and names, got {found!r}")
    names = _names(path, settings["names"])
    if not isinstance(settings[split], str):
        raise DatasetError(f"{path}: {split} must be a folder or a .txt file, got {settings[split]!r}")
    folder = path.parent / settings.get("path", "") / settings[split]
    problems = _Problems(on_invalid)
    records: list[Record] = []
    if folder.suffix == ".txt" and folder.is_file():
        lines = folder.read_text(encoding="utf-8").splitlines()
        files = sorted({folder.parent / line.strip() for line in lines if line.strip()})
    elif folder.is_dir():
        files = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES)
    else:
        raise DatasetError(f"{path}: {split}: there is no folder {folder}")
    if not files:
        raise DatasetError(f"{path}: {split}: there is no image in {folder}")
    if folder.is_dir():
        _labels_without_image(folder, files, problems)
    for file, size in zip(files, _sizes(files, problems), strict=True):
        if size is None:
            continue
        boxes, labels = _yolo_labels(_label_file(file), size, len(names), problems)
        records.append(Record(file, size, boxes, labels, len(records)))
    if not records:
        raise DatasetError(f"{path}: {split}: no image can be used: {next(iter(problems.first.values()))}")
    return Data(tuple(records), names, _ground_truth(records, names), dict(problems.counts), problems.first)


def _labels_without_image(folder: Path, files: list[Path], problems: _Problems) -> None:
    labels = _label_file(folder / "any.png").parent
    if labels == folder or not labels.is_dir():  # among images, a text file may be anything
        return
    there = {file.stem for file in files} | {"classes"}  # label tools write the names of the classes to classes.txt
    for text in sorted(labels.glob("*.txt")):
        if text.stem not in there:
            problems.meet("missing image", f"{text} has labels, but there is no image {text.stem} in {folder}")


def _names(path: Path, names: object) -> tuple[str, ...]:
    if isinstance(names, dict) and sorted(names) == list(range(len(names))):
        names = [names[number] for number in range(len(names))]
    if not isinstance(names, list) or not names:
        raise DatasetError(f"{path}: names must be a list, or a mapping from 0 on, got {names!r}")
    return tuple(map(str, names))


def _label_file(image: Path) -> Path:
    """The text file of an image: the last ``images`` in the path becomes ``labels``."""
    parts = list(image.with_suffix(".txt").parts)
    if "images" in parts[:-1]:
        parts[len(parts) - 1 - parts[::-1].index("images")] = "labels"
    return Path(*parts)


def _yolo_labels(
    path: Path, size: tuple[int, int], classes: int, problems: _Problems
) -> tuple[np.ndarray[Any, np.dtype[np.float32]], np.ndarray[Any, np.dtype[np.int64]]]:
    lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
    rows: list[list[float]] = []
    labels: list[int] = []
    for number, line in enumerate(lines, start=1):
        words = line.split()
        if not words:
            continue
        where = f"{path}: line {number}: "
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != 5 or not np.isfinite(values).all():
            problems.meet("bad line", f"{where}expected class cx cy w h, got {line!r}")
        elif values[0] not in range(classes):
            problems.meet("label out of range", f"{where}class {words[0]} is not one of 0 to {classes - 1}")
        else:
            cx, cy, w, h = values[1:]
            corners = [cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2]
            # Numbers of six digits are rounded, so a box at the edge may reach out by a little.
            if not (w > 0 and h > 0 and min(corners) > -0.001 and max(corners) < 1.001):
                problems.meet("box outside", f"{where}box {words[1:]} has no area or reaches out of the image")
                continue
            rows.append(corners)
            labels.append(int(values[0]))
    if not labels and not any(map(str.strip, lines)):
        problems.count("background", f"{path} names no object" if path.is_file() else f"there is no {path}")
    boxes = np.array(rows, np.float32).reshape(-1, 4) * np.array([*size, *size], np.float32)
    return boxes.clip(0, [*size, *size]).astype(np.float32), np.array(labels, np.int64)


def read_coco_data(
    annotations: str | os.PathLike[str], images: str | os.PathLike[str], *, on_invalid: OnInvalid = "error"
) -> Data:
    """Reads a COCO annotation file and the sizes of its images.

    Crowds are not learnt, but take part in the evaluation by COCO's rules.

    Args:
        annotations: ``instances_*.json``, or ``.json.gz``.
        images: The folder that the file names are relative to. No name may lead out of it.
        on_invalid: See `read_yolo_data`. A record that breaks COCO's format is always an error.

    Raises:
        DatasetError: If there is a problem; names the record, what was expected and what came.
        OSError: If a file cannot be read.
    """
    folder = Path(images)
    if not folder.is_dir():
        raise DatasetError(f"there is no folder {folder}")
    gt = GroundTruth.from_coco(annotations)
    problems = _Problems(on_invalid)
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
    for number, (path, size) in enumerate(zip(paths, _sizes(paths, problems), strict=True)):
        if size is None:
            continue
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
        kept = ~outside
        image_id = int(gt.images.ids[number])
        labels = classes[rows][kept].astype(np.int64)
        records.append(Record(path, size, inside[kept].astype(np.float32), labels, image_id))
    if not records:
        raise DatasetError(f"{annotations}: no image can be used")
    return Data(tuple(records), gt.categories.names, gt, dict(problems.counts), problems.first)


def _sizes(paths: list[Path], problems: _Problems) -> list[tuple[int, int] | None]:
    """(width, height) of each image, or None if it is missing or not an image.

    Each image is decoded to its end, so that a damaged file is found before the training and not in its third epoch.
    """
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(_size, paths))
    sizes: list[tuple[int, int] | None] = []
    for one in found:
        if isinstance(one[0], str):
            problems.meet(*one)
            sizes.append(None)
        else:
            sizes.append(one)
    return sizes


def _size(path: Path) -> tuple[int, int] | tuple[str, str]:
    """(width, height) of an image, or the kind of the problem and its message."""
    try:
        height, width, _ = open_image(path).shape
    except FileNotFoundError:
        return "missing image", f"there is no image {path}"
    except DatasetError as error:
        return "corrupt image", str(error)
    return width, height


def open_image(path: str | os.PathLike[str]) -> Pixels:
    """(H, W, 3) RGB, turned as its Exif orientation says.

    Raises:
        DatasetError: If the file cannot be read as an image.
        FileNotFoundError: If there is no such file.
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


def _ground_truth(records: list[Record], names: tuple[str, ...]) -> GroundTruth:
    counts = [len(record.labels) for record in records]
    corners = np.concatenate([record.boxes for record in records]) if records else np.zeros((0, 4), np.float32)
    boxes = corners.astype(np.float64)
    boxes[:, 2:] -= boxes[:, :2]
    return GroundTruth.from_coco(
        {
            "images": [
                {
                    "id": record.image_id, "file_name": record.path.name, "width": record.size[0],
                    "height": record.size[1],
                }
                for record in records
            ],
            "categories": [{"id": number, "name": name} for number, name in enumerate(names)],
            "annotations": [
                {
                    "id": number + 1, "image_id": image, "category_id": label, "bbox": box, "area": box[2] * box[3],
                    "iscrowd": 0,
                }
                for number, (image, label, box) in enumerate(
                    zip(
                        np.repeat([record.image_id for record in records], counts).tolist(),
                        [label for record in records for label in record.labels.tolist()],
                        boxes.tolist(),
                        strict=True,
                    )
                )
            ],
        }
    )  # fmt: skip
