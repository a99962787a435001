"""Discs, a kind of region that ioukit does not have: the code that a user writes to add a kind."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import Boxes
from ioukit.regions import Regions

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self

    from ioukit.typing import FloatArray


class Discs(Regions):
    """Rows of x, y and radius."""

    __slots__ = ("rows",)

    def __init__(self, rows: ArrayLike) -> None:
        self.rows = np.array(rows, np.float64).reshape(-1, 3)
        self.rows.flags.writeable = False

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def area(self) -> FloatArray:
        return np.asarray(np.pi * self.rows[:, 2] ** 2)

    @property
    def is_empty(self) -> NDArray[np.bool_]:
        return np.asarray(self.rows[:, 2] == 0)

    def to_boxes(self) -> Boxes:
        x, y, radius = self.rows.T
        return Boxes(np.stack([x, y, 2 * radius, 2 * radius], axis=1), "cxcywh")

    def _select(self, rows: slice | NDArray[Any]) -> Self:
        return type(self)(self.rows[rows])

    def _state(self) -> tuple[Any, ...]:
        return (self.rows,)

    @classmethod
    def _trusted(cls, *state: Any) -> Self:
        return cls(*state)


def overlap(measure: str, first: FloatArray, second: FloatArray) -> FloatArray:
    """The overlap of rows that NumPy broadcasts."""
    (x1, y1, r1), (x2, y2, r2) = np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
    apart = np.hypot(x1 - x2, y1 - y2)
    with np.errstate(divide="ignore", invalid="ignore"):
        angle1 = np.arccos(np.clip((apart**2 + r1**2 - r2**2) / (2 * apart * r1), -1, 1))
        angle2 = np.arccos(np.clip((apart**2 + r2**2 - r1**2) / (2 * apart * r2), -1, 1))
        lens = r1**2 * (angle1 - np.sin(2 * angle1) / 2) + r2**2 * (angle2 - np.sin(2 * angle2) / 2)
        inside = np.pi * np.minimum(r1, r2) ** 2
        shared = np.where(apart >= r1 + r2, 0, np.where(apart <= abs(r1 - r2), inside, lens))
        areas = np.pi * r1**2 + 0 * shared, np.pi * r2**2 + 0 * shared
        union = areas[0] + areas[1] - shared
        wholes = {"iou": union, "ioa_first": areas[0], "ioa_second": areas[1], "iom": np.minimum(*areas)}
        if measure == "intersection":
            return np.asarray(shared)
        if measure == "jaccard_distance":
            return np.asarray(1 - np.where(union > 0, shared / union, 0))
        return np.asarray(np.where(wholes[measure] > 0, shared / wholes[measure], 0))


def pairwise(measure: str, first: Discs, second: Discs, threads: int) -> FloatArray:  # noqa: ARG001
    return overlap(measure, first.rows[:, None], second.rows)


def elementwise(measure: str, first: Discs, second: Discs, threads: int) -> FloatArray:  # noqa: ARG001
    return overlap(measure, first.rows, second.rows)


def pairs(
    measure: str,
    first: Discs,
    second: Discs,
    rows: NDArray[np.int64],
    columns: NDArray[np.int64],
    threads: int,  # noqa: ARG001
) -> FloatArray:
    return overlap(measure, first.rows[rows], second.rows[columns])


ENGINE = types.SimpleNamespace(pairwise=pairwise, elementwise=elementwise, pairs=pairs)
