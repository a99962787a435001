"""Masks: the polygons that a data set has, or the sides of the pixels of RLE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.datasets.columns._regions import SEGMENTATIONS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.evaluation.outlines.outline import Outline, Outlines
from ioukit.regions.masks import Masks


def mask_outlines(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:  # noqa: ARG001
    """The outlines of masks: polygons as they are given, RLE along the sides of the pixels."""
    if (masks := rows.regions.get("Masks")) is not None:
        return traced_masks(masks)
    return Outlines(tuple(map(_of_segmentation, rows.regions[SEGMENTATIONS])), filled=True)


def traced_masks(masks: Masks) -> Outlines:
    """The outlines of masks along the sides of their pixels."""
    return Outlines(tuple(_of_mask(masks[row]) for row in range(len(masks))), filled=True)


def _of_segmentation(value: Any) -> Outline:
    if isinstance(value, Sequence):
        return Outline(tuple(_clockwise(np.array(polygon, np.float64).reshape(-1, 2)) for polygon in value))
    return _of_mask(Masks.from_coco([value], height=0, width=0))


def _clockwise(ring: Floats) -> Floats:
    """The ring in the direction of all others: no polygon of COCO is a hole in another one."""
    x, y = ring.T
    return ring[::-1] if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0 else ring


def _of_mask(mask: Masks) -> Outline:
    """The outline of one mask. Only the pixels inside its box are looked at."""
    x1, y1, x2, y2 = mask.to_boxes().numpy()[0].astype(int).tolist()
    return Outline(tuple(ring + np.array([x1, y1], np.float64) for ring in traced(mask.to_arrays()[0, y1:y2, x1:x2])))


Places = npt.NDArray[np.intp]


def traced(pixels: npt.NDArray[np.bool_]) -> list[Floats]:
    """The rings around the foreground of one mask, along the sides of its pixels.

    Rings around the foreground go clockwise on the screen, those around holes the other way. Pixels that touch at a
    corner alone are in different rings. The signed areas of all rings sum to the area of the mask.

    Args:
        pixels: (H, W) true for the foreground. The pixel in row y and column x covers ``[x, x + 1]`` by ``[y, y + 1]``.
    """
    padded = np.pad(pixels, 1)
    left_top, right_top = padded[:-1, :-1], padded[:-1, 1:]
    left_low, right_low = padded[1:, :-1], padded[1:, 1:]
    # Two pixels that touch at a corner have two corners there.
    touching = (left_top == right_low) & (right_top == left_low) & (left_top != right_top)
    y, x = np.nonzero((left_top ^ right_top ^ left_low ^ right_low) | touching)
    double = touching[y, x]
    which = np.repeat(np.arange(len(x)), 1 + double)
    second = np.zeros(len(which), np.bool_)
    second[1:] = which[1:] == which[:-1]
    falling = left_top[y, x][which]  # the two pixels are at the top left and at the bottom right
    x, y = x[which], y[which]
    # Along each row, and along each column, corners are the ends of sides in turns. Of two corners in one place, the
    # first belongs to the upper pixel.
    beside = _partners(np.lexsort((second ^ ~falling & double[which], x, y)))
    above = _partners(np.lexsort((second, y, x)))
    outer = right_low[y, x].tolist()
    places = np.stack([x, y], axis=1).astype(np.float64)
    visited = [False] * len(which)
    rings = []
    for start in range(len(which)):
        if visited[start]:
            continue
        ring, corner = [], start
        while not visited[corner]:  # the first corner of a ring is its upper left one, so its side leads to the right
            following = beside[corner]
            visited[corner] = visited[following] = True
            ring += [corner, following]
            corner = above[following]
        points = places[ring]
        rings.append(points if outer[start] else points[::-1])
    return rings


def _partners(order: Places) -> list[int]:
    """The other end of the side of each corner; in the given order, corners 0 and 1 share a side, then 2 and 3."""
    partners = np.empty(len(order), np.intp)
    partners[order[0::2]], partners[order[1::2]] = order[1::2], order[0::2]
    found: list[int] = partners.tolist()
    return found


def simplified(rings: Sequence[Floats], tolerance: float) -> list[Floats]:
    """The rings with fewer points: no point that is left out is farther than the tolerance from the new ring.

    This is the method of Ramer, Douglas and Peucker, for all rings at the same time. A ring that has fewer than three
    points left stays as it was.

    Args:
        rings: Closed paths, each (P, 2).
        tolerance: A distance in the unit of the points.
    """
    if not rings:
        return []
    counts = np.array([len(ring) + 1 for ring in rings])
    starts = np.cumsum(counts) - counts
    points = np.concatenate([part for ring in rings for part in (ring, ring[:1])])
    kept = np.zeros(len(points), np.bool_)
    kept[starts] = kept[starts + counts - 1] = True
    from_start = np.hypot(*(points - np.repeat(points[starts], counts, axis=0)).T)
    farthest = np.maximum.reduceat(from_start, starts)
    kept[_first_of_each(from_start == np.repeat(farthest, counts), np.repeat(np.arange(len(rings)), counts))] = True
    while True:
        ends = np.flatnonzero(kept)
        segment = np.cumsum(kept) - 1
        after = np.minimum(segment + 1, len(ends) - 1)
        distance = _distances(points, points[ends[segment]], points[ends[after]])
        distance[kept] = 0
        most = np.maximum.reduceat(distance, ends)[segment]
        added = _first_of_each((distance == most) & (distance > tolerance), segment)
        if not len(added):
            break
        kept[added] = True
    found = []
    for ring, start, count in zip(rings, starts.tolist(), counts.tolist(), strict=True):
        chosen = ring[kept[start : start + count - 1]]
        found.append(chosen if len(chosen) > 2 else ring)
    return found


def _first_of_each(marked: npt.NDArray[np.bool_], group: npt.NDArray[np.int64]) -> Places:
    """The first marked place of each group that has one."""
    places = np.flatnonzero(marked)
    return places[np.unique(group[places], return_index=True)[1]]


def _distances(points: Floats, first: Floats, last: Floats) -> Floats:
    """(N,) the distance of each point from the straight line between two others."""
    # Column by column: sums over rows of two numbers are slow.
    (x, y), (from_x, from_y), (to_x, to_y) = points.T, first.T, last.T
    along_x, along_y, off_x, off_y = to_x - from_x, to_y - from_y, x - from_x, y - from_y
    squared = along_x**2 + along_y**2
    share = np.clip((off_x * along_x + off_y * along_y) / np.where(squared > 0, squared, 1), 0, 1)
    away: Floats = np.sqrt((off_x - share * along_x) ** 2 + (off_y - share * along_y) ** 2)
    return away
