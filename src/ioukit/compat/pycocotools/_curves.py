"""`accumulate`: from matches to the arrays of `eval`.

Owns the layout of the arrays, what -1 and 0 mean in them, and what pycocotools does with parameters that differ from
those of `evaluate`: it takes the results at the same positions. Does not own the curves themselves, which the core
draws (`accumulate`), nor the matches.
There are two doors, because programs may replace `evalImgs`: `curves_of_match` reads the table of the engine, and
`curves_of_entries` any list of dictionaries. Both end in `_drawn`.
What the core does not know is prepared for it: caps and recalls in any order are sorted, and put back afterwards;
scores that are NaN are replaced by their ranks; a recall that is NaN is never reached, nor is any behind it.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ioukit import _core
from ioukit._array_types import Floats
from ioukit._boundary import DrawingColumns, OutcomeColumns
from ioukit.compat.pycocotools._matching import Matched
from ioukit.compat.pycocotools._sides import places_among
from ioukit.evaluation.curves import CurveSteps

__all__ = ["Arrays", "curves_of_entries", "curves_of_match"]

Record = dict[str, Any]


class Arrays(NamedTuple):
    """What `eval` holds; -1 where there is nothing to find."""

    counts: list[int]
    """Thresholds, recalls, categories, area ranges, caps."""
    precision: Floats
    """(T, R, K, A, M)."""
    recall: Floats
    """(T, K, A, M)."""
    scores: Floats
    """(T, R, K, A, M)."""


class _Outcomes(NamedTuple):
    """Outcomes of detections, best first in each image; curves are numbered."""

    curve: NDArray[np.uint32]
    """(N,) the curve that each detection belongs to."""
    rank: NDArray[np.uint32]
    """(N,) its place on its image."""
    score: Floats
    matched: NDArray[np.uint8]
    """(N, A, B) thresholds as bits."""
    ignored: NDArray[np.uint8]
    objects: NDArray[np.uint64]
    """(C, A) objects to find."""
    thresholds: int


def curves_of_match(matched: Matched, params: Any) -> Arrays:
    """The arrays of what the engine matched, by the same parameters."""
    rows, objects = matched.detection_rows, matched.object_rows
    ranges = len(matched.rules.area_ranges)
    found = np.zeros((matched.group_count, ranges), np.uint64)
    for place in range(ranges):
        counts = objects["category"][(objects["ignored"][:, place // 8] >> (place % 8) & 1) == 0]
        found[:, place] = np.bincount(counts, minlength=matched.group_count)
    thresholds = int(matched.order.max()) + 1
    outcomes = _Outcomes(
        rows["category"], rows["rank"], rows["score"], rows["matched"], rows["ignored"], found, thresholds
    )
    precision, recall, scores = _drawn(outcomes, params.recThrs, params.maxDets)
    counts = [len(params.iouThrs), len(params.recThrs), matched.group_count, ranges, len(params.maxDets)]
    if (np.diff(matched.order) != 1).any():
        precision, recall, scores = (one[:, :, :, matched.order] for one in (precision, recall, scores))
    return _arranged(counts, precision, recall, scores, found)


def curves_of_entries(entries: Sequence[Any], params: Any, evaluated: Any) -> Arrays:
    """The arrays of `evalImgs`, wherever they come from.

    Args:
        entries: The dictionaries by category, area range and image, in this order.
        params: The parameters whose arrays are wanted.
        evaluated: The parameters that the entries were made by. As in pycocotools, a category, area range or image of
            `params` that `evaluated` has, too, gets the results at its position in `params`. Where that takes the
            results of another one, a warning says so.
    """
    categories = evaluated.catIds if evaluated.useCats else [-1]
    ranges = [tuple(one) for one in params.areaRng]
    chosen = [
        _places(params.catIds, categories),
        _places(ranges, [tuple(one) for one in evaluated.areaRng]),
        _places(params.imgIds, evaluated.imgIds),
    ]
    _warn_about_places(
        (params.catIds, ranges, params.imgIds), (categories, evaluated.areaRng, evaluated.imgIds), chosen
    )
    caps = [cap for cap in params.maxDets if cap in set(evaluated.maxDets)]
    shape = (len(params.catIds) if params.useCats else 1, len(ranges), len(params.maxDets))
    size, recalls = len(params.iouThrs), len(params.recThrs)
    counts = [size, recalls, *shape]
    arrays = Arrays(
        counts, -np.ones((size, recalls, *shape)), -np.ones((size, *shape)), -np.ones((size, recalls, *shape))
    )
    images = len(evaluated.imgIds)
    if not caps:
        return arrays
    curves = []
    for k in chosen[0]:
        for a in chosen[1]:
            of_images = (entries[(k * len(evaluated.areaRng) + a) * images + i] for i in chosen[2])
            found = [entry for entry in of_images if entry is not None]
            # Asked for here, so that a wrong entry ends it before others are looked up, as in pycocotools.
            curves.append((found, [np.asarray(entry["dtScores"]) for entry in found]))
    outcomes = _outcomes(curves)
    if outcomes is not None and np.isin(outcomes.score, (0.0, 1.0)).any():
        _refuse_booleans([entries for entries, _ in curves], caps)
    if outcomes is None or not outcomes.objects.any():
        return arrays
    if outcomes.thresholds > size:
        raise IndexError(f"evalImgs have {outcomes.thresholds} thresholds, but p.iouThrs has {size}: evaluate() again")
    drawn = _drawn(outcomes, params.recThrs, caps)
    inner = [outcomes.thresholds, recalls, len(chosen[0]), len(chosen[1]), len(caps)]
    precision, recall, scores = (one.reshape(len(chosen[0]), len(chosen[1]), *one.shape[2:]) for one in drawn)
    part = _arranged(inner, precision, recall, scores, outcomes.objects.reshape(len(chosen[0]), len(chosen[1])))
    t, _, k, a, m = inner
    arrays.precision[:t, :, :k, :a, :m] = part.precision
    arrays.recall[:t, :k, :a, :m] = part.recall
    arrays.scores[:t, :, :k, :a, :m] = part.scores
    return arrays


def _places(values: Sequence[Any], known: Sequence[Any]) -> list[int]:
    """Positions of the values that are known."""
    there = set(known)
    return [place for place, value in enumerate(values) if value in there]


def _warn_about_places(wanted: Sequence[Any], entries: Sequence[Any], chosen: Sequence[list[int]]) -> None:
    for name, values, known, places in zip(("catIds", "areaRng", "imgIds"), wanted, entries, chosen, strict=True):
        there = [tuple(value) if isinstance(value, list | np.ndarray) else value for value in known]
        if any(tuple(values[place : place + 1]) != tuple(there[place : place + 1]) for place in places):
            warnings.warn(
                f"accumulate(p): {name} of p and of evaluate() differ. As in pycocotools, the results at the same "
                "positions are taken, which are those of others. Set the parameters, then call evaluate() again",
                stacklevel=4,
            )


def _outcomes(curves: list[tuple[list[Any], list[Any]]]) -> _Outcomes | None:
    """The outcomes of lists of entries and of their scores; ``None`` if there are no entries."""
    every = [entry for entries, _ in curves for entry in entries]
    if not every:
        return None
    scores = [one for _, scores in curves for one in scores]
    lengths = np.array([len(one) for one in scores], np.int64)
    curve = np.repeat(np.arange(len(curves)), [len(entries) for entries, _ in curves])
    matches = np.concatenate([entry["dtMatches"] for entry in every], axis=1)
    ignores = np.concatenate([entry["dtIgnore"] for entry in every], axis=1)
    flags = np.concatenate([entry["gtIgnore"] for entry in every])
    of_objects = np.repeat(curve, [len(entry["gtIgnore"]) for entry in every])
    ends = np.cumsum(lengths)
    return _Outcomes(
        np.repeat(curve, lengths).astype(np.uint32),
        (np.arange(ends[-1]) - np.repeat(ends - lengths, lengths)).astype(np.uint32),
        np.concatenate(scores).astype(np.float64),
        _sets(matches),
        _sets(ignores),
        np.bincount(of_objects[flags == 0], minlength=len(curves)).astype(np.uint64)[:, None],
        len(matches),
    )


def _refuse_booleans(curves: list[list[Any]], caps: Sequence[Any]) -> None:
    """Raise NumPy's error where the scores of a curve within a cap are all true or false, as pycocotools does."""
    lists = [[entry["dtScores"] for entry in entries] for entries in curves if entries]
    if any(isinstance(score, bool | np.bool_) for of_curve in lists for scores in of_curve for score in scores):
        for of_curve in lists:
            for cap in caps:
                np.negative(np.concatenate([scores[0:cap] for scores in of_curve]))


