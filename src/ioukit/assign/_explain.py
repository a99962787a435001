"""Why has an object these predictions? The answer of `Assignment.explain`, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit.assign.candidates import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.assign.candidates import Candidates

__all__ = ["explanation"]

# How a rule decides between two objects that claim one prediction: the field it compares, the words, the unit.
_CONFLICT = {
    "assign_simota": ("value", "a lower cost", "cost"),
    "assign_hungarian": ("value", "a lower total cost", "cost"),
}
_BY_OVERLAP = ("overlap", "a higher IoU", "IoU")
_SHOWN = 5


def explanation(
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
