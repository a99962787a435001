"""Anchors that fit the box sizes of a data set: k-means under IoU, and measures of the fit."""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

import numpy as np

from ioukit._checks import check_choice
from ioukit.overlap.shape import pairwise_shape_iou, sizes_of
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import FloatArray


FitMethod: TypeAlias = Literal["kmeans", "genetic"]
"""k-means under the distance 1 - IoU, or k-means followed by random changes that are kept if the fit improves."""

_MOST_ROUNDS = 300
_SAMPLE = 10_000  # the sizes on which changes are tried; the result counts only if it is better on all sizes
_BLOCK = 2**16  # the number of sizes whose IoU with all anchors is in memory at once


@dataclass(frozen=True, eq=False)
class AnchorFit:
    """Anchors, and how well they fit the sizes they were measured on."""

    anchors: FloatArray
    """(k, 2) widths and heights, ascending by area; read-only."""
    average_iou: float
    """The mean over all sizes of the best shape IoU with an anchor, within [0, 1]. YOLOv2 reports this number."""
    recall: float
    """The fraction of sizes whose best shape IoU is at least 0.5."""
    ratio_recall: float
    """The fraction of sizes with an anchor whose sides both differ by a factor below 4: the best possible recall under
    YOLOv5's rule."""
    counts: NDArray[np.int64]
    """(k,) the number of sizes for which each anchor is the best; read-only."""

    def __post_init__(self) -> None:
        self.anchors.flags.writeable = False
        self.counts.flags.writeable = False

    def per_scale(self, scales: int) -> list[FloatArray]:
        """The anchors split into one set per scale, the smallest anchors first.

        Raises:
            ValueError: If ``scales`` does not divide the number of anchors.
        """
        if scales < 1 or len(self.anchors) % scales:
            raise ValueError(f"{len(self.anchors)} anchors cannot be shared evenly by {scales} scales")
        return np.split(self.anchors, scales)


def fit_anchors(
    sizes: Boxes | ArrayLike,
    k: int,
    *,
    method: FitMethod = "kmeans",
    generations: int = 1000,
    seed: int = 0,
) -> AnchorFit:
    """Finds k anchors that overlap the box sizes of a data set well.

    The method is k-means with the distance 1 - IoU of two boxes at one centre, so that large and small boxes count the
    same. It starts with k-means++ under this distance and moves each anchor to the mean of its sizes until nothing
    changes. The result is the round with the best average IoU, which under this distance need not be the last.
    ``"genetic"`` continues with random changes of single sides and keeps those that raise the average IoU. The same
    seed gives the same anchors.

    Args:
        sizes: (N, 2) widths and heights, or `Boxes`, in the unit of the network's input. Sizes without area are
            refused; ``boxes.drop_empty()`` removes them.
        k: The number of anchors, at most the number of different sizes.
        method: ``"kmeans"`` or ``"genetic"``.
        generations: The number of changes that ``"genetic"`` tries.
        seed: The seed of the random numbers.

    Returns:
        The anchors and their fit.

    Raises:
        ValueError: If there are fewer different sizes than anchors, or a size is not positive.

    Examples:
        >>> fit = fit_anchors([[10, 20], [11, 21], [100, 50], [98, 52]], 2)
        >>> fit.anchors
        array([[10., 20.],
               [98., 52.]])
        >>> round(fit.average_iou, 3), fit.counts
        (0.952, array([2, 2]))

    Reference: Redmon and Farhadi, YOLO9000: Better, Faster, Stronger, CVPR 2017, arXiv:1612.08242; Arthur and
    Vassilvitskii, k-means++: The Advantages of Careful Seeding, SODA 2007.
    """
    check_choice("method", method, get_args(FitMethod))
    table = _positive(sizes)
    wanted, different = operator.index(k), len(np.unique(table, axis=0))
    if not 1 <= wanted <= different:
        raise ValueError(f"k must be from 1 to {different}, the number of different sizes, got {k}")
    random = np.random.default_rng(seed)
    anchors = _kmeans(table, _seeds(table, wanted, random))
    if method == "genetic":
        anchors = _mutated(table, anchors, operator.index(generations), random)
    return _measured(table, anchors)


def measure_anchors(sizes: Boxes | ArrayLike, anchors: ArrayLike) -> AnchorFit:
    """Measures how well given anchors fit the box sizes of a data set.

    Args:
        sizes: (N, 2) widths and heights, or `Boxes`.
        anchors: (k, 2) widths and heights in the same unit.

    Returns:
        The anchors, sorted by area, and their fit.

    Raises:
        ValueError: If a size or an anchor is not positive, or there is none.

    Examples:
        >>> measure_anchors([[10, 20], [100, 50]], [[10, 10], [100, 50]]).average_iou
        0.75
    """
    return _measured(_positive(sizes), _positive(anchors, "anchors"))


