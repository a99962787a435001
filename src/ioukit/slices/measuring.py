"""The numbers of slices, their intervals, and their differences to the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._checks import check_count
from ioukit._progress import Progress
from ioukit.evaluation import Evaluation, MatchTable
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.slices.expression import Expression
from ioukit.slices.match_tables import ObjectPart, tables_of_objects
from ioukit.slices.parts import Bins, Part, listed_parts, notes_on_the_rest
from ioukit.slices.results import FEWEST_CLUSTERS, Slice, SliceNumbers
from ioukit.slices.scene import Scene
from ioukit.statistics import Interval, repeat_images
from ioukit.statistics.class_clusters import clusters_of_numbers
from ioukit.statistics.correction import ROUNDING
from ioukit.statistics.estimating import check_level, interval_of_left_out
from ioukit.statistics.named_numbers import NamedNumbers, chosen_keys, named_numbers
from ioukit.statistics.resampling import ImageGroups, Labels, LeftOut, image_groups

_SPLITS = 50
"""How many random sets of images show what chance alone does."""


def slice_numbers(
    evaluation: Evaluation,
    by: str | Expression | Iterable[str | Expression],
    *,
    b: Evaluation | None = None,
    tables: Any = None,
    image_column: str | None = None,
    bins: Bins | None = None,
    keys: str | Iterable[str] | None = None,
    level: float = 0.95,
    replicates: int = 200,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> SliceNumbers:
    """The numbers of parts of a data set, with intervals and the difference to the rest.

    A slice of **images** is the evaluation of these images alone. In a slice of **objects**, all other objects are
    ignored, as COCO's area ranges ignore objects of another size: neither finding nor missing them counts. A detection
    without a match is a false positive of the slice if it can belong to it. Detections have a box and a category, so
    their size, shape and position are known, and those outside of the slice are ignored. What only the ground truth
    knows, such as occlusion, is not known of them, so they count in every such slice, see
    :attr:`Slice.shares_false_positives`.

    Args:
        evaluation: The evaluation, with its data. Slices of images by ``tables`` need the match table alone.
        by: Names of columns, and conditions as texts or :class:`Expression`. Each value of a column is a slice; numbers
            are cut into ranges. ``"size"`` is the area, cut by the protocol's area ranges. :func:`slice_columns` lists
            the columns.
        b: A second model, evaluated on the same ground truth by the same rules. Each slice then has
            :attr:`Slice.changes`, too.
        tables: One table or several, with a row per image: paths of CSV, JSON lines, Parquet or Arrow files, data
            frames, or mappings of columns.
        image_column: The column of the tables that has the id or the file name of the image; found by its name if
            ``None``.
        bins: How columns of numbers are cut, by name: rising edges, labels with lowest and highest value, or a number
            of ranges with equally many rows. By default whole numbers of at most eight values are not cut, and others
            have four ranges.
        keys: Keys of the numbers, such as ``"AP50"`` or ``"AP/person"``; the headline numbers of the protocol if
            ``None``.
        level: The probability that an interval holds the true number, within (0, 1).
        replicates: Of how many data sets the intervals are made, each of which lacks a part of the images; 0 for no
            intervals.
        seed: A whole number of at least 0.
        strata: As for :func:`ioukit.statistics.intervals`.
        clusters: As for :func:`ioukit.statistics.intervals`: images of one video or scene are drawn together.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Returns:
        The slices, in the order of ``by``. Intervals come from leaving out images of the whole data set (the
        jackknife), the same for all slices, and Student's t distribution. They are about other slices of as many
        images: AP of few images is higher than AP of many. A slice whose objects are in fewer than five images, or
        clusters, has no intervals, and neither has one whose number no image changes, such as one in which every object
        is missed.

    Raises:
        ValueError: If there is no such column or number, a condition or bins are invalid, ``b`` was made on other data,
            or the evaluation does not hold the data that objects need.
        DatasetError: If a table is invalid.
        OSError: If it cannot be read.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> boxes = [[0, 0, 10, 10], [0, 0, 10, 10], [0, 0, 10, 10]]
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 2, 3], category_ids=[1, 1, 1], boxes=boxes)
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=boxes[:1], scores=[0.9])
        >>> weather = {"image_id": [1, 2, 3], "weather": ["sun", "rain", "rain"]}
        >>> found = slice_numbers(evaluate(gt, dt), "weather", tables=weather, replicates=0)
        >>> {one.name: round(one.numbers["AP"].value, 3) for one in found}
        {'weather: rain': 0.0, 'weather: sun': 1.0}
    """
    check_level(level)
    if replicates:
        check_count(replicates=replicates)
    if b is not None:
        check_same_ground_truth(evaluation, b)
    given: list[str | Expression] = [by] if isinstance(by, str | Expression) else list(by)
    asked = [one for at, one in enumerate(given) if one not in given[:at]]
    models = [Scene(one, tables, image_column) for one in (evaluation, b) if one is not None]
    parts = [listed_parts(scene, asked, bins) for scene in models]
    numbers = named_numbers(
        evaluation, evaluation.protocol.headline_keys if keys is None else chosen_keys(keys, evaluation)
    )
    if not numbers.keys:
        raise ValueError("keys must have at least one number, got none")
    table = evaluation.matches
    groups = image_groups(table.image_ids, strata, clusters)
    left = groups.left_out(seed, replicates) if replicates else None
    measurement = _Measurement(models[0], numbers, left, groups, level, seed, threads)
    made = [
        part_tables(scene, of_model, numbers, threads=threads) for scene, of_model in zip(models, parts, strict=True)
    ]
    rows = Progress(len(parts[0])).over(zip(parts[0], *made, strict=True))
    return SliceNumbers(
        slices=tuple(measurement.measure(part, of_models) for part, *of_models in rows),
        keys=numbers.keys,
        whole=_by_key(numbers, numbers.observed(evaluation)),
        level=level,
        replicates=replicates,
        seed=seed,
        notes=(*models[0].notes, *notes_on_the_rest(models[0], asked, parts[0])),
        whole_of_b={} if b is None else _by_key(numbers, numbers.observed(b)),
    )


def _mean_of_defined(replicates: Floats) -> Floats:
    """(Q,) the mean of the numbers of (B, Q) replicates that are defined; NaN if none is."""
    known = ~np.isnan(replicates)
    sums = np.where(known, replicates, 0.0).sum(axis=0)
    none = np.full(replicates.shape[1], np.nan)
    found: Floats = np.divide(sums, known.sum(axis=0), out=none, where=known.any(axis=0))
    return found


def _changes(left: Floats) -> npt.NDArray[np.bool_]:
    """(Q,) whether the numbers of (G, Q) data sets differ. If not, such as where all is missed, no error is known."""
    undefined = np.isnan(left)
    highest = np.where(undefined, -np.inf, left).max(axis=0, initial=-np.inf)
    lowest = np.where(undefined, np.inf, left).min(axis=0, initial=np.inf)
    return np.asarray(lowest < highest - ROUNDING)


class PartTables(NamedTuple):
    """The match tables of a part and of the rest, and the images of each that weights are for."""

    inside: MatchTable
    rest: MatchTable
    images_inside: npt.NDArray[np.bool_] | slice
    """(I,) which images of the whole table :attr:`inside` has."""
    images_of_rest: npt.NDArray[np.bool_] | slice


def part_tables(
    scene: Scene, parts: Sequence[Part], numbers: NamedNumbers, *, threads: int | None
) -> Iterator[PartTables]:
    """The tables of each part, in order; tables of objects are made a few at a time."""
    table = scene.evaluation.matches
    of_objects: Iterator[MatchTable] = iter(())
    choices = [choice for part in parts if part.level == "object" for choice in _choices(part)]
    if choices and scene.data is not None:  # without the data there are no columns of objects
        ranges = [table.protocol.main_area, *(one.area_range for one in numbers.measures if one.area_range)]
        of_objects = tables_of_objects(scene.data, table, choices, area_ranges=ranges, threads=threads)
    for part in parts:
        if part.level == "object":
            yield PartTables(next(of_objects), next(of_objects), slice(None), slice(None))
        else:
            chosen = part.chosen[scene.evaluated]
            yield PartTables(
                repeat_images(table, chosen.astype(np.int64)),
                repeat_images(table, (~chosen).astype(np.int64)),
                chosen,
                ~chosen,
            )


def _choices(part: Part) -> Iterator[ObjectPart]:
    """The objects of a part and of the rest, and the detections that each ignores."""
    yield ObjectPart(part.chosen, ~part.can_be_in)
    yield ObjectPart(~part.chosen, ~part.can_be_out)


@dataclass(frozen=True, eq=False)
class _Measurement:
    """How all slices are measured: the numbers, and the images that are left out, the same for every slice."""

    scene: Scene
    numbers: NamedNumbers
    left_out: LeftOut | None
    """Which images are left out together; ``None`` for no intervals."""
    groups: ImageGroups
    level: float
    seed: int
    threads: int | None
    _by_chance: dict[int, Floats] = field(default_factory=dict)

    def measure(self, part: Part, models: Sequence[PartTables]) -> Slice:
        """The numbers of a part, from its tables for each model."""
        first = models[0]
        inside = [self._observed(each.inside) for each in models]
        left = [self._without(each.inside, each.images_inside) for each in models]
        of_rest, left_of_rest = self._observed(first.rest), self._without(first.rest, first.images_of_rest)
        on = self._clusters(first.inside, first.images_inside)
        on_rest = self._clusters(first.rest, first.images_of_rest)
        # The difference needs both numbers to tell something of other images.
        on_both = np.minimum(np.where(_changes(left[0]), on, 0), np.where(_changes(left_of_rest), on_rest, 0))
        difference = inside[0] - of_rest
        if part.level == "image" and self.left_out is not None:
            difference = difference - self._chance_difference(int(part.chosen[self.scene.evaluated].sum()))
        if part.shares_false_positives:
            difference = np.where(self._by_recall, difference, np.nan)
        images, objects, share = counts_of(self.scene, part, first.inside)
        return Slice(
            name=part.name,
            by=part.by,
            value=part.value,
            level=part.level,
            images=images,
            objects=objects,
            share=share,
            shares_false_positives=part.shares_false_positives,
            numbers=self._intervals(inside[0], left[0], on, 0.0),
            rest=_by_key(self.numbers, of_rest),
            differences=self._intervals(difference, left[0] - left_of_rest, on_both, -1.0),
            of_b={} if len(models) == 1 else self._intervals(inside[1], left[1], on, 0.0),
            changes={} if len(models) == 1 else self._intervals(inside[1] - inside[0], left[1] - left[0], on, -1.0),
        )

    @property
    def _by_recall(self) -> npt.NDArray[np.bool_]:
        """(Q,) which numbers no false positive changes."""
        quantities = [one.quantity for one in self.numbers.measures]
        return np.array([quantities[column] == "AR" for column in self.numbers.columns.tolist()])

    def _observed(self, table: MatchTable) -> Floats:
        return self.numbers.observed(Evaluation.from_table(table, threads=self.threads))

    def _without(self, table: MatchTable, images: npt.NDArray[np.bool_] | slice) -> Floats:
        """(G, Q) the numbers without each group of images."""
        if self.left_out is None:
            return np.zeros((0, len(self.numbers.keys)))
        weights = self.left_out.weights(0, len(self.left_out.stratum))
        return self.numbers.replicated(table, np.ascontiguousarray(weights[:, images]), self.threads)

    def _clusters(self, table: MatchTable, images: npt.NDArray[np.bool_] | slice) -> npt.NDArray[np.intp]:
        """(Q,) how many clusters have objects that count for each number."""
        return clusters_of_numbers(table, self.groups.take(images), self.numbers)

    def _intervals(
        self, observed: Floats, left: Floats, clusters: npt.NDArray[np.intp], lowest: float
    ) -> dict[str, Interval]:
        """Intervals of (Q,) numbers that depend on so many clusters.

        There are no limits if no image changes a number, also where two models agree, as they may differ on others.
        """
        stratum = np.zeros(0, np.intp) if self.left_out is None else self.left_out.stratum
        told = np.where(clusters >= FEWEST_CLUSTERS, clusters, 0) if len(left) else np.zeros_like(clusters)
        return {
            key: interval_of_left_out(
                float(observed[at]), left[:, at], stratum, int(told[at]), key=key, level=self.level, lowest=lowest
            )
            for at, key in enumerate(self.numbers.keys)
        }

    def _chance_difference(self, count: int) -> Floats:
        """(Q,) the mean difference of the numbers of random sets of so many images to those of the rest.

        Under a fair coin, it would be 0 for a mean over images. AP is not such a mean: of few images, it is higher.
        """
        images = len(self.scene.evaluation.matches.image_ids)
        if 2 * count >= images:  # the rest of such a set is a random set, too; of two halves, none is above the other
            return -self._chance_difference(images - count) if 2 * count > images else np.zeros(len(self.numbers.keys))
        if count not in self._by_chance:
            stream = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(2, count)))
            chosen = np.zeros((_SPLITS, images), np.uint16)
            for row in chosen:
                row[stream.choice(images, count, replace=False)] = 1
            table = self.scene.evaluation.matches
            made = [self.numbers.replicated(table, one, self.threads) for one in (chosen, 1 - chosen)]
            self._by_chance[count] = _mean_of_defined(made[0] - made[1])  # an empty set has no numbers
        return self._by_chance[count]


def counts_of(scene: Scene, part: Part, inside: MatchTable) -> tuple[int, int, float]:
    """The numbers of images and objects of a part, and its share of the images or of the objects."""
    area = inside.protocol.main_area
    counted = ~inside.ignores(area)
    objects = int(counted.sum())
    if part.level == "image":
        return len(inside.image_ids), objects, len(inside.image_ids) / max(len(scene.evaluated), 1)
    every = int((~scene.evaluation.matches.ignores(area)).sum())
    return len(np.unique(inside.objects.image[counted])), objects, objects / max(every, 1)


def _by_key(numbers: NamedNumbers, values: Floats) -> dict[str, float]:
    return dict(zip(numbers.keys, values.tolist(), strict=True))
