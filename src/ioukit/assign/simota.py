"""SimOTA: each object takes its cheapest predictions; their number follows from the sum of its best IoU values.

Owns: both rules of this name (`_RULES`), the reach of an object (`_Reach`) and the costs of pairs (`_Scene`).
Does not own: points inside of boxes and the best of each object (`_pairs.py`), which other rules use as well.
Cut into reach and costs because the originals add 1e5 or 1e6 to the cost of a pair out of reach, and in float32 that
rounds the cost. Here the extra cost stays apart until pairs are compared, in float64.
No table of all pairs is kept: costs are computed for the pairs in reach, and for what several objects claim.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit._checks import check_choice, check_count, check_positive
from ioukit.assign._inputs import finished, floats_of, labels_of, pair_of_sets, points_of, scores_of, spread
from ioukit.assign._pairs import best_of_each, object_blocks, points_inside
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou, pairwise_iou

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


SimOTARule: TypeAlias = Literal["mmdet", "yolox"]
"""Whose rule: MMDetection and YOLOX have different rules of this name."""


class _Rule(NamedTuple):
    radius: float
    """In strides."""
    outside: float
    """The extra cost of a pair whose prediction is out of reach of the object."""
    within: bool
    """Whether the centre of the prediction must also be inside the object."""
    epsilon: float
    """Added to IoU before the logarithm."""
    root: bool
    """Whether the cross entropy is computed from the square roots of the scores."""


# MMDetection 3.3.0 takes no root (tests/data/assign); older versions may.
_RULES = {"mmdet": _Rule(2.5, 1e5, True, 1e-7, False), "yolox": _Rule(1.5, 1e6, False, 1e-8, True)}
_LEAST_LOG = -100.0  # PyTorch's binary cross entropy clamps logarithms to at least this


def assign_simota(
    predictions: BoxesLike,
    scores: Array,
    objects: BoxesLike,
    labels: Array,
    *,
    points: Array,
    strides: Array | float,
    rule: SimOTARule = "mmdet",
    objectness: Array | None = None,
    radius: float | None = None,
    top_k: int = 10,
    iou_weight: float = 3.0,
    class_weight: float = 1.0,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns by simplified optimal transport (SimOTA).

    The cost of a pair is ``class_weight`` times the binary cross entropy of the scores with the object's class, summed
    over the classes, plus ``iou_weight`` times ``-log(IoU)``. An object claims its k cheapest predictions, where k is
    the sum of its ``top_k`` best IoU values, rounded down and at least 1. If fewer predictions take part, it claims all
    of them. A prediction that several objects claim goes to the object with the lowest cost among **all** objects, also
    to one that did not claim it.

    ======= ==================================================== ======================================== ==============
    rule    predictions that take part                           in reach of an object                    score
    ======= ==================================================== ======================================== ==============
    mmdet   centre in some object, or within ``radius`` strides  centre in it and within the radius       scores
            of its centre (2.5)                                  of its centre; others + 1e5
    yolox   centre within ``radius`` strides of the centre of    centre within the radius of its centre,  root of scores
            some object (1.5)                                    whatever its extent; others + 1e6        x objectness
    ======= ==================================================== ======================================== ==============

    Pairs out of reach cost more, by the number in the table. Costs are compared without rounding. The originals add
    this number in float32, which rounds costs to multiples of 1/128 or 1/16 and makes ties. Of equal costs the lower
    prediction and the first object win.

    Args:
        predictions: (P, 4) decoded boxes, xyxy by default.
        scores: (P, C) probabilities per class, after the sigmoid.
        objects: (G, 4) in the same unit; G may be 0.
        labels: (G,) classes of the objects, integers below C.
        points: (P, 2) centres of the cells, x and y.
        strides: (P,) or (P, 2) pixels per cell, or one number for all.
        rule: ``"mmdet"`` or ``"yolox"``.
        objectness: (P,) probabilities that multiply the scores, for ``"yolox"``.
        radius: In strides; by default that of the rule.
        top_k: The number of IoU values in the sum.
        iou_weight: Weight of the overlap in the cost.
        class_weight: Weight of the classification in the cost.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. `Boxes` have their
            own.
        check: Whether plain arrays are checked.

    Returns:
        The assignment, with ``cost``. Its ``facts`` are ``"inside"`` (the number of predictions in reach) and
        ``"taken"`` (k).

    Raises:
        ValueError: If shapes do not fit, or a score is not within [0, 1].

    Examples:
        >>> from ioukit.assign import assign_simota
        >>> assign_simota([[23, 23, 43, 43], [4, 5, 6, 7]], [[0.2], [0.8]], [[23, 23, 43, 43]], [0],
        ...               points=[[30, 30], [4, 5]], strides=8).target
        array([ 0, -1])

    Reference: Ge et al., YOLOX: Exceeding YOLO Series in 2021, arXiv:2107.08430.
    """
    check_choice("rule", rule, tuple(_RULES))
    if objectness is not None and rule != "yolox":
        raise ValueError("objectness is for rule='yolox' alone: the other has no such score")
    check_count(top_k=top_k)
    most = operator.index(top_k)
    how = _RULES[rule]
    within_radius = how.radius if radius is None else float(radius)
    check_positive(radius=within_radius)
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    number, count, dtype = len(first), len(second), first.dtype
    table = scores_of(scores, number, dtype)
    classes = labels_of(labels, count, table.shape[1])
    centres, sides = points_of(points, number, dtype), _strides(strides, number, dtype)
    reach = _Reach(centres, sides, second, within_radius, how.within, how.outside)
    if objectness is not None:
        table = table * scores_of(floats_of(objectness, "objectness", (None,))[:, None], number, dtype, "objectness")

    rows, columns, valid = reach.pairs()
    inside = np.bincount(rows, minlength=count)
    if how.root:
        table = np.sqrt(table)
    scene = _Scene(first, second, classes, table, valid, how.epsilon, iou_weight, class_weight)
    taken = np.minimum(scene.dynamic_k(most), len(valid))
    rows, columns, value, claims = scene.cheapest(rows, columns, taken, most)
    value = value + reach.extra_cost(rows, columns)
    target = _settled(scene, reach, rows[claims], columns[claims])

    outcome = np.full(len(rows), Outcome.RANK, np.uint8)
    outcome[claims] = Outcome.STOLEN
    outcome[target[columns] == rows] = Outcome.ASSIGNED
    assigned = np.flatnonzero(target >= 0)
    of = target[assigned]
    overlap = spread(number, assigned, elementwise_iou(first[assigned], second[of], check=False))
    cost = spread(number, assigned, (scene.cost(of, assigned) + reach.extra_cost(of, assigned)).astype(dtype))
    values = elementwise_iou(first[columns], second[rows], check=False)
    return finished(
        predictions, rule="assign_simota", objects=count, target=target, overlap=overlap, cost=cost,
        candidates=Candidates(rows, columns, values, value, outcome), facts={"inside": inside, "taken": taken},
    )  # fmt: skip


