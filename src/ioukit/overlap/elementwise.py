"""The functions ``elementwise_<name>``: the overlap of each box of one set with its counterpart in another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit import _core
from ioukit._arrays import as_tensor, one_library, shared_with_numpy
from ioukit._checks import check_threads
from ioukit.overlap import _agnostic
from ioukit.overlap._arguments import corners, finish, paired_shape, result_array
from ioukit.overlap._help import documented
from ioukit.overlap._measure import Measure, alpha_iou, inner_iou, ioa, mpdiou, nwd
from ioukit.overlap.engines import engine as engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = [
    "elementwise_alpha_iou",
    "elementwise_centre_distance",
    "elementwise_ciou",
    "elementwise_diou",
    "elementwise_eiou",
    "elementwise_giou",
    "elementwise_inner_iou",
    "elementwise_intersection",
    "elementwise_ioa",
    "elementwise_iom",
    "elementwise_iou",
    "elementwise_jaccard_distance",
    "elementwise_mpdiou",
    "elementwise_nwd",
    "elementwise_siou",
    "elementwise_tiou",
]


@documented
def elementwise_intersection(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Area of the intersection of each box with its counterpart."""
    return _elementwise(Measure("intersection"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Intersection over union of each box with its counterpart."""
    return _elementwise(Measure("iou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_ioa(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    of: Literal["second", "first"] = "second",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Intersection over area of each box with its counterpart."""
    return _elementwise(ioa(of), boxes1, boxes2, format, check, threads)


@documented
def elementwise_iom(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Intersection over the smaller area of each box with its counterpart."""
    return _elementwise(Measure("iom"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_giou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Generalized IoU of each box with its counterpart."""
    return _elementwise(Measure("giou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_diou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Distance IoU of each box with its counterpart."""
    return _elementwise(Measure("diou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_ciou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Complete IoU of each box with its counterpart."""
    return _elementwise(Measure("ciou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_eiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Efficient IoU of each box with its counterpart."""
    return _elementwise(Measure("eiou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_siou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """SCYLLA IoU of each box with its counterpart."""
    return _elementwise(Measure("siou"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_mpdiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    image_size: Sequence[float],
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """IoU minus the distances of the corners, of each box with its counterpart."""
    return _elementwise(mpdiou(image_size), boxes1, boxes2, format, check, threads)


@documented
def elementwise_alpha_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    alpha: float = 3.0,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """IoU to the power of alpha, of each box with its counterpart."""
    return _elementwise(alpha_iou(alpha), boxes1, boxes2, format, check, threads)


@documented
def elementwise_inner_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    ratio: float,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """IoU of boxes scaled about their centres, of each box with its counterpart."""
    return _elementwise(inner_iou(ratio), boxes1, boxes2, format, check, threads)


@documented
def elementwise_nwd(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    constant: float = 12.8,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Normalized Wasserstein distance, as a similarity, of each box with its counterpart."""
    return _elementwise(nwd(constant), boxes1, boxes2, format, check, threads)


@documented
def elementwise_centre_distance(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Distance of the centres of each box with its counterpart."""
    return _elementwise(Measure("centre_distance"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_jaccard_distance(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Jaccard distance, 1 - IoU, of each box with its counterpart."""
    return _elementwise(Measure("jaccard_distance"), boxes1, boxes2, format, check, threads)


@documented
def elementwise_tiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> Array:
    """Tightness-aware IoU of each object with its detection."""
    return _elementwise(Measure("tiou"), boxes1, boxes2, format, check, threads)


def _elementwise(
    measure: Measure,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
) -> Array:
    """By the engine of the regions; for upright boxes by native code if it can read the arrays, else by formulas."""
    if (engine := engines.engine_of(boxes1, boxes2)) is not None:
        if fmt is not None:
            raise ValueError(f"format is for upright boxes, not for {type(boxes1).__name__}")
        return engines.elementwise(engine, measure, boxes1, boxes2, threads)
    library = one_library(boxes1, boxes2)
    if library == "numpy":
        return _native(measure, boxes1, boxes2, fmt, check, threads)
    if library == "torch" and (shared := shared_with_numpy(boxes1, boxes2)) is not None:
        return as_tensor(_native(measure, shared[0], shared[1], fmt, check, threads), boxes1, boxes2)
    return _agnostic.elementwise(measure, boxes1, boxes2, fmt, check)


def _native(
    measure: Measure,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
) -> FloatArray:
    sets = corners(boxes1, boxes2, fmt, check)
    first, second, dtype = sets
    shape = paired_shape(first.shape, second.shape)
    if first.shape != second.shape:
        first, second = (np.ascontiguousarray(np.broadcast_to(boxes, (*shape, 4))) for boxes in (first, second))
    result = result_array(None, shape, sets)
    _core.elementwise(*measure, first, second, result, check_threads(threads))
    return finish(result, None, dtype)
