"""Problems that a reader of many records meets: it stops at the first, or counts them by kind."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeVar

from ioukit.datasets.columns._checks import OnInvalid, check_on_invalid
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.datasets.columns.detections import Detections
    from ioukit.datasets.columns.ground_truth import GroundTruth


Data = TypeVar("Data", bound="GroundTruth | Detections")


SHOWN = 3
"""How many problems of a kind a note shows: enough to see whether they are alike."""


class Problems:
    """How many problems of each kind there were, and the messages about the first few of each kind."""

    def __init__(self, *, stop: bool) -> None:
        """Take whether the first problem is an error."""
        self.stop = stop
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}
        self._few: dict[str, list[str]] = {}
        self._left_out: Counter[str] = Counter()
        self._unused: Counter[str] = Counter()
        self._said: Counter[str] = Counter()
        self.on_sequence = ""
        """What :func:`~ioukit.datasets.columns.image_names.note_on_sequence` says. The data set gets it as a note."""

    @classmethod
    def of(cls, on_invalid: OnInvalid) -> Problems:
        """Those of a reader: only ``"drop"`` counts, every other value stops.

        Raises:
            ValueError: If the value is unknown.
        """
        check_on_invalid(on_invalid)
        return cls(stop=on_invalid != "drop")

    def meet(self, kind: str, message: str, times: int = 1) -> None:
        """Raise :class:`DatasetError` with the message, or count problems, of which it is the first."""
        if self.stop:
            raise DatasetError(message)
        self.count(kind, message, times)
        self._left_out[kind] += times

    def count(self, kind: str, message: str, times: int = 1) -> None:
        """Count what is no error, and what is not left out."""
        self.counts[kind] += times
        self.first.setdefault(kind, message)
        few = self._few.setdefault(kind, [])
        if len(few) < SHOWN:
            few.append(message)

    def record(self, kind: str) -> _Record:
        """A block that reads one record. A :class:`DatasetError` in it is a problem of this kind and ends the block."""
        return _Record(self, kind)

    def meet_unscored(self, places: Sequence[str], count: int) -> bool:
        """Whether some of the lines of detections lack a score that others have, which is a problem: none is made up.

        Args:
            places: The lines without a score.
            count: How many lines there are.
        """
        if not 0 < len(places) < count:
            return False
        have = f"{count - len(places):,} of {count:,} lines have"
        self.meet("line without a score", f"{places[0]}: expected a score, as {have}, found none", len(places))
        return True

    def leave_out(self, what: str) -> None:
        """Count what is valid, but has no column, such as ``"polyline"``. The data set gets a note about it."""
        self._unused[what] += 1

    def note(self, what: str, times: int = 1) -> None:
        """Count what a user should know. The data set gets a note about it."""
        self._said[what] += times

    def noted_in(self, data: Data) -> Data:
        """The data with the number of invalid records, and with a note about each kind of what was left out."""
        notes = [
            f"{data.source}: left out {count:,} x {kind}: {'; '.join(self._few[kind])}{'; ...' * (count > SHOWN)}"
            for kind, count in self._left_out.items()
        ]
        notes += [f"{data.source}: left out {count:,} x {what}" for what, count in self._unused.items()]
        notes += [f"{data.source}: {count:,} x {what}" for what, count in self._said.items() if count]
        notes += [f"{data.source}: {self.on_sequence}"] if self.on_sequence else []
        dropped = sum(self._left_out.values())
        return dataclasses.replace(data, dropped=data.dropped + dropped, notes=(*notes, *data.notes))


class _Record:
    """The block of :meth:`Problems.record`."""

    def __init__(self, problems: Problems, kind: str) -> None:
        self.problems, self.kind = problems, kind

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: type[BaseException] | None, error: BaseException | None, __: Any) -> bool:
        if isinstance(error, DatasetError) and not self.problems.stop:
            self.problems.meet(self.kind, str(error))
            return True
        return False
