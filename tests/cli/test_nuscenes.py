"""`ioukit nuscenes`: its table, JSON, classes, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from evaluation.plain_distances import random_records
from ioukit.evaluation import evaluate_distances
from support.command import run_fresh, run_here

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
    refused = run_here("nuscenes", *files, "--dt-option", "names=car,tram")
    assert refused.code == 2
    assert "no option 'names'; it has none: the classes are those of the ground truth" in refused.err


def test_labels_of_kitti_with_areas(tmp_path: Path) -> None:
    car = "Car 0 0 -1.5 100 120 220 190 1.5 1.6 3.9 -2 1.65 20 0.01"
    area = "DontCare -1 -1 -10 500 170 590 190 -1 -1 -1 -1000 -1000 -1000 -10"
    for folder, text in (("label_2", f"{car}\n{area}\n"), ("results", f"{car} 0.9\n")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "000000.txt").write_text(text)
    command = run_here("nuscenes", tmp_path / "label_2", tmp_path / "results", "--json")
    assert command.code == 0, command.err
    found = json.loads(command.out)
    assert "DontCare" not in found["classes"]
    assert (round(found["classes"]["Car"]["AP"], 9), found["counts"]) == (1, {"objects": 1, "detections": 1})
    assert "note 7 of 8 classes have no objects and count with AP 0" in command.err


def test_standard_input_is_of_nuscenes(tmp_path: Path) -> None:
    files = tmp_path / "gt.json", tmp_path / "dt.json"
    for path, data in zip(files, random_records(3), strict=True):
        path.write_text(json.dumps({"results": data}))
    expected = evaluate_distances(*files).to_dict()
    for at, (first, second) in enumerate((("-", str(files[1])), (str(files[0]), "-"))):
        command = run_fresh("nuscenes", first, second, "--json", input=files[at].read_text())
        assert (command.code, json.loads(command.out)["summary"]) == (0, expected["summary"]), command.err


def test_notes_are_said_once(tmp_path: Path) -> None:
    for name, samples in (("gt.json", ["a", "b"]), ("dt.json", ["a"])):
        (tmp_path / name).write_text(json.dumps({"results": {sample: [] for sample in samples}}))
    command = run_here("nuscenes", tmp_path / "gt.json", tmp_path / "dt.json")
    notes = [line for line in command.err.splitlines() if line.startswith("note")]
    assert any("1 of 2 samples are not listed" in note for note in notes)
    assert len(notes) == len({*notes})
    assert command.out.splitlines()[1].split() == ["mAP", "-"]


def test_boxes_in_the_image_alone_are_refused(tmp_path: Path) -> None:
    (tmp_path / "gt.csv").write_text("image,category,xmin,ymin,xmax,ymax\na.jpg,cat,0,0,10,10\n")
    (tmp_path / "dt.csv").write_text("image,category,xmin,ymin,xmax,ymax,score\na.jpg,cat,0,0,10,10,0.5\n")
    command = run_here("nuscenes", tmp_path / "gt.csv", tmp_path / "dt.csv")
    assert (command.code, command.out) == (2, "")
    assert "gt.csv: expected boxes in space, found none" in command.err
