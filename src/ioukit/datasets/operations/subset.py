"""A part of a data set: of its classes, images and sizes of objects, or drawn at random."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.images import Images
from ioukit.datasets.operations.choices import image_positions

AreaRange: TypeAlias = str | tuple[float, float]
"""A range of areas in square pixels, with both ends: a name of :data:`SIZES`, a text ``"low:high"``, or a pair."""

SIZES: Mapping[str, tuple[float, float]] = {
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, math.inf),
}
"""COCO's ranges of areas. An area on a border is in both."""


def subset(
    ground_truth: GroundTruth,
    *,
    classes: Sequence[int | str] | None = None,
    images: Sequence[int | str] | npt.NDArray[np.generic] | None = None,
    sizes: Sequence[AreaRange] | None = None,
    drop_empty_images: bool = False,
    sample: int | float | None = None,
    seed: int = 0,
) -> GroundTruth:
    """A part of a ground truth. The conditions apply in the order of the arguments.

    Ids stay as they are. Images without objects stay unless they are dropped; classes without objects stay unless
    ``classes`` leaves them out.

    Args:
        ground_truth: The data set.
        classes: The classes to keep, by name or id; all if ``None``.
        images: The images to keep, by id or by the name of the file; all if ``None``.
        sizes: The ranges of areas to keep, such as ``["small", "1024:4096"]``; an object stays if one of them has its
            area. All if ``None``.
        drop_empty_images: Whether images without objects are left out.
        sample: How many of the images to draw at random: a number, or a share between 0 and 1 as a float. All if
            ``None``.
        seed: The seed of the drawing. The same seed draws the same images, in whatever order a file lists them.

    Raises:
        ValueError: If there is no such class or image, a range is none, or more images are asked for than there are.

    Examples:
        >>> from ioukit import GroundTruth
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 1, 2], category_ids=[7, 8, 8],
        ...     boxes=[[0, 0, 8, 8], [0, 0, 90, 90], [4, 4, 50, 50]], categories={7: "cat", 8: "dog"})
        >>> subset(gt, classes=["dog"], sizes=["medium"])
        GroundTruth(2 annotations, 2 images, 1 category)
        >>> subset(gt, sizes=["0:100"], drop_empty_images=True)
        GroundTruth(1 annotation, 1 image, 2 categories)
    """
    gt = ground_truth
    if classes is not None:
        gt = gt.filter(categories=classes)
    if images is not None:
        gt = _of_images(gt, image_positions(gt.images, images))
    if sizes is not None:
        gt = gt.take(_in_ranges(gt.areas, sizes))
    if drop_empty_images:
        gt = _of_images(gt, np.flatnonzero(np.isin(gt.images.ids, gt.image_ids)))
    if sample is not None:
        gt = _of_images(gt, np.sort(_shuffled(gt.images, seed)[: _count(sample, len(gt.images))]))
    return dataclasses.replace(gt)


def subset_detections(detections: Detections, ground_truth: GroundTruth) -> Detections:
    """The detections of the images and classes that a ground truth lists, such as the result of :func:`subset`.

    Raises:
        TypeError: If image ids of one are strings and those of the other are integers.
    """
    return detections.filter(images=ground_truth.images.labels, categories=ground_truth.categories.ids.tolist())


def split(ground_truth: GroundTruth, shares: Mapping[str, float], *, seed: int = 0) -> dict[str, GroundTruth]:
    """Parts of a data set without common images, for training and validation, for example.

    The images are drawn at random. The numbers of images are the shares of all images, rounded so that each image is
    in one part.

    Args:
        ground_truth: The data set.
        shares: The share of each part by name; they sum to 1.
        seed: The seed of the drawing, as for :func:`subset`.

    Returns:
        The parts by name, each with all classes.

    Raises:
        ValueError: If a share is negative, or the shares do not sum to 1.

    Examples:
        >>> from ioukit import GroundTruth
        >>> gt = GroundTruth.from_arrays(image_ids=range(10), category_ids=[1] * 10, boxes=[[0, 0, 8, 8]] * 10)
        >>> {name: len(part.images) for name, part in split(gt, {"train": 0.75, "val": 0.25}).items()}
        {'train': 8, 'val': 2}
    """
    values = np.array(list(shares.values()), np.float64)
    if not len(values) or not (values >= 0).all() or not math.isclose(values.sum(), 1.0, abs_tol=1e-9):
        raise ValueError(f"shares must be at least 0 and sum to 1, got {dict(shares)}")
    images = _shuffled(ground_truth.images, seed)
    exact = values * len(images)
    counts = np.floor(exact + 1e-9).astype(np.int64)
    # The images that rounding leaves over go to the parts that lost most by it, the first of equal ones.
    order = np.argsort(np.round(counts - exact, 9), kind="stable")  # equal also if the roundings of shares differ
    counts[order[: len(images) - counts.sum()]] += 1
    ends = np.cumsum(counts)
    parts = (np.sort(images[end - count : end]) for count, end in zip(counts, ends, strict=True))
    return {name: _of_images(ground_truth, part) for name, part in zip(shares, parts, strict=True)}


def _of_images(gt: GroundTruth, positions: npt.NDArray[np.intp]) -> GroundTruth:
    images = gt.images.take(positions)
    kept = gt.take(np.isin(gt.image_ids, images.ids))
    if images.keys is None:
        return dataclasses.replace(kept, images=images)
    # Ids that stand for strings are 1 to I.
    ids = np.arange(1, len(images) + 1)
    image_ids = ids[np.searchsorted(images.ids, kept.image_ids)]
    return dataclasses.replace(kept, images=dataclasses.replace(images, ids=ids), image_ids=image_ids)


def _shuffled(images: Images, seed: int) -> npt.NDArray[np.intp]:
    """The positions of all images in random order."""
    if seed < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    return np.random.default_rng(seed).permutation(len(images)).astype(np.intp)


def _count(sample: int | float, images: int) -> int:
    if isinstance(sample, bool) or not math.isfinite(sample):
        raise ValueError(f"sample must be a number of images, or a share from 0 to 1, got {sample!r}")
    if isinstance(sample, float):
        if not 0 <= sample <= 1:
            raise ValueError(f"a share of the images must be from 0 to 1, got {sample!r}")
        return round(sample * images)
    if not 0 <= sample <= images:
        raise ValueError(f"expected a sample of 0 to {images:,} images, as many as there are, got {sample:,}")
    return int(sample)


def _in_ranges(areas: npt.NDArray[np.float64], sizes: Sequence[AreaRange]) -> npt.NDArray[np.bool_]:
    if isinstance(sizes, str):
        raise TypeError(f"expected a list of sizes, got {sizes!r}; write [{sizes!r}]")
    kept = np.zeros(len(areas), np.bool_)
    for size in sizes:
        low, high = _range(size)
        kept |= (areas >= low) & (areas <= high)
    return kept


def _range(size: AreaRange) -> tuple[float, float]:
    if isinstance(size, str) and size in SIZES:
        return SIZES[size]
    ends = size.split(":") if isinstance(size, str) else list(size)
    try:
        low, high = map(float, ends)
    except (ValueError, TypeError):
        low, high = math.nan, math.nan
    if not low <= high:
        raise ValueError(f"a size must be {', '.join(SIZES)}, or low:high in square pixels, got {size!r}")
    return low, high
