"""Which boxes can be pairs: the bounds of the sparse join, for groups of boxes and for single boxes.

The overlap of a pair along an axis is at least the threshold times a side: the larger one for IoU. The overlap is at
most what both groups have in common along the axis, and at most the side of a box. The core has the same bounds in
``join/bound.rs``, with the reasons for the roundings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.scale.boxes.box_records import Records

__all__ = ["Extents", "Reach", "Side", "box_extents", "group_extents", "joined_extents", "reach_of"]

Side: TypeAlias = Literal["larger", "first", "second", "smaller"]
"""The side that the overlap along an axis is compared with."""

_SIDES: dict[str, Side] = {
    "iou": "larger",
    "giou": "larger",
    "diou": "larger",
    "ciou": "larger",
    "ioa_first": "first",
    "ioa_second": "second",
    "iom": "smaller",
}
_ROUNDING = 16 * np.finfo(np.float64).eps


class Extents(NamedTuple):
    """Where the boxes of some groups lie, and how large they are. A single box is a group too."""

    low: NDArray[np.float64]
    """(G, 2) the least low corner."""
    high: NDArray[np.float64]
    """(G, 2) the largest high corner."""
    least: NDArray[np.float64]
    """(G, 2) the least width and height."""
    largest: NDArray[np.float64]
    """(G, 2) the largest width and height."""
    area: NDArray[np.float64]
    """(G,) the least area."""
    labels: NDArray[np.int64] | None
    """(G, 2) the least and the largest label."""

    def take(self, places: Any) -> Extents:
        """Some of the groups."""
        columns: list[Any] = [None if column is None else column[places] for column in self]
        return Extents(*columns)


def box_extents(records: Records) -> Extents:
    """The extents of single boxes."""
    corners = records["box"].astype(np.float64)
    sides = corners[:, 2:] - corners[:, :2]
    labels = None if "label" not in records.dtype.names else np.stack([records["label"]] * 2, axis=1)
    return Extents(corners[:, :2], corners[:, 2:], sides, sides, sides[:, 0] * sides[:, 1], labels)


def group_extents(boxes: Extents, starts: NDArray[np.int64]) -> Extents:
    """The extents of groups of boxes that follow each other; every group has a box."""
    if not len(starts):
        return boxes.take(slice(0, 0))
    labels = boxes.labels
    return Extents(
        np.minimum.reduceat(boxes.low, starts),
        np.maximum.reduceat(boxes.high, starts),
        np.minimum.reduceat(boxes.least, starts),
        np.maximum.reduceat(boxes.largest, starts),
        np.minimum.reduceat(boxes.area, starts),
        None
        if labels is None
        else np.stack([np.minimum.reduceat(labels[:, 0], starts), np.maximum.reduceat(labels[:, 1], starts)], axis=1),
    )


def joined_extents(parts: Sequence[Extents]) -> Extents:
    """The groups of all parts, one part after the other."""
    columns: list[Any] = [None if every[0] is None else np.concatenate(every) for every in zip(*parts, strict=True)]
    return Extents(*columns)


class Reach(NamedTuple):
    """A lower bound of the overlap of a pair along either axis."""

    side: Side
    part: float
    """The overlap is at least this part of the side."""
    smallest_area: float
    """Boxes with an area up to this one have no such bound, because areas underflow: they have to intersect."""

    def meets(self, first: Extents, second: Extents) -> NDArray[np.bool_]:
        """Which groups may have a pair, for extents that broadcast. False only where no pair exists."""
        shared = np.minimum(first.high, second.high) - np.maximum(first.low, second.low)
        shared = np.minimum(shared, np.minimum(first.largest, second.largest))
        exact = (first.area > self.smallest_area) & (second.area > self.smallest_area)
        needed = np.where(exact, self.part * (1 - _ROUNDING), 0.0)[..., None] * self._side(first.least, second.least)
        met: NDArray[np.bool_] = (shared >= needed).all(axis=-1)
        if first.labels is not None and second.labels is not None:
            met &= first.labels[..., 0] <= second.labels[..., 1]
            met &= second.labels[..., 0] <= first.labels[..., 1]
        return met

    def _side(self, first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.side == "larger":
            return np.maximum(first, second)
        if self.side == "smaller":
            return np.minimum(first, second)
        return first if self.side == "first" else second


def reach_of(variant: str, least: float, dtype: np.dtype[Any], *, either_order: bool) -> Reach:
    """The bound for pairs with a value of at least ``least``.

    Args:
        variant: The overlap, as the core names it.
        least: The smallest value of a pair.
        dtype: The dtype in which overlaps are computed.
        either_order: Whether a box may be the first or the second of its pairs.
    """
    side = _SIDES[variant]
    if either_order and side in ("first", "second"):
        side = "smaller"
    limits = np.finfo(dtype)
    return Reach(side, max(least - 32 * float(limits.eps), 0.0), float(limits.tiny) * 2.0**30)
