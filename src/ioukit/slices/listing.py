"""The columns that slices can be made of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ioukit.evaluation import Evaluation
from ioukit.slices.columns import Level
from ioukit.slices.measuring import tables_of
from ioukit.slices.scene import Scene

__all__ = ["SliceColumn", "column_of_images", "slice_columns"]

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
    scene = Scene(evaluation, tables_of(tables), image_column)
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
    return tuple(found)


def column_of_images(
    evaluation: Evaluation, name: str, *, tables: Any = None, image_column: str | None = None
) -> list[Any]:
    """(I,) the values of a column of images, in the order of the match table, ``None`` where missing: for clusters.

    Raises:
        ValueError: If there is no such column, or it is one of the objects.
    """
    scene = Scene(evaluation, tables_of(tables), image_column)
    column = scene.column(name)
    if column.level != "image":
        raise ValueError(f"column {name!r} has a value per object, and one per image is needed")
    values = column.values.take(scene.evaluated)
    return [
        None if missing else one for one, missing in zip(values.data.tolist(), values.missing.tolist(), strict=True)
    ]
