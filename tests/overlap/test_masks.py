"""Overlaps of masks, compared with their pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Boxes, Masks, boundary_iou, pairwise_iou, pairwise_mask_iou
from ioukit.overlap.engines import masks as engine
from support.mask_cases import mask_arrays, random_masks

MEASURES: dict[str, Any] = {
    "intersection": lambda common, *_: common,
    "iou": lambda common, first, second: over(common, first + second - common),
    "ioa": lambda common, _, second: over(common, second),
    "iom": lambda common, first, second: over(common, np.minimum(first, second)),
    "jaccard_distance": lambda common, first, second: 1 - over(common, first + second - common),
    "tiou": lambda common, first, second: over(common, first + second - common) * over(common, first),
}


def over(common: Any, divisor: Any) -> Any:
    return np.where(divisor > 0, common / np.where(divisor > 0, divisor, 1), 0.0)


def common_pixels(first: Any, second: Any) -> Any:
    flat1, flat2 = (arrays.reshape(len(arrays), -1).astype(float) for arrays in (first, second))
    return flat1 @ flat2.T


def areas(arrays: Any) -> Any:
    return arrays.sum(axis=(1, 2), dtype=float)


@pytest.mark.parametrize("name", MEASURES)
@given(mask_arrays(max_count=5))
def test_every_measure_is_that_of_the_pixels(name: str, arrays: Any) -> None:
    masks = Masks.from_arrays(arrays)
    wanted = MEASURES[name](common_pixels(arrays, arrays[::-1]), areas(arrays)[:, None], areas(arrays[::-1]))
    assert_array_equal(getattr(ioukit, f"pairwise_{name}")(masks, masks[::-1]), wanted)
    one_each = getattr(ioukit, f"elementwise_{name}")
    assert_array_equal(one_each(masks, masks[::-1]), wanted.diagonal())
    assert_array_equal(one_each(masks[0], masks[::-1]), wanted[0])


def test_the_other_area() -> None:
    masks = Masks.from_boxes(Boxes([[0, 0, 4, 4], [2, 0, 4, 4]]), height=4, width=4)
    assert_array_equal(ioukit.pairwise_ioa(masks, masks, of="first"), [[1, 0.5], [1, 1]])
    assert_array_equal(ioukit.pairwise_ioa(masks, masks), [[1, 1], [0.5, 1]])


def many() -> Any:
    rng = np.random.default_rng(3)
    return random_masks(rng, 60, 150, 170), random_masks(rng, 50, 150, 170)


def test_many_masks_and_threads() -> None:
    first, second = many()
    masks1, masks2 = Masks.from_arrays(first), Masks.from_arrays(second)
    wanted = MEASURES["iou"](common_pixels(first, second), areas(first)[:, None], areas(second))
    for threads in (1, 2, 5, None):
        assert_array_equal(pairwise_iou(masks1, masks2, threads=threads), wanted)
        assert_array_equal(pairwise_mask_iou(masks1, masks2, threads=threads), wanted)
    rows, columns = np.nonzero(np.random.default_rng(0).random(wanted.shape) < 0.5)
    for threads in (0, 1, 2):
        assert_array_equal(engine.pairs("iou", masks1, masks2, rows, columns, threads), wanted[rows, columns])
    index = np.arange(2000) % 50
    assert_array_equal(ioukit.elementwise_iou(masks1[index], masks2[index]), wanted[index, index])


def test_runs_and_bits_agree() -> None:
    """Few long runs are compared as runs, and many short runs as bits; both kinds are also compared."""
    bars = np.zeros((2, 900, 700), bool)
    bars[0, 100:800], bars[1, :, 200:500] = True, True
    noise = np.random.default_rng(0).random((2, 900, 700)) < 0.5
    arrays = np.concatenate([bars, noise])
    masks = Masks.from_arrays(arrays)
    assert_array_equal(ioukit.pairwise_intersection(masks, masks), common_pixels(arrays, arrays))


def test_crowds_divide_by_the_detection() -> None:
    first, second = many()
    masks1, masks2 = Masks.from_arrays(first), Masks.from_arrays(second)
    crowd = np.random.default_rng(1).random(len(second)) < 0.5
    common = common_pixels(first, second)
    iou = over(common, areas(first)[:, None] + areas(second) - common)
    wanted = np.where(crowd, over(common, areas(first)[:, None]), iou)
    for flags in (crowd, crowd.tolist(), crowd.astype(np.uint8)):
        assert_array_equal(pairwise_mask_iou(masks1, masks2, crowd=flags), wanted)


def test_boundaries() -> None:
    first, second = many()
    masks1, masks2 = Masks.from_arrays(first[:9]), Masks.from_arrays(second[:7])
    crowd = np.arange(7) % 2 == 0
    options: Any
    for options in ({}, {"dilation_ratio": 0.05}, {"crowd": crowd}):
        ratio = {name: value for name, value in options.items() if name == "dilation_ratio"}
        flags = {name: value for name, value in options.items() if name == "crowd"}
        wanted = pairwise_mask_iou(masks1.boundary(**ratio), masks2.boundary(**ratio), **flags)
        assert_array_equal(boundary_iou(masks1, masks2, **options), wanted)
        smaller = np.minimum(wanted, pairwise_mask_iou(masks1, masks2, **flags))
        assert_array_equal(pairwise_mask_iou(masks1, masks2, boundary=True, **options), smaller)
    assert_array_equal(boundary_iou(masks1, masks1).diagonal(), (masks1.area > 0).astype(float))


def test_a_ring_is_no_disc() -> None:
    y, x = np.mgrid[:200, :200]
    radius = np.hypot(x - 100, y - 100)
    disc, ring = (
        Masks.from_arrays(np.array([radius < 80])),
        Masks.from_arrays(np.array([(radius < 80) & (radius > 60)])),
    )
    assert boundary_iou(disc, ring) > pairwise_iou(disc, ring)
    assert pairwise_mask_iou(disc, ring, boundary=True) == pairwise_iou(disc, ring)


class TestErrors:
    masks = Masks.from_arrays(np.ones((2, 3, 4), bool))
    turned = Masks.from_arrays(np.ones((2, 4, 3), bool))

    @pytest.mark.parametrize("function", [pairwise_iou, pairwise_mask_iou, boundary_iou, ioukit.elementwise_iou])
    def test_sizes_must_be_one(self, function: Any) -> None:
        with pytest.raises(ValueError, match=r"masks of another size: masks1\[0\] is 3 x 4, masks2\[0\] 4 x 3"):
            function(self.masks, self.turned)
        with pytest.raises(ValueError, match=r"masks1\[1\] is 4 x 3, masks2\[.\] 3 x 4"):
            function(Masks.concat([self.masks[:1], self.turned[:1]]), self.masks)

    def test_elementwise_needs_one_size_for_each_pair_only(self) -> None:
        both = Masks.concat([self.masks, self.turned])
        assert_array_equal(ioukit.elementwise_iou(both, both), 1)

    def test_no_masks(self) -> None:
        none = Masks.concat([])
        assert pairwise_mask_iou(none, self.masks).shape == (0, 2)
        assert pairwise_iou(self.masks, none).shape == (2, 0)
        assert boundary_iou(none, none, crowd=[]).shape == (0, 0)
        assert ioukit.elementwise_iou(none, none).shape == (0,)

    def test_arguments(self) -> None:
        with pytest.raises(ValueError, match=r"crowd must have shape \(2,\), one flag for each of masks2, got \(3,\)"):
            pairwise_mask_iou(self.masks, self.masks, crowd=[0, 0, 0])
        with pytest.raises(TypeError, match="masks2 must be Masks, got Boxes"):
            pairwise_mask_iou(self.masks, Boxes([[0, 0, 1, 1]]))  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="both sets must be of one kind, got Masks and Boxes"):
            pairwise_iou(self.masks, Boxes([[0, 0, 1, 1]]))
        with pytest.raises(TypeError, match="giou is defined for upright boxes; for Masks there are intersection, iou"):
            ioukit.pairwise_giou(self.masks, self.masks)
        with pytest.raises(ValueError, match="two sets of one length, got 2 and 3"):
            ioukit.elementwise_iou(self.masks, self.masks[[0, 0, 0]])
        with pytest.raises(ValueError, match="threads must be at least 1"):
            pairwise_mask_iou(self.masks, self.masks, threads=0)
