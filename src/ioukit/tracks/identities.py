"""The tracks of both sides, sorted as the core counts them: by class, sequence and frame.

Owns: which column has the track ids, what a valid one is, and that no track has two regions in a frame. Does not own:
which image is which frame (`sequences.py`), nor what is counted (the core).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from ioukit._boundary import TrackColumns
from ioukit.datasets.columns.image_names import TRACK_COLUMNS
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from ioukit._array_types import Counts, Flags, Floats, Ids, Positions, Rows
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.tracks.sequences import Frames

_NONE = -1
"""Stands for no track in MOTChallenge's files."""
_BITS, _BITS_OF_FLOATS = 63, 53
"""Ids are below so many powers of two. Readers of text have floats, which tell no larger ones apart."""
_SMALL = 8
"""Values below so many times their number are counted in a table; larger ones are sorted."""


def tracks_of(side: GroundTruth | Detections) -> np.ndarray[Any, Any] | None:
    """(N,) the track id of each region, as its reader has it; ``None`` if there is no such column, or no id in it."""
    found = next((side.attributes[name] for name in TRACK_COLUMNS if name in side.attributes), None)
    if found is None or found.ndim != 1 or (len(found) and not _has_id(found).any()):
        return None
    return found


def has_tracks(gt: GroundTruth, dt: Detections) -> bool:
    """Whether both sides have track ids."""
    return len(gt) > 0 and len(dt) > 0 and tracks_of(gt) is not None and tracks_of(dt) is not None


def _has_id(tracks: np.ndarray[Any, Any]) -> Flags:
    if tracks.dtype.kind == "U":
        return np.asarray(tracks != "")
    return np.asarray((tracks != _NONE) & ~np.isnan(tracks) if tracks.dtype.kind == "f" else tracks != _NONE)


FrameRows: TypeAlias = "tuple[Rows, TrackColumns]"
"""Rows of a data set in the order of frames, and what the core reads of them."""


class Side(NamedTuple):
    """One side of an evaluation, in the order of classes, sequences and frames. Rows of a frame keep their order."""

    rows: Rows
    """(N,) the row of the data set."""
    columns: TrackColumns
    """What the core reads; the tracks of each class and sequence are numbered from 0 on."""
    counts: Counts
    """(K, S) how many tracks each class and sequence has."""
    totals: Counts
    """(K, S) how many regions."""


