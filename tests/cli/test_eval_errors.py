"""`ioukit eval --errors`: why AP is lost, and the score of the best F1."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

import ioukit
from support.command import run_here
from support.paths import DATA, load, write_coco

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
STATS = load(VAL2014 / "expected.json")["bbox"]["stats"]


@pytest.fixture(scope="module")
def result() -> ioukit.Evaluation:
    return ioukit.evaluate(*ioukit.read_coco(GT, DT))


def test_errors_are_a_third_table(result: ioukit.Evaluation) -> None:
    plain, command = run_here("eval", GT, DT), run_here("eval", GT, DT, "--errors")
    assert command.code == 0
    coco, classes, errors = command.out.split("\n\n")
    assert f"{coco}\n\n{classes}\n" == plain.out
    lines = errors.splitlines()
    assert lines[0] == f"at IoU 0.50, AP {STATS['AP50']:.3f}"
    assert lines[1].split() == ["error", "count", "gain", "in", "AP", "if", "corrected"]
    kinds = result.error_kinds()
    cells = [re.split(" {2,}", line) for line in lines[2:8]]
    rows = {name.partition(": ")[0]: (count, delta) for name, count, delta in cells}
    assert rows == {kind: (f"{kinds.counts[kind]:,}", f"{kinds.delta_ap[kind]:.3f}") for kind in kinds.counts}
    deltas = [float(line.split()[-1]) for line in lines[2:8]]
    assert deltas == sorted(deltas, reverse=True), "the costliest first"
    assert {line.rsplit(maxsplit=1)[0].rstrip() for line in lines[8:10]} == {
        "all false positives",
        "all false negatives",
    }
    best = result.score_curves().overall.best
    assert lines[10] == (
        f"best F1 {best.f1:.3f} at score {best.score:.3f}: precision {best.precision:.3f}, recall {best.recall:.3f}"
    )
    assert len(lines) == 11


def test_errors_are_in_the_json_if_asked_for(result: ioukit.Evaluation, tmp_path: Path) -> None:
    assert "analysis" not in json.loads(run_here("eval", GT, DT, "--json").out)
    document = json.loads(run_here("eval", GT, DT, "--json", "--errors").out)
    analysis = document.pop("analysis")
    assert document == json.loads(result.to_json())
    kinds, best = result.error_kinds(), result.score_curves().overall.best
    assert (analysis["iou_threshold"], analysis["area"], analysis["background_threshold"]) == (0.5, "all", 0.1)
    assert analysis["ap"] == kinds.ap
    assert {kind: found["delta_ap"] for kind, found in analysis["errors"].items()} == kinds.delta_ap
    assert analysis["errors"]["false_positive"]["count"] is None
    assert analysis["errors"]["missed"]["count"] == kinds.counts["missed"]
    assert (analysis["best_f1"]["score"], analysis["best_f1"]["false_negatives"]) == (best.score, best.false_negatives)
    assert [row["name"] for row in analysis["best_f1_per_class"]] == [c.name for c in result.per_class]
    file = tmp_path / "result.json"
    run_here("eval", GT, DT, "--errors", "--json", file)
    assert load(file)["analysis"] == analysis


def test_errors_of_nothing_and_at_other_thresholds(tmp_path: Path) -> None:
    files = write_coco(tmp_path, {"images": [{"id": 1}], "categories": [], "annotations": []}, [])
    command = run_here("eval", *files, "--errors")
    assert command.code == 0
    assert "at IoU 0.50, AP -\n" in command.out
    assert command.out.endswith("best F1 - at score -: precision -, recall -\n")
    document = json.loads(run_here("eval", *files, "--errors", "--json").out)
    assert document["analysis"]["best_f1"]["f1"] is None
    low = json.loads(run_here("eval", GT, DT, "--errors", "--json", "--iou-thresholds", "0.05,0.3").out)["analysis"]
    assert (low["iou_threshold"], low["background_threshold"]) == (0.05, 0.05)
    assert run_here("eval", GT, DT, "--errors", "--class-agnostic").code == 0
    fine = json.loads(run_here("eval", GT, DT, "--errors", "--json", "--iou-thresholds", "0.05:0.95:0.05").out)
    assert fine["analysis"]["iou_threshold"] == 0.49999999999999994, "which is what linspace has for 0.5"
