"""On which images, or clusters of images, each class has objects that count: what a number of a class rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.evaluation import MatchTable
from ioukit.evaluation.summary import in_group
from ioukit.statistics.named_numbers import NamedNumbers
from ioukit.statistics.resampling import ImageGroups, Weights

_MOST = 1 << 22  # weights that are looked up at a time: a replicate has one for each class and cluster with it


@dataclass(frozen=True, eq=False)
class ClassClusters:
    """The clusters with objects of each class, in one area range."""

    counts: npt.NDArray[np.intp]
    """(K,) how many clusters have objects of each class."""
    _present: npt.NDArray[np.intp]
    """The classes that have objects, each once."""
    _images: npt.NDArray[np.intp]
    """One image of each cluster of each of them, in their order."""
    _starts: npt.NDArray[np.intp]
    """Where in this list each class begins."""
    _objects: npt.NDArray[np.intp]
    """How many objects of the class this cluster has."""

    @classmethod
    def of(cls, table: MatchTable, groups: ImageGroups, area_range: str) -> ClassClusters:
        """Those of a table; its objects count that no area range or flag leaves out."""
        counted = ~table.ignores(area_range)
        category = table.evaluated_category(table.objects.category)[counted].astype(np.int64)
        cluster = groups.cluster[table.objects.image[counted]]
        pairs, objects = np.unique(category * groups.num_clusters + cluster, return_counts=True)
        present, starts = np.unique(pairs // groups.num_clusters, return_index=True)
        _, first_images = np.unique(groups.cluster, return_index=True)
        counts = np.bincount(pairs // groups.num_clusters, minlength=len(table.evaluated))
        return cls(counts, present, first_images[pairs % groups.num_clusters], starts, objects)

    def objects_on(self, classes: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        """How many objects of some of the (K,) classes there are on each cluster that has any."""
        of_pairs = np.repeat(self._present, np.diff(np.append(self._starts, len(self._images))))
        kept = classes[of_pairs]
        found = np.bincount(self._images[kept], self._objects[kept])
        return found[found > 0].astype(np.intp)

    def vanished(self, weights: Weights) -> npt.NDArray[np.int64]:
        """(K,) in how many of the (B, I) replicates each class has no objects, although the data has some."""
        found = np.zeros(len(self.counts), np.int64)
        for rows in self._rows(weights):
            found[self._present] += (np.maximum.reduceat(rows, self._starts, axis=1) == 0).sum(axis=0)
        return found

    def counts_in(self, weights: Weights) -> npt.NDArray[np.int64]:
        """(B, K) how many clusters with objects of each class there are in each of the (B, I) replicates."""
        found = np.zeros((len(weights), len(self.counts)), np.int64)
        at = 0
        for rows in self._rows(weights):
            found[at : at + len(rows), self._present] = np.add.reduceat(rows > 0, self._starts, axis=1, dtype=np.int64)
            at += len(rows)
        return found

    def _rows(self, weights: Weights) -> Iterator[Weights]:
        if len(self._present):
            step = max(1, _MOST // len(self._images))
            for start in range(0, len(weights), step):
                yield weights[start : start + step, self._images]


class Differing(NamedTuple):
    """Where two models differ: in the detections of a class on a cluster."""

    classes: npt.NDArray[np.intp]
    """(D,) the class of each difference."""
    clusters: npt.NDArray[np.intp]
    """(D,) its cluster."""
    places: int
    """How many classes on clusters have detections of any of the two."""


def differing_clusters(tables: Iterable[MatchTable], groups: ImageGroups) -> Differing:
    """Where two models differ.

    Detections are alike if all that numbers are made of is equal: scores, overlaps with matched objects, and bits. The
    sums of their hashes are compared, of each class on each cluster. Most classes are on few clusters, so there is no
    table of all of both.
    """
    cells, hashes = [], []
    for sign, table in zip((1, -1), tables, strict=True):
        rows, pairs = table.detections, table.pairs
        cell = table.evaluated_category(rows.category).astype(np.intp) * groups.num_clusters
        cell += groups.cluster[rows.image]
        of_pairs = _hashes(pairs.iou, pairs.matched)
        of_rows = _hashes(rows.score, rows.matched, rows.ignored, rows.special, rows.outside, rows.angle)
        cells += [cell, cell[pairs.detection]]
        hashes += [one if sign > 0 else np.uint64(0) - one for one in (of_rows, of_pairs)]
    places, at = np.unique(np.concatenate(cells), return_inverse=True)
    sums = np.zeros(len(places), np.uint64)
    np.add.at(sums, at.reshape(-1), np.concatenate(hashes))
    differ = places[sums != 0]
    return Differing(differ // groups.num_clusters, differ % groups.num_clusters, len(places))


def _hashes(values: Floats, *bits: npt.NDArray[np.generic] | None) -> npt.NDArray[np.uint64]:
    """(N,) a number for the values of each row (FNV-1a by values instead of bytes, then the end of SplitMix64)."""
    found = (values + 0.0).view(np.uint64) ^ np.uint64(0xCBF29CE484222325)  # -0 is 0
    for table in bits:
        if table is not None:
            columns = table.reshape(len(values), math.prod(table.shape[1:])).T
            for column in columns.astype(np.float64).view(np.uint64) if table.dtype.kind == "f" else columns:
                found = (found * np.uint64(0x100000001B3)) ^ column
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        found = (found ^ (found >> np.uint64(shift))) * np.uint64(factor)
    mixed: npt.NDArray[np.uint64] = found ^ (found >> np.uint64(31))
    return mixed


def clusters_of_numbers(table: MatchTable, groups: ImageGroups, numbers: NamedNumbers) -> npt.NDArray[np.intp]:
    """(Q,) how many clusters have objects that count for each number."""
    protocol = table.protocol
    areas = [protocol.area_of(one) for one in numbers.measures]
    on = {area: ClassClusters.of(table, groups, area) for area in dict.fromkeys(areas)}
    found = [
        len(on[areas[column]].objects_on(in_group(table.evaluated, protocol, numbers.measures[column].group)))
        if of_class < 0
        else on[areas[column]].counts[of_class]
        for column, of_class in numbers.pairs
    ]
    return np.array(found, np.intp)
