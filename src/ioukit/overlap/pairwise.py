"""The overlap of every box of one set with every box of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.overlap._arguments import corners, finish, ioa_of, result_array
from ioukit.overlap._help import documented

if TYPE_CHECKING:
    from ioukit.boxes import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = [
    "pairwise_ciou",
    "pairwise_diou",
    "pairwise_giou",
    "pairwise_intersection",
    "pairwise_ioa",
    "pairwise_iom",
    "pairwise_iou",
]


@documented
def pairwise_intersection(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Area of the intersection of every box of one set with every box of another."""
    return _pairwise("intersection", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Intersection over union of every box of one set with every box of another."""
    return _pairwise("iou", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_ioa(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    of: Literal["second", "first"] = "second",
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Intersection over area of every box of one set with every box of another."""
    return _pairwise(ioa_of(of), boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_iom(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Intersection over the smaller area of every box of one set with every box of another."""
    return _pairwise("iom", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_giou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Generalized IoU of every box of one set with every box of another."""
    return _pairwise("giou", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_diou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Distance IoU of every box of one set with every box of another."""
    return _pairwise("diou", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


@documented
def pairwise_ciou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    """Complete IoU of every box of one set with every box of another."""
    return _pairwise("ciou", boxes1, boxes2, fmt=format, check=check, threads=threads, out=out)


def _pairwise(
    variant: str,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
    out: FloatArray | None,
) -> FloatArray:
    sets = corners(boxes1, boxes2, fmt, check)
    first, second, dtype = sets
    for name, boxes in (("boxes1", first), ("boxes2", second)):
        if boxes.ndim < 2:
            raise ValueError(f"{name} must have shape (..., N, 4), got {boxes.shape}")
    if first.ndim > 2 or second.ndim > 2:
        batch = _batch_shape(first, second)
        first = np.ascontiguousarray(np.broadcast_to(first, (*batch, *first.shape[-2:])))
        second = np.ascontiguousarray(np.broadcast_to(second, (*batch, *second.shape[-2:])))
    result = result_array(out, (*first.shape[:-1], second.shape[-2]), sets)
    _core.pairwise(variant, first, second, result, check_threads(threads), reused=result is out)
    return finish(result, out, dtype)


def _batch_shape(first: FloatArray, second: FloatArray) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    except ValueError:
        raise ValueError(
            f"the batch dimensions of boxes1 {first.shape} and boxes2 {second.shape} do not broadcast"
        ) from None
