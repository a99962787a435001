"""`Assignment`: the record that every rule returns, its `Candidates`, and why an object has its predictions.

Owns: what became of each pair (`Outcome`), the comparison of two assignments, the sentences of `Assignment.explain`.
Does not own: the rules, one file each, which fill the record by `finished` (`_inputs.py`).
Cut here because a sentence follows from the outcomes and the ``facts`` of the record, not from the rule that made it.
"""

from __future__ import annotations

import dataclasses
import enum
import operator
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_numpy, library_of
from ioukit._checks import pluralize

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.typing import Array, FloatArray


# How a rule decides between two objects that claim one prediction: the field it compares, the words, the unit.
_CONFLICT = {
    "assign_simota": ("value", "a lower cost", "cost"),
    "assign_hungarian": ("value", "a lower total cost", "cost"),
}
_BY_OVERLAP = ("overlap", "a higher IoU", "IoU")
_SHOWN = 5


class Outcome(enum.IntEnum):
    """What became of a candidate."""

    ASSIGNED = 0
    """The prediction is assigned to the object."""
    STOLEN = 1
    """The object claimed the prediction, but another object won it by the rule for conflicts."""
    BELOW = 2
    """The overlap does not reach the threshold."""
    OUTSIDE = 3
    """The centre of the prediction is outside the object, or too close to its edge. In `assign_grid`: the cell of the
    prediction is not responsible."""
    WORTHLESS = 4
    """The metric of the pair is 0."""
    RANK = 5
    """The object takes a limited number of predictions, and better ones filled its places."""
    OVERWRITTEN = 6
    """A later object was assigned to the same cell and anchor."""
    IGNORED = 7
    """A region of ``ignore_regions`` covers the prediction, so no object may have it."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """The pairs of an object and a prediction that a rule examined, ordered by object.

    The list is short: a rule that ranks pairs keeps the best of them, not the table of all pairs. The arrays are NumPy
    arrays and read-only, whatever library the boxes came from.
    """

    objects: NDArray[np.int64]
    """(K,) positions of the objects, ascending."""
    predictions: NDArray[np.int64]
    """(K,) positions of the predictions."""
    overlap: FloatArray
    """(K,) IoU of each pair, or the other overlap that the rule compares."""
    value: FloatArray
    """(K,) what the rule ranks or compares by: a cost, a metric, or the overlap."""
    outcome: NDArray[np.uint8]
    """(K,) the `Outcome` of each pair."""

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
        """The candidates of one object, by its position."""
        low, high = np.searchsorted(self.objects, [gt, gt + 1])
        fields = (getattr(self, field.name)[low:high] for field in dataclasses.fields(self))
        return Candidates(*fields)

    def and_taken_out(
        self, objects: NDArray[np.int64], predictions: NDArray[np.int64], overlap: FloatArray
    ) -> Candidates:
        """These candidates and further pairs, of predictions that are ignored."""
        outcome = np.full(len(objects), Outcome.IGNORED, np.uint8)
        more: tuple[NDArray[Any], ...] = (objects, predictions, overlap, overlap, outcome)
        order = np.argsort(np.concatenate([self.objects, objects]), kind="stable")
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        return Candidates(*(np.concatenate(pair)[order] for pair in zip(fields, more, strict=True)))


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
        return _explanation(self.rule, position, learners, facts, self.candidates, _host(self.target))

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


def _explanation(
    rule: str,
    gt: int,
    learners: NDArray[np.int64],
    facts: Mapping[str, Any],
    candidates: Candidates,
    target: NDArray[np.int64],
) -> str:
    """One line for the result, then one line for each reason why candidates were not assigned.

    Args:
        rule: The function that made the assignment.
        gt: The position of the object.
        learners: Positions of the predictions that are assigned to it, ascending.
        facts: The numbers behind the decisions on this object, by name.
        candidates: The candidates of all objects.
        target: (P,) the position of the object of each prediction.
    """
    own = candidates.of(gt)
    lines = [_result(gt, learners, own)]
    if not len(learners):
        lines += _without_candidates(facts, own)
    for code in (Outcome.IGNORED, Outcome.OUTSIDE, Outcome.BELOW, Outcome.WORTHLESS, Outcome.RANK):
        chosen = own.outcome == code
        if chosen.any():
            lines.append(_rejected(rule, code, own, chosen, facts))
    lines += _lost(rule, candidates, own, target)
    return "\n".join(lines)


def _result(gt: int, learners: NDArray[np.int64], own: Candidates) -> str:
    if not len(learners):
        return f"object {gt}: no prediction"
    shown = ", ".join(map(str, learners[:_SHOWN].tolist())) + (", ..." if len(learners) > _SHOWN else "")
    assigned = own.overlap[own.outcome == Outcome.ASSIGNED]
    span = f" with IoU {assigned.min():.2f} to {assigned.max():.2f}" if np.isfinite(assigned).any() else ""
    return f"object {gt}: {pluralize(len(learners), 'prediction')} ({shown}){span}"


def _without_candidates(facts: Mapping[str, Any], own: Candidates) -> list[str]:
    """Why an object has no candidates at all, or none that it may have."""
    barred = np.isin(own.outcome, (Outcome.IGNORED, Outcome.OUTSIDE))
    if facts.get("on_image") is False:
        return ["- its centre is not on the image, so no cell answers for it"]
    if facts.get("inside") == 0 and not barred.any():
        return ["- no centre inside: no prediction lies in its reach"]
    if "ratio" in facts and not len(own):
        return [f"- no anchor of its shape: the nearest has a side {facts['ratio']:.3g} times as long or as short"]
    if barred.all() and "best" in facts and "mean" not in facts:
        if not facts["best"] > 0:
            return ["- nothing else overlaps it" if len(own) else "- nothing overlaps it"]
        return [f"- below {facts['threshold']:.2f}: its best IoU is {facts['best']:.2f}"]
    return [] if len(own) else ["- there is no candidate"]


def _rejected(rule: str, code: Outcome, own: Candidates, chosen: NDArray[np.bool_], facts: Mapping[str, Any]) -> str:
    count, best = int(chosen.sum()), float(own.overlap[chosen].max())
    if code == Outcome.BELOW:
        mean = "mean + std " if "mean" in facts else ""
        reason = f"below {mean}{facts['threshold']:.2f} (best {best:.2f})"
    elif code == Outcome.WORTHLESS:
        reason = "the metric is 0"
    elif code == Outcome.RANK:
        reason = f"better ones of the same object took its {facts['taken']} places (best IoU {best:.2f})"
    elif code == Outcome.IGNORED:
        reason = f"ignored, because a region covers {'it' if count == 1 else 'them'} (best IoU {best:.2f})"
    elif rule == "assign_grid":
        reason = f"in no cell that is responsible (best IoU {best:.2f})"
    else:
        reason = f"no centre inside (best IoU {best:.2f})"
    return f"- {pluralize(count, 'candidate')}: {reason}"


def _lost(rule: str, candidates: Candidates, own: Candidates, target: NDArray[np.int64]) -> list[str]:
    """One line for each object that won candidates of this one."""
    lines = []
    lost = np.isin(own.outcome, (Outcome.STOLEN, Outcome.OVERWRITTEN))
    winners = target[own.predictions[lost]]
    for winner in np.unique(winners).tolist():
        places = np.flatnonzero(lost)[winners == winner]
        count = len(places)
        if (own.outcome[places] == Outcome.OVERWRITTEN).all():
            lines.append(f"- {pluralize(count, 'place')}: object {winner}, which came later, took its cell")
        else:
            why = _comparison(rule, own, int(places[0]), candidates.of(int(winner)))
            lines.append(f"- {pluralize(count, 'candidate')}: stolen by object {winner}{why}")
    return lines


def _comparison(rule: str, own: Candidates, place: int, other: Candidates) -> str:
    """By which value another object won the candidate at ``place``; empty if the prediction is no candidate of it."""
    field, better, unit = _CONFLICT.get(rule, _BY_OVERLAP)
    prediction = int(own.predictions[place])
    found = np.flatnonzero(other.predictions == prediction)
    if not len(found):
        return ""
    lost, won = float(getattr(own, field)[place]), float(getattr(other, field)[found[0]])
    if won == lost:
        why = " with the same"
    else:
        why = f" with {better}" if (won < lost if unit == "cost" else won > lost) else " by its own best"
    return f"{why} (prediction {prediction}: {unit} {won:.2f} against {lost:.2f})"
