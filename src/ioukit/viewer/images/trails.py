"""Track ids of the marks of a large image, and trails: where objects and tracks were in the frames before it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._output import printable
from ioukit.errors import DatasetError
from ioukit.report._pictures import tenths
from ioukit.tracks.events import track_ids
from ioukit.tracks.identities import tracks_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ioukit._array_types import Rows
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.marks import Marks

LENGTH = 30
"""How many frames a trail goes back."""


def add_tracks(collection: Collection, at: int, all_marks: Sequence[Marks], page: dict[str, Any]) -> None:
    """Add to a large image the ``track`` id of each mark, and the ``trails``.

    If its size is not known, it gets one that all frames of its sequence have.

    Args:
        collection: What is shown; its objects and detections have track ids.
        at: The position of the image.
        all_marks: The marks of all models.
        page: The image as :func:`ioukit.viewer.images.large_image.explained` returns it.
    """
    truth = collection.ground_truth
    columns = [tracks_of(truth), *(tracks_of(one.detections) for one in collection.models)]
    for entry, side, row in zip(page["marks"], page["boxes"][7::9], page["boxes"][8::9], strict=True):
        entry["track"] = _track_names(columns[side], np.array([row]))[0]
    page["trails"] = []
    try:
        page["trails"] = trails(collection, at, all_marks)
        image = collection.image_rows[at]
        if np.isnan(truth.images.sizes[image]).any() and not page["photo"] and "grid" not in page:
            page["w"], page["h"] = collection.extents[collection.frames.sequence[image]].tolist()
    except DatasetError:  # the frames are not known: the page says why where it asks for the sequences
        return


def _track_names(ids: npt.NDArray[Any] | None, rows: Rows) -> list[str | None]:
    """The track id of each of some rows of a data set; ``None`` for none.

    Args:
        ids: The ids of all rows, as `tracks_of` has them.
        rows: The rows.
    """
    found = [] if ids is None else track_ids(ids, rows).tolist()
    return [None if one in (-1, "") else printable(str(one)) for one in found]


def trails(collection: Collection, at: int, all_marks: Sequence[Marks]) -> list[dict[str, Any]]:
    """The trail of each object and track of the last frames.

    Each has ``side`` (0 for an object, ``m`` for a track of the ``m``-th model), ``track``, its id, and ``points``:
    the number of the frame in its sequence, and x and y of the centre of its box in tenths of a pixel, frame by frame.
    Detections below the score threshold are left out, as in drawings.

    Args:
        collection: What is shown.
        at: The position of the image.
        all_marks: The marks of all models.

    Raises:
        DatasetError: If an image has no sequence or no frame, and others have one.
    """
    frames, image = collection.frames, collection.image_rows[at]
    start, last = int(frames.starts[frames.sequence[image]]), int(frames.place[image])
    first = max(start, last - LENGTH)
    images = collection.positions[frames.images[first : last + 1]].tolist()
    first += 1 - start
    table = collection.table
    rows = [np.arange(here.start, here.stop) for here in map(collection.objects_of, images)]
    found = _of_side(0, collection.ground_truth, table.objects, rows, first)
    for side, marks in enumerate(all_marks, 1):
        listed = marks.model.table.detections
        scored = np.flatnonzero(listed.score >= marks.at_score)
        ends = [np.searchsorted(scored, (here.start, here.stop)) for here in map(marks.model.detections_of, images)]
        rows = [scored[begin:end] for begin, end in ends]
        found += _of_side(side, marks.model.detections, listed, rows, first)
    return found


def _of_side(
    side: int, data: GroundTruth | Detections, listed: Any, rows: list[Rows], first: int
) -> list[dict[str, Any]]:
    """The trails of one side.

    Args:
        side: The number of the side.
        data: Its data.
        listed: Its rows of the match table.
        rows: Those of each frame.
        first: The number of the first frame.
    """
    every = np.concatenate(rows)
    frame = np.repeat(np.arange(first, first + len(rows)), list(map(len, rows)))
    in_data = listed.row[every]
    boxes = np.nan_to_num(data.boxes[in_data])
    points = np.column_stack([frame, tenths(boxes[:, :2] + boxes[:, 2:] / 2)]).tolist()
    lines: dict[tuple[int, str], list[int]] = {}
    for category, track, point in zip(
        listed.category[every].tolist(), _track_names(tracks_of(data), in_data), points, strict=True
    ):
        if track is not None:
            lines.setdefault((category, track), []).extend(point)
    return [{"side": side, "track": track, "points": line} for (_, track), line in lines.items()]