def side_of(
    side: GroundTruth | Detections,
    array: str,
    frames: Frames,
    images: Positions,
    categories: Ids,
    kept: Flags,
    *,
    boxes: bool,
    order_of_tracks: Positions | None = None,
) -> Side:
    """The regions that count, sorted.

    Args:
        side: The objects, or the result.
        array: What its rows are called in messages.
        frames: The frames.
        images: (N,) the position of the image of each row.
        categories: (K,) the ids of the classes, in ascending order.
        kept: (N,) whether each row counts; all that do are of these classes.
        boxes: Whether the upright boxes are compared.
        order_of_tracks: (N,) the place of the track of each row, by which tracks are numbered; their ids if ``None``.

    Raises:
        DatasetError: If a row has no valid track id, or a track has two regions in a frame.
    """
    chosen = np.flatnonzero(kept)
    names, tracks = _numbered(side, array, chosen)
    place = frames.place[images[chosen]]
    category = np.searchsorted(categories, side.category_ids[chosen])
    sequences, total = len(frames.names), len(frames.images)
    frame = category * total + place  # of all classes, one behind the other
    order = np.argsort(frame, kind="stable")
    rows, frame, tracks = chosen[order], frame[order], tracks[order]
    _check_once(side, array, frames, images, rows, frame, tracks, names)
    job = category[order] * sequences + frames.sequence[images[rows]]
    # The tracks of each class and sequence, in the order of their ids.
    tracks = tracks if order_of_tracks is None else order_of_tracks[rows]
    many = max(int(tracks.max(initial=0)) + 1, len(names))
    number = job * many + tracks
    unique, positions = _unique(number)
    counts = np.bincount(unique // many, minlength=len(categories) * sequences)
    firsts = np.cumsum(counts) - counts
    starts = np.concatenate([[0], np.cumsum(np.bincount(frame, minlength=len(categories) * total))])
    corners = np.zeros((0, 4))
    if boxes:
        corners = corners_of(side, rows)
    columns = TrackColumns(
        starts=starts.astype(np.int64), tracks=np.ascontiguousarray(positions - firsts[job], np.int64), boxes=corners
    )
    shape = (len(categories), sequences)
    totals = np.bincount(job, minlength=len(categories) * sequences)
    return Side(rows, columns, counts.reshape(shape), totals.reshape(shape))


def corners_of(side: GroundTruth | Detections, rows: Rows | Flags) -> Floats:
    """(N, 4) ``[x1, y1, x2, y2]`` of chosen rows; those of its regions if they are :class:`ioukit.Boxes` in pixels.

    Regions can have corners as a file has them. From widths and heights, a corner may differ in its last bit.
    """
    exact = side.regions.get("Boxes")
    if exact is not None and not exact.normalized:
        return np.ascontiguousarray(exact.convert("xyxy").numpy()[rows], np.float64)
    x, y, width, height = side.boxes[rows].T
    # Column by column: NumPy 2.4 ends the process where there is no memory for the sum of two columns and two others.
    return np.stack([x, y, x + width, y + height], axis=1)


def rows_by_frame(side: GroundTruth | Detections, rows: Rows, places: Positions, frame_count: int) -> FrameRows:
    """The rows in the order of frames, and what the core reads of them: each region of a frame has its own track."""
    rows = rows[np.argsort(places[rows], kind="stable")]
    counts = np.bincount(places[rows], minlength=frame_count)
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    tracks = np.arange(len(rows)) - np.repeat(starts[:-1], counts)
    return rows, TrackColumns(starts=starts, tracks=tracks, boxes=corners_of(side, rows))


def _numbered(side: GroundTruth | Detections, array: str, chosen: Rows) -> tuple[np.ndarray[Any, Any], Positions]:
    """All track ids in ascending order, and the position of that of each chosen row."""
    found = next((name for name in TRACK_COLUMNS if name in side.attributes), None)
    if tracks_of(side) is None or found is None:
        there = (
            f"only {_NONE}" if found else "none; in COCO's files, it is a member of the records, or of their attributes"
        )
        if not len(chosen):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        raise DatasetError(
            f"{side.source}: {array}: expected track ids in the attribute {TRACK_COLUMNS[0]}, found {there}"
        )
    tracks = np.asarray(side.attributes[found])[chosen]
    wrong = ~_has_id(tracks)
    bits = _BITS_OF_FLOATS if tracks.dtype.kind == "f" else _BITS
    if tracks.dtype.kind != "U":
        with np.errstate(invalid="ignore"):
            wrong |= (tracks < 0) | (tracks != np.trunc(tracks)) | (tracks >= 2.0**bits)
    if wrong.any():
        row = int(chosen[wrong.argmax()])
        value = tracks[wrong.argmax()].item()
        shown = "none" if not _has_id(tracks)[wrong.argmax()] else f"{value:g}" if bits < _BITS else repr(value)
        raise DatasetError(
            f"{side.source}: {array}[{row}].{found}: expected the id of a track, a whole number of at least 0 and "
            f"below 2**{bits}, found {shown}"
        )
    return _unique(tracks if tracks.dtype.kind == "U" else tracks.astype(np.int64))


def _unique(values: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], Positions]:
    """The different values in ascending order, and the position of each value; without sorting where they are small."""
    if values.dtype.kind == "U" or not len(values) or values.max() >= _SMALL * len(values):
        found, positions = np.unique(values, return_inverse=True)
        return found, positions
    is_there = np.zeros(int(values.max()) + 1, np.bool_)
    is_there[values] = True
    return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[values]


def _check_once(
    side: GroundTruth | Detections,
    array: str,
    frames: Frames,
    images: Positions,
    rows: Rows,
    frame: Positions,
    tracks: Positions,
    names: np.ndarray[Any, Any],
) -> None:
    """Refuses a track with two regions of a class in one frame."""
    number = frame * len(names) + tracks
    if len(_unique(number)[0]) < len(number):
        order = np.argsort(number, kind="stable")
        at = int(order[1:][np.diff(number[order]) == 0].min())
        row = int(rows[at])
        image = int(images[row])
        raise DatasetError(
            f"{side.source}: {array}[{row}]: expected each track once in a frame, found track "
            f"{names[tracks[at]].item()} again in image {side.image_labels()[row].item()!r} of sequence "
            f"{frames.names[frames.sequence[image]]!r}"
        )
