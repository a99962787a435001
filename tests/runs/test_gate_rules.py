"""What a rule may be, and files of rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ioukit.evaluation import COCO
from ioukit.evaluation.protocols import find_protocol
from ioukit.runs import Rule, Rules, default_rules, read_rules

FILE = """
certainty = 0.9
in_doubt = "fail"
replicates = 2000
seed = 7

[[rules]]
metric = "AP"
may_fall_by = 0.005
certainty = 0.95
in_doubt = "pass"
name = "no worse"

[[rules]]
metric = "AP50"
classes = ["person", "car", "person"]
may_fall_by = 0

[[rules]]
value = "latency"
at_most = 20

[[rules]]
metric = "AP"
classes = "all"
at_least = 0.1
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "gate.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_has_the_fields_of_the_records(tmp_path: Path) -> None:
    rules = read_rules(written(tmp_path, FILE))
    assert (rules.certainty, rules.in_doubt, rules.replicates, rules.seed) == (0.9, "fail", 2000, 7)
    assert rules.rules == (
        Rule(metric="AP", may_fall_by=0.005, certainty=0.95, in_doubt="pass", name="no worse"),
        Rule(metric="AP50", classes=("person", "car"), may_fall_by=0),
        Rule(value="latency", at_most=20),
        Rule(metric="AP", classes="all", at_least=0.1),
    )
    assert [str(rule) for rule in rules.rules] == [
        "AP may not fall by more than 0.005",
        "AP50 of person, car may not fall",
        "latency must be at most 20",
        "AP of every class must be at least 0.1",
    ]
    assert [rules.certainty_of(rule) for rule in rules.rules[:2]] == [0.95, 0.9]
    assert [rules.doubt_of(rule) for rule in rules.rules[:2]] == ["pass", "fail"]
    assert rules.source == str(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rules = 1", r"rules: expected tables \[\[rules\]\]"),
        ("", "there must be at least one rule"),
        ("x = [", "expected TOML, found something else"),
        pytest.param("x = " + "[" * 5_000, "expected TOML, found something else: .* nested too deeply", id="nested"),
        ("certainy = 0.9", r"certainy: there is no such field; did you mean 'certainty'\?"),
        ("certainty = 1.0\n[[rules]]\nmetric='AP'\nat_least=1", "certainty must be at least 0.5 and below 1"),
        ("certainty = '95 %'\n[[rules]]\nmetric='AP'\nat_least=1", "certainty must be at least 0.5"),
        ("in_doubt = 'maybe'\n[[rules]]\nmetric='AP'\nat_least=1", "unknown in_doubt 'maybe'; choose from pass, fail"),
        ("seed = 1.5\n[[rules]]\nmetric='AP'\nat_least=1", "seed: expected a whole number, found 1.5"),
        ("replicates = 0\n[[rules]]\nmetric='AP'\nat_least=1", "replicates must be at least 1"),
        ("replicates = 2\n[[rules]]\nmetric='AP'\nat_least=1", "replicates must be at least 20, got 2"),
        ("[[rules]]\nmetric='AP'\nclasses=[]\nat_least=1", "classes: expected a list of names"),
        ("[[rules]]\nmetrik = 'AP'", r"rules\[0\]\.metrik: there is no such field; did you mean 'metric'\?"),
        ("[[rules]]\nmay_fall = 1\nmetric = 'AP'", r"did you mean 'may_fall_by'\?"),
        ("[[rules]]\nmetric = 1", r"rules\[0\]\.metric: expected text, found 1"),
        ("[[rules]]\nmetric = 'AP'", r"rules\[0\]: a rule needs one of may_fall_by, .* found none"),
        ("[[rules]]\nmetric = 'AP'\nat_least=0\nat_most=1", "found at_least and at_most"),
        ("[[rules]]\nat_least = 1", "a rule needs a metric or a value"),
        ("[[rules]]\nmetric='AP'\nvalue='x'\nat_least = 1", "and not both"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = -0.1", "may_fall_by must be at least 0, got -0.1"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = nan", "must be a finite number"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = '1'", "must be a finite number, got '1'"),
        (f"[[rules]]\nmetric='AP'\nat_most = 1{'0' * 400}", "must be a finite number"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = true", "must be a finite number, got True"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = 0\nclasses='person'", 'expected a list of names, or "all"'),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = 0\nclasses=[1]", 'expected a list of names, or "all", found'),
        ("[[rules]]\nmetric='AP/person'\nmay_fall_by = 0\nclasses='all'", "is the number of a class"),
        ("[[rules]]\nvalue='x'\nat_most = 0\nclasses='all'", "a value is compared as it is"),
        ("[[rules]]\nvalue='x'\nat_most = 0\ncertainty=0.9", "a value is compared as it is"),
        ("[[rules]]\nmetric='AP'\nat_least = 0\nin_doubt='fail'", "in_doubt needs a certainty"),
        ("[[rules]]\nmetric='AP'\nmay_fall_by = 0\ncertainty=0.4", "certainty must be at least 0.5"),
    ],
)
def test_errors_name_the_file_and_the_rule(tmp_path: Path, text: str, message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ValueError, match=message) as caught:
        read_rules(path)
    assert str(caught.value).startswith(f"{path}: ")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_rules(tmp_path / "missing.toml")
    (tmp_path / "gate.toml").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="expected TOML"):
        read_rules(tmp_path / "gate.toml")


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"classes": "person", "metric": "AP", "at_least": 1}, "a list of names, or 'all'"),
        ({"metric": "AP", "may_rise_by": float("inf")}, "finite"),
    ],
)
def test_rules_of_ones_own_are_checked(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rule(**fields)
    with pytest.raises(ValueError, match="at least one rule"):
        Rules(rules=())
    with pytest.raises(ValueError, match="seed must be at least 0"):
        Rules(rules=(Rule(metric="AP", at_least=0),), seed=-1)


def test_the_default_is_about_the_main_number() -> None:
    assert default_rules(COCO).rules == (Rule(metric="AP", may_fall_by=0.0),)
    assert default_rules(COCO).certainty == 0.95
    caltech = find_protocol("caltech")
    assert default_rules(caltech).rules == (Rule(metric=caltech.main_measure.key, may_rise_by=0.0),)
