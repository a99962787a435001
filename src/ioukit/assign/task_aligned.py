"""Task-aligned assignment (TOOD, YOLOv8 and later): predictions are ranked by score and overlap together.

Owns: both rules (`_RULES`), which differ in what comes first: the ranking or the test whether a centre is inside. Also
the second choice of one-to-one heads, and the target scores.
Does not own: points inside of boxes and the best of each object (`_pairs.py`), which other rules use as well.
Cut into `_Scene`, which measures pairs and ranks them, and one function that settles conflicts, because only the
ranking differs between the rules. No table of all pairs is kept: pairs come in blocks, and each leaves its best.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit._checks import check_choice, check_count
from ioukit.assign._inputs import finished, floats_of, labels_of, pair_of_sets, points_of, scores_of, spread
from ioukit.assign._pairs import best_of_each, distance_to_edge, keepers, object_blocks, padded, points_inside
from ioukit.assign.assignment import Assignment, Candidates, Outcome
from ioukit.overlap import elementwise_ciou, elementwise_iou, pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


TaskAlignedRule: TypeAlias = Literal["tood", "v8"]
"""Whose rule: that of TOOD as in MMDetection, or that of YOLOv8."""


class _Rule(NamedTuple):
    alpha: float
    top_k: int
    margin: float
    """How far from every edge a centre inside must be, in pixels."""


_RULES = {"tood": _Rule(1.0, 13, 0.01), "v8": _Rule(0.5, 10, 1e-9)}


class DualAssignment(NamedTuple):
    """Two assignments to the same objects, one for each head of an NMS-free detector."""

    one_to_many: Assignment
    """Many predictions per object, for a rich signal in training."""
    one_to_one: Assignment
    """One prediction per object, so that inference needs no NMS."""


def assign_task_aligned(
    predictions: BoxesLike,
    scores: Array,
    objects: BoxesLike,
    labels: Array,
    *,
    points: Array,
    rule: TaskAlignedRule = "v8",
    alpha: float | None = None,
    beta: float = 6.0,
    top_k: int | None = None,
    second_top_k: int | None = None,
    strides: Sequence[float] | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns to each object the predictions with the largest metric, ``score**alpha * overlap**beta``.

    ==== ==================== ======================================== ======= ===== =================
    rule overlap              claimed by an object                     alpha   top_k target score
    ==== ==================== ======================================== ======= ===== =================
    tood IoU                  of the top k of all predictions, those   1       13    metric x best
                              with the centre inside by > 0.01                       overlap of the
    v8   CIoU, negative is 0  the top k of the predictions with the    0.5     10    object / its best
                              centre inside by > 1e-9                                metric
    ==== ==================== ======================================== ======= ===== =================

    A pair with a metric of 0 is never positive. If several objects claim a prediction, the one with the highest overlap
    gets it: with ``"tood"`` among the objects that claimed it, with ``"v8"`` among all objects that its centre is
    inside. Of equal metrics the lower prediction wins, and of equal overlaps the first object.

    Args:
        predictions: (P, 4) decoded boxes, xyxy by default.
        scores: (P, C) probabilities per class, after the sigmoid.
        objects: (G, 4) in the same unit; G may be 0.
        labels: (G,) classes of the objects, integers below C.
        points: (P, 2) centres of the cells, x and y.
        rule: ``"tood"`` or ``"v8"``.
        alpha: Power of the score; by default that of the rule.
        beta: Power of the overlap.
        top_k: Candidates per object; by default that of the rule.
        second_top_k: The number of predictions that an object keeps after conflicts are settled; by default all.
        strides: Strides of the levels, ascending, for ``"v8"``. They enlarge tiny objects for the test whether a centre
            is inside: a side shorter than the second stride counts as long as that stride (or as the only one). None
            changes no object.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment, with ``metric`` and target ``scores``. Its ``overlap`` is that of the rule. Its ``facts`` are
        ``"inside"``, the number of predictions with their centre inside each object (with ``"tood"`` only of the top
        k), and ``"taken"``, the number that an object may take.

    Raises:
        ValueError: If shapes do not fit, or a score is not within [0, 1].

    Examples:
        >>> from ioukit.assign import assign_task_aligned
        >>> result = assign_task_aligned([[0, 0, 8, 8], [0, 0, 10, 10]], [[0.9], [0.4]], [[0, 0, 10, 10]], [0],
        ...                              points=[[4, 4], [5, 5]], rule="tood", top_k=1)
        >>> result.target, result.scores
        (array([-1,  0]), array([0., 1.]))

    Reference: Feng et al., TOOD: Task-aligned One-stage Object Detection, ICCV 2021, arXiv:2108.07755.
    """
    check_choice("rule", rule, tuple(_RULES))
    if strides is not None and rule != "v8":
        raise ValueError("strides are for rule='v8' alone: the other takes objects as they are")
    how = _RULES[rule]
    most = how.top_k if top_k is None else operator.index(top_k)
    second_most = None if second_top_k is None else operator.index(second_top_k)
    check_count(top_k=most, second_top_k=most if second_most is None else second_most)
    powers = (how.alpha if alpha is None else float(alpha), float(beta))
    if not min(powers) >= 0:
        raise ValueError(f"alpha and beta must not be negative, got {powers}")
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    table = scores_of(scores, len(first), first.dtype)
    classes = labels_of(labels, len(second), table.shape[1])
    centres = points_of(points, len(first), first.dtype)
    reach = second if strides is None else _enlarged(second, strides)
    scene = _Scene(first, second, classes, table, centres, reach, powers, how.margin)
    ranked = scene.ranked_then_inside(most) if rule == "tood" else scene.inside_then_ranked(most)
    rows, columns, overlap, metric, outcome, inside = ranked
    claims = np.flatnonzero(outcome == Outcome.ASSIGNED)
    target = np.full(len(first), -1, np.int64)
    wins = claims[keepers(rows[claims], columns[claims], overlap[claims])]
    target[columns[wins]] = rows[wins]
    if rule == "v8":
        claimed, times = np.unique(columns[claims], return_counts=True)
        scene.settle_among_all(claimed[times > 1], target)

    assigned = np.flatnonzero(target >= 0)
    own_overlap, own_metric = scene.measured(target[assigned], assigned, ciou=rule == "v8")
    kept, still = np.arange(len(assigned)), target
    if second_most is not None:
        of = target[assigned]
        order = np.argsort(of, kind="stable")
        kept = order[best_of_each(of[order], assigned[order], own_metric[order], second_most)]
        dropped = np.setdiff1d(assigned, assigned[kept], assume_unique=True)
        outcome[np.isin(columns, dropped) & (target[columns] == rows)] = Outcome.RANK
        still = target.copy()
        still[dropped] = -1
    outcome[(outcome == Outcome.ASSIGNED) & (target[columns] != rows)] = Outcome.STOLEN
    return _finish(
        predictions, still, assigned[kept], own_overlap[kept], own_metric[kept],
        Candidates(rows, columns, overlap, metric, outcome),
        {"inside": inside, "taken": np.full(len(second), second_most or most)},
    )  # fmt: skip


