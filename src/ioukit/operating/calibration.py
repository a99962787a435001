"""Calibration errors: how far are scores from the share of detections that are right?

D-ECE, also over places and sizes of boxes, LaECE, LaECE0, the Brier score, and the reliability diagram.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count
from ioukit._notebook import Shown
from ioukit._plain_values import plain_value
from ioukit.evaluation import Evaluation, MatchTable, match
from ioukit.operating.reliability import Reliability, place_of, reliability_of
from ioukit.operating.rules import quotient
from ioukit.operating.sweeps import Scene, scene_of, table_of
from ioukit.postprocess import OperatingPoints
from ioukit.postprocess.score_maps import checked_scores
from ioukit.statistics import Interval, bootstrap_weights
from ioukit.statistics.estimating import check_level
from ioukit.statistics.resampling import Labels, check_seed

KEYS = ("D-ECE", "LaECE", "LaECE0", "Brier")
"""The names of the errors."""


@dataclass(frozen=True, repr=False)
class CalibrationErrors(Shown):
    """The result of :func:`calibration_errors`. All errors are within [0, 1], and 0 is best."""

    d_ece: float
    """D-ECE: the mean distance of score and precision over ranges of scores, weighted by detections. All classes are
    pooled (Kueppers et al., Multivariate Confidence Calibration for Object Detection, CVPR workshops 2020,
    arXiv:2004.13546, with the score as the only dimension). NaN without detections."""
    laece: float
    """LaECE: the same with precision times mean IoU of the matches in the place of precision, for each class; then the
    mean over the classes with objects and detections (Oksuz et al., Towards Building Self-Aware Object Detectors via
    Reliable Uncertainty Quantification and Calibration, CVPR 2023, arXiv:2307.00934)."""
    laece0: float
    """LaECE0: LaECE in which every detection that overlaps an object can match, so that the target is the IoU (Kuzucu
    et al., On Calibration of Object Detectors: Pitfalls, Evaluation and Baselines, ECCV 2024, arXiv:2405.20459). NaN if
    the data, which has to be matched again, is not at hand."""
    brier: float
    """The mean squared distance of score and 1 (a match) or 0 (none), over all detections."""
    per_class: Mapping[int, Mapping[str, float]]
    """For each class with objects and detections, by category id: ``D-ECE``, ``LaECE``, ``LaECE0`` and ``Brier``."""
    intervals: Mapping[str, Interval]
    """For each of these keys, the interval by the bootstrap over images: the basic one, ``2 value - quantile``, not
    below 0. It corrects the bias of binned errors, which are too high on few detections. Empty if not asked for."""
    reliability: Reliability
    """The reliability diagram of all classes pooled."""
    num_detections: int
    """Detections that were compared: true and false positives."""
    bins: int
    """The number of ranges of scores."""
    iou_threshold: float
    """The lowest IoU of a match, for all but LaECE0."""

    def __getitem__(self, key: str) -> float:
        """The error of a key: ``"D-ECE"``, ``"LaECE"``, ``"LaECE0"`` or ``"Brier"``."""
        return {"D-ECE": self.d_ece, "LaECE": self.laece, "LaECE0": self.laece0, "Brier": self.brier}[key]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        diagram = self.reliability
        return {
            **{key: plain_value(self[key]) for key in KEYS},
            "intervals": {key: one.to_dict() for key, one in self.intervals.items()},
            "per_class": {str(number): plain_value(errors) for number, errors in self.per_class.items()},
            "reliability": {
                name: plain_value(getattr(diagram, name).tolist())
                for name in ("edges", "counts", "mean_scores", "precision", "low", "high")
            },
            "num_detections": self.num_detections,
            "bins": self.bins,
            "iou_threshold": self.iou_threshold,
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self[key]:.4f}" for key in KEYS if not math.isnan(self[key]))
        return f"CalibrationErrors({shown})"


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
    place = place_of(first.score, bins)
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
    columns[np.arange(len(score)), place_of(score, bins)] = score - target[rows]
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


def _reliability(first: Judged, place: Rows, bins: int, weights: npt.NDArray[np.integer], level: float) -> Reliability:
    low, high = np.full(bins, np.nan), np.full(bins, np.nan)
    if len(weights):
        columns = np.zeros((len(place), 2 * bins))
        columns[np.arange(len(place)), place] = first.found
        columns[np.arange(len(place)), bins + place] = 1
        sums = _weighted(first.image, columns, weights)
        drawn = quotient(sums[:, :bins], sums[:, bins:])
        for at in np.unique(place).tolist():
            known = drawn[~np.isnan(drawn[:, at]), at]
            if len(known) > 1 and known.min() < known.max():  # without any spread, the error is unknown
                low[at], high[at] = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return reliability_of(first.score, first.found, place, bins, (low, high, level))


def basic_interval(
    value: float, drawn: Floats, key: str, level: float, *, low: float, why_same: str = "no image changes the number"
) -> Interval:
    """The basic bootstrap interval, ``2 value - quantile``, with limits of at least ``low``; none without a spread."""
    known = drawn[~np.isnan(drawn)]
    share = 1 - len(known) / len(drawn) if len(drawn) else math.nan
    same = len(known) > 1 and bool(known.min() == known.max())
    if math.isnan(value) or len(known) < 2 or same:
        return Interval(
            key, value, math.nan, math.nan, level, math.nan, "basic", len(drawn), share, warnings=(why_same,) * same
        )
    above, below = np.quantile(known, [(1 + level) / 2, (1 - level) / 2])
    limits = (max(2 * value - float(above), low), max(2 * value - float(below), low))
    return Interval(key, value, *limits, level, float(np.std(known, ddof=1)), "basic", len(drawn), share)


def calibration_errors(
    evaluated: Evaluation | MatchTable,
    *,
    bins: int = 25,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    points: OperatingPoints | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    clusters: Labels | None = None,
) -> CalibrationErrors:
    """How far scores are from what they should say.

    Args:
        evaluated: An evaluation or its match table; LaECE0 needs an evaluation that holds its data.
        bins: The number of ranges of equal width that scores are put into. A range holds its upper end.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        points: Compare only the detections that these operating points keep, with their scores as they are. By default
            all detections are compared; most of them have low scores and decide the errors.
        level: The probability that an interval should hold the true number.
        replicates: Replicates of the bootstrap over images, for the intervals; 0 for none.
        seed: Decides the replicates.
        clusters: The cluster of each image, see :func:`choose_thresholds`.

    Raises:
        ValueError: If a score is outside of [0, 1], the protocol has no such threshold or area range, or a number is
            out of range.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 8], [50, 0, 9, 9]], scores=[0.9, 0.3]
        ... )
        >>> errors = calibration_errors(evaluate(ground_truth, detections), replicates=0)
        >>> round(errors.d_ece, 3), round(errors.laece, 3), round(errors.brier, 3)
        (0.2, 0.2, 0.05)
    """
    check_count(bins=bins)
    check_level(level)
    table = table_of(evaluated)
    first = judged(scene_of(table, iou_threshold, area_range), points)
    weights = np.zeros((0, len(table.image_ids)), np.uint16)
    if replicates:
        weights = bootstrap_weights(table.image_ids, replicates, seed=check_seed(seed), clusters=clusters)
    return measured(first, matched_anywhere(evaluated, first.scene.area_range, points), bins, weights, level)[0]


DIMENSIONS = ("x", "y", "width", "height")


def d_ece_by_box(
    evaluation: Evaluation,
    dimensions: Sequence[str] = DIMENSIONS,
    *,
    bins: int = 5,
    least: int = 8,
    iou_threshold: float | None = None,
    area_range: str | None = None,
) -> float:
    """D-ECE over cells of scores and of properties of boxes.

    Each dimension is cut into ``bins`` ranges of equal width. A cell of all dimensions adds its share of the detections
    times the distance of mean score and precision. Scores that are right on average can be too high at the edges of
    images and too low in the middle: this error sees it, and D-ECE over scores alone does not.

    Args:
        evaluation: An evaluation that holds its data, with sizes of images.
        dimensions: Of ``"x"`` and ``"y"`` (the centre of the box) and ``"width"`` and ``"height"``, relative to the
            size of the image; the score is always one.
        bins: The number of ranges of each dimension. A range holds its upper end. Boxes beyond the image count in the
            last ranges.
        least: Cells with fewer detections add nothing.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Returns:
        Within [0, 1]; NaN if no cell has enough detections. It is too low if many cells have too few.

    Raises:
        ValueError: If the evaluation lacks its data or sizes of images, a dimension is unknown or stands twice, a score
            is outside of [0, 1], or a number is out of range.

    Source: Kueppers, Kronenberger, Shantia, Haselhoff, Multivariate Confidence Calibration for Object Detection, CVPR
    workshops 2020, arXiv:2004.13546, with its 5 ranges and 8 detections.
    """
    check_count(bins=bins, least=least)
    if isinstance(dimensions, str):
        raise TypeError(f"dimensions must be a list of names, got {dimensions!r}")
    for name in dimensions:
        check_choice("dimension", name, DIMENSIONS)
    if len(set(dimensions)) != len(dimensions):
        raise ValueError(f"dimensions must differ, got {list(dimensions)}")
    compared = judged(scene_of(table_of(evaluation), iou_threshold, area_range))
    values = _relative(evaluation, compared)
    edges = np.linspace(0, 1, bins + 1)
    cell = np.zeros(len(compared.score), np.int64)
    for column in (compared.score, *(values[:, DIMENSIONS.index(name)] for name in dimensions)):
        cell = cell * bins + np.clip(np.searchsorted(edges, column, side="left") - 1, 0, bins - 1)
    _, cell, counts = np.unique(cell, return_inverse=True, return_counts=True)
    apart = np.abs(np.bincount(cell, compared.score - compared.found))
    full = counts >= least
    return float(apart[full].sum() / len(cell)) if full.any() else math.nan


def _relative(evaluation: Evaluation, compared: Judged) -> Floats:
    """(n, 4) centre and size of the boxes, relative to the size of their image."""
    truth, detections = evaluation.ground_truth, evaluation.detections
    if truth is None or detections is None:
        raise ValueError("this evaluation holds a match table alone; boxes and sizes of images need its data")
    table = compared.scene.table
    rows = table.detections.row[compared.rows]
    sizes = truth.images.sizes[truth.images.positions(table.image_ids)][compared.image]
    if np.isnan(sizes).any():
        image = table.image_ids[compared.image[np.isnan(sizes).any(axis=1)][0]]
        raise ValueError(f"the size of image {image} is unknown; relative places and sizes of boxes need it")
    boxes = detections.boxes[rows]
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:] / 2) / sizes, boxes[:, 2:] / sizes], axis=1)
