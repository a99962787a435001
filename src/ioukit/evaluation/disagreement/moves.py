"""Which classes and images a changed rule moves."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Counts
from ioukit.evaluation.analysis.outcomes import Outcome, outcomes
from ioukit.evaluation.curves import Curves
from ioukit.evaluation.summary import averaged, in_group, select
from ioukit.evaluation.table import MatchTable


class ClassMove(NamedTuple):
    """How a changed rule moves one class."""

    id: int
    """Its id; -1 for all classes as one."""
    name: str
    """Its name."""
    before: float
    """Its number by the old rule; NaN if it has no part in the mean."""
    after: float
    """Its number by the new rule; NaN if it has no part in the mean."""
    share: float
    """Its share of the difference. If n classes are in the mean before and after, it is ``(after - before) / n``. In
    general, it is ``after / n_after - before / n_before``, with 0 for a class that has no part in the mean. The shares
    of all classes add up to the difference."""


class ImageMove(NamedTuple):
    """How a changed rule moves one image: how many of its detections and objects get another outcome.

    All detections within the cap count, whatever their scores. The counts are means over the IoU thresholds.
    """

    image_id: int | str
    """Its id."""
    changed: float
    """How many detections and objects have another :class:`~ioukit.evaluation.Outcome`. With several IoU thresholds, a
    row counts by the part of the thresholds at which its outcomes differ: half the sum of the differences between the
    frequencies of its outcomes."""
    true_positives: float
    """The change of the number of true positives."""
    false_positives: float
    """The change of the number of false positives."""
    false_negatives: float
    """The change of the number of false negatives."""


class _Part(NamedTuple):
    """The part of a class in a number."""

    name: str
    value: float
    share: float


def class_moves(before: Curves, after: Curves) -> tuple[ClassMove, ...]:
    """The classes whose share in the number changes, those that move most first.

    It is empty if one of the two numbers is undefined.

    Args:
        before: Curves by the old rules, whose main measure is the number.
        after: Curves by the new rules.
    """
    old, new = _parts(before), _parts(after)
    if not old or not new:
        return ()
    moves = []
    for number in sorted(old.keys() | new.keys()):
        one, other = old.get(number), new.get(number)
        known = one or other
        assert known is not None
        share = (0.0 if other is None else other.share) - (0.0 if one is None else one.share)
        if share != 0:
            values = [math.nan if part is None else part.value for part in (one, other)]
            moves.append(ClassMove(number, known.name, values[0], values[1], share))
    return tuple(sorted(moves, key=lambda move: (-abs(move.share), move.id)))


def _parts(curves: Curves) -> dict[int, _Part]:
    """The classes in the mean, by id."""
    measure = curves.protocol.main_measure
    values = select(curves, measure)  # (T, R, K) or (T, K)
    categories = curves.categories.take(in_group(curves.categories, curves.protocol, measure.group))
    cells = np.moveaxis(values, -1, 0).reshape(len(categories), -1)
    cells = averaged(cells, curves.protocol)
    defined = ~np.isnan(cells)
    counts, totals = defined.sum(axis=1), np.where(defined, cells, 0.0).sum(axis=1)
    every = int(counts.sum())
    rows = zip(categories.ids.tolist(), categories.names, counts.tolist(), totals.tolist(), strict=True)
    return {number: _Part(name, total / count, total / every) for number, name, count, total in rows if count}


def image_moves(before: MatchTable, after: MatchTable) -> tuple[ImageMove, ...]:
    """The images with detections or objects whose outcome changes, those with most of them first.

    Args:
        before: The matches by the old rules.
        after: The matches of the same data by the new rules.
    """
    count = len(before.image_ids)
    changed = np.zeros(count)
    net = np.zeros((count, len(Outcome)))
    false_negatives = np.zeros(count)
    thresholds = [len(table.protocol.iou_thresholds) for table in (before, after)]
    scale = thresholds[0] * thresholds[1]
    first, second = _outcome_counts(before), _outcome_counts(after)
    for side, (old, new) in enumerate(zip(first, second, strict=True)):
        # Whole numbers, so that rows without a change are found exactly.
        difference = new * thresholds[0] - old * thresholds[1]  # (rows, outcomes)
        rows = np.flatnonzero(difference.any(axis=1))
        images = _images_of_rows(side, before, after)[rows]
        np.add.at(changed, images, np.abs(difference[rows]).sum(axis=1) / (2 * scale))
        if side == 0:
            np.add.at(net, images, difference[rows] / scale)
        else:
            np.add.at(false_negatives, images, difference[rows, Outcome.FALSE_NEGATIVE] / scale)
    order = np.lexsort((np.arange(count), -changed))[: int(np.count_nonzero(changed))]
    ids: list[Any] = before.image_ids[order].tolist()
    columns = (changed, net[:, Outcome.TRUE_POSITIVE], net[:, Outcome.FALSE_POSITIVE], false_negatives)
    return tuple(ImageMove(*row) for row in zip(ids, *(column[order].tolist() for column in columns), strict=True))


def _outcome_counts(table: MatchTable) -> tuple[Counts, Counts]:
    """At how many IoU thresholds each row of the detections, and of the ground truth, has each outcome."""
    thresholds = table.protocol.iou_thresholds
    objects, detections = (np.zeros((count, len(Outcome)), np.int64) for count in table.sources)
    for threshold in thresholds:
        became = outcomes(table, iou_threshold=threshold)
        detections[table.detections.row, became.detections] += 1
        objects[table.objects.row, became.objects] += 1
    for counts in (detections, objects):  # rows that the table leaves out
        counts[:, Outcome.NOT_COUNTED] += len(thresholds) - counts.sum(axis=1)
    return detections, objects


def _images_of_rows(side: int, *tables: MatchTable) -> npt.NDArray[np.int64]:
    """The position of the image of each row of the detections (side 0), or of the ground truth (side 1).

    It is -1 for rows that are in no table.
    """
    images = np.full(tables[0].sources[1 - side], -1)
    for table in tables:
        rows = table.objects if side else table.detections
        images[rows.row] = rows.image
    return images