def assign_dual(
    predictions: BoxesLike,
    scores: Array,
    objects: BoxesLike,
    labels: Array,
    *,
    points: Array,
    one_to_one: tuple[BoxesLike, Array] | None = None,
    alpha: float = 0.5,
    beta: float = 6.0,
    top_k: int = 10,
    one_to_one_top_k: int = 7,
    strides: Sequence[float] | None = None,
    format: BoxFormat | None = None,
    check: bool = True,
) -> DualAssignment:
    """Assigns for both heads of an NMS-free detector such as YOLOv10: one-to-many and one-to-one.

    Both assignments are those of `assign_task_aligned` with ``rule="v8"``. The second takes ``one_to_one_top_k``
    candidates, settles the conflicts, and then leaves each object only its best prediction.

    Args:
        predictions: (P, 4) decoded boxes of the one-to-many head, xyxy by default.
        scores: (P, C) probabilities of the one-to-many head.
        objects: (G, 4) in the same unit.
        labels: (G,) classes of the objects.
        points: (P, 2) centres of the cells.
        one_to_one: Boxes and scores of the one-to-one head, of the same shapes; by default those of the one-to-many
            head.
        alpha: Power of the score.
        beta: Power of the overlap.
        top_k: Candidates per object in the one-to-many assignment.
        one_to_one_top_k: Candidates per object in the one-to-one assignment; 1 is the rule of the paper.
        strides: As in `assign_task_aligned`.
        format: As in `assign_task_aligned`.
        check: Whether plain arrays are checked.

    Returns:
        Both assignments.

    Raises:
        ValueError: As `assign_task_aligned`.

    Reference: Wang et al., YOLOv10: Real-Time End-to-End Object Detection, NeurIPS 2024, arXiv:2405.14458.
    """
    boxes, probabilities = (predictions, scores) if one_to_one is None else one_to_one
    many = assign_task_aligned(
        predictions, scores, objects, labels, points=points, rule="v8", alpha=alpha, beta=beta, top_k=top_k,
        strides=strides, format=format, check=check,
    )  # fmt: skip
    one = assign_task_aligned(
        boxes, probabilities, objects, labels, points=points, rule="v8", alpha=alpha, beta=beta,
        top_k=one_to_one_top_k, second_top_k=1, strides=strides, format=format, check=check,
    )  # fmt: skip
    return DualAssignment(many, one)


