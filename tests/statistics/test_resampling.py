"""Replicates draw whole clusters, within strata, and depend on the seed and their number alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit.statistics import bootstrap_weights, leave_one_out_weights, permutation_swaps
from support import strategies as _strategies  # noqa: F401 - loads the profile

SEEDS = st.integers(0, 2**40)


@st.composite
def grouped(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """The cluster of each image, and the stratum of each cluster; every stratum has at least two clusters."""
    strata = [
        k for k, size in enumerate(draw(st.lists(st.integers(2, 5), min_size=1, max_size=4))) for _ in range(size)
    ]
    clusters = [*range(len(strata)), *draw(st.lists(st.integers(0, len(strata) - 1), max_size=12))]
    return draw(st.permutations(clusters)), strata


@given(grouped(), SEEDS)
def test_clusters_and_strata_are_drawn_whole(groups: tuple[list[int], list[int]], seed: int) -> None:
    cluster, stratum = np.array(groups[0]), np.array(groups[1])
    images = np.arange(len(cluster)) * 3
    weights = bootstrap_weights(images, 7, seed=seed, strata=stratum[cluster], clusters=cluster)
    assert weights.shape == (7, len(images))
    of_cluster = np.zeros((7, len(stratum)), int)
    of_cluster[:, cluster] = weights
    assert_array_equal(of_cluster[:, cluster], weights)  # all images of a cluster have one weight
    for part in np.unique(stratum):
        assert_array_equal(of_cluster[:, stratum == part].sum(axis=1), np.sum(stratum == part))
    swaps = permutation_swaps(images, 7, seed=seed, clusters=cluster)
    assert all(len(set(row[cluster == one].tolist())) == 1 for row in swaps for one in np.unique(cluster))


@given(st.integers(2, 30), st.integers(1, 12), st.integers(0, 12), SEEDS)
def test_parts_are_those_of_the_whole(images: int, count: int, cut: int, seed: int) -> None:
    ids = np.arange(images)
    for draw in (bootstrap_weights, permutation_swaps):
        whole = draw(ids, count + cut, seed=seed)
        parts = [draw(ids, count, seed=seed), *([draw(ids, cut, seed=seed, start=count)] if cut else [])]
        assert_array_equal(np.concatenate(parts), whole)


@given(grouped())
def test_leaving_out_takes_each_cluster_once(groups: tuple[list[int], list[int]]) -> None:
    cluster = np.array(groups[0])
    weights = leave_one_out_weights(np.arange(len(cluster)), clusters=cluster)
    assert weights.shape == (len(set(groups[0])), len(cluster))
    assert_array_equal((weights == 0).sum(axis=0), 1)
    assert all(len(set(cluster[row == 0].tolist())) == 1 for row in weights)
    assert_array_equal(weights[1:2], leave_one_out_weights(np.arange(len(cluster)), clusters=cluster, start=1, stop=2))
    with pytest.raises(ValueError, match="stop must be at most 3, the number of clusters, got 4"):
        leave_one_out_weights([1, 2, 3], stop=4)


def test_each_image_is_drawn_once_on_average_and_swapped_half_of_the_time() -> None:
    weights = bootstrap_weights(np.arange(50), 5_000, seed=3)
    # Multinomial: mean 1, variance 1 - 1/n, covariance -1/n.
    assert np.abs(weights.mean(axis=0) - 1).max() < 5 / np.sqrt(5_000)
    assert abs(weights.astype(float).var() - 49 / 50) < 0.01
    assert abs(np.mean(weights == 0) - (49 / 50) ** 50) < 0.003
    swaps = permutation_swaps(np.arange(50), 5_000, seed=3)
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 5 * 0.5 / np.sqrt(5_000)
    assert np.abs(np.corrcoef(swaps[:2_000].T) - np.eye(50)).max() < 5 / np.sqrt(2_000)


def test_seeds_and_streams_differ() -> None:
    one, other = (bootstrap_weights(np.arange(40), 4, seed=seed) for seed in (1, 2))
    assert (one != other).any(axis=1).all()
    assert len(np.unique(one, axis=0)) == 4


def test_the_names_of_groups_do_not_matter() -> None:
    ids = np.array(["c", "d", "e", "f"])
    plain = bootstrap_weights(ids, 9, strata=[1, 1, 2, 2])
    assert_array_equal(bootstrap_weights(ids, 9, strata=["z", "z", "a", "a"]), plain)
    assert_array_equal(bootstrap_weights(ids, 9, strata={"f": 0, "e": 0, "d": 5, "c": 5, "unknown": 1}), plain)
    assert_array_equal(bootstrap_weights(ids, 9, strata=np.array([1, 1, 2, 2])), plain)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"strata": [1, 1, 2]}, ValueError, "strata must have a label for each of 4 images, got 3"),
        ({"strata": {10: 1, 11: 1}}, ValueError, "strata has no label for image 12"),
        ({"clusters": [1, float("nan"), 2, 2]}, ValueError, "clusters has no label for image 11"),
        ({"clusters": [1, [2], 2, 2]}, TypeError, r"clusters must hold numbers or strings, got \[2\] for image 11"),
        ({"clusters": "abcd"}, ValueError, "clusters must have a label for each"),
        ({"strata": [1, 1, 2, 3]}, ValueError, "the stratum of image 12 has only one image"),
        ({"strata": [1, 1, 2, 2], "clusters": ["x", "y", "z", "z"]}, ValueError, "image 12 has only one cluster"),
        ({"strata": [1, 1, 2, 2], "clusters": [1, 2, 2, 3]}, ValueError, "images 11 and 12 are in one cluster and in"),
        ({"replicates": 0}, ValueError, "replicates must be at least 1"),
        ({"replicates": 2.5}, TypeError, "replicates must be an integer"),
        ({"seed": -1}, ValueError, "seed must be at least 0, got -1"),
        ({"seed": None}, TypeError, "seed must be a whole number, got None"),
        ({"start": -1}, ValueError, "start must be at least 0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        bootstrap_weights([10, 11, 12, 13], **arguments)


def test_ids_must_be_a_list() -> None:
    with pytest.raises(ValueError, match=r"image_ids must have the shape \(I,\), got \(1, 2\)"):
        permutation_swaps([[1, 2]])
