"""Which numbers of an evaluation are meant: keys of the summary, or of one class, such as ``AP50/person``."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit._near_names import suggest
from ioukit.evaluation import Evaluation, MatchTable, Measure
from ioukit.evaluation.class_results import category_labels
from ioukit.statistics.replicates import Replicates, replicate
from ioukit.statistics.resampling import Weights, batches


@dataclass(frozen=True, eq=False)
class NamedNumbers:
    """Some numbers of an evaluation, in order."""

    keys: tuple[str, ...]
    """(Q,) their names."""
    measures: tuple[Measure, ...]
    """(M,) the measures that they need, each once."""
    columns: npt.NDArray[np.intp]
    """(Q,) the measure of each."""
    classes: npt.NDArray[np.intp]
    """(Q,) the category of each; -1 for the number of the summary."""

    @cached_property
    def per_class(self) -> bool:
        """Whether some are numbers of a class."""
        return bool((self.classes >= 0).any())

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """(Q,) the measure and the category of each."""
        return list(zip(self.columns.tolist(), self.classes.tolist(), strict=True))

    def of(self, replicates: Replicates) -> Floats:
        """(B, Q) the numbers of replicates that were made with :attr:`measures`."""
        found = replicates.values[:, self.columns]
        if replicates.per_class is not None:
            rows = np.flatnonzero(self.classes >= 0)
            found[:, rows] = replicates.per_class[:, self.classes[rows], self.columns[rows]]
        return found

    def observed(self, evaluation: Evaluation) -> Floats:
        """(Q,) the numbers of the evaluation."""
        values = []
        for column, position in self.pairs:
            key = self.measures[column].key
            values.append(evaluation.summary[key] if position < 0 else evaluation.per_class[position].summary[key])
        return np.array(values, np.float64)

    def with_classes(self, count: int) -> NamedNumbers:
        """These, and then those of all other classes, for each measure that numbers of classes are asked of."""
        columns, classes = [self.columns], [self.classes]
        for column in np.unique(self.columns[self.classes >= 0]):
            classes.append(np.setdiff1d(np.arange(count), self.classes[self.columns == column]))
            columns.append(np.full(len(classes[-1]), column))
        return dataclasses.replace(self, columns=np.concatenate(columns), classes=np.concatenate(classes))

    def batches(self, table: MatchTable, count: int, *, replicates: int = 1) -> list[tuple[int, int]]:
        """Cut draws of a table into batches that fit into memory; each draw has this number of replicates."""
        classes = len(table.evaluated) if self.per_class else 1
        return list(batches_of(table, count, classes * len(self.measures), replicates=replicates))

    def replicated(self, table: MatchTable, weights: Weights, threads: int | None) -> Floats:
        """(B, Q) the numbers of replicates with these image weights."""
        made = replicate(table, weights, measures=self.measures, per_class=self.per_class, threads=threads)
        return self.of(made)


def batches_of(table: MatchTable, count: int, numbers: int, *, replicates: int = 1) -> Iterator[tuple[int, int]]:
    """The same where each replicate has so many numbers."""
    return batches(count, replicates * (2 * len(table.image_ids) + 8 * numbers))


def chosen_keys(keys: str | Iterable[str] | None, evaluation: Evaluation) -> list[str]:
    """The keys as a list; those of all numbers that the protocol defines if ``None``."""
    if keys is None:
        protocol = evaluation.protocol
        return [measure.key for measure in protocol.measures if protocol.defines(measure)]
    return [keys] if isinstance(keys, str) else list(keys)


def named_numbers(evaluation: Evaluation, keys: Sequence[str]) -> NamedNumbers:
    """The numbers with these keys.

    Args:
        evaluation: The evaluation.
        keys: Keys of the summary, or of a class as in :meth:`ioukit.Evaluation.metrics`: ``AP50/person``.

    Raises:
        ValueError: If there is no such number; the message offers similar keys.
    """
    known = {measure.key: measure for measure in evaluation.protocol.measures}
    of_class: dict[str, tuple[str, int]] = {}
    if any(key not in known for key in keys):
        labels = labels_of(evaluation.matches)
        of_class = {f"{key}/{label}": (key, at) for at, label in enumerate(labels) for key in known}
    used: dict[str, int] = {}
    columns, classes = [], []
    for key in keys:
        if key not in known and key not in of_class:
            hint = suggest(key, [*known, *of_class], f"there are {', '.join(known)}")
            raise ValueError(f"the protocol {evaluation.protocol.name} has no number {key!r}{hint}")
        name, position = (key, -1) if key in known else of_class[key]
        columns.append(used.setdefault(name, len(used)))
        classes.append(position)
    return NamedNumbers(
        tuple(keys), tuple(known[name] for name in used), np.array(columns, np.intp), np.array(classes, np.intp)
    )


def labels_of(table: MatchTable) -> list[str]:
    """(E,) a name for each category, as in flat keys: each once."""
    return category_labels(table.evaluated.ids.tolist(), table.evaluated.names)
