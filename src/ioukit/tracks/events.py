"""What happened in each frame: which track followed an object, which object was missed, and where ids changed.

Owns: the rows of `TrackEvents`, of what the core says about the pairs of CLEAR. Does not own the pairs themselves (the
core), nor any number: the counts of CLEAR are numbers of rows here, which `tests/tracks/test_events.py` counts.
"""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit._columns import Columns, record
from ioukit._optional import import_extra
from ioukit._output import printable, spreadsheet_text, whole_file

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    import numpy.typing as npt

    from ioukit._array_types import Flags, Floats, Positions, Rows
    from ioukit.tracks.identities import Side
    from ioukit.tracks.sequences import Frames

EVENT_KINDS = ("match", "switch", "miss", "false")
"""What can happen: a track follows an object, or another track than before does; nothing does; a track follows none."""
_MATCH, _SWITCH, _MISS, _FALSE = range(4)


class Trace(NamedTuple):
    """What the events are made of."""

    frames: Frames
    image_labels: npt.NDArray[Any]
    """(I,) the ids of the images."""
    objects: Side
    found: Side
    object_tracks: npt.NDArray[Any]
    """(G,) the track id of each object of the data set."""
    found_tracks: npt.NDArray[Any]
    """(D,) that of each detection."""
    matches: Mapping[str, npt.NDArray[Any]]
    """Columns of the pairs of CLEAR, in the order of classes, sequences and frames, by the core's names."""
    shared_tracks: npt.NDArray[np.int64]
    """(P, 3) the class and sequence, as one number, an object's track and one of the result that are a pair of HOTA."""
    shared_counts: npt.NDArray[np.int64]
    """(19 P) in how many frames these two are a pair, at each threshold."""
    sources: tuple[str, str]
    """What the ground truth and the result were read from."""


class ReadableColumns(Columns):
    """A base of tables that can be written with names in the place of positions in lists of names."""

    def _readable(self) -> dict[str, Any]:
        """The columns as people read them, by their names."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """A data frame, with the names of sequences and classes.

        Raises:
            ModuleNotFoundError: If pandas is not installed.
        """
        pandas = import_extra("pandas", extra="pandas", needed_by="to_pandas")
        return pandas.DataFrame({name: np.array(column) for name, column in self._readable().items()})

    def to_arrow(self) -> Any:
        """The same as a table of PyArrow; what is missing is null.

        Raises:
            ModuleNotFoundError: If PyArrow is not installed.
        """
        arrow = import_extra("pyarrow", extra="tables", needed_by="to_arrow")
        columns = self._readable().items()
        return arrow.table({name: arrow.array(column, mask=_is_missing(column)) for name, column in columns})

    def to_dicts(self) -> list[dict[str, Any]]:
        """A dictionary of plain Python values per row, with the names of sequences and classes; ``None`` if missing."""
        columns = self._readable()
        values = [
            [None if gone else value for value, gone in zip(column.tolist(), _is_missing(column).tolist(), strict=True)]
            for column in columns.values()
        ]
        return [dict(zip(columns, row, strict=True)) for row in zip(*values, strict=True)]

    def write_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the rows as CSV, with the names of sequences and classes. What is missing is an empty field.

        The file appears complete or not at all. A text that a spreadsheet would run as a formula gets an apostrophe
        before it.

        Args:
            path: The file to write.

        Raises:
            OSError: If the file cannot be written. It is then as it was.
        """
        columns = self._readable()
        fields = [_fields(column) for column in columns.values()]
        with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(zip(*fields, strict=True))


