"""`ioukit tracks`: the table, JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ioukit import datasets, evaluate_tracks
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

BOX = "0,0,10,10"
GOOD = f"1,7,{BOX},1,-1,-1,-1\n"


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Two sequences of MOTChallenge: an object that track 7 follows, then 8; and one that nobody follows."""
    for name in ("MOT-02", "MOT-04"):
        folder = tmp_path / "train" / name
        (folder / "gt").mkdir(parents=True)
        lines = [f"{frame},1,{BOX},1,1,1\n" for frame in range(1, 6)]
        (folder / "gt" / "gt.txt").write_text("".join(lines))
        (folder / "seqinfo.ini").write_text("[Sequence]\nseqLength=5\nimDir=img1\nimExt=.jpg\n")
    results = tmp_path / "results"
    results.mkdir()
    lines = [f"{frame},{7 if frame < 4 else 8},{BOX},0.9,-1,-1,-1\n" for frame in range(1, 6)]
    (results / "MOT-02.txt").write_text("".join(lines))
    (results / "MOT-04.txt").write_text("")
    return tmp_path / "train", results


def test_the_table(folders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    command = run_here("tracks", *folders)
    assert command.code == 0
    head, first, second, every = (line.split() for line in command.out.splitlines())
    assert head == ["sequence", "HOTA", "DetA", "AssA", "MOTA", "IDF1", "TP", "FP", "FN", "IDSW", "Frag", "MT", "ML"]
    assert (first[0], first[4:], second[0], second[4:]) == (
        *("MOT-02", ["80.000", "60.000", "5", "0", "0", "1", "0", "1", "0"]),
        *("MOT-04", ["0.000", "0.000", "0", "0", "5", "0", "0", "0", "1"]),
    )
    assert every[0] == "all"
    assert every[4] == "40.000"
    assert "done 2 sequences  1 class" in command.err
    classes = run_here("tracks", *folders, "--per-class", "--quiet", "--threads", "1")
    assert classes.err == ""
    assert [line.split()[0] for line in classes.out.split("\n\n")[1].splitlines()] == [
        *("class", "pedestrian", "all", "class")
    ]


def test_events(folders: tuple[Path, Path], tmp_path: Path) -> None:
    made = run_here("tracks", *folders, "--events", tmp_path / "events.csv", "--json")
    assert f"wrote {tmp_path / 'events.csv'}" in made.err
    lines = (tmp_path / "events.csv").read_text().splitlines()
    assert [line.split(",")[:3] for line in lines[3:6]] == [
        *(["match", "MOT-02", "3"], ["switch", "MOT-02", "4"], ["match", "MOT-02", "5"]),
    ]
    assert len(lines) == 11
    truth, found = folders[0] / "MOT-02", folders[1] / "MOT-02.txt"
    over = run_here("tracks", truth, found, "--events", found)
    assert (over.code, "MOT-02.txt is an input and would be overwritten" in " ".join(over.err.split())) == (2, True)
    assert found.read_text().startswith("1,7")


def test_json(folders: tuple[Path, Path], tmp_path: Path) -> None:
    gt = datasets.read(folders[0])
    expected = evaluate_tracks(gt, datasets.read_detections(folders[1], ground_truth=gt)).to_dict()
    made = json.loads(run_here("tracks", *folders, "--json").out)
    assert made == expected == evaluate_tracks(*folders).to_dict()
    assert [*made["sequences"]] == ["MOT-02", "MOT-04"]
    run_here("tracks", *folders, "--json", tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == expected


def test_classes_are_chosen(folders: tuple[Path, Path]) -> None:
    command = run_here("tracks", *folders, "--classes", "pedestrian,car", "--json")
    assert [one["name"] for one in json.loads(command.out)["classes"]] == ["pedestrian", "car"]
    refused = run_here("tracks", *folders, "--classes", "pedestrians")
    assert (refused.code, refused.out) == (2, "")
    assert "did you mean 'pedestrian'" in refused.err


@pytest.mark.parametrize(
    ("file", "text", "message"),
    [
        ("MOT-05.txt", f"1,7,{BOX},1,-1,-1,-1\n", "MOT-05.txt: line 1, frame: expected a frame of"),
        ("MOT-02.txt", f"6,7,{BOX},1,-1,-1,-1\n", "MOT-02.txt: line 1, frame: expected a frame of"),
        ("MOT-02.txt", f"0,7,{BOX},1,-1,-1,-1\n", "MOT-02.txt: line 1, frame: expected a number from 1 on, found 0"),
        ("MOT-02.txt", f"{GOOD}2,7,0,0,nan,10,1,-1,-1,-1\n", "MOT-02.txt: line 2, bb_width: expected a "),
        (
            "MOT-02.txt",
            "1,7,0,0,-5,10,1,-1,-1,-1\n",
            "MOT-02.txt: line 1: expected bb_width and bb_height of at least 0",
        ),
        ("MOT-02.txt", f"{GOOD}2,x,{BOX},1,-1,-1,-1\n", "MOT-02.txt: line 2, id: expected a "),
        ("MOT-02.txt", f"{GOOD}2,7,{BOX}\n", "MOT-02.txt: line 2: expected frame, id, bb_left"),
        ("MOT-02.txt", f"1,-1,{BOX},1,-1,-1,-1\n", "expected track ids in the attribute track_id, found only -1"),
        ("MOT-02.txt", f"1,7,{BOX},1,-1,-1,-1\n" * 2, "found track 7 again in image 'MOT-02/000001' of sequence"),
    ],
)
def test_bad_results_are_refused(folders: tuple[Path, Path], file: str, text: str, message: str) -> None:
    (folders[1] / file).write_text(text)
    command = run_here("tracks", *folders)
    assert (command.code, command.out) == (2, "")
    assert message in command.err


def test_files_of_coco(tmp_path: Path) -> None:
    images = [{"id": frame, "file_name": f"{frame}.jpg", "width": 90, "height": 90} for frame in (1, 2)]
    objects = [
        {"id": frame, "image_id": frame, "category_id": 1, "bbox": [0, 0, 9, 9], "area": 81, "iscrowd": 0,
         "attributes": {"track_id": 3}} for frame in (1, 2)
    ]  # fmt: skip
    truth = {"images": images, "categories": [{"id": 1, "name": "car"}], "annotations": objects}
    found = [
        {"image_id": frame, "category_id": 1, "bbox": [0, 0, 9, 9], "score": 1, "attributes": {"track_id": frame}}
        for frame in (1, 2)
    ]
    paths = (tmp_path / "gt.json", tmp_path / "dt.json")
    for path, content in zip(paths, (truth, found), strict=True):
        path.write_text(json.dumps(content))
    command = run_here("tracks", *paths, "--json")
    assert json.loads(command.out)["summary"]["IDSW"] == 1
    assert json.loads(command.out) == evaluate_tracks(*paths).to_dict() | {"notes": []}
    in_memory = evaluate_tracks(truth, found)
    assert in_memory.summary["IDSW"] == 1


def test_eval_names_the_command(folders: tuple[Path, Path]) -> None:
    assert "which eval does not look at: ioukit tracks evaluates them" in run_here("eval", *folders).err
