"""`ioukit doctor` says what there is and whether it agrees."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import ioukit
from ioukit.cli import doctor as command
from ioukit.overlap._conformance import Agreement
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_everything_here_agrees() -> None:
    table, document = run_here("doctor"), run_here("doctor", "--json")
    assert (table.code, document.code) == (0, 0)
    assert table.out.startswith(f"ioukit {ioukit.__version__}")
    report = json.loads(document.out)
    assert report["agrees"]
    assert report["simd"]["used"] == report["simd"]["available"][-1]
    backends = {backend["name"]: backend for backend in report["backends"]}
    assert backends["array API on NumPy"]["agrees"]
    assert 0 <= backends["array API on NumPy"]["worst_roundings"] < 10
    absent = [backend for backend in backends.values() if not backend["available"]]
    assert all(backend["agrees"] is None and backend["problems"] for backend in absent)


def test_what_a_killed_command_left_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "agreements", lambda: [Agreement("a library", "1.0", available=True)])
    monkeypatch.chdir(tmp_path)
    assert "left" not in run_here("doctor").out
    for name in (".ioukit-0a.tmp", ".ioukit-0b.tmp", "mine.tmp"):
        (tmp_path / name).touch()
    os.utime(tmp_path / ".ioukit-0a.tmp", (0, 0))  # the other one may belong to a command that runs
    os.utime(tmp_path / "mine.tmp", (0, 0))
    assert run_here("doctor").out.splitlines()[-1] == "    .ioukit-0a.tmp"
    assert json.loads(run_here("doctor", "--json").out)["left_over"] == [".ioukit-0a.tmp"]


def test_a_disagreement_is_shown_and_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = Agreement("a library", "1.0", available=True, problems=("iou of [0, 0, 1, 1] is 7",), worst=1e9)
    monkeypatch.setattr(command, "agreements", lambda: [wrong])
    outcome = run_here("doctor")
    assert outcome.code == 1
    assert "DISAGREES" in outcome.out
    assert "iou of [0, 0, 1, 1] is 7" in outcome.out