def _enlarged(objects: FloatArray, strides: Sequence[float]) -> FloatArray:
    """The objects for the test whether a centre is inside: short sides are as long as the second stride."""
    sides = floats_of(strides, "strides", (None,))
    if not len(sides):
        return objects
    side = float(sides[min(1, len(sides) - 1)])
    return padded(objects, side, side)


class _Ranked(NamedTuple):
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    overlap: FloatArray
    metric: FloatArray
    outcome: NDArray[np.uint8]
    inside: NDArray[np.int64]


class _Scene:
    """The predictions and objects of one image, and the metrics of their pairs."""

    def __init__(
        self, predictions: FloatArray, objects: FloatArray, classes: NDArray[np.int64], scores: FloatArray,
        points: FloatArray, reach: FloatArray, powers: tuple[float, float], margin: float,
    ) -> None:  # fmt: skip
        self.predictions, self.objects, self.classes, self.scores = predictions, objects, classes, scores
        self.points, self.reach, self.powers, self.margin = points, reach, powers, margin

    def measured(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], *, ciou: bool
    ) -> tuple[FloatArray, FloatArray]:
        """Overlap and metric of pairs."""
        first, second = self.predictions[columns], self.objects[rows]
        if ciou:
            overlap = np.maximum(elementwise_ciou(first, second, check=False), 0)
        else:
            overlap = elementwise_iou(first, second, check=False)
        return overlap, self.metric(rows, columns, overlap)

    def metric(self, rows: NDArray[np.int64], columns: NDArray[np.int64], overlap: FloatArray) -> FloatArray:
        alpha, beta = self.powers
        score = self.scores[columns, self.classes[rows]]
        return _power(score, alpha) * _power(overlap, beta)

    def inside_then_ranked(self, most: int) -> _Ranked:
        """The top k of the predictions with the centre inside, by CIoU."""
        blocks, inside = [], np.zeros(len(self.objects), np.int64)
        for rows, columns in points_inside(self.points, self.reach, self.margin):
            inside += np.bincount(rows, minlength=len(inside))
            blocks.append(self._best(rows, columns, *self.measured(rows, columns, ciou=True), most))
        rows, columns, overlap, metric = _joined(blocks, self.objects.dtype)
        outcome = np.where(metric > 0, Outcome.ASSIGNED, Outcome.WORTHLESS).astype(np.uint8)
        return _Ranked(rows, columns, overlap, metric, outcome, inside)

    def ranked_then_inside(self, most: int) -> _Ranked:
        """The top k of all predictions by IoU, then the test whether their centres are inside."""
        rows, columns, overlap, metric = _joined(
            [self._best(*block, most) for block in self._overlapping()], self.objects.dtype
        )
        within = distance_to_edge(self.points[columns], self.reach[rows]) > self.margin
        outcome = np.where(within, Outcome.ASSIGNED, Outcome.OUTSIDE).astype(np.uint8)
        outcome[metric <= 0] = Outcome.WORTHLESS
        return _Ranked(rows, columns, overlap, metric, outcome, np.bincount(rows[within], minlength=len(self.objects)))

    def _overlapping(self) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]]:
        for block in object_blocks(len(self.objects), len(self.predictions)):
            table = pairwise_iou(self.objects[block], self.predictions, check=False)
            rows, columns = np.nonzero(table)
            overlap = table[rows, columns]
            rows += block.start
            yield rows, columns, overlap, self.metric(rows, columns, overlap)

    @staticmethod
    def _best(
        rows: NDArray[np.int64], columns: NDArray[np.int64], overlap: FloatArray, metric: FloatArray, most: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
        best = best_of_each(rows, columns, metric, most)
        return rows[best], columns[best], overlap[best], metric[best]

    def settle_among_all(self, wanted: NDArray[np.int64], target: NDArray[np.int64]) -> None:
        """Gives each prediction to the object of the highest CIoU, among all objects that its centre is inside.

        Args:
            wanted: Positions of the predictions that several objects claim.
            target: (P,) the object of each prediction, changed in place.
        """
        best = np.full(len(wanted), -1.0)
        for rows, places in points_inside(self.points[wanted], self.reach, self.margin):
            overlap, _ = self.measured(rows, wanted[places], ciou=True)
            wins = keepers(rows, places, overlap)
            gts, spots, value = rows[wins], places[wins], overlap[wins]
            better = value > best[spots]  # of equal overlaps the earlier object wins
            best[spots[better]] = value[better]
            target[wanted[spots[better]]] = gts[better]


def _power(values: FloatArray, power: float) -> FloatArray:
    """``values ** power``. Products and roots compute the usual powers much faster than NumPy's ``**``."""
    if power == 1:
        return values
    if power == 0.5:
        return np.sqrt(values)
    if power == 6:
        cube = values * values * values
        return cube * cube
    powered: FloatArray = values**power
    return powered


def _joined(
    blocks: list[tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]], dtype: np.dtype
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, FloatArray]:
    if not blocks:
        none = np.empty(0, np.int64)
        return none, none, np.empty(0, dtype), np.empty(0, dtype)
    rows, columns, overlap, metric = map(np.concatenate, zip(*blocks, strict=True))
    return rows, columns, overlap, metric


def _finish(
    like: object, target: NDArray[np.int64], assigned: NDArray[np.int64], overlap: FloatArray, metric: FloatArray,
    candidates: Candidates, facts: dict[str, NDArray[np.int64]],
) -> Assignment:  # fmt: skip
    """The record, with its target scores."""
    objects, dtype = len(facts["inside"]), overlap.dtype
    best_overlap, best_metric = np.zeros(objects, dtype), np.zeros(objects, dtype)
    of = target[assigned]
    np.maximum.at(best_overlap, of, overlap)
    np.maximum.at(best_metric, of, metric)
    whole = np.where(best_metric > 0, best_metric, 1)
    scores = (metric / whole[of] * best_overlap[of]).astype(dtype, copy=False)
    return finished(
        like, rule="assign_task_aligned", objects=objects, target=target, candidates=candidates, facts=facts,
        overlap=spread(len(target), assigned, overlap), metric=spread(len(target), assigned, metric),
        scores=spread(len(target), assigned, scores, empty=0),
    )  # fmt: skip
