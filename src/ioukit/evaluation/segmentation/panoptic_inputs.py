"""Panoptic segmentations of many images, from COCO's files or from arrays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ioukit._special_files import read_all
from ioukit.datasets import Categories
from ioukit.datasets.formats.panoptic_png import SegmentMap, read_png
from ioukit.datasets.formats.text_files import inside
from ioukit.errors import DatasetError

PanopticData: TypeAlias = str | os.PathLike[str] | Mapping[Any, tuple[Any, Sequence[Mapping[str, Any]]]]
"""A COCO panoptic JSON file, or ``{image_id: (segment ids, segments_info)}``."""


class Segment(NamedTuple):
    """A record of ``segments_info``."""

    id: int
    """Its id, at least 1."""
    category: int
    """Position of its category."""
    is_crowd: bool
    """Whether it is a crowd."""
    area: int | None
    """Its number of pixels, as the record states it."""
    where: str
    """Its name in messages."""


class PanopticImage(NamedTuple):
    """The segments of one image."""

    where: str
    """Its name in messages."""
    load: Callable[[], SegmentMap]
    """Reads the map of ids."""
    segments_info: Any
    """The records of the segments, not checked yet."""
    size: tuple[int, int] | None
    """Height and width as the source states them."""


class PanopticSet(NamedTuple):
    """The images of the ground truth, or those of the predictions."""

    source: str
    """Its name in messages: a file, or an argument."""
    wheres: Mapping[int | str, str]
    """For each image id, the name of its record in messages."""
    image: Callable[[int | str], PanopticImage]
    """Returns the image with an id."""
    categories: object
    """The records of the categories, not checked yet; ``None`` if there are none."""


def open_set(data: PanopticData, folder: str | os.PathLike[str] | None, *, name: str, option: str) -> PanopticSet:
    """The images of a file or a mapping.

    Args:
        data: The file or the mapping.
        folder: The folder of the PNG files; if ``None``, ``X`` for the file ``X.json``.
        name: The name of a mapping in messages.
        option: The argument that names the folder, for messages.

    Raises:
        DatasetError: If the file is not COCO panoptic JSON.
        TypeError: If ``data`` is neither.
    """
    if isinstance(data, str | os.PathLike):
        return _of_file(os.fspath(data), folder, option)
    if isinstance(data, Mapping):
        if folder is not None:
            raise ValueError(f"{option} belongs to a JSON file, and {name} is a mapping")
        return _of_mapping(data, name)
    raise TypeError(
        f"{name} must be a path or a mapping of image ids to (segment ids, segments_info), got {type(data).__name__}"
    )


def _of_mapping(data: Mapping[Any, Any], name: str) -> PanopticSet:
    def image(key: int | str) -> PanopticImage:
        pair = data[key]
        if not isinstance(pair, Sequence) or len(pair) != 2:
            raise DatasetError(f"{wheres[key]}: expected (segment ids, segments_info), found {type(pair).__name__}")
        ids, segments = pair
        return PanopticImage(wheres[key], lambda: SegmentMap.of_array(ids, wheres[key]), segments, None)

    wheres = {key: f"{name}[{key!r}]" for key in map(_image_id, data)}
    return PanopticSet(name, wheres, image, None)


def _image_id(key: object) -> int | str:
    plain = key.item() if isinstance(key, np.generic) else key
    if isinstance(plain, bool) or not isinstance(plain, int | str):
        raise TypeError(f"image ids must be integers or strings, got {plain!r}")
    return plain


def _of_file(path: str, folder: str | os.PathLike[str] | None, option: str) -> PanopticSet:
    document = _document(path)
    records = document.get("annotations")
    if not isinstance(records, list):
        raise DatasetError(f"{path}: annotations: expected a list, found {_found(document, 'annotations')}")
    place: dict[int | str, int] = {}
    for position, record in enumerate(records):
        where = f"{path}: annotations[{position}]"
        if not isinstance(record, dict):
            raise DatasetError(f"{where}: expected an object, found {type(record).__name__}")
        if not isinstance(record.get("file_name"), str):
            raise DatasetError(f"{where}.file_name: expected a string, found {_found(record, 'file_name')}")
        key = record.get("image_id")
        if isinstance(key, bool) or not isinstance(key, int | str):
            raise DatasetError(f"{where}.image_id: expected an integer or a string, found {_found(record, 'image_id')}")
        if key in place:
            raise DatasetError(f"{where}.image_id: image {key!r} is in annotations[{place[key]}] already")
        place[key] = position
    files = _folder(path, folder, option)
    sizes = dict(_sizes(document.get("images")))

    def image(key: int | str) -> PanopticImage:
        record, where = records[place[key]], wheres[key]
        png = inside(files, record["file_name"], f"{where}.file_name")
        return PanopticImage(where, lambda: read_png(png, where), record.get("segments_info"), sizes.get(key))

    wheres = {key: f"{path}: annotations[{position}]" for key, position in place.items()}
    return PanopticSet(path, wheres, image, document.get("categories"))


def _document(path: str) -> dict[str, Any]:
    import json  # noqa: PLC0415 - keeps `import ioukit` fast

    if os.path.isdir(path):
        raise DatasetError(f"{path}: expected a JSON file, found a folder")
    content = read_all(path)
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise DatasetError(f"{path}: expected JSON: {error}") from None
    if not isinstance(document, dict):
        raise DatasetError(f"{path}: expected an object with annotations, found {type(document).__name__}")
    return document


def _folder(path: str, folder: str | os.PathLike[str] | None, option: str) -> Path:
    files = Path(path.removesuffix(".json") if folder is None else folder)
    if not files.is_dir() or os.fspath(files) == path:
        raise DatasetError(
            f"{path}: there is no folder {files} with its PNG files; name the folder: {option}, or on the command line "
            f"--{option.replace('_', '-')}"
        )
    return files


def _sizes(images: object) -> Iterator[tuple[int | str, tuple[int, int]]]:
    """Id and size of each image of the list that states both."""
    for record in images if isinstance(images, list) else []:
        if isinstance(record, dict) and isinstance(record.get("id"), int | str):
            height, width = record.get("height"), record.get("width")
            if isinstance(height, int) and isinstance(width, int):
                yield record["id"], (height, width)


def read_categories(records: object, where: str) -> Categories:
    """Categories from COCO's records, with their ``isthing`` among the attributes.

    Args:
        records: A list of ``{"id": 1, "name": "person", "isthing": 1}``.
        where: The name of the list in messages.

    Raises:
        DatasetError: If a record is invalid, or two have one id.
    """
    if isinstance(records, str) or not isinstance(records, Sequence) or not len(records):
        raise DatasetError(f"{where}: expected a list of categories with id and isthing, found {_shown(records)}")
    rows: dict[int, tuple[str, bool]] = {}
    for position, record in enumerate(records):
        here = f"{where}[{position}]"
        if not isinstance(record, Mapping):
            raise DatasetError(f"{here}: expected an object, found {_shown(record)}")
        number = _integer(record, "id", here)
        if number in rows:
            raise DatasetError(f"{here}.id: expected a new id, found {number} again")
        rows[number] = (str(record.get("name", number)), _flag(record, "isthing", here))
    ids = sorted(rows)
    names = tuple(rows[number][0] for number in ids)
    is_thing = np.array([rows[number][1] for number in ids], np.bool_)
    return Categories(np.array(ids, np.int64), names, {"isthing": is_thing})


def read_segments(image: PanopticImage, positions: Mapping[int, int], *, annotated: bool) -> dict[int, Segment]:
    """The segments of an image by id, in the order of the records.

    Args:
        image: The image.
        positions: Position of each category by its id.
        annotated: Whether ``iscrowd`` and ``area`` are read, as for ground truth. Neither counts for predictions.

    Raises:
        DatasetError: If a record is invalid.
    """
    records = image.segments_info
    if isinstance(records, str) or not isinstance(records, Sequence):
        raise DatasetError(f"{image.where}.segments_info: expected a list, found {_shown(records)}")
    segments: dict[int, Segment] = {}
    for position, record in enumerate(records):
        where = f"{image.where}.segments_info[{position}]"
        if not isinstance(record, Mapping):
            raise DatasetError(f"{where}: expected an object, found {_shown(record)}")
        number = _integer(record, "id", where)
        if number < 1:
            raise DatasetError(f"{where}.id: expected at least 1 (0 is void), found {number}")
        if number in segments:
            raise DatasetError(f"{where}.id: expected a new id, found {number} again")
        category = _integer(record, "category_id", where)
        if category not in positions:
            raise DatasetError(f"{where}.category_id: expected the id of a category, found {category}")
        is_crowd = annotated and "iscrowd" in record and _flag(record, "iscrowd", where)
        area = _integer(record, "area", where) if annotated and "area" in record else None
        segments[number] = Segment(number, positions[category], is_crowd, area, where)
    return segments


def _integer(record: Mapping[str, Any], field: str, where: str) -> int:
    """A field that has to be an integer."""
    value = record.get(field)
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise DatasetError(f"{where}.{field}: expected an integer, found {_found(record, field)}")
    return int(value)


def _flag(record: Mapping[str, Any], field: str, where: str) -> bool:
    """A field that has to be 0 or 1, or a bool."""
    value = record.get(field)
    if not isinstance(value, bool | np.bool_ | Integral) or value not in (0, 1):
        raise DatasetError(f"{where}.{field}: expected 0 or 1, found {_found(record, field)}")
    return bool(value)


def _found(record: Mapping[str, Any], field: str) -> str:
    return _shown(record[field]) if field in record else "no such key"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
