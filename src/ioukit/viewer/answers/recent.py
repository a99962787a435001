"""The results that were asked for last, for several threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

__all__ = ["Recent"]

_Key = TypeVar("_Key", bound=Hashable)
_Kept = TypeVar("_Kept")


class Recent(Generic[_Key, _Kept]):
    """Keeps the results of the last keys.

    Args:
        most: How many results it keeps.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._kept: dict[_Key, _Kept] = {}

    def of(self, key: _Key, make: Callable[[], _Kept]) -> _Kept:
        """The result of a key: the one that is kept, or one that is made now and kept in the place of the oldest.

        Nothing waits while a result is made. If two threads make it, both get the one that was ready first.
        """
        with self._lock:
            if key in self._kept:
                self._kept[key] = self._kept.pop(key)
                return self._kept[key]
        made = make()
        with self._lock:
            found = self._kept.setdefault(key, made)
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
            return found
