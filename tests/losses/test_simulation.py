"""The regression simulation of the DIoU paper, at a hundredth of its size."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from support.paths import ROOT, program


@pytest.fixture(name="simulation", scope="module")
def _simulation() -> Any:
    return program(ROOT / "benchmarks" / "regression_simulation.py")


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


def test_published_slopes_separate_the_losses_as_the_paper_does(simulation: Any) -> None:
    pred, target = simulation.cases(20)
    names = simulation.LOSSES["published"]
    curves = {name: simulation.errors(name, pred, target, slopes="published") for name in names}
    start = curves["iou"][0]
    assert all(curve[0] == start for curve in curves.values())
    left = {name: curve[-1] / start for name, curve in curves.items()}
    assert left["iou"] > 0.8 > left["giou"] > 0.15
    assert max(left["diou"], left["ciou"]) < 0.01


def test_exact_gradients_leave_iou_alone_behind(simulation: Any) -> None:
    pred, target = simulation.cases(20)
    left = {name: simulation.errors(name, pred, target) for name in simulation.LOSSES["exact"]}
    start = left["iou"][0]
    assert left["iou"][-1] > 0.8 * start
    assert max(left[name][-1] for name in ("giou", "diou", "ciou", "eiou")) < 0.02 * start
    # The steps at a lower rate end the swinging about the target.
    assert left["ciou"][-1] < 0.1 * simulation.errors("ciou", pred, target, decay=False)[-1]


def test_published_slopes_are_the_gradient_where_nothing_is_known_to_differ(simulation: Any) -> None:
    # Overlapping boxes neither of which holds the other: GIoU's slopes are right, but for the size's factor.
    boxes, goal = np.array([[0.0, 0, 4, 3]]), np.array([[1.0, 1, 6, 5]])
    for name in ("iou", "giou"):
        of_centre, of_size = simulation.published_slopes(name, boxes, goal)
        centre, size = simulation.exact_slopes(name, boxes, goal)
        assert np.allclose(of_centre, centre)
        assert np.allclose(of_size, 2 * size)
    # Apart along one axis, the intersection with the sign of its sides is negative, and the slope another.
    goal = goal + np.array([10, 0, 10, 0])
    assert not np.allclose(
        simulation.published_slopes("giou", boxes, goal)[0], simulation.exact_slopes("giou", boxes, goal)[0]
    )


def test_committed_numbers_have_the_same_order() -> None:
    found = json.loads((ROOT / "docs" / "data" / "regression_simulation.json").read_text())
    assert found["cases"] == 1_715_000
    published, exact = (
        {name: curve[-1] for name, curve in found["errors"][key].items()} for key in ("published", "exact")
    )
    assert published["iou"] > 2 * published["giou"] > 100 * max(published["diou"], published["ciou"])
    assert exact["iou"] > 50 * max(error for name, error in exact.items() if name != "iou")
    page = (ROOT / "docs" / "which_loss.md").read_text(encoding="utf-8")
    said = dict(re.findall(r"^\| (\w+) \| (\d\.\d{3}) \|$", page, re.MULTILINE))
    assert {name.lower(): number for name, number in said.items()} == {
        name: f"{error / found['cases']:.3f}" for name, error in exact.items()
    }
