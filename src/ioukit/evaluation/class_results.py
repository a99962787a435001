"""The numbers of each category of an evaluation, and all numbers under flat names, such as ``AP/person``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, overload

from ioukit._checks import check_choice, pluralize
from ioukit._columns import Frozen, record
from ioukit._near_names import suggest
from ioukit._notebook import Shown

if TYPE_CHECKING:
    import typing

    from ioukit.evaluation.protocols import Protocol

    class _Named(typing.Protocol):
        @property
        def id(self) -> int: ...
        @property
        def name(self) -> str: ...


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
    """Detections within the cap, with ignored ones, such as on a crowd: the IoU threshold decides which are ignored."""
    summary: Mapping[str, float]
    """The same keys as :attr:`Evaluation.summary`; NaN if there are no objects to find."""

    def __repr__(self) -> str:
        numbers = "".join(f", {key}={value:.4f}" for key, value in list(self.summary.items())[:1])
        counts = f"{pluralize(self.num_ground_truth, 'object')}, {pluralize(self.num_detections, 'detection')}"
        return f"ClassResult({self.name!r}, id {self.id}{numbers}, {counts})"


class ClassResults(Sequence[Result], Shown):
    """The numbers of all categories, sorted by id: ``results["person"]`` by name, ``results[0]`` by position.

    A position is not an id: ``results[1]`` is the second category, whatever its id is.
    """

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
        if isinstance(key, slice) or (not isinstance(key, str) and -len(self) <= key < len(self)):
            return self._results[key]
        if not isinstance(key, str):
            raise IndexError(f"a number is a position, of {len(self):,}, got {key}{self._with_id(str(key))}")
        found = [self._results[place] for place in self._places.get(key, ())]
        if len(found) == 1:
            return found[0]
        if found:
            ids = ", ".join(str(result.id) for result in found)
            raise KeyError(f"{len(found)} categories have the name {key!r}, with the ids {ids}: choose by position")
        raise KeyError(f"no category has the name {key!r}{self._with_id(key) or suggest(key, list(self._places))}")

    def _with_id(self, key: str) -> str:
        """What to say about the id of a category in the place of its position or name."""
        named = [result.name for result in self._results if str(result.id) == key]
        return f"; the category with the id {key} is per_class[{named[0]!r}]" if named else ""

    @cached_property
    def _places(self) -> Mapping[str, Sequence[int]]:
        """The positions of each name."""
        places: dict[str, list[int]] = {}
        for place, result in enumerate(self._results):
            places.setdefault(result.name, []).append(place)
        return places

    def __iter__(self) -> Iterator[Result]:
        return iter(self._results)

    def __repr__(self) -> str:
        return repr(self._results)

    def notebook_caption(self) -> str:
        """How many there are."""
        return f"{len(self):,} classes"


def flat_metrics(
    protocol: Protocol,
    summary: Mapping[str, float],
    counts: Mapping[str, int],
    classes: Sequence[ClassResult],
    per_class: bool | Sequence[str],
) -> dict[str, float]:
    """The numbers by flat names, see :meth:`ioukit.Evaluation.metrics`."""
    if per_class is True:
        keys = [measure.key for measure in protocol.measures if measure.headline]
    else:
        keys = [per_class] if isinstance(per_class, str) else list(per_class or ())
    for key in keys:
        check_choice("metric of per_class", key, tuple(summary))
    found: dict[str, float] = {**summary, **{f"counts/{name}": count for name, count in counts.items()}}
    labelled = list(zip(class_labels(classes), classes, strict=True)) if keys else []
    return found | {f"{key}/{label}": result.summary[key] for key in keys for label, result in labelled}


def class_labels(classes: Sequence[ClassResult]) -> list[str]:
    """A name for each class that no other class has: its own, with ``#`` and its id if others have it or it is empty.

    The labels depend only on the names and ids of all classes, so they are the same for every evaluation of a data set.
    """
    return category_labels([one.id for one in classes], [one.name for one in classes])


def category_labels(ids: Sequence[int], names: Sequence[str]) -> list[str]:
    """The same for categories, given the id and the name of each."""
    marked = [not name for name in names]
    while True:
        rows = zip(ids, names, marked, strict=True)
        labels = [f"{name}#{number}" if mark else name for number, name, mark in rows]
        times = Counter(labels)
        # Two labels with an id never are equal, so every round marks another class or is the last.
        again = [mark or times[label] > 1 for label, mark in zip(labels, marked, strict=True)]
        if again == marked:
            return labels
        marked = again
