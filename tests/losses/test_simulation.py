"""The regression simulation of the DIoU paper, at a hundredth of its size."""

from __future__ import annotations

import importlib.util
import json
from typing import Any

import numpy as np
import pytest

from paths import ROOT


@pytest.fixture(name="simulation", scope="module")
def _simulation() -> Any:
    spec = importlib.util.spec_from_file_location("simulation", ROOT / "benchmarks" / "regression_simulation.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_cases_are_the_papers(simulation: Any) -> None:
    pred, target = simulation.cases(50)
    assert pred.shape == target.shape == (50 * 343, 4)
    centres = (pred[:, :2] + pred[:, 2:]) / 2
    assert np.hypot(*(centres - 10).T).max() <= 3
    sides = target[:, 2:] - target[:, :2]
    assert np.allclose(sides.prod(axis=1), 1)
    assert np.allclose(np.unique((sides[:, 0] / sides[:, 1]).round(9)), np.round(simulation.RATIOS, 9))
    assert np.allclose(target[:, :2] + target[:, 2:], 20)
    areas = np.unique((pred[:, 2:] - pred[:, :2]).prod(axis=1).round(9))
    assert np.allclose(areas, simulation.SCALES)


def test_iou_stays_behind_and_distances_arrive(simulation: Any) -> None:
    pred, target = simulation.cases(20)
    left = {name: simulation.errors(name, pred, target) for name in ("iou", "giou", "diou", "ciou")}
    start = left["iou"][0]
    assert all(curve[0] == start for curve in left.values())
    assert left["iou"][-1] > 0.8 * start
    assert left["giou"][-1] > left["diou"][-1] > left["ciou"][-1]
    assert left["giou"][-1] < 0.1 * start


def test_committed_numbers_have_the_same_order() -> None:
    found = json.loads((ROOT / "docs" / "regression_simulation.json").read_text())
    assert found["cases"] == 1_715_000
    left = {name: curve[-1] for name, curve in found["errors"].items()}
    assert left["iou"] > left["giou"] > left["diou"] > left["ciou"]
