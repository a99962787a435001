"""Recall by the number of proposals: the share of the objects that the best detections of each image find."""

from __future__ import annotations

import operator
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import pluralize
from ioukit._columns import Frozen, frozen, record
from ioukit.datasets import Categories
from ioukit.evaluation.analysis._near import check_rematch, table_by_values
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.protocols import AreaRange
from ioukit.evaluation.table import MatchTable

_UNBOUNDED = float(np.finfo(np.float64).max)


@record(frozen=True, eq=False, repr=False)
class RecallCurves(Frozen):
    """The result of :func:`recall_curves`."""

    categories: Categories
    """(K,) the categories; a single one for all if the protocol is class-agnostic."""
    iou_thresholds: tuple[float, ...]
    """(T,) the lowest IoU of a match."""
    area_range: str
    """Label of the area range."""
    counts: npt.NDArray[np.int64]
    """(N,) numbers of detections, ascending: the best ones within the scope of the protocol's cap."""
    recall: Floats
    """(T, K, N) share of the objects that these detections find; NaN if there are no objects."""

    @property
    def average_recall(self) -> Floats:
        """(N,) AR: the mean of recall over the IoU thresholds and the classes that have an object, as in COCO's table.

        With thresholds from 0.5 to 0.95 this approximates ``2 * integral of recall over IoU from 0.5 to 1`` (Hosang et
        al., 2015).
        """
        defined = ~np.isnan(self.recall).any(axis=(0, 2))
        rows = np.ascontiguousarray(np.moveaxis(self.recall[:, defined], -1, 0).reshape(len(self.counts), -1))
        if not rows.shape[1]:
            return frozen(np.full(len(self.counts), np.nan))
        return frozen(rows.mean(axis=1))

    @property
    def area(self) -> float:
        """The mean height of AR over the logarithm of the number of detections, within [0, 1]; NaN where AR is.

        ``integral of AR(n) d(ln n) / (ln n_last - ln n_first)``, by trapezoids between the counts; AR itself for one
        count.
        """
        average = self.average_recall
        if len(self.counts) == 1:
            return float(average[0])
        log = np.log(self.counts)
        return float(np.sum((average[1:] + average[:-1]) / 2 * np.diff(log)) / (log[-1] - log[0]))

    def __repr__(self) -> str:
        return (
            f"RecallCurves(AR {self.average_recall[-1]:.4f} with {pluralize(self.counts[-1], 'detection')}, "
            f"area {self.area:.4f}, {pluralize(len(self.categories), 'class')})"
        )


def recall_curves(
    table: MatchTable, counts: Iterable[int] | None = None, *, area_range: str | None = None
) -> RecallCurves:
    """Recall and average recall with the 1, 2, 3, ... best detections of each image.

    A detection is matched before all detections with a lower score, so a smaller cap changes no match of the others,
    and one table is enough for all numbers. A number counts within the scope of the protocol's cap: the detections of a
    category on an image for COCO, all detections of an image after :func:`match_proposals`.

    If all categories count as one, detections with equal scores count in the order in which they are matched: by
    category, then in the order of the file. A cap per image takes them in the order of the file alone.

    Args:
        table: The matches.
        counts: Numbers of detections, ascending, up to the last cap of the protocol. If ``None``, all from 1 to that
            cap, or to the largest number that occurs if that is smaller.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Raises:
        ValueError: If the protocol has no such area range, or the counts do not rise from at least 1 to at most its
            last cap.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> from ioukit.evaluation import match, recall_curves
        >>> boxes = [[0, 0, 10, 10], [20, 0, 10, 10]]
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes)
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=boxes, scores=[0.9, 0.8]
        ... )
        >>> recall_curves(match(ground_truth, detections)).average_recall.tolist()
        [0.5, 1.0]

    Reference: Hosang, Benenson, Dollar, Schiele, What makes for effective detection proposals?, PAMI 2015,
    arXiv:1502.05082.
    """
    protocol = table.protocol
    area_range = protocol.main_area if area_range is None else area_range
    at = protocol.position_of_area(area_range)
    cap = protocol.max_dets[-1]
    category = table.evaluated_category(table.detections.category).astype(np.int64)
    rank = _ranks(table)
    if counts is None:
        chosen = np.arange(1, min(cap, int(rank.max(initial=0)) + 1) + 1)
    else:
        chosen = np.array([operator.index(count) for count in counts], np.int64)
        if not len(chosen) or chosen[0] < 1 or chosen[-1] > cap or (np.diff(chosen) <= 0).any():
            raise ValueError(
                f"counts must rise from at least 1 to at most {cap:,}, the last cap, got {chosen.tolist()}"
            )
    objects = table.num_objects[:, at]
    width = len(chosen)
    # The first count that is large enough for a detection of each rank.
    first = np.searchsorted(chosen, rank + 1)
    recall = np.empty((len(protocol.iou_thresholds), len(objects), width))
    for threshold, iou in enumerate(protocol.iou_thresholds):
        rows = np.flatnonzero(table.is_true_positive(iou, area_range) & (first < width))
        found = np.bincount(category[rows] * width + first[rows], minlength=len(objects) * width)
        recall[threshold] = quotient(np.cumsum(found.reshape(-1, width), axis=1), objects[:, None])
    return RecallCurves(table.evaluated, protocol.iou_thresholds, area_range, chosen, recall)


def _ranks(table: MatchTable) -> npt.NDArray[np.int64]:
    """(N,) the rank of each detection within the scope of the cap, best first."""
    rows, protocol = table.detections, table.protocol
    ranks = table.ranks()
    if protocol.caps_one_class_by_image:
        # A detection must come before all that are matched after it, so equal scores exchange their ranks.
        within = np.flatnonzero(table.is_within_cap())
        image = rows.image[within]
        matched = within[np.lexsort((-rows.score[within], image))]  # stable: equal scores by category
        ranks[matched] = ranks[within[np.lexsort((ranks[within], image))]]
    return ranks


def match_proposals(
    table: MatchTable, max_dets: Iterable[int] = (1, 10, 100, 1000), *, threads: int | None = None
) -> MatchTable:
    """A match table in which all categories count as one, for class-agnostic recall and AP of proposals.

    A detection may match an object of any category, and the caps count the detections of an image over all categories.
    All other rules are those of the protocol. ``Evaluation.from_table`` has the numbers, :func:`recall_curves` has the
    recall for every number of detections.

    Args:
        table: The matches, with near pairs: ``match(..., near=0.1)``. Such a table has all detections, also those
            beyond its cap.
        max_dets: The caps.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If the caps are invalid, or the table does not list the near pairs that are needed.

    Examples:
        >>> from ioukit import Detections, Evaluation, GroundTruth
        >>> from ioukit.evaluation import match, match_proposals
        >>> box = [[0, 0, 10, 10]]
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=box, categories=[1, 2])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[2], boxes=box, scores=[0.9])
        >>> table = match(ground_truth, detections, near=0.1)
        >>> Evaluation.from_table(table).summary["AR1"], Evaluation.from_table(match_proposals(table)).summary["AR1"]
        (0.0, 1.0)
    """
    old = table.protocol
    check_rematch(old)
    protocol = old.replace(
        class_agnostic=True,
        max_dets=tuple(max_dets),
        cap_scope=old.cap_scope if old.matches_within_cap else "image_and_category",
        area_ranges=(AreaRange(old.main_area, -_UNBOUNDED, _UNBOUNDED),),
    )
    return table_by_values(table, protocol, np.zeros(len(table.objects)), np.full(len(table), np.nan), threads=threads)
