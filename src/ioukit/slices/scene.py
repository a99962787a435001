"""The columns that slices of an evaluation can be made of, by name, and the list of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation import Evaluation
from ioukit.slices.columns import Column, Level, Values, near_names, unknown_values, values_of
from ioukit.slices.computed import SIZE, computed_columns
from ioukit.slices.image_table import image_columns

Positions: TypeAlias = npt.NDArray[np.intp]


class Scene:
    """Images, objects and detections of an evaluation, and their columns by name.

    A column of a table comes before one of the data, and this before a computed one. Rows of images are those of the
    ground truth; without the data, those of the match table.
    """

    def __init__(self, evaluation: Evaluation, tables: Any = None, image_column: str | None = None) -> None:
        """Take an evaluation and one or several tables with columns of its images, see :func:`image_columns`."""
        self.evaluation = evaluation
        gt, dt, table = evaluation.ground_truth, evaluation.detections, evaluation.matches
        self.data: tuple[GroundTruth, Detections] | None = None if gt is None or dt is None else (gt, dt)
        self.labels: npt.NDArray[Any] = table.image_ids if gt is None else gt.images.labels
        """(J,) ids of the images that have values."""
        place = np.searchsorted(self.labels, table.image_ids)
        self.evaluated: Positions = place.astype(np.intp)
        """(I,) the position in :attr:`labels` of each image of the match table."""
        self.notes: list[str] = []
        """What a user should know about the tables."""
        self.columns: dict[str, Column] = {}
        """All columns by name."""
        if self.data is not None:
            self._image_of_objects, self._image_of_detections = _images_of(*self.data)
            computed = computed_columns(*self.data, self._image_of_objects, self._image_of_detections)
            self.columns |= {column.name: column for column in computed}
            self.columns |= {column.name: column for column in _data_columns(*self.data)}
        names = None if gt is None or not any(gt.images.names) else list(gt.images.names)
        listed = list(tables) if isinstance(tables, list | tuple) else [tables]
        for each in listed if tables is not None else ():
            found = image_columns(each, self.labels, names, image_column)
            self.notes += found.notes
            taken = [name for name in found.columns if name in self.columns or name == SIZE]
            self.notes += [f"{name} is the column of the table, which hides the other one" for name in taken]
            self.columns |= {
                name: Column(name, "image", "table", lambda values=values: values)  # type: ignore[misc]
                for name, values in found.columns.items()
            }

    def column(self, name: str) -> Column:
        """The column of a name.

        Raises:
            ValueError: If there is none; the message offers similar names.
        """
        if name not in self.columns:
            raise ValueError(f"there is no column {name!r}{near_names(name, list(self.columns))}")
        return self.columns[name]

    def values(self, name: str, level: Level) -> Values:
        """The values of a column for each image, or for each object, of the ground truth."""
        column = self.column(name)
        if level == "object" and column.level == "image":
            return column.values.take(self._image_of_objects)
        return column.values

    def values_of_detections(self, name: str) -> Values:
        """The values of a column for each detection."""
        column = self.column(name)
        if column.level == "image":
            return column.values.take(self._image_of_detections)
        found = column.of_detections
        if found is None:
            return unknown_values(len(self._image_of_detections), column.values.data.dtype)
        return found

    def on_images(self, values: Values) -> tuple[Values, Values]:
        """Values of images as values of the objects and of the detections on them."""
        return values.take(self._image_of_objects), values.take(self._image_of_detections)

    @property
    def num_detections(self) -> int:
        """How many detections have values."""
        return len(self._image_of_detections)

    def rows(self, level: Level) -> int:
        """How many images or objects have values."""
        return len(self.labels) if level == "image" else len(self._image_of_objects)


def _images_of(gt: GroundTruth, dt: Detections) -> tuple[Positions, Positions]:
    known = gt.images.ids
    return known.searchsorted(gt.image_ids), known.searchsorted(dt.image_ids_in(gt.images))


def _data_columns(gt: GroundTruth, dt: Detections) -> Iterator[Column]:
    """The attributes of images, and the flags and attributes of objects."""
    for name, given in gt.images.attributes.items():
        if _is_plain(given):
            yield Column(name, "image", "data", lambda given=given, name=name: values_of(given, name))  # type: ignore[misc]
    of_objects: Mapping[str, Any] = {**gt.attributes, **gt.flags}
    for name, given in of_objects.items():
        if not _is_plain(given):
            continue
        column = Column(name, "object", "data", lambda given=given, name=name: values_of(given, name))  # type: ignore[misc]
        theirs = dt.attributes.get(name)
        if (
            theirs is not None
            and _is_plain(theirs)
            and values_of(theirs[:0], name).kind == values_of(given[:0], name).kind
        ):

            def of_detections(theirs: Any = theirs, name: str = name) -> Values:
                return values_of(theirs, name)

            column = dataclasses.replace(column, compute_of_detections=of_detections)
        yield column


def _is_plain(given: Any) -> bool:
    return isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iufbU"


_ORIGINS = {"table": "Column of a table.", "data": "Attribute or flag of the data."}


@dataclass(frozen=True)
class SliceColumn:
    """A column that slices can be made of."""

    name: str
    """Its name."""
    level: Level
    """Whether ``"image"`` or ``"object"`` has a value."""
    kind: str
    """``"number"``, ``"text"`` or ``"flag"``."""
    values: int
    """How many different values it has."""
    missing: int
    """How many images or objects have no value."""
    of_detections: bool
    """Whether detections have a value, too: a detection of an object outside of a slice is then ignored."""
    meaning: str
    """One sentence about it."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values."""
        return asdict(self)


def slice_columns(
    evaluation: Evaluation, *, tables: Any = None, image_column: str | None = None
) -> tuple[SliceColumn, ...]:
    """The columns that :func:`slice_numbers` and conditions know.

    Args:
        evaluation: The evaluation, with its data.
        tables: As for :func:`slice_numbers`.
        image_column: As for :func:`slice_numbers`.

    Raises:
        DatasetError: If a table is invalid.
        OSError: If it cannot be read.
    """
    scene = Scene(evaluation, tables, image_column)
    found = []
    for column in scene.columns.values():
        values = column.values
        found.append(
            SliceColumn(
                name=column.name,
                level=column.level,
                kind=values.kind,
                values=len(np.unique(values.data[values.known])),
                missing=int(values.missing.sum()),
                of_detections=column.level == "image" or column.compute_of_detections is not None,
                meaning=column.meaning or _ORIGINS[column.origin],
            )
        )
        if column.name == "area" and SIZE not in scene.columns:
            meaning = "The area, cut by the area ranges of the protocol; in a condition, name area."
            found.append(dataclasses.replace(found[-1], name=SIZE, meaning=meaning))
    return tuple(found)


def column_of_images(
    evaluation: Evaluation, name: str, *, tables: Any = None, image_column: str | None = None
) -> list[Any]:
    """(I,) the values of a column of images, in the order of the match table, ``None`` where missing: for clusters.

    Raises:
        ValueError: If there is no such column, or it is one of the objects.
    """
    scene = Scene(evaluation, tables, image_column)
    column = scene.column(name)
    if column.level != "image":
        raise ValueError(f"column {name!r} has a value per object, and one per image is needed")
    values = column.values.take(scene.evaluated)
    return [
        None if missing else one for one, missing in zip(values.data.tolist(), values.missing.tolist(), strict=True)
    ]
