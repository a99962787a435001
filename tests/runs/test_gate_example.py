"""The example of docs/gate.md: its rules, and the commands of its workflow."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from ioukit._toml import toml_fields
from ioukit.cli._app import app_of
from ioukit.runs import read_rules
from support.paths import EXAMPLES, ROOT

FOLDER = EXAMPLES / "gate"


def test_the_rules_are_those_of_the_page() -> None:
    (shown,) = re.findall(r"```toml\n(.*?)```", (ROOT / "docs" / "gate.md").read_text(encoding="utf-8"), re.DOTALL)
    assert toml_fields(shown) == toml_fields((FOLDER / "gate.toml").read_text(encoding="utf-8"))
    assert len(read_rules(FOLDER / "gate.toml").rules) == 5


def test_the_workflow_calls_commands_that_exist() -> None:
    yaml = pytest.importorskip("yaml", reason="workflows are YAML: pip install pyyaml")
    steps = yaml.safe_load((FOLDER / "workflow.yml").read_text(encoding="utf-8"))["jobs"]["gate"]["steps"]
    lines = [shlex.split(step["run"]) for step in steps if step.get("run", "").startswith("ioukit ")]
    assert [line[1] for line in lines] == ["eval", "gate"]
    group = typer.main.get_group(app_of())
    parent = group.make_context("ioukit", [], resilient_parsing=True)
    for line in lines:
        words = [word.replace("$(cat latency.txt)", "12.3") for word in line[1:]]
        name, found, rest = group.resolve_command(parent, words)
        assert found is not None
        found.make_context(name, rest, parent)  # refuses options that do not exist