def _positive(sizes: Boxes | ArrayLike, name: str = "sizes") -> FloatArray:
    """(N, 2) positive sizes in float64."""
    if isinstance(sizes, Boxes):
        sizes = np.stack([sizes.width, sizes.height], axis=1)
    table = sizes_of(sizes, name).astype(np.float64)
    if not len(table):
        raise ValueError(f"{name} must have at least one row, got none")
    flat = ~(table > 0).all(axis=1)
    if flat.any():
        row = int(np.argmax(flat))
        raise ValueError(f"{name}[{row}] is {table[row].tolist()}: a size without area fits no anchor, leave it out")
    return table


def _nearest(sizes: FloatArray, anchors: FloatArray) -> tuple[NDArray[np.int64], FloatArray]:
    """(N,) the best anchor of each size (of equal ones the first), and (N,) their IoU."""
    best, value = np.empty(len(sizes), np.int64), np.empty(len(sizes))
    for start in range(0, len(sizes), _BLOCK):
        block = slice(start, start + _BLOCK)
        overlap = pairwise_shape_iou(sizes[block], anchors)
        best[block], value[block] = overlap.argmax(axis=1), overlap.max(axis=1)
    return best, value


def _seeds(sizes: FloatArray, k: int, random: np.random.Generator) -> FloatArray:
    """(k, 2) the start of k-means by k-means++: far sizes are drawn with a higher probability.

    The probability is proportional to the square of the distance from the nearest seed so far.
    """
    chosen = [sizes[random.integers(len(sizes))]]
    distance = np.full(len(sizes), np.inf)
    for _ in range(k - 1):
        distance = np.minimum(distance, 1 - _nearest(sizes, chosen[-1][None])[1])
        weight = np.cumsum(distance**2)
        chosen.append(sizes[int(np.searchsorted(weight, random.random() * weight[-1], "right"))])
    return np.array(chosen)


def _kmeans(sizes: FloatArray, anchors: FloatArray) -> FloatArray:
    before = np.full(len(sizes), -1)
    best, quality = anchors, -1.0
    for _ in range(_MOST_ROUNDS):
        nearest, overlap = _nearest(sizes, anchors)
        if overlap.mean() > quality:
            best, quality = anchors, float(overlap.mean())
        if np.array_equal(nearest, before):
            break
        before = nearest
        count = np.bincount(nearest, minlength=len(anchors))
        mean = np.stack([np.bincount(nearest, sizes[:, axis], len(anchors)) for axis in (0, 1)], axis=1)
        anchors = mean / np.maximum(count, 1)[:, None]
        # An anchor that is the best for no size moves to one of the sizes with the lowest IoU.
        empty = np.flatnonzero(count == 0)
        anchors[empty] = sizes[np.argsort(overlap, kind="stable")[: len(empty)]]
    return best


def _mutated(sizes: FloatArray, anchors: FloatArray, generations: int, random: np.random.Generator) -> FloatArray:
    sample = sizes if len(sizes) <= _SAMPLE else sizes[random.choice(len(sizes), _SAMPLE, replace=False)]
    best, quality = anchors, _nearest(sample, anchors)[1].mean()
    for _ in range(generations):
        step = np.where(random.random(anchors.shape) < 0.3, random.normal(0, 0.1, anchors.shape), 0)
        changed = best * np.exp(step)
        value = _nearest(sample, changed)[1].mean()
        if value > quality:
            best, quality = changed, value
    return best if _nearest(sizes, best)[1].mean() > _nearest(sizes, anchors)[1].mean() else anchors


def _measured(sizes: FloatArray, anchors: FloatArray) -> AnchorFit:
    anchors = anchors[np.lexsort((anchors[:, 0], anchors.prod(axis=1)))]
    nearest, overlap = _nearest(sizes, anchors)
    near = 0
    for start in range(0, len(sizes), _BLOCK):
        ratio = sizes[start : start + _BLOCK, None] / anchors[None]
        near += int((np.maximum(ratio, 1 / ratio).max(axis=2) < 4).any(axis=1).sum())
    return AnchorFit(
        anchors, float(overlap.mean()), float((overlap >= 0.5).mean()), near / len(sizes),
        np.bincount(nearest, minlength=len(anchors)),
    )  # fmt: skip