def _sets(flags: NDArray[Any]) -> NDArray[np.uint8]:
    """(N, 1, B) the rows of (T, N) flags as bits."""
    bits = np.packbits(flags != 0, axis=0, bitorder="little")
    return np.ascontiguousarray(bits.T)[:, None]


def _drawn(outcomes: _Outcomes, recalls: Any, caps: Any) -> tuple[Floats, Floats, Floats]:
    """(C, A, M, T, R) precision, (C, A, M, T) recall and (C, A, M, T, R) scores; NaN where there is nothing to find."""
    wanted = np.asarray(recalls, np.float64)
    limits, of_cap = places_among(np.asarray(caps))
    if limits[0] < 0:
        raise ValueError(f"maxDets must be at least 0, got {limits[0]}")
    order = np.argsort(wanted, kind="stable")
    scores = outcomes.score
    best_first = None
    if np.isnan(scores).any():  # sorted by NumPy, which puts NaN last; numbers of places stand for the scores
        best_first = np.lexsort((np.arange(len(scores)), -scores))
        scores = np.empty(len(scores))
        scores[best_first] = -1.0 - np.arange(len(scores))
    found = _core.accumulate(
        OutcomeColumns(outcomes.curve, outcomes.rank, scores, outcomes.matched, outcomes.ignored, outcomes.objects),
        DrawingColumns(
            num_thresholds=outcomes.thresholds,
            recall_thresholds=np.clip(wanted[order], -1.0, 2.0),  # no recall is above 1
            caps=limits.astype(np.uint32),
            caps_over_all_images=False,
            plain_precision=False,
            integral="recalls",
        ),
        0,
    )
    steps, recall = CurveSteps.joined([found]), found["recall"]
    places = np.arange(recall.size).reshape(recall.shape)
    precision, reached = (steps.points(name, recall, places, len(wanted)) for name in ("precision", "scores"))
    reached[:, :, limits == 0] = 0.0  # a cap of 0 leaves no detection whose score could be told
    if (np.diff(of_cap) != 1).any():
        precision, recall, reached = (one[:, :, of_cap] for one in (precision, recall, reached))
    if best_first is not None:
        # 0 is a recall that is not reached.
        known = np.concatenate([np.zeros(1), outcomes.score[best_first]])
        places = np.where(np.isnan(reached), 0, -reached).astype(np.int64)
        reached = np.where(np.isnan(reached), np.nan, known[places])
    if (np.diff(order) != 1).any() or np.isnan(wanted).any():
        # pycocotools stops at the first recall that is not reached, so those behind it are 0, too.
        back = np.argsort(order, kind="stable")
        within = np.logical_and.accumulate(wanted <= recall[..., None], axis=-1)
        precision, reached = (np.where(within, one[..., back], 0.0) for one in (precision, reached))
    return precision, recall, reached


def _arranged(
    counts: list[int], precision: Floats, recall: Floats, scores: Floats, objects: NDArray[np.uint64]
) -> Arrays:
    """The arrays in pycocotools' layout, -1 where there is no object to find."""
    nothing = objects == 0
    for one in (precision, recall, scores):
        one[nothing] = -1.0
    return Arrays(
        counts,
        np.ascontiguousarray(precision.transpose(3, 4, 0, 1, 2)),
        np.ascontiguousarray(recall.transpose(3, 0, 1, 2)),
        np.ascontiguousarray(scores.transpose(3, 4, 0, 1, 2)),
    )
