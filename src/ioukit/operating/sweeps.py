"""Counts at every score threshold, for many sets of images at once: the columns that rules choose from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.datasets import Categories
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation.analysis._ranking import last_of_equal, ranking
from ioukit.operating.rules import Counts, LeastCost, Rule

Rows: TypeAlias = npt.NDArray[np.intp]
Weights: TypeAlias = npt.NDArray[np.integer]

CHOSEN, NOT_REACHED, NO_OBJECTS = 0, 1, 2
HOW = ("chosen", "not reached", "no objects")
_CELLS = 4_000_000  # sets of images times detections that are counted at once


@dataclass(frozen=True, eq=False)
class Sweep:
    """The detections and objects of one class, or of all classes; the threshold sweeps down over their scores."""

    scene: Scene
    rows: Rows
    """(n,) rows of :attr:`Scene.score` and so on, by descending score."""
    objects: Rows
    """(g,) rows of :attr:`Scene.object_image`."""
    last: Rows
    """(S,) the place of the last detection of each score."""

    @property
    def thresholds(self) -> Floats:
        """(S,) each score once, in descending order."""
        return self.scene.score[self.rows[self.last]]

    def counts(self, weights: Weights, costs: tuple[Floats, Floats] | None) -> Counts:
        """The counts of sets of images in which image ``i`` stands ``weights[b, i]`` times.

        Args:
            weights: (B, I).
            costs: (K,) of false positives and of missed objects; ``None`` if the rule has none.
        """
        scene, rows, objects = self.scene, self.rows, self.objects
        most = int(weights.max(initial=0)) * max(len(rows), len(objects), scene.num_images)
        of_image = np.ascontiguousarray(weights.T, np.int32 if most < 2**31 else np.int64)  # (I, B)
        each = of_image[scene.image[rows]]
        right = each * scene.found[rows, None]
        of_objects = of_image[scene.object_image[objects]]
        cost = missed = None
        if costs is not None:
            category = scene.category[rows]
            cost = self._summed((each - right) * costs[0][category, None])
            all_missed = (of_objects * costs[1][scene.object_category[objects], None]).sum(axis=0)
            missed = all_missed - self._summed(right * costs[1][category, None])
        tp, images = self._summed(right), of_image.sum(axis=0)
        return Counts(tp, self._summed(each) - tp, of_objects.sum(axis=0), images, cost, missed)

    def _summed(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(S + 1, B) sums of (n, B) values up to the end of each score, after a 0."""
        sums: npt.NDArray[Any] = np.zeros((len(self.last) + 1, values.shape[1]), values.dtype)
        if len(self.last):
            sums[1:] = np.cumsum(values, axis=0, dtype=values.dtype)[self.last]
        return sums


@dataclass(frozen=True, eq=False)
class Scene:
    """The detections that count at an IoU threshold in an area range, and the objects to find."""

    table: MatchTable
    categories: Categories
    """(K,) the classes that have numbers: a single one if the protocol is class-agnostic."""
    iou_threshold: float
    area_range: str
    score: Floats
    """(N,) of all detections of the table."""
    found: npt.NDArray[np.bool_]
    """(N,) whether each detection is a true positive."""
    counts: npt.NDArray[np.bool_]
    """(N,) whether it is a true or a false positive; the others are ignored."""
    image: Rows
    """(N,) positions of images."""
    category: Rows
    """(N,) positions in :attr:`categories`."""
    object_image: Rows
    """(G,) of the objects to find."""
    object_category: Rows
    """(G,)"""
    pooled_rows: Rows
    class_rows: tuple[Rows, ...]

    @property
    def num_images(self) -> int:
        """The number of images."""
        return len(self.table.image_ids)

    @property
    def pooled(self) -> Sweep:
        """All classes."""
        rows = self.pooled_rows
        return Sweep(self, rows, np.arange(len(self.object_image)), last_of_equal(self.score[rows]))

    def per_class(self) -> Iterator[Sweep]:
        """Each class alone."""
        order = np.argsort(self.object_category, kind="stable")
        ends = np.searchsorted(self.object_category[order], np.arange(len(self.categories) + 1))
        for at, rows in enumerate(self.class_rows):
            yield Sweep(self, rows, order[ends[at] : ends[at + 1]], last_of_equal(self.score[rows]))


