"""What became of each object and of each false positive, from model A to model B?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats, Rows
from ioukit._checks import check_number
from ioukit.comparison.change_records import Changes, DetectionChanges, ObjectChange, ObjectChanges
from ioukit.comparison.false_positives import paired_false_positives
from ioukit.comparison.sides import near_pairs_of, table_with_near_pairs
from ioukit.evaluation import Outcome, Outcomes, outcomes, score_curves
from ioukit.evaluation._same_scene import check_same_ground_truth

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, MatchTable


def changes(
    a: Evaluation,
    b: Evaluation,
    *,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    score_threshold: float | tuple[float, float] | None = None,
    placement: float = 0.05,
) -> Changes:
    """What became of each object and of each false positive, from model A to model B.

    The match tables are enough. Objects that are seen as another class need near pairs: those of the tables, or the
    data of the evaluations; without both, these objects count as found or lost.

    A false positive of A and one of B of the same image and class are the same if the IoU of their upright boxes
    reaches the IoU threshold. Each belongs to at most one pair; the pairs with the highest IoUs are taken. Without the
    data there are no boxes: then the best of A belongs to the best of B, and so on, see :attr:`Changes.paired_by`.

    Args:
        a: One model.
        b: The other model, evaluated on the same ground truth by the same protocol.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        score_threshold: Detections with this score or a higher one count: one number for both, or one for A and one for
            B. If ``None``, each model has the score of its best F1 over all classes, because the scores of two models
            may have different scales; all detections count if there is none.
        placement: The least change of IoU by which an object is better or worse placed, at least 0.

    Raises:
        ValueError: If the two were not evaluated alike, the protocol has no such threshold or area range, a score
            threshold is NaN, or ``placement`` is negative or NaN.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> from ioukit.comparison import changes
        >>> truth = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [50, 0, 9, 9]])
        >>> found = {"image_ids": [1], "category_ids": [1], "scores": [0.9]}
        >>> a = evaluate(truth, Detections.from_arrays(boxes=[[0, 0, 9, 9]], **found))
        >>> b = evaluate(truth, Detections.from_arrays(boxes=[[50, 0, 9, 9]], **found))
        >>> changes(a, b)
        Changes(1 objects found, 1 lost, 0 new false positives, 0 gone)
    """
    check_same_ground_truth(a, b)
    check_number(placement=placement)
    if placement < 0:
        raise ValueError(f"placement must be at least 0, got {placement}")
    protocol = a.protocol
    area = protocol.main_area if area_range is None else area_range
    at = protocol.position_of_iou(protocol.main_iou if iou_threshold is None else iou_threshold)
    iou = protocol.iou_thresholds[at]
    protocol.position_of_area(area)
    scores = _score_thresholds(a, b, iou, area, score_threshold)
    of_a, of_b = (_Model.of(one, iou, area, score) for one, score in zip((a, b), scores, strict=True))
    false, paired_by = paired_false_positives((a, of_a.table, of_a.outcomes), (b, of_b.table, of_b.outcomes), iou)
    return Changes(
        iou_threshold=iou,
        area_range=area,
        score_thresholds=scores,
        placement=float(placement),
        paired_by=paired_by,
        categories=a.matches.categories,
        image_ids=a.matches.image_ids,
        objects=_objects(of_a, of_b, placement),
        detections=_false_positives(of_a, of_b, *false),
    )


def _score_thresholds(
    a: Evaluation, b: Evaluation, iou: float, area: str, given: float | tuple[float, float] | None
) -> tuple[float, float]:
    if given is None:
        best = [score_curves(one.matches, iou_threshold=iou, area_range=area).overall.best.score for one in (a, b)]
        low, high = (-np.inf if np.isnan(score) else score for score in best)
        return float(low), float(high)
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2:
        raise ValueError(f"score_threshold must be one number, or one for A and one for B, got {given!r}")
    check_number(score_threshold=pair[0])
    check_number(score_threshold=pair[1])
    return float(pair[0]), float(pair[1])


class _Model(NamedTuple):
    """The outcomes of one model, and for each object its detection and the one that sees it as another class."""

    table: MatchTable
    outcomes: Outcomes
    found: npt.NDArray[np.bool_]
    """(G,) whether it finds each object."""
    detection: Rows
    """(G,) row of the detection that finds each object, or sees it as another class; -1 for none."""
    iou: Floats
    """(G,) IoU of both; NaN for none."""

    @classmethod
    def of(cls, evaluation: Evaluation, iou: float, area: str, score: float) -> _Model:
        table = table_with_near_pairs(evaluation)
        became = outcomes(table, iou_threshold=iou, area_range=area, score_threshold=score)
        found = became.objects == Outcome.TRUE_POSITIVE
        detection = np.where(found, became.matched_detection, -1)
        overlap = np.full(len(detection), np.nan)
        overlap[found] = became.match_iou[detection[found]]
        near = near_pairs_of(table)
        if near is not None:
            wrong = (became.detections == Outcome.FALSE_POSITIVE)[near.detection] & (near.iou >= iou)
            of_detection = table.evaluated_category(table.detections.category[near.detection])
            wrong &= of_detection != table.evaluated_category(table.objects.category[near.object])
            wrong &= became.objects[near.object] == Outcome.FALSE_NEGATIVE
            pairs = np.flatnonzero(wrong)
            # Writing in ascending order of the IoU leaves the highest.
            pairs = pairs[np.lexsort((-pairs, near.iou[pairs]))]
            detection[near.object[pairs]] = near.detection[pairs]
            overlap[near.object[pairs]] = near.iou[pairs]
        return cls(table, became, found, detection, overlap)


def _objects(a: _Model, b: _Model, placement: float) -> ObjectChanges:
    rows = np.flatnonzero(a.outcomes.objects != Outcome.IGNORED)
    gain = b.iou - a.iou
    kind = np.select(
        [
            a.found & b.found & (gain >= placement) & (gain > 0),
            a.found & b.found & (gain <= -placement) & (gain < 0),
            a.found & b.found,
            b.found & (a.detection >= 0),
            b.found,
            a.found & (b.detection >= 0),
            a.found,
        ],
        [
            ObjectChange.BETTER_PLACED,
            ObjectChange.WORSE_PLACED,
            ObjectChange.STILL_FOUND,
            ObjectChange.RIGHT_CLASS_NOW,
            ObjectChange.FOUND,
            ObjectChange.OTHER_CLASS_NOW,
            ObjectChange.LOST,
        ],
        ObjectChange.STILL_MISSED,
    )
    objects = a.table.objects
    return ObjectChanges(
        kind=kind[rows].astype(np.int8),
        row=rows.astype(np.int64),
        image=objects.image[rows].astype(np.int64),
        category=objects.category[rows].astype(np.int64),
        id=objects.id[rows],
        detection_a=a.detection[rows],
        detection_b=b.detection[rows],
        category_a=_category(a.table, a.detection[rows]),
        category_b=_category(b.table, b.detection[rows]),
        score_a=_score(a.table, a.detection[rows]),
        score_b=_score(b.table, b.detection[rows]),
        iou_a=a.iou[rows],
        iou_b=b.iou[rows],
    )


def _false_positives(a: _Model, b: _Model, kind: npt.NDArray[np.int8], rows_a: Rows, rows_b: Rows) -> DetectionChanges:
    scores = _score(a.table, rows_a), _score(b.table, rows_b)
    order = np.lexsort((-np.fmax(*scores), kind))
    rows_a, rows_b = rows_a[order], rows_b[order]
    of_a = rows_a >= 0
    image, category = np.zeros(len(order), np.int64), np.zeros(len(order), np.int64)
    for model, rows, chosen in ((a, rows_a, of_a), (b, rows_b, ~of_a)):
        image[chosen] = model.table.detections.image[rows[chosen]]
        category[chosen] = model.table.detections.category[rows[chosen]]
    return DetectionChanges(
        kind=kind[order],
        image=image,
        category=category,
        detection_a=rows_a,
        detection_b=rows_b,
        score_a=scores[0][order],
        score_b=scores[1][order],
    )


def _score(table: MatchTable, rows: Rows) -> Floats:
    """(N,) the score of each detection; NaN for -1."""
    scores = np.full(len(rows), np.nan)
    scores[rows >= 0] = table.detections.score[rows[rows >= 0]]
    return scores


def _category(table: MatchTable, rows: Rows) -> Rows:
    """(N,) the position of the class of each detection; -1 for -1."""
    categories = np.full(len(rows), -1)
    categories[rows >= 0] = table.detections.category[rows[rows >= 0]]
    return categories
