"""Fitting calibrated scores, with errors on images that the fit did not see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_choice, check_count, pluralize
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.operating.calibration import (
    KEYS,
    CalibrationErrors,
    Judged,
    basic_interval,
    judged,
    matched_anywhere,
    measured,
)
from ioukit.operating.score_fits import FITS
from ioukit.operating.splitting import parts
from ioukit.operating.sweeps import scene_of, table_of
from ioukit.postprocess import ScoreMap
from ioukit.postprocess.score_maps import checked_scores
from ioukit.statistics import Interval, bootstrap_weights
from ioukit.statistics.estimating import check_level
from ioukit.statistics.resampling import Labels, check_seed, image_groups

Method: TypeAlias = Literal["temperature", "platt", "isotonic"]
Target: TypeAlias = Literal["match", "iou"]

_NO_MAP = "all detections are in one part, so no map could be fitted without it, and scores stay as they are"


@dataclass(frozen=True, repr=False)
class CalibrationFit:
    """The result of :func:`calibrate`."""

    method: str
    """``"temperature"``, ``"platt"`` or ``"isotonic"``."""
    target: str
    """What a calibrated score estimates: ``"match"``, the probability of a match, or ``"iou"``, its IoU."""
    maps: tuple[ScoreMap, ...]
    """The maps, fitted to all images: one for all classes, or one for each category of the data."""
    before: CalibrationErrors
    """The errors of the scores as they are."""
    after: CalibrationErrors
    """The errors of calibrated scores, each by a map that was fitted without its image."""
    differences: Mapping[str, Interval]
    """For each error, ``after - before`` with its interval: below 0 if calibration helps. Empty if not asked for."""
    folds: int
    """In how many parts the images were put; each part gets the map that was fitted to the others."""
    shared: tuple[str, ...] = ()
    """Names of classes that have the map of all classes, because they have few detections."""

    def to_dict(self) -> dict[str, Any]:
        """Everything but the maps in plain Python values, ``None`` where a number is undefined."""
        return {
            "method": self.method,
            "target": self.target,
            "maps": len(self.maps),
            "folds": self.folds,
            "before": self.before.to_dict(),
            "after": self.after.to_dict(),
            "differences": {key: one.to_dict() for key, one in self.differences.items()},
            "shared": list(self.shared),
        }

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{key} {self.before[key]:.4f} -> {self.after[key]:.4f}" for key in KEYS if self.after[key] >= 0
        )
        return f"CalibrationFit({self.method}, {pluralize(len(self.maps), 'map')}: {shown})"


def calibrate(
    evaluated: Evaluation | MatchTable,
    method: Method = "platt",
    *,
    per_class: bool = False,
    target: Target = "match",
    least: int = 20,
    folds: int = 5,
    bins: int = 25,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    clusters: Labels | None = None,
) -> CalibrationFit:
    """Maps from scores to calibrated scores, and the calibration errors before and after.

    The errors after are cross-fitted: the images are put in ``folds`` parts, and the detections of each part get the
    map that was fitted to the other parts. The maps that are returned are fitted to all images.

    Args:
        evaluated: An evaluation or its match table; LaECE0 needs an evaluation that holds its data.
        method: ``"temperature"`` (one number), ``"platt"`` (two numbers) or ``"isotonic"`` (any rising steps; it needs
            the most data, and makes scores equal).
        per_class: Whether each class has a map of its own.
        target: What a calibrated score estimates: ``"match"``, the probability that the detection matches an object, or
            ``"iou"``, the IoU of its match, 0 without a match, as for LaECE.
        least: With ``per_class``, a class with fewer detections that match, or that do not, has the map of all classes.
        folds: In how many parts the images are put; at most as many as images or clusters.
        bins: The number of ranges of scores, see :func:`calibration_errors`.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        level: The probability that an interval should hold the true number.
        replicates: Replicates of the bootstrap over images, for the intervals; 0 for none. The maps stay as they are.
        seed: Decides the parts and the replicates.
        clusters: The cluster of each image, see :func:`choose_thresholds`; clusters stay whole.

    Raises:
        ValueError: If a score is outside of [0, 1], there are fewer than two images or clusters, the protocol has no
            such threshold or area range, or a number is out of range.
        TypeError: If an argument has the wrong type.
    """
    check_choice("method", method, get_args(Method))
    check_choice("target", target, get_args(Target))
    check_count(bins=bins, least=least)
    check_level(level)
    table = table_of(evaluated)
    first = judged(scene_of(table, iou_threshold, area_range))
    scores = checked_scores(first.scene.score)
    groups = image_groups(table.image_ids, None, clusters)
    count = min(_folds(folds), groups.num_clusters)
    if count < 2:
        raise ValueError(f"cross-fitting needs at least two images or clusters, got {groups.num_clusters}")

    fit = _Fit(method, target, least if per_class else None, first)
    of_image = parts(groups, count, check_seed(seed))
    part = of_image[first.scene.image]
    calibrated = np.empty(len(scores))
    for number in range(count):
        maps, _ = fit.maps(part[first.rows] != number)
        mine = part == number
        calibrated[mine] = _applied(maps, scores[mine], first.scene.category[mine])
    maps, shared = fit.maps(np.ones(len(first.rows), np.bool_))
    if per_class and len(first.scene.categories) != len(table.categories):
        maps = maps[:1]  # a class-agnostic protocol has one class, and its map is that of all categories

    weights = np.zeros((0, len(table.image_ids)), np.uint16)
    if replicates:
        weights = bootstrap_weights(table.image_ids, replicates, seed=seed, clusters=clusters)
    anywhere = matched_anywhere(evaluated, first.scene.area_range)
    before, drawn = measured(first, anywhere, bins, weights, level)
    moved = None if anywhere is None else anywhere.with_scores(calibrated)
    after, drawn_after = measured(first.with_scores(calibrated), moved, bins, weights, level)
    why = {"why_same": _NO_MAP} if len(np.unique(part)) == 1 else {}
    differences = {
        key: basic_interval(after[key] - before[key], drawn_after[key] - drawn[key], key, level, low=-np.inf, **why)
        for key in KEYS
        if len(weights)
    }
    return CalibrationFit(method, target, maps, before, after, differences, count, shared)


@dataclass(frozen=True, eq=False)
class _Fit:
    """How maps are fitted."""

    method: Method
    target: Target
    least: int | None
    """Detections of either kind that a class needs for a map of its own; ``None`` for one map."""
    data: Judged

    def maps(self, used: npt.NDArray[np.bool_]) -> tuple[tuple[ScoreMap, ...], tuple[str, ...]]:
        """The maps for some of the detections, and the names of classes with the map of all classes."""
        data, fit = self.data, FITS[self.method]
        targets = data.found if self.target == "match" else data.iou
        pooled: ScoreMap = fit(data.score[used], targets[used])
        if self.least is None:
            return (pooled,), ()
        maps: list[ScoreMap] = []
        shared = []
        category = data.category
        for at, name in enumerate(data.scene.categories.names):
            mine = used & (category == at)
            right = int(data.found[mine].sum())
            if min(right, int(mine.sum()) - right) < self.least:
                maps.append(pooled)
                shared.append(name)
            else:
                maps.append(fit(data.score[mine], targets[mine]))
        return tuple(maps), tuple(shared)


def _applied(maps: tuple[ScoreMap, ...], scores: Floats, category: npt.NDArray[np.intp]) -> Floats:
    if len(maps) == 1:
        return maps[0](scores)
    found = np.empty(len(scores))
    for at in np.unique(category).tolist():
        found[category == at] = maps[at](scores[category == at])
    return found


def _folds(folds: int) -> int:
    check_count(folds=folds)
    if folds < 2:
        raise ValueError(f"folds must be at least 2, got {folds}")
    return int(folds)
