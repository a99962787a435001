"""Non-maximum suppression: of boxes that overlap, the one with the best score survives.

The overloads say what type checkers know; `_survivors` computes, and `_operators` stands for it in traced programs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._arrays import any_traced
from ioukit._checks import check_threads
from ioukit._keywords import REQUIRED, wrong_call
from ioukit.postprocess._options import limits_of, rule_of
from ioukit.postprocess._survivors import suppressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._options import Suppress
    from ioukit.postprocess.suppression import Suppression
    from ioukit.regions import BoxesLike
    from ioukit.regions.boxes import HostBoxes
    from ioukit.regions.regions import Regions
    from ioukit.typing import Array, BoxFormat, Tensor


@overload
def nms(
    boxes: HostBoxes,
    scores: NDArray[Any] | Sequence[float],
    iou_threshold: float,
    *,
    labels: Array | None = ...,
    batch: Array | None = ...,
    metric: OverlapMetric = ...,
    of: Literal["second", "first"] | None = ...,
    suppress: Suppress = ...,
    score_threshold: float | None = ...,
    max_keep: int | None = ...,
    explain: Literal[False] = ...,
    format: BoxFormat | None = ...,
    check: bool = ...,
    threads: int | None = ...,
) -> Ids: ...
@overload
def nms(
    boxes: Tensor,
    scores: Tensor,
    iou_threshold: float,
    *,
    labels: Array | None = ...,
    batch: Array | None = ...,
    metric: OverlapMetric = ...,
    of: Literal["second", "first"] | None = ...,
    suppress: Suppress = ...,
    score_threshold: float | None = ...,
    max_keep: int | None = ...,
    explain: Literal[False] = ...,
    format: BoxFormat | None = ...,
    check: bool = ...,
    threads: int | None = ...,
) -> Tensor: ...
@overload
def nms(
    boxes: BoxesLike | Regions,
    scores: Array,
    iou_threshold: float,
    *,
    labels: Array | None = ...,
    batch: Array | None = ...,
    metric: OverlapMetric = ...,
    of: Literal["second", "first"] | None = ...,
    suppress: Suppress = ...,
    score_threshold: float | None = ...,
    max_keep: int | None = ...,
    explain: Literal[True],
    format: BoxFormat | None = ...,
    check: bool = ...,
    threads: int | None = ...,
) -> Suppression: ...
def nms(  # noqa: D417 - `unknown` is refused
    boxes: BoxesLike | Regions,
    scores: Array = REQUIRED,
    iou_threshold: float = REQUIRED,
    *,
    labels: Array | None = None,
    batch: Array | None = None,
    metric: OverlapMetric = "iou",
    of: Literal["second", "first"] | None = None,
    suppress: Suppress = "above",
    score_threshold: float | None = None,
    max_keep: int | None = None,
    explain: bool = False,
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
    **unknown: Any,
) -> Array | Suppression:
    """The positions of the boxes that survive greedy non-maximum suppression.

    The box with the highest score is kept and removes every box whose overlap with it is **above** ``iou_threshold``.
    Then the best of the remaining boxes is kept and removes boxes in the same way, and so on. Only boxes that are kept
    remove others. Of equal scores the box that comes first in the input is the better one. The result is the same for
    every number of threads.

    The overlaps are those of ``pairwise_<metric>`` to the last bit. They are compared as in NumPy: the threshold is
    rounded to their dtype first. Overlaps of float16 and bfloat16 boxes are computed and compared in float32, as in
    torchvision under autocast. A box without area has no overlap and survives; only a negative threshold can remove it.

    Args:
        boxes: (N, 4) array, xyxy by default, in pixels or relative to the image; nested lists, `Boxes`, or other
            regions such as `RotatedBoxes`.
        scores: (N,) numbers from the same library. Any number but NaN, also infinities.
        iou_threshold: Within [0, 1] for the metrics ``"iou"``, ``"ioa"`` and ``"iom"``, [-1, 1] for ``"giou"`` and
            ``"diou"``, and [-2, 1] for ``"ciou"``. At 0, every intersection removes. Below 0 (and for these three also
            at 0 with ``"at_or_above"``), boxes far apart may remove each other, and every kept box is compared with
            every remaining box.
        labels: (N,) integers, such as classes. Only boxes with equal labels remove each other. Labels may be large and
            many, and the coordinates stay unchanged.
        batch: (N,) integers, the image of each box. Only boxes of one image remove each other: each image gives the
            same result as alone.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``, of the kept box and the other
            box. Regions other than upright boxes have the first three.
        of: For ``"ioa"`` only, the box whose area divides: ``"second"`` (the default) for the box that may be removed,
            or ``"first"`` for the kept box.
        suppress: ``"above"`` (the default), or ``"at_or_above"``, which also removes a box whose overlap is equal to
            the threshold.
        score_threshold: Boxes with a score **below** this are left out first. It is compared in the dtype of the
            scores. None leaves out no box.
        max_keep: The largest number of boxes to keep, the best ones; with ``batch``, per image. None for no limit.
        explain: Whether to return a `Suppression`, which tells for every box why it did not survive.
        format: The format of plain arrays: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner with the
            smallest x and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` have their own format, which this
            must not contradict.
        check: Whether plain arrays are checked. If False, boxes that are not valid give results without meaning.
        threads: How many threads native code may use; by default one per core. It does not change a bit.

    Returns:
        (K,) int64, the positions of the boxes that survive, by descending score over all images; so
        ``keep[batch[keep] == image]`` are those of one image. An array of the caller's library, on the device of the
        boxes (in JAX, of its default integer dtype). It has no gradient.

    Raises:
        ValueError: If a threshold is out of range, a name is unknown, a shape does not fit, a box is not valid, or a
            score is NaN. The message names the first such box.
        TypeError: If an argument has the wrong type, the arrays come from different libraries, or the program is traced
            by ``jax.jit``, which needs `nms_padded`.

    Examples:
        >>> from ioukit import nms
        >>> boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8]]
        >>> nms(boxes, [0.8, 0.9, 0.7], 0.5)
        array([1, 2])
        >>> nms(boxes, [0.8, 0.9, 0.7], 0.5, labels=[0, 1, 0])
        array([1, 0, 2])

    Reference: the greedy suppression of object detectors (Dalal and Triggs, Histograms of Oriented Gradients for Human
    Detection, CVPR 2005; Felzenszwalb et al., Object Detection with Discriminatively Trained Part-Based Models, 2010).
    """
    if unknown or iou_threshold is REQUIRED:
        raise wrong_call(nms, unknown, "nms(boxes, scores, 0.5): a score per box, then the IoU threshold")
    grouped = labels is not None or batch is not None
    limited = score_threshold is not None or max_keep is not None
    usual = metric == "iou" and of is None and suppress == "above" and format is None and check
    if type(boxes) is np.ndarray and usual and not (grouped or limited or explain):
        keep = _core.plain_nms(boxes, scores, iou_threshold, threads)
        if keep is not None:
            return keep
    rule, limits = rule_of(metric, of, iou_threshold, suppress), limits_of(score_threshold, max_keep)
    if type(boxes) is not np.ndarray and not explain and any_traced(boxes, scores, labels, batch):
        from ioukit.postprocess._operators import recorded  # noqa: PLC0415 - it needs PyTorch

        return recorded(
            "nms", boxes, scores, labels=labels, batch=batch, iou_threshold=iou_threshold, max_keep=max_keep,
            score_threshold=score_threshold, metric=metric, of=of, suppress=suppress, format=format, check=check,
        )  # fmt: skip
    return suppressed(boxes, scores, labels, batch, rule, limits, explain, format, check, check_threads(threads))
