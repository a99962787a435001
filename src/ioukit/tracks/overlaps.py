"""The overlaps of regions other than upright boxes, as tables of all frames."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation.kinds.kind import Comparison, MaskColumns, PairColumns
from ioukit.evaluation.kinds.masks import pair_columns

if TYPE_CHECKING:
    from ioukit._array_types import Floats, Positions
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.kinds.kind import Kind
    from ioukit.tracks.identities import FrameRows, Side

_LEAST = 1e-300
"""Overlaps below this one are not listed: any overlap of a pair counts for HOTA."""


def compared_sides(
    gt: GroundTruth, dt: Detections, detection_images: Positions, threads: int, *, all_categories: bool = False
) -> Comparison:
    """What kinds of regions are asked about the regions of both sides.

    Args:
        gt: The objects.
        dt: The result.
        detection_images: (N,) the image of each detection, as the ground truth identifies it.
        threads: How many threads; 0 for all cores.
        all_categories: Whether regions of different classes are compared, too.
    """
    return Comparison(
        ground_truth=gt,
        detections=dt,
        detection_images=detection_images,
        over_detection=np.zeros(len(gt), np.bool_),
        all_categories=all_categories,
        least=_LEAST,
        threads=threads,
    )


def overlap_tables(kind: Kind, compared: Comparison, objects: Side, found: Side) -> tuple[Floats, Positions]:
    """The tables of overlaps of all frames, one behind the other, and where that of each frame begins.

    Args:
        kind: The kind of region.
        compared: Both sides.
        objects: The sorted objects.
        found: The sorted detections.

    Raises:
        DatasetError: If a side has no such regions.
        ValueError: If the kind lists no pairs.
    """
    pairs = kind.compare(compared)
    if isinstance(pairs, MaskColumns):
        pairs = pair_columns(compared)
    if not isinstance(pairs, PairColumns):
        raise ValueError(f"tracks of the kind {kind.name!r} cannot be evaluated yet")
    counts = len(compared.ground_truth), len(compared.detections)
    return frame_tables(pairs, (objects.rows, objects.columns), (found.rows, found.columns), counts)


def frame_tables(
    pairs: PairColumns, objects: FrameRows, found: FrameRows, counts: tuple[int, int]
) -> tuple[Floats, Positions]:
    """The tables of overlaps, as :func:`overlap_tables`.

    Args:
        pairs: The pairs that overlap, by their rows of the data set.
        objects: The chosen objects.
        found: The chosen detections.
        counts: How many objects and detections there are.
    """
    (object_places, object_frames), (found_places, _) = _places(objects, counts[0]), _places(found, counts[1])
    object_starts, found_starts = objects[1].starts, found[1].starts
    widths = np.diff(found_starts)
    begins = np.concatenate([[0], np.cumsum(np.diff(object_starts) * widths)])
    tables = np.zeros(int(begins[-1]))
    rows, columns = object_places[pairs.object], found_places[pairs.detection]
    kept = (rows >= 0) & (columns >= 0)
    rows, columns, frames = rows[kept], columns[kept], object_frames[pairs.object[kept]]
    row = rows - object_starts[frames]
    tables[begins[frames] + row * widths[frames] + columns - found_starts[frames]] = pairs.overlap[kept]
    return tables, begins.astype(np.int64)


def _places(side: FrameRows, count: int) -> tuple[Any, Any]:
    """(N,) the place of each row of the data set among the sorted ones, and its frame; -1 if it is not chosen."""
    places, frames = np.full((2, count), -1, np.int64)
    rows, columns = side
    places[rows] = np.arange(len(rows))
    frames[rows] = np.repeat(np.arange(len(columns.starts) - 1), np.diff(columns.starts))
    return places, frames
