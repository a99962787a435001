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
    assert done.startswith("done 2 expressions  1 result  ")
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
    percent = run_here("grounding", *files, "--concepts", "--score-threshold", "60")
    assert percent.code == 2
    assert percent.err.endswith("Error: score_threshold: all scores are at most 1, got 60; did you mean 0.6?\n")
    for option in (more, ["--iou-type", "bbox"], ["--score-threshold", "0.1"]):
        refused = run_here("grounding", *files, *option)
        assert (refused.code, refused.out) == (2, "")
        assert f"{option[0]}: needs --concepts" in refused.err


def test_expressions_by_columns(tmp_path: Path) -> None:
    head = HEAD.replace("\n", ",platform,kind\n")
    rows = ["a.jpg,left,0,0,10,10,web,text", "a.jpg,right,20,0,30,10,web,icon", "b.jpg,left,0,0,10,10,mobile,text"]
    (tmp_path / "gt.csv").write_text(head + "\n".join(rows))
    (tmp_path / "found.csv").write_text(f"{HEAD}a.jpg,right,20,0,30,8\nb.jpg,left,5,5,5,5\n")
    files = tmp_path / "gt.csv", tmp_path / "found.csv"
    command = run_here("grounding", *files, "--by", "platform,kind")
    assert [line.split() for line in command.out.splitlines()] == [
        ["platform", "kind", "Acc@0.5", "Acc@0.5:0.95", "mIoU", "point", "expressions"],
        ["web", "text", "0.0", "0.0", "0.0", "0.0", "1"],
        ["web", "icon", "100.0", "70.0", "80.0", "100.0", "1"],
        ["mobile", "text", "0.0", "0.0", "0.0", "100.0", "1"],
        ["mean", "33.3", "23.3", "26.7", "66.7"],
        ["all", "33.3", "23.3", "26.7", "66.7", "3"],
    ]
    in_json = json.loads(run_here("grounding", *files, "--by", "platform", "--json", "--quiet").out)
    assert [part["summary"]["point"] for part in in_json["parts"]] == [0.5, 1]
    assert in_json["mean"]["point"] == 0.75
    wrong = run_here("grounding", *files, "--by", "plaform")
    assert (wrong.code, wrong.out) == (2, "")
    assert "Invalid value for --by: the ground truth has no column 'plaform'" in wrong.err
    concepts = run_here("grounding", *files, "--by", "platform", "--concepts")
    assert concepts.code == 2
    assert "--by: is for expressions, without --concepts" in concepts.err


def test_columns_of_a_coco_file(tmp_path: Path) -> None:
    truth = {
        "images": [{"id": 1}, {"id": 2}],
        "categories": [{"id": 1, "name": "any"}],
        "annotations": [
            {"id": k, "image_id": k, "category_id": 1, "bbox": [0, 0, 9, 9], "attributes": {"kind": kind}}
            for k, kind in ((1, "text"), (2, "icon"))
        ],
    }
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    (tmp_path / "found.json").write_text(json.dumps([{"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}]))
    command = run_here("grounding", tmp_path / "gt.json", tmp_path / "found.json", "--by", "kind")
    assert [line.split()[:2] for line in command.out.splitlines()] == [
        ["kind", "Acc@0.5"], ["text", "100.0"], ["icon", "0.0"], ["mean", "50.0"], ["all", "50.0"],
    ]  # fmt: skip
