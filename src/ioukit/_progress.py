"""How far a long call has come, for who waits for it. Nobody does unless :func:`watched` is entered."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from typing import TypeVar

__all__ = ["Progress", "as_part", "watched"]

_Tell = Callable[[float], object]
_T = TypeVar("_T")

_WATCH: ContextVar[_Tell | None] = ContextVar("_WATCH", default=None)


class Progress:
    """The work of one call, of which parts get done.

    Args:
        total: How much there is to do, in any unit.
    """

    def __init__(self, total: float) -> None:
        self._total, self._done, self._tell = total, 0.0, _WATCH.get()

    def add(self, done: float) -> None:
        """Tell that more is done."""
        self._done += done
        if self._tell is not None:
            self._tell(self._done / self._total)

    def over(self, items: Iterable[_T], each: float = 1) -> Iterator[_T]:
        """The items, of which each is so much work: done when the next one is asked for."""
        for item in items:
            yield item
            self.add(each)


@contextlib.contextmanager
def watched(tell: _Tell) -> Iterator[None]:
    """Within the block, calls tell which share of their work is done, from 0 to 1."""
    before = _WATCH.set(tell)
    try:
        yield
    finally:
        _WATCH.reset(before)


@contextlib.contextmanager
def as_part(at: int, count: int) -> Iterator[None]:
    """Within the block, calls are one of so many equal parts of a longer call."""
    tell = _WATCH.get()
    with watched(lambda share: tell and tell((at + share) / count)):
        yield