@record(frozen=True, eq=False, repr=False)
class TrackEvents(ReadableColumns):
    """What happened to each object, and to each detection without an object: a row each.

    Rows are in the order of classes, sequences and frames; in a frame, objects come first. The pairs are those of
    CLEAR, with an overlap of at least 0.5. ``events[rows]`` chooses rows by a slice, by positions or by an array of
    bools: ``events[events.kind == EVENT_KINDS.index("switch")]`` are the switches of ids.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset({"sequence_names", "class_names", "image_labels"})

    sequence_names: tuple[str, ...]
    """The names of the sequences."""
    class_names: tuple[str, ...]
    """The names of the classes."""
    image_labels: npt.NDArray[Any]
    """The ids of the images of the ground truth, which tell the frames in the numbers of the data."""
    kind: npt.NDArray[np.uint8]
    """(N,) position in :data:`EVENT_KINDS`: ``"match"``, ``"switch"``, ``"miss"`` or ``"false"``. A switch is a match
    by another track than that of the last match of the object."""
    sequence: Positions
    """(N,) position in :attr:`sequence_names`."""
    frame: Positions
    """(N,) the place of the frame in its sequence, from 1 on, whatever number it has in the data."""
    image: Positions
    """(N,) position of the frame among the images of the ground truth."""
    category: Positions
    """(N,) position in :attr:`class_names`."""
    object: Rows
    """(N,) row of the object in the ground truth; -1 for a false detection."""
    detection: Rows
    """(N,) row of the detection; -1 for a missed object."""
    object_track: npt.NDArray[Any]
    """(N,) track id of the object; -1, or an empty text, for none."""
    track: npt.NDArray[Any]
    """(N,) track id of the detection; -1, or an empty text, for none."""
    overlap: Floats
    """(N,) overlap of object and detection; NaN for none."""
    fragment: Flags
    """(N,) whether the object is followed again after a gap. As in TrackEval, frames without any object or detection
    are no gap."""
    transfer: Flags
    """(N,) whether the track followed another object of the class at its last match."""

    def __len__(self) -> int:
        return len(self.kind)

    def __getitem__(self, rows: slice | npt.NDArray[Any] | list[int]) -> TrackEvents:
        return self.take(rows)

    def __repr__(self) -> str:
        counts = np.bincount(self.kind, minlength=len(EVENT_KINDS)).tolist()
        found = ", ".join(f"{count:,} {kind}" for kind, count in zip(EVENT_KINDS, counts, strict=True))
        return f"TrackEvents({pluralize(len(self), 'row')}: {found})"

    def _readable(self) -> dict[str, Any]:
        return {
            "event": np.array(EVENT_KINDS)[self.kind],
            "sequence": np.array(self.sequence_names, np.str_)[self.sequence],
            "frame": self.frame,
            "class": np.array(self.class_names, np.str_)[self.category],
            "object_track": self.object_track,
            "track": self.track,
            "overlap": self.overlap,
            "fragment": self.fragment,
            "transfer": self.transfer,
            "image": self.image_labels[self.image],
            "object": self.object,
            "detection": self.detection,
        }


def _is_missing(column: npt.NDArray[Any]) -> Flags:
    """(N,) where a column has no value: an empty text, -1 or NaN."""
    if column.dtype.kind == "U":
        return np.asarray(column == "")
    if column.dtype.kind == "b":
        return np.zeros(len(column), np.bool_)
    return np.asarray((column == -1) | np.isnan(column))


def _fields(column: npt.NDArray[Any]) -> list[Any]:
    """The fields of a column of a CSV file."""
    values = column.tolist()
    if column.dtype.kind == "U":
        return [spreadsheet_text(printable(value)) if value else value for value in values]
    if column.dtype.kind == "b":
        return list(map(int, values))
    return [None if missing else value for value, missing in zip(values, _is_missing(column).tolist(), strict=True)]


def events_of(trace: Trace, sequence_names: tuple[str, ...], class_names: tuple[str, ...]) -> TrackEvents:
    """The events of all classes and sequences."""
    frames, matches = trace.frames, trace.matches
    of_objects, of_found = (places_of(side) for side in (trace.objects, trace.found))
    pair = np.full(len(of_objects), -1)
    pair[matches["match_object"]] = np.arange(len(matches["match_object"]))
    is_false = np.ones(len(of_found), np.bool_)
    is_false[matches["match_found"]] = False
    alone = np.flatnonzero(is_false)
    # Objects first, which a stable sort by frame keeps.
    place = np.concatenate([of_objects, of_found[alone]])
    order = np.argsort(place, kind="stable")
    no_pair = np.full(len(alone), -1)
    object_row = np.concatenate([trace.objects.rows, no_pair])[order]
    pair = np.concatenate([pair, no_pair])[order]
    matched = pair >= 0
    detection = np.concatenate([np.full(len(of_objects), -1), trace.found.rows[alone]])[order]
    detection[matched] = trace.found.rows[matches["match_found"]][pair[matched]]
    kind = np.where(object_row < 0, _FALSE, np.where(matched, _MATCH, _MISS))
    kind[matched] += matches["match_switch"][pair[matched]]
    overlap = np.full(len(order), np.nan)
    overlap[matched] = matches["match_overlap"][pair[matched]]
    fragment, transfer = np.zeros((2, len(order)), np.bool_)
    fragment[matched] = matches["match_resumed"][pair[matched]]
    transfer[matched] = _transfers(trace, of_found)[pair[matched]]
    category, at = np.divmod(place[order], len(frames.images))
    image = frames.images[at]
    sequence = frames.sequence[image]
    return TrackEvents(
        sequence_names=sequence_names,
        class_names=class_names,
        image_labels=trace.image_labels,
        kind=kind.astype(np.uint8),
        sequence=sequence,
        frame=at - frames.starts[sequence] + 1,
        image=image,
        category=category,
        object=object_row,
        detection=detection,
        object_track=track_ids(trace.object_tracks, object_row),
        track=track_ids(trace.found_tracks, detection),
        overlap=overlap,
        fragment=fragment,
        transfer=transfer,
    )


def places_of(side: Side) -> Positions:
    """(N,) the frame of each sorted row, of all classes one behind the other."""
    starts = side.columns.starts
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts))


def _transfers(trace: Trace, frame_of_found: Positions) -> Flags:
    """(M,) whether the track of each pair was that of another object of the class in its last pair."""
    rows = trace.matches["match_found"]
    category, place = np.divmod(frame_of_found[rows], len(trace.frames.images))
    scope = category * len(trace.frames.names) + trace.frames.sequence[trace.frames.images[place]]
    track, owner = trace.found.columns.tracks[rows], trace.objects.columns.tracks[trace.matches["match_object"]]
    order = np.lexsort((track, scope))  # stable: the pairs of a track stay in the order of frames
    changes = (np.diff(scope[order]) == 0) & (np.diff(track[order]) == 0) & (np.diff(owner[order]) != 0)
    found = np.zeros(len(rows), np.bool_)
    found[order[1:]] = changes
    return found


def track_ids(ids: npt.NDArray[Any], rows: Rows) -> npt.NDArray[Any]:
    """The ids at these rows: whole numbers with -1 for none, or texts with an empty one for none."""
    if ids.dtype.kind == "U":
        return np.append(ids, np.array([""], ids.dtype))[rows]
    known = rows >= 0
    found = np.full(len(rows), -1, np.int64)
    found[known] = ids[rows[known]].astype(np.int64)
    return found


def named_tracks(events: TrackEvents, ids: npt.NDArray[Any]) -> tuple[Positions, list[str]]:
    """(N,) the track of each row by its number, and what the tracks are called: class and id.

    Args:
        events: The rows. Tracks of several sequences have one number if they have one id.
        ids: (N,) the ids of the objects, or those of the detections.
    """
    tracks, track = np.unique(ids, return_inverse=True)
    unique, number = np.unique(events.category * len(tracks) + track, return_inverse=True)
    pairs = zip(*(part.tolist() for part in divmod(unique, max(len(tracks), 1))), strict=True)
    return number, [f"{events.class_names[category]} {tracks[at]}" for category, at in pairs]


def runs_of(rows: Positions, frames: Positions) -> tuple[Positions, Positions, Positions]:
    """Frames in a row of each line: the line, the first frame and the last one."""
    order = np.lexsort((frames, rows))
    rows, frames = rows[order], frames[order]
    begins = np.ones(len(rows), np.bool_)
    begins[1:] = (np.diff(rows) != 0) | (np.diff(frames) != 1)
    ends = np.append(begins[1:], True)[: len(rows)]
    return rows[begins], frames[begins], frames[ends]
