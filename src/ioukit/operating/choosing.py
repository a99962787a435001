"""Choosing score thresholds on evaluated images, and their numbers on images that the choice did not see."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import pluralize
from ioukit._notebook import Shown, values_of
from ioukit._plain_values import plain_value
from ioukit.datasets import Categories
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.operating.rules import FBeta, LeastCost, Rule, f_beta_parts, find_rule, quotient
from ioukit.operating.splitting import halves
from ioukit.operating.sweeps import CHOSEN, HOW, Scene, chosen_thresholds, costs_of, scene_of, table_of
from ioukit.postprocess import OperatingPoints, ScoreMap
from ioukit.statistics import Interval, bootstrap_weights, interval_from_replicates
from ioukit.statistics.estimating import check_level, doubted, interval_of_ratio
from ioukit.statistics.resampling import ImageGroups, Labels, check_seed, image_groups
from ioukit.statistics.spread import variances

if TYPE_CHECKING:
    from ioukit.operating.calibrating import CalibrationFit

_UNSTEADY = "the thresholds of halves of the images differ much"


def choose_thresholds(
    evaluated: Evaluation | MatchTable,
    rule: Rule | str = "f1",
    *,
    per_class: bool = False,
    iou_threshold: float | None = None,
    area_range: str | None = None,
    splits: int = 10,
    level: float = 0.95,
    replicates: int = 1000,
    seed: int = 0,
    clusters: Labels | None = None,
) -> ThresholdChoice:
    """The score thresholds that a rule chooses, with their numbers on the same and on other images.

    Thresholds are scores of detections: all detections with equal scores count, or none of them. Numbers on the images
    of the choice are optimistic, because the choice fits them. So the images are also split in halves, ``splits``
    times: what is chosen on one half is counted on the other.

    Args:
        evaluated: An evaluation or its match table.
        rule: What to choose for: ``"f1"``, ``"f-beta=2"``, ``"precision=0.9"``, ``"recall=0.8"``, ``"cost=1:5"``,
            ``"fppi=0.1"``, or a rule such as :class:`FBeta`.
        per_class: Whether each class has a threshold of its own. The rule then applies to each class; otherwise to all
            detections and objects together.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.
        splits: How often the images are split in halves; 0 for no numbers on other images.
        level: The probability that an interval should hold the true number.
        replicates: Replicates of the bootstrap over images, for the interval of the threshold; 0 for no intervals.
        seed: Decides the halves and the replicates.
        clusters: The cluster of each image, such as its scene or video: (I,) labels in the order of the table, or
            labels by image id. Clusters stay whole in halves and in replicates. Each image is a cluster if ``None``.

    Raises:
        ValueError: If the rule is unknown or names an unknown class, the protocol has no such threshold or area range,
            objects choose their detections (KITTI), or a number is out of range.
        TypeError: If an argument has the wrong type.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [20, 0, 9, 9]]
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 9, 9], [50, 0, 9, 9]], scores=[0.9, 0.3]
        ... )
        >>> choice = choose_thresholds(evaluate(ground_truth, detections), "precision=0.9")
        >>> choice.overall.threshold, choice.overall.chosen.recall
        (0.9, 0.5)
    """
    wanted = find_rule(rule)
    table = table_of(evaluated)
    scene = scene_of(table, iou_threshold, area_range)
    costs_of(wanted, scene.categories)  # before the work starts
    check_level(level)
    splits, replicates = _at_least_0(splits=splits), _at_least_0(replicates=replicates)
    groups = image_groups(table.image_ids, None, clusters)
    seed = check_seed(seed)
    shown = splits if groups.num_clusters >= 2 else 0  # a single cluster has no halves

    whole = np.ones((1, scene.num_images), np.int64)
    (thresholds,), (states,) = chosen_thresholds(scene, wanted, whole, per_class=per_class)
    weights = np.zeros((0, scene.num_images), np.uint16)
    if replicates:
        weights = bootstrap_weights(table.image_ids, replicates, seed=seed, clusters=clusters)
    drawn, _ = chosen_thresholds(scene, wanted, weights, per_class=per_class)
    if per_class:  # there is no threshold of all classes
        thresholds[-1], drawn[:, -1], states[-1] = math.nan, math.nan, CHOSEN

    tally = _Tally(scene, wanted, groups, level if replicates else None)
    kept = (scene.score >= thresholds[scene.category]).astype(np.float64)
    by_halves, share = _kept_by_halves(scene, wanted, halves(groups, shown, seed), per_class=per_class)
    names = [*zip(scene.categories.ids.tolist(), scene.categories.names, strict=True), (None, "all classes")]
    found = []
    for at, (number, name) in enumerate(names):
        category = None if number is None else at
        same, other = tally.numbers(kept, category), tally.numbers(share, category, by_halves)
        value, objects = float(thresholds[at]), tally.num_objects(category)
        interval = interval_from_replicates(value, drawn[:, at], key="threshold", level=level)
        if replicates:  # the threshold rests on the detections that it keeps
            interval = doubted(interval, groups, same.intervals["precision"].replicates)
        found.append(ClassThreshold(number, name, value, interval, HOW[states[at]], objects, same, other))
    settings = _settings(evaluated, scene) | {
        "per_class": per_class, "splits": splits, "seed": seed, "clusters": clusters is not None,
    }  # fmt: skip
    return ThresholdChoice(wanted, per_class, found[-1], tuple(found[:-1]), table.categories, settings)


def _kept_by_halves(
    scene: Scene, rule: Rule, in_first: npt.NDArray[np.bool_], *, per_class: bool
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """(2 R, N) whether each detection counts, by the thresholds of each half; and (N,) how often, of other images.

    Args:
        scene: What counts.
        rule: What to choose for.
        in_first: (R, I) whether each image is in the first half of each split; if R is 0, it is unknown (NaN) how
            often.
        per_class: Whether each class has a threshold of its own.
    """
    chosen_on = np.concatenate([in_first, ~in_first])
    thresholds, _ = chosen_thresholds(scene, rule, chosen_on.astype(np.int64), per_class=per_class)
    kept, times = np.zeros((len(thresholds), len(scene.score)), np.bool_), np.zeros(len(scene.score))
    for row, half, of_classes in zip(kept, chosen_on, thresholds, strict=True):
        row[:] = scene.score >= of_classes[scene.category]
        times += row & ~half[scene.image]
    return kept, quotient(times, np.full(len(times), len(in_first)))


@dataclass(frozen=True, eq=False)
class _Tally:
    """Numbers of detections that count in full, in part, or not at all."""

    scene: Scene
    rule: Rule
    groups: ImageGroups
    level: float | None
    """Of the intervals; ``None`` for none."""

    def num_objects(self, category: int | None) -> int:
        """The objects of a class, or of all classes."""
        of = self.scene.object_category
        return len(of) if category is None else int(np.count_nonzero(of == category))

    def numbers(
        self, share: Floats, category: int | None, by_halves: npt.NDArray[np.bool_] | None = None
    ) -> PointNumbers:
        """The numbers of a class, or of all classes.

        Args:
            share: (N,) how much of each detection counts; NaN if unknown.
            category: The position of the class; ``None`` for all.
            by_halves: (H, N) which detections count by the thresholds of each half, where these make the share.
        """
        scene, cluster, size = self.scene, self.groups.cluster, self.groups.num_clusters
        mine, objects = scene.counts, np.arange(len(scene.object_image))
        if category is not None:
            mine, objects = mine & (scene.category == category), np.flatnonzero(scene.object_category == category)
        rows = np.flatnonzero(mine)
        wrong, missed = costs_of(self.rule, scene.categories) or np.zeros((2, len(scene.categories)))
        right, of = scene.found[rows], scene.category[rows]
        adds = np.stack([right, ~right, np.where(right, -missed[of], wrong[of])], axis=1)  # TP, FP, cost
        of_rows, of_objects = cluster[scene.image[rows]], cluster[scene.object_image[objects]]
        columns = [np.bincount(of_rows, share[rows] * each, size) for each in adds.T]
        columns.append(np.bincount(of_objects, missed[scene.object_category[objects]], size))
        columns += [np.bincount(of_objects, None, size), np.bincount(cluster, None, size)]
        sums = np.stack(columns, axis=1).astype(np.float64)
        total, parts = sums.sum(axis=0), self._parts(sums)
        intervals: dict[str, Interval] = {}
        if self.level is not None and (by_halves is None or len(by_halves)):
            further, doubts = dict.fromkeys(parts, 0.0), tuple[str, ...]()
            if by_halves is not None:
                by_half = np.array([[*(row[rows] @ adds), *total[3:]] for row in by_halves])
                moved = np.stack([quotient(*each) for each in self._parts(by_half).values()], axis=1)
                # The threshold of all images shares luck with those of halves. With half of their variance, intervals
                # hold as often as they say (docs/build/operating_coverage.py), with all of it in 98 to 100 %.
                further = dict(zip(parts, (np.nan_to_num(variances(moved)) / 2).tolist(), strict=True))
                of_images = interval_of_ratio("recall", *parts["recall"], self.groups, self.level).standard_error
                doubts = (_UNSTEADY,) if further["recall"] > of_images**2 else ()
            dearest = max(wrong.max(initial=0), missed.max(initial=0))
            units = {"false_positives_per_image": 1.0, "cost_per_image": float(dearest)}
            intervals = {
                name: interval_of_ratio(
                    name, *each, self.groups, self.level, unit=units.get(name), further=further[name], doubts=doubts
                )
                for name, each in parts.items()
            }
        tp, fp, _, _, num_objects, _ = total.tolist()
        of_all = {name: float(quotient(*each)) for name, each in self._parts(total).items()}
        values = {"cost_per_image": math.nan, **of_all}
        return PointNumbers(tp, fp, num_objects - tp, **values, intervals=intervals)

    def _parts(self, sums: Floats) -> dict[str, tuple[Floats, Floats]]:
        """The numerators and denominators of the numbers, of (..., 6) TP, FP, costs, objects and images."""
        tp, fp, cost, missed, objects, images = np.moveaxis(sums, -1, 0)
        beta = self.rule.beta if isinstance(self.rule, FBeta) else 1.0
        costs = {"cost_per_image": (cost + missed, images)} if isinstance(self.rule, LeastCost) else {}
        return {
            "precision": (tp, tp + fp),
            "recall": (tp, objects),
            "f_beta": f_beta_parts(tp, fp, objects - tp, beta),
            "false_positives_per_image": (fp, images),
            **costs,
        }


def _settings(evaluated: Evaluation | MatchTable, scene: Scene) -> dict[str, str | float | int | bool | None]:
    """On what the thresholds are chosen."""
    table = scene.table
    sources: dict[str, str | float | int | bool | None] = {}
    if isinstance(evaluated, Evaluation) and evaluated.ground_truth is not None and evaluated.detections is not None:
        sources = {"ground_truth": evaluated.ground_truth.source, "detections": evaluated.detections.source}
    return {
        **sources,
        "protocol": table.protocol.name,
        "iou_type": table.iou_type,
        "iou_threshold": scene.iou_threshold,
        "area_range": scene.area_range,
        "images": scene.num_images,
        "objects": len(scene.object_image),
        "counted_detections": int(np.count_nonzero(scene.counts)),
    }


def _at_least_0(**values: int) -> int:
    ((name, value),) = values.items()
    if not hasattr(value, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {value!r}")
    number = operator.index(value)
    if number < 0:
        raise ValueError(f"{name} must be at least 0, got {number}")
    return number


@dataclass(frozen=True)
class PointNumbers(Shown):
    """The numbers of a detector at a threshold.

    On the other halves, each image is counted at thresholds that were chosen without it. Counts are then means over the
    splits, and ratios are taken of these means.
    """

    true_positives: float
    """Detections that match an object."""
    false_positives: float
    """Detections that match no object."""
    false_negatives: float
    """Objects that no detection matches."""
    precision: float
    """TP / (TP + FP); NaN if no detection counts."""
    recall: float
    """TP / objects; NaN without objects."""
    f_beta: float
    """F-beta with the ``beta`` of the rule, or F1; NaN without objects and detections."""
    false_positives_per_image: float
    """FP / images."""
    cost_per_image: float
    """The costs of a rule with costs, divided by the number of images; NaN for other rules."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """The intervals of ``precision``, ``recall``, ``f_beta``, ``false_positives_per_image`` and ``cost_per_image``, by
    leaving out one image or cluster at a time. Those on the images of the choice are for exactly these thresholds;
    those on other images also hold how much the thresholds of the halves differ. Those of few images have warnings."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        numbers = {name: plain_value(value) for name, value in vars(self).items() if name != "intervals"}
        return {**numbers, "intervals": {name: one.to_dict() for name, one in self.intervals.items()}}


