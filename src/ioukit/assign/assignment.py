"""What every rule of assignment answers with, and how it explains itself."""

from __future__ import annotations

import dataclasses
import enum
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit.assign import _explain

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.typing import Array, FloatArray

__all__ = ["Assignment", "AssignmentChange", "Candidates", "Outcome"]


class Outcome(enum.IntEnum):
    """What became of a candidate, a pair of an object and a prediction that a rule looked at."""

    ASSIGNED = 0
    """The prediction learns the object."""
    STOLEN = 1
    """The prediction would have learnt the object, and another object has it by the rule for conflicts."""
    BELOW = 2
    """The overlap does not reach the threshold."""
    OUTSIDE = 3
    """The centre of the prediction is not in the object, or not far enough."""
    WORTHLESS = 4
    """The metric of the pair is 0."""
    RANK = 5
    """Others of the same object are better, and it takes only so many."""
    OVERWRITTEN = 6
    """A later object came to the same place."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """The pairs of an object and a prediction that a rule looked at closely, ordered by object.

    These are few: a rule that ranks keeps the best it ranked, not the table of all pairs. The arrays are NumPy's and
    read-only, whatever library the boxes came from.
    """

    objects: NDArray[np.int64]
    """(K,) positions of the objects, ascending."""
    predictions: NDArray[np.int64]
    """(K,) positions of the predictions."""
    overlap: FloatArray
    """(K,) IoU of each pair, or whatever overlap the rule compares."""
    value: FloatArray
    """(K,) what the rule ranks or compares by: a cost, a metric, or the overlap again."""
    outcome: NDArray[np.uint8]
    """(K,) an `Outcome` each."""

    def __post_init__(self) -> None:
        for array in (self.objects, self.predictions, self.overlap, self.value, self.outcome):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        counts = np.bincount(self.outcome, minlength=len(Outcome)).tolist()
        kinds = ", ".join(f"{count} {Outcome(code).name.lower()}" for code, count in enumerate(counts) if count)
        return f"<Candidates: {len(self)} pairs{': ' if kinds else ''}{kinds}>"

    def of(self, gt: int) -> Candidates:
        """Those of one object."""
        low, high = np.searchsorted(self.objects, [gt, gt + 1])
        fields = (getattr(self, field.name)[low:high] for field in dataclasses.fields(self))
        return Candidates(*fields)


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class AssignmentChange:
    """Where two assignments of the same predictions and objects differ."""

    predictions: NDArray[np.int64]
    """(K,) positions of the predictions whose target or ignore flag differs, ascending."""
    before: NDArray[np.int64]
    """(K,) their targets in the first; -1 for none."""
    after: NDArray[np.int64]
    """(K,) their targets in the second."""
    counts: NDArray[np.int64]
    """(G, 2) how many predictions each object has, in the first and in the second."""

    def __repr__(self) -> str:
        lost = np.flatnonzero((self.counts[:, 0] > 0) & (self.counts[:, 1] == 0)).tolist()
        gained = np.flatnonzero((self.counts[:, 0] == 0) & (self.counts[:, 1] > 0)).tolist()
        said = f"{len(self.predictions)} predictions differ"
        for text, objects in (("now without a prediction", lost), ("no longer without", gained)):
            if objects:
                said += f", objects {text}: {', '.join(map(str, objects))}"
        return f"<AssignmentChange: {said}>"


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """Which prediction learns which object: the same record from every rule.

    P predictions, G objects. ``target``, ``ignore``, ``overlap``, ``cost``, ``metric``, ``scores`` and ``pairs`` are
    arrays of the caller's library on the caller's device; those of NumPy are read-only.
    """

    rule: str
    """The function that made it, such as ``"assign_atss"``."""
    objects: int
    """G."""
    target: Array
    """(P,) int64, the position of the object that each prediction learns; -1 for none."""
    ignore: Array
    """(P,) bool, true where a prediction learns neither an object nor that there is none."""
    overlap: Array
    """(P,) the IoU with the object assigned; NaN where none is."""
    pairs: Array
    """(K, 2) int64, each object and prediction that learn together, for the rules that let a prediction learn twice."""
    candidates: Candidates
    """The pairs that the rule looked at, and what became of them."""
    facts: Mapping[str, NDArray[Any]] = dataclasses.field(default_factory=dict)
    """(G,) numbers behind the decisions, one array each: ``"inside"`` counts the predictions in the reach of an object,
    ``"best"`` is its best overlap, ``"threshold"`` the overlap it asks for, ``"taken"`` how many it may take."""
    cost: Array = None
    """(P,) the cost of the pair assigned, NaN for none; None where the rule has no cost."""
    metric: Array = None
    """(P,) the metric of the pair assigned, NaN for none; None where the rule has no metric."""
    scores: Array = None
    """(P,) the classification score that a prediction should have for the class of its object, 0 for no object;
    None where the rule says nothing of scores."""

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
        """(P,) bool, true where a prediction learns an object."""
        return self.target >= 0

    @property
    def counts(self) -> NDArray[np.int64]:
        """(G,) how many pairs each object has."""
        return np.bincount(_host(self.pairs)[:, 0], minlength=self.objects).astype(np.int64)

    @property
    def unassigned(self) -> NDArray[np.int64]:
        """Positions of the objects that no prediction learns."""
        return np.flatnonzero(self.counts == 0)

    @property
    def duplicates(self) -> int:
        """How many pairs repeat one that is there already, and count in the loss once more."""
        pairs = _host(self.pairs)
        return len(pairs) - len(np.unique(pairs, axis=0))

    def explain(self, gt: int) -> str:
        """Why an object has the predictions it has, or has none, in words.

        Args:
            gt: Its position.

        Raises:
            IndexError: If there is no such object.
        """
        position = operator.index(gt)
        if not 0 <= position < self.objects:
            raise IndexError(f"there is no object {gt}: the assignment has {self.objects}")
        return _explain.explain(self, position, _host(self.target), _host(self.pairs))

    def compare(self, other: Assignment) -> AssignmentChange:
        """What another assignment of the same predictions and objects does differently.

        Raises:
            ValueError: If the two do not have as many predictions and objects.
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
        raise TypeError("an assignment is looked at on the host, which a traced program does not do")
    return np.asarray(values)
