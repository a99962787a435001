"""The ablation of the detector: what is written of it is what was run."""

from __future__ import annotations

import json
from typing import Any

import pytest

from support.paths import ROOT, program


@pytest.fixture(name="ablation", scope="module")
def _ablation() -> Any:
    return program(ROOT / "benchmarks" / "ablation_detector.py")


def test_committed_runs_are_those_of_the_plan(ablation: Any) -> None:
    kept = json.loads((ROOT / "docs" / "data" / "detector_ablation.json").read_text(encoding="utf-8"))
    assert kept["plan"] == json.loads(json.dumps(ablation.PLAN))
    names = ("head", "assigner", "loss", "seed")
    ran, planned = ({tuple(run[name] for name in names) for run in runs} for runs in (kept["runs"], ablation.runs()))
    assert ran == planned
    assert len(kept["runs"]) == len(planned)


def test_the_page_has_the_table_of_the_committed_runs(ablation: Any) -> None:
    kept = json.loads((ROOT / "docs" / "data" / "detector_ablation.json").read_text(encoding="utf-8"))
    assert ablation.table(kept["runs"]) in (ROOT / "docs" / "detector.md").read_text(encoding="utf-8")
