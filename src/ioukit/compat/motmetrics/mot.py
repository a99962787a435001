"""`motmetrics.mot`: what happens to objects and tracks, frame by frame.

Owns the order of the events of a frame, and what is known of earlier frames. Does not own distances (`distances`), the
choice of pairs (`lap`) or what is counted (`metrics`). Events wait as columns of plain values, since a data frame that
grows by a row is copied each time; `MOTAccumulator.events` makes the data frame.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat._originals import keep
from ioukit.compat.motmetrics.lap import linear_sum_assignment

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from types import ModuleType

    from numpy.typing import ArrayLike

__all__ = ["MOTAccumulator"]

_TYPES = ("RAW", "FP", "MISS", "SWITCH", "MATCH", "TRANSFER", "ASCEND", "MIGRATE")
_NUMBERS = ("OId", "HId", "D")
_INDEX = ("FrameId", "Event")
_NONE = float("nan")


class MOTAccumulator:
    """The events of a tracker in a sequence of frames.

    `update` takes one frame: the ids of objects and of hypotheses (the boxes of the tracker), and their distances.
    Objects and hypotheses that were a pair stay one while their distance is allowed; the others become pairs with the
    lowest sum of distances. Each pair, each object and each hypothesis gives an event:

    - ``MATCH``: a pair, and ``SWITCH``: a pair whose object had another hypothesis before.
    - ``MISS``: an object without a hypothesis, and ``FP``: a hypothesis without an object.
    - ``TRANSFER``: the hypothesis of a pair had another object before. ``ASCEND``: the hypothesis of a switch is in a
      pair for the first time. ``MIGRATE``: the object of a transfer is in a pair for the first time. They come in
      addition to the event of the pair.
    - ``RAW``: what `update` was given, and one for the frame itself.

    Args:
        auto_id: Whether frames are numbered from 0 on. Otherwise `update` needs a ``frameid``.
        max_switch_time: After an absence of more frames, another hypothesis is no switch.

    Reference: Bernardin and Stiefelhagen, Evaluating Multiple Object Tracking Performance, 2008.
    """

    def __init__(self, auto_id: bool = False, max_switch_time: float = float("inf")) -> None:
        self.auto_id = auto_id
        self.max_switch_time = max_switch_time
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._indices: dict[str, list[Any]] = {name: [] for name in _INDEX}
        self._events: dict[str, list[Any]] = {name: [] for name in ("Type", *_NUMBERS)}
        self.m: dict[Any, Any] = {}
        """The last hypothesis of each object."""
        self.res_m: dict[Any, Any] = {}
        """The last object of each hypothesis, as far as they were not a pair in the frame before."""
        self.last_occurrence: dict[Any, Any] = {}
        """The last frame of each object."""
        self.last_match: dict[Any, Any] = {}
        """The last frame in which each object had a hypothesis."""
        self.hypHistory: dict[Any, Any] = {}
        """The last frame in which each hypothesis had an object."""
        self.dirty_events = True
        self.cached_events_df: Any = None

    def update(self, oids: ArrayLike, hids: ArrayLike, dists: ArrayLike, frameid: Any = None) -> Any:
        """Add a frame.

        Args:
            oids: (N,) ids of the objects: numbers.
            hids: (M,) ids of the hypotheses: numbers.
            dists: (N, M) distances. NaN and infinity are pairs that may not be.
            frameid: The id of the frame; not with ``auto_id``.

        Returns:
            The id of the frame.

        Raises:
            AssertionError: If ``frameid`` is missing, or given with ``auto_id``.
            ValueError: If the distances have another shape.
        """
        objects, found = np.asarray(oids).tolist(), np.asarray(hids).tolist()
        distances = np.asarray(dists, np.float64)
        if distances.size != len(objects) * len(found):
            raise ValueError(f"dists must have shape ({len(objects)}, {len(found)}), got {distances.shape}")
        distances = distances.reshape(len(objects), len(found))
        if frameid is None:
            assert self.auto_id, "auto-id is not enabled"
            frameid = self._indices["FrameId"][-1] + 1 if self._indices["FrameId"] else 0
        else:
            assert not self.auto_id, "Cannot provide frame id when auto-id is enabled"
        self.dirty_events = True
        rows: list[tuple[str, Any, Any, float]] = list(_raw_events(objects, found, distances))
        kept = self._earlier_pairs(objects, found, distances)
        for row, column in kept:
            rows.append(("MATCH", objects[row], found[column], distances[row, column]))
            self.last_match[objects[row]] = self.hypHistory[found[column]] = frameid
        remaining = distances.copy()
        for row, column in kept:
            remaining[row] = remaining[:, column] = np.nan
        chosen = [
            (row, column)
            for row, column in zip(*map(np.ndarray.tolist, linear_sum_assignment(remaining)), strict=True)
            if np.isfinite(remaining[row, column])  # a solver of the program may choose others
        ]
        for row, column in chosen:
            rows += self._events_of_pair(objects[row], found[column], distances[row, column], frameid)
        paired_rows, paired_columns = ({pair[side] for pair in (*kept, *chosen)} for side in (0, 1))
        rows += [("MISS", oid, _NONE, _NONE) for row, oid in enumerate(objects) if row not in paired_rows]
        rows += [("FP", _NONE, hid, _NONE) for column, hid in enumerate(found) if column not in paired_columns]
        self.last_occurrence.update(dict.fromkeys(objects, frameid))
        self._append(frameid, rows)
        return frameid

    def _earlier_pairs(self, objects: list[Any], found: list[Any], distances: Any) -> list[tuple[int, int]]:
        """The pairs of earlier frames that may stay, as rows and columns."""
        columns: dict[Any, list[int]] = {}
        for column, hid in enumerate(found):
            columns.setdefault(hid, []).append(column)
        pairs = []
        for row, oid in enumerate(objects):
            free = columns.get(self.m[oid], []) if oid in self.m else []
            if free and np.isfinite(distances[row, free[0]]):
                pairs.append((row, free.pop(0)))
        return pairs

    def _events_of_pair(
        self, oid: Any, hid: Any, distance: float, frameid: Any
    ) -> Iterable[tuple[str, Any, Any, float]]:
        """The events of a pair that was none in the frame before."""
        is_switch = (
            oid in self.m
            and self.m[oid] != hid
            and abs(frameid - self.last_occurrence.get(oid, frameid)) <= self.max_switch_time
        )
        is_transfer = hid in self.res_m and self.res_m[hid] != oid
        kinds = ["ASCEND"] if is_switch and hid not in self.hypHistory else []
        if is_transfer:
            kinds += ["TRANSFER"] if oid in self.last_match else ["MIGRATE", "TRANSFER"]
        self.m[oid], self.res_m[hid] = hid, oid
        self.last_match[oid] = self.hypHistory[hid] = frameid
        return [(kind, oid, hid, distance) for kind in (*kinds, "SWITCH" if is_switch else "MATCH")]

    def _append(self, frameid: Any, rows: Sequence[tuple[str, Any, Any, float]]) -> None:
        self._indices["FrameId"] += [frameid] * len(rows)
        self._indices["Event"] += range(len(rows))
        for column, values in zip(self._events.values(), zip(*rows, strict=True), strict=True):
            column.extend(values)

    @property
    def events(self) -> Any:
        """A data frame of all events: Type, OId, HId and D, with an index of FrameId and Event."""
        if self.dirty_events:
            self.cached_events_df = self.new_event_dataframe_with_data(self._indices, self._events)
            self.dirty_events = False
        return self.cached_events_df

    @property
    def mot_events(self) -> Any:
        """The events without those of type RAW."""
        return self.events[self.events.Type != "RAW"]

    @staticmethod
    def new_event_dataframe() -> Any:
        """A data frame without events."""
        empty: dict[str, list[Any]] = {name: [] for name in (*_INDEX, "Type", *_NUMBERS)}
        return MOTAccumulator.new_event_dataframe_with_data(empty, empty)

    @staticmethod
    def new_event_dataframe_with_data(indices: Mapping[str, Any], events: Mapping[str, Any]) -> Any:
        """A data frame of events.

        Args:
            indices: The columns FrameId and Event.
            events: The columns Type, OId, HId and D.
        """
        pandas = _pandas()
        return pandas.DataFrame(
            {
                "Type": pandas.Categorical(events["Type"], categories=_TYPES),
                **{name: np.asarray(events[name], np.float64) for name in _NUMBERS},
            },
            index=pandas.MultiIndex.from_arrays([indices[name] for name in _INDEX], names=_INDEX),
        )

    @staticmethod
    def merge_event_dataframes(
        dfs: Iterable[Any],
        update_frame_indices: bool = True,
        update_oids: bool = True,
        update_hids: bool = True,
        return_mappings: bool = False,
    ) -> Any:
        """The events of several sequences in one data frame.

        Args:
            dfs: Accumulators, or data frames of events.
            update_frame_indices: Whether frames are numbered on behind those of the sequence before.
            update_oids: Whether objects get new ids, so that two sequences share none. The ids are then text.
            update_hids: The same for hypotheses.
            return_mappings: Whether to return the new ids, too.

        Returns:
            The data frame; with ``return_mappings`` also a list with ``frame_offset``, ``oid_map`` and ``hid_map`` of
            each sequence.
        """
        pandas = _pandas()
        pieces, mappings, frames = [], [], set[Any]()
        columns = [
            ("OId", "oid_map", itertools.count(), update_oids),
            ("HId", "hid_map", itertools.count(), update_hids),
        ]
        for df in dfs:
            piece = (df.events if isinstance(df, MOTAccumulator) else df).copy()
            mapping: dict[str, Any] = {}
            if update_frame_indices:
                offset = max(max(frames) + 1, len(frames)) if frames else 0
                frame, event = (piece.index.get_level_values(level) for level in (0, 1))
                piece.index = pandas.MultiIndex.from_arrays([frame + offset, event], names=_INDEX)
                mapping["frame_offset"] = offset
            frames.update(piece.index.get_level_values(0))
            for column, key, new, is_wanted in columns:
                if is_wanted:
                    names = {old: str(next(new)) for old in piece[column].dropna().unique()}
                    piece[column] = piece[column].map(names)
                    mapping[key] = names
            pieces.append(piece)
            mappings.append(mapping)
        merged = pandas.concat(pieces) if pieces else MOTAccumulator.new_event_dataframe()
        return (merged, mappings) if return_mappings else merged


def _raw_events(objects: list[Any], found: list[Any], distances: Any) -> Iterable[tuple[str, Any, Any, float]]:
    """What a frame was given: the frame itself, pairs that may be, and what has none."""
    yield "RAW", _NONE, _NONE, _NONE
    rows, columns = np.isfinite(distances).nonzero()
    for row, column, distance in zip(rows.tolist(), columns.tolist(), distances[rows, columns].tolist(), strict=True):
        yield "RAW", objects[row], found[column], distance
    for row in sorted({*range(len(objects))} - {*rows.tolist()}):
        yield "RAW", objects[row], _NONE, _NONE
    for column in sorted({*range(len(found))} - {*columns.tolist()}):
        yield "RAW", _NONE, found[column], _NONE


def _pandas() -> ModuleType:
    return import_extra("pandas", extra="pandas", needed_by="MOTAccumulator.events")


keep(MOTAccumulator)
