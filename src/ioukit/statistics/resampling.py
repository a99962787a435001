"""Which images a replicate holds: drawn again, swapped between two models, or left out, in whole clusters."""

from __future__ import annotations

import operator
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_count, pluralize

Labels: TypeAlias = "Mapping[Any, Hashable] | Sequence[Hashable] | npt.NDArray[Any]"
Weights: TypeAlias = npt.NDArray[np.uint16]

_BYTES = 1 << 26  # of what one batch of replicates may hold
_MOST_AT_ONCE = 200  # replicates: so who waits sees how far it is, and the start of a batch costs nothing that shows
_BOOTSTRAP, _PERMUTATION, _LEAVING, _CUTTING = range(4)  # streams of random numbers that one seed gives
MOST_LEFT_OUT = 400  # groups: with more of them, a variance is hardly known better
MOST_CUTS, _PARTS = 10, (2, 4, 8)


def bootstrap_weights(
    image_ids: npt.ArrayLike,
    replicates: int = 1000,
    *,
    seed: int = 0,
    strata: Labels | None = None,
    clusters: Labels | None = None,
    start: int = 0,
) -> Weights:
    """How often each image stands in each replicate of the bootstrap.

    A replicate draws as many clusters as there are, with replacement; from each stratum as many as it has. All images
    of a cluster are drawn together. Replicate ``b`` depends on ``seed`` and ``b`` alone, so replicates can be drawn in
    parts, and more of them do not change the first ones.

    Args:
        image_ids: (I,) ids of the images, in the order of :attr:`ioukit.MatchTable.image_ids`.
        replicates: B, how many replicates.
        seed: A whole number of at least 0.
        strata: The stratum of each image, for example its camera: (I,) labels, or labels by image id. Every replicate
            has as many clusters of a stratum as the data. All images are one stratum if ``None``.
        clusters: The cluster of each image, for example its scene or video, in the same way. Each image is a cluster if
            ``None``.
        start: The number of the first replicate.

    Returns:
        (B, I) weights for :func:`replicate`.

    Raises:
        ValueError: If a label is missing, a cluster lies in two strata, or a stratum has only one cluster.
        TypeError: If ``replicates``, ``seed`` or ``start`` is not a whole number.

    Example:
        >>> bootstrap_weights([1, 2, 3, 4], 3, clusters=["a", "b", "b", "c"]).tolist()
        [[1, 1, 1, 1], [0, 3, 3, 0], [2, 0, 0, 1]]

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapters 6 and 8.
    """
    check_count(replicates=replicates)
    groups = image_groups(image_ids, strata, clusters)
    first = _check_start(start)
    return groups.bootstrap(check_seed(seed), first, first + operator.index(replicates))


def permutation_swaps(
    image_ids: npt.ArrayLike,
    permutations: int = 1000,
    *,
    seed: int = 0,
    clusters: Labels | None = None,
    start: int = 0,
) -> npt.NDArray[np.bool_]:
    """Whether the detections of two models are swapped on each image, for each permutation.

    Each cluster is swapped with probability 1/2. Permutation ``b`` depends on ``seed`` and ``b`` alone.

    Args:
        image_ids: (I,) ids of the images, in the order of :attr:`ioukit.MatchTable.image_ids`.
        permutations: B, how many permutations.
        seed: A whole number of at least 0.
        clusters: The cluster of each image: (I,) labels, or labels by image id. Each image is a cluster if ``None``.
        start: The number of the first permutation.

    Returns:
        (B, I) bools.

    Raises:
        ValueError: If a label is missing.
        TypeError: If ``permutations``, ``seed`` or ``start`` is not a whole number.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 15.
    """
    check_count(permutations=permutations)
    groups = image_groups(image_ids, None, clusters)
    first = _check_start(start)
    return groups.swaps(check_seed(seed), first, first + operator.index(permutations))


def leave_one_out_weights(
    image_ids: npt.ArrayLike, *, clusters: Labels | None = None, start: int = 0, stop: int | None = None
) -> Weights:
    """Weights that leave one cluster out each: 0 for its images, 1 for all others.

    Args:
        image_ids: (I,) ids of the images, in the order of :attr:`ioukit.MatchTable.image_ids`.
        clusters: The cluster of each image: (I,) labels, or labels by image id. Each image is a cluster if ``None``.
        start: The first cluster, in the order of their first images.
        stop: The cluster after the last one; all further ones if ``None``.

    Returns:
        (C, I) weights for :func:`replicate`.

    Raises:
        ValueError: If a label is missing, or ``stop`` is above the number of clusters.
    """
    groups = image_groups(image_ids, None, clusters)
    first, last = _check_start(start), groups.num_clusters if stop is None else operator.index(stop)
    if last > groups.num_clusters:
        raise ValueError(f"stop must be at most {groups.num_clusters:,}, the number of clusters, got {last:,}")
    return groups.leave_one_out(first, last)


