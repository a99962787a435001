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

__all__ = ["Judged", "basic_interval", "judged", "matched_anywhere", "measured", "pooled_reliability"]

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
    columns = np.stack([(first.score - first.found) ** 2, np.ones(len(first.score))], axis=1)
    squares, total = _weighted(first.image, columns, weights).T
    undefined = np.full(len(weights), np.nan)
    return {
        "D-ECE": _binned(first, first.found, bins, weights),
        "LaECE": _mean_of_classes(first, bins, weights),
        "LaECE0": undefined if anywhere is None else _mean_of_classes(anywhere, bins, weights),
        "Brier": quotient(squares, total),
    }


def _mean_of_classes(judged: Judged, bins: int, weights: npt.NDArray[np.integer]) -> Floats:
    """(B,) LaECE: the mean over the classes that have objects and detections in a replicate."""
    scene = judged.scene
    total, classes = np.zeros(len(weights)), np.zeros(len(weights))
    for at in range(len(scene.categories)):
        objects = scene.object_image[scene.object_category == at]
        errors = _binned(judged, judged.iou, bins, weights, category=at)
        there = ~np.isnan(errors) & (_weighted(objects, np.ones((len(objects), 1)), weights)[:, 0] > 0)
        total[there] += errors[there]
        classes += there
    return quotient(total, classes)


def _binned(
    judged: Judged, target: Floats, bins: int, weights: npt.NDArray[np.integer], *, category: int | None = None
) -> Floats:
    """(B,) the binned error of all detections, or of a class; NaN without detections.

    A range adds ``n / N |mean score - mean target|``, which is ``|sum of scores - sum of targets| / N``.
    """
    rows = slice(None) if category is None else np.flatnonzero(judged.category == category)
    score = judged.score[rows]
    columns = np.zeros((len(score), bins + 1))
    columns[np.arange(len(score)), _place_of(score, bins)] = score - target[rows]
    columns[:, -1] = 1
    sums = _weighted(judged.image[rows], columns, weights)
    return quotient(np.abs(sums[:, :-1]).sum(axis=1), sums[:, -1])


def _weighted(image: Rows, columns: Floats, weights: npt.NDArray[np.integer]) -> Floats:
    """(B, C) sums of (n, C) columns in each replicate, by way of the sums of each image."""
    images, at = np.unique(image, return_inverse=True)
    order = np.argsort(at, kind="stable")
    starts = np.searchsorted(at[order], np.arange(len(images)))
    sums = np.add.reduceat(columns[order], starts, axis=0) if len(images) else np.zeros((0, columns.shape[1]))
    return weights[:, images].astype(np.float64) @ sums


def _per_class(first: Judged, anywhere: Judged | None, bins: int) -> dict[int, dict[str, float]]:
    scene = first.scene
    whole = np.ones((1, scene.num_images), np.uint16)
    classes = len(scene.categories)
    counts = np.bincount(first.category, minlength=classes)
    brier = quotient(np.bincount(first.category, (first.score - first.found) ** 2, classes), counts)
    objects = np.bincount(scene.object_category, minlength=classes)

    def error(each: Judged | None, target: Floats, at: int) -> float:
        return math.nan if each is None else float(_binned(each, target, bins, whole, category=at)[0])

    return {
        number: {
            "D-ECE": error(first, first.found, at),
            "LaECE": error(first, first.iou, at),
            "LaECE0": error(anywhere, first.iou if anywhere is None else anywhere.iou, at),
            "Brier": float(brier[at]),
        }
        for at, number in enumerate(scene.categories.ids.tolist())
        if counts[at] and objects[at]
    }


def pooled_reliability(first: Judged, bins: int) -> Reliability:
    """The reliability diagram of all classes pooled, without intervals."""
    return _reliability(first, _place_of(first.score, bins), bins, np.zeros((0, 0), np.uint16), math.nan)


def _reliability(first: Judged, place: Rows, bins: int, weights: npt.NDArray[np.integer], level: float) -> Reliability:
    counts = np.bincount(place, minlength=bins)
    precision = quotient(np.bincount(place, first.found, bins), counts)
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    if len(weights):
        columns = np.zeros((len(place), 2 * bins))
        columns[np.arange(len(place)), place] = first.found
        columns[np.arange(len(place)), bins + place] = 1
        sums = _weighted(first.image, columns, weights)
        drawn = quotient(sums[:, :bins], sums[:, bins:])
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
