"""Plain JSON lines: one object per evaluation."""

from __future__ import annotations

import datetime
import io
import json
import math
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from ioukit.experiment_logs import TrackerError, TrackerWarning
from support.evaluated_scenes import made
from support.paths import ROOT
from support.report_cases import attacked

if TYPE_CHECKING:
    from pathlib import Path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_line_has_all_numbers_and_null_where_undefined(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    epochs = [made(seed=seed) for seed in range(3)]
    for step, evaluation in enumerate(epochs):
        logged = evaluation.log_to(path, step=step, prefix="val/")
        assert (logged.tracker, logged.figures, logged.files, logged.notes) == ("JSON lines", (), (), ())
    found = lines(path)
    assert [line.pop("step") for line in found] == [0, 1, 2]
    for line, evaluation in zip(found, epochs, strict=True):
        assert datetime.datetime.fromisoformat(line.pop("time")).tzinfo is not None
        assert line == {
            f"val/{name}": None if math.isnan(value) else value for name, value in evaluation.metrics().items()
        }
    assert sorted(tmp_path.iterdir()) == [path]


def test_figures_and_the_report_go_beside_the_lines_if_they_are_asked_for(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="figures need matplotlib")
    pytest.importorskip("jinja2", reason="the report needs Jinja2")
    path = tmp_path / "runs.jsonl"
    for _ in range(2):
        logged = made().log_to(str(path), figures=["confusion"], report=True, prefix="val/")
    assert (logged.figures, logged.files) == (("val/confusion",), ("val/report",))
    for number, line in enumerate(lines(path), 1):
        assert line["files"] == {
            "val/confusion": f"runs_files/{number}/val_confusion.png",
            "val/report": f"runs_files/{number}/val_report.html",
        }
        assert (tmp_path / line["files"]["val/confusion"]).read_bytes().startswith(b"\x89PNG")
        assert "AP50" in (tmp_path / line["files"]["val/report"]).read_text(encoding="utf-8")


def test_an_open_file_takes_numbers_only() -> None:
    file = io.StringIO()
    evaluation = made()
    evaluation.log_to(file, per_class=False)
    with pytest.warns(TrackerWarning, match="an open file takes numbers only; give the path of a file instead"):
        logged = evaluation.log_to(file, per_class=False, report=True)
    assert logged.files == ()
    first, second = map(json.loads, file.getvalue().splitlines())
    assert first["AP"] == second["AP"] == evaluation.summary["AP"]


def test_a_line_without_an_end_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"AP": 0.1}\n{"AP": 0.', encoding="utf-8")
    made().log_to(path)
    first, broken, last = path.read_text(encoding="utf-8").splitlines()
    assert (json.loads(first), broken) == ({"AP": 0.1}, '{"AP": 0.')
    assert json.loads(last)["AP"] == made().summary["AP"]


def test_lines_of_several_processes_do_not_mix(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    program = f"""
import sys
sys.path.insert(0, {str(ROOT / "tests")!r})
from support.evaluated_scenes import made
evaluation = made()
for step in range(40):
    evaluation.log_to({str(path)!r}, step=step, prefix="a long line " * 100)
"""
    running = [subprocess.Popen([sys.executable, "-c", program]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert sorted(line["step"] for line in lines(path)) == sorted([*range(40)] * 3)


def test_names_of_classes_may_be_anything(tmp_path: Path) -> None:
    evaluation = attacked(tmp_path)
    evaluation.log_to(tmp_path / "runs.jsonl")
    (line,) = lines(tmp_path / "runs.jsonl")
    expected = {name: None if math.isnan(value) else value for name, value in evaluation.metrics().items()}
    assert {name: value for name, value in line.items() if name not in ("time", "step")} == expected


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    path = tmp_path / "none" / "runs.jsonl"
    with pytest.raises(TrackerError, match=r"JSON lines did not take the run: .* there is no folder .*none"):
        made().log_to(path, errors="raise")
    with pytest.warns(TrackerWarning, match="there is no folder"):
        assert not made().log_to(path).numbers
