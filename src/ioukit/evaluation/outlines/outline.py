"""How regions are drawn: closed paths, lines and points, whatever draws them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats

View: TypeAlias = Literal["image", "ground"]
"""``"image"``: pixels, y points down, drawn on the photograph. ``"ground"``: lengths, seen from above, y points up."""


@dataclass(frozen=True, eq=False)
class Outline:
    """How one region is drawn. A region without paths, lines and points is left out."""

    rings: tuple[Floats, ...] = ()
    """Closed paths, each (P, 2); the first point is not repeated. A ring inside another one is a hole if it goes round
    in the opposite direction."""
    lines: Floats = field(default_factory=lambda: np.zeros((0, 2, 2)))
    """(L, 2, 2) straight lines from one point to another: the edges of a skeleton, or the heading of a vehicle."""
    points: Floats = field(default_factory=lambda: np.zeros((0, 2)))
    """(P, 2) single points, such as keypoints."""
    hollow: npt.NDArray[np.bool_] | None = None
    """(P,) which points are drawn as small rings, because they are hidden; none of them if ``None``."""

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not (self.rings or len(self.lines) or len(self.points))

    @property
    def bounds(self) -> Floats:
        """(4,) ``[x1, y1, x2, y2]`` around everything that is drawn; NaN if there is nothing."""
        if self.is_empty:
            return np.full(4, np.nan)
        every = np.concatenate([*self.rings, self.lines.reshape(-1, 2), self.points])
        return np.concatenate([every.min(axis=0), every.max(axis=0)])


@dataclass(frozen=True, eq=False)
class Outlines(Sequence[Outline]):
    """How some regions of one kind are drawn, one outline per region."""

    items: tuple[Outline, ...]
    """The outlines."""
    filled: bool = False
    """Whether rings are filled with a translucent colour, as masks are."""
    view: View = "image"
    """What the coordinates are, and from where the scene is seen."""

    @classmethod
    def joined(cls, parts: Sequence[Outlines]) -> Outlines:
        """All outlines of several, in order, drawn as those of the first part that has any."""
        first = next((part for part in parts if len(part)), parts[0])
        return cls(tuple(outline for part in parts for outline in part), first.filled, first.view)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, index: int) -> Outline:  # type: ignore[override]
        return self.items[index]

    def __iter__(self) -> Iterator[Outline]:
        return iter(self.items)


def box_outlines(boxes: Floats) -> Outlines:
    """The outlines of upright boxes, (N, 4) ``[x, y, width, height]``."""
    return corner_outlines(np.concatenate([boxes[:, :2], boxes[:, :2] + boxes[:, 2:]], axis=1))


def corner_outlines(boxes: Floats) -> Outlines:
    """The outlines of upright boxes, (N, 4) ``[x1, y1, x2, y2]``. A row that is not finite has none."""
    rings = boxes[:, [[0, 1], [2, 1], [2, 3], [0, 3]]]
    finite: npt.NDArray[np.bool_] = np.asarray(np.isfinite(boxes).all(axis=1))
    return Outlines(tuple(Outline((ring,)) if good else Outline() for ring, good in zip(rings, finite, strict=True)))


_MARGIN = 0.06  # of the longer side
_NARROWEST = 0.4  # the shorter side of the frame, as a part of the longer one


def ground_frame(bounds: npt.NDArray[np.float64]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom edge of the part of the ground that shows all regions; y points up, so top > bottom.

    Args:
        bounds: (N, 4) ``[x1, y1, x2, y2]`` around the regions; rows with NaN do not count.
    """
    finite = bounds[np.isfinite(bounds).all(axis=1)]
    if not len(finite):
        return -10.0, 10.0, 10.0, -10.0
    low, high = finite[:, :2].min(axis=0), finite[:, 2:].max(axis=0)
    longest = max(float((high - low).max()), 1e-6)
    sides = np.maximum(high - low + 2 * _MARGIN * longest, _NARROWEST * longest)
    (left, bottom), (right, top) = ((low + high - sides) / 2).tolist(), ((low + high + sides) / 2).tolist()
    return left, top, right, bottom


def grid_step(longest: float) -> float:
    """The distance of the lines of a grid: 1, 2 or 5 times a power of ten, so that 4 to 10 lines cross a side."""
    power = 10.0 ** math.floor(math.log10(longest / 4))
    return next(factor for factor in (5.0, 2.0, 1.0) if factor * power <= longest / 4 * (1 + 1e-9)) * power
