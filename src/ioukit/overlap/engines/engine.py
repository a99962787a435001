"""Overlaps of regions that are no upright boxes: one module per kind, and what all kinds share."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Protocol

from ioukit._checks import check_threads
from ioukit.regions import Boxes, Regions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ioukit.overlap._measure import Measure
    from ioukit.typing import FloatArray

__all__ = ["ENGINES", "MEASURES", "Engine", "check_measure", "elementwise", "engine_of", "pairwise"]

MEASURES = ("intersection", "iou", "ioa_first", "ioa_second", "iom", "jaccard_distance")
"""What follows from the areas of the intersection and of both regions, as `AreaMeasure` of the core names it."""


class Engine(Protocol):
    """How one kind of region is measured: a module of this package with these functions."""

    @staticmethod
    def pairwise(measure: str, first: Any, second: Any, threads: int) -> FloatArray:
        """(N, M) float64."""

    @staticmethod
    def elementwise(measure: str, first: Any, second: Any, threads: int) -> FloatArray:
        """(N,) float64, for two sets of one length."""

    @staticmethod
    def pairs(
        measure: str, first: Any, second: Any, rows: NDArray[np.int64], columns: NDArray[np.int64], threads: int
    ) -> FloatArray:
        """(P,) float64, for the regions at these positions of the two sets: the same bits as in the table of all."""


ENGINES = {
    "Boxes3D": "ioukit.overlap.engines.boxes3d",
    "Masks": "ioukit.overlap.engines.masks",
    "Polygons": "ioukit.overlap.engines.polygons",
    "RotatedBoxes": "ioukit.overlap.engines.rotated",
}
"""The modules by kind, imported when such regions come: who measures boxes waits for no polygon."""


def engine_of(boxes1: object, boxes2: object) -> Engine | None:
    """What measures these two sets of regions; None if both are upright boxes, in whatever form.

    Raises:
        TypeError: If they are of two kinds.
    """
    kinds = {_kind(boxes1), _kind(boxes2)}
    if kinds == {None}:
        return None
    if len(kinds) > 1:
        raise TypeError(
            f"both sets must be of one kind, got {type(boxes1).__name__} and {type(boxes2).__name__}: convert one"
        )
    engine: Any = importlib.import_module(ENGINES[str(kinds.pop())])
    return engine  # type: ignore[no-any-return]


def _kind(boxes: object) -> str | None:
    """The name of a kind of regions; None for upright boxes."""
    return type(boxes).__name__ if isinstance(boxes, Regions) and not isinstance(boxes, Boxes) else None


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
