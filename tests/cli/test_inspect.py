"""`ioukit inspect`: tables, JSON, the page, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ioukit import inspect
from ioukit._output import fitted
from support.command import run_here
from support.paths import DEMO, EXAMPLES, write_coco

if TYPE_CHECKING:
    from pathlib import Path

FOLDER = EXAMPLES / "coco_val2017_100"
COCO = FOLDER / "ground_truth.json"


def test_the_tables() -> None:
    found = run_here("inspect", COCO)
    held = inspect(COCO)
    table, classes = found.out.split("\n\n")
    assert (found.code, table) == (0, fitted(held.table(), 80))
    rows = classes.splitlines()
    assert rows[0].split() == ["class", "objects", "share", "images", "median", "side"]
    assert rows[1].split() == ["person", "221", "29.7", "%", "58", "67.2"]
    assert rows[-1].split() == ["hair", "drier", "0", "0.0", "%", "0", "-"]
    assert len(rows) == 12
    lines = found.err.splitlines()
    assert lines[0].startswith(f"read {COCO}  coco  100 images  745 boxes  ")
    assert lines[-1].startswith("done ")
    every = run_here("inspect", COCO, "--per-class", "--quiet", "--threads", "1")
    assert every.err == ""
    assert len(every.out.split("\n\n")[1].splitlines()) == 81


def test_json(tmp_path: Path) -> None:
    expected = inspect(COCO).to_dict()
    assert json.loads(run_here("inspect", COCO, "--json").out) == expected
    both = run_here("inspect", COCO, "--json", tmp_path / "data.json")
    assert json.loads((tmp_path / "data.json").read_text()) == expected
    assert both.out.startswith("format ")
    assert {"format", "images", "objects", "classes"} <= expected.keys()
    assert {"name", "count"} <= expected["classes"][0].keys()
    refused = run_here("inspect", COCO, f"--json={COCO}")
    assert refused.code == 2
    assert "is an input and would be overwritten" in refused.err


def test_nothing_to_measure(tmp_path: Path) -> None:
    path, _ = write_coco(tmp_path, {"images": [], "categories": [], "annotations": []}, [])
    found = run_here("inspect", path)
    assert (found.code, found.out.splitlines()) == (0, ["format   coco", "images   0", "objects  0", "classes  0"])
    assert "note " in found.err


def test_a_page(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    found = run_here("inspect", COCO, "--report", tmp_path / "page.html")
    assert found.code == 0
    assert f"wrote {tmp_path / 'page.html'}" in found.err
    assert '<h1 class="name">ground_truth.json</h1>' in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_photographs_are_counted(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    truth = DEMO / "gt.json"
    name = json.loads(truth.read_text())["images"][0]["file_name"]
    image_module.new("RGB", (64, 48)).save(tmp_path / name)
    found = run_here("inspect", truth, "--report", tmp_path / "page.html", "--images", tmp_path)
    assert f"found 1 of 6 images in {tmp_path}" in found.err
    assert "data:image/jpeg;base64," in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_detections_are_named_as_such() -> None:
    refused = run_here("inspect", FOLDER / "yolact.json")
    assert (refused.code, refused.out) == (2, "")
    (line,) = refused.err.splitlines()
    path = FOLDER / "yolact.json"
    says = f"detections, not ground truth: ioukit eval GT {path} compares them with their ground truth"
    assert line == f"Error: {path}: {says}"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere.json"], "nowhere.json: there is no such file or folder"),
        ([COCO, "--split", "train"], "Invalid value for --split: the reader of coco has no option 'split'; it has"),
        ([COCO, "--format", "cocoo"], "unknown format 'cocoo'; did you mean 'coco'? Else choose from coco, "),
        ([COCO, "--format", "kitti"], "ground_truth.json"),
        ([COCO, "--images", FOLDER], "--images needs --report: only the report shows images"),
        ([COCO, "--report", COCO], "is an input and would be overwritten"),
        ([EXAMPLES / "run_notebook.py"], "not a format that can be read"),
    ],
)
def test_refusals(words: list[str | Path], message: str) -> None:
    refused = run_here("inspect", *words)
    assert (refused.code, refused.out) == (2, "")
    assert message in refused.err
    assert "Traceback" not in refused.err


def test_a_bad_record_is_named_or_dropped(tmp_path: Path) -> None:
    data = json.loads(COCO.read_text())
    data["annotations"][3]["category_id"] = 999
    path, _ = write_coco(tmp_path, data, [])
    refused = run_here("inspect", path)
    assert refused.code == 2
    assert "annotations[3]" in refused.err
    dropped = run_here("inspect", path, "--on-invalid", "drop", "--json")
    assert json.loads(dropped.out)["objects"] == 744
    assert "1 invalid record left out" in dropped.err


def test_a_split(tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[yolo]'")
    for split, boxes in (("train", 3), ("val", 1)):
        for kind in ("images", "labels"):
            (tmp_path / kind / split).mkdir(parents=True)
        image_module.new("RGB", (64, 48)).save(tmp_path / "images" / split / "a.png")
        (tmp_path / "labels" / split / "a.txt").write_text("0 0.5 0.5 0.25 0.5\n" * boxes)
    (tmp_path / "data.yaml").write_text("train: images/train\nval: images/val\nnames: [cat]\n")
    for words, objects in ((["--split", "train"], 3), ([], 1)):
        found = json.loads(run_here("inspect", tmp_path / "data.yaml", "--json", *words).out)
        assert (found["format"], found["images"], found["objects"]) == ("yolo", 1, objects)
        assert found["sides"]["median"] == pytest.approx((16 * 24) ** 0.5)
