"""The result of a gate as text, Markdown, JUnit and JSON: names are inert, numbers are there."""

from __future__ import annotations

import dataclasses
import datetime
import json
from xml.etree import ElementTree

from ioukit.runs import GateResult, Rule, Rules, check_rules, gate_junit, gate_markdown
from runs.two_models import pair

NOON = datetime.datetime(2026, 11, 22, 12, tzinfo=datetime.timezone.utc)
HOSTILE = "<script>alert(1)</script> | [x](http://evil) `code` **bold**\nsecond"
RULES = Rules(
    rules=(
        Rule(metric="AP", may_fall_by=0.0),
        Rule(metric="AP/unicorn", may_fall_by=0.0, name=HOSTILE),
        Rule(metric="AP50", classes="all", may_fall_by=0.99),
        Rule(value="latency", at_most=20),
    )
)


def result() -> GateResult:
    """A rule of each outcome."""
    baseline, candidate = pair(0.3)
    return check_rules(candidate, baseline, RULES, candidate_values={"latency": 12.25}, names=(HOSTILE, "main@1"))


def test_text() -> None:
    first, *lines = result().to_text().splitlines()
    assert first.startswith("broken: <script>")
    check = result().results[0].checks[0]
    size, least, most = (f"{-100 * value:.2f}" for value in (check.difference, check.high, check.low))
    said = lines.index(f"broken     AP fell by {size} points ({least} to {most}): not allowed")
    assert lines[said + 1].startswith("           AP  ")
    assert "           AP/unicorn  undefined -> undefined  undefined" in lines
    assert "           latency  12.2500" in lines
    assert sum(line.startswith("           AP50/") for line in lines) == 3


def test_markdown_has_a_table_and_inert_names() -> None:
    text = gate_markdown(result())
    assert text.startswith("### Gate: broken\n")
    assert "<script" not in text
    assert "](http" not in text
    assert "`" not in text
    tables = [line for line in text.splitlines() if line.startswith("|")]
    columns = {line.count("|") for line in tables}
    assert columns == {4, 6}
    assert sum("**broken**" in line for line in tables) == 1
    assert "| latency |  | 12.2500 |  |  |" in tables
    found = next(line for line in tables if line.startswith("| AP |"))
    check = result().results[0].checks[0]
    bounds = f"at least {check.low:+.4f} (95 %), at most {check.high:+.4f} (95 %)"
    assert f"| {check.difference:+.4f} | {bounds} |" in found


def test_junit_tells_failures_from_errors() -> None:
    root = ElementTree.fromstring(gate_junit(result(), created=NOON, seconds=1.5).encode())
    (suite,) = root
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "time", "timestamp")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "time": "1.500",
        "timestamp": "2026-11-22T12:00:00",
    }
    cases = suite.findall("testcase")
    assert [[child.tag for child in case] for case in cases] == [["failure"], ["error"], [], []]
    assert cases[0].get("name") == "AP may not fall"
    assert "points (" in str(cases[0][0].get("message"))
    assert "): not allowed: AP  " in str(cases[0][0].get("message"))


def test_runs_that_cannot_be_compared_are_an_error() -> None:
    found = check_rules(pair(seed=1)[1], pair()[0], names=("B@1", "main@1"))
    assert (
        found.to_text().splitlines()[1].startswith("cannot be decided: main@1 and B@1 were not evaluated on the same")
    )
    assert "It cannot be decided: main@1 and B@1" in gate_markdown(found).replace("&#64;", "@")
    suite = ElementTree.fromstring(gate_junit(found).encode())[0]
    assert (suite.get("tests"), suite.get("errors")) == ("1", "1")
    assert found.to_dict()["reason"] == found.reason


def test_json_is_strict() -> None:
    found = json.loads(json.dumps(result().to_dict(), allow_nan=False))
    assert (found["outcome"], found["candidate"], found["baseline"]) == ("broken", HOSTILE, "main@1")
    assert [rule["outcome"] for rule in found["rules"]] == ["broken", "undecided", "passed", "passed"]
    assert found["rules"][1]["checks"][0] == {
        "key": "AP/unicorn", "finding": "undefined", "baseline": None, "candidate": None, "difference": None,
        "low": None, "high": None, "doubts": [], "p_value": None, "permutations": 0,
    }  # fmt: skip


def test_long_lists_of_numbers_are_cut_and_counted() -> None:
    found = result()
    of_classes = found.results[2]
    for count, in_text, in_markdown in ((20, 20, 20), (21, 20, 21), (1234, 20, 50)):
        one = dataclasses.replace(of_classes, checks=(of_classes.checks[0],) * count)
        only = dataclasses.replace(found, results=(one,))
        text = only.to_text().splitlines()
        assert sum(line.startswith("           AP50/") for line in text) == in_text
        assert [line for line in text if line.endswith(" more")] == (
            [f"           and {count - in_text:,} more"] if count > in_text else []
        )
        rows = [line for line in gate_markdown(only).splitlines() if line.startswith("| AP50/")]
        assert len(rows) == in_markdown
        assert (f"| and {count - in_markdown:,} more |" in gate_markdown(only)) is (count > in_markdown)
