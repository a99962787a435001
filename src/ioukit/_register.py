"""`Register`: what can be chosen by name, such as formats, protocols and repairs, and what users add to it.

A register owns the messages about unknown names and names that exist already. It does not own what an entry is: the
room of the register says that, and gives a check for it. An entry, or a function in it, may be given as
``"package.module:name"``, which is imported at its first use. So a table of all entries costs no import: a program that
reads COCO's files loads no other format.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any, TypeVar

from ioukit._near_names import unknown_name

Entry = TypeVar("Entry")


def imported(home: Any) -> Any:
    """What ``"package.module:name"`` or ``"package.module"`` stands for; anything but a string is returned as it is."""
    if not isinstance(home, str):
        return home
    module, _, name = home.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found


class Later:
    """A function whose module is imported when the function is called, or its signature is asked for.

    Args:
        home: Its ``"package.module:name"``.
    """

    def __init__(self, home: str) -> None:
        self._home = home

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """The function itself; `inspect.signature` reads its arguments."""
        found: Callable[..., Any] = imported(self._home)
        return found

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self.__wrapped__(*arguments, **options)


class Register(MutableMapping[str, Entry]):
    """Entries by name, in the order in which they were added.

    Args:
        what: What an entry is, for messages: ``"protocol"``.
        check: Raises an error for an entry that does not fit. A string is checked when it is imported.
    """

    def __init__(self, what: str, check: Callable[[Entry], None] | None = None) -> None:
        self._what, self._check = what, check
        self._entries: dict[str, Entry | str] = {}

    def __getitem__(self, name: str) -> Entry:
        entry = self._entries[name]
        if isinstance(entry, str):
            self[name] = entry = imported(entry)
        return entry

    def __setitem__(self, name: str, entry: Entry | str) -> None:
        if self._check is not None and not isinstance(entry, str):
            self._check(entry)
        self._entries[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __repr__(self) -> str:
        return f"<register of {len(self)} {self._what} entries: {', '.join(self)}>"

    def add(self, name: str, entry: Entry | str) -> None:
        """Adds an entry under a new name.

        Raises:
            ValueError: If there is an entry of that name.
        """
        if name in self._entries:
            title = getattr(self[name], "title", "")
            raise ValueError(f"there is a {self._what} {name!r} already{title and f': {title}'}")
        self[name] = entry

    def find(self, name: str) -> Entry:
        """The entry with a name.

        Raises:
            ValueError: If there is none; the message offers similar names, and lists all.
        """
        if name not in self._entries:
            raise ValueError(unknown_name(self._what, name, self._entries))
        return self[name]
