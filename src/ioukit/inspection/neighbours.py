"""How much each object overlaps its nearest neighbour on the same image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._array_types import Floats
from ioukit.overlap.join import overlap_join
from ioukit.regions.boxes import Boxes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


MOST_PAIRS = 1 << 23
"""The largest number of pairs in one join: about 300 MB if all objects of an image overlap each other."""

LEAST = 5e-324
"""The smallest positive threshold: with it, a join finds every pair with an intersection."""


def nearest_overlaps(
    regions: Any, images: NDArray[np.int64], classes: NDArray[np.int64], *, threads: int | None = None
) -> tuple[Floats, Floats]:
    """The largest IoU of each object with another object of its image, of any class and of its own class.

    Args:
        regions: (N, 4) boxes, xyxy, or N regions of another kind.
        images: (N,) the image of each object.
        classes: (N,) the class of each object.
        threads: How many threads; all cores if ``None``.

    Returns:
        Two times (N,) within [0, 1]; 0 without an overlap.
    """
    if isinstance(regions, np.ndarray):
        regions = Boxes(regions, "xyxy", dtype=np.float64)
    of_any, of_same = np.zeros(len(images)), np.zeros(len(images))
    order = np.argsort(images, kind="stable")
    for rows, others in _blocks(images[order]):
        mine, partners = order[rows], order[others]
        pairs = overlap_join(
            regions[mine],
            regions[partners],
            min_iou=LEAST,
            labels1=images[mine],
            labels2=images[partners],
            threads=threads,
        )
        first, second = mine[pairs.rows], partners[pairs.columns]
        different = first != second
        _raise_to_maximum(of_any, first[different], pairs.values[different])
        same = different & (classes[first] == classes[second])
        _raise_to_maximum(of_same, first[same], pairs.values[same])
    return of_any, of_same


def _blocks(images: NDArray[np.int64]) -> Iterator[tuple[slice, slice]]:
    """Objects, and all objects of their images, in blocks of at most :data:`MOST_PAIRS` pairs.

    Args:
        images: (N,) in ascending order.
    """
    starts = np.flatnonzero(np.diff(images, prepend=images[:1] - 1))
    ends = np.append(starts[1:], len(images))
    pairs = np.cumsum((ends - starts).astype(np.float64) ** 2)
    first = 0
    while first < len(starts):
        before = pairs[first - 1] if first else 0.0
        last = max(int(np.searchsorted(pairs, before + MOST_PAIRS, side="right")), first + 1)
        start, end = int(starts[first]), int(ends[last - 1])
        step = end - start
        if last == first + 1:  # a single image may be too large for one join
            step = max(MOST_PAIRS // step, 1)
        for row in range(start, end, step):
            yield slice(row, min(row + step, end)), slice(start, end)
        first = last


def _raise_to_maximum(values: Floats, rows: NDArray[np.int64], found: Floats) -> None:
    """Raises ``values[rows]`` to what was found; equal rows stand together."""
    if len(rows):
        starts = np.flatnonzero(np.diff(rows, prepend=rows[0] - 1))
        values[rows[starts]] = np.maximum(values[rows[starts]], np.maximum.reduceat(found, starts))
