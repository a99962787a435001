"""The search for the slices on which a detector is worst, with a correction for the number of slices.

Owns which slices are looked at (`candidates`), which of them are listed, and the limits of their differences. Does not
own how a slice is cut (``parts.py``), its match tables (``measuring.py``), nor what chance does (``trials.py``).
Candidates are counted before anything is matched, because tables cost most: too small slices are left out, and pairs of
columns are made of the slices that remain. Tables are made again for the few slices that are listed, so that only some
are in memory at any time.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Floats
from ioukit._checks import check_count, pluralize
from ioukit._progress import Progress
from ioukit.evaluation import Evaluation, Measure
from ioukit.evaluation._same_scene import check_same_ground_truth
from ioukit.evaluation.protocols import Protocol
from ioukit.slices.columns import Values
from ioukit.slices.computed import SIZE
from ioukit.slices.expression import Expression
from ioukit.slices.measuring import PartTables, counts_of, part_tables
from ioukit.slices.parts import Bins, Part, as_objects, both, check_bins, listed_parts, notes_on_the_rest
from ioukit.slices.results import FEWEST_CLUSTERS, SPLIT, WorstSlice, WorstSlices
from ioukit.slices.scene import Scene
from ioukit.slices.trials import Chance, Trial, adjusted, of_random_images, of_recall, of_swapped_models
from ioukit.statistics.class_clusters import clusters_of_numbers
from ioukit.statistics.detectable import alarm, fewest_permutations
from ioukit.statistics.estimating import check_level, interval_of_left_out
from ioukit.statistics.named_numbers import named_numbers
from ioukit.statistics.resampling import Labels, LeftOut, image_groups
from ioukit.statistics.student import standard_normal, t_quantile

_CLEARLY = standard_normal.inv_cdf(0.95)
"""In standard errors: how much worse a slice by two columns is than the slices that it is part of."""
_FEWEST_BY_RECALL = 10
"""Clusters that limits of the recall of objects need; on fewer, they are too narrow."""


# Long: its signature and its docstring.
def worst_slices(
    evaluation: Evaluation,
    by: str | Expression | Iterable[str | Expression] | None = None,
    *,
    b: Evaluation | None = None,
    tables: Any = None,
    image_column: str | None = None,
    bins: Bins | None = None,
    key: str | None = None,
    pairs: bool = False,
    level: float = 0.95,
    least_objects: int = 50,
    most_slices: int = 1000,
    most_shown: int = 20,
    permutations: int = 200,
    replicates: int = 200,
    seed: int = 0,
    clusters: Labels | None = None,
    threads: int | None = None,
) -> WorstSlices:
    """The slices on which a detector is worse than elsewhere, with a correction for the search.

    Who looks at a hundred slices finds some that are bad by chance. So each slice is compared with what chance makes of
    it, and the adjusted p-value says how often chance makes the worst of **all** slices look as bad (the largest
    statistic of all, as by Westfall and Young). At most the share ``1 - level`` of the data sets without any effect has
    a slice in :attr:`WorstSlices.found`.

    - A slice of images is compared with random sets of as many images: the column is permuted over the images, or over
      the clusters. This is right also for AP, which is higher on few images than on many.
    - A slice of objects is compared with all other objects by recall, class by class: the false positives of a data set
      belong to no slice of its objects. The images, or the clusters, are the units of chance.
    - With a second model ``b``, a slice is one on which ``b`` is worse than the first model: the detections of the two
      are swapped on random images. Both levels then use ``key``, as false positives cost both models the same.

    If there are slices of both levels, adjusted p-values are doubled (Bonferroni).

    Args:
        evaluation: The evaluation, with its data.
        by: Columns and conditions, as for :func:`slice_numbers`. If ``None``: all columns of the tables and of the
            data with at most 50 values, and the computed ones of size, shape, crowding, occlusion, truncation, position
            and number of objects in the image.
        b: A second model, evaluated on the same ground truth by the same rules.
        tables: As for :func:`slice_numbers`.
        image_column: As for :func:`slice_numbers`.
        bins: As for :func:`slice_numbers`.
        key: The number of slices of images; the main one of the protocol, such as ``"AP"``, if ``None``.
        pairs: Whether slices by two columns are looked at, too. Such a slice is listed only if it is clearly worse, by
            1.64 standard errors, than each of the two slices that it is part of.
        level: One minus the probability of a false alarm, within (0, 1); and the probability of the limits.
        least_objects: Slices with fewer objects that count, inside or outside, are not looked at.
        most_slices: The largest number of slices. Of those by two columns, the ones with the most objects are kept.
        most_shown: How many slices are returned, the worst first; more if chance does not explain more.
        permutations: How many random data sets the p-values are made of. The smallest p-value is one over this number
            plus one, and twice that if there are slices of both levels.
        replicates: Of how many data sets the limits of differences of images are made, as for :func:`slice_numbers`.
        seed: A whole number of at least 0.
        clusters: The cluster of each image, such as its video: (I,) labels, or labels by image id. Columns that differ
            within a cluster make no slices of images then.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: As :func:`slice_numbers`, or if more slices than ``most_slices`` are asked for.
        DatasetError: If a table is invalid.
    """
    check_level(level)
    check_count(
        least_objects=least_objects,
        most_slices=most_slices,
        most_shown=most_shown,
        permutations=permutations,
        replicates=replicates,
    )
    models = [evaluation] if b is None else [evaluation, b]
    if b is not None:
        check_same_ground_truth(evaluation, b)
    scenes = [Scene(one, tables, image_column) for one in models]
    asked = [by] if isinstance(by, str | Expression) else None if by is None else list(by)
    groups = image_groups(evaluation.matches.image_ids, None, clusters)
    listed = [
        candidates(
            scene,
            asked,
            bins,
            groups.cluster,
            pairs=pairs,
            least_objects=least_objects,
            most_slices=most_slices,
        )
        for scene in scenes
    ]
    found, notes = listed[0]
    numbers = named_numbers(evaluation, [evaluation.protocol.main_measure.key if key is None else key])
    search = _Search(
        scenes,
        [[one.part for one in of_model] for of_model, _ in listed],
        Chance(numbers, groups, clusters, permutations, seed, threads),
    )
    most_rows = min(most_shown, len(found))
    progress = Progress(len(found) * permutations + most_rows * replicates)
    trials = list(progress.over(search.trials(), permutations))
    alone, together = search.p_values(trials)
    worse = search.worse(found, trials)
    if key not in (None, search.recall_key) and b is None and any(one.part.level == "object" for one in found):
        notes.append(f"slices of objects are compared by {search.recall_key}, not by {key}")
    if whole := [found[at].part.name for at in search.of_whole_classes(trials)]:
        named = ", ".join(whole[:3]) + (f" and {len(whole) - 3:,} more" if len(whole) > 3 else "")
        notes.append(f"recall is compared class by class, which {named} do not allow: no class is inside and outside")
    num_found = int((together[worse] <= alarm(level)).sum())
    num_listed = min(max(most_shown, num_found), len(worse))
    listed_rows = search.rows(found, worse, trials, alone, together, num_listed, level, replicates)
    rows = tuple(progress.over(listed_rows, most_rows * replicates / max(num_listed, 1)))
    if not rows:
        progress.add(most_rows * replicates)
    if any(math.isnan(one.low) for one in rows):
        noun = "image" if groups.each_image else "cluster"
        of_objects = f"slices of objects on fewer than {_FEWEST_BY_RECALL} {noun}s, nor for other " if b is None else ""
        slices = f"{of_objects}slices on fewer than {FEWEST_CLUSTERS} {noun}s"
        notes.append(f"there are no limits for {slices}: so few do not show how much others would differ")
    return WorstSlices(
        slices=rows,
        looked_at=len(found),
        not_compared=sum(math.isnan(p) and one.loss != 0 for p, one in zip(alone.tolist(), trials, strict=True)),
        level=level,
        least_objects=least_objects,
        permutations=permutations,
        permutations_needed=fewest_permutations(level, max(len(search.families), 1)),
        seed=seed,
        two_models=b is not None,
        num_found=num_found,
        notes=(*scenes[0].notes, *notes),
    )


class _Search:
    """Trials of all slices, and rows for the worst of them."""

    def __init__(self, scenes: Sequence[Scene], parts: Sequence[Sequence[Part]], chance: Chance) -> None:
        """Take the data and the slices of each model, which are the same slices in the same order."""
        self._scenes, self._parts, self._chance = scenes, parts, chance
        self._table = scenes[0].evaluation.matches
        protocol = self._table.protocol
        recalls = [one.key for one in protocol.measures if _is_recall(protocol, one)]
        self.recall_key = recalls[0] if recalls else "AR"
        self._two = len(scenes) > 1
        self._recalls: dict[int, Trial] = {}

    def _made(self, positions: Sequence[int]) -> Iterator[tuple[PartTables, ...]]:
        """The match tables of some slices, for each model."""
        each = [
            part_tables(scene, [parts[at] for at in positions], self._chance.numbers, threads=self._chance.threads)
            for scene, parts in zip(self._scenes, self._parts, strict=True)
        ]
        return zip(*each, strict=True)

    def trials(self) -> Iterator[Trial]:
        """The trial of each slice."""
        made = self._made(range(len(self._parts[0])))
        return itertools.starmap(self._trial, zip(self._parts[0], made, strict=True))

    def _trial(self, part: Part, made: Sequence[PartTables]) -> Trial:
        first = made[0]
        if self._two:
            second = made[1].inside
            return of_swapped_models(first.inside, second, first.images_inside, self._table.image_ids, self._chance)
        if part.level == "object":
            return of_recall(first.inside, first.rest, self._chance)
        value = self._chance.observed(first.inside)
        return of_random_images(self._table, part.chosen[self._scenes[0].evaluated], value, self._chance)

    def p_values(self, trials: Sequence[Trial]) -> tuple[Floats, Floats]:
        """(S,) p-values of each slice alone, and for all slices together."""
        alone, together = np.full(len(trials), np.nan), np.full(len(trials), np.nan)
        for rows in self.families:
            alone[rows], of_family = adjusted([trials[row] for row in rows])
            together[rows] = np.minimum(of_family * len(self.families), 1.0)
        return alone, together

    def of_whole_classes(self, trials: Sequence[Trial]) -> list[int]:
        """The positions of slices of objects for which no class has objects inside and outside."""
        parts = [] if self._two else self._parts[0]
        return [at for at, part in enumerate(parts) if part.level == "object" and math.isnan(trials[at].value)]

    @cached_property
    def families(self) -> list[list[int]]:
        """The positions of slices that are compared by the same number, on the same random data."""
        levels = np.array([part.level if not self._two else "" for part in self._parts[0]], np.str_)
        return [np.flatnonzero(levels == family).tolist() for family in np.unique(levels)]

    def worse(self, found: Sequence[Candidate], trials: Sequence[Trial]) -> list[int]:
        """The positions of the slices that are worse than expected, and than the slices that they are part of."""
        return [
            at
            for at, one in enumerate(found)
            if trials[at].loss > 0 and all(self._exceeds(at, part, trials) for part in one.made_of)
        ]

    def rows(
        self,
        found: Sequence[Candidate],
        worse: Sequence[int],
        trials: Sequence[Trial],
        alone: Floats,
        together: Floats,
        most: int,
        level: float,
        replicates: int,
    ) -> Iterator[WorstSlice]:
        """The worst of some slices, with limits of their differences."""
        difference = np.array([one.value - one.expected for one in trials])
        # Undefined p-values come last: as keys they would leave all others in disorder.
        shown = sorted(worse, key=lambda at: (np.isnan(alone[at]), together[at], alone[at], trials[at].score))[:most]
        left_out = self._chance.groups.left_out(self._chance.seed, replicates)
        for at, made in zip(shown, self._made(shown), strict=True):
            part, trial = found[at].part, trials[at]
            of_recall = part.level == "object" and not self._two
            low, high = self._limits(trial, made, left_out, level, of_recall=of_recall)
            images, objects, share = counts_of(self._scenes[0], part, made[0].inside)
            yield WorstSlice(
                name=part.name,
                level=part.level,
                images=images,
                objects=objects,
                share=share,
                key=self.recall_key if of_recall else self._chance.numbers.keys[0],
                value=trial.value,
                expected=trial.expected,
                difference=float(difference[at]),
                low=low,
                high=high,
                p_value=float(alone[at]),
                adjusted_p_value=float(together[at]),
            )

    def _exceeds(self, at: int, part: int, trials: Sequence[Trial]) -> bool:
        """Whether a slice by two columns is clearly worse than one of the slices that it is part of."""
        trial, whole = trials[at], trials[part]
        levels = [self._parts[0][each].level for each in (at, part)]
        if levels == ["object", "image"] and not self._two:  # another number: compare the recalls of both
            if part not in self._recalls:
                scene = self._scenes[0]
                of_objects = [as_objects(scene, self._parts[0][part])]
                made = next(part_tables(scene, of_objects, self._chance.numbers, threads=self._chance.threads))
                self._recalls[part] = of_recall(made.inside, made.rest, self._chance._replace(permutations=1))
            whole = self._recalls[part]
        return trial.loss - whole.loss > _CLEARLY * trial.standard_error

    def _limits(
        self,
        trial: Trial,
        made: Sequence[PartTables],
        left_out: LeftOut,
        level: float,
        *,
        of_recall: bool,
    ) -> tuple[float, float]:
        """The limits of the difference: of recall by its standard error, else by leaving images out."""
        difference, images = trial.value - trial.expected, made[0].images_inside
        clusters = trial.clusters
        if not of_recall:
            groups = self._chance.groups.take(images)
            clusters = int(clusters_of_numbers(made[0].inside, groups, self._chance.numbers)[0])
        if clusters < (_FEWEST_BY_RECALL if of_recall else FEWEST_CLUSTERS):
            return math.nan, math.nan
        if of_recall:
            half = t_quantile((1 + level) / 2, clusters - 1) * trial.standard_error
            return difference - half, difference + half
        weights = np.ascontiguousarray(left_out.weights(0, len(left_out.stratum))[:, images])
        values = [self._chance.replicated(one.inside, weights) for one in made]
        left = values[-1] - (values[0] if self._two else 0.0)
        found = interval_of_left_out(difference, left, left_out.stratum, clusters, key="", level=level, lowest=-1.0)
        return found.low, found.high


def _is_recall(protocol: Protocol, measure: Measure) -> bool:
    return (
        measure.quantity == "AR"
        and measure.iou_threshold is None
        and measure.area_range in (None, protocol.main_area)
        and measure.max_dets in (None, protocol.main_max_dets)
        and measure.group is None
    )


_COMPUTED = (SIZE, "shape", "crowding", "occlusion", "truncation", "position", "objects_in_image")
"""Columns that are looked at if nothing is asked for, besides those of tables and of the data."""


class Candidate:
    """A part of a data set, and the parts that it was put together from."""

    def __init__(self, part: Part, objects: int, made_of: tuple[int, ...] = ()) -> None:
        """Take the part, how many objects of it count, and the positions of its parts among the candidates."""
        self.part = part
        self.objects = objects
        self.made_of = made_of


def candidates(
    scene: Scene,
    by: Sequence[str | Expression] | None,
    bins: Bins | None,
    cluster: npt.NDArray[np.intp],
    *,
    pairs: bool,
    least_objects: int,
    most_slices: int,
) -> tuple[list[Candidate], list[str]]:
    """The slices to look at, and notes about those that are left out.

    Args:
        scene: The data.
        by: Columns and conditions; the columns of tables and of the data, and the main computed ones, if ``None``.
        bins: How columns of numbers are cut.
        cluster: (I,) the cluster of each image of the match table.
        pairs: Whether slices of two different columns are looked at, too.
        least_objects: The least number of objects that must count in a slice, and outside of it.
        most_slices: The largest number of slices.
    """
    if by is None:
        check_bins(bins, [*scene.columns, SIZE])
    parts, notes = _single(scene, by, bins)
    made_of_table = {part.by for part in parts if part.by in scene.columns and scene.columns[part.by].origin == "table"}
    notes += notes_on_the_rest(scene, sorted(made_of_table) if by is None else by, parts)
    rows = _CountedObjects(scene)
    found: list[Candidate] = []
    split: dict[str, None] = {}
    for part in parts:
        objects = rows.count(part)
        if not least_objects <= objects <= rows.total - least_objects:
            continue
        if part.level == "image" and _splits_clusters(part.chosen[scene.evaluated], cluster):
            split[part.by] = None
            continue
        found.append(Candidate(part, objects))
    notes += [f"{name} is left out: {SPLIT}" for name in split]
    if pairs:
        more = list(_pairs(scene, found, rows, least_objects))
        room = max(most_slices - len(found), 0)
        if len(more) > room:
            more_than = pluralize(len(more), "slice")
            notes.append(f"of {more_than} by two columns, the {room:,} with the most objects are looked at")
            more = sorted(more, key=lambda one: -one.objects)[:room]
        found += more
    if len(found) > most_slices:
        raise ValueError(
            f"there are {len(found):,} slices to look at, and most_slices is {most_slices:,}: ask for fewer columns"
        )
    return found, notes


class _CountedObjects:
    """The objects that count in the main area range."""

    def __init__(self, scene: Scene) -> None:
        table = scene.evaluation.matches
        chosen = ~table.ignores(table.protocol.main_area)
        self._row, self._image = table.objects.row[chosen], scene.evaluated[table.objects.image[chosen]]
        self.total = int(chosen.sum())

    def count(self, part: Part) -> int:
        return int(part.chosen[self._image if part.level == "image" else self._row].sum())


def _single(scene: Scene, by: Sequence[str | Expression] | None, bins: Bins | None) -> tuple[list[Part], list[str]]:
    if by is not None:
        return listed_parts(scene, by, bins), []
    of_objects = scene.data is not None and not scene.evaluation.protocol.why_matches_vary
    names = [
        *(name for name, column in scene.columns.items() if column.origin != "computed"),
        *(name for name in _COMPUTED if name in scene.columns or (name == SIZE and "area" in scene.columns)),
    ]
    parts, notes = [], []
    for name in dict.fromkeys(names):  # a column of a table may have the name of a computed one
        if not of_objects and (name == SIZE or scene.columns[name].level == "object"):
            continue
        try:
            parts += listed_parts(scene, [name], {name: bins[name]} if bins and name in bins else None)
        except ValueError as error:
            if not _names_each(scene.columns[name].values):
                notes.append(f"{name} is left out: {error}")
    return parts, notes


def _names_each(values: Values) -> bool:
    """Whether each row has another text, as paths and ids have: nobody would look for a slice by it."""
    return values.kind == "text" and len(np.unique(values.data)) == len(values.data)


def _splits_clusters(chosen: Flags, cluster: npt.NDArray[np.intp]) -> bool:
    """Whether a cluster has images in the slice and outside of it."""
    of_cluster = np.zeros(int(cluster.max(initial=-1)) + 1, np.bool_)
    of_cluster[cluster] = chosen
    return bool((of_cluster[cluster] != chosen).any())


def _pairs(scene: Scene, found: Sequence[Candidate], rows: _CountedObjects, least_objects: int) -> Iterator[Candidate]:
    for (at, first), (other, second) in itertools.combinations(enumerate(found), 2):
        if first.part.by == second.part.by:
            continue
        joint = both(scene, first.part, second.part)
        objects = rows.count(joint)
        if least_objects <= objects < min(first.objects, second.objects):
            yield Candidate(joint, objects, (at, other))
