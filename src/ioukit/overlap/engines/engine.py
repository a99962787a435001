"""Which engine measures the overlaps of a kind of region, and the register of all engines.

Owns: the register, what an engine must have, and which measures a kind has. Two things that several engines need stand
here as well: TIoU, the product of two other measures, and GIoU with the convex hull of two outlines.
Does not own: intersections (the other files of this folder) and upright boxes, which have no engine: their functions go
to native code or to formulas.
Cut here because a new kind of region is then one file and one row, and no function that takes regions changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.overlap.variants import VARIANTS
from ioukit.regions import Boxes, Regions
from ioukit.regions._by_kind import ByKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from ioukit.overlap.variants import Measure
    from ioukit.regions._by_kind import Kind
    from ioukit.typing import FloatArray


_OF_REGIONS = [row.name for row in VARIANTS if row.of_regions]


class Engine(Protocol):
    """How regions of one kind overlap: a module or an object with these three functions.

    An engine may have a fourth function, ``giou(first, second, paired, threads)``: the generalized IoU of every pair,
    (N, M), or with ``paired`` of each region with its counterpart, (N,). TIoU follows from IoU and IoA.

    In all three, ``measure`` is ``"intersection"``, ``"iou"``, ``"ioa_first"`` (over the area of the first region),
    ``"ioa_second"``, ``"iom"`` or ``"jaccard_distance"``. ``threads`` is a number of threads, where 0 means one per
    core; it must not change a bit of the result.
    """

    def pairwise(self, measure: str, first: Any, second: Any, threads: int) -> FloatArray:
        """(N, M) float64: the overlap of every region of one set with every region of another."""

    def elementwise(self, measure: str, first: Any, second: Any, threads: int) -> FloatArray:
        """(N,) float64: the overlap of each region with its counterpart, in two sets of one length."""

    def pairs(
        self, measure: str, first: Any, second: Any, rows: NDArray[np.int64], columns: NDArray[np.int64], threads: int
    ) -> FloatArray:
        """(P,) float64: the values at these rows and columns of what `pairwise` returns, with the same bits."""


def _check_engine(engine: object) -> None:
    for name in ("pairwise", "elementwise", "pairs"):
        if not callable(getattr(engine, name, None)):
            raise TypeError(f"an engine needs a function {name!r}, see ioukit.overlap.Engine; {engine!r} has none")


_ENGINES: ByKind[Engine] = ByKind("kind of region with an engine", _check_engine)


def register_engine(kind: Kind, engine: Engine | str) -> None:
    """Registers the functions that measure the overlaps of a kind of region.

    After that, `pairwise_iou`, `elementwise_iou` and the like, `overlap_join` and `nms` accept such regions. A later
    call for the same kind replaces its engine. Subclasses use the engine of their nearest base class.

    Args:
        kind: A class derived from `ioukit.regions.Regions`, whose docstring says what the class must implement; or its
            name ``"package.module:Class"``, which is not imported.
        engine: A module or an object with the functions of `Engine`; or its name, ``"package.module"`` or
            ``"package.module:object"``, which is imported when the first regions of this kind are measured.

    Raises:
        TypeError: If ``kind`` is not derived from `Regions`, or is a class of upright boxes, or if a function of the
            engine is missing.

    Examples:
        >>> from ioukit.overlap import register_engine
        >>> from ioukit.overlap.engines import masks
        >>> from ioukit.regions import Masks
        >>> register_engine(Masks, masks)  # as ioukit itself does
    """
    _ENGINES.register(kind, engine)


register_engine("ioukit.regions.boxes3d:Boxes3D", "ioukit.overlap.engines.turned:BOXES3D")
register_engine("ioukit.regions.masks:Masks", "ioukit.overlap.engines.masks")
register_engine("ioukit.regions.polygons:Polygons", "ioukit.overlap.engines.polygons")
register_engine("ioukit.regions.rotated:RotatedBoxes", "ioukit.overlap.engines.turned:ROTATED")


def engine_of(boxes1: object, boxes2: object) -> Engine | None:
    """The engine of two sets of regions; None if both are upright boxes, as `Boxes` or as numbers.

    Raises:
        TypeError: If the sets are of two kinds, or their kind has no engine.
    """
    kinds = {_kind(boxes1), _kind(boxes2)}
    if kinds == {None}:
        return None
    if len(kinds) > 1:
        raise TypeError(
            f"both sets must be of one kind, got {type(boxes1).__name__} and {type(boxes2).__name__}: convert one"
        )
    (kind,) = kinds
    assert kind is not None
    return _ENGINES[kind]


def _kind(boxes: object) -> str | None:
    """The registered kind of regions; None for upright boxes."""
    if not isinstance(boxes, Regions) or isinstance(boxes, Boxes):
        return None
    kind = _ENGINES.kind_of(boxes)
    if kind is None:
        name = type(boxes).__name__
        raise TypeError(f"no engine measures the overlaps of {name}: ioukit.overlap.register_engine adds one")
    return kind


def pairwise(engine: Engine, measure: Measure, first: Any, second: Any, threads: int | None) -> FloatArray:
    """(N, M) overlaps by an engine."""
    return _measured(engine, engine.pairwise, measure, first, second, False, check_threads(threads))


def elementwise(engine: Engine, measure: Measure, first: Any, second: Any, threads: int | None) -> FloatArray:
    """(N,) overlaps by an engine. A set of one region is compared with every region of the other set."""
    if 1 in (len(first), len(second)) and len(first) != len(second):
        return pairwise(engine, measure, first, second, threads).reshape(-1)
    if len(first) != len(second):
        raise ValueError(f"elementwise needs two sets of one length, got {len(first)} and {len(second)} regions")
    return _measured(engine, engine.elementwise, measure, first, second, True, check_threads(threads))


def _measured(
    engine: Engine,
    function: Callable[[str, Any, Any, int], FloatArray],
    measure: Measure,
    first: Any,
    second: Any,
    paired: bool,
    threads: int,
) -> FloatArray:
    giou: Callable[[Any, Any, bool, int], FloatArray] | None = getattr(engine, "giou", None)
    if measure.variant == "giou" and giou is not None:
        return giou(first, second, paired, threads)
    check_measure(measure, first, (*_OF_REGIONS, *(("giou",) if giou is not None else ())))
    if measure.variant == "tiou":
        return function("iou", first, second, threads) * function("ioa_first", first, second, threads)
    return function(measure.variant, first, second, threads)


def check_measure(measure: Measure, region: object, known: Sequence[str] = tuple(_OF_REGIONS)) -> None:
    """Raises `TypeError` for a measure that regions of this kind do not have."""
    name = "ioa" if measure.variant.startswith("ioa_") else measure.variant
    if name in known:
        return
    known = ", ".join(known)
    raise TypeError(f"{measure.variant} is defined for upright boxes; for {type(region).__name__} there are {known}")


class Outlined(NamedTuple):
    """N regions by points whose convex hull is that of the region, in float64."""

    points: NDArray[np.float64]
    """(K, 2), one region after the other, each relative to its centre."""
    offsets: NDArray[np.int64]
    """(N + 1,) where the points of each region begin, and where the last end."""
    areas: NDArray[np.float64]
    """(N,)"""
    centres: NDArray[np.float64]
    """(N, 2), any point near the region."""


def giou_of(intersections: FloatArray, first: Outlined, second: Outlined, *, paired: bool, threads: int) -> FloatArray:
    """GIoU from the areas of the intersections, (N, M), or with ``paired`` (N,)."""
    places = np.arange(len(intersections)) if paired else None
    areas = np.ascontiguousarray(intersections, np.float64).reshape(-1)
    return _core.hull_giou(areas, first, second, places, places, threads)
