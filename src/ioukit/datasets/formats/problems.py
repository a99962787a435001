"""Problems that a reader of many files meets: it stops at the first, or counts them by kind."""

from __future__ import annotations

from collections import Counter

from ioukit.errors import DatasetError

__all__ = ["Problems"]


class Problems:
    """How many problems of each kind there were, and the message about the first of each kind."""

    def __init__(self, *, stop: bool) -> None:
        """Take whether the first problem is an error."""
        self.stop = stop
        self.counts: Counter[str] = Counter()
        self.first: dict[str, str] = {}

    def meet(self, kind: str, message: str) -> None:
        """Raise :class:`DatasetError` with the message, or count the problem."""
        if self.stop:
            raise DatasetError(message)
        self.count(kind, message)

    def count(self, kind: str, message: str) -> None:
        """Count what is no error."""
        self.counts[kind] += 1
        self.first.setdefault(kind, message)
