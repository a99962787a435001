"""The filters of a report's commands choose in the viewer what the report counts."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import evaluate, read_coco
from ioukit.evaluation import score_curves
from ioukit.report._sources import view_command
from ioukit.report.report_page import report_data
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from support.paths import DEMO
from support.report_cases import coco
from support.report_marks import matrix_at, up_to

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")


def test_the_command_does_not_tell_where_its_author_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for file in ("gt.json", "a.json"):
        shutil.copy(DEMO / file, tmp_path / file)
    monkeypatch.chdir(tmp_path)
    made = view_command([evaluate(*read_coco(tmp_path / "gt.json", tmp_path / "a.json"))], tmp_path / "photos")
    assert made is not None
    assert made["before"] == ["ioukit", "view", "gt.json", "a.json", "--images", "photos"]
    elsewhere = view_command([evaluate(*read_coco(DEMO / "gt.json", DEMO / "a.json"))], None)
    assert elsewhere is not None
    assert elsewhere["before"][2:] == [str(DEMO / "gt.json"), str(DEMO / "a.json")]


@pytest.mark.parametrize("share", [0.3, 0.6, 1.0])
def test_the_viewer_counts_what_the_report_counts(share: float) -> None:
    evaluation = coco()
    assert evaluation.ground_truth is not None
    shown = report_data(evaluation).drawn
    collection = Collection.of(evaluation.ground_truth, {"model": evaluation})
    position = int(share * (len(shown["scores"]) - 1))
    score = shown["scores"][position]

    def counted(*items: tuple[str, str]) -> int:
        chosen = Filter.parse([*items, ("at_score", repr(score)), ("at_iou", repr(shown["iou"]))])
        return int(answer(collection, chosen).marks.sum())

    point = score_curves(evaluation.matches).overall.at(score)
    assert counted(("outcome", "tp")) == point.true_positives
    assert counted(("outcome", "fp")) == point.false_positives
    assert counted(("outcome", "fn")) == point.false_negatives
    names, matrix = shown["matrix"]["classes"], matrix_at(shown["matrix"], position)
    background = len(names)
    cells = np.argwhere(matrix)[:: max(1, np.count_nonzero(matrix) // 20)].tolist()
    for true, predicted in cells:
        rows = (
            "background" if true == background else names[true],
            ("background" if predicted == background else names[predicted]),
        )
        found = counted(("true", rows[0]), ("predicted", rows[1]))
        # A match has two marks: its object and its detection.
        assert found == matrix[true, predicted] * (2 if background not in (true, predicted) else 1)
    for kind, steps in zip(shown["errors"]["kinds"], shown["errors"]["new"], strict=False):
        spelled = "localization" if kind == "localisation" else kind
        assert counted(("error", spelled)) == up_to(steps, position)
    errors = shown["errors"]
    assert counted(("error", "missed")) == errors["objects"] - up_to(errors["gone"], position) > 0
