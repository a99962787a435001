"""The functions ``pairwise_<name>``: the overlap of every box of one set with every box of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit import _core
from ioukit._arrays import as_tensor, one_library, shared_with_numpy
from ioukit._checks import check_threads
from ioukit.overlap import _agnostic
from ioukit.overlap._arguments import corners, finish, result_array, table_shape
from ioukit.overlap._help import documented
from ioukit.overlap._measure import Measure, alpha_iou, inner_iou, ioa, mpdiou, nwd
from ioukit.overlap.engines import engine as engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = [
    "pairwise_alpha_iou",
    "pairwise_centre_distance",
    "pairwise_ciou",
    "pairwise_diou",
    "pairwise_eiou",
    "pairwise_giou",
    "pairwise_inner_iou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iom",
    "pairwise_iou",
    "pairwise_jaccard_distance",
    "pairwise_mpdiou",
    "pairwise_nwd",
    "pairwise_siou",
    "pairwise_tiou",
]


@documented
def pairwise_intersection(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Area of the intersection of every box of one set with every box of another."""
    return _pairwise(Measure("intersection"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Intersection over union of every box of one set with every box of another."""
    return _pairwise(Measure("iou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_ioa(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    of: Literal["second", "first"] = "second",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Intersection over area of every box of one set with every box of another."""
    return _pairwise(ioa(of), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_iom(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Intersection over the smaller area of every box of one set with every box of another."""
    return _pairwise(Measure("iom"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_giou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Generalized IoU of every box of one set with every box of another."""
    return _pairwise(Measure("giou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_diou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Distance IoU of every box of one set with every box of another."""
    return _pairwise(Measure("diou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_ciou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Complete IoU of every box of one set with every box of another."""
    return _pairwise(Measure("ciou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_eiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Efficient IoU of every box of one set with every box of another."""
    return _pairwise(Measure("eiou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_siou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """SCYLLA IoU of every box of one set with every box of another."""
    return _pairwise(Measure("siou"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_mpdiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    image_size: Sequence[float],
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """IoU minus the distances of the corners, of every box of one set with every box of another."""
    return _pairwise(mpdiou(image_size), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_alpha_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    alpha: float = 3.0,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """IoU to the power of alpha, of every box of one set with every box of another."""
    return _pairwise(alpha_iou(alpha), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_inner_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    ratio: float,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """IoU of boxes scaled about their centres, of every box of one set with every box of another."""
    return _pairwise(inner_iou(ratio), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_nwd(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    constant: float = 12.8,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Normalized Wasserstein distance, as a similarity, of every box of one set with every box of another."""
    return _pairwise(nwd(constant), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_centre_distance(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Distance of the centres of every box of one set with every box of another."""
    return _pairwise(Measure("centre_distance"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_jaccard_distance(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Jaccard distance, 1 - IoU, of every box of one set with every box of another."""
    return _pairwise(Measure("jaccard_distance"), boxes1, boxes2, format, check, threads, out, max_bytes)


@documented
def pairwise_tiou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    out: Array | None = None,
    max_bytes: int | None = _agnostic.MAX_BYTES,
) -> Array:
    """Tightness-aware IoU of every object of one set with every detection of another."""
    return _pairwise(Measure("tiou"), boxes1, boxes2, format, check, threads, out, max_bytes)


def _pairwise(
    measure: Measure,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
    out: Array | None,
    max_bytes: int | None,
) -> Array:
    """By the engine of the regions; for upright boxes by native code if it can read the arrays, else by formulas."""
    if (engine := engines.engine_of(boxes1, boxes2)) is not None:
        if fmt is not None or out is not None:
            raise ValueError(f"format and out are for upright boxes, not for {type(boxes1).__name__}")
        return engines.pairwise(engine, measure, boxes1, boxes2, threads)
    library = one_library(boxes1, boxes2, out)
    if library == "numpy":
        return _native(measure, boxes1, boxes2, fmt, check, threads, out)
    if library == "torch":
        shared = shared_with_numpy(boxes1, boxes2, *([] if out is None else [out]))
        if shared is not None:
            result = _native(measure, shared[0], shared[1], fmt, check, threads, *shared[2:])
            return as_tensor(result, boxes1, boxes2) if out is None else out
    if out is not None:
        raise ValueError("out is for NumPy arrays, and for tensors on the CPU without a gradient")
    return _agnostic.pairwise(measure, boxes1, boxes2, fmt, check, max_bytes)


def _native(
    measure: Measure,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
    out: FloatArray | None = None,
) -> FloatArray:
    sets = corners(boxes1, boxes2, fmt, check)
    first, second, dtype = sets
    shape = table_shape(first.shape, second.shape)
    if len(shape) > 2:
        first = np.ascontiguousarray(np.broadcast_to(first, (*shape[:-2], *first.shape[-2:])))
        second = np.ascontiguousarray(np.broadcast_to(second, (*shape[:-2], *second.shape[-2:])))
    result = result_array(out, shape, sets)
    _core.pairwise(*measure, first, second, result, check_threads(threads), reused=result is out)
    return finish(result, out, dtype)
