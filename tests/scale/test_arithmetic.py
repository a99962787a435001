"""The simulation of clusters, and the page that shows its tables."""

from __future__ import annotations

import dataclasses
import importlib
import json
import runpy
from pathlib import Path
from typing import Any

import pytest

from support.paths import ROOT

SCRIPT = ROOT / "benchmarks" / "scale_simulation.py"


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    pytest.importorskip("pyarrow", reason="parts are Arrow files: pip install 'ioukit[tables]'")
    monkeypatch.syspath_prepend(SCRIPT.parent)  # it imports from its own folder
    costs = importlib.import_module("_scale_costs")
    return {**vars(costs), **runpy.run_path(str(SCRIPT))}


def costs_of(made: dict[str, Any], **changed: float) -> Any:
    fields = [field.name for field in dataclasses.fields(made["Costs"])]
    return made["Costs"](**{name: changed.get(name, 0.0) for name in fields})


def test_the_page_says_what_was_measured(made: dict[str, Any]) -> None:
    found = json.loads(made["DATA"].read_text(encoding="utf-8"))
    page = (ROOT / "docs" / "scale_arithmetic.md").read_text(encoding="utf-8")
    words = " ".join(page.split())
    for name, text in made["tables"](found).items():
        assert text in page, f"run python {SCRIPT.name} tables: {name}"
    for name, text in made["facts"](found).items():
        assert text in words, f"run python {SCRIPT.name} tables: {name}"


def test_tasks_go_to_the_first_worker_that_is_free(made: dict[str, Any]) -> None:
    spread = made["spread"]
    assert spread([], 3) == 0
    assert spread([2.0], 3) == 2
    assert spread([3.0, 1.0, 1.0, 1.0], 2) == 3
    assert spread([1.0, 1.0, 1.0, 3.0], 2) == 4
    assert spread([1.0] * 7, 1) == 7


@pytest.mark.parametrize("nodes", [1, 4])
def test_a_stage_takes_what_its_largest_task_or_its_network_takes(made: dict[str, Any], nodes: int) -> None:
    simulate, cluster = made["simulate"], made["Cluster"](nodes, cores=2, bytes_per_second=1e6)
    rows = 8_000_000
    computing = simulate(costs_of(made, split=1e-6, match=2e-6, draw=1e-6), rows, cluster)
    assert computing["split"] == pytest.approx(8 / min(2 * nodes, 8))
    assert computing["match"] == pytest.approx(16 / min(2 * nodes, 8))
    assert computing["draw"] == pytest.approx(max(8 / (2 * nodes), 8 * made["LARGEST_SHARE"]), rel=0.05)
    moving = simulate(costs_of(made, input_bytes=10, split_bytes=10, run_bytes=1), rows, cluster)
    assert moving["split"] == pytest.approx(80 / nodes)
    assert moving["match"] == pytest.approx(0 if nodes == 1 else 80 / nodes)
    assert moving["draw"] == pytest.approx(0 if nodes == 1 else 8 * made["LARGEST_SHARE"], rel=0.05)
    fragments = simulate(costs_of(made, split_fragment=1.0, match_fragment=1.0, draw_run=1.0), rows, cluster)
    assert fragments == {"split": 64 / min(2 * nodes, 8), "match": 64 / min(2 * nodes, 8), "draw": 8 * 80 / (2 * nodes)}


def test_a_real_run_has_the_tasks_of_the_simulation(made: dict[str, Any], tmp_path: Path) -> None:
    made["make"](tmp_path, 2_400, 3)
    work = tmp_path / "work"
    (work / "tables").mkdir(parents=True)
    steps = made["Steps"](tmp_path, work, 3)
    assert len(steps.pieces) == 12
    for stage, count in (("split", 12), ("match", 3), ("draw", made["CATEGORIES"])):
        assert sum(getattr(steps, stage)(number) for number in range(count)) == 2_400
