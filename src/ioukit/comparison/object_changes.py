"""What became of each object and of each false positive, from model A to model B?

Owns: the kinds of changes and their records, the detection of each model that speaks for an object, and which false
positives of A and B are the same. Does not own: true and false positives (`ioukit.evaluation.outcomes`), near pairs
(`sides.py`), sentences (`words.py`), and what a change is worth (`splitting.py`).

Cut here because a change needs one IoU threshold and one score threshold per model, while the parts of a difference
need all of them. Objects pair by their row, because the ground truth is one. False positives have no object: they pair
by the IoU of their boxes, the highest first, so it does not matter which model is called A; without boxes, they pair in
the order of their scores. Each round takes all pairs at once that are the first of both their members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats, Rows
from ioukit._checks import check_number, check_score_threshold
from ioukit._columns import Columns, Frozen, record
from ioukit.comparison.sides import near_pairs_of, table_with_near_pairs
from ioukit.datasets import Categories
from ioukit.evaluation import Outcome, Outcomes, outcomes, score_curves
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.overlap import overlap_join

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, MatchTable


class ObjectChange(IntEnum):
    """How an object changes from model A to model B."""

    STILL_FOUND = 0
    """Both find it, and the IoU changes by less than ``placement``."""
    BETTER_PLACED = 1
    """Both find it; the IoU of B is higher by at least ``placement``."""
    WORSE_PLACED = 2
    """Both find it; the IoU of B is lower by at least ``placement``."""
    FOUND = 3
    """Only B finds it."""
    LOST = 4
    """Only A finds it."""
    RIGHT_CLASS_NOW = 5
    """Only B finds it; a false positive of A of another class reaches the IoU threshold with it."""
    OTHER_CLASS_NOW = 6
    """Only A finds it; a false positive of B of another class reaches the IoU threshold with it."""
    STILL_MISSED = 7
    """Neither finds it."""


class DetectionChange(IntEnum):
    """How a false positive changes from model A to model B."""

    NEW = 0
    """A false positive of B that A does not have."""
    GONE = 1
    """A false positive of A that B does not have."""
    STILL = 2
    """A false positive of both."""


@record(frozen=True, eq=False, repr=False)
class ObjectChanges(Columns):
    """One row per object that counts, in the order of the match tables.

    The detection of a model is the one that finds the object. Where the model does not find it, it is the false
    positive of another class with the highest IoU of at least the IoU threshold, if there is one.
    """

    kind: npt.NDArray[np.int8]
    """(N,) an :class:`ObjectChange`."""
    row: Rows
    """(N,) row in :attr:`MatchTable.objects` of both tables."""
    image: Rows
    """(N,) position in :attr:`Changes.image_ids`."""
    category: Rows
    """(N,) position in :attr:`Changes.categories`."""
    id: Rows
    """(N,) annotation id."""
    detection_a: Rows
    """(N,) row in :attr:`MatchTable.detections` of A; -1 for none."""
    detection_b: Rows
    """(N,) the same of B."""
    category_a: Rows
    """(N,) position of the class of the detection of A; -1 for none."""
    category_b: Rows
    """(N,) the same of B."""
    score_a: Floats
    """(N,) score of the detection of A; NaN for none."""
    score_b: Floats
    """(N,) the same of B."""
    iou_a: Floats
    """(N,) IoU of the detection of A with the object; NaN for none."""
    iou_b: Floats
    """(N,) the same of B."""

    def __len__(self) -> int:
        return len(self.kind)


@record(frozen=True, eq=False, repr=False)
class DetectionChanges(Columns):
    """One row per false positive of A or B: first the new ones, then those that are gone, then those of both.

    Within each kind, the highest score comes first.
    """

    kind: npt.NDArray[np.int8]
    """(M,) a :class:`DetectionChange`."""
    image: Rows
    """(M,) position in :attr:`Changes.image_ids`."""
    category: Rows
    """(M,) position in :attr:`Changes.categories`."""
    detection_a: Rows
    """(M,) row in :attr:`MatchTable.detections` of A; -1 for none."""
    detection_b: Rows
    """(M,) the same of B."""
    score_a: Floats
    """(M,) score of the detection of A; NaN for none."""
    score_b: Floats
    """(M,) the same of B."""

    def __len__(self) -> int:
        return len(self.kind)


@record(frozen=True, eq=False, repr=False)
class Changes(Frozen):
    """The result of :func:`changes`: what became of each object and of each false positive."""

    iou_type: str
    """The kind of region, by which overlaps are measured."""
    iou_threshold: float
    """The IoU threshold of a match."""
    area_range: str
    """Label of the area range; objects outside of it are left out."""
    score_thresholds: tuple[float, float]
    """The score thresholds of A and B: a detection with this score or a higher one counts."""
    placement: float
    """The least change of IoU by which an object is better or worse placed."""
    paired_by: str
    """How false positives of A and B were paired: ``"boxes"``, by the IoU of their boxes, or ``"scores"``, in the order
    of their scores within image and class, if an evaluation does not hold its detections."""
    categories: Categories
    """(K,) the categories."""
    image_ids: npt.NDArray[Any]
    """(I,) the ids of the images."""
    objects: ObjectChanges
    """(N,) the objects."""
    detections: DetectionChanges
    """(M,) the false positives."""

    @property
    def counts(self) -> Mapping[str, int]:
        """How many objects and false positives of each kind, by names such as ``"found"`` and ``"new_false_positive"``.

        The kinds of objects come first, in the order of :class:`ObjectChange`.
        """
        return {name: int(column.sum()) for name, column in self.by_image().items()}

    def by_image(self) -> dict[str, Rows]:
        """(I,) the counts of each image, under the names of :attr:`counts`."""
        return self._counted(self.objects.image, self.detections.image, len(self.image_ids))

    def by_class(self) -> dict[str, Rows]:
        """(K,) the counts of each class, under the names of :attr:`counts`. An object counts in its own class."""
        return self._counted(self.objects.category, self.detections.category, len(self.categories))

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per kind of change."""
        return [{"": kind.replace("_", " "), "count": count} for kind, count in self.counts.items()], 0

    def _counted(self, of_objects: Rows, of_detections: Rows, size: int) -> dict[str, Rows]:
        found = {
            kind.name.lower(): np.bincount(of_objects[self.objects.kind == kind], minlength=size)
            for kind in ObjectChange
        }
        return found | {
            f"{kind.name.lower()}_false_positive": np.bincount(
                of_detections[self.detections.kind == kind], minlength=size
            )
            for kind in DetectionChange
        }

    def __repr__(self) -> str:
        counts = self.counts
        found = counts["found"] + counts["right_class_now"]
        lost = counts["lost"] + counts["other_class_now"]
        return (
            f"Changes({found:,} objects found, {lost:,} lost, {counts['new_false_positive']:,} new false positives, "
            f"{counts['gone_false_positive']:,} gone)"
        )


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
    kind, rows_a, rows_b, paired_by = _paired_false_positives(of_a, of_b, iou)
    return Changes(
        iou_type=a.matches.iou_type,
        iou_threshold=iou,
        area_range=area,
        score_thresholds=scores,
        placement=float(placement),
        paired_by=paired_by,
        categories=a.matches.categories,
        image_ids=a.matches.image_ids,
        objects=_objects(of_a, of_b, placement),
        detections=_false_positives(of_a, of_b, kind, rows_a, rows_b),
    )


