"""Non-maximum suppression with a result of fixed size."""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._arrays import library_of
from ioukit.postprocess import _traced
from ioukit.postprocess._inputs import cut_of, device_sets, is_traced, one_home
from ioukit.postprocess._rule import rule_of
from ioukit.postprocess.greedy import nms
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from ioukit.overlap._measure import OverlapMetric
    from ioukit.postprocess._rule import Suppress
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["nms_padded"]


def nms_padded(
    boxes: BoxesLike,
    scores: Array,
    *,
    iou_threshold: float,
    max_keep: int,
    labels: Array | None = None,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    suppress: Suppress = "above",
    score_threshold: float | None = None,
    format: BoxFormat | None = None,
) -> tuple[Array, Array]:
    """The boxes that survive greedy non-maximum suppression, as an array of fixed size.

    This is `nms` for programs that are traced: ``jax.jit`` and ``jax.vmap``, and ``torch.compile`` with
    ``fullgraph=True``. The survivors are those of `nms` at the same ``max_keep``. Arrays of JAX, and tensors in a
    traced program, are computed in their own library by a loop over the survivors, whose time grows with
    ``max_keep`` x N (``torch.compile`` unrolls it: compiling takes longer with ``max_keep``); all others by `nms`.

    In a traced program nothing is checked, since there are no values yet: boxes and scores must be valid.

    Args:
        boxes: `Boxes`, nested lists or an array of shape (N, 4).
        scores: (N,) numbers of the same library.
        iou_threshold: As in `nms`.
        max_keep: How many boxes may survive: the length of the result.
        labels: (N,) integers: only boxes with equal labels remove each other.
        metric: As in `nms`.
        of: As in `nms`.
        suppress: As in `nms`.
        score_threshold: As in `nms`.
        format: As in `nms`.

    Returns:
        (max_keep,) integers, the positions of the survivors by falling score, then -1; and (max_keep,) bools, true
        where there is a survivor.

    Raises:
        ValueError: As `nms`, or if ``max_keep`` is below 1.
        TypeError: As `nms`.

    Examples:
        >>> from ioukit import nms_padded
        >>> keep, valid = nms_padded([[0, 0, 4, 4], [0, 0, 4, 3]], [0.8, 0.9], iou_threshold=0.5, max_keep=3)
        >>> keep, valid
        (array([ 1, -1, -1]), array([ True, False, False]))
    """
    size = operator.index(max_keep)
    if size < 1:
        raise ValueError(f"max_keep must be at least 1, got {size}")
    rule = rule_of(metric, of, iou_threshold, suppress)
    library = library_of(scores) if isinstance(boxes, Boxes) else one_home(boxes, scores)
    if isinstance(boxes, Boxes) or not (library == "jax" or is_traced(library, boxes)):
        keep = nms(
            boxes, scores, iou_threshold=iou_threshold, labels=labels, metric=metric, of=of, suppress=suppress,
            score_threshold=score_threshold, max_keep=size, format=format,
        )  # fmt: skip
        return _filled(keep, size, library)
    if library == "jax" and not is_traced(library, boxes, scores, labels):
        _traced.check(boxes, scores, format)
    boxes, scores, codes = device_sets(boxes, scores, labels, None)
    least = cut_of(score_threshold, None, np.dtype(np.float64)).least
    keep = _traced.padded(boxes, scores, codes, rule, least, format, size)
    return keep, keep >= 0


def _filled(keep: Any, size: int, library: str) -> tuple[Array, Array]:
    if library in ("torch", "jax"):
        module = sys.modules["torch"] if library == "torch" else sys.modules["jax"].numpy
        filled = module.full((size,), -1, dtype=keep.dtype, device=keep.device)
        if library == "jax":
            filled = filled.at[: len(keep)].set(keep)
        else:
            filled[: len(keep)] = keep
    else:
        filled = np.full(size, -1)
        filled[: len(keep)] = keep
    return filled, filled >= 0
