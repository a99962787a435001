"""Which objects, frame by frame, only one of two trackers follows, and which switches of ids only one makes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._columns import Frozen, record
from ioukit.tracks.events import EVENT_KINDS, named_tracks

if TYPE_CHECKING:
    from ioukit._array_types import Counts, Flags
    from ioukit.tracks import TrackEvaluation, TrackEvents

TRACK_CHANGES = ("found", "lost", "still_found", "still_missed", "new_switches", "gone_switches", "still_switches")
OBJECT_CHANGES = ("found", "lost", "new_switches", "gone_switches")
"""Those that :func:`changed_objects` counts of each object."""
_SWITCH, _MISS = EVENT_KINDS.index("switch"), EVENT_KINDS.index("miss")


@record(frozen=True, eq=False, repr=False)
class TrackChanges(Frozen):
    """What became of each object in each frame, and of each switch of an id: counts of every sequence.

    The pairs are those of CLEAR, with an overlap of at least 0.5. An object counts once in each of its frames. A switch
    is the same one only if it is at the same object in the same frame.
    """

    sequence_names: tuple[str, ...]
    """(S,) the names of the sequences."""
    found: Counts
    """(S,) objects that B follows and A misses."""
    lost: Counts
    """(S,) objects that A follows and B misses."""
    still_found: Counts
    """(S,) objects that both follow."""
    still_missed: Counts
    """(S,) objects that both miss."""
    new_switches: Counts
    """(S,) switches of B that A does not make."""
    gone_switches: Counts
    """(S,) switches of A that B does not make."""
    still_switches: Counts
    """(S,) switches that both make."""

    @property
    def counts(self) -> Mapping[str, int]:
        """The counts of all sequences by their names."""
        return MappingProxyType({name: int(getattr(self, name).sum()) for name in TRACK_CHANGES})

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per sequence."""
        rows = [{"sequence": name, **row} for name, row in self.by_sequence().items()]
        return rows, len(rows)

    def by_sequence(self) -> dict[str, dict[str, int]]:
        """The counts of each sequence by its name."""
        columns = zip(*(getattr(self, name).tolist() for name in TRACK_CHANGES), strict=True)
        return {
            name: dict(zip(TRACK_CHANGES, row, strict=True))
            for name, row in zip(self.sequence_names, columns, strict=True)
        }

    def to_dict(self) -> dict[str, Any]:
        """The counts in plain Python values, of all sequences and of each."""
        return {"counts": dict(self.counts), "sequences": self.by_sequence()}

    def __repr__(self) -> str:
        return f"TrackChanges({', '.join(f'{count:,} {name}' for name, count in self.counts.items())})"


def track_changes(a: TrackEvaluation, b: TrackEvaluation) -> TrackChanges:
    """The changes from A to B, which were evaluated on the same ground truth."""
    events, flags = _flags(a, b)
    names = a.sequence_names
    counts = {name: np.bincount(events.sequence[chosen], minlength=len(names)) for name, chosen in flags.items()}
    return TrackChanges(names, **counts)


def changed_objects(a: TrackEvaluation, b: TrackEvaluation) -> list[tuple[str, Any, int, int, int, int, int]]:
    """The objects that change from A to B, those that change most first.

    Returns:
        The class, the track id and the sequence of each, in how many frames it is found and lost, and its new and gone
        switches.
    """
    events, flags = _flags(a, b)
    number, titles = named_tracks(events, events.object_track)
    unique, first, of = np.unique(events.sequence * len(titles) + number, return_index=True, return_inverse=True)
    counts = np.stack([np.bincount(of[flags[name]], minlength=len(unique)) for name in OBJECT_CHANGES], axis=1)
    order = np.argsort(-counts.sum(axis=1), kind="stable")[: int(counts.any(axis=1).sum())]
    columns = (*(column[first] for column in (events.category, events.object_track, events.sequence)), *counts.T)
    rows = zip(*(column[order].tolist() for column in columns), strict=True)
    return [(events.class_names[category], *rest) for category, *rest in rows]


def _flags(a: TrackEvaluation, b: TrackEvaluation) -> tuple[TrackEvents, dict[str, Flags]]:
    """The events of objects of A, and which of them are each of the changes."""
    of_a, of_b = (_objects(one) for one in (a, b))  # the same rows: those of a frame keep the order of the data set
    missed_a, missed_b = of_a.kind == _MISS, of_b.kind == _MISS
    switch_a, switch_b = of_a.kind == _SWITCH, of_b.kind == _SWITCH
    return of_a, {
        "found": missed_a & ~missed_b,
        "lost": ~missed_a & missed_b,
        "still_found": ~missed_a & ~missed_b,
        "still_missed": missed_a & missed_b,
        "new_switches": ~switch_a & switch_b,
        "gone_switches": switch_a & ~switch_b,
        "still_switches": switch_a & switch_b,
    }


def _objects(evaluation: TrackEvaluation) -> TrackEvents:
    """The events of objects: a row for each, in the order of classes, sequences and frames."""
    events = evaluation.events
    return events[events.object >= 0]
