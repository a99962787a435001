"""Suspicions become findings: the repaired data are evaluated, and what one repair explains is left out.

Owns: which repairs are tried, and when a suspicion counts: only if the numbers rise after its repair. Does not own:
what looks wrong (``rules/``), nor how data are mended (``repairs/``). Causes hide each other, so the best repair is
applied, and the rules look again at what is left.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit._output import terminal_width
from ioukit._plain_values import plain_values
from ioukit.checks.rules.registry import RULES
from ioukit.checks.suspicion import SHOWN, Suspicion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Repair


_NAN = float("nan")
MOST_CAUSES = 4


@dataclass(frozen=True)
class VerifiedSuspicion:
    """A suspicion, and what the repaired data give."""

    suspicion: Suspicion
    """What looks wrong."""
    harmful: bool
    """Whether it may move numbers; a note otherwise."""
    measure: str = ""
    """The number that is compared: the protocol's first one, or the one that moves most if the first one does not."""
    before: float = _NAN
    """This number as the data are; NaN if it was not computed."""
    after: float = _NAN
    """This number after the repair."""
    together_with: tuple[str, ...] = ()
    """Other repairs that both numbers are computed with: those of what is mended first, or because this repair
    shows no effect without them."""
    after_repairs: bool = False
    """Whether the words are about the data after these repairs, too: these mend what came first."""

    @property
    def code(self) -> str:
        """What was found, for programs."""
        return self.suspicion.code

    @property
    def gain(self) -> float:
        """How much the number moves; NaN if it was not computed."""
        return self.after - self.before

    def to_dict(self) -> dict[str, Any]:
        """The finding as plain values for JSON; an undefined number is None."""
        repair = self.suspicion.repair
        found = {**plain_values(self.suspicion), **plain_values(self), "measure": self.measure or None}
        found["repair"] = None if repair is None else str(repair).split(" ")
        return {name: value for name, value in found.items() if name not in ("suspicion", "least_gain", "must_improve")}

    def __str__(self) -> str:
        return self.text()

    def text(self, *, others: bool = True) -> str:
        """The finding in lines.

        Args:
            others: Whether to name the repairs that it is found with.
        """
        suspicion, together = self.suspicion, in_words(self.together_with) if others else ""
        where = f"in the data with {together}, " if together and self.after_repairs else ""
        paragraphs = [f"{where}{suspicion.message}."]
        if suspicion.examples:
            more = ", ..." if len(suspicion.examples) > SHOWN else ""
            paragraphs.append(f"Such as: {'; '.join(suspicion.examples[:SHOWN])}{more}")
        if not math.isnan(self.after):
            now, then = f"{self.before:.3f}", f"{self.after:.3f}"
            becomes = f"stays {then}" if now == then else f"is {then} instead of {now}"
            with_others = f" (with {together})" if together and not where else ""
            paragraphs.append(f"{self.measure} {becomes} if so{with_others}.")
        if suspicion.refused and math.isnan(self.after):
            paragraphs.append("`evaluate` refuses the data because of this.")
        paragraphs.append(f"-> {suspicion.hint}")
        if suspicion.repair is not None and self.harmful:
            paragraphs.append(f"   {options([str(suspicion.repair)])}")
        return "\n".join(
            [f"{suspicion.sure if self.harmful else 'note'}: {suspicion.code}", *map(_wrapped, paragraphs)]
        )


def in_words(repairs: Sequence[str]) -> str:
    """Texts of repairs as a list: ``"units=fractions, boxes=cxcywh and classes=+1"``."""
    *first, last = " ".join(repairs).split(" ")
    return f"{', '.join(first)} and {last}" if first else last


def options(repairs: Sequence[str]) -> str:
    """Texts of repairs as options of a command."""
    return " ".join(f"--repair '{word}'" for word in " ".join(repairs).split(" "))


