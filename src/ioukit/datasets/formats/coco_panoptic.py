"""COCO's panoptic ground truth, read as objects with boxes and perhaps masks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ioukit.datasets.columns._checks import OnInvalid
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.panoptic_png import HIGHEST_ID, SegmentMap, read_png
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import abbreviate, inside, member, numbers, read_json, refuse, to_number
from ioukit.regions.masks import Masks

_BOX = ("x", "y", "width", "height")


def read_coco_panoptic(
    path: str | os.PathLike[str],
    *,
    masks: bool = False,
    folder: str | os.PathLike[str] | None = None,
    things_only: bool = False,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; the file is read as a whole
) -> GroundTruth:
    """Read the segments of a panoptic file as objects.

    Boxes, areas and crowds are those of ``segments_info``. Objects get the ids 1, 2, ..., and the attribute
    ``segment_id`` with the ids that the PNG files have. Categories have the attribute ``isthing``.

    Args:
        path: ``panoptic_*.json``.
        masks: Whether masks are read from the PNG files. This needs ``pip install 'ioukit[shapes]'``.
        folder: The folder of the PNG files; if ``None``, ``X`` for the file ``X.json``.
        things_only: Whether the segments of stuff, such as sky and grass, are left out.
        on_invalid: ``"error"`` refuses a file with an invalid record; ``"drop"`` leaves the image or segment out and
            counts it. ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        DatasetError: If the data is invalid; names file, record and field, what was expected and what came.
        OSError: If the file cannot be read.
        ModuleNotFoundError: If masks are asked for, and Pillow is not installed.
    """
    source = os.fspath(path)
    reader = _Reader(source, Problems.of(on_invalid), _png_folder(source, folder) if masks else None)
    document = read_json(path)
    records = member(document, "annotations", list, source)
    categories = reader.categories(member(document, "categories", list, source))
    images = reader.images(member(document, "images", list, source))
    segments, pixels = reader.segments(records, images, categories, things_only=things_only)
    gt = GroundTruth.from_arrays(
        image_ids=np.array([one.image for one in segments], np.int64),
        category_ids=np.array([one.category for one in segments], np.int64),
        boxes=np.array([one.box for one in segments], np.float64).reshape(-1, 4),
        areas=np.array([one.area for one in segments], np.float64),
        crowd=np.array([one.is_crowd for one in segments], np.bool_),
        regions=Masks.concat(pixels) if pixels else None,
        attributes={"segment_id": np.array([one.number for one in segments], np.int64)},
        images=np.array(list(images), np.int64),
        sizes=np.array([size for _, size in images.values()], np.float64).reshape(-1, 2),
        names=[name for name, _ in images.values()],
        categories={number: name for number, (name, _) in categories.items()},
        category_attributes={"isthing": np.array([thing for _, thing in categories.values()], np.bool_)},
        source=source,
    )
    return reader.problems.noted_in(gt)


class _Segment(NamedTuple):
    """A record of ``segments_info``."""

    image: int
    number: int
    category: int
    box: list[float]
    area: float
    is_crowd: bool


_Categories = dict[int, tuple[str, bool]]
_Images = dict[int, tuple[str, tuple[float, float]]]


class _Reader:
    """The records of a file that are valid, and what was left out."""

    def __init__(self, source: str, problems: Problems, folder: Path | None) -> None:
        self.source, self.problems, self.folder = source, problems, folder

    def categories(self, records: list[Any]) -> _Categories:
        """Name and whether it is a thing of each category, by id."""
        found: _Categories = {}
        for place, record in enumerate(records):
            where = f"{self.source}: categories[{place}]"
            number = _id(record, "id", where)
            if number in found:
                refuse(f"{where}.id", "an id of its own", f"{number} again")
            found[number] = (str(record.get("name", number)), _flag(record, "isthing", where, 1))
        return found

    def images(self, records: list[Any]) -> _Images:
        """File name and size of each image, by id; NaN for a size that is not there."""
        found: _Images = {}
        for place, record in enumerate(records):
            where = f"{self.source}: images[{place}]"
            with self.problems.record("invalid image"):
                number = _id(record, "id", where)
                if number in found:
                    refuse(f"{where}.id", "an id of its own", f"{number} again")
                name = record.get("file_name", "")
                found[number] = (
                    name if isinstance(name, str) else "",
                    (_side(record, "width", where), _side(record, "height", where)),
                )
        return found

    def segments(
        self, records: list[Any], images: _Images, categories: _Categories, *, things_only: bool
    ) -> tuple[list[_Segment], list[Masks]]:
        """The segments of all images, and their masks if they are asked for."""
        segments: list[_Segment] = []
        pixels: list[Masks] = []
        seen: set[int] = set()
        for place, record in enumerate(records):
            where = f"{self.source}: annotations[{place}]"
            with self.problems.record("invalid image"):
                image = _id(record, "image_id", where)
                if image not in images:
                    refuse(f"{where}.image_id", "the id of an image of the file", str(image))
                if image in seen:
                    refuse(f"{where}.image_id", "an image that differs from those before", f"{image} again")
                listed = member(record, "segments_info", list, where)
                drawn = None if self.folder is None else self._map(record, images[image][1], where)
                seen.add(image)
                own = self._of_image(listed, image, categories, drawn, where)
                chosen = [one for one in own if categories[one.category][1] or not things_only]
                segments += chosen
                if drawn is not None and chosen:
                    ids = _ids(drawn)
                    pixels.append(Masks.from_arrays([ids == one.number for one in chosen]))
        return segments, pixels

    def _of_image(
        self, listed: list[Any], image: int, categories: _Categories, drawn: SegmentMap | None, where: str
    ) -> list[_Segment]:
        there = None if drawn is None else set(_ids(drawn).reshape(-1).tolist())
        own: dict[int, _Segment] = {}
        for place, record in enumerate(listed):
            here = f"{where}.segments_info[{place}]"
            with self.problems.record("invalid segment"):
                number = _id(record, "id", here)
                if number in own or not 1 <= number <= HIGHEST_ID:
                    refuse(f"{here}.id", f"an id of its own from 1 to {HIGHEST_ID}", str(number))
                if there is not None and number not in there:
                    refuse(f"{here}.id", "an id of pixels of the PNG file", str(number))
                category = _id(record, "category_id", here)
                if category not in categories:
                    refuse(f"{here}.category_id", "the id of a category of the file", str(category))
                box = numbers(record.get("bbox"), _BOX, f"{here}.bbox")
                if min(box[2:]) < 0:
                    refuse(f"{here}.bbox", "a width and a height of at least 0", abbreviate(box))
                area = to_number(record.get("area"), f"{here}.area", lowest=0)
                own[number] = _Segment(image, number, category, box, area, _flag(record, "iscrowd", here, 0))
        return list(own.values())

    def _map(self, record: Mapping[str, Any], size: tuple[float, float], where: str) -> SegmentMap:
        assert self.folder is not None
        name = member(record, "file_name", str, where)
        drawn = read_png(inside(self.folder, name, f"{where}.file_name"), where)
        height, width = drawn.size
        if not np.isnan(size).any() and size != (width, height):
            refuse(f"{where}.file_name", f"a PNG file of {size[0]:g} x {size[1]:g} pixels", f"{width} x {height}")
        return drawn


def _png_folder(source: str, folder: str | os.PathLike[str] | None) -> Path:
    files = Path(source.removesuffix(".json") if folder is None else folder)
    if not files.is_dir():
        refuse(source, f"the folder {files} with its PNG files, or the argument folder", "no folder")
    return files


def _ids(drawn: SegmentMap) -> np.ndarray[Any, np.dtype[np.uint32]]:
    """(H, W) the id of each pixel."""
    colours = drawn.pixels.astype(np.uint32)
    red, green, blue = (colours[..., channel] for channel in range(3))
    coded: np.ndarray[Any, np.dtype[np.uint32]] = red | green << np.uint32(8) | blue << np.uint32(16)
    return coded


def _id(record: Any, name: str, where: str) -> int:
    if not isinstance(record, Mapping):
        refuse(where, "an object", abbreviate(record))
    value = record.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
        refuse(f"{where}.{name}", "an integer of 64 bits", abbreviate(value))
    return value


def _flag(record: Mapping[str, Any], name: str, where: str, default: int) -> bool:
    value = record.get(name, default)
    if value not in (0, 1) or not isinstance(value, int):
        refuse(f"{where}.{name}", "0 or 1", abbreviate(value))
    return bool(value)


def _side(record: Mapping[str, Any], name: str, where: str) -> float:
    value = record.get(name)
    return float("nan") if value is None else to_number(value, f"{where}.{name}", lowest=0)
