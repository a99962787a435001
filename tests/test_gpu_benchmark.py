"""`benchmarks/gpu.py` on the CPU: its table, and what it says of parts that fail."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from support.paths import ROOT, program

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCRIPT = ROOT / "benchmarks" / "gpu.py"


@pytest.fixture(name="rows")
def _rows(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return program(SCRIPT.parent / "_gpu_rows.py")


@pytest.fixture(name="agreement")
def _agreement(monkeypatch: pytest.MonkeyPatch) -> Any:
    pytest.importorskip("torch", reason="torch is not installed")
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return program(SCRIPT.parent / "_gpu_agreement.py")


@pytest.fixture(name="script")
def _script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    return program(SCRIPT)


def started(parts: str, output: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [
        sys.executable,
        str(SCRIPT),
        "--device",
        "cpu",
        "--quick",
        "--parts",
        parts,
        "--output",
        str(output),
        *more,
    ]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "rows"),
    [
        ("machine,tests,agreement", ["pairwise, 16 measures", "14 losses and their gradients", "nms by DIoU"]),
        ("overlaps,losses,nms", ["pairwise_iou, 20 x 30", "giou_loss, forward and backward, 50 pairs", "nms, 200"]),
        ("detector", ["anchor head, training step of 2 images", "free head, network alone", "free head, pixels"]),
    ],
    ids=["agreement", "speed", "detector"],
)
def test_it_runs_on_the_cpu(tmp_path: Path, names: str, rows: list[str]) -> None:
    for module in ("torch", "torchvision"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    output = tmp_path / "table.md"
    done = started(names, output, "--minutes", "60")
    text = output.read_text(encoding="utf-8")
    assert done.returncode == 0, text + done.stderr
    assert "FAILED" not in text
    for words in rows:
        (line,) = (line for line in text.splitlines() if words in line)
        assert line.count("|") == 7
    if "machine" in names:
        assert "torch " in text.splitlines()[0]
        assert "left out: they need a GPU" in text
    if "nms" in names.split(","):
        assert "keeps the same" in text
        assert text.count(" ms |") >= 9


def options(script: Any, *, quick: bool = True) -> argparse.Namespace:
    assert script.SHARES.keys() == {*script.HOMES, "tests"}
    return argparse.Namespace(device="cpu", quick=quick)


def test_a_process_that_dies_is_a_row(script: Any) -> None:
    (row,) = script.in_a_process("no such part", options(script), 600)
    assert row["failed"]
    assert row["result"] == "FAILED: KeyError: 'no such part'"


def test_a_part_without_time_is_a_row(script: Any) -> None:
    (row,) = script.in_a_process("agreement", options(script, quick=False), 0.01)
    assert row["failed"]
    assert row["result"] == "FAILED: took longer than 0 s"


def test_rows_before_a_failure_stay(rows: Any, capsys: Any) -> None:
    def works() -> Iterator[Any]:
        yield "good", lambda: ("agrees", {"plain": 1.0})
        yield "bad", lambda: 1 / 0
        yield "wrong", lambda: (rows.verdict(9, "iou"), {})
        yield "after", lambda: (rows.verdict(2, "iou"), {})

    rows.print_rows("agreement", works())
    printed = [json.loads(line.removeprefix(rows.MARK)) for line in capsys.readouterr().out.splitlines()]
    assert [(row["work"], row["failed"]) for row in printed] == [
        ("good", False), ("bad", True), ("wrong", True), ("after", False),
    ]  # fmt: skip
    assert printed[1]["result"] == "FAILED: ZeroDivisionError: division by zero"
    assert printed[2]["result"] == "FAILED: not within 9.0 roundings (iou); at most 8 are expected"


def test_the_table(script: Any) -> None:
    rows = [
        script.row("machine", "doctor", "one machine"),
        script.row("overlaps", "a | b", "two\nlines", {"plain": 1.234567, "torchvision": 20.0}),
    ]
    assert script.table(rows).splitlines() == [
        "one machine",
        "",
        "| part | work | plain | compiled | torchvision | result |",
        "| --- | --- | --- | --- | --- | --- |",
        "| overlaps | a \\| b | 1.23 ms |  | 20 ms | two lines |",
    ]


def test_differences_are_found(rows: Any, agreement: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = np.array([1.0, 0.5], np.float32)
    assert rows.roundings(expected, expected) == 0
    assert rows.roundings(expected + np.float32(2**-20), expected) == pytest.approx(8)
    assert rows.roundings(expected * np.nan, expected) == np.inf
    assert rows.roundings(expected[:1], expected) == np.inf
    nms = ioukit.nms

    def other(boxes: Any, *rest: Any, **more: Any) -> Any:
        keep = nms(boxes, *rest, **more)
        return keep if isinstance(boxes, np.ndarray) else keep[1:]

    monkeypatch.setattr(ioukit, "nms", other)
    results = {work: measure()[0] for work, measure in agreement.same_boxes("cpu", 20)}
    assert results["nms"].startswith("FAILED: ")
    assert results["soft_nms"].startswith("the same ")


def test_an_unknown_part_is_refused(tmp_path: Path) -> None:
    done = started("agreement,speed", tmp_path / "table.md")
    assert done.returncode == 2
    assert "unknown part 'speed'; choose from machine, tests, agreement" in done.stderr
