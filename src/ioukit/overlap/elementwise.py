"""The functions ``elementwise_<name>``: the overlap of each box of one set with its counterpart in another.

A measure without options of its own has the signature of `ElementwiseOverlap`, and `_function` makes its function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.overlap import _array_formulas
from ioukit.overlap._arguments import OnDevice, OnHost, paired_shape, receive
from ioukit.overlap._help import documented, named
from ioukit.overlap.engines import engine as engines
from ioukit.overlap.variants import Measure, alpha_iou, inner_iou, ioa, mpdiou, nwd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.regions import BoxesLike
    from ioukit.regions.boxes import HostBoxes
    from ioukit.typing import Array, BoxFormat, FloatArray, Tensor


class ElementwiseOverlap(Protocol):
    """A function ``elementwise_<name>`` without options of its own; its docstring says what it computes."""

    @overload
    def __call__(
        self,
        boxes1: HostBoxes,
        boxes2: HostBoxes,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
        threads: int | None = None,
    ) -> FloatArray: ...
    @overload
    def __call__(
        self,
        boxes1: Tensor,
        boxes2: Tensor,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
        threads: int | None = None,
    ) -> Tensor: ...
    def __call__(self, boxes1: Any, boxes2: Any, **options: Any) -> Any:
        """(...) the overlap of each box with its counterpart."""


def _function(variant: str, what: str, first: str = "box", second: str = "counterpart") -> ElementwiseOverlap:
    """The function of a measure; its docstring begins with ``what``."""
    measure = Measure(variant)

    def function(
        boxes1: BoxesLike,
        boxes2: BoxesLike,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
        threads: int | None = None,
    ) -> Array:
        return _elementwise(measure, boxes1, boxes2, format, check, threads)

    return documented(named(function, f"elementwise_{variant}", f"{what} of each {first} with its {second}."))


def _elementwise(
    measure: Measure,
    boxes1: BoxesLike,
    boxes2: BoxesLike,
    fmt: BoxFormat | None,
    check: bool,
    threads: int | None,
) -> Array:
    """By the engine of the regions; for upright boxes by native code if it can read the arrays, else by formulas."""
    given = receive(boxes1, boxes2, fmt, check)
    if isinstance(given, OnHost):
        first, second = given.boxes1, given.boxes2
        shape = paired_shape(first.shape, second.shape)
        if first.shape != second.shape:
            first, second = (np.ascontiguousarray(np.broadcast_to(boxes, (*shape, 4))) for boxes in (first, second))
        result = np.empty(shape, first.dtype)
        _core.elementwise(*measure, first, second, result, check_threads(threads))
        return given.back(result)
    if isinstance(given, OnDevice):
        return _array_formulas.elementwise(measure, given)
    return engines.elementwise(given, measure, boxes1, boxes2, threads)


elementwise_intersection = _function("intersection", "Area of the intersection")
elementwise_iou = _function("iou", "Intersection over union")
elementwise_iom = _function("iom", "Intersection over the smaller area")
elementwise_giou = _function("giou", "Generalized IoU")
elementwise_diou = _function("diou", "Distance IoU")
elementwise_ciou = _function("ciou", "Complete IoU")
elementwise_eiou = _function("eiou", "Efficient IoU")
elementwise_siou = _function("siou", "SCYLLA IoU")
elementwise_centre_distance = _function("centre_distance", "Distance of the centres")
elementwise_jaccard_distance = _function("jaccard_distance", "Jaccard distance, 1 - IoU,")
elementwise_tiou = _function("tiou", "Tightness-aware IoU", "object", "detection")


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
