"""The LaTeX table has the numbers of the intervals, and names cannot break it."""

from __future__ import annotations

import re

import pytest

from ioukit import evaluate
from ioukit.report import latex_table
from ioukit.statistics import intervals
from support.two_models import ground_truth, model, pair


def test_cells_are_the_intervals_and_the_best_is_bold() -> None:
    models = dict(zip(("Base_1", "50 % & more"), pair(2, b={"found": 0.3}), strict=True))
    rows = latex_table(models, ["AP", "AP50"], replicates=20).splitlines()[4:-2]
    assert [row.partition(" & ")[0] for row in rows] == [r"Base\_1", r"50 \% \& more"]
    for row, one, bold in zip(rows, models.values(), (True, False), strict=True):
        found = intervals(one, ["AP", "AP50"], replicates=20)
        expected = [
            f"{100 * i.value:.1f} [{100 * i.low:.1f}, {100 * i.high:.1f}]" for i in (found["AP"], found["AP50"])
        ]
        plain = re.sub(r"\\textbf\{(.*?)\}", r"\1", row).replace(r"{\scriptsize", "").replace("]}", "]")
        assert plain.removesuffix(r" \\").split(" & ")[1:] == expected
        assert row.count(r"\textbf") == 2 * bold


def test_one_model_has_nothing_bold_and_none_is_refused() -> None:
    assert r"\textbf" not in latex_table({"A": pair(0)[0]}, replicates=5)
    with pytest.raises(ValueError, match="at least one model, got none"):
        latex_table({})


def test_a_number_without_objects_is_a_dash() -> None:
    truth = ground_truth(0)
    medium = truth[truth.boxes[:, 2] * truth.boxes[:, 3] < 96**2]
    cells = latex_table({"A": evaluate(medium, model(medium, 0))}, ["APm", "APl"], replicates=5).splitlines()[4]
    assert cells.split(" & ")[2] == r"-- \\"
    assert "[" in cells.split(" & ")[1]
