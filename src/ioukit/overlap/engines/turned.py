"""The engines of boxes with an angle, `RotatedBoxes` and `Boxes3D`: exact intersections in the native module."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from ioukit import _core
from ioukit.overlap.engines.engine import Outlined, giou_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ioukit.regions import Boxes3D, RotatedBoxes
    from ioukit.typing import FloatArray

    Turned: TypeAlias = RotatedBoxes | Boxes3D


class TurnedEngine(NamedTuple):
    """An `Engine` over three native functions. Each set has its own unit and sense, and in space its own z."""

    native_pairwise: Callable[..., FloatArray]
    native_elementwise: Callable[..., FloatArray]
    native_pairs: Callable[..., FloatArray]

    def pairwise(self, measure: str, first: Turned, second: Turned, threads: int) -> FloatArray:
        """(N, M)."""
        return self.native_pairwise(measure, first._native(), second._native(), threads)

    def elementwise(self, measure: str, first: Turned, second: Turned, threads: int) -> FloatArray:
        """(N,)."""
        return self.native_elementwise(measure, first._native(), second._native(), threads)

    def pairs(
        self,
        measure: str,
        first: Turned,
        second: Turned,
        rows: NDArray[np.int64],
        columns: NDArray[np.int64],
        threads: int,
    ) -> FloatArray:
        """(P,)."""
        return self.native_pairs(measure, first._native(), second._native(), rows, columns, threads)


class _Rotated(TurnedEngine):
    """Rectangles, which also have a hull around two of them."""

    def giou(self, first: RotatedBoxes, second: RotatedBoxes, paired: bool, threads: int) -> FloatArray:
        """(N, M) generalized IoU, with the convex hull around two rectangles; with ``paired`` (N,)."""
        function = self.elementwise if paired else self.pairwise
        intersections = function("intersection", first, second, threads)
        return giou_of(intersections, _outlined(first), _outlined(second), paired=paired, threads=threads)


def _outlined(boxes: RotatedBoxes) -> Outlined:
    numbers, degrees, clockwise = boxes._native()
    centred = numbers * [0, 0, 1, 1, 1]
    corners = _core.rotated_corners(centred, degrees, clockwise).reshape(-1, 2)
    areas = numbers[:, 2] * numbers[:, 3]
    return Outlined(corners, np.arange(0, 4 * len(boxes) + 1, 4), areas, np.ascontiguousarray(numbers[:, :2]))


ROTATED = _Rotated(_core.rotated_pairwise, _core.rotated_elementwise, _core.rotated_pairs)
"""Rectangles, by an exact intersection."""

BOXES3D = TurnedEngine(_core.boxes3d_pairwise, _core.boxes3d_elementwise, _core.boxes3d_pairs)
"""Boxes in space: the intersection of the rectangles seen from above times the common height."""
