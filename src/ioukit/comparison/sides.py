"""What the match table of one model says at every IoU threshold: its outcomes, sizes and kinds of errors.

Sizes are read from the area ranges of the table. Kinds are those of TIDE.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Rows
from ioukit._words_and_colours import ERROR_WORDS
from ioukit.evaluation import MatchTable, NearPairs

if TYPE_CHECKING:
    from ioukit.evaluation import Evaluation


NEAR = 0.1
"""The lowest IoU of the near pairs: the background threshold of TIDE."""


def table_with_near_pairs(evaluation: Evaluation) -> MatchTable:
    """The match table, with near pairs if it has them or they can be made of the data."""
    matches = evaluation.matches
    if matches.near is not None and matches.near.least <= NEAR:
        return matches
    if evaluation.ground_truth is None or evaluation.detections is None:
        return matches
    return evaluation.near_matches(NEAR)


def near_pairs_of(table: MatchTable) -> NearPairs | None:
    """The near pairs of a table, if it has all that the kinds of errors need."""
    return table.near if table.near is not None and table.near.least <= NEAR else None


class Side(NamedTuple):
    """One model: its detections in one area range within one cap, at every IoU threshold."""

    table: MatchTable
    """Its matches."""
    found: Flags
    """(N, T) whether each detection is a true positive."""
    false: Flags
    """(N, T) whether each detection is a false positive."""
    object: Rows
    """(N, T) row of the object of each true positive; -1 for none."""

    @classmethod
    def of(cls, table: MatchTable, area_range: str, max_dets: int | None) -> Side:
        """The outcomes in an area range with a cap."""
        count = len(table.protocol.iou_thresholds)
        area = table.protocol.position_of_area(area_range)
        within = table.is_within_cap(max_dets)[:, None]
        matched = _unpacked(table.detections.matched[:, area], count)
        counts = within & ~_unpacked(table.detections.ignored[:, area], count)
        found = counts & matched
        objects = np.full(found.shape, -1)
        pairs = _unpacked(table.pairs.matched[:, area], count)
        pair, at = np.nonzero(pairs)
        objects[table.pairs.detection[pair], at] = table.pairs.object[pair]
        objects[~found] = -1
        return cls(table, found, counts & ~matched, objects)

    def finds(self) -> Flags:
        """(G, T) whether a detection finds each object."""
        detection, at = np.nonzero(self.found)
        flags = np.zeros((len(self.table.objects), self.found.shape[1]), np.bool_)
        flags[self.object[detection, at], at] = True
        return flags


def _unpacked(sets: npt.NDArray[np.uint8], count: int) -> Flags:
    """(..., T) sets of thresholds (..., B) as bools."""
    return np.unpackbits(sets, axis=-1, count=count, bitorder="little").astype(np.bool_)


Kinds = npt.NDArray[np.int8]

CHANGE_KINDS = ("classification", "localisation", "both", "duplicate", "background", "missed", "score")
"""The kinds of a part of a difference: the error kinds of TIDE, and ``"score"`` for a detection that only moved in the
order of the scores."""

KIND_WORDS = {kind: words.plain for kind, words in ERROR_WORDS.items()} | {"score": "order of the scores"}
"""What each of :data:`CHANGE_KINDS` means, in a few words."""

_CLASSIFICATION, _LOCALISATION, _BOTH, _DUPLICATE, _BACKGROUND, _MISSED, _SCORE = range(len(CHANGE_KINDS))

_OTHER = "other"  # the size of what is in none of the ranges


def size_labels(table: MatchTable) -> list[str]:
    """(S,) the labels of the area ranges other than the main one, and ``"other"``."""
    protocol = table.protocol
    return [*(label for label in protocol.area_labels if label != protocol.main_area), _OTHER]


def object_sizes(table: MatchTable) -> npt.NDArray[np.int64]:
    """(G,) position in :func:`size_labels` of each object: the first range that does not ignore it."""
    labels = size_labels(table)
    sizes = np.full(len(table.objects), len(labels) - 1)
    for place in reversed(range(len(labels) - 1)):
        sizes[~table.ignores(labels[place])] = place
    return sizes


def detection_sizes(table: MatchTable) -> npt.NDArray[np.int64]:
    """(N,) position in :func:`size_labels` of each detection: the first range that it is known not to be outside of.

    A detection without a match is ignored in the ranges that it is outside of. So the table tells its range if there is
    an IoU threshold at which it has no match.
    """
    labels = size_labels(table)
    sizes = np.full(len(table), len(labels) - 1)
    rows = table.detections
    full = np.packbits(np.ones(len(table.protocol.iou_thresholds), np.uint8), bitorder="little")
    for place in reversed(range(len(labels) - 1)):
        at = table.protocol.position_of_area(labels[place])
        paired = np.zeros_like(rows.matched[:, at])
        np.bitwise_or.at(paired, table.pairs.detection, table.pairs.matched[:, at])
        inside = (~rows.ignored[:, at] & ~paired & full).any(axis=1)
        sizes[inside] = place
    return sizes


def false_positive_kinds(side: Side, near: NearPairs, area_range: str) -> Kinds:
    """(N, T) position in :data:`CHANGE_KINDS` of each detection, as a false positive, at each IoU threshold.

    The rules are those of :func:`ioukit.evaluation.error_kinds`.
    """
    table, thresholds = side.table, _thresholds(side)
    counts = ~table.ignores(area_range)[near.object] & (near.iou >= NEAR)
    alike = _alike(side, near)
    best = [np.zeros(len(table)), np.zeros(len(table))]
    for highest, wanted in zip(best, (counts & alike, counts & ~alike), strict=True):
        np.maximum.at(highest, near.detection[wanted], near.iou[wanted])
    same, other = best[0][:, None], best[1][:, None]
    holds = [
        (same >= NEAR) & (same <= thresholds),
        other >= thresholds,
        same >= thresholds,
        (same <= NEAR) & (other <= NEAR) & np.ones(len(thresholds), np.bool_),
    ]
    kinds = [np.int8(kind) for kind in (_LOCALISATION, _CLASSIFICATION, _DUPLICATE, _BACKGROUND)]
    return np.select(holds, kinds, np.int8(_BOTH))


def miss_kinds(side: Side, near: NearPairs) -> Kinds:
    """(G, T) position in :data:`CHANGE_KINDS` of each object, as one that is not found, at each IoU threshold.

    It is an error of localisation if a false positive of its class overlaps it, of classification if a false positive
    of another class reaches the IoU threshold with it, and missed otherwise.
    """
    kinds = np.full((len(side.table.objects), side.false.shape[1]), _MISSED, np.int8)
    alike, overlaps = _alike(side, near), near.iou >= NEAR
    for at, threshold in enumerate(_thresholds(side).tolist()):
        wrong = side.false[near.detection, at] & overlaps
        kinds[near.object[wrong & ~alike & (near.iou >= threshold)], at] = _CLASSIFICATION
        kinds[near.object[wrong & alike], at] = _LOCALISATION
    return kinds


def _thresholds(side: Side) -> npt.NDArray[np.float64]:
    return np.array(side.table.protocol.iou_thresholds)


def _alike(side: Side, near: NearPairs) -> npt.NDArray[np.bool_]:
    """(Q,) whether the detection and the object of each near pair are of one class."""
    table = side.table
    of_detection = table.evaluated_category(table.detections.category[near.detection])
    same: npt.NDArray[np.bool_] = of_detection == table.evaluated_category(table.objects.category[near.object])
    return same


def same_boxes(a: Evaluation, b: Evaluation) -> bool:
    """Whether two models have the same boxes of the same classes on the same images, and so differ in scores alone.

    It is not known of tables without their data, and of regions other than boxes. If the scores are the same, too,
    nothing differs.
    """
    rows = _rows_of_boxes(a, b)
    return len(rows) == 2 and _same_rows(*(one[:, :-1] for one in rows)) and not _same_rows(*rows)


def same_but_for_order(a: Evaluation, b: Evaluation) -> bool:
    """Whether two models have the same boxes with the same scores in another order."""
    rows = _rows_of_boxes(a, b)
    return len(rows) == 2 and _same_rows(*rows) and not np.array_equal(rows[0], rows[1])


def _rows_of_boxes(a: Evaluation, b: Evaluation) -> list[npt.NDArray[np.float64]]:
    """For each model, (N, 7) image, class, box and score of its detections; empty if these cannot be compared."""
    one, other = a.detections, b.detections
    if one is None or other is None or len(one) != len(other) or a.matches.iou_type != "bbox":
        return []
    keys = [() if each.image_keys is None else each.image_keys.tolist() for each in (one, other)]
    if keys[0] != keys[1] or (one.image_keys is None) != (other.image_keys is None):
        return []
    return [np.column_stack([each.image_ids, each.category_ids, each.boxes, each.scores]) for each in (one, other)]


def _same_rows(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> bool:
    """Whether two arrays have the same rows, in any order."""
    return np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)])
