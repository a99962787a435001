"""Images and objects in the order in which a reader finds them, made into a data set at the end.

Owns: which images and classes there are, their order and ids, and columns of which only some objects have a value.
Does not own: what a record looks like (each format), what is invalid in a column (`GroundTruth.from_arrays`), and which
image a detection belongs to (`known_names.py`). Formats of many files or rows do not use it: the core reads these.
"""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.formats.known_names import ClassIds
from ioukit.datasets.formats.problems import Data, Problems
from ioukit.datasets.formats.text_files import abbreviate, is_name, refuse, to_number
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit.datasets.columns._checks import OnInvalid


UNKNOWN_SIZE = (math.nan, math.nan)


class Objects:
    """What a reader has found so far: for formats that are read record by record in Python.

    Images are known by a string, the name that the files have for them; it becomes their id. Classes are known by their
    names; unless the format lists them, they get the ids 1, 2, ... in the order of their names.

    A reader wraps each record into ``with objects.record(...)``, which leaves the record out or stops.
    """

    def __init__(self, source: str | os.PathLike[str], on_invalid: OnInvalid) -> None:
        """Take the path and the policy of the reader."""
        self.source = os.fspath(source)
        self.problems = Problems.of(on_invalid)
        self.record = self.problems.record
        self.notes: list[str] = []
        """What a user should know about the data besides the problems."""
        self._images: dict[str, int] = {}
        self._sizes: list[tuple[float, float]] = []
        self._names: list[str] = []
        self._image_attributes: dict[str, dict[int, Any]] = {}
        self._rows: list[tuple[int, str, Sequence[float], float]] = []
        self._flags: dict[str, dict[int, Any]] = {}
        self._attributes: dict[str, dict[int, Any]] = {}
        self._regions: dict[str, dict[int, Any]] = {}
        self._areas: dict[int, float] = {}
        self.ids: Sequence[int] | None = None
        """The ids of all objects at the end, if the format has them; else 1, 2, ..."""

    def __len__(self) -> int:
        return len(self._rows)

    def image(
        self,
        key: str,
        where: str,
        *,
        name: str | None = None,
        size: tuple[float, float] = UNKNOWN_SIZE,
        again: bool = False,
        attributes: Mapping[str, float | str] | None = None,
    ) -> int:
        """Add an image and return its position.

        Args:
            key: Its id.
            where: The place, for messages.
            name: The name of its file; the id if ``None``.
            size: Width and height in pixels; NaN if the files do not say them.
            again: Whether several records may be about one image. A size replaces an unknown one.
            attributes: Numbers or text by name; NaN or ``""`` for an image that lacks one.

        Raises:
            DatasetError: If the id is no text, or there was such an image before; or if two sizes differ.
        """
        if not is_name(key):
            refuse(where, "the name of an image", abbreviate(key))
        position = self._images.get(key)
        if position is None:
            self._images[key] = len(self._images)
            self._sizes.append(size)
            self._names.append(key if name is None else name)
            _keep(self._image_attributes, len(self._images) - 1, attributes)
            return len(self._images) - 1
        if not again:
            refuse(where, "an image that differs from those before", abbreviate(key))
        if not math.isnan(size[0]):
            known = self._sizes[position]
            if not math.isnan(known[0]) and known != size:
                refuse(where, f"the size {known[0]:g} x {known[1]:g}, as before", f"{size[0]:g} x {size[1]:g}")
            self._sizes[position] = size
        return position

    def add(
        self,
        image: int,
        category: str,
        box: Sequence[float],
        *,
        score: float = math.nan,
        area: float | None = None,
        flags: Mapping[str, bool] | None = None,
        attributes: Mapping[str, float | str] | None = None,
        regions: Mapping[str, Any] | None = None,
    ) -> None:
        """Add an object.

        Args:
            image: The position of its image.
            category: The name of its class.
            box: ``[x, y, width, height]`` in pixels.
            score: Of a detection.
            area: In square pixels; that of the box if ``None``.
            flags: True or false by name; an object without a flag has it false.
            attributes: Numbers or text by name; NaN or ``""`` for an object that lacks one.
            regions: ``segmentations``: polygons or RLE as in COCO's files; ``keypoints``: (P, 3); ``rotated``:
                ``[cx, cy, width, height, angle in radians]``, clockwise on the screen.

        Raises:
            DatasetError: If the name of the class is empty, or no text that a file can hold.
        """
        if not is_name(category):
            refuse(self.source, "the name of a class", abbreviate(category))
        row = len(self._rows)
        self._rows.append((image, category, box, score))
        if area is not None:
            self._areas[row] = area
        _keep(self._flags, row, flags)
        _keep(self._attributes, row, attributes)
        _keep(self._regions, row, regions)

    def attribute(self, name: str, values: Sequence[float | str]) -> None:
        """Give an attribute to all objects so far."""
        self._attributes[name] = dict(enumerate(values))

    def ground_truth(self, categories: Mapping[str, int] | None = None) -> GroundTruth:
        """All images and objects.

        Args:
            categories: The ids of the classes by name, if the format lists them. If ``None``, the names of the objects
                in alphabetical order get the ids from 1 on.

        Raises:
            DatasetError: If values are invalid, or an object has a class that is not listed.
        """
        images, names, boxes, _ = self._columns()
        ids = self._ids(names, categories)
        gt = GroundTruth.from_arrays(
            image_ids=images,
            category_ids=np.array([ids[name] for name in names], np.int64),
            boxes=boxes,
            areas=self._area_column(boxes),
            ids=self.ids,
            images=np.array(list(self._images), np.str_),
            sizes=np.array(self._sizes, np.float64).reshape(-1, 2),
            names=self._names,
            categories={number: name for name, number in ids.items()},
            flags={
                name: np.array([given.get(row, False) for row in range(len(self))], np.bool_)
                for name, given in self._flags.items()
            },
            attributes=_columns(self._attributes, len(self)),
            image_attributes=_columns(self._image_attributes, len(self._images)),
            source=self.source,
            **self._region_columns(),
        )
        if categories is None:
            gt = dataclasses.replace(gt, categories=dataclasses.replace(gt.categories, made_up_ids=True))
        return self._noted_in(gt)

    def detections(self, ground_truth: GroundTruth) -> Detections:
        """All objects as detections. Their classes are those of the ground truth, by name.

        The keys of the images must be ids of the ground truth, see :class:`ImageFinder`.
        """
        images, names, boxes, scores = self._columns()
        ids = self._ids(names, ClassIds(ground_truth))
        labels = ground_truth.images.labels
        dt = Detections.from_arrays(
            image_ids=images if labels.dtype.kind == "U" else images.astype(np.int64),
            category_ids=np.array([ids[name] for name in names], np.int64),
            boxes=boxes,
            scores=scores,
            areas=self._area_column(boxes),
            attributes=_columns(self._attributes, len(self)),
            source=self.source,
            **self._region_columns(),
        )
        return self._noted_in(dt)

    def _noted_in(self, data: Data) -> Data:
        notes = (*(f"{self.source}: {note}" for note in self.notes), *data.notes)
        return self.problems.noted_in(dataclasses.replace(data, notes=notes))

    def _columns(self) -> tuple[np.ndarray[Any, Any], list[str], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """Names of images, names of classes, boxes and scores of all rows."""
        keys = list(self._images)
        images = np.array([keys[at] for at, *_ in self._rows], np.str_)
        boxes = np.array([box for _, _, box, _ in self._rows], np.float64).reshape(-1, 4)
        scores = np.array([score for *_, score in self._rows], np.float64)
        return images, [name for _, name, *_ in self._rows], boxes, scores

    def _ids(self, names: Sequence[str], categories: Mapping[str, int] | None) -> Mapping[str, int]:
        if categories is None:
            return {name: number for number, name in enumerate(sorted(set(names)), start=1)}
        if unknown := set(names) - set(categories):
            refuse(self.source, f"one of the {len(categories):,} classes", abbreviate(min(unknown)))
        return categories

    def _area_column(self, boxes: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
        """The areas; ``None`` if all are those of the boxes."""
        if not self._areas:
            return None
        areas: np.ndarray[Any, Any] = boxes[:, 2] * boxes[:, 3]
        areas[list(self._areas)] = list(self._areas.values())
        return areas

    def _region_columns(self) -> dict[str, Any]:
        """The arguments of ``from_arrays`` for regions."""
        made: dict[str, Any] = {}
        rows = range(len(self))
        for name, given in self._regions.items():
            if name == "segmentations":
                made[name] = [given.get(row) for row in rows]
            elif name == "keypoints":
                points = max((len(one) for one in given.values()), default=0)
                column = np.zeros((len(self), points, 3))
                for row, one in given.items():
                    column[row, : len(one)] = one
                made[name] = column
            elif name == "rotated":
                if len(given) < len(self):
                    missing = next(row for row in rows if row not in given)
                    raise DatasetError(f"{self.source}: object {missing}: expected a rotated box, as others have")
                from ioukit.regions.rotated import RotatedBoxes  # noqa: PLC0415 - few formats have them

                boxes = np.array([given[row] for row in rows], np.float64).reshape(-1, 5)
                made["regions"] = RotatedBoxes(boxes, unit="radians", sense="clockwise")
        return made


def _keep(columns: dict[str, dict[int, Any]], row: int, given: Mapping[str, Any] | None) -> None:
    for name, value in (given or {}).items():
        columns.setdefault(name, {})[row] = value


def to_size(
    get: Callable[[str], Any], where: str, names: Sequence[str] = ("width", "height"), **limits: Any
) -> tuple[float, float]:
    """Width and height of an image, of which a file says both or neither.

    Args:
        get: Returns a value by its name; ``None`` if there is none.
        where: What stands before a name in messages.
        names: The names of width and height.
        **limits: For `to_number`.
    """
    if all(get(name) is None for name in names):
        return UNKNOWN_SIZE
    width, height = (to_number(get(name), f"{where}{name}", **limits) for name in names)
    return width, height


def _columns(attributes: Mapping[str, Mapping[int, Any]], count: int) -> dict[str, np.ndarray[Any, Any]]:
    """Columns of text or numbers from the values that there are, by position."""
    made = {}
    for name, given in attributes.items():
        if any(isinstance(value, str) for value in given.values()):
            made[name] = np.array([str(given.get(at, "")) for at in range(count)], np.str_)
        else:
            made[name] = np.array([given.get(at, math.nan) for at in range(count)], np.float64)
    return made
