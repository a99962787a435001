"""`nms_padded`: non-maximum suppression whose result has a fixed size, for one image or a batch."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Literal

from ioukit._arrays import any_traced, library_of
from ioukit.postprocess import _array_api
from ioukit.postprocess._inputs import device_set
from ioukit.postprocess._options import limits_of, rule_of
from ioukit.postprocess._signatures import survivors_and_numbers
from ioukit.postprocess._survivors import flattened, padded

if TYPE_CHECKING:
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._options import Suppress
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat


@survivors_and_numbers
def nms_padded(
    boxes: BoxesLike,
    scores: Array,
    iou_threshold: float,
    *,
    max_keep: int,
    labels: Array | None = None,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    suppress: Suppress = "above",
    score_threshold: float | None = None,
    format: BoxFormat | None = None,
) -> tuple[Array, Array]:
    """The positions of the boxes that survive greedy non-maximum suppression, in an array of fixed size.

    This is `nms` for programs whose shapes are fixed: ``jax.jit``, ``jax.vmap``, ``torch.compile``, ``torch.vmap``,
    ONNX. The survivors are those of `nms` with the same ``max_keep``. Programs that PyTorch records hold a call of
    native code (the operator ``ioukit::nms_padded``). Arrays of JAX and ONNX programs are computed by a loop over the
    survivors, whose time grows with ``max_keep`` x N, without a check of their values. Other arrays are computed by
    `nms`.

    Args:
        boxes: (..., N, 4) array, xyxy by default; nested lists or `Boxes`. Leading axes are images.
        scores: (..., N) numbers from the same library.
        iou_threshold: As in `nms`.
        max_keep: The length of the result, at least 1.
        labels: (..., N) integers. Only boxes with equal labels remove each other.
        metric: As in `nms`.
        of: As in `nms`.
        suppress: As in `nms`.
        score_threshold: As in `nms`.
        format: As in `nms`.

    Returns:
        ``keep``, (..., max_keep) integers: the positions of the survivors by descending score, then -1. And
        ``valid``, (..., max_keep) bools: true where there is a survivor.

    Raises:
        ValueError: As `nms`, or if ``max_keep`` is below 1.
        TypeError: As `nms`.

    Examples:
        >>> from ioukit import nms_padded
        >>> keep, valid = nms_padded([[0, 0, 4, 4], [0, 0, 4, 3]], [0.8, 0.9], 0.5, max_keep=3)
        >>> keep, valid
        (array([ 1, -1, -1]), array([ True, False, False]))
    """
    size = operator.index(max_keep)
    if size < 1:
        raise ValueError(f"max_keep must be at least 1, got {size}")
    rule = rule_of(metric, of, iou_threshold, suppress)
    limits = limits_of(score_threshold, size)
    shape, flat = flattened(boxes, scores, labels)
    traced = any_traced(boxes, scores, labels)
    if library_of(boxes) == "jax" or (traced and _exports_loops()):
        given = device_set(*flat, format=format, check=True)
        keep = _array_api.padded_survivors(given, shape, rule, limits)
    elif traced:
        from ioukit.postprocess._operators import recorded  # noqa: PLC0415 - it needs PyTorch

        keep = recorded(
            "nms_padded", boxes, scores, labels=labels, batch=None, iou_threshold=iou_threshold, max_keep=size,
            score_threshold=score_threshold, metric=metric, of=of, suppress=suppress, format=format, check=True,
        )  # fmt: skip
    else:
        keep = padded(shape, flat, rule, limits, format)
    return keep, keep >= 0


def _exports_loops() -> bool:
    """Whether PyTorch exports the program to ONNX in the way that knows loops, ``dynamo=True``."""
    torch = sys.modules["torch"]
    return bool(torch.onnx.is_in_onnx_export()) and not torch.jit.is_tracing()
