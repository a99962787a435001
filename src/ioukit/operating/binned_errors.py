"""Calibration errors of detections over ranges of scores, and their values in replicates of the bootstrap."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Evaluation, MatchTable, match
from ioukit.operating.calibration_records import KEYS, CalibrationErrors, Reliability
from ioukit.operating.rules import quotient
from ioukit.operating.sweeps import Scene, scene_of
from ioukit.postprocess import OperatingPoints
from ioukit.postprocess.score_maps import checked_scores
from ioukit.statistics import Interval

__all__ = ["Judged", "basic_interval", "judged", "matched_anywhere", "measured"]

Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.intp]

_ANY_OVERLAP = 1e-9
"""The IoU of a match for LaECE0, whose source asks for any overlap."""


@dataclass(frozen=True, eq=False)
class Judged:
    """Detections that are true or false positives, with what their scores should say."""

    scene: Scene
    rows: Rows
    """(n,) rows of the table."""
    score: Floats
    """(n,) within [0, 1]."""
    found: Floats
    """(n,) 1 for true positives, 0 for false positives."""
    iou: Floats
    """(n,) the IoU of true positives, 0 for false positives."""

    @property
    def image(self) -> Rows:
        """(n,) positions of images."""
        return self.scene.image[self.rows]

    @property
    def category(self) -> Rows:
        """(n,) positions of classes."""
        return self.scene.category[self.rows]

    def with_scores(self, scores: Floats) -> Judged:
        """The same with other scores, given (N,) for all rows of the table."""
        return dataclasses.replace(self, score=scores[self.rows])


def judged(scene: Scene, points: OperatingPoints | None = None) -> Judged:
    """The detections that are true or false positives, and that operating points keep.

    Raises:
        ValueError: If a score is outside of [0, 1], or the points lack a class.
    """
    table, rows = scene.table, np.flatnonzero(scene.counts)
    if points is not None:
        ids = table.categories.ids[table.detections.category[rows]]
        rows = rows[points.apply(scene.score[rows], ids).keep]
    found = scene.found[rows]
    iou = table.matched_iou(scene.iou_threshold, scene.area_range)[rows]
    return Judged(scene, rows, checked_scores(scene.score[rows]), found.astype(np.float64), np.where(found, iou, 0.0))


def matched_anywhere(
    evaluated: Evaluation | MatchTable, area_range: str, points: OperatingPoints | None = None
) -> Judged | None:
    """The detections of the data matched again, with any overlap as a match; ``None`` without data."""
    if not isinstance(evaluated, Evaluation) or evaluated.ground_truth is None or evaluated.detections is None:
        return None
    known = evaluated.matches
    table = match(
        evaluated.ground_truth,
        evaluated.detections,
        known.protocol.replace(iou_thresholds=(_ANY_OVERLAP,)),
        iou_type=known.iou_type,
        categories=known.categories.ids.tolist(),
        images=known.image_ids,
    )
    return judged(scene_of(table, _ANY_OVERLAP, area_range), points)


def measured(
    first: Judged, anywhere: Judged | None, bins: int, weights: npt.NDArray[np.integer], level: float
) -> tuple[CalibrationErrors, dict[str, Floats]]:
    """The errors of detections, and their values in each replicate.

    Args:
        first: The detections.
        anywhere: The same, matched at any overlap; ``None`` if LaECE0 is not to be computed.
        bins: The number of ranges of scores.
        weights: (B, I) how often each image stands in each replicate.
        level: Of the intervals.
    """
    place = _place_of(first.score, bins)
    whole = np.ones((1, first.scene.num_images), np.uint16)
    values = {key: float(each[0]) for key, each in _errors(first, anywhere, bins, whole).items()}
    drawn = _errors(first, anywhere, bins, weights)
    intervals = {key: basic_interval(values[key], drawn[key], key, level, low=0.0) for key in KEYS if len(weights)}
    return (
        CalibrationErrors(
            values["D-ECE"],
            values["LaECE"],
            values["LaECE0"],
            values["Brier"],
            _per_class(first, anywhere, bins),
            intervals,
            _reliability(first, place, bins, weights, level),
            len(first.score),
            bins,
            first.scene.iou_threshold,
        ),
        drawn,
    )


def _errors(first: Judged, anywhere: Judged | None, bins: int, weights: npt.NDArray[np.integer]) -> dict[str, Floats]:
    """(B,) each error in each replicate."""
    undefined = np.full(len(weights), np.nan)
    squares = (first.score - first.found) ** 2
    brier = np.full(len(weights), np.nan)
    image = first.image
    for at, row in enumerate(weights):
        each = row[image].astype(np.float64)
        if (total := each.sum()) > 0:
            brier[at] = np.dot(each, squares) / total
    return {
        "D-ECE": _binned(first, first.found, bins, weights, per_class=False)[:, 0],
        "LaECE": _mean_of_classes(first, bins, weights),
        "LaECE0": undefined if anywhere is None else _mean_of_classes(anywhere, bins, weights),
        "Brier": brier,
    }


def _mean_of_classes(judged: Judged, bins: int, weights: npt.NDArray[np.integer]) -> Floats:
    """(B,) LaECE: the mean over the classes that have objects and detections in a replicate."""
    errors = _binned(judged, judged.iou, bins, weights, per_class=True)
    scene = judged.scene
    classes = len(scene.categories)
    for at, row in enumerate(weights):
        objects = np.bincount(scene.object_category, row[scene.object_image], classes)
        errors[at, objects == 0] = np.nan
    there = ~np.isnan(errors)
    return quotient(np.where(there, errors, 0.0).sum(axis=1), there.sum(axis=1))


def _binned(judged: Judged, target: Floats, bins: int, weights: npt.NDArray[np.integer], *, per_class: bool) -> Floats:
    """(B, 1) or (B, K) the binned error of all detections, or of each class; NaN without detections.

    A range adds ``n / N |mean score - mean target|``, which is ``|sum of scores - sum of targets| / N``.
    """
    classes = len(judged.scene.categories) if per_class else 1
    key = _place_of(judged.score, bins) + (judged.category * bins if per_class else 0)
    image, apart = judged.image, judged.score - target
    found = np.full((len(weights), classes), np.nan)
    for at, row in enumerate(weights):
        each = row[image].astype(np.float64)
        sums = np.bincount(key, each * apart, classes * bins).reshape(classes, bins)
        counts = np.bincount(key, each, classes * bins).reshape(classes, bins).sum(axis=1)
        found[at] = quotient(np.abs(sums).sum(axis=1), counts)
    return found


def _per_class(first: Judged, anywhere: Judged | None, bins: int) -> dict[int, dict[str, float]]:
    scene = first.scene
    whole = np.ones((1, scene.num_images), np.uint16)
    classes = len(scene.categories)
    counts = np.bincount(first.category, minlength=classes)
    squares = np.bincount(first.category, (first.score - first.found) ** 2, classes)
    columns = {
        "D-ECE": _binned(first, first.found, bins, whole, per_class=True)[0],
        "LaECE": _binned(first, first.iou, bins, whole, per_class=True)[0],
        "LaECE0": np.full(classes, np.nan)
        if anywhere is None
        else _binned(anywhere, anywhere.iou, bins, whole, per_class=True)[0],
        "Brier": quotient(squares, counts),
    }
    objects = np.bincount(scene.object_category, minlength=classes)
    return {
        number: {key: float(column[at]) for key, column in columns.items()}
        for at, number in enumerate(scene.categories.ids.tolist())
        if counts[at] and objects[at]
    }


def _reliability(first: Judged, place: Rows, bins: int, weights: npt.NDArray[np.integer], level: float) -> Reliability:
    counts = np.bincount(place, minlength=bins)
    precision = quotient(np.bincount(place, first.found, bins), counts)
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    if len(weights):
        image = first.image
        drawn = np.empty((len(weights), bins))
        for at, row in enumerate(weights):
            each = row[image].astype(np.float64)
            drawn[at] = quotient(np.bincount(place, each * first.found, bins), np.bincount(place, each, bins))
        for at in np.flatnonzero(counts).tolist():
            defined = drawn[~np.isnan(drawn[:, at]), at]
            if len(defined) > 1:
                low[at], high[at] = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Reliability(
        np.linspace(0, 1, bins + 1), counts.astype(np.int64), quotient(np.bincount(place, first.score, bins), counts),
        precision, low, high, level,
    )  # fmt: skip


def _place_of(score: Floats, bins: int) -> Rows:
    """(n,) the range of each score: of those between edges a and b, it is above a and at most b; 0 is in the first."""
    return np.clip(np.searchsorted(np.linspace(0, 1, bins + 1), score, side="left") - 1, 0, bins - 1)


def basic_interval(value: float, drawn: Floats, key: str, level: float, *, low: float) -> Interval:
    """The basic bootstrap interval, ``2 value - quantile``, with limits of at least ``low``."""
    defined = drawn[~np.isnan(drawn)]
    share = 1 - len(defined) / len(drawn) if len(drawn) else math.nan
    if math.isnan(value) or len(defined) < 2:
        return Interval(key, value, math.nan, math.nan, level, math.nan, "basic", len(drawn), share)
    above, below = np.quantile(defined, [(1 + level) / 2, (1 - level) / 2])
    limits = (max(2 * value - float(above), low), max(2 * value - float(below), low))
    return Interval(key, value, *limits, level, float(np.std(defined, ddof=1)), "basic", len(drawn), share)
