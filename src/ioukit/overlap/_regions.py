"""Overlaps of regions that are no upright boxes: one row of `ENGINES` per kind, and what all kinds share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit._checks import check_threads
from ioukit.boxes import Boxes3D, Polygons, RotatedBoxes
from ioukit.overlap import _boxes3d, _polygons, _rotated

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ioukit.overlap._measure import Measure
    from ioukit.typing import FloatArray

__all__ = ["ENGINES", "MEASURES", "Engine", "check_measure", "elementwise", "engine_of", "pairwise"]

MEASURES = ("intersection", "iou", "ioa_first", "ioa_second", "iom", "jaccard_distance")
"""What follows from the areas of the intersection and of both regions, as `AreaMeasure` of the core names it."""


@dataclass(frozen=True)
class Engine:
    """How one kind of region is measured.

    Attributes:
        pairwise: ``(measure, first, second, threads) -> (N, M)`` float64.
        elementwise: ``(measure, first, second, threads) -> (N,)`` float64, for two sets of one length.
        pairs: ``(measure, first, second, rows, columns, threads) -> (P,)`` float64, for the regions at these positions
            of the two sets, the same bits as in the table of all pairs; None if there is no join of the kind.
    """

    pairwise: Callable[[str, Any, Any, int], FloatArray]
    elementwise: Callable[[str, Any, Any, int], FloatArray]
    pairs: Callable[[str, Any, Any, NDArray[np.int64], NDArray[np.int64], int], FloatArray] | None = None


ENGINES: dict[type, Engine] = {
    Boxes3D: Engine(_boxes3d.pairwise, _boxes3d.elementwise, _boxes3d.pairs),
    Polygons: Engine(_polygons.pairwise, _polygons.elementwise, _polygons.pairs),
    RotatedBoxes: Engine(_rotated.pairwise, _rotated.elementwise, _rotated.pairs),
}


def engine_of(boxes1: object, boxes2: object) -> Engine | None:
    """What measures these two sets of regions; None if both are upright boxes, in whatever form.

    Raises:
        TypeError: If they are of two kinds.
    """
    engine = ENGINES.get(type(boxes1))
    if type(boxes2) is not type(boxes1) and (engine is not None or type(boxes2) in ENGINES):
        raise TypeError(
            f"both sets must be of one kind, got {type(boxes1).__name__} and {type(boxes2).__name__}: convert one"
        )
    return engine


def pairwise(engine: Engine, measure: Measure, first: Any, second: Any, threads: int | None) -> FloatArray:
    """(N, M)."""
    return engine.pairwise(_name(measure, first), first, second, check_threads(threads))


def elementwise(engine: Engine, measure: Measure, first: Any, second: Any, threads: int | None) -> FloatArray:
    """(N,); one region on either side is compared with all of the other."""
    name = _name(measure, first)
    if 1 in (len(first), len(second)) and len(first) != len(second):
        return engine.pairwise(name, first, second, check_threads(threads)).reshape(-1)
    if len(first) != len(second):
        raise ValueError(f"elementwise needs as many of one as of the other, got {len(first)} and {len(second)}")
    return engine.elementwise(name, first, second, check_threads(threads))


def _name(measure: Measure, region: object) -> str:
    check_measure(measure, region)
    return measure.variant


def check_measure(measure: Measure, region: object) -> None:
    """Refuses what does not follow from areas."""
    if measure.variant in MEASURES:
        return
    known = "intersection, iou, ioa, iom, jaccard_distance"
    raise TypeError(f"{measure.variant} is defined for upright boxes; for {type(region).__name__} there are {known}")
