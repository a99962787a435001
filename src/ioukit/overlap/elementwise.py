"""The overlap of each box of one sequence with its counterpart in another."""

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
    "elementwise_ciou",
    "elementwise_diou",
    "elementwise_giou",
    "elementwise_intersection",
    "elementwise_ioa",
    "elementwise_iom",
    "elementwise_iou",
]


@documented
def elementwise_intersection(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Area of the intersection of each box with its counterpart."""
    return _elementwise("intersection", boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_iou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Intersection over union of each box with its counterpart."""
    return _elementwise("iou", boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_ioa(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    of: Literal["second", "first"] = "second",
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Intersection over area of each box with its counterpart."""
    return _elementwise(ioa_of(of), boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_iom(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Intersection over the smaller area of each box with its counterpart."""
    return _elementwise("iom", boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_giou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Generalized IoU of each box with its counterpart."""
    return _elementwise("giou", boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_diou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Distance IoU of each box with its counterpart."""
    return _elementwise("diou", boxes1, boxes2, fmt=format, check=check, threads=threads)


@documented
def elementwise_ciou(
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    format: BoxFormat | None = None,  # noqa: A002 - the field's word
    check: bool = True,
    threads: int | None = None,
) -> FloatArray:
    """Complete IoU of each box with its counterpart."""
    return _elementwise("ciou", boxes1, boxes2, fmt=format, check=check, threads=threads)


def _elementwise(
    variant: str,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    *,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
) -> FloatArray:
    sets = corners(boxes1, boxes2, fmt, check)
    first, second, dtype = sets
    if first.shape != second.shape:
        try:
            first, second = (np.ascontiguousarray(boxes) for boxes in np.broadcast_arrays(first, second))
        except ValueError:
            raise ValueError(f"boxes1 {first.shape} and boxes2 {second.shape} do not broadcast") from None
    result = result_array(None, first.shape[:-1], sets)
    _core.elementwise(variant, first, second, result, check_threads(threads))
    return finish(result, None, dtype)
