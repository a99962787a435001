"""The result of a gate for a pull request, and for the tests of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._checks import pluralize
from ioukit.report.junit_suite import SuiteCase, suite_xml
from ioukit.report.markdown import escaped, markdown_table
from ioukit.runs.gate.gate_result import shown_bounds, shown_check, shown_doubts, shown_numbers

if TYPE_CHECKING:
    import datetime

    from ioukit.runs.gate.gate_result import GateResult, RuleResult


_MOST_CHECKS = 50  # of a rule, in a table
_OUTCOMES = {"passed": "passed", "broken": "**broken**", "undecided": "**undecided**"}


def gate_markdown(result: GateResult) -> str:
    """The result in Markdown, for a comment in a pull request or the summary of a job. Names are escaped.

    Args:
        result: What :func:`check_rules` returned.
    """
    runs = escaped(result.candidate) + (f" compared with {escaped(result.baseline)}" if result.baseline else "")
    parts = [f"### Gate: {result.outcome}", f"{runs}, {pluralize(result.num_images, 'image')}"]
    if result.reason:
        parts.append(f"It cannot be decided: {escaped(result.reason)}.")
    if result.results:
        rows = [(_OUTCOMES[one.outcome], escaped(one.title), escaped(one.reason)) for one in result.results]
        parts.append(markdown_table(("Outcome", "Rule", "Why"), rows))
        parts.append(_numbers(result))
    return "\n\n".join(parts) + "\n"


def _numbers(result: GateResult) -> str:
    head = ("Number", "Baseline", "Candidate", "Difference", "One-sided bounds")
    rows: list[tuple[str, ...]] = []
    for one in result.results:
        for check in one.checks[:_MOST_CHECKS]:
            numbers = shown_numbers(check, one.rule)
            before, after, difference = numbers if one.rule.compares else ("", numbers[0], "")
            bounds = "; ".join(filter(None, (shown_bounds(check, one), escaped(shown_doubts(check)))))
            rows.append((escaped(check.key), before, after, difference, bounds))
        if len(one.checks) > _MOST_CHECKS:
            rows.append((f"and {len(one.checks) - _MOST_CHECKS:,} more", "", "", "", ""))
    return markdown_table(head, rows, numbers=range(1, len(head)))


def gate_junit(
    result: GateResult, *, name: str = "ioukit gate", created: datetime.datetime | None = None, seconds: float = 0.0
) -> str:
    """The result as a file of JUnit: a test case for each rule.

    A rule that is broken is a failure. A rule that is undecided is an error, and so is a pair of runs that cannot be
    compared.

    Args:
        result: What :func:`check_rules` returned.
        name: The name of the suite, and the class of its test cases.
        created: When the rules were checked; now if ``None``.
        seconds: How long that took, within [0, inf).

    Returns:
        The text of an XML document in UTF-8.
    """
    cases = [SuiteCase("the runs can be compared", error=result.reason, kind="gate")] if result.reason else []
    cases += [_case(one) for one in result.results]
    properties = {"baseline": result.baseline, "candidate": result.candidate, "images": result.num_images}
    return suite_xml(name, cases, properties, created=created, seconds=seconds)


def _case(result: RuleResult) -> SuiteCase:
    checks = result.checks[:_MOST_CHECKS]
    numbers = "; ".join(
        filter(None, (text for one in checks for text in (shown_check(one, result), shown_doubts(one))))
    )
    text = f"{result.reason}: {numbers}"
    failure = text if result.outcome == "broken" else ""
    return SuiteCase(result.title, failure, text if result.outcome == "undecided" else "", "gate")
