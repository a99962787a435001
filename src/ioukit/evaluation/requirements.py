"""Numbers that an evaluation must reach, such as an AP of at least 0.4."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ioukit._checks import check_choice
from ioukit._near_names import suggest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit.evaluation.results import Evaluation


_DIGITS = 4


@dataclass(frozen=True)
class Requirement:
    """A number that a metric must reach, or must not exceed."""

    metric: str
    """The flat name of the metric, one of :meth:`Evaluation.metrics`: ``"AP"``, ``"AP50/person"``."""
    threshold: float
    """The number; not NaN."""
    kind: Literal["at_least", "at_most"] = "at_least"
    """Whether the metric must be ``"at_least"`` or ``"at_most"`` the threshold; both include it."""

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, ("at_least", "at_most"))
        if math.isnan(self.threshold):
            raise ValueError(f"the threshold of {self.metric} must be a number, got nan")

    @property
    def bound(self) -> str:
        """The bound in words: ``"at least 0.4"``."""
        return f"{self.kind.replace('_', ' ')} {self.threshold!r}"

    def __str__(self) -> str:
        return f"{self.metric} {self.bound}"


@dataclass(frozen=True)
class RequirementResult:
    """A requirement with the number that the evaluation has."""

    requirement: Requirement
    """What was required."""
    value: float
    """What the metric is; NaN if it is undefined."""

    @property
    def met(self) -> bool:
        """Whether the requirement is met. An undefined metric meets none."""
        if self.requirement.kind == "at_least":
            return self.value >= self.requirement.threshold
        return self.value <= self.requirement.threshold

    @property
    def shown(self) -> str:
        """The value with four decimals, with all its digits if these would look as if they were the threshold."""
        if math.isnan(self.value):
            return "undefined"
        text = f"{self.value:.{_DIGITS}f}"
        return repr(self.value) if float(text) == self.requirement.threshold != self.value else text

    def __str__(self) -> str:
        return f"{self.requirement.metric} is {self.shown}, required is {self.requirement.bound}"


def check_requirements(evaluation: Evaluation, requirements: Iterable[Requirement]) -> tuple[RequirementResult, ...]:
    """Compare the numbers of an evaluation with what is required of them.

    Args:
        evaluation: The result of `ioukit.evaluate`.
        requirements: What is required. Every metric may be named, those of all classes too: ``"AP75/person"``.

    Returns:
        A result per requirement, in the same order.

    Raises:
        TypeError: If `requirements` is not a list of :class:`Requirement`.
        ValueError: If the evaluation has no metric of such a name; the message suggests names that are similar.

    Examples:
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> boxes = [[10, 10, 50, 50], [80, 10, 50, 50]]
        >>> gt = GroundTruth.from_arrays(image_ids=[1, 1], category_ids=[7, 7], boxes=boxes)
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[7], boxes=boxes[:1], scores=[0.9])
        >>> evaluation = evaluate(gt, dt)
        >>> results = check_requirements(evaluation, [Requirement("AP", 0.6), Requirement("AP50", 0.4)])
        >>> [result.met for result in results]
        [False, True]
        >>> print(results[0])
        AP is 0.5050, required is at least 0.6
    """
    if isinstance(requirements, Requirement):
        raise TypeError("requirements must be a list, got one Requirement; write [requirement]")
    wanted = list(requirements)
    for at, requirement in enumerate(wanted):
        if not isinstance(requirement, Requirement):
            found = type(requirement).__name__
            raise TypeError(f"requirements[{at}] must be a Requirement, such as Requirement('AP', 0.4), got {found}")
    known = evaluation.metrics(per_class=tuple(evaluation.summary))
    for requirement in wanted:
        if requirement.metric not in known:
            if requirement.metric.startswith(("AP", "AR")):
                evaluation.protocol.check_ranks("AP and AR")
            summary = ", ".join(one for one in known if "/" not in one)
            every = f"choose from {summary}, or the same of a class, as in {next(iter(known))}/NAME"
            raise ValueError(f"there is no metric {requirement.metric!r}{suggest(requirement.metric, known, every, 1)}")
        if requirement.metric.partition("/")[0] in evaluation.summary and 1 < requirement.threshold <= 100:
            name, fraction = requirement.metric, f"{requirement.threshold / 100:g}"
            raise ValueError(f"{name} is within [0, 1], got {requirement.threshold:g}; did you mean {fraction}?")
    return tuple(RequirementResult(requirement, known[requirement.metric]) for requirement in wanted)
