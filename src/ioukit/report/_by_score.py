"""What a report shows at each position of its score threshold: marks, matrix, errors, sizes and histograms.

A position is the place of a score threshold among the few hundred that the slider of the page has. Owns: from which
position each object and detection counts, is found, or stops being missed, and the counts of the page as differences
from one position to the next, so that the script adds and never matches.

Does not own: the outcomes, which `evaluation/analysis/outcomes_by_score.py` knows for every score; the confusion matrix
and the cost of errors, which are those of the library at the lowest threshold. The matrix needs no other threshold
either: its detections choose in the order of scores, too, so a lower score changes no match above it.

The limits below keep the page small. They are choices; the comments say what each is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

import numpy as np

from ioukit import _core
from ioukit._array_types import Floats, Rows
from ioukit._checks import check_threads
from ioukit.evaluation import ERROR_KINDS, confusion_matrix, error_kinds
from ioukit.evaluation.analysis.outcomes_by_score import (
    FALSE,
    NOT_COUNTED,
    TRUE,
    OutcomesByScore,
    Overlaps,
)
from ioukit.operating.reliability import place_of, reliability_of
from ioukit.postprocess.score_maps import checked_scores
from ioukit.report._texts import rounded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import ConfusionMatrix, ErrorKinds, MatchTable, NearPairs


_BACKGROUND, _LEFT_OUT = -1, -2  # in the place of an object of the matrix; the script has the same numbers

_MOST_STEPS = 120_000  # changes of cells: about a megabyte of the page
_MOST_ENTRIES = 60_000  # images in the lists of all cells
_LONGEST_LISTS = (100, 50, 25, 12, 6, 3, 1)

_SCORE_BINS = 25
_RELIABILITY_BINS = 10
_IOU_STEP = 0.05
_LOWEST_IOU = 0.1  # lower ones are not looked for


class MarkPositions:
    """From which position each detection counts and each object is found. ``P`` is the number of positions.

    Args:
        table: The matches.
        scores: (P,) the score thresholds, in descending order.
        iou_threshold: One of the protocol's IoU thresholds.
    """

    def __init__(self, table: MatchTable, scores: Floats, iou_threshold: float) -> None:
        self.table, self.scores = table, scores
        self.outcomes = OutcomesByScore(table, iou_threshold, None if table.near is None else Overlaps.of(table))
        """The outcomes at every score."""
        self.reach = self.position(table.detections.score)
        """(N,) the first position at which the score of each detection is high enough, whatever the cap."""
        self.counts_from = np.where(self.outcomes.kind == NOT_COUNTED, len(scores), self.reach)
        """(N,) the first position at which each detection counts, P for never."""
        self.found = self.position(self.outcomes.score)
        """(G,) the first position at which each object is found, P for never."""

    def position(self, scores: Floats) -> Rows:
        """The first position at which detections with each of some scores count; P for none."""
        return np.searchsorted(-self.scores, -scores, side="left").astype(np.int64)

    def new(self, positions: Rows) -> list[int]:
        """How many there are at each position; those outside of the positions are left out."""
        inside = positions[(positions >= 0) & (positions < len(self.scores))]
        counts: list[int] = np.bincount(inside, minlength=len(self.scores)).tolist()
        return counts


class ErrorPositions:
    """What the near pairs of a table say at every position: the pairs of the matrix, errors and overlaps.

    Args:
        marks: The positions of objects and detections; their table has near pairs.
        background: The IoU below which a detection is on background.
        threads: How many threads; all cores if ``None``.
    """

    def __init__(self, marks: MarkPositions, *, background: float, threads: int | None) -> None:
        table, known, count = marks.table, marks.outcomes, len(marks.scores)
        iou, lowest = known.iou_threshold, float(marks.scores[-1])
        matrix = confusion_matrix(table, iou_threshold=iou, score_threshold=lowest, threads=threads)
        self.confusion: ConfusionMatrix = matrix
        """The matrix at the lowest threshold."""
        self.pair = np.full(len(table), _LEFT_OUT)
        """(N,) row of the object that each detection matches in the matrix; -1: the background, -2: not in it."""
        entries = np.flatnonzero(matrix.detection >= 0)
        self.pair[matrix.detection[entries]] = matrix.object[entries]
        self.paired = np.full(len(table.objects), -1)
        """(G,) the first position at which each object has a match in the matrix, P for never; -1 if it is left out."""
        self.paired[matrix.object[matrix.object >= 0]] = count
        with_object = np.flatnonzero(self.pair >= 0)
        self.paired[self.pair[with_object]] = marks.reach[with_object]
        self.error = known.error
        """(N,) position in ERROR_KINDS of each detection, their number for none."""
        self.errors: ErrorKinds = error_kinds(
            table, iou_threshold=iou, background_threshold=background, threads=threads
        )
        """How many errors of each kind there are, and what they cost."""
        self.covered = np.where(known.ignored, -1, marks.position(known.accounted))
        """(G,) the first position at which a detection finds each object or is an error of localisation or
        classification of it, P for never: until then it is missed. -1 for an object that does not count."""
        self.partner: Rows = np.where(known.partner >= 0, known.partner, known.error_object).astype(np.int64)
        """(N,) row of the object that each detection matches or that its error is about; -1 for none."""
        pairs = table.near
        assert pairs is not None
        highest = np.zeros(len(table))
        np.maximum.at(highest, pairs.detection, pairs.iou)
        self.iou = np.where(self.partner >= 0, _iou_of(pairs, self.partner), highest)
        """(N,) IoU of each detection with its partner, otherwise the highest IoU with any object; 0 if the near pairs
        do not list one."""
        self.iou[known.matched_detection] = table.pairs.iou[known.matched_pair]
        self.pair_iou = _iou_of(pairs, self.pair)
        """(N,) IoU of each detection with the object that it matches in the matrix, 0 for none."""


def _iou_of(near: NearPairs, objects: Rows) -> Floats:
    """(N,) IoU of each detection with one object; 0 for a negative one or a pair that is not listed."""
    wanted = objects[near.detection] == near.object
    found = np.zeros(len(objects))
    found[near.detection[wanted]] = near.iou[wanted]
    return found


class Counts(TypedDict):
    """True and false positives: how many are in each bin."""

    tp: list[int]
    fp: list[int]


class SizeCounts(TypedDict):
    """An area range: its objects, and the true and false positives that are new at each position."""

    n: int
    tp: list[int]
    fp: list[int]


class NewErrors(TypedDict):
    """Errors at each position."""

    new: list[list[int]]
    """The errors that are new, of each kind but missed objects."""
    objects: int
    """The objects that are missed before the first position."""
    gone: list[int]
    """Those that no longer are."""


class ScoreHistogram(TypedDict):
    """True and false positives in ranges of the score, from ``low`` to ``high``."""

    low: float
    high: float
    rows: list[Counts]
    """Of all classes together, then of each one."""


class IouHistogram(TypedDict):
    """True and false positives in ranges of the IoU: for each range, those that are new at each position."""

    edges: list[float]
    tp: list[list[int]]
    fp: list[list[int]]


class Reliability(TypedDict):
    """The reliability diagram: in ranges of the score, its mean and the share of true positives."""

    edges: list[float]
    counts: list[int]
    score: list[float | None]
    precision: list[float | None]
    dece: float
    """The detection expected calibration error."""


def sizes_by_score(marks: MarkPositions) -> list[SizeCounts]:
    """For each area range its objects, and the true and false positives that are new at each position."""
    table, iou = marks.table, marks.outcomes.iou_threshold
    rows: list[SizeCounts] = []
    for k, area in enumerate(table.protocol.area_ranges):
        # Area ranges share the cap on detections, so those beyond it are left out in each.
        counts = (marks.counts_from < len(marks.scores)) & ~table.is_ignored(iou, area.label)
        right = counts & table.is_true_positive(iou, area.label)
        tp, fp = (marks.new(marks.counts_from[chosen]) for chosen in (right, counts & ~right))
        rows.append({"n": int(table.num_objects[:, k].sum()), "tp": tp, "fp": fp})
    return rows


def errors_by_score(marks: MarkPositions, near: ErrorPositions) -> NewErrors:
    """The errors of each kind that are new at each position; for missed objects, those that no longer are."""
    kind = near.error
    new = [marks.new(marks.counts_from[kind == number]) for number in range(len(ERROR_KINDS) - 1)]
    return {"new": new, "objects": int((near.covered >= 0).sum()), "gone": marks.new(near.covered)}


def score_histogram(marks: MarkPositions) -> ScoreHistogram | None:
    """True and false positives in ranges of the score, of all classes and of each one; ``None`` without any."""
    table, kind = marks.table, marks.outcomes.kind
    rows = np.flatnonzero((kind == TRUE) | (kind == FALSE))
    if not len(rows):
        return None
    score = table.detections.score[rows]
    low, high = (0.0, 1.0) if score.min() >= 0 and score.max() <= 1 else (float(score.min()), float(score.max()))
    if not np.isfinite(high - low) or high <= low:
        return None
    place = np.minimum(((score - low) / (high - low) * _SCORE_BINS).astype(np.int64), _SCORE_BINS - 1)
    category = table.evaluated_category(table.detections.category[rows]).astype(np.int64)
    count = table.num_objects.shape[0]
    flat = (category * 2 + (kind[rows] == FALSE)) * _SCORE_BINS + place
    counts = np.bincount(flat, minlength=count * 2 * _SCORE_BINS).reshape(count, 2, _SCORE_BINS)
    every = np.concatenate([counts.sum(axis=0, keepdims=True), counts])
    return {"low": low, "high": high, "rows": [{"tp": tp, "fp": fp} for tp, fp in every.tolist()]}


def iou_histogram(marks: MarkPositions, near: ErrorPositions) -> IouHistogram:
    """True and false positives in ranges of the IoU, those that are new at each position."""
    edges = [0.0, *(round(_LOWEST_IOU + _IOU_STEP * k, 2) for k in range(round((1 - _LOWEST_IOU) / _IOU_STEP) + 1))]
    place = np.clip(np.searchsorted(edges, near.iou, side="right") - 1, 0, len(edges) - 2)

    def new_of(kind: int) -> list[list[int]]:
        of_kind = marks.outcomes.kind == kind
        return [marks.new(marks.counts_from[of_kind & (place == number)]) for number in range(len(edges) - 1)]

    return {"edges": edges, "tp": new_of(TRUE), "fp": new_of(FALSE)}


def reliability(table: MatchTable, *, iou: float, area: str) -> Reliability | str:
    """The reliability diagram, or the reason why there is none."""
    rows = np.flatnonzero(~table.is_ignored(iou, area))
    try:
        score = checked_scores(table.detections.score[rows])
    except ValueError:
        return "Scores outside of 0 to 1 cannot be compared with shares."
    if not len(score):
        return "There are no detections to compare with their scores."
    found = table.is_true_positive(iou, area)[rows]
    shown = reliability_of(score, found, place_of(score, _RELIABILITY_BINS), _RELIABILITY_BINS)
    filled = shown.counts > 0
    distance = np.abs(shown.mean_scores - shown.precision)[filled]
    error = float((distance * shown.counts[filled]).sum() / shown.counts.sum())
    return {
        "edges": np.round(shown.edges, 6).tolist(),
        "counts": shown.counts.tolist(),
        "score": rounded(shown.mean_scores),
        "precision": rounded(shown.precision),
        "dece": round(error, 5),
    }


@dataclass(frozen=True)
class Entries:
    """A list of images that a cell or a kind of error leads to."""

    image: Rows
    """(L,) positions of images in the match table."""
    position: Rows
    """(L,) the position from which a detection counts, or to which an object is missed."""


@dataclass(frozen=True)
class Matrix:
    """The matrix of a page."""

    objects: list[int]
    """The objects of each class."""
    floor: int
    """The last position at which the cells are known."""
    cells: list[dict[str, Any]]
    """For each cell that is not empty at some position: ``true``, ``predicted`` and ``steps``, a flat list of
    positions, each as the difference from the one before, and the entries that are new there. The cells of missed
    objects follow from the others and have no steps."""
    lists: list[Entries]
    """The images of each cell."""

    def most_confused(self, position: int, most: int) -> list[Entries]:
        """The images of the most frequent pairs of two classes at a position, the most frequent first."""
        background, found = len(self.objects), list[tuple[int, int]]()
        for place, cell in enumerate(self.cells):
            if cell["true"] != cell["predicted"] and max(cell["true"], cell["predicted"]) < background:
                gaps, new = np.array(cell["steps"]).reshape(-1, 2).T
                found.append((-int(new[np.cumsum(gaps) <= position].sum()), place))
        return [self.lists[place] for count, place in sorted(found)[:most] if count]


def matrix_by_score(marks: MarkPositions, near: ErrorPositions, start: int, threads: int | None) -> Matrix:
    """The matrix at every position.

    Args:
        marks: The positions of objects and detections.
        near: What the near pairs say.
        start: The position that must be known.
        threads: How many threads; all cores if ``None``.
    """
    confusion, positions = near.confusion, len(marks.scores)
    background = len(confusion.categories)
    size = background + 1
    with_object = np.flatnonzero(confusion.object >= 0)
    objects = np.bincount(confusion.true[with_object], minlength=size)[:background]
    rows = np.flatnonzero(confusion.detection >= 0)
    position = marks.reach[confusion.detection[rows]]
    rows, position = rows[position < positions], position[position < positions]
    cell = confusion.true[rows] * size + confusion.predicted[rows]
    # By cell, and the highest scores of each cell first.
    order, _ = _core.order_by_category(
        cell.astype(np.uint32), -position.astype(np.float64), size * size, check_threads(threads)
    )
    step = (cell * positions + position)[order]
    first = np.flatnonzero(np.diff(step, prepend=-1))
    behind = np.append(first[1:], len(step))[: len(first)]
    changed, at = np.divmod(step[first], positions)
    below = np.cumsum(np.bincount(at, minlength=positions))
    floor = max(int(np.searchsorted(below, _MOST_STEPS, side="right")) - 1, start)
    kept = at <= floor
    changed, at, first, behind = changed[kept], at[kept], first[kept], behind[kept]
    starts = np.flatnonzero(np.diff(changed, prepend=-1))
    ends = np.append(starts[1:], len(at))[: len(starts)]
    gaps = np.diff(at, prepend=0)
    gaps[starts] = at[starts]
    flat: list[int] = np.column_stack([gaps, behind - first]).ravel().tolist()
    cells: list[dict[str, Any]] = []
    for number, begin, end in zip(changed[starts].tolist(), starts.tolist(), ends.tolist(), strict=True):
        true, predicted = divmod(number, size)
        cells.append({"true": true, "predicted": predicted, "steps": flat[2 * begin : 2 * end]})
    cells += [{"true": true, "predicted": background} for true in np.flatnonzero(objects).tolist()]

    gone = near.paired[confusion.object[with_object]]
    late = np.lexsort((-gone, confusion.true[with_object]))
    missed = objects[objects > 0]
    of_cell, of_missed = _heads(first[starts], behind[ends - 1]), _heads(np.cumsum(missed) - missed, np.cumsum(missed))
    images = confusion.image[np.concatenate([rows[order[of_cell.rows]], with_object[late[of_missed.rows]]])]
    places = np.concatenate([step[of_cell.rows] % positions, gone[late[of_missed.rows]]])
    lengths = [*of_cell.lengths, *of_missed.lengths]
    most, lists, begin = _longest(lengths), list[Entries](), 0
    for length in lengths:
        chosen = slice(begin, begin + min(length, most))
        lists.append(Entries(images[chosen], places[chosen]))
        begin += length
    return Matrix(objects.tolist(), floor, cells, lists)


def error_entries(marks: MarkPositions, near: ErrorPositions) -> list[Entries]:
    """The images of each kind of error, in the order of ``ERROR_KINDS``, those with the highest scores first."""
    table, most = marks.table, _LONGEST_LISTS[0]
    lists = []
    for kind in range(len(ERROR_KINDS) - 1):
        rows = np.flatnonzero(near.error == kind)
        position = marks.counts_from[rows]
        rows, position = rows[position < len(marks.scores)], position[position < len(marks.scores)]
        # Only the best of millions are sorted.
        if len(rows) > most:
            kept = position <= np.partition(position, most)[most]
            rows, position = rows[kept], position[kept]
        order = np.argsort(position, kind="stable")[:most]
        lists.append(Entries(table.detections.image[rows[order]].astype(np.int64), position[order]))
    missed = np.flatnonzero(near.covered > 0)
    missed = missed[np.argsort(-near.covered[missed], kind="stable")][:most]
    return [*lists, Entries(table.objects.image[missed].astype(np.int64), near.covered[missed])]


class _Heads(NamedTuple):
    """The first rows of each of some lists, one list after another."""

    rows: Rows
    lengths: list[int]


def _heads(begin: Rows, end: Rows) -> _Heads:
    """The first rows of lists that begin and end at some rows."""
    lengths = np.minimum(end - begin, _LONGEST_LISTS[0])
    before = np.cumsum(lengths) - lengths
    return _Heads(np.arange(lengths.sum()) + np.repeat(begin - before, lengths), lengths.tolist())


def _longest(lengths: Sequence[int]) -> int:
    """How long the lists may be, so that all together are short enough for a page."""
    return next((most for most in _LONGEST_LISTS if sum(min(length, most) for length in lengths) <= _MOST_ENTRIES), 1)
