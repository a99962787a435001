"""`ioukit tracks`: the table, JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ioukit import datasets, evaluate_tracks
from support.command import run_fresh, run_here

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


def test_the_page(folders: tuple[Path, Path], tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    page = tmp_path / "page.html"
    assert f"wrote {page}" in run_here("tracks", *folders, "--report", page).err
    assert "<title>results \N{EN DASH} tracks</title>" in page.read_text(encoding="utf-8")
    assert run_here("tracks", folders[0], folders[1], folders[1], "--report", tmp_path / "several").code == 0
    assert " compared with " in (tmp_path / "several.html").read_text(encoding="utf-8")  # a page without an ending
    for path, message in (
        (folders[1] / "MOT-02.txt", "the page is HTML"),
        (tmp_path / "no" / "page.html", "no folder"),
    ):
        refused = run_here("tracks", *folders, "--report", path)
        assert (refused.code, refused.out) == (2, "")
        assert message in " ".join(refused.err.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split())


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


def test_the_protocol_is_chosen(folders: tuple[Path, Path]) -> None:
    (folders[0] / "MOT-04" / "gt" / "gt.txt").write_text(f"1,1,{BOX},0,8,1\n")  # a distractor
    (folders[1] / "MOT-04.txt").write_text(GOOD)
    made = run_here("tracks", *folders, "--protocol", "MOT17", "--json")
    assert "by the protocol MOT17, which leaves out 1 of 6 objects and 1 of 6 detections" in " ".join(made.err.split())
    answer = json.loads(made.out)
    assert (answer["protocol"], answer["sequences"]["MOT-04"]["Dets"]) == ("MOT17", 0)
    assert json.loads(run_here("tracks", *folders, "--json").out)["protocol"] == "plain"
    for options, message in (
        (("--protocol", "mot18"), "did you mean 'mot17'"),
        (("--protocol", "mot17", "--iou-type", "segm"), "the protocol MOT17 compares upright boxes"),
        (("--protocol", "mot17", "--classes", "car"), "the protocol MOT17 evaluates pedestrian, and not car"),
    ):
        refused = run_here("tracks", *folders, *options)
        assert (refused.code, refused.out) == (2, "")
        assert message in " ".join(refused.err.replace("│", " ").split())


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
        ("MOT-02.txt", f"1,7,{BOX},1,-1,-1,-1\n" * 2, "found track 7 again in image 'MOT-02/000001' of"),
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
    with paths[1].open() as file:
        assert json.loads(run_fresh("tracks", paths[0], "-", "--json", stdin=file).out)["summary"]["IDSW"] == 1
    piped = run_fresh("tracks", paths[0], "-", input=paths[1].read_text())
    assert (piped.code, piped.out) == (2, "")
    assert "files with track ids are read more than once, and - (standard input) is a pipe" in piped.err


def test_j_and_f(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    square = {"category_id": 1, "bbox": [10, 10, 20, 20], "segmentation": [[10, 10, 30, 10, 30, 30, 10, 30]]}
    images = [{"id": frame, "file_name": f"walk/{frame}.jpg", "width": 90, "height": 90} for frame in (1, 2)]
    rows = [{"image_id": frame, "track_id": 3, **square} for frame in (1, 2)]
    truth = {
        "images": images,
        "categories": [{"id": 1, "name": "car"}],
        "annotations": [{"id": at, "area": 400, "iscrowd": 0, **row} for at, row in enumerate(rows)],
    }
    for name, content in (("gt.json", truth), ("dt.json", [{**rows[0], "score": 1}])):
        (tmp_path / name).write_text(json.dumps(content))
    paths = tmp_path / "gt.json", tmp_path / "dt.json"
    monkeypatch.setenv("COLUMNS", "120")
    table, of_classes = run_here("tracks", *paths, "--protocol", "davis", "--per-class").out.split("\n\n")
    keys = ["J&F", "J-Mean", "J-Recall", "J-Decay", "F-Mean", "F-Recall", "F-Decay"]
    assert [line.split()[:9] for line in table.splitlines()[:3]] == [
        ["sequence", *keys, "HOTA"],
        *([name, *["50.000"] * 3, "100.000", *["50.000"] * 2, "100.000", "50.000"] for name in ("walk", "all")),
    ]
    assert of_classes.splitlines()[0].split()[:9] == ["class", *keys, "HOTA"]
    answer = json.loads(run_here("tracks", *paths, "--protocol", "davis", "--json").out)
    assert answer["protocol"] == "DAVIS"
    (one,) = answer["classes"]
    for numbers in (*answer["sequences"].values(), answer["summary"], one["summary"], one["sequences"]["walk"]):
        assert [numbers[key] for key in keys] == [0.5, 0.5, 0.5, 1, 0.5, 0.5, 1]
    refused = run_here("tracks", *paths, "--protocol", "davis", "--iou-type", "bbox")
    assert (refused.code, refused.out) == (2, "")
    assert "DAVIS compares masks, 'segm', and not 'bbox'" in " ".join(refused.err.replace("│", " ").split())


def test_eval_names_the_command(folders: tuple[Path, Path]) -> None:
    assert "which eval does not look at: ioukit tracks evaluates them" in run_here("eval", *folders).err


@pytest.fixture
def both(folders: tuple[Path, Path]) -> tuple[Path, Path, Path]:
    """The ground truth, those results, and others, which follow all objects."""
    others = folders[1].parent / "others"
    others.mkdir()
    for name in ("MOT-02", "MOT-04"):
        (others / f"{name}.txt").write_text("".join(f"{frame},3,{BOX},0.9,-1,-1,-1\n" for frame in range(1, 6)))
    return (*folders, others)


def test_two_results_are_compared(both: tuple[Path, Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    command = run_here("tracks", *both)
    assert command.code == 0
    blocks = [" ".join(block.split()) for block in command.out.split("\n\n")]
    assert blocks[0].startswith(
        "With 2 sequences no difference can be told from chance: the smallest possible p-value is 0.5. At least 6 in "
        "which they differ are needed. others is higher by "
    )
    assert blocks[1].startswith("results others difference 95 % interval p-value HOTA ")
    assert "MOTA 40.00 100.00 +60.00 " in blocks[1]
    assert "IDSW 1 0 -1 " in blocks[1]
    assert (
        "others misses no object that results follows, and follows 5 objects that results misses. Both follow 5; both "
        "miss none. An object counts in each of its frames. Switches of ids: 0 of others alone, 1 of results alone, "
        "0 of both." in blocks[2]
    )
    assert blocks[3].endswith("MOT-04 0.00 100.00 +100.00 5 0 0 0")
    assert "read " in command.err
    assert command.err.count("gt.txt") + command.err.count(f"read {both[0]}") == 1  # the ground truth is read once
    classes = run_here("tracks", *both, "--per-class", "--quiet").out.split("\n\n")
    assert [block.splitlines()[0] for block in classes[4:]] == ["Classes of results", "Classes of others"]


def test_json_of_two_results(both: tuple[Path, Path, Path]) -> None:
    made = json.loads(run_here("tracks", *both, "--json").out)
    alone = [json.loads(run_here("tracks", both[0], path, "--json").out) for path in both[1:]]
    assert made["trackers"] == [{"name": "results", **alone[0]}, {"name": "others", **alone[1]}]
    (pair,) = made["pairs"]
    assert (pair["a"], pair["b"], pair["changes"]["counts"]["found"]) == ("results", "others", 5)
    assert [one["key"] for one in pair["differences"]][:2] == ["HOTA", "DetA"]


def test_three_results_are_compared_with_the_first(both: tuple[Path, Path, Path]) -> None:
    command = run_here("tracks", *both, both[1])
    blocks = [" ".join(block.split()) for block in command.out.split("\n\n")]
    assert (
        "the smallest possible p-value is 1, corrected for the number of pairs by Holm's method. At least 7 in which "
        "they differ are needed. others 2 is higher by" in blocks[0]
    )
    assert "results 1 and results 3 have the same HOTA, " in blocks[0]
    assert blocks[0].endswith("What can be told is corrected for the number of pairs by Holm's method.")
    assert blocks[1].startswith("tracker HOTA DetA ")
    assert blocks[2].startswith("others 2 compared with results 1 others 2 misses no object")
    assert f"note {both[1]} is compared with itself" in command.err


def test_notes_name_their_tracker_where_they_differ(both: tuple[Path, Path, Path]) -> None:
    (both[0] / "MOT-04" / "gt" / "gt.txt").write_text(f"1,1,{BOX},0,8,1\n")  # a distractor

    def said() -> list[str]:
        lines = run_here("tracks", *both, "--protocol", "MOT17").err.splitlines()
        return [line for line in lines if line.startswith("note ") and "protocol" in line]

    note = f"{both[0]}: evaluated by the protocol MOT17, which leaves out 1 of 6 objects and"
    assert said() == [f"note results: {note} 0 of 5 detections", f"note others: {note} 1 of 10 detections"]
    (both[2] / "MOT-04.txt").write_text("")
    assert said() == [f"note {note} 0 of 5 detections"]


def test_classes_are_those_of_any_of_several_results(both: tuple[Path, Path, Path]) -> None:
    with (both[2] / "MOT-04.txt").open("a") as file:
        file.write(f"5,9,{BOX},0.9,3,-1\n")  # a car, which no object is
    made = json.loads(run_here("tracks", *both, "--json").out)
    assert [[one["name"] for one in tracker["classes"]] for tracker in made["trackers"]] == [["pedestrian", "car"]] * 2


def test_what_several_results_refuse(both: tuple[Path, Path, Path]) -> None:
    refused = run_here("tracks", *both, "--events", both[1].parent / "events.csv")
    assert (refused.code, refused.out) == (2, "")
    assert "writes the events of one tracker, got several results" in " ".join(refused.err.split())
    (both[2] / "MOT-05.txt").write_text(GOOD)
    unknown = run_here("tracks", *both)
    assert (unknown.code, unknown.out) == (2, "")
    assert "MOT-05.txt: line 1, frame: expected a frame of" in unknown.err


def test_what_is_said_of_a_table_without_scores_and_with_another_sequence(tmp_path: Path) -> None:
    for file, sequence in (("gt", "walk"), ("dt", "run")):
        (tmp_path / f"{file}.csv").write_text(f"sequence,frame,track,class,x,y,w,h\n{sequence},1,1,a,0,0,9,9\n")
    gt, dt = tmp_path / "gt.csv", tmp_path / "dt.csv"
    command = run_here("tracks", gt, dt)
    assert [line.split()[0] for line in command.err.splitlines()] == ["read", "read", "note", "done"]
    note = f"note {dt}: its only sequence, 'run', is taken as 'walk', the only one of {gt}"
    assert command.err.splitlines()[2] == note
    assert json.loads(run_here("tracks", gt, dt, "--json").out)["notes"] == [note.removeprefix("note ")]
