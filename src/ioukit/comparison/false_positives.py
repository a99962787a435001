"""Which false positives of two models are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Rows
from ioukit.comparison.change_records import DetectionChange
from ioukit.evaluation import Outcome, Outcomes
from ioukit.overlap import overlap_join

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation, MatchTable


def paired_false_positives(
    a: tuple[Evaluation, MatchTable, Outcomes], b: tuple[Evaluation, MatchTable, Outcomes], iou_threshold: float
) -> tuple[tuple[npt.NDArray[np.int8], Rows, Rows], str]:
    """The false positives of both models, and how they were paired.

    Args:
        a: One model: its evaluation, its match table and its outcomes.
        b: The other model.
        iou_threshold: The least IoU of the boxes of a pair.

    Returns:
        For each false positive or pair of them: a :class:`DetectionChange`, the row in the table of A and that of B, -1
        for none. Then ``"boxes"`` or ``"scores"``.
    """
    rows = [np.flatnonzero(outcomes.detections == Outcome.FALSE_POSITIVE) for _, _, outcomes in (a, b)]
    groups = _groups([table for _, table, _ in (a, b)], rows)
    boxes = [_boxes(evaluation, table, each) for (evaluation, table, _), each in zip((a, b), rows, strict=True)]
    if boxes[0] is not None and boxes[1] is not None:
        first, second = _by_boxes(boxes[0], boxes[1], groups, iou_threshold)
    else:
        first, second = _by_scores(
            [table.detections.score[each] for (_, table, _), each in zip((a, b), rows, strict=True)], groups
        )
    gone, new = (np.setdiff1d(np.arange(len(each)), used) for each, used in zip(rows, (first, second), strict=True))
    kind = np.repeat(
        np.array([DetectionChange.NEW, DetectionChange.GONE, DetectionChange.STILL], np.int8),
        [len(new), len(gone), len(first)],
    )
    none_a, none_b = np.full(len(new), -1), np.full(len(gone), -1)
    of_a = np.concatenate([none_a, rows[0][gone], rows[0][first]])
    of_b = np.concatenate([rows[1][new], none_b, rows[1][second]])
    return (kind, of_a, of_b), "scores" if boxes[0] is None or boxes[1] is None else "boxes"


def _groups(tables: list[MatchTable], rows: list[npt.NDArray[np.intp]]) -> list[Rows]:
    """A number for the image and class of each false positive, the same in both models."""
    classes = max(len(tables[0].evaluated), 1)
    return [
        table.detections.image[each].astype(np.int64) * classes
        + table.evaluated_category(table.detections.category[each])
        for table, each in zip(tables, rows, strict=True)
    ]


def _boxes(evaluation: Evaluation, table: MatchTable, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.float64] | None:
    """(N, 4) the upright boxes of detections; ``None`` if the evaluation does not hold the data that was matched."""
    data = evaluation.detections
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