def table_of(evaluated: Evaluation | MatchTable) -> MatchTable:
    """The match table of an evaluation, or the table that was given.

    Raises:
        TypeError: If it is neither.
        ValueError: If its protocol does not rank, or has no matches that hold for all score thresholds.
    """
    table = evaluated.matches if isinstance(evaluated, Evaluation) else evaluated
    if not isinstance(table, MatchTable):
        raise TypeError(f"expected an Evaluation or a MatchTable, got {type(evaluated).__name__}")
    table.protocol.check_ranks("thresholds and calibration of scores")
    if why := table.protocol.why_matches_vary:
        raise ValueError(
            f"the matches of the protocol {table.protocol.name} do not say what a score threshold keeps: {why}; "
            "evaluate with another protocol"
        )
    return table


def scene_of(table: MatchTable, iou_threshold: float | None, area_range: str | None) -> Scene:
    """What counts at an IoU threshold in an area range.

    Raises:
        ValueError: If the protocol has no such threshold or area range.
    """
    ranked = ranking(table, iou_threshold, area_range)
    iou, area = ranked.iou_threshold, ranked.area_range
    to_find = np.flatnonzero(~table.ignores(area))
    rows = table.detections
    return Scene(
        table,
        ranked.categories,
        iou,
        area,
        rows.score,
        table.is_true_positive(iou, area),
        ~table.is_ignored(iou, area),
        rows.image.astype(np.intp),
        table.evaluated_category(rows.category).astype(np.intp),
        table.objects.image[to_find].astype(np.intp),
        table.evaluated_category(table.objects.category)[to_find].astype(np.intp),
        ranked.pooled,
        ranked.per_class,
    )


def chosen_thresholds(
    scene: Scene, rule: Rule, weights: Weights, *, per_class: bool
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """The thresholds that a rule chooses on sets of images.

    A class without objects gets the threshold of all classes.

    Args:
        scene: What counts.
        rule: What to choose for.
        weights: (B, I) how often each image stands in each set.
        per_class: Whether each class has a threshold of its own.

    Returns:
        (B, K + 1) thresholds, of each class and at last of all classes; NaN if no detection counts. And (B, K + 1) how
        each was chosen: :data:`CHOSEN`, :data:`NOT_REACHED` or :data:`NO_OBJECTS`.
    """
    costs = costs_of(rule, scene.categories)
    pooled, state = _chosen(scene.pooled, rule, weights, costs)
    classes = len(scene.categories)
    if not per_class:
        return np.repeat(pooled[:, None], classes + 1, axis=1), np.repeat(state[:, None], classes + 1, axis=1)
    thresholds, states = np.empty((len(weights), classes + 1)), np.empty((len(weights), classes + 1), np.int8)
    thresholds[:, -1], states[:, -1] = pooled, state
    for at, sweep in enumerate(scene.per_class()):
        mine, how = _chosen(sweep, rule, weights, costs)
        thresholds[:, at] = np.where(how == NO_OBJECTS, pooled, mine)
        states[:, at] = how
    return thresholds, states


def _chosen(
    sweep: Sweep, rule: Rule, weights: Weights, costs: tuple[Floats, Floats] | None
) -> tuple[Floats, npt.NDArray[np.int8]]:
    """(B,) the thresholds of one sweep, and how they were chosen."""
    scores = np.concatenate([[np.nan], sweep.thresholds])
    chosen = np.empty(len(weights))
    states = np.empty(len(weights), np.int8)
    size = max(1, _CELLS // (len(sweep.rows) + len(sweep.objects) + 1))
    for start in range(0, len(weights), size):
        part = slice(start, start + size)
        counts = sweep.counts(weights[part], costs)
        at, reached = rule.choose(counts)
        chosen[part] = scores[at]
        states[part] = np.where(counts.objects == 0, NO_OBJECTS, np.where(reached, CHOSEN, NOT_REACHED))
    return chosen, states


def costs_of(rule: Rule, categories: Categories) -> tuple[Floats, Floats] | None:
    """(K,) the cost of a false positive and of a missed object of each class; ``None`` if the rule has no costs.

    Raises:
        ValueError: If the rule names an unknown class.
    """
    if not isinstance(rule, LeastCost):
        return None
    costs = np.tile(np.array([rule.false_positive, rule.missed], np.float64), (len(categories), 1))
    for name, pair in rule.classes.items():
        costs[categories.positions([name])[0]] = pair
    return costs[:, 0].copy(), costs[:, 1].copy()
