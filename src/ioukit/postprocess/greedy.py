"""Non-maximum suppression: of boxes that overlap, the one with the best score survives."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Literal, overload

from ioukit._checks import check_threads
from ioukit.postprocess import _array_api, _native, _regions
from ioukit.postprocess._inputs import (
    device_set,
    host_set,
    in_torch_compile,
    on_other_device,
    region_set,
    restored,
)
from ioukit.postprocess._options import limits_of
from ioukit.postprocess._rule import rule_of
from ioukit.regions import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._options import Limits
    from ioukit.postprocess._rule import Rule, Suppress
    from ioukit.postprocess.suppression import Suppression
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["nms"]


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
    explain: Literal[False] = ...,
    format: BoxFormat | None = ...,
    check: bool = ...,
    threads: int | None = ...,
) -> Array: ...
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
def nms(
    boxes: BoxesLike | Regions,
    scores: Array,
    iou_threshold: float,
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
    rule, limits = rule_of(metric, of, iou_threshold, suppress), limits_of(score_threshold, max_keep)
    suppressed = _suppressed
    if in_torch_compile():
        # The graph breaks here, because the length of the result depends on values.
        suppressed = sys.modules["torch"].compiler.disable(_suppressed)
    return suppressed(boxes, scores, labels, batch, rule, limits, explain, format, check, check_threads(threads))


def _suppressed(
    boxes: BoxesLike | Regions,
    scores: Array,
    labels: Array | None,
    batch: Array | None,
    rule: Rule,
    limits: Limits,
    explain: bool,
    fmt: BoxFormat | None,
    check: bool,
    threads: int,
) -> Array | Suppression:
    """The result of `nms`, by the pipeline for this kind of arrays."""
    if isinstance(boxes, Regions) and not isinstance(boxes, Boxes):
        result = _regions.suppressed(region_set(boxes, scores, labels, batch), rule, limits, threads)
        return result if explain else restored(result.keep.copy(), scores)
    if on_other_device(boxes) and not explain:
        given_there = device_set(boxes, scores, labels, batch, format=fmt, check=check)
        return _array_api.survivors(given_there, rule, limits)
    given = host_set(boxes, scores, labels, batch, format=fmt, check=check)
    keep = _native.survivors(given, rule, limits, threads)
    return _native.explained(given, rule, limits, keep, threads) if explain else given.positions_back(keep)
