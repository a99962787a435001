"""Data sets of Hugging Face's ``datasets`` with objects in each row; the package is not imported."""

from __future__ import annotations

import dataclasses
import io
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.table_columns import BoxLayout
from ioukit.datasets.formats.table_rows import Reading, ground_truth_of_rows
from ioukit.datasets.formats.table_sources import Table
from ioukit.datasets.formats.text_files import abbreviate, refuse

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid
    from ioukit.datasets.columns.ground_truth import GroundTruth


_SOURCE = "Hugging Face data set"
_ORIENTATION = 0x0112
_LYING = (5, 6, 7, 8)
"""The values of the Exif orientation for an image that is turned by a quarter, as the package does when it decodes."""
_BOXES = ("bbox", "bboxes", "box", "boxes")
_CLASSES = ("category", "categories", "label", "labels", "class", "category_id", "class_id")
_SPELLED = {"area": "area", "areas": "area", "id": "id", "bbox_id": "id", "iscrowd": "iscrowd", "is_crowd": "iscrowd"}
_IMAGE_COLUMNS = ("image_id", "file_name", "filename", "width", "height", "image")


def is_hugging_face(given: object) -> bool:
    """Whether an object is a data set of ``datasets``, or several splits of one."""
    if isinstance(given, Mapping):
        return bool(given) and all(is_hugging_face(split) for split in given.values())
    return hasattr(given, "features") and hasattr(given, "column_names") and hasattr(given, "__getitem__")


def read_hugging_face(
    dataset: Any,
    *,
    split: str | None = None,
    objects: str = "objects",
    boxes: BoxLayout = "xywh",
    normalized: bool = False,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,  # noqa: ARG001 - every reader takes it; rows are read one by one
) -> GroundTruth:
    """Read a data set of Hugging Face whose rows have a column of objects: ``{"bbox": ..., "category": ...}``.

    Each row is an image. Its id is ``image_id`` if there is such a column, else its position, from 0 on. The size comes
    from ``width`` and ``height``, else from the column ``image``, whose files are not decoded. If there is neither, or
    the file is no image, it is unknown. ``file_name`` is the name.

    Each object has a box in ``bbox``, and a class in ``category`` or ``label``: a ``ClassLabel``, whose classes get the
    ids 0, 1, ... with their names, also if no object has them; or another number, or a name. ``area``, ``id`` and
    ``iscrowd`` are what they are in COCO's files. Other values are flags if they are true or false, else attributes.

    Args:
        dataset: The data set, or a mapping of splits.
        split: The split of a mapping; the only one if ``None``.
        objects: The name of the column of objects.
        boxes: What the four numbers of a box are: ``"xywh"`` as in COCO's files, ``"xyxy"`` as in Pascal VOC's, or
            ``"cxcywh"``.
        normalized: Whether boxes are in fractions of the image.
        on_invalid: ``"error"`` refuses a data set with an invalid object, ``"drop"`` leaves it out and counts it.
            ``"pycocotools"`` is the same as ``"error"``.
        threads: Not used.

    Raises:
        ValueError: If ``boxes`` is unknown.
        DatasetError: If there is no such split or column, or an object is invalid; names row and object, what was
            expected and what came.
    """
    if isinstance(dataset, Mapping):
        dataset = _split(dataset, split)
    elif split is not None:
        refuse(_SOURCE, f"splits, among them {split!r}", "a data set without splits")
    names = [str(name) for name in dataset.column_names]
    if objects not in names:
        refuse(_SOURCE, f"a column {objects!r} with a bbox per object", ", ".join(names))
    rows = _Rows()
    plain = _undecoded(dataset)
    columns = {name: list(plain[name]) for name in (*_IMAGE_COLUMNS, objects) if name in names}
    for at, found in enumerate(columns[objects]):
        rows.add(at, {name: column[at] for name, column in columns.items()}, _listed(found, at))
    class_names = _class_names(dataset.features, objects)
    if class_names is not None:
        rows.name_classes(class_names)
    gt = ground_truth_of_rows(
        Table(_SOURCE, rows.columns(), rows.where),
        Reading({"box": "bbox"}, boxes, normalized, on_invalid),
        categories=None if class_names is None else {name: number for number, name in enumerate(class_names)},
    )
    notes = [f"{_SOURCE}: left out {objects}.{name}, which has lists" for name in sorted(rows.left_out)]
    return dataclasses.replace(gt, notes=(*notes, *gt.notes))


