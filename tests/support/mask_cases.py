"""Masks of all densities, polygons inside and outside the image, and slow definitions for both."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - it sets the number of examples, and switches off deadlines

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["SIZES", "SMALL", "blobs", "mask_arrays", "plain_counts", "polygons", "random_masks"]

Pixels = Any  # uint8 of 0 and 1
SIZES = [(0, 0), (0, 5), (7, 0), (1, 1), (1, 9), (9, 1), (13, 64), (64, 13), (65, 3), (128, 5), (37, 41), (300, 300)]
SMALL: list[Any] = [
    {"size": [3, 4], "counts": [4, 2, 1, 2, 3]},
    {"size": [3, 4], "counts": [12]},
]  # the second is empty


def random_masks(rng: np.random.Generator, count: int, height: int, width: int) -> NDArray[np.uint8]:
    """(N, H, W): noise of all densities, all zeros, all ones, and blobs."""
    masks = (rng.random((count, height, width)) < rng.random((count, 1, 1))).astype(np.uint8)
    kinds = rng.integers(0, 6, count)
    masks[kinds == 0] = 0
    masks[kinds == 1] = 1
    for index in np.flatnonzero(kinds >= 3):
        masks[index] = blobs(rng, height, width)
    return masks


def blobs(rng: np.random.Generator, height: int, width: int) -> NDArray[np.uint8]:
    """(H, W): the union of some ellipses, which may reach beyond the image."""
    y, x = np.mgrid[:height, :width]
    mask = np.zeros((height, width), np.bool_)
    for _ in range(int(rng.integers(1, 4))):
        cy, cx = rng.uniform(-0.1, 1.1, 2) * (height, width)
        ry, rx = rng.uniform(0.05, 0.5, 2) * (height, width) + 0.1
        mask |= ((y - cy) / ry) ** 2 + ((x - cx) / rx) ** 2 <= 1
    return mask.astype(np.uint8)


@st.composite
def mask_arrays(draw: st.DrawFn, max_count: int = 4) -> NDArray[np.uint8]:
    """(N, H, W) from a random seed, so that Hypothesis draws one number for large masks."""
    height, width = (
        draw(st.sampled_from(SIZES[:-1])) if draw(st.booleans()) else draw(st.tuples(*[st.integers(0, 70)] * 2))
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return random_masks(rng, draw(st.integers(1, max_count)), height, width)


@st.composite
def polygons(draw: st.DrawFn, height: int, width: int) -> list[float]:
    """A flat polygon, near the image or far from it, on whole pixels, fifths, tenths, or anywhere."""
    reach = draw(st.sampled_from([1, 10, 3000]))
    step = draw(st.sampled_from([1.0, 0.5, 0.2, 0.1, None]))
    low, high = -0.5 * reach, max(height, width) + 0.5 * reach
    count = draw(st.integers(3, 8))
    if step is None:
        numbers = st.floats(low, high)
    else:
        numbers = st.integers(int(low / step), int(high / step)).map(lambda k: k * step)
    return draw(st.lists(numbers, min_size=2 * count, max_size=2 * count))


def plain_counts(mask: Pixels) -> list[int]:
    """Runs of one mask, one pixel at a time."""
    counts, value = [0], 0
    for pixel in mask.reshape(-1, order="F").tolist():
        if bool(pixel) != bool(value):
            counts.append(0)
            value = pixel
        counts[-1] += 1
    return counts
