"""Choosing score thresholds on evaluated images, and their numbers on images that the choice did not see."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.evaluation import Evaluation, MatchTable
from ioukit.operating.choice import ClassThreshold, PointNumbers, ThresholdChoice
from ioukit.operating.rules import FBeta, LeastCost, Rule, f_beta_of, find_rule, quotient
from ioukit.operating.splitting import halves
from ioukit.operating.sweeps import CHOSEN, HOW, Scene, chosen_thresholds, costs_of, scene_of, table_of
from ioukit.statistics import Interval, bootstrap_weights, interval_from_replicates
from ioukit.statistics.drawing import Labels, check_seed, image_groups
from ioukit.statistics.estimating import check_level

__all__ = ["choose_thresholds"]

Floats: TypeAlias = npt.NDArray[np.float64]


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
        replicates: Replicates of the bootstrap over images, for the intervals; 0 for none.
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

    tally = _Tally(scene, wanted, weights, level)
    kept = (scene.score >= thresholds[scene.category]).astype(np.float64)
    share = _share_kept(scene, wanted, halves(groups, shown, seed), per_class=per_class)
    names = [*zip(scene.categories.ids.tolist(), scene.categories.names, strict=True), (None, "all classes")]
    found = [
        ClassThreshold(
            number,
            name,
            float(thresholds[at]),
            interval_from_replicates(float(thresholds[at]), drawn[:, at], key="threshold", level=level),
            HOW[states[at]],
            tally.num_objects(None if number is None else at),
            tally.numbers(kept, None if number is None else at, intervals=True),
            tally.numbers(share, None if number is None else at, intervals=bool(shown)),
        )
        for at, (number, name) in enumerate(names)
    ]
    settings = _settings(evaluated, scene) | {
        "per_class": per_class, "splits": splits, "seed": seed, "clusters": clusters is not None,
    }  # fmt: skip
    return ThresholdChoice(wanted, per_class, found[-1], tuple(found[:-1]), table.categories, settings)


def _share_kept(scene: Scene, rule: Rule, in_first: npt.NDArray[np.bool_], *, per_class: bool) -> Floats:
    """(N,) the share of splits in which each detection counts, by thresholds of the half without its image.

    Args:
        scene: What counts.
        rule: What to choose for.
        in_first: (R, I) whether each image is in the first half of each split; NaN is returned if R is 0.
        per_class: Whether each class has a threshold of its own.
    """
    splits = len(in_first)
    if not splits:
        return np.full(len(scene.score), np.nan)
    chosen_on = np.concatenate([in_first, ~in_first]).astype(np.int64)
    thresholds, _ = chosen_thresholds(scene, rule, chosen_on, per_class=per_class)
    times = np.zeros(len(scene.score))
    for split, first in enumerate(in_first):
        other = np.where(first[scene.image], splits + split, split)
        times += scene.score >= thresholds[other, scene.category]
    return times / splits


@dataclass(frozen=True, eq=False)
class _Tally:
    """Numbers of detections that count in full, in part, or not at all."""

    scene: Scene
    rule: Rule
    weights: npt.NDArray[np.integer]
    """(B, I) of the bootstrap."""
    level: float

    def num_objects(self, category: int | None) -> int:
        """The objects of a class, or of all classes."""
        of = self.scene.object_category
        return len(of) if category is None else int(np.count_nonzero(of == category))

    def numbers(self, share: Floats, category: int | None, *, intervals: bool) -> PointNumbers:
        """The numbers of a class, or of all classes.

        Args:
            share: (N,) how much of each detection counts.
            category: The position of the class; ``None`` for all.
            intervals: Whether to draw them.
        """
        images, sums = self._by_image(share, category)
        scene = self.scene
        total = sums.sum(axis=0)
        values = self._numbers(total, np.array(float(scene.num_images)))
        drawn: dict[str, Interval] = {}
        if intervals:
            replicates = self._numbers(
                self.weights[:, images].astype(np.float64) @ sums, self.weights.sum(axis=1, dtype=np.float64)
            )
            drawn = {
                name: interval_from_replicates(float(values[name]), replicates[name], key=name, level=self.level)
                for name in values
                if name != "cost_per_image" or isinstance(self.rule, LeastCost)
            }
        tp, fp, objects, _ = total.tolist()
        return PointNumbers(
            tp, fp, objects - tp, **{name: float(value) for name, value in values.items()}, intervals=drawn
        )

    def _by_image(self, share: Floats, category: int | None) -> tuple[npt.NDArray[np.intp], Floats]:
        """The images with detections or objects of a class, and their TP, FP, objects and costs (U, 4)."""
        scene = self.scene
        mine, of_objects = scene.counts, np.ones(len(scene.object_image), np.bool_)
        if category is not None:
            mine, of_objects = mine & (scene.category == category), scene.object_category == category
        rows = np.flatnonzero(mine)
        images, at = np.unique(np.concatenate([scene.image[rows], scene.object_image[of_objects]]), return_inverse=True)
        places, objects = np.split(at, [len(rows)])
        size, parts = len(images), share[rows]
        right, wrong = parts * scene.found[rows], parts * ~scene.found[rows]
        costs = np.zeros(size)
        if (each := costs_of(self.rule, scene.categories)) is not None:
            costs += np.bincount(objects, each[1][scene.object_category[of_objects]], size)
            costs += np.bincount(
                places, wrong * each[0][scene.category[rows]] - right * each[1][scene.category[rows]], size
            )
        columns = (np.bincount(places, right, size), np.bincount(places, wrong, size), np.bincount(objects, None, size))
        return images, np.stack([*columns, costs], axis=1)

    def _numbers(self, sums: Floats, images: Floats) -> dict[str, Floats]:
        """The ratios of (..., 4) sums."""
        tp, fp, objects, cost = np.moveaxis(sums, -1, 0)
        beta = self.rule.beta if isinstance(self.rule, FBeta) else 1.0
        return {
            "precision": quotient(tp, tp + fp),
            "recall": quotient(tp, objects),
            "f_beta": f_beta_of(tp, fp, objects - tp, beta),
            "false_positives_per_image": quotient(fp, images),
            "cost_per_image": quotient(cost, images if isinstance(self.rule, LeastCost) else np.zeros_like(images)),
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
