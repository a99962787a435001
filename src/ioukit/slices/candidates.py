"""The slices that a search looks at."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._checks import pluralize
from ioukit.slices.expression import Expression
from ioukit.slices.parts import SIZE, Bins, Part, both, check_bins, listed_parts
from ioukit.slices.scene import Scene

__all__ = ["Candidate", "candidates"]

Bools: TypeAlias = npt.NDArray[np.bool_]

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
    notes += [f"{name} is left out: it differs within a cluster" for name in split]
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
    of_objects = scene.data is not None and scene.evaluation.protocol.objects_choose is None
    names = [
        *(name for name, column in scene.columns.items() if column.origin != "computed"),
        *(name for name in _COMPUTED if name in scene.columns or (name == SIZE and "area" in scene.columns)),
    ]
    parts, notes = [], []
    for name in names:
        if not of_objects and (name == SIZE or scene.columns[name].level == "object"):
            continue
        try:
            parts += listed_parts(scene, [name], {name: bins[name]} if bins and name in bins else None)
        except ValueError as error:
            notes.append(f"{name} is left out: {error}")
    return parts, notes


def _splits_clusters(chosen: Bools, cluster: npt.NDArray[np.intp]) -> bool:
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
