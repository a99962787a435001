"""`ioukit nms`: what it keeps, what it writes to the letter, and what it refuses."""

from __future__ import annotations

import gzip
import json
import os
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.cli._survivors import record_texts, with_score
from support import fusion_oracles as oracle
from support.command import run_fresh, run_here
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
DT = VAL2014 / "instances_val2014_fakebbox100_results.json"

# Numbers as nobody's program writes them, and fields that a program might lose.
RECORDS = [
    '{"image_id": 7, "category_id": 1, "bbox": [10.10, 1e1, 2E+1, 20.0], "score": 0.90, "segmentation": '
    '{"size": [5, 5], "counts": "[]{},\\"score\\": 1"}, "keypoints": [1,2,3]}',
    '{"score":0.80,"bbox":[10.5,10,20,20],"category_id":1,"image_id":7,"nested":{"score": 3}}',
    '{ "image_id" : 7, "category_id" : 2, "bbox" : [10, 10, 20, 20], "score" : 7e-1 }',
    '{"image_id": 9, "category_id": 1, "bbox": [10, 10, 20, 20], "score": 0.6, "naïve": "猫\\u732b"}',
    '{"image_id": 7, "category_id": 1, "bbox": [50, 50, 20, 20], "score": 0.5}',
]
TEXT = "[" + ",\n ".join(RECORDS) + "]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "dt.json"
    path.write_text(TEXT, encoding="utf-8")
    return path


def records(path: Path) -> list[str]:
    return list(record_texts(path.read_text(encoding="utf-8")))