def _wrapped(paragraph: str) -> str:
    """The text in lines that fit a terminal."""
    import textwrap  # noqa: PLC0415 - only to print

    return textwrap.fill(
        paragraph,
        terminal_width(),
        initial_indent="  ",
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def explained(
    case: Case, summary: Mapping[str, float], causes: tuple[Repair, ...] = (), *, combine: bool = True
) -> list[VerifiedSuspicion]:
    """The findings of all rules, without those that another finding explains.

    The guess whose repair raises the first number most is a cause. The rules are asked again about the data after its
    repair: what they no longer find was a consequence, and what they find then was hidden by it.

    Args:
        case: The data, after the repairs of the causes.
        summary: Its numbers; empty without detections.
        causes: The repairs so far.
        combine: Whether a reading that shows no effect of its own is tried together with others.
    """
    suspicions = [
        suspicion
        for rule in RULES.values()
        if case.data.detections is not None or not rule.needs_detections
        for suspicion in rule.function()(case)
        if not _is_of_a_repair(suspicion, causes)
    ]
    judged = [(suspicion, _judged(case, suspicion, summary, causes)) for suspicion in suspicions]
    found = [finding for _, finding in judged if finding is not None]
    main = list(summary)[:1]
    if len(causes) == MOST_CAUSES:
        return found
    repairable = [one for one in found if one.harmful and one.suspicion.repair is not None]
    # What was counted, such as repeated rows, comes before guesses: it can look like other faults.
    counted = [one for one in repairable if one.suspicion.sure == "sure" and one.gain > 0 and one.measure in main]
    guesses = counted or [one for one in repairable if one.suspicion.must_improve]
    if guesses:
        # Without numbers, the first rule that has a guess: the rules about readings come first.
        cause = max(guesses, key=lambda one: one.gain) if summary else guesses[0]
        assert cause.suspicion.repair is not None
        after, causes = case.repaired(cause.suspicion.repair), (*causes, cause.suspicion.repair)
        return [cause, *explained(after, after.summary if summary else {}, causes, combine=combine)]
    if not summary or not combine:
        return found
    # A reading that fits, but raises no number on its own: it may with others, such as classes that are wrong, too.
    for suspicion, finding in judged:
        repair = suspicion.repair
        if finding is None and repair is not None and suspicion.sure == "likely" and suspicion.must_improve:
            combined = _together(case, suspicion, summary, causes)
            if combined is not None:
                return combined
    return found


def _is_of_a_repair(suspicion: Suspicion, causes: tuple[Repair, ...]) -> bool:
    """Whether this is a note about numbers that one of the repairs has written, such as reversed scores."""
    repair = suspicion.repair
    is_note = suspicion.sure == "possible" and not suspicion.must_improve
    return is_note and any(repair and (cause.name, cause.side) == (repair.name, repair.side) for cause in causes)


def _together(
    case: Case, suspicion: Suspicion, summary: Mapping[str, float], causes: tuple[Repair, ...]
) -> list[VerifiedSuspicion] | None:
    """The findings if a repair has an effect after others are done, too; else ``None``."""
    assert suspicion.repair is not None
    after = case.mended(suspicion.repair)
    if after is None:
        return None
    found = explained(after, after.summary, (*causes, suspicion.repair), combine=False)
    partners = [
        one.suspicion.repair for one in found if one.harmful and one.suspicion.must_improve and one.suspicion.repair
    ]
    if not partners:
        return None
    without, both = case.repaired(*partners).summary, after.repaired(*partners).summary
    main = next(iter(summary))
    if not both[main] - without[main] >= suspicion.least_gain:
        return None
    names = tuple(map(str, partners))
    return [VerifiedSuspicion(suspicion, True, main, without[main], both[main], names), *found]


def _judged(
    case: Case, suspicion: Suspicion, before: Mapping[str, float], causes: tuple[Repair, ...]
) -> VerifiedSuspicion | None:
    """The finding for a suspicion; ``None`` if its repair shows too little effect."""
    names = tuple(str(cause) for cause in causes)
    harmful = suspicion.sure != "possible" or suspicion.refused
    after: Mapping[str, float] = {}
    if suspicion.repair is not None:
        try:
            repaired = case.repaired(suspicion.repair)
            after = repaired.summary if before else {}
        except ValueError as error:
            message = f"{suspicion.message}. No repair is offered: {error}"
            suspicion = dataclasses.replace(suspicion, message=message, repair=None)
    if not after:
        return VerifiedSuspicion(suspicion, harmful, together_with=names, after_repairs=bool(names))
    moved = {key: _difference(before[key], after.get(key, _NAN)) for key in before}
    measure = main = next(iter(before))
    if abs(moved[main]) < suspicion.least_gain and not suspicion.must_improve:
        measure = max(moved, key=lambda key: abs(moved[key]))
    numbers: tuple[str, float, float] = measure, before[measure], after.get(measure, _NAN)
    if (moved[measure] if suspicion.must_improve else abs(moved[measure])) < suspicion.least_gain:
        if suspicion.must_improve and not suspicion.refused:
            return None
        return VerifiedSuspicion(suspicion, suspicion.refused, *numbers, names, bool(names))
    if suspicion.sure == "possible" and (suspicion.must_improve or measure == main):
        suspicion, harmful = dataclasses.replace(suspicion, sure="likely"), True
    return VerifiedSuspicion(suspicion, harmful, *numbers, names, bool(names))


def _difference(before: float, after: float) -> float:
    """How much a number moves; 0 if it is undefined before or after."""
    return 0.0 if math.isnan(before) or math.isnan(after) else after - before
