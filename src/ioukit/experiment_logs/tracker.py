"""What a tracker is: how its runs are recognised, and the functions that take the parts of an evaluation."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from ioukit.experiment_logs.figures import Picture


_ROOM = 16  # characters of a long name that are kept free for a number


class Channel(ABC):
    """Takes the parts of one evaluation and passes them to a run of a tracker.

    ``log_to`` calls ``names``, ``numbers`` and ``undefined`` once, then ``figure`` and ``file`` for each figure and
    file, then ``close``. Any exception means that the tracker did not take the part.
    """

    def names(self, names: Iterable[str]) -> dict[str, str]:
        """The name under which the tracker keeps each metric; they differ from each other. By default as they are."""
        return {name: name for name in names}

    @abstractmethod
    def numbers(self, numbers: Mapping[str, float]) -> None:
        """Takes the metrics by the names that ``names`` gave; none of them is NaN."""

    def undefined(self, names: Iterable[str]) -> None:  # noqa: B027 - most trackers have no value for them
        """Takes the names of the metrics that are undefined."""

    @abstractmethod
    def figure(self, name: str, picture: Picture) -> None:
        """Takes one figure, for example ``precision_recall``; the name has the prefix."""

    @abstractmethod
    def file(self, name: str, path: Path) -> None:
        """Takes one file, for example ``report``; it is deleted when the function returns. The name has the prefix."""

    def close(self) -> None:  # noqa: B027 - most trackers have nothing to end
        """Is called after the last part, also after an error."""

    def notes(self) -> list[str]:
        """What a user should know about how the tracker keeps the parts."""
        return []


@dataclass(frozen=True)
class Tracker:
    """An experiment tracker that ``evaluation.log_to`` can send to."""

    name: str
    """Its name in messages."""
    takes: str
    """The objects that stand for its runs, in words."""
    recognises: Callable[[Any], bool]
    """Whether an object is a run of this tracker. It imports nothing, because it sees the runs of all trackers."""
    channel: Callable[[Any, int | None], Channel]
    """Makes the channel for a run and a step; ``None`` if the evaluation belongs to no step."""
    shows_figures: bool = True
    """Whether figures and the report are sent if the caller does not say."""
    scheme: str = ""
    """The word that names it in ``ioukit eval --log-to WORD:ADDRESS``; empty if the command cannot start a run."""
    started: Callable[[str], AbstractContextManager[Any]] | None = None
    """Starts a run for the address after the word, and ends it."""


def is_of_class(value: object, package: str, *names: str) -> bool:
    """Whether an object is of a class with one of these names from a package, or of one derived from it."""
    return any(
        one.__name__ in names and (one.__module__ == package or one.__module__.startswith(f"{package}."))
        for one in type(value).__mro__
    )


def is_module(value: object, name: str) -> bool:
    """Whether an object is the module of this name."""
    return isinstance(value, ModuleType) and value.__name__ == name


def renamed(names: Iterable[str], allowed: Callable[[str], str], *, longest: int | None = None) -> dict[str, str]:
    """The names as a tracker allows them; where two became equal, the later one gets ``_2``, ``_3``, ...

    Args:
        names: The names, all different.
        allowed: Makes an allowed name of any name; allowed names stay as they are.
        longest: How many characters a name may have.
    """
    listed = list(names)
    used, times = set(listed), Counter[str]()
    found: dict[str, str] = {}
    for name in listed:
        short = new = allowed(name)
        if longest is not None and len(short) > longest:
            short = new = allowed(short[: longest - _ROOM])
        while new != name and new in used:
            times[short] += 1
            new = allowed(f"{short[: None if longest is None else longest - _ROOM]}_{times[short] + 1}")
        used.add(new)
        found[name] = new
    return found