def _score_thresholds(
    a: Evaluation, b: Evaluation, iou: float, area: str, given: float | tuple[float, float] | None
) -> tuple[float, float]:
    if given is None and not a.protocol.ranks:
        return -np.inf, -np.inf
    if given is None:
        best = [score_curves(one.matches, iou_threshold=iou, area_range=area).overall.best.score for one in (a, b)]
        low, high = (-np.inf if np.isnan(score) else score for score in best)
        return float(low), float(high)
    pair = given if isinstance(given, tuple | list) else (given, given)
    if len(pair) != 2:
        raise ValueError(f"score_threshold must be one number, or one for A and one for B, got {given!r}")
    for wanted, one in zip(pair, (a, b), strict=True):
        check_score_threshold(wanted, one.matches.detections.score)
    return float(pair[0]), float(pair[1])


class _Model(NamedTuple):
    """The outcomes of one model, and for each object its detection and the one that sees it as another class."""

    evaluation: Evaluation
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
        return cls(evaluation, table, became, found, detection, overlap)


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
        category_a=_at(a.table.detections.category, a.detection[rows], -1),
        category_b=_at(b.table.detections.category, b.detection[rows], -1),
        score_a=_at(a.table.detections.score, a.detection[rows], np.nan),
        score_b=_at(b.table.detections.score, b.detection[rows], np.nan),
        iou_a=a.iou[rows],
        iou_b=b.iou[rows],
    )


def _false_positives(a: _Model, b: _Model, kind: npt.NDArray[np.int8], rows_a: Rows, rows_b: Rows) -> DetectionChanges:
    scores = [_at(model.table.detections.score, rows, np.nan) for model, rows in ((a, rows_a), (b, rows_b))]
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


def _at(column: npt.NDArray[Any], rows: Rows, missing: float) -> npt.NDArray[Any]:
    """(N,) the value of a column of detections at each row; another one where a row is -1."""
    values = np.full(len(rows), missing)
    values[rows >= 0] = column[rows[rows >= 0]]
    return values


