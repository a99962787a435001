"""`ioukit grounding`: both tables, JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ioukit.evaluation import evaluate_concepts
from support.command import run_here
from support.paths import DATA, load

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "image,category,xmin,ymin,xmax,ymax\n"


def test_expressions(tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text(f"{HEAD}a.jpg,left cat,0,0,10,10\na.jpg,right cat,20,0,30,10\n")
    (tmp_path / "found.csv").write_text(f"{HEAD}a.jpg,right cat,20,0,30,8\n")
    command = run_here("grounding", tmp_path / "gt.csv", tmp_path / "found.csv")
    assert command.code == 0
    assert [line.split() for line in command.out.splitlines()] == [
        ["Acc@0.5", "50.0"], ["Acc@0.5:0.95", "35.0"], ["mIoU", "40.0"], ["point", "50.0"],
    ]  # fmt: skip
    note, done = command.err.splitlines()
    assert note.endswith("found.csv: the detections have no scores, so nothing ranks them")
    assert done.startswith("done 2 expressions  1 results  ")
    in_json = run_here("grounding", tmp_path / "gt.csv", tmp_path / "found.csv", "--json", "--quiet")
    assert json.loads(in_json.out)["summary"]["Acc@0.5"] == 0.5


def test_concepts_of_several_annotators(tmp_path: Path) -> None:
    recorded = next(one for one in load(DATA / "grounding" / "concepts.json") if len(one["annotators"]) == 2)
    for name, annotator in zip("ab", recorded["annotators"], strict=True):
        (tmp_path / f"gold_{name}.json").write_text(json.dumps(annotator))
    (tmp_path / "found.json").write_text(json.dumps(recorded["results"]))
    files = [tmp_path / name for name in ("gold_a.json", "found.json")]
    more: list[str | Path] = ["--annotators", tmp_path / "gold_b.json"]
    command = run_here("grounding", *files, "--concepts", *more, "--iou-type", "bbox", "--json")
    assert json.loads(command.out)["summary"]["cgF1"] == recorded["numbers"]["bbox"]["cgF1"]
    table = run_here("grounding", *files, "--concepts", *more, "--score-threshold", "0.6")
    expected = evaluate_concepts(recorded["annotators"], recorded["results"], score_threshold=0.6)
    assert table.out.rstrip("\n") == expected.table()
    refused = run_here("grounding", *files, *more)
    assert (refused.code, refused.out) == (2, "")
    assert "--annotators: needs --concepts" in refused.err