class _Rows:
    """A row per object, and one without a box per image without objects."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []
        self._places: list[tuple[int, int]] = []
        self.left_out: set[str] = set()
        """The values of objects that are lists, but for the boxes."""

    def add(self, at: int, image: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> None:
        """Add the objects of an image."""
        width, height = _size(image)
        of_image = {"image_id": image.get("image_id", at), "image_width": width, "image_height": height}
        if (name := image.get("file_name", image.get("filename"))) is not None:
            of_image["file_name"] = name
        for number, one in enumerate(objects or [{}]):
            spelled = _spelled(one)
            self.left_out |= {name for name, value in spelled.items() if name != "bbox" and _is_listed(value)}
            plain = {name: value for name, value in spelled.items() if name == "bbox" or not _is_listed(value)}
            self._rows.append({**of_image, **plain})
            self._places.append((at, number))

    def where(self, row: int) -> str:
        """The place of a row."""
        at, number = self._places[row]
        return f"{_SOURCE}: row {at}, object {number}"

    def name_classes(self, names: Sequence[str]) -> None:
        """Replace the numbers of classes with their names; another number becomes a name that no class has."""
        for values in self._rows:
            number = values.get("category")
            if number is not None:
                known = isinstance(number, int) and 0 <= number < len(names)
                values["category"] = names[number] if known else f"number {number} of {len(names)}"

    def columns(self) -> dict[str, list[Any]]:
        """The columns of all rows; there is always a box and a class."""
        names = dict.fromkeys(("image_id", "image_width", "image_height", "bbox", "category"))
        names |= dict.fromkeys(name for row in self._rows for name in row)
        return {name: [row.get(name) for row in self._rows] for name in names}


def _split(dataset: Mapping[str, Any], split: str | None) -> Any:
    if split is None and len(dataset) == 1:
        return next(iter(dataset.values()))
    if split is None or split not in dataset:
        refuse(_SOURCE, f"split=, one of {', '.join(map(repr, dataset))}", abbreviate(split))
    return dataset[split]


def _undecoded(dataset: Any) -> Any:
    """The data set, with images as files or bytes if they can be had."""
    feature = dataset.features.get("image") if hasattr(dataset.features, "get") else None
    if feature is not None and hasattr(feature, "decode") and hasattr(dataset, "cast_column"):
        return dataset.cast_column("image", type(feature)(decode=False))
    return dataset


def _listed(found: Any, at: int) -> list[Mapping[str, Any]]:
    """Objects as a list: they may be a list, or a mapping of lists."""
    where = f"{_SOURCE}: row {at}, objects"
    if found is None:
        return []
    if isinstance(found, Mapping):
        columns = {name: list(values) for name, values in found.items() if values is not None}
        if len(set(map(len, columns.values()))) > 1:
            lengths = ", ".join(f"{name}: {len(values)}" for name, values in columns.items())
            refuse(where, "lists of one length", lengths)
        return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if isinstance(found, str | bytes) or not isinstance(found, Sequence):
        refuse(where, "a list of objects, or a mapping of lists", type(found).__name__)
    if wrong := next((one for one in found if not isinstance(one, Mapping)), None):
        refuse(where, "objects with bbox and category", type(wrong).__name__)
    return list(found)


def _spelled(one: Mapping[str, Any]) -> dict[str, Any]:
    """An object with the names of columns that the reader of tables knows."""
    made: dict[str, Any] = {}
    for name, value in one.items():
        if name in _BOXES:
            made["bbox"] = value
        elif name in _CLASSES:
            made.setdefault("category", value)
        elif name in _SPELLED:
            made[_SPELLED[name]] = value
        else:
            made.setdefault(name, value)
    return made


def _is_listed(value: Any) -> bool:
    return not (value is None or isinstance(value, bool | int | float | str))


def _size(image: Mapping[str, Any]) -> tuple[float, float]:
    if image.get("width") is not None and image.get("height") is not None:
        return image["width"], image["height"]
    picture: Any = image.get("image")
    if isinstance(getattr(picture, "size", None), tuple):
        return float(picture.size[0]), float(picture.size[1])
    if isinstance(picture, Mapping) and (picture.get("bytes") or picture.get("path")):
        opener = import_extra("PIL.Image", extra="yolo", needed_by="the size of an image")
        content = picture.get("bytes")
        try:
            with opener.open(io.BytesIO(content) if content else picture["path"]) as opened:
                width, height = opened.size
                lying = opened.getexif().get(_ORIENTATION) in _LYING
        except Exception:  # Pillow raises errors of many kinds about files that are damaged
            return math.nan, math.nan
        return (height, width) if lying else (width, height)
    return math.nan, math.nan


def _class_names(features: Any, objects: str) -> list[str] | None:
    """The names of a ``ClassLabel`` within the feature of the objects; ``None`` if the classes have none."""
    feature: Any = features.get(objects) if hasattr(features, "get") else None
    for _ in range(4):  # a list of mappings, or a mapping of lists, or what the package makes of these
        if isinstance(feature, Mapping):
            feature = next((feature[name] for name in _CLASSES if name in feature), None)
        elif isinstance(feature, list):
            feature = feature[0] if feature else None
        elif hasattr(feature, "names"):
            return list(feature.names)
        else:
            feature = getattr(feature, "feature", None)
    return list(feature.names) if hasattr(feature, "names") else None
