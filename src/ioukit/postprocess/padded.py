"""Non-maximum suppression with a result of fixed size, for programs that are traced."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal

import numpy as np

from ioukit._arrays import library_of, namespace_of
from ioukit.postprocess import _array_api
from ioukit.postprocess._inputs import device_set, in_torch_compile
from ioukit.postprocess._options import limits_of
from ioukit.postprocess._rule import rule_of
from ioukit.postprocess.greedy import nms

if TYPE_CHECKING:
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._rule import Suppress
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["nms_padded"]


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

    This is `nms` for programs that are traced: ``jax.jit``, ``jax.vmap``, and ``torch.compile`` with
    ``fullgraph=True``. The survivors are those of `nms` with the same ``max_keep``. Arrays of JAX, and tensors in a
    traced program, are computed in their own library by a loop over the survivors, whose time grows with
    ``max_keep`` x N. ``torch.compile`` unrolls the loop, so the time to compile grows with ``max_keep``. Other arrays
    are computed by `nms`.

    A traced program has no values to check, so its boxes and scores must be valid.

    Args:
        boxes: (N, 4) array, xyxy by default; nested lists or `Boxes`.
        scores: (N,) numbers from the same library.
        iou_threshold: As in `nms`.
        max_keep: The length of the result, at least 1.
        labels: (N,) integers. Only boxes with equal labels remove each other.
        metric: As in `nms`.
        of: As in `nms`.
        suppress: As in `nms`.
        score_threshold: As in `nms`.
        format: As in `nms`.

    Returns:
        ``keep``, (max_keep,) integers: the positions of the survivors by descending score, then -1. And ``valid``,
        (max_keep,) bools: true where there is a survivor.

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
    library = library_of(boxes)
    if library == "jax" or (library == "torch" and in_torch_compile()):
        limits = limits_of(score_threshold, size)
        keep = _array_api.padded_survivors(device_set(boxes, scores, labels, format=format, check=True), rule, limits)
        return keep, keep >= 0
    keep = nms(
        boxes, scores, iou_threshold, labels=labels, metric=metric, of=of, suppress=suppress,
        score_threshold=score_threshold, max_keep=size, format=format,
    )  # fmt: skip
    return _filled(keep, size)


def _filled(keep: Array, size: int) -> tuple[Array, Array]:
    """The positions with -1 appended up to this size, and which of them are positions."""
    missing = size - keep.shape[0]
    if isinstance(keep, np.ndarray):
        filled: Array = np.concatenate([keep, np.full(missing, -1)])
    else:
        xp = namespace_of(keep)
        filled = xp.concat([keep, xp.full((missing,), -1, dtype=keep.dtype, device=keep.device)])
    return filled, filled >= 0
