"""Non-maximum suppression: of boxes that overlap, the one with the best score survives.

Owns: `nms`, and which way a call goes. Native code takes upright boxes on the host. Other regions go by the pairs of a
sparse join. Tensors on a device stay there (`_array_api`). Traced tensors become a call of an operator (`_operators`).
Does not own: what came and its checks (`_inputs`), the rule (`_options`), the search for boxes that overlap.
Cut here because the ways differ only in where the arrays are: rule, limits and result are the same.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._arrays import any_traced
from ioukit._checks import check_threads
from ioukit._keywords import REQUIRED, wrong_call
from ioukit.overlap.engines.engine import engine_of
from ioukit.overlap.join import overlap_join
from ioukit.postprocess import _array_api
from ioukit.postprocess._groups import groups, limited
from ioukit.postprocess._inputs import DeviceSet, HostSet, least_score, receive, refuse_nan, restored
from ioukit.postprocess._options import least_reaching, limits_of, rule_of
from ioukit.postprocess.suppression import suppression_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ioukit.overlap.join import OverlapPairs
    from ioukit.overlap.variants import OverlapMetric
    from ioukit.postprocess._inputs import RegionSet
    from ioukit.postprocess._options import Limits, Rule, Suppress
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
    rule, limits = rule_of(metric, of, iou_threshold, suppress), limits_of(score_threshold, max_keep)
    if type(boxes) is not np.ndarray and not explain and any_traced(boxes, scores, labels, batch):
        from ioukit.postprocess._operators import recorded  # noqa: PLC0415 - it needs PyTorch

        return recorded(
            "nms", boxes, scores, labels=labels, batch=batch, iou_threshold=iou_threshold, max_keep=max_keep,
            score_threshold=score_threshold, metric=metric, of=of, suppress=suppress, format=format, check=check,
        )  # fmt: skip
    return _suppressed(boxes, scores, labels, batch, rule, limits, explain, format, check, check_threads(threads))


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
    """The result of `nms`, by the way for what came."""
    given = receive(boxes, scores, labels, batch, format=fmt, check=check, on_host=explain)
    if isinstance(given, HostSet):
        keep = _survivors(given, rule, limits, threads)
        return _explained(given, rule, limits, keep, threads) if explain else given.positions_back(keep)
    if isinstance(given, DeviceSet):
        return _array_api.survivors(given, rule, limits)
    result = _suppressed_regions(given, rule, limits, threads)
    return result if explain else restored(result.keep.copy(), scores)


def _survivors(given: HostSet, rule: Rule, limits: Limits, threads: int) -> Ids:
    """(K,) the positions of the boxes that survive, by descending score."""
    keep = _core.nms_survivors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes,
        given.scores,
        groups(given.labels, given.batch),
        least_score(given, limits),
        threads,
    )
    if isinstance(keep, int):  # native code finds NaN on its way, and returns its row
        refuse_nan(keep)
    return limited(keep, given.batch, limits.max_keep)


def _explained(given: HostSet, rule: Rule, limits: Limits, keep: Ids, threads: int) -> Suppression:
    """Why each of the other boxes did not survive."""
    least = least_score(given, limits)
    others = np.ones(len(given.scores), bool) if least is None else given.scores >= given.scores.dtype.type(least)
    others[keep] = False
    rows, codes = np.flatnonzero(others), groups(given.labels, given.batch)
    of_kept, of_others = (None, None) if codes is None else (codes[keep], codes[rows])
    first, values = _core.nms_first_suppressors(
        rule.measure.variant,
        least_reaching(rule, given.boxes.dtype),
        given.boxes[keep],
        of_kept,
        given.boxes[rows],
        of_others,
        threads,
    )
    return suppression_of(given.scores, rule, keep, rows, first, values)


def _suppressed_regions(given: RegionSet, rule: Rule, limits: Limits, threads: int) -> Suppression:
    """Which regions survive, and why each of the others does not."""
    scores = given.scores
    candidates = np.ones(len(scores), bool)
    if (least := least_score(given, limits)) is not None:
        candidates = scores >= scores.dtype.type(least)
    order = np.flatnonzero(candidates)[np.argsort(-scores[candidates], kind="stable")]
    removed_by, values = np.full(len(order), -1), np.full(len(order), math.nan)
    low, alive = least_reaching(rule, np.dtype(np.float64)), np.ones(len(order), bool)
    if low <= 1 and len(order):
        pairs = _pairs(given, rule, low, order, threads)
        alive = _core.nms_of_pairs(len(order), pairs.rows, pairs.columns) < 0
        alive = _within_limit(given, order, alive, limits.max_keep)
        # The first pair of a column whose row survives: rows ascend from the best score down.
        of_kept = alive[pairs.rows] & ~alive[pairs.columns]
        columns, first = np.unique(pairs.columns[of_kept], return_index=True)
        removed_by[columns], values[columns] = pairs.rows[of_kept][first], pairs.values[of_kept][first]
    else:
        alive = _within_limit(given, order, alive, limits.max_keep)
    keep = order[alive]
    ranks = np.full(len(scores), -1)
    ranks[keep] = np.arange(len(keep))
    first = np.where(removed_by < 0, -1, ranks[order[removed_by]])
    return suppression_of(scores, rule, keep, order[~alive], first[~alive], values[~alive])


def _pairs(given: RegionSet, rule: Rule, low: float, order: Ids, threads: int) -> OverlapPairs:
    """The pairs that overlap by at least ``low``, as positions in ``order``."""
    codes = groups(given.labels, given.batch)
    of: Any = None if rule.metric != "ioa" else rule.measure.variant.removeprefix("ioa_")
    try:
        return overlap_join(
            given.regions[order],
            min_iou=low,
            metric=rule.metric,
            of=of,
            labels1=None if codes is None else codes[order],
            threads=threads or None,
        )
    except ValueError:
        # The join sees the regions sorted by score. The check names one by its position in the input.
        check = getattr(engine_of(given.regions, given.regions), "check", None)
        if check is not None:
            check(given.regions, "boxes")
        raise


def _within_limit(given: RegionSet, order: Ids, alive: NDArray[np.bool_], most: int) -> NDArray[np.bool_]:
    """Which of the regions that survive stay if every image keeps at most ``most``."""
    kept = np.zeros(len(given.scores), bool)
    kept[limited(order[alive], given.batch, most)] = True
    return kept[order]
