"""Which objects and which tracks cost most HOTA.

Owns: the rows of `TrackCosts`. Does not own the pairs of HOTA, which the core counts: for an object's track and one
of the result, in how many frames they are a pair at each threshold.

At a threshold, HOTA is ``sqrt(A / (TP + FN + FP))``, with ``A`` the sum over all pairs of how well their tracks go
together. So what a change of one track does to HOTA follows from its own pairs, and no frame is matched again:

- An object is followed, in all of its frames, by a track of its own. ``A`` gets 1 for each of its regions. The tracks
  that followed it lose these regions, so they go better together with the other objects that they follow.
- A track of the result has no region without an object. ``FP`` is lower, and the track goes better together with its
  objects.

All other pairs stay as they are. Rejected: the evaluation without the track. It takes an evaluation per track, and
answers another question: without an object, the regions on it are false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit._columns import record
from ioukit.tracks.events import EVENT_KINDS, ReadableColumns, places_of, track_ids
from ioukit.tracks.measures import THRESHOLDS

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit._array_types import Counts, Flags, Floats, Positions
    from ioukit.tracks.events import Trace, TrackEvents
    from ioukit.tracks.identities import Side


@record(frozen=True, eq=False, repr=False)
class TrackCosts(ReadableColumns):
    """How much HOTA each object and each track of the result costs: a row each, the costliest first.

    ``costs[:10]`` are the ten that cost most, and ``costs[costs.is_object]`` are the objects.
    """

    SHARED: ClassVar[frozenset[str]] = frozenset({"sequence_names", "class_names"})

    sequence_names: tuple[str, ...]
    """The names of the sequences."""
    class_names: tuple[str, ...]
    """The names of the classes."""
    is_object: Flags
    """(N,) whether the row is an object; otherwise, it is a track of the result."""
    sequence: Positions
    """(N,) position in :attr:`sequence_names`."""
    category: Positions
    """(N,) position in :attr:`class_names`."""
    track: npt.NDArray[Any]
    """(N,) the track id; as text if those of one side are."""
    cost: Floats
    """(N,) how much higher the HOTA of the class would be, of all sequences, if a track of its own followed the object
    in all of its frames; or, for a track of the result, without its regions that are at no object. At each threshold of
    HOTA, all other pairs stay as they are."""
    frames: Counts
    """(N,) how many frames show it."""
    alone: Counts
    """(N,) in how many of them it has no pair of CLEAR: the misses of an object, the false regions of a track."""
    changes: Counts
    """(N,) the switches of an object; how often a track of the result goes to another object."""

    def __len__(self) -> int:
        return len(self.cost)

    def __getitem__(self, rows: slice | npt.NDArray[Any] | list[int]) -> TrackCosts:
        return self.take(rows)

    def __repr__(self) -> str:
        objects = int(self.is_object.sum())
        return f"TrackCosts({pluralize(objects, 'object')}, {pluralize(len(self) - objects, 'track')})"

    def _readable(self) -> dict[str, Any]:
        return {
            "of": np.where(self.is_object, "object", "track"),
            "sequence": np.array(self.sequence_names, np.str_)[self.sequence],
            "class": np.array(self.class_names, np.str_)[self.category],
            "track": self.track,
            "cost": self.cost,
            "frames": self.frames,
            "alone": self.alone,
            "changes": self.changes,
        }


class _Tracks(NamedTuple):
    """The tracks of one side, of all classes and sequences one behind the other."""

    job: Positions
    """(T,) the class and the sequence of each, as one number."""
    firsts: Positions
    """(J,) the first track of each class and sequence."""
    number: Positions
    """(N,) the track of each sorted row."""
    lengths: Counts
    """(T,) how many regions each has."""
    ids: npt.NDArray[Any]
    """(T,) what the data call them."""

    def counted(self, is_one: Flags) -> Counts:
        """(T,) how many of the sorted rows that are chosen each has."""
        return np.bincount(self.number[is_one], minlength=len(self.job))


def costs_of(trace: Trace, events: TrackEvents) -> TrackCosts:
    """The costs of all objects and tracks."""
    sequences = len(events.sequence_names)
    objects = _tracks_of(trace, trace.objects, trace.object_tracks)
    found = _tracks_of(trace, trace.found, trace.found_tracks)
    cost = np.concatenate(_costs(trace, objects, found, sequences, len(events.class_names)))
    switch, miss, false = (events.kind == EVENT_KINDS.index(word) for word in ("switch", "miss", "false"))

    def counted(of_objects: Flags, of_found: Flags) -> Counts:
        """How many of these events each object has, and then each track."""
        rows = np.isin(trace.objects.rows, events.object[of_objects])
        others = np.isin(trace.found.rows, events.detection[of_found])
        return np.concatenate([objects.counted(rows), found.counted(others)])

    category, sequence = np.divmod(np.concatenate([objects.job, found.job]), sequences)
    return TrackCosts(
        sequence_names=events.sequence_names,
        class_names=events.class_names,
        is_object=np.arange(len(cost)) < len(objects.job),
        sequence=sequence,
        category=category,
        track=np.concatenate([objects.ids, found.ids]),
        cost=cost,
        frames=np.concatenate([objects.lengths, found.lengths]),
        alone=counted(miss, false),
        changes=counted(switch, events.transfer),
    ).take(np.argsort(-cost, kind="stable"))


def _tracks_of(trace: Trace, side: Side, ids: npt.NDArray[Any]) -> _Tracks:
    frames = trace.frames
    category, place = np.divmod(places_of(side), len(frames.images))
    counts = side.counts.reshape(-1)
    firsts = np.cumsum(counts) - counts
    number = firsts[category * len(frames.names) + frames.sequence[frames.images[place]]] + side.columns.tracks
    row = np.unique(number, return_index=True)[1]
    job = np.repeat(np.arange(len(counts)), counts)
    return _Tracks(job, firsts, number, np.bincount(number, minlength=len(job)), track_ids(ids, side.rows[row]))


def _costs(trace: Trace, objects: _Tracks, found: _Tracks, sequences: int, classes: int) -> tuple[Floats, Floats]:
    """The costs of the objects, and of the tracks of the result. Arrays have a row per two tracks, track or class."""
    job, *places = trace.shared_tracks.T
    of_object, of_found = objects.firsts[job] + places[0], found.firsts[job] + places[1]
    both = trace.shared_counts.reshape(len(job), len(THRESHOLDS)).astype(np.float64)
    long, other = objects.lengths[of_object, np.newaxis], found.lengths[of_found, np.newaxis]
    agreement = both * (both / (long + other - both))
    regions = sum(np.bincount(one.job // sequences, one.lengths, classes) for one in (objects, found))
    union = np.asarray(regions)[:, np.newaxis] - _sums(job // sequences, both, classes)
    whole = _sums(job // sequences, agreement, classes)

    def rise(tracks: _Tracks, gains: Floats, fewer: Floats | float) -> Floats:
        at = tracks.job // sequences
        now = np.sqrt(whole[at] / np.maximum(1, union[at]))
        return np.asarray((np.sqrt((whole[at] + gains) / np.maximum(1, union[at] - fewer)) - now).mean(axis=1))

    gains = objects.lengths[:, np.newaxis] - _sums(of_object, agreement, len(objects.job))
    order = np.argsort(of_found, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(of_found[order])) + 1):
        for row in rows if len(rows) > 1 else ():  # without this object, the track goes better with its others
            rest = rows[rows != row]
            ratio = both[rest] / (long[rest] + other[row] - both[row] - both[rest])
            gains[of_object[row]] += (both[rest] * ratio - agreement[rest]).sum(axis=0)
    paired = _sums(of_found, both, len(found.job))
    alone = found.lengths[:, np.newaxis] - paired
    better = both * (both / (long + paired[of_found] - both)) - agreement
    return rise(objects, gains, 0.0), rise(found, _sums(of_found, better, len(found.job)), alone)


def _sums(of: Positions, values: Floats, count: int) -> Floats:
    """(count, 19) the sums of the rows that belong to each."""
    return np.stack([np.bincount(of, column, count) for column in values.T], axis=1)
