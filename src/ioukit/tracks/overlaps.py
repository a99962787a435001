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
    from ioukit.tracks.identities import Side

_LEAST = 1e-300
"""Overlaps below this one are not listed: any overlap of a pair counts for HOTA."""


def overlap_tables(
    kind: Kind,
    gt: GroundTruth,
    dt: Detections,
    detection_images: Positions,
    objects: Side,
    found: Side,
    threads: int,
) -> tuple[Floats, Positions]:
    """The tables of overlaps of all frames, one behind the other, and where that of each frame begins.

    Args:
        kind: The kind of region.
        gt: The objects.
        dt: The result.
        detection_images: (N,) the image of each detection, as the ground truth identifies it.
        objects: The sorted objects.
        found: The sorted detections.
        threads: How many threads; 0 for all cores.

    Raises:
        DatasetError: If a side has no such regions.
        ValueError: If the kind lists no pairs.
    """
    compared = Comparison(
        ground_truth=gt,
        detections=dt,
        detection_images=detection_images,
        over_detection=np.zeros(len(gt), np.bool_),
        all_categories=False,
        least=_LEAST,
        threads=threads,
    )
    pairs = kind.compare(compared)
    if isinstance(pairs, MaskColumns):
        pairs = pair_columns(compared)
    if not isinstance(pairs, PairColumns):
        raise ValueError(f"tracks of the kind {kind.name!r} cannot be evaluated yet")
    (object_places, object_frames), (found_places, _) = _places(objects, len(gt)), _places(found, len(dt))
    heights, widths = (np.diff(side.columns.starts) for side in (objects, found))
    begins = np.concatenate([[0], np.cumsum(heights * widths)])
    tables = np.zeros(int(begins[-1]))
    rows, columns = object_places[pairs.object], found_places[pairs.detection]
    kept = (rows >= 0) & (columns >= 0)
    rows, columns, frames = rows[kept], columns[kept], object_frames[pairs.object[kept]]
    row = rows - objects.columns.starts[frames]
    tables[begins[frames] + row * widths[frames] + columns - found.columns.starts[frames]] = pairs.overlap[kept]
    return tables, begins.astype(np.int64)


def _places(side: Side, count: int) -> tuple[Any, Any]:
    """(N,) the place of each row of the data set among the sorted ones, and its frame; -1 if it is not chosen."""
    places, frames = np.full((2, count), -1, np.int64)
    places[side.rows] = np.arange(len(side.rows))
    frames[side.rows] = np.repeat(np.arange(len(side.columns.starts) - 1), np.diff(side.columns.starts))
    return places, frames
