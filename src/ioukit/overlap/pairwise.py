"""The functions ``pairwise_<name>``: the overlap of every box of one set with every box of another.

A measure without options of its own has the signature of `PairwiseOverlap`, and `_function` makes its function.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.overlap import _array_formulas
from ioukit.overlap._arguments import OnDevice, OnHost, receive, table_shape
from ioukit.overlap._array_formulas import MAX_BYTES
from ioukit.overlap._help import documented, named
from ioukit.overlap.engines import engine as engines
from ioukit.overlap.variants import Measure, alpha_iou, inner_iou, ioa, mpdiou, nwd

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.regions import BoxesLike
    from ioukit.regions.boxes import HostBoxes
    from ioukit.typing import Array, BoxFormat, FloatArray, Tensor


class PairwiseOverlap(Protocol):
    """A function ``pairwise_<name>`` without options of its own; its docstring says what it computes."""

    @overload
    def __call__(
        self,
        boxes1: HostBoxes,
        boxes2: HostBoxes,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
        threads: int | None = None,
        out: FloatArray | None = None,
        max_bytes: int | None = MAX_BYTES,
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
        out: Tensor | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Tensor: ...
    def __call__(self, boxes1: Any, boxes2: Any, **options: Any) -> Any:
        """(..., N, M) the overlap of every box of one set with every box of another."""


def _function(variant: str, what: str, first: str = "box", second: str = "box") -> PairwiseOverlap:
    """The function of a measure; its docstring begins with ``what``."""
    measure = Measure(variant)

    def function(
        boxes1: BoxesLike,
        boxes2: BoxesLike,
        *,
        format: BoxFormat | None = None,
        check: bool = True,
        threads: int | None = None,
        out: Array | None = None,
        max_bytes: int | None = MAX_BYTES,
    ) -> Array:
        return _pairwise(measure, boxes1, boxes2, format, check, threads, out, max_bytes)

    summary = f"{what} of every {first} of one set with every {second} of another."
    return documented(named(function, f"pairwise_{variant}", summary))  # type: ignore[return-value]


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
    if type(boxes1) is np.ndarray and fmt is out is None and check:
        table = _core.plain_pairwise(*measure, boxes1, boxes2, threads)
        if table is not None:
            return table
    given = receive(boxes1, boxes2, fmt, check, out)
    if isinstance(given, OnHost):
        result = _native(measure, given, threads)
        return result if out is None else out
    if isinstance(given, OnDevice):
        return _array_formulas.pairwise(measure, given, max_bytes)
    return engines.pairwise(given, measure, boxes1, boxes2, threads)


def _native(measure: Measure, given: OnHost, threads: int | None) -> Array:
    first, second = given.boxes1, given.boxes2
    shape = table_shape(first.shape, second.shape)
    if len(shape) > 2:
        first = np.ascontiguousarray(np.broadcast_to(first, (*shape[:-2], *first.shape[-2:])))
        second = np.ascontiguousarray(np.broadcast_to(second, (*shape[:-2], *second.shape[-2:])))
    result = given.result_array(shape)
    _core.pairwise(*measure, first, second, result, check_threads(threads), reused=result is given.out)
    return given.back(result)


pairwise_intersection = _function("intersection", "Area of the intersection")
pairwise_iou = _function("iou", "Intersection over union")
pairwise_iom = _function("iom", "Intersection over the smaller area")
pairwise_giou = _function("giou", "Generalized IoU")
pairwise_diou = _function("diou", "Distance IoU")
pairwise_ciou = _function("ciou", "Complete IoU")
pairwise_eiou = _function("eiou", "Efficient IoU")
pairwise_siou = _function("siou", "SCYLLA IoU")
pairwise_centre_distance = _function("centre_distance", "Distance of the centres")
pairwise_jaccard_distance = _function("jaccard_distance", "Jaccard distance, 1 - IoU,")
pairwise_tiou = _function("tiou", "Tightness-aware IoU", "object", "detection")


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
    max_bytes: int | None = MAX_BYTES,
) -> Array:
    """Intersection over area of every box of one set with every box of another."""
    return _pairwise(ioa(of), boxes1, boxes2, format, check, threads, out, max_bytes)


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
    max_bytes: int | None = MAX_BYTES,
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
    max_bytes: int | None = MAX_BYTES,
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
    max_bytes: int | None = MAX_BYTES,
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
    max_bytes: int | None = MAX_BYTES,
) -> Array:
    """Normalized Wasserstein distance, as a similarity, of every box of one set with every box of another."""
    return _pairwise(nwd(constant), boxes1, boxes2, format, check, threads, out, max_bytes)