@dataclass(frozen=True)
class ClassThreshold(Shown):
    """The threshold of one class, or of all classes."""

    id: int | None
    """The category id; ``None`` for all classes."""
    name: str
    """The name of the class, ``"all classes"`` for all."""
    threshold: float
    """Detections with this score or a higher one count; NaN if no detection counts, and for all classes if each class
    has a threshold of its own."""
    interval: Interval
    """Between which thresholds the share ``level`` of the replicates lies. On as many other images, the rule chooses
    one between them less often. Its ``undefined`` is the share of replicates in which no detection counts."""
    how: str
    """``"chosen"``; ``"not reached"``: no threshold gives what the rule asks for, see the rule for what is taken
    instead; or ``"no objects"``: the class has no objects, so it has the threshold of all classes."""
    num_ground_truth: int
    """Objects to find."""
    chosen: PointNumbers
    """The numbers on the images of the choice. They are optimistic."""
    held_out: PointNumbers
    """The numbers on images that the choice did not see, each half by the choice of the other half."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return {
            "id": self.id,
            "name": self.name,
            "threshold": plain_value(self.threshold),
            "threshold_interval": self.interval.to_dict(),
            "how": self.how,
            "num_ground_truth": self.num_ground_truth,
            "chosen": self.chosen.to_dict(),
            "held_out": self.held_out.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class ThresholdChoice(Shown):
    """The result of :func:`choose_thresholds`."""

    rule: Rule
    """What the thresholds were chosen for."""
    per_class: bool
    """Whether each class has a threshold of its own."""
    overall: ClassThreshold
    """All classes together."""
    classes: tuple[ClassThreshold, ...]
    """(K,) each class."""
    categories: Categories
    """The categories of the data; of a class-agnostic protocol, all of them have the one threshold."""
    settings: Mapping[str, str | float | int | bool | None]
    """On what and how they were chosen: protocol, IoU threshold, numbers of images and objects, seed, and so on."""

    @property
    def not_reached(self) -> tuple[ClassThreshold, ...]:
        """The classes, or all classes as one, for which no threshold gives what the rule asks for."""
        return tuple(one for one in (self.classes if self.per_class else (self.overall,)) if one.how == "not reached")

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per class, with the numbers on images that the choice did not see."""
        found = [{**values_of(one), **values_of(one.held_out)} for one in (self.overall, *self.classes)]
        return found, len(found)

    def operating_points(self, calibration: CalibrationFit | Sequence[ScoreMap] = ()) -> OperatingPoints:
        """The thresholds as a record that ``ioukit predict``, ``ioukit nms`` and ``filter_detections`` apply.

        Args:
            calibration: The result of :func:`calibrate` on the same data, or its maps.

        Raises:
            ValueError: If there is neither one map nor one for each category.
        """
        maps = calibration if isinstance(calibration, Sequence) else calibration.maps
        thresholds = [one.threshold for one in (self.classes if self.per_class else (self.overall,))]
        if len(thresholds) == 1:  # also that of a class-agnostic protocol
            thresholds *= len(self.categories)
        held_out = self.overall.held_out
        shown = {
            f"{name} on other images": None if math.isnan(value) else round(value, 6)
            for name, value in (("precision", held_out.precision), ("recall", held_out.recall))
        }
        return OperatingPoints.of(
            self.categories.names,
            np.array(thresholds, np.float64),
            category_ids=self.categories.ids,
            maps=maps,
            rule=self.rule.text,
            chosen_on={**self.settings, **shown},
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return {
            "rule": self.rule.text,
            "per_class": self.per_class,
            "settings": dict(self.settings),
            "overall": self.overall.to_dict(),
            "classes": [one.to_dict() for one in self.classes],
        }

    def __repr__(self) -> str:
        point = self.overall
        at = pluralize(len(self.classes), "threshold") if self.per_class else f"threshold {point.threshold:.4g}"
        return (
            f"ThresholdChoice({self.rule.text}, {at}: precision {point.held_out.precision:.3f}, recall "
            f"{point.held_out.recall:.3f} on other images)"
        )
