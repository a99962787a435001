"""`ioukit nuscenes`: its table, JSON, classes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.plain_distances import random_records
from ioukit.evaluation import evaluate_distances
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path


def test_table_json_and_classes(tmp_path: Path) -> None:
    files = tmp_path / "gt.json", tmp_path / "dt.json"
    for path, data in zip(files, random_records(3), strict=True):
        path.write_text(json.dumps({"results": data}))
    expected = evaluate_distances(*files)
    command = run_here("nuscenes", *files)
    assert (command.code, command.out.rstrip("\n")) == (0, expected.table())
    assert command.err.splitlines()[-1].startswith(f"done {expected.counts['objects']} objects  ")
    in_json = run_here("nuscenes", *files, "--json", "--quiet")
    assert json.loads(in_json.out) == expected.to_dict()
    some = run_here(
        "nuscenes",
        *files,
        "--json",
        "--classes",
        "car,barrier",
        "--gt-option",
        "names=barrier,car,pedestrian,traffic_cone",
    )
    assert list(json.loads(some.out)["classes"]) == ["barrier", "car"]
    wrong = run_here("nuscenes", *files, "--classes", "tram")
    assert (wrong.code, wrong.out) == (2, "")
    assert "tram" in wrong.err


def test_boxes_in_the_image_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text("image,category,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,10,10\n")
    (tmp_path / "dt.csv").write_text("image,category,xmin,ymin,xmax,ymax,score\na.jpg,cat,0,0,10,10,0.5\n")
    command = run_here("nuscenes", tmp_path / "gt.csv", tmp_path / "dt.csv")
    assert (command.code, command.out) == (2, "")
    assert "gt.csv: expected boxes in space, found none" in command.err
