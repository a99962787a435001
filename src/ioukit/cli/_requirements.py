"""`--at-least` and `--at-most`: numbers that an evaluation must reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from ioukit.cli._errors import bad_value
from ioukit.cli._output import printable
from ioukit.evaluation.requirements import Requirement, check_requirements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ioukit.evaluation import Evaluation, RequirementResult

__all__ = ["check_numbers", "parse_requirements", "requirements_table", "requirements_to_list"]

_OPTIONS: dict[Literal["at_least", "at_most"], str] = {"at_least": "--at-least", "at_most": "--at-most"}


def parse_requirements(at_least: Iterable[str], at_most: Iterable[str]) -> list[Requirement]:
    """The requirements from texts such as ``AP=0.4`` and ``AP50/person=0.6``, each once.

    Raises:
        typer.BadParameter: If a text is not a name and a number. It names the option.
    """
    found = []
    for (kind, option), words in zip(_OPTIONS.items(), (at_least, at_most), strict=True):
        for word in words:
            with bad_value(option):
                found.append(_requirement(word, kind))
    return list(dict.fromkeys(found))


def check_numbers(evaluation: Evaluation, requirements: Sequence[Requirement]) -> tuple[RequirementResult, ...]:
    """The results of the requirements.

    Raises:
        typer.BadParameter: If the evaluation has no such metric. It names the option.
    """
    results: list[RequirementResult] = []
    for requirement in requirements:
        with bad_value(_OPTIONS[requirement.kind]):
            results += check_requirements(evaluation, [requirement])
    return tuple(results)


def requirements_table(results: Sequence[RequirementResult]) -> str:
    """A line per requirement: whether it is met, and the numbers."""
    return "\n".join(f"{'passed' if one.met else 'failed'}  {printable(str(one))}" for one in results)


def requirements_to_list(results: Sequence[RequirementResult]) -> list[dict[str, Any]]:
    """The results as plain values for JSON; ``None`` for an undefined number."""
    return [
        {
            "metric": one.requirement.metric,
            one.requirement.kind: one.requirement.threshold,
            "value": None if math.isnan(one.value) else one.value,
            "met": one.met,
        }
        for one in results
    ]


def _requirement(word: str, kind: Literal["at_least", "at_most"]) -> Requirement:
    metric, sign, number = word.rpartition("=")  # the name of a class may have the sign, too
    if not sign or not metric.strip():
        raise ValueError(f"expected a metric and a number, such as AP=0.4, got {word!r}")
    try:
        threshold = float(number)
    except ValueError:
        raise ValueError(f"the threshold of {metric} must be a number, got {number!r}") from None
    return Requirement(metric.strip(), threshold, kind)