def test_what_is_kept_is_kept_to_the_letter(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = run_here("nms", file, "-o", out)
    assert (command.code, command.out) == (0, "")
    assert records(out) == [RECORDS[0], RECORDS[2], RECORDS[3], RECORDS[4]]
    assert re.search(r"read \S*dt\.json  5 detections  \d", command.err)
    assert re.search(r"kept 4 of 5 in 2 images  \d", command.err)
    assert f"wrote {out}" in command.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dt.json", "out.json"]
    assert len(ioukit.Detections.from_coco(out)) == 4


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        (["--iou-threshold", "0.99"], [0, 1, 2, 3, 4]),
        (["--class-agnostic"], [0, 3, 4]),
        (["--score-threshold", "0.6"], [0, 2, 3]),
        (["--max-dets", "1"], [0, 3]),
        (["--metric", "diou", "--iou-threshold", "0.9", "--threads", "1"], [0, 2, 3, 4]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and value and isinstance(value[0], str) else "",
)
def test_options(options: list[str], kept: list[int], file: Path, tmp_path: Path) -> None:
    command = run_here("nms", file, "-o", tmp_path / "out.json", *options)
    assert command.code == 0, command.err
    assert records(tmp_path / "out.json") == [RECORDS[k] for k in kept]


def test_json_is_one_object_on_stdout_and_quiet_silences_the_rest(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = run_here("nms", file, "-o", out, "--json", "--quiet")
    assert command.err == ""
    counts = json.loads(command.out)
    assert counts.pop("seconds") >= 0
    assert counts == {"output": str(out), "detections": 5, "kept": 4, "removed": 1, "images": 2}


def test_counts_go_to_a_file(file: Path, tmp_path: Path) -> None:
    out, counts = tmp_path / "out.json", tmp_path / "counts.json"
    for words in (["--json", counts], [f"--json={counts}"]):  # the second writes over the file of the first
        command = run_here("nms", file, "-o", out, *words)
        assert (command.code, command.out) == (0, "")
        assert json.loads(counts.read_text())["kept"] == 4
        assert f"wrote {counts}\n" in command.err


@pytest.mark.parametrize("content", [TEXT, "\n[]", '{"images": []}', '{"image_id": 1}\n{"image_id": 2}'])
def test_counts_never_go_into_an_input(content: str, file: Path, tmp_path: Path) -> None:
    """``nms --fuse a.json --json b.json`` names an input, most likely."""
    other, out = tmp_path / "other.json", tmp_path / "out.json"
    other.write_text(content, encoding="utf-8")
    for options in ([], ["--fuse"]):
        command = run_here("nms", *options, file, "--json", other, "-o", out)
        assert (command.code, command.out) == (2, "")
        assert "Invalid value for --json: " in command.err
        assert "other.json holds no counts and would be overwritten: put --json last" in command.err
    for path, says in ((file, "is an input and would be overwritten"), (out, "is the file of --output, too")):
        command = run_here("nms", file, "-o", out, f"--json={path}")
        assert command.code == 2
        assert says in command.err
    assert other.read_text(encoding="utf-8") == content
    assert not out.exists()


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="the system has no file for standard input")
def test_a_dash_is_standard_input(file: Path, tmp_path: Path) -> None:
    out, expected = tmp_path / "out.json", tmp_path / "expected.json"
    run_here("nms", file, "-o", expected)
    with open(file, "rb") as content:
        assert run_fresh("nms", "-", "-o", out, stdin=content).code == 0
    assert out.read_bytes() == expected.read_bytes()
    piped = run_fresh("nms", "-", "-o", out, input=TEXT)
    assert piped.code == 2
    assert "is a pipe, which can be read once: save it, and name the file" in piped.err
    assert run_fresh("nms", "--fuse", "-", "-o", out, input=TEXT).code == 0


@pytest.mark.parametrize("method", ["linear", "gaussian"])
def test_soft_changes_scores_and_nothing_else(method: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    assert run_here("nms", file, "-o", out, "--soft", method, "--iou-threshold", "0.4").code == 0
    written = records(out)
    boxes = [[10.1, 10.0, 30.1, 30.0], [10.5, 10.0, 30.5, 30.0], [50.0, 50.0, 70.0, 70.0]]
    _, scores = oracle.soft(boxes, [0.9, 0.8, 0.5], method=method, threshold=0.4)
    lowered = sorted(scores)[0]
    assert written[0] == RECORDS[0].replace("0.90", "0.9")
    assert written[1].startswith('{"score":0.')
    assert written[1].endswith(RECORDS[1][13:])
    assert json.loads(written[1])["score"] == pytest.approx(lowered, rel=1e-12)
    assert written[3:] == RECORDS[3:]
    few = run_here("nms", file, "-o", out, "--soft", method, "--iou-threshold", "0.4", "--score-threshold", "0.55")
    assert few.code == 0
    assert [json.loads(record)["score"] for record in records(out)] == [0.9, 0.7, 0.6]


def test_it_is_the_function(tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    packed = tmp_path / "dt.json.gz"
    packed.write_bytes(gzip.compress(DT.read_bytes()))
    for path in (DT, packed):
        assert run_here("nms", path, "-o", out, "--iou-threshold", "0.3").code == 0
        detections = ioukit.Detections.from_coco(DT)
        corners = np.concatenate([detections.boxes[:, :2], detections.boxes[:, :2] + detections.boxes[:, 2:]], axis=1)
        _, meet = np.unique(np.stack([detections.image_ids, detections.category_ids]), axis=1, return_inverse=True)
        keep = oracle.greedy(corners.tolist(), detections.scores.tolist(), 0.3, meet.reshape(-1).tolist())
        assert len(keep) < len(detections)
        all_records = json.loads(DT.read_text())
        assert json.loads(out.read_text()) == [all_records[k] for k in sorted(keep)]


def test_fusing_two_files(tmp_path: Path) -> None:
    first = [{"image_id": 3, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.8}]
    second = [
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 10, 10], "score": 0.9},
        {"image_id": 3, "category_id": 1, "bbox": [1, 0, 10, 10], "score": 0.4},
        {"image_id": 3, "category_id": 2, "bbox": [1, 0, 10, 10], "score": 0.4},
    ]
    files = []
    for name, content in (("a.json", first), ("b.json", second)):
        (tmp_path / name).write_text(json.dumps(content))
        files.append(tmp_path / name)
    out = tmp_path / "out.json"
    assert run_here("nms", "--fuse", *files, "-o", out, "--weights", "2,1").code == 0
    found = json.loads(out.read_text())
    assert [(r["image_id"], r["category_id"]) for r in found] == [(3, 1), (3, 2), (1, 1)]
    fused = ioukit.weighted_boxes_fusion([[[0, 0, 10, 10]], [[1, 0, 11, 10]]], [[0.8], [0.4]], weights=[2, 1])
    x1, y1, x2, y2 = fused.boxes[0]
    assert found[0]["bbox"] == pytest.approx([x1, y1, x2 - x1, y2 - y1])
    assert found[0]["score"] == pytest.approx(float(fused.scores[0]))
    assert found[2]["bbox"] == [0, 0, 10, 10]
    assert found[2]["score"] == pytest.approx(0.9 / 3)
    command = run_here(
        "nms", "--fuse", *files, "-o", out, "--confidence", "max", "--max-dets", "1", "--iou-threshold", "0.9",
        "--score-threshold", "0.5",
    )  # fmt: skip
    assert command.code == 0
    assert [r["score"] for r in json.loads(out.read_text())] == [0.8, 0.9]
    assert "fused into 2 of 4 in 2 images" in command.err


def test_an_empty_file_stays_empty(tmp_path: Path) -> None:
    (tmp_path / "dt.json").write_text(" [ ] ")
    for options in ([], ["--soft", "linear"], ["--fuse"]):
        assert run_here("nms", tmp_path / "dt.json", "-o", tmp_path / "out.json", *options).code == 0
        assert json.loads((tmp_path / "out.json").read_text()) == []


def test_records_and_their_scores() -> None:
    assert list(record_texts(TEXT)) == RECORDS
    assert list(record_texts("[]")) == []
    assert with_score('{"a":{"score":1},"score" :  2 }', 0.5) == '{"a":{"score":1},"score" :  0.5 }'
    assert with_score(r'{"sc\u006fre":2,"b":[]}', 0.25) == r'{"sc\u006fre":0.25,"b":[]}'


# ---- Bad use.


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Missing option '--output'"),
        (["-o", "{dt}"], "is an input and would be overwritten"),
        (["-o", "{out}", "{dt}"], "expected one file, got 2; --fuse takes several"),
        (["-o", "{out}.gz"], "expected a name without .gz"),
        (["-o", "{out}", "--iou-threshold", "-1"], "iou_threshold must be"),
        (["-o", "{out}", "--iou-threshold", "much"], "'much' is not a valid float"),
        (["-o", "{out}", "--soft", "cubic"], "'cubic' is not one of"),
        (["-o", "{out}", "--soft", "gaussian", "--sigma", "0"], "sigma must be positive and finite, got 0"),
        (["-o", "{out}", "--weights", "1"], "--weights: is for --fuse"),
        (["-o", "{out}", "--sigma", "0.3"], "--sigma: is for --soft gaussian"),
        (["-o", "{out}", "--soft", "linear", "--sigma", "0.3"], "--sigma: is for --soft gaussian"),
        (["-o", "{out}", "--confidence", "max"], "--confidence: is for --fuse"),
        (["-o", "{out}", "--fuse", "--metric", "iou"], "--metric: cannot be used with --fuse"),
        (["-o", "{out}", "--fuse", "--weights", "1,x"], "a weight must be a number, got '1,x'"),
        (["-o", "{out}", "--fuse", "--weights", "1,2"], "weights must have one entry per model, 1, got 2"),
        (["-o", "{out}", "--fuse", "--iou-threshold", "1"], "iou_threshold must be at least 0 and below 1"),
        (["-o", "{out}", "--fuse", "--soft", "linear"], "cannot be used with --fuse"),
        (["-o", "{out}", "--max-dets", "0"], "--max-dets"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_use(options: list[str], message: str, file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    command = run_here("nms", file, *(option.format(dt=file, out=out) for option in options))
    assert (command.code, command.out) == (2, "")
    assert message in " ".join(command.err.split())
    assert "Traceback" not in command.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1], "score": 1}]', "detections[0].bbox"),
        ('[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": -1}]', "scores[0] is -1.0"),
        ("{}", "dt.json"),
        ("[", "dt.json"),
    ],
)
def test_bad_files(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "dt.json").write_text(content)
    out = tmp_path / "out.json"
    command = run_here("nms", tmp_path / "dt.json", "-o", out, "--soft", "linear")
    assert command.code == 2
    assert message in command.err
    assert not out.exists()


def test_nothing_is_left_of_a_file_that_could_not_be_written(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("ioukit.cli._output.os.fsync", full)
    out = tmp_path / "out.json"
    out.write_text("the old content")
    command = run_here("nms", file, "-o", out)
    assert command.code == 2
    assert ".json: the disk is full\n" in command.err
    assert out.read_text() == "the old content"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dt.json", "out.json"]


def test_help_tells_how_to_begin() -> None:
    page = run_here("nms", "-h")
    assert page.code == 0
    assert "ioukit nms detections.json -o filtered.json\n" in page.out
    assert re.search(r"nms +Remove, soften or fuse overlapping detections of files\n", run_here("--help").out)


def test_it_runs_as_a_process(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    done: Any = run_fresh("nms", file, "--output", out, "--json")
    assert done.code == 0
    assert json.loads(done.out)["kept"] == len(records(out)) == 4
