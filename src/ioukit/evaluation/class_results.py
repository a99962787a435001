"""The numbers of each category of an evaluation, and of several in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar, overload

from ioukit._checks import pluralize
from ioukit._columns import Frozen, record
from ioukit._near_names import suggest

if TYPE_CHECKING:
    import typing

    class _Named(typing.Protocol):
        @property
        def id(self) -> int: ...
        @property
        def name(self) -> str: ...


__all__ = ["ClassResult", "ClassResults"]

Result = TypeVar("Result", bound="_Named")
"""The numbers of one category, with its id and its name."""


@record(frozen=True, eq=False, repr=False)
class ClassResult(Frozen):
    """The numbers of one category."""

    id: int
    """Its id; -1 if all categories count as one."""
    name: str
    """Its name."""
    num_ground_truth: int
    """Objects to find, without ignored ones."""
    num_detections: int
    """Detections within the cap."""
    summary: Mapping[str, float]
    """The same keys as :attr:`Evaluation.summary`; NaN if there are no objects to find."""

    def __repr__(self) -> str:
        numbers = "".join(f", {key}={value:.4f}" for key, value in list(self.summary.items())[:1])
        counts = f"{pluralize(self.num_ground_truth, 'object')}, {pluralize(self.num_detections, 'detection')}"
        return f"ClassResult({self.name!r}{numbers}, {counts})"


class ClassResults(Sequence[Result]):
    """The numbers of all categories, sorted by id: ``results[0]`` by position, ``results["person"]`` by name."""

    def __init__(self, results: Sequence[Result]) -> None:
        """Take the results in order."""
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, key: int | str) -> Result: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Result, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Result | tuple[Result, ...]:
        if not isinstance(key, str):
            return self._results[key]
        found = [result for result in self._results if result.name == key]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(result.id) for result in found)
            raise KeyError(f"{len(found)} categories have the name {key!r}, with the ids {ids}: choose by position")
        raise KeyError(f"no category has the name {key!r}{suggest(key, [result.name for result in self._results])}")

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return repr(self._results)
