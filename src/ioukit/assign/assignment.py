"""`Assignment`: the record that every rule returns."""

from __future__ import annotations

import dataclasses
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit._checks import pluralize
from ioukit.assign._explain import explanation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.assign.candidates import Candidates
    from ioukit.typing import Array

__all__ = ["Assignment", "AssignmentChange"]


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class AssignmentChange:
    """Where two assignments of the same predictions and objects differ."""

    predictions: NDArray[np.int64]
    """(K,) positions of the predictions whose target or ignore flag differs, ascending."""
    before: NDArray[np.int64]
    """(K,) their targets in the first assignment; -1 for no object."""
    after: NDArray[np.int64]
    """(K,) their targets in the second assignment; -1 for no object."""
    counts: NDArray[np.int64]
    """(G, 2) the number of predictions of each object, in the first and in the second assignment."""

    def __repr__(self) -> str:
        lost = np.flatnonzero((self.counts[:, 0] > 0) & (self.counts[:, 1] == 0)).tolist()
        gained = np.flatnonzero((self.counts[:, 0] == 0) & (self.counts[:, 1] > 0)).tolist()
        count = len(self.predictions)
        summary = f"{pluralize(count, 'prediction')} {'differs' if count == 1 else 'differ'}"
        for text, objects in (("now without a prediction", lost), ("no longer without", gained)):
            if objects:
                summary += f", objects {text}: {', '.join(map(str, objects))}"
        return f"<AssignmentChange: {summary}>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """Which prediction is trained towards which object. Every rule returns this record.

    P predictions, G objects. A prediction is positive if it is assigned to an object, ignored if it has no part in the
    loss, and background otherwise. ``target``, ``ignore``, ``overlap``, ``pairs``, ``cost``, ``metric`` and ``scores``
    are arrays of the caller's library on the caller's device. NumPy arrays among them are read-only.
    """

    rule: str
    """The name of the function that made it, such as ``"assign_atss"``."""
    objects: int
    """The number of objects, G."""
    target: Array
    """(P,) int64, the position of the object that each prediction is assigned to; -1 for no object."""
    ignore: Array
    """(P,) bool, true where a prediction is neither positive nor background and takes no part in the loss."""
    overlap: Array
    """(P,) the IoU with the assigned object; NaN without one."""
    pairs: Array
    """(K, 2) int64, the object and the prediction of each assigned pair. Under some rules a prediction has several."""
    candidates: Candidates
    """The pairs that the rule examined, and what became of them."""
    facts: Mapping[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    """(G,) numbers behind the decisions, one array per name: ``"inside"`` counts the predictions within the reach of an
    object, ``"best"`` is its best overlap, ``"threshold"`` the overlap it requires, ``"taken"`` the number of
    predictions it may take."""
    cost: Array = None
    """(P,) the cost of the assigned pair, NaN without one. None if the rule has no cost."""
    metric: Array = None
    """(P,) the metric of the assigned pair, NaN without one. None if the rule has no metric."""
    scores: Array = None
    """(P,) the target of the classification score for the class of the assigned object, 0 without one. None if the rule
    sets no target scores."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))
        for array in (self.target, self.ignore, self.overlap, self.pairs, self.cost, self.metric, self.scores):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False
        for array in self.facts.values():
            array.flags.writeable = False

    def __len__(self) -> int:
        return int(self.target.shape[0])

    def __repr__(self) -> str:
        target, bare = _host(self.target), len(self.unassigned)
        return (
            f"<Assignment by {self.rule}: {int((target >= 0).sum()):,} of {len(self):,} predictions learn "
            f"{self.objects - bare:,} of {self.objects:,} objects, {int(_host(self.ignore).sum()):,} are ignored>"
        )

    @property
    def positive(self) -> Array:
        """(P,) bool, true where a prediction is assigned to an object."""
        return self.target >= 0

    @property
    def counts(self) -> NDArray[np.int64]:
        """(G,) the number of pairs of each object."""
        return np.bincount(_host(self.pairs)[:, 0], minlength=self.objects).astype(np.int64)

    @property
    def unassigned(self) -> NDArray[np.int64]:
        """Positions of the objects that no prediction is assigned to."""
        return np.flatnonzero(self.counts == 0)

    @property
    def duplicates(self) -> int:
        """The number of rows of ``pairs`` that repeat an earlier row. Each counts in the loss again."""
        pairs = _host(self.pairs)
        return len(pairs) - len(np.unique(pairs, axis=0))

    def explain(self, gt: int) -> str:
        """Explains in words why an object has its predictions, or has none.

        Args:
            gt: The position of the object.

        Raises:
            IndexError: If there is no such object.
        """
        position = operator.index(gt)
        if not 0 <= position < self.objects:
            raise IndexError(f"there is no object {gt}: the assignment has {self.objects}")
        pairs = _host(self.pairs)
        learners = np.unique(pairs[pairs[:, 0] == position, 1])
        facts = {name: values[position].item() for name, values in self.facts.items()}
        return explanation(self.rule, position, learners, facts, self.candidates, _host(self.target))

    def compare(self, other: Assignment) -> AssignmentChange:
        """Compares with another assignment of the same predictions and objects.

        Raises:
            ValueError: If the numbers of predictions or of objects differ.
        """
        if (len(self), self.objects) != (len(other), other.objects):
            raise ValueError(
                f"only assignments of the same predictions and objects compare, got {len(self)} and {len(other)} "
                f"predictions, {self.objects} and {other.objects} objects"
            )
        before, after = _host(self.target), _host(other.target)
        differ = np.flatnonzero((before != after) | (_host(self.ignore) != _host(other.ignore)))
        return AssignmentChange(differ, before[differ], after[differ], np.stack([self.counts, other.counts], axis=1))


def _host(array: Array) -> NDArray[Any]:
    values = array if library_of(array) == "numpy" else as_numpy(array)
    if values is None:
        raise TypeError("an assignment has no values inside a traced program: look at it outside of the program")
    return np.asarray(values)
