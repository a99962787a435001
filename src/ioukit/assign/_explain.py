"""Words for what a rule did with an object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment, Candidates

__all__ = ["explain"]

# How each rule settles a prediction that two objects want: what it compares, and in which words.
_CONFLICT = {
    "assign_simota": ("value", "a lower cost", "cost"),
    "assign_hungarian": ("value", "a lower total cost", "cost"),
}
_BY_OVERLAP = ("overlap", "a higher IoU", "IoU")
_SHOWN = 5
# The codes of `Outcome`, which imports this file.
_ASSIGNED, _STOLEN, _BELOW, _OUTSIDE, _WORTHLESS, _RANK, _OVERWRITTEN = range(7)


def explain(assignment: Assignment, gt: int, target: NDArray[Any], pairs: NDArray[Any]) -> str:
    """One line for the result, then one for each reason why candidates fell out."""
    learners = np.unique(pairs[pairs[:, 0] == gt, 1])
    candidates = assignment.candidates.of(gt)
    facts = {name: values[gt].item() for name, values in assignment.facts.items()}
    lines = [_result(gt, learners, candidates)]
    if not len(learners):
        lines += _before_any_candidate(facts, candidates)
    for code, words in ((_OUTSIDE, "no centre inside"), (_BELOW, ""), (_WORTHLESS, ""), (_RANK, "")):
        chosen = candidates.outcome == code
        if chosen.any():
            lines.append(_fallen(code, words, candidates, chosen, facts))
    lines += _lost(assignment, candidates, target)
    return "\n".join(lines)


def _result(gt: int, learners: NDArray[Any], candidates: Candidates) -> str:
    if not len(learners):
        return f"object {gt}: no prediction"
    shown = ", ".join(map(str, learners[:_SHOWN].tolist())) + (", ..." if len(learners) > _SHOWN else "")
    assigned = candidates.overlap[candidates.outcome == _ASSIGNED]
    span = f" with IoU {assigned.min():.2f} to {assigned.max():.2f}" if np.isfinite(assigned).any() else ""
    return f"object {gt}: {len(learners)} prediction{'s' if len(learners) > 1 else ''} ({shown}){span}"


def _before_any_candidate(facts: dict[str, Any], candidates: Candidates) -> list[str]:
    """What kept an object from having candidates at all."""
    if facts.get("on_image") is False:
        return ["- its centre is not on the image, so no cell answers for it"]
    if facts.get("inside") == 0 and not (candidates.outcome == _OUTSIDE).any():
        return ["- no centre inside: no prediction lies in its reach"]
    if "ratio" in facts and not len(candidates):
        return [f"- no anchor of its shape: the nearest has a side {facts['ratio']:.3g} times as long or as short"]
    if not len(candidates) and "best" in facts:
        if not facts["best"] > 0:
            return ["- nothing overlaps it"]
        return [f"- below {facts['threshold']:.2f}: its best IoU is {facts['best']:.2f}"]
    return [] if len(candidates) else ["- there is no candidate"]


def _fallen(code: int, words: str, candidates: Candidates, chosen: NDArray[Any], facts: dict[str, Any]) -> str:
    count = int(chosen.sum())
    said = f"- {count} candidate{'s' if count > 1 else ''}: "
    best = float(candidates.overlap[chosen].max())
    if code == _BELOW:
        mean = "mean + std " if "mean" in facts else ""
        return said + f"below {mean}{facts['threshold']:.2f} (best {best:.2f})"
    if code == _WORTHLESS:
        return said + "the metric is 0"
    if code == _RANK:
        return said + f"better ones of the same object took its {facts['taken']} places (best IoU {best:.2f})"
    return said + f"{words} (best IoU {best:.2f})"


def _lost(assignment: Assignment, candidates: Candidates, target: NDArray[Any]) -> list[str]:
    """A line for each object that took candidates away."""
    lines = []
    lost = np.isin(candidates.outcome, (_STOLEN, _OVERWRITTEN))
    thieves = target[candidates.predictions[lost]]
    field, words, unit = _CONFLICT.get(assignment.rule, _BY_OVERLAP)
    for thief in np.unique(thieves).tolist():
        mine = np.flatnonzero(lost)[thieves == thief]
        count = len(mine)
        if (candidates.outcome[mine] == _OVERWRITTEN).all():
            lines.append(f"- {count} place{'s' if count > 1 else ''}: object {thief}, which came later, took its cell")
            continue
        theirs = assignment.candidates.of(int(thief))
        first = mine[0]
        prediction = int(candidates.predictions[first])
        found = np.flatnonzero(theirs.predictions == prediction)
        numbers, why = "", ""
        if len(found):
            ours, other = float(getattr(candidates, field)[first]), float(getattr(theirs, field)[found[0]])
            better = other < ours if unit == "cost" else other > ours
            why = f" with {words}" if better else (" with the same" if other == ours else " by its own best")
            numbers = f" (prediction {prediction}: {unit} {other:.2f} against {ours:.2f})"
        lines.append(f"- {count} candidate{'s' if count > 1 else ''}: stolen by object {thief}{why}{numbers}")
    return lines
