"""Non-maximum suppression: of boxes that overlap, the best survives."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit._checks import check_threads
from ioukit.postprocess import _native, _traced
from ioukit.postprocess._columns import refuse_nan, restore
from ioukit.postprocess._groups import integers
from ioukit.postprocess._inputs import cut_of, device_sets, host_scores, host_sets, is_traced, one_home
from ioukit.postprocess._rule import rule_of
from ioukit.regions import Boxes
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from ioukit.overlap._measure import OverlapMetric
    from ioukit.postprocess._rule import Rule, Suppress
    from ioukit.postprocess.suppression import Suppression
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = ["nms"]


@overload
def nms(
    boxes: BoxesLike | Regions,
    scores: Array,
    *,
    iou_threshold: float,
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
    *,
    iou_threshold: float,
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
    *,
    iou_threshold: float,
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
    """The boxes that survive greedy non-maximum suppression.

    The box with the highest score is kept and removes every box whose overlap with it is **above** ``iou_threshold``;
    so does the best box that is left, and so on. Only boxes that are kept remove others. Of equal scores, the box that
    comes first in the input is the better one. The result is the same for every number of threads.

    Overlaps are those of `pairwise_iou` (or of ``metric``) to the last bit, compared as NumPy does: the threshold is
    rounded to their dtype first. Boxes without area overlap nothing and survive, unless a threshold below 0 lets boxes
    remove each other that have no intersection.

    Args:
        boxes: `Boxes`, nested lists or an array of shape (N, 4), in pixels or relative to the image; or another set of
            regions, such as `RotatedBoxes`.
        scores: (N,) numbers of the same library, of any range; infinities are the best and the worst. NaN is refused.
        iou_threshold: Within [0, 1], in whichever ``metric``; from -1 for GIoU and DIoU and from -2 for CIoU. At 0, any
            intersection removes. GIoU, DIoU and CIoU at 0 ``"at_or_above"`` and below take time for every box with
            every box that is kept, since boxes far apart may remove each other.
        labels: (N,) integers, such as classes: only boxes with equal labels remove each other. Coordinates are left
            alone, so labels lose no precision, and may be as many and as large as they like.
        batch: (N,) integers that say which image a box is of: only boxes of one image remove each other, as if each
            image were passed alone.
        metric: ``"iou"``, ``"ioa"``, ``"iom"``, ``"giou"``, ``"diou"`` or ``"ciou"``; the first box is the one that is
            kept. Regions that are no upright boxes have the first three.
        of: For ``"ioa"`` only, whose area divides: ``"second"`` (the default), that of the box that may be removed, or
            ``"first"``, that of the box that is kept.
        suppress: ``"above"`` keeps a box whose overlap is the threshold itself, ``"at_or_above"`` removes it.
        score_threshold: Boxes whose score is **below** it are left out first, compared in the dtype of the scores.
        max_keep: At most so many boxes survive, the best; with ``batch``, so many of each image.
        explain: Whether to return a `Suppression`, which says for every box why it did not survive.
        format: What plain arrays hold: ``"xyxy"`` (two corners, the default), ``"xywh"`` (the corner of least x
            and y, and the size) or ``"cxcywh"`` (centre and size). `Boxes` know their own, which it may not contradict.
        check: Whether plain arrays are checked. Without it, boxes that the check refuses survive without meaning.
        threads: How many threads native code may use, by default as many as there are cores. It changes no bit.

    Returns:
        (K,) int64, the positions of the boxes that survive, by falling score: over all images, so that
        ``keep[batch[keep] == image]`` are those of one. The array is of the library and on the device of the boxes (in
        JAX of its default integer). Nothing is differentiated.

    Raises:
        ValueError: If a threshold is out of its range, a word is unknown, a shape does not fit, a box is not valid, or
            a score is NaN; the message names the first such row.
        TypeError: If an argument is of the wrong kind, arrays come from different libraries, or a program is traced by
            ``jax.jit``, which needs `nms_padded`.

    Examples:
        >>> from ioukit import nms
        >>> boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8]]
        >>> nms(boxes, [0.8, 0.9, 0.7], iou_threshold=0.5)
        array([1, 2])
        >>> nms(boxes, [0.8, 0.9, 0.7], iou_threshold=0.5, labels=[0, 1, 0])
        array([1, 0, 2])

    Reference: the greedy suppression of object detectors (Dalal and Triggs, Histograms of Oriented Gradients for Human
    Detection, CVPR 2005; Felzenszwalb et al., Object Detection with Discriminatively Trained Part-Based Models, 2010).
    """
    rule, workers = rule_of(metric, of, iou_threshold, suppress), check_threads(threads)
    if isinstance(boxes, Regions) and not isinstance(boxes, Boxes):
        return _of_regions(boxes, scores, labels, batch, rule, score_threshold, max_keep, explain, threads)
    library = library_of(scores) if isinstance(boxes, Boxes) else one_home(boxes, scores)
    if library == "torch" and is_traced(library):
        # The graph breaks here: what survives is as long as it is.
        whole = sys.modules["torch"].compiler.disable(nms)
        return whole(
            boxes, scores, iou_threshold=iou_threshold, labels=labels, batch=batch, metric=metric, of=of,
            suppress=suppress, score_threshold=score_threshold, max_keep=max_keep, explain=explain, format=format,
            check=check, threads=threads,
        )  # fmt: skip
    if is_traced(library, boxes, scores, labels, batch):
        raise TypeError("nms returns as many boxes as survive, which a traced program cannot: use nms_padded")
    if library == "torch" and not explain and _is_on_device(boxes):
        return _on_device(boxes, scores, labels, batch, rule, score_threshold, max_keep, format, check)
    sets, scored = host_sets(boxes, scores, labels, batch, format, check, library)
    cut = cut_of(score_threshold, max_keep, scored)
    keep = _native.of_boxes(sets, rule, cut, workers)
    if explain:
        return _native.explained(sets, rule, cut, keep, workers)
    return restore(keep, scores)


def _is_on_device(boxes: Any) -> bool:
    return not isinstance(boxes, Boxes) and boxes.device.type != "cpu"


def _of_regions(
    regions: Regions,
    scores: Any,
    labels: Any,
    batch: Any,
    rule: Rule,
    score_threshold: float | None,
    max_keep: int | None,
    explain: bool,
    threads: int | None,
) -> Array | Suppression:
    library = library_of(scores)
    values = scores if library == "numpy" else as_numpy(scores)
    numbers = host_scores(values, len(regions))
    if np.isnan(numbers).any():
        refuse_nan(int(np.isnan(numbers).argmax()))
    codes = [None if c is None else integers(n, c, len(regions)) for n, c in (("labels", labels), ("batch", batch))]
    cut = cut_of(score_threshold, max_keep, getattr(values, "dtype", numbers.dtype))
    result = _native.of_regions(regions, numbers, codes[0], codes[1], rule, cut, threads)
    return result if explain else restore(result.keep.copy(), scores)


def _on_device(
    boxes: Any,
    scores: Any,
    labels: Any,
    batch: Any,
    rule: Rule,
    score_threshold: float | None,
    max_keep: int | None,
    fmt: BoxFormat | None,
    check: bool,
) -> Array:
    """Tensors stay on their device, where nothing is fetched but how many boxes are left."""
    boxes, scores, codes = device_sets(boxes, scores, labels, batch)
    if check:
        _traced.check(boxes, scores, fmt)
    cut = cut_of(score_threshold, max_keep, np.dtype(np.float64))
    keep = _traced.survivors(boxes, scores, codes, rule, cut.least, fmt)
    if cut.max_keep is None:
        return keep
    if batch is None:
        return keep[: cut.max_keep]
    host = integers("batch", batch, boxes.shape[0])
    kept = _native.limited(keep.cpu().numpy(), host, cut.max_keep)
    return sys.modules["torch"].as_tensor(kept, device=keep.device)
