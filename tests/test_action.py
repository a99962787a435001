"""The action for GitHub and the hook for pre-commit: their texts are run as those programs run them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from support.command import run_here
from support.paths import DEMO, EXAMPLES, IMPORTED_FROM, ROOT, load

yaml = pytest.importorskip("yaml", reason="needs PyYAML: pip install 'ioukit[yolo]'")
needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

GT, A, B = (str(DEMO / name) for name in ("gt.json", "a.json", "b.json"))  # B is the better model


class Step(NamedTuple):
    """How the step of the action ended."""

    code: int
    said: str
    summary: str
    outputs: dict[str, str]


@pytest.fixture
def action() -> dict[str, Any]:
    return dict(yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8")))


def run(action: dict[str, Any], tmp_path: Path, **given: str) -> Step:
    """Runs the second step as GitHub does, with these inputs."""
    assert set(given) <= set(action["inputs"]) | {"ground_truth", "at_least"}
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    step = action["runs"]["steps"][1]
    variables = {}
    for name, value in step["env"].items():
        assert value.startswith("${{ inputs.")
        variables[name] = inputs[value.removeprefix("${{ inputs.").removesuffix(" }}")]
    program = tmp_path / "temp" / "ioukit-environment" / "bin" / "ioukit"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m ioukit "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    files = {name: tmp_path / name for name in ("summary", "outputs")}
    for path in files.values():
        path.touch()
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={
            **os.environ, **variables, "PYTHONPATH": str(IMPORTED_FROM), "RUNNER_TEMP": str(tmp_path / "temp"),
            "GITHUB_STEP_SUMMARY": str(files["summary"]), "GITHUB_OUTPUT": str(files["outputs"]),
        },
        capture_output=True, text=True, encoding="utf-8", check=False,
    )  # fmt: skip
    outputs = dict(line.split("=", 1) for line in files["outputs"].read_text(encoding="utf-8").splitlines())
    return Step(done.returncode, done.stdout + done.stderr, files["summary"].read_text(encoding="utf-8"), outputs)


@needs_bash
def test_it_evaluates_and_hands_on_the_numbers(action: dict[str, Any], tmp_path: Path) -> None:
    done = run(action, tmp_path, ground_truth=GT, detections=A, at_least="AP=0.4 AP50=0.5", options="--classes person")
    assert done.code == 1, done.said  # AP of persons is 0.276
    assert "required is at least 0.4" in done.said
    assert "0.276" in done.summary
    found = json.loads(Path(done.outputs["results"]).read_text(encoding="utf-8"))
    assert round(found["summary"]["AP"], 3) == 0.276
    assert list(action["outputs"]) == ["results"]


@needs_bash
def test_a_model_that_is_worse_than_the_baseline_fails(action: dict[str, Any], tmp_path: Path) -> None:
    found = load(EXAMPLES / "coco_val2017_100" / "yolact.json")
    (tmp_path / "half.json").write_text(json.dumps(found[::2]), encoding="utf-8")
    files = [str(EXAMPLES / "coco_val2017_100" / name) for name in ("ground_truth.json", "yolact.json")]
    done = run(action, tmp_path, ground_truth=files[0], detections="half.json", baseline=files[1])
    assert done.code == 1, done.said
    assert "### half compared with yolact" in done.summary
    shutil.rmtree(tmp_path / "temp")
    assert run(action, tmp_path, ground_truth=GT, detections=B, baseline=A).code == 0


@needs_bash
def test_rules_decide_in_place_of_the_test(action: dict[str, Any], tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[rules]]\nmetric = "AP"\nat_least = 0.5\n', encoding="utf-8")
    done = run(action, tmp_path, ground_truth=GT, detections=A, baseline=B, rules=str(rules))
    assert done.code == 1, done.said
    assert "0.461" in done.summary


@needs_bash
def test_wrong_inputs_end_with_2_and_run_nothing(action: dict[str, Any], tmp_path: Path) -> None:
    done = run(action, tmp_path, ground_truth=GT, detections="$(touch hacked); `touch hacked`", rules="rules.toml")
    assert done.code == 2
    assert "rules needs the input baseline" in done.said
    shutil.rmtree(tmp_path / "temp")
    done = run(
        action, tmp_path, ground_truth=GT, detections="$(touch hacked); `touch hacked`", options="; touch hacked"
    )
    assert done.code == 2
    assert not (tmp_path / "hacked").exists()
    assert done.outputs == {}


def test_the_hook_checks_the_paths_in_its_args() -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    program, *arguments = shlex.split(hook["entry"])
    assert (program, hook["pass_filenames"]) == ("ioukit", False)
    assert run_here(*arguments, GT).code == 0
    assert run_here(*arguments, GT, str(DEMO / "gt.json.missing")).code == 2