def _strides(strides: Array | float, number: int, dtype: np.dtype) -> FloatArray:
    """(P, 2) strides in x and y."""
    if isinstance(strides, (int, float)):
        check_positive(strides=strides)
        return np.full((number, 2), strides, dtype)
    shape = tuple(np.shape(strides))
    array = floats_of(strides, "strides", (number, 2) if len(shape) == 2 else (number,)).astype(dtype)
    if array.size and not array.min() > 0:
        raise ValueError(f"strides must be positive, got {array.min():g}")
    return np.ascontiguousarray(np.broadcast_to(array.reshape(number, -1), (number, 2)))


class _Reach(NamedTuple):
    """Which predictions are in reach of which objects."""

    points: FloatArray
    strides: FloatArray
    objects: FloatArray
    radius: float
    within: bool
    """Whether the centre of a prediction must also be inside the object."""
    outside: float
    """The extra cost of a pair out of reach."""

    def pairs(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of an object and a prediction in its reach, sorted by object; and the predictions that take part."""
        part = np.zeros(len(self.points), bool)
        rows, columns = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        centre = (self.objects[:, :2] + self.objects[:, 2:]) / 2
        for size, chosen in _levels(self.strides):
            half = self.points.dtype.type(self.radius) * size
            around = np.concatenate([centre - half, centre + half], axis=1)
            for gts, places in points_inside(self.points[chosen], around):
                found = chosen[places]
                part[found] = True
                own = _inside(self.points[found], self.objects[gts]) if self.within else slice(None)
                rows.append(gts[own])
                columns.append(found[own])
        if self.within:
            for _, found in points_inside(self.points, self.objects):
                part[found] = True
        all_rows, all_columns = np.concatenate(rows), np.concatenate(columns)
        order = np.argsort(all_rows, kind="stable")
        return all_rows[order], all_columns[order], np.flatnonzero(part)

    def extra_cost(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> FloatArray:
        """(K,) 0 for pairs in reach, and the extra cost for others."""
        own, points = self.objects[rows], self.points[columns]
        centre, half = (own[:, :2] + own[:, 2:]) / 2, self.points.dtype.type(self.radius) * self.strides[columns]
        near = _inside(points, np.concatenate([centre - half, centre + half], axis=1))
        if self.within:
            near &= _inside(points, own)
        return np.where(near, 0.0, self.outside)


def _settled(scene: _Scene, reach: _Reach, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """(P,) the object of each prediction, from the claims; -1 for none.

    A prediction that several objects claim goes to the object with the lowest cost of all.
    """
    count = len(scene.objects)
    target = np.full(len(scene.predictions), -1, np.int64)
    target[columns] = rows
    claimed, times = np.unique(columns, return_counts=True)
    for block in object_blocks(int((times > 1).sum()), count):
        wanted = claimed[times > 1][block]
        every, of = np.repeat(wanted, count), np.tile(np.arange(count), len(wanted))
        cost = scene.cost(of, every) + reach.extra_cost(of, every)
        target[wanted] = cost.reshape(-1, count).argmin(axis=1)
    return target


def _levels(strides: FloatArray) -> Iterator[tuple[FloatArray, NDArray[np.int64]]]:
    """Each distinct pair of strides, with the predictions that have it.

    There are few, so a comparison with each is faster than sorting all rows.
    """
    for width in np.unique(strides[:, 0]):
        wide = np.flatnonzero(strides[:, 0] == width)
        for height in np.unique(strides[wide, 1]):
            yield np.array([width, height], strides.dtype), wide[strides[wide, 1] == height]


def _inside(points: FloatArray, boxes: FloatArray) -> NDArray[np.bool_]:
    x, y = points.T
    found: NDArray[np.bool_] = (x > boxes[:, 0]) & (x < boxes[:, 2]) & (y > boxes[:, 1]) & (y < boxes[:, 3])
    return found


class _Scene:
    """The predictions and objects of one image, and the costs of their pairs."""

    def __init__(
        self, predictions: FloatArray, objects: FloatArray, classes: NDArray[np.int64], scores: FloatArray,
        valid: NDArray[np.int64], epsilon: float, iou_weight: float, class_weight: float,
    ) -> None:  # fmt: skip
        self.predictions, self.objects, self.classes, self.valid = predictions, objects, classes, valid
        self.epsilon, self.iou_weight, self.class_weight = epsilon, iou_weight, class_weight
        # The cross entropy with a one-hot target, summed over classes, is that with a target of zeros plus the change
        # in the object's own class.
        with np.errstate(divide="ignore"):
            absent = np.maximum(np.log(1 - scores[valid]), _LEAST_LOG)
            present = np.maximum(np.log(scores[valid]), _LEAST_LOG)
        self.place = np.full(len(predictions), -1, np.int64)
        self.place[valid] = np.arange(len(valid))
        self.classification = (absent - present) - absent.sum(axis=1, dtype=np.float64)[:, None]

    def cost(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> FloatArray:
        """(K,) the costs, without the extra cost of pairs out of reach."""
        overlap = elementwise_iou(self.predictions[columns], self.objects[rows], check=False)
        classification = self.classification[self.place[columns], self.classes[rows]]
        cost: FloatArray = self.class_weight * classification - self.iou_weight * np.log(
            overlap.astype(np.float64) + self.epsilon
        )
        return cost

    def dynamic_k(self, most: int) -> NDArray[np.int64]:
        """(G,) the number of predictions that each object may claim."""
        k = np.ones(len(self.objects), np.int64)
        predictions = self.predictions[self.valid]
        last = min(most, len(predictions))
        if not last:
            return k
        for block in object_blocks(len(self.objects), len(predictions)):
            overlap = pairwise_iou(self.objects[block], predictions, check=False)
            best = np.partition(overlap, len(predictions) - last, axis=1)[:, len(predictions) - last :]
            k[block] = np.maximum(np.sort(best, axis=1)[:, ::-1].sum(axis=1).astype(np.int64), 1)
        return k

    def cheapest(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64], taken: NDArray[np.int64], most: int
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, NDArray[np.bool_]]:
        """The cheapest pairs of each object, their costs, and which of them the object claims.

        These are at least ``most`` pairs in reach, as far as there are any, also pairs that the object does not claim.
        An object with too few pairs in reach claims the cheapest pairs out of reach, too.

        Args:
            rows: The objects of the pairs in reach, ascending.
            columns: The predictions of these pairs.
            taken: (G,) the number of predictions that each object claims.
            most: The number of pairs to return per object.
        """
        inside = np.bincount(rows, minlength=len(self.objects))
        value = self.cost(rows, columns)
        shown = best_of_each(rows, columns, -value, np.maximum(taken, most))
        rows, columns, value = rows[shown], columns[shown], value[shown]
        rank = np.arange(len(rows)) - np.searchsorted(rows, rows)
        parts = [(rows, columns, value, rank < taken[rows])]
        for gt in np.flatnonzero(inside < taken).tolist():
            others = np.setdiff1d(self.valid, columns[rows == gt], assume_unique=True)
            row = np.full(len(others), gt)
            cost = self.cost(row, others)
            chosen = best_of_each(row, others, -cost, int(taken[gt] - inside[gt]))
            parts.append((row[chosen], others[chosen], cost[chosen], np.ones(len(chosen), bool)))
        all_rows, all_columns, all_values, all_claims = map(np.concatenate, zip(*parts, strict=True))
        order = np.argsort(all_rows, kind="stable")
        return all_rows[order], all_columns[order], all_values[order], all_claims[order]