@dataclass(frozen=True, eq=False)
class ImageGroups:
    """The clusters and strata of images. Clusters and strata are numbered in the order of their first images."""

    cluster: npt.NDArray[np.intp]
    """(I,) cluster of each image."""
    stratum: npt.NDArray[np.intp]
    """(C,) stratum of each cluster."""

    @property
    def num_clusters(self) -> int:
        """How many clusters there are."""
        return len(self.stratum)

    @cached_property
    def strata(self) -> list[npt.NDArray[np.intp]]:
        """The clusters of each stratum."""
        order = np.argsort(self.stratum, kind="stable")
        ends = np.cumsum(np.bincount(self.stratum))
        return np.split(order, ends[:-1]) if len(ends) else []

    @cached_property
    def each_image(self) -> bool:
        """Whether every image is a cluster."""
        return len(self.cluster) == self.num_clusters

    def take(self, images: npt.NDArray[np.bool_] | slice) -> ImageGroups:
        """Those of some of the images."""
        present, cluster = np.unique(self.cluster[images], return_inverse=True)
        return ImageGroups(cluster, self.stratum[present])

    def _images(self, of_clusters: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(B, I) values of images, given (B, C) values of clusters."""
        return of_clusters if self.each_image else np.ascontiguousarray(of_clusters[:, self.cluster])

    def bootstrap(self, seed: int, start: int, stop: int) -> Weights:
        """(stop - start, I) weights, see :func:`bootstrap_weights`."""
        weights = np.zeros((stop - start, self.num_clusters), np.uint16)
        for row, number in zip(weights, range(start, stop), strict=True):
            stream = _stream(seed, _BOOTSTRAP, number)
            for clusters in self.strata:
                count = len(clusters)
                row[clusters] = np.bincount(stream.integers(0, count, count), minlength=count)
        return self._images(weights)

    def swaps(self, seed: int, start: int, stop: int) -> npt.NDArray[np.bool_]:
        """(stop - start, I) bools, see :func:`permutation_swaps`."""
        swaps = np.zeros((stop - start, self.num_clusters), np.bool_)
        for row, number in zip(swaps, range(start, stop), strict=True):
            row[:] = _stream(seed, _PERMUTATION, number).integers(0, 2, self.num_clusters, np.uint8)
        return self._images(swaps)

    def all_swaps(self, start: int, stop: int, among: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """(stop - start, I) bools: the ways to swap some of the (C,) clusters by their number; 0 swaps none."""
        swaps, places = np.zeros((stop - start, self.num_clusters), np.bool_), np.flatnonzero(among)
        swaps[:, places] = np.arange(start, stop)[:, None] >> np.arange(len(places)) & 1
        return self._images(swaps)

    def leave_one_out(self, start: int, stop: int) -> Weights:
        """(stop - start, I) weights, see :func:`leave_one_out_weights`."""
        left = np.arange(start, stop)[:, None]
        return np.asarray(self.cluster != left, np.uint16)

    def left_out(self, seed: int, most: int = MOST_LEFT_OUT) -> LeftOut:
        """Groups of about equal size, hardly more than ``most``, of which one at a time is left out."""
        size = -(-self.num_clusters // most)
        stream = _stream(seed, _LEAVING, 0)
        of_cluster, strata = np.empty(self.num_clusters, np.intp), list[int]()
        for stratum, clusters in enumerate(self.strata):
            count = max(2, -(-len(clusters) // size))
            of_cluster[clusters] = len(strata) + stream.permutation(len(clusters)) % count
            strata += [stratum] * count
        return LeftOut(of_cluster[self.cluster], np.array(strata, np.intp))

    def parts(self, seed: int, cuts: int = MOST_CUTS) -> tuple[Weights, npt.NDArray[np.intp]]:
        """Random halves, quarters and eighths of the data, as (R, I) weights, and (R,) into how many it was cut.

        Each part has a share of every stratum. Fewer than 2 f clusters are not cut into f.
        """
        rows, counts = [], list[int]()
        for number in range(cuts):
            stream, place = _stream(seed, _CUTTING, number), np.empty(self.num_clusters, np.intp)
            place[np.concatenate([stream.permutation(clusters) for clusters in self.strata])] = np.arange(len(place))
            for count in _PARTS:
                if self.num_clusters >= 2 * count:
                    rows += [place % count == part for part in range(count)]
                    counts += [count] * count
        weights = np.array(rows, np.uint16).reshape(-1, self.num_clusters)
        return self._images(weights), np.array(counts, np.intp)


class LeftOut(NamedTuple):
    """Groups of clusters, of which one at a time is left out."""

    group: npt.NDArray[np.intp]
    """(I,) the group of each image."""
    stratum: npt.NDArray[np.intp]
    """(G,) the stratum of each group."""

    def weights(self, start: int, stop: int) -> Weights:
        """(stop - start, I) weights that leave out these groups."""
        return np.asarray(self.group != np.arange(start, stop)[:, None], np.uint16)


def image_groups(image_ids: npt.ArrayLike, strata: Labels | None, clusters: Labels | None) -> ImageGroups:
    """The clusters and strata of images.

    Raises:
        ValueError: If a label is missing, a cluster lies in two strata, or a stratum has only one cluster.
    """
    ids = np.asarray(image_ids)
    if ids.ndim != 1:
        raise ValueError(f"image_ids must have the shape (I,), got {ids.shape}")
    cluster = np.arange(len(ids)) if clusters is None else _positions("clusters", clusters, ids)
    count = int(cluster.max(initial=-1)) + 1
    stratum = np.zeros(count, np.intp)
    if strata is not None:
        of_image = _positions("strata", strata, ids)
        stratum[cluster] = of_image
        split = np.flatnonzero(stratum[cluster] != of_image)
        if len(split):
            image = split[0]
            other = np.flatnonzero((cluster == cluster[image]) & (of_image != of_image[image]))[0]
            raise ValueError(
                f"images {ids[image]} and {ids[other]} are in one cluster and in two strata; a cluster must lie in one"
            )
        sizes = np.bincount(stratum)
        if (sizes == 1).any():
            image = np.flatnonzero(stratum[cluster] == np.flatnonzero(sizes == 1)[0])[0]
            raise ValueError(
                f"the stratum of image {ids[image]} has only one {'image' if clusters is None else 'cluster'}, which "
                "every replicate would hold; put it together with another stratum"
            )
    return ImageGroups(cluster, stratum)


def _positions(name: str, labels: Labels, ids: npt.NDArray[Any]) -> npt.NDArray[np.intp]:
    """(I,) numbers for labels, in the order of their first images."""
    if isinstance(labels, Mapping):
        listed = [labels.get(each) for each in ids.tolist()]
    else:
        column = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        if isinstance(labels, (str, bytes)) or len(column) != len(ids):
            raise ValueError(
                f"{name} must have a label for each of {pluralize(len(ids), 'image')}, got {len(column):,}"
            )
        listed = column
    numbers: dict[Hashable, int] = {}
    found = np.empty(len(ids), np.intp)
    for at, label in enumerate(listed):
        if label is None or label != label:  # noqa: PLR0124 - NaN
            raise ValueError(f"{name} has no label for image {ids[at]}")
        try:
            found[at] = numbers.setdefault(label, len(numbers))
        except TypeError:
            raise TypeError(f"{name} must hold numbers or strings, got {label!r} for image {ids[at]}") from None
    return found


def check_seed(seed: int) -> int:
    """The seed.

    Raises:
        TypeError, ValueError: If it is not a whole number of at least 0.
    """
    if not hasattr(seed, "__index__"):
        raise TypeError(f"seed must be a whole number, got {seed!r}")
    number = operator.index(seed)
    if number < 0:
        raise ValueError(f"seed must be at least 0, got {number}")
    return number


def _check_start(start: int) -> int:
    number = operator.index(start)
    if number < 0:
        raise ValueError(f"start must be at least 0, got {number}")
    return number


def _stream(seed: int, kind: int, number: int) -> np.random.Generator:
    """The random numbers of one replicate."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(kind, number))))


def batches(count: int, bytes_each: int) -> Iterator[tuple[int, int]]:
    """Cut replicates into batches of at most about 64 MiB: the first of each batch, and the one after its last."""
    size = min(max(1, _BYTES // max(bytes_each, 1)), _MOST_AT_ONCE)
    for start in range(0, count, size):
        yield start, min(start + size, count)