def _paired_false_positives(a: _Model, b: _Model, iou_threshold: float) -> tuple[npt.NDArray[np.int8], Rows, Rows, str]:
    """The false positives of both models, and how they were paired.

    Returns:
        For each false positive or pair of them: a :class:`DetectionChange`, the row in the table of A and that of B, -1
        for none. Then ``"boxes"`` or ``"scores"``.
    """
    rows_a, rows_b = (np.flatnonzero(model.outcomes.detections == Outcome.FALSE_POSITIVE) for model in (a, b))
    groups = [_groups(a.table, rows_a), _groups(b.table, rows_b)]
    boxes_a, boxes_b = _boxes(a, rows_a), _boxes(b, rows_b)
    if boxes_a is not None and boxes_b is not None:
        paired_by = "boxes"
        first, second = _by_boxes(boxes_a, boxes_b, groups, iou_threshold)
    else:
        paired_by = "scores"
        scores = [a.table.detections.score[rows_a], b.table.detections.score[rows_b]]
        first, second = _by_scores(scores, groups)
    gone, new = np.setdiff1d(np.arange(len(rows_a)), first), np.setdiff1d(np.arange(len(rows_b)), second)
    kinds = np.array([DetectionChange.NEW, DetectionChange.GONE, DetectionChange.STILL], np.int8)
    of_a = np.concatenate([np.full(len(new), -1), rows_a[gone], rows_a[first]])
    of_b = np.concatenate([rows_b[new], np.full(len(gone), -1), rows_b[second]])
    return np.repeat(kinds, [len(new), len(gone), len(first)]), of_a, of_b, paired_by


def _groups(table: MatchTable, rows: npt.NDArray[np.intp]) -> Rows:
    """(N,) a number for the image and class of each detection, the same in both models."""
    image = table.detections.image[rows].astype(np.int64)
    return image * max(len(table.evaluated), 1) + table.evaluated_category(table.detections.category[rows])


def _boxes(model: _Model, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64] | None:
    """(N, 4) the upright boxes of detections; ``None`` if the evaluation does not hold the data that was matched."""
    data, table = model.evaluation.detections, model.table
    if data is None or len(data) != table.sources[1]:
        return None
    return data.boxes[table.detections.row[rows]]


def _by_boxes(
    first: npt.NDArray[np.float64], second: npt.NDArray[np.float64], groups: list[Rows], least: float
) -> tuple[Rows, Rows]:
    """The pairs with the highest IoUs, each false positive in at most one."""
    found = overlap_join(first, second, min_iou=least, labels1=groups[0], labels2=groups[1], format="xywh")
    order = np.lexsort((found.columns, found.rows, -found.values))
    return _one_each(found.rows[order], found.columns[order], len(first), len(second))


def _one_each(first: Rows, second: Rows, count1: int, count2: int) -> tuple[Rows, Rows]:
    """The pairs that are left if each pair, in order, takes its two members away from all later pairs."""
    taken: list[npt.NDArray[np.int64]] = []
    free1, free2 = np.ones(count1, np.bool_), np.ones(count2, np.bool_)
    left = np.arange(len(first))
    while len(left):
        # A pair that is the first one of both its members is taken; at least the first pair of all is.
        one, other = np.full(count1, len(first)), np.full(count2, len(first))
        np.minimum.at(one, first[left], left)
        np.minimum.at(other, second[left], left)
        chosen = left[(one[first[left]] == left) & (other[second[left]] == left)]
        taken.append(chosen)
        free1[first[chosen]], free2[second[chosen]] = False, False
        left = left[free1[first[left]] & free2[second[left]]]
    pairs = np.sort(np.concatenate([np.zeros(0, np.int64), *taken]))
    return first[pairs], second[pairs]


def _by_scores(scores: list[npt.NDArray[np.float64]], groups: list[Rows]) -> tuple[Rows, Rows]:
    """The best of both models in each group, the second best, and so on."""
    keys, orders = [], []
    for score, group in zip(scores, groups, strict=True):
        order = np.lexsort((-score, group))
        ranks = np.arange(len(order)) - np.searchsorted(group[order], group[order])
        orders.append(order)
        keys.append(np.stack([group[order], ranks], axis=1))
    both = {tuple(key): place for place, key in enumerate(keys[0].tolist())}
    pairs = [(both[key], place) for place, key in enumerate(map(tuple, keys[1].tolist())) if key in both]
    found = np.array(pairs, np.int64).reshape(-1, 2)
    return orders[0][found[:, 0]], orders[1][found[:, 1]]
