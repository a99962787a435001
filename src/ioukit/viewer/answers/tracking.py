"""Data with track ids: the frames of each sequence, and what happened in each of them, in sentences.

Owns: the sentence of each event, and where the next event of a kind is. Does not own: the events, which are those of
`ioukit tracks`, nor which image is which frame (`ioukit.tracks`), nor the trails (`images/trails.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._output import printable
from ioukit.tracks import evaluate_tracks
from ioukit.tracks.events import EVENT_KINDS, named_tracks

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Positions, Rows
    from ioukit.viewer.answers.collection import Collection

JUMPS = ("switch", "transfer", "fragment", "miss", "false")
"""The kinds of events that the page goes to, in the order in which a frame lists them."""


def sequences(collection: Collection) -> list[dict[str, Any]]:
    """The name of each sequence, and the positions of its images in the order of their frames.

    Raises:
        DatasetError: If an image has no sequence or no frame, and others have one.
    """
    frames = collection.frames
    images = np.split(collection.positions[frames.images], frames.starts[1:-1])
    return [
        {"name": printable(name), "images": listed.tolist()} for name, listed in zip(frames.names, images, strict=True)
    ]


class Happened:
    """What happened to the tracks of one model: the events of `ioukit.evaluate_tracks`, by the images of the page.

    All detections count, whatever the score threshold, as in `ioukit tracks`.

    Args:
        collection: What is shown; its objects and detections must have track ids.
        model: The number of the model.

    Raises:
        DatasetError, ValueError: As :func:`ioukit.evaluate_tracks`.
    """

    def __init__(self, collection: Collection, model: int) -> None:
        kind: Any = collection.table.iou_type
        tracks = evaluate_tracks(collection.ground_truth, collection.models[model].detections, iou_type=kind)
        events = tracks.events
        self._collection, self._frames = collection, collection.frames
        said = {*collection.ground_truth.notes, *collection.models[model].detections.notes}
        self._notes = [printable(note) for note in tracks.notes if note not in said]
        self._followed = events.kind < EVENT_KINDS.index("miss")
        number_of_object, _ = named_tracks(events, events.object_track)
        number_of_track, _ = named_tracks(events, events.track)
        sequences = len(events.sequence_names)
        by_object, by_track = (one * sequences + events.sequence for one in (number_of_object, number_of_track))
        self._before = _previous(self._followed, by_object, events.frame)
        self._earlier = _previous(self._followed, by_track, events.frame)
        of_kind = {
            **{name: events.kind == EVENT_KINDS.index(name) for name in ("switch", "miss", "false")},
            "transfer": events.transfer,
            "fragment": events.fragment,
        }
        self._first, self._last = events.frame.copy(), events.frame.copy()
        for name, line in (("miss", by_object), ("false", by_track)):
            self._fill_spans(of_kind[name], line, events.frame)
        self._kinds = np.stack([of_kind[name] for name in JUMPS])
        place = self._frames.place[events.image]
        # A row of misses, or of false boxes of one track, is one event: its first frame is where the page goes.
        begins = self._first == events.frame
        self._targets = [np.unique(place[flags & begins]) for flags in self._kinds]
        rows = np.flatnonzero(self._kinds.any(axis=0))
        self._rows = rows[np.argsort(place[rows], kind="stable")]
        self._places = place[self._rows]
        self._events = events

    def _fill_spans(self, flags: Flags, line: Positions, frame: Positions) -> None:
        """The first and the last frame of the row of frames, without a gap, that each event is part of."""
        rows = np.flatnonzero(flags)
        rows = rows[np.lexsort((frame[rows], line[rows]))]
        begins = np.ones(len(rows), np.bool_)
        begins[1:] = (np.diff(line[rows]) != 0) | (np.diff(frame[rows]) != 1)
        run = np.cumsum(begins) - 1
        self._first[rows] = frame[rows][begins][run]
        self._last[rows] = frame[rows][np.append(begins[1:], True)[: len(rows)]][run]

    def to_json(self, at: int) -> dict[str, Any]:
        """What happened in a frame, and the images of the events before and after it.

        ``events`` has ``kinds`` (some of :data:`JUMPS`), ``words``, whether it ``begins`` here, and ``object`` and
        ``detection``, rows in the data or -1. ``jumps`` has two positions of images for each of :data:`JUMPS`, ``None``
        for none. ``notes`` say what the evaluation left out.

        Args:
            at: The position of the image.
        """
        place = self._frames.place[self._collection.image_rows[at]]
        first, last = np.searchsorted(self._places, (place, place + 1))
        listed = [self._event(row) for row in self._rows[first:last].tolist()]
        listed.sort(key=lambda event: JUMPS.index(event["kinds"][0]))
        jumps = {name: self._jump(targets, place) for name, targets in zip(JUMPS, self._targets, strict=True)}
        return {"events": listed, "jumps": jumps, "notes": self._notes}

    def _jump(self, targets: Positions, place: int) -> list[int | None]:
        """The images with the nearest of some places before and after a place."""
        before, after = np.searchsorted(targets, place), np.searchsorted(targets, place, side="right")
        found = (targets[before - 1] if before else None, targets[after] if after < len(targets) else None)
        return [None if one is None else int(self._collection.positions[self._frames.images[one]]) for one in found]

    def _event(self, row: int) -> dict[str, Any]:
        events = self._events
        kinds = [name for name, flags in zip(JUMPS, self._kinds, strict=True) if flags[row]]
        first, last = int(self._first[row]), int(self._last[row])
        during = f", from frame {first:,} to {last:,}" if first < last else ""
        before, earlier = self._before[row], self._earlier[row]
        sentences = {
            "switch": lambda: f"{self._object(row)} was followed by {self._track(before)}, now by {self._id(row)}.",
            "transfer": lambda: f"{self._track(row)} followed {self._object(earlier)} before.",
            "fragment": lambda: f"{self._object(row)} is followed again, after frame {events.frame[before]:,}.",
            "miss": lambda: f"No track follows {self._object(row)}{during}.",
            "false": lambda: f"{self._track(row)} follows no object{during}.",
        }
        words = (sentences[kind]() for kind in kinds)
        return {
            "kinds": kinds,
            "words": " ".join(one[0].upper() + one[1:] for one in words),
            "begins": first == int(events.frame[row]),
            "object": int(events.object[row]),
            "detection": int(events.detection[row]),
        }

    def _object(self, row: int) -> str:
        names, events = self._events.class_names, self._events
        of_class = f" ({printable(names[events.category[row]])})" if len(names) > 1 else ""
        return f"object {printable(str(events.object_track[row]))}{of_class}"

    def _track(self, row: int) -> str:
        return f"track {self._id(row)}"

    def _id(self, row: int) -> str:
        return printable(str(self._events.track[row]))


def _previous(flags: Flags, line: Positions, frame: Positions) -> Rows:
    """(N,) of each chosen row the one before it of the same line, in the order of frames; -1 for none."""
    rows = np.flatnonzero(flags)
    rows = rows[np.lexsort((frame[rows], line[rows]))]
    found: npt.NDArray[np.int64] = np.full(len(flags), -1)
    same = np.flatnonzero(np.diff(line[rows]) == 0)
    found[rows[same + 1]] = rows[same]
    return found
