"""The count of instructions: over three per cent and 500 above what is stored ends with status 1 and names the call."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

BENCHMARKS = Path(__file__).parent.parent / "benchmarks"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    specification = importlib.util.spec_from_file_location("instructions", BENCHMARKS / "instructions.py")
    assert specification is not None
    assert specification.loader is not None
    module: Any = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    monkeypatch.setattr(module, "WORKLOADS", {"one": ("", "", 1), "other": ("", "", 1)})
    monkeypatch.setattr(module, "STORED", tmp_path / "stored.json")
    monkeypatch.setattr(module.shutil, "which", lambda name: f"/usr/bin/{name}")

    def run(counts: dict[str, int], *arguments: str) -> str:
        monkeypatch.setattr(module, "per_call", counts.__getitem__)
        monkeypatch.setattr(sys, "argv", ["instructions.py", *arguments])
        module.main()
        return capsys.readouterr().out

    return run


def test_three_per_cent_more_than_stored_is_too_much(run: Callable[..., str]) -> None:
    run({"one": 100_000, "other": 100_000}, "--store")
    assert "1.035 x stored" in run({"one": 103_500, "other": 90_000})
    with pytest.raises(SystemExit, match=r"over 3% and 500 more instructions than stored: other\. ") as ended:
        run({"one": 100_000, "other": 103_501})
    assert ended.value.code != 0


def test_counts_of_other_versions_are_not_compared(run: Callable[..., str], tmp_path: Path) -> None:
    run({"one": 1, "other": 1}, "--store")
    stored = json.loads((tmp_path / "stored.json").read_text())
    (tmp_path / "stored.json").write_text(json.dumps(stored | {"versions": stored["versions"] | {"numpy": "0.1"}}))
    assert run({"one": 9, "other": 9}).startswith("not compared: the counts are of {")


def test_the_stored_counts_are_of_the_workloads() -> None:
    stored = json.loads((BENCHMARKS / "instructions.json").read_text(encoding="utf-8"))
    text = (BENCHMARKS / "instructions.py").read_text(encoding="utf-8")
    assert stored["calls"]
    assert all(f'"{name}": (' in text for name in stored["calls"])
