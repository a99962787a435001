"""What `ioukit eval` reads: files of any known format, standard input, kinds of regions, protocols and photographs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit.datasets import FORMATS, Detections, Format, GroundTruth, register_format
from ioukit.evaluation.protocols import PROTOCOLS, VOC2012, find_protocol, register_protocol
from support.command import run_here
from support.paths import DATA, write_coco

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
posix = pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="the system has no file for standard input")


def summary(*arguments: str | Path) -> dict[str, float]:
    command = run_here("eval", *arguments, "--json", "--quiet")
    assert (command.code, command.err) == (0, "")
    found: dict[str, float] = json.loads(command.out)["summary"]
    return found


def shell(line: str) -> subprocess.CompletedProcess[str]:
    """Runs a line of bash in which ``ioukit`` is this one."""
    command = line.replace("ioukit", f"{sys.executable} -m ioukit", 1)
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)


@pytest.fixture
def masks(tmp_path: Path) -> Path:
    """Detections that are masks alone: every second object that is no crowd, with a score that differs."""
    gt = ioukit.read_coco(GT, DT)[0]
    assert gt.segmentations is not None
    sizes = dict(zip(gt.images.ids.tolist(), gt.images.sizes.astype(int).tolist(), strict=True))
    records = []
    for row in [row for row in range(len(gt)) if not gt.crowd[row]][::2]:
        width, height = sizes[int(gt.image_ids[row])]
        (rle,) = ioukit.Masks.from_coco([gt.segmentations[row]], height=height, width=width).to_rle()
        ids = {"image_id": int(gt.image_ids[row]), "category_id": int(gt.category_ids[row])}
        records.append({**ids, "segmentation": rle, "score": 1 / (1 + row)})
    path = tmp_path / "masks.json"
    path.write_text(json.dumps(records))
    return path


# ---- Formats.


def test_a_file_of_no_known_format_is_told_which_are_read(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("a.jpg,1,2,3,4\n")
    for files in ([tmp_path / "labels.csv", DT], [GT, tmp_path / "labels.csv"], [tmp_path, DT]):
        command = run_here("eval", *files)
        assert (command.code, command.out) == (2, "")
        assert "not a format that can be read" in command.err
        assert f"the formats are {', '.join(FORMATS)}" in command.err


def test_a_format_from_outside_is_read(tmp_path: Path) -> None:
    """A line is an image, a category, a box, and for detections a score."""

    def rows(path: Path) -> list[list[float]]:
        return [[float(number) for number in line.split()] for line in path.read_text().splitlines()]

    def read(path: Path, **_: object) -> GroundTruth:
        lines = rows(path)
        ids, classes = [int(line[0]) for line in lines], [int(line[1]) for line in lines]
        return GroundTruth.from_arrays(
            image_ids=ids, category_ids=classes, boxes=[line[2:6] for line in lines], source=str(path)
        )

    def read_detections(path: Path, **_: object) -> Detections:
        lines = rows(path)
        ids, classes = [int(line[0]) for line in lines], [int(line[1]) for line in lines]
        boxes, scores = [line[2:6] for line in lines], [line[6] for line in lines]
        return Detections.from_arrays(image_ids=ids, category_ids=classes, boxes=boxes, scores=scores)

    title = "lines of numbers"
    register_format(Format("numbers", title, lambda path: path.suffix == ".numbers", read, read_detections))
    try:
        (tmp_path / "gt.numbers").write_text("1 1 0 0 10 10\n2 1 5 5 20 10\n")
        (tmp_path / "dt.numbers").write_text("1 1 0 0 10 10 0.9\n2 1 5 5 20 10 0.8\n")
        assert summary(tmp_path / "gt.numbers", tmp_path / "dt.numbers")["AP"] == 1
        refused = run_here("eval", tmp_path, DT).err
        assert "but it holds dt.numbers (numbers) and gt.numbers (numbers); the formats are" in refused
        (tmp_path / "dt.numbers").write_text("3 1 0 0 10 10 0.9\n")
        command = run_here("eval", tmp_path / "gt.numbers", tmp_path / "dt.numbers")
        assert "expected the id of an image of the ground truth, found 3" in command.err
    finally:
        del FORMATS["numbers"]


# ---- Standard input.


@posix
@pytest.mark.parametrize(
    "line", ["cat {dt} | ioukit eval {gt} -", "ioukit eval {gt} - < {dt}", "cat {gt} | ioukit eval - {dt}"]
)
def test_a_dash_is_standard_input(line: str) -> None:
    done = shell(line.format(gt=GT, dt=DT) + " --json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == json.loads(run_here("eval", GT, DT, "--json").out)
    assert "read /dev/stdin" in done.stderr


@posix
def test_masks_are_not_read_from_a_pipe_twice(masks: Path) -> None:
    """The detections are masks alone, so their boxes are those of the masks, too."""
    for line in (
        f"cat {GT} | ioukit eval - {masks} --iou-type segm",
        f"cat {masks} | ioukit eval {GT} - --iou-type segm",
        f"cat {masks} | ioukit eval {GT} -",
    ):
        done = shell(line)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.endswith(
            "Error: /dev/stdin: expected a file, found a pipe: masks are read again when they are compared, and a pipe "
            "can be read once\n"
        )
    done = shell(f"ioukit eval {GT} - --iou-type segm --json --quiet < {masks}")
    assert json.loads(done.stdout)["summary"] == summary(GT, masks, "--iou-type", "segm")


# ---- Kinds of regions and protocols.


def test_masks_are_compared_if_asked_for(masks: Path) -> None:
    found = summary(GT, masks, "--iou-type", "segm")
    assert found == ioukit.evaluate(*ioukit.read_coco(GT, masks), iou_type="segm").summary
    assert found != summary(GT, masks, "--iou-type", "bbox")
    assert run_here("eval", GT, masks, "--iou-type", "segm", "--errors").code == 0
    command = run_here("eval", GT, DT, "--iou-type", "segm")
    assert (command.code, command.out) == (2, "")
    assert "iou_type='segm' needs detections with segmentations, found boxes alone" in command.err


def test_a_protocol_is_found_by_its_name_and_changed_by_options() -> None:
    assert summary(GT, DT, "--protocol", "COCO") == summary(GT, DT)
    loose = ioukit.COCO.replace(iou_thresholds=[0.3], class_agnostic=True)
    data = ioukit.read_coco(GT, DT)
    register_protocol("loose", loose)
    try:
        expected = ioukit.evaluate(*data, loose)
        assert summary(GT, DT, "--protocol", "loose") == json.loads(expected.to_json())["summary"]
        command = run_here("eval", GT, DT, "--protocol", "loose", "--quiet")
        assert command.out.startswith(expected.table().rstrip("\n"))
        changed = ioukit.evaluate(*data, loose.replace(max_dets=[5]))
        assert summary(GT, DT, "--protocol", "loose", "--max-dets", "5") == json.loads(changed.to_json())["summary"]
        assert summary(GT, DT, "--protocol", "loose") != summary(GT, DT, "--iou-thresholds", "0.3")
    finally:
        del PROTOCOLS["loose"]
    assert "unknown protocol 'loose'; choose from coco, " in run_here("eval", GT, DT, "--protocol", "loose").err


def test_a_protocol_is_read_from_a_file(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    own.write_text('based_on = "voc2012"\niou_thresholds = [0.3]\n')
    expected = ioukit.evaluate(*ioukit.read_coco(GT, DT), VOC2012.replace(name="own", iou_thresholds=[0.3]))
    assert summary(GT, DT, "--protocol", own) == expected.summary
    command = run_here("eval", GT, DT, "--protocol", own, "--quiet")
    assert command.out.startswith("Mean AP = ")
    own.write_text("max_dets = 3")
    command = run_here("eval", GT, DT, "--protocol", own)
    assert (command.code, command.out) == (2, "")
    assert f"--protocol: {own}: max_dets: expected a list of whole numbers, found 3" in " ".join(command.err.split())
    command = run_here("eval", GT, DT, "--protocol", tmp_path / "owm.toml")
    assert command.code == 2
    assert "did you mean" in command.err


@pytest.mark.parametrize(
    "name", ["voc2007", "voc2012", "dota-task2", "tide", "ultralytics", "ultralytics-8-3", "open-images"]
)
def test_each_protocol_can_be_shown(name: str, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    command = run_here(
        "eval", GT, DT, "--protocol", name, "--report", report, "--errors", "--json", tmp_path / "n.json"
    )
    assert command.code == 0, command.err
    settings = json.loads((tmp_path / "n.json").read_text())["settings"]
    assert settings["protocol"] == find_protocol(name).name
    assert "2147483647" not in report.read_text().replace(",", "")


# ---- Photographs.


def test_the_photographs_that_were_found_are_counted(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="the report needs Jinja2: pip install 'ioukit[report]'")
    pytest.importorskip("PIL", reason="photographs need Pillow: pip install 'ioukit[report]'")
    (tmp_path / "outside.jpg").touch()
    names: list[Any] = ["1.jpg", "sub/2.jpg", "../outside.jpg", str(tmp_path / "outside.jpg"), "", None]
    gt = {
        "images": [
            {"id": number, **({} if name is None else {"file_name": name})} for number, name in enumerate(names)
        ],
        "categories": [{"id": 1}],
        "annotations": [],
    }
    files = write_coco(tmp_path, gt, [])
    pictures = tmp_path / "pictures"
    (pictures / "sub").mkdir(parents=True)
    for expected, name in ((0, "other.jpg"), (1, "1.jpg"), (2, "sub/2.jpg")):
        (pictures / name).touch()
        command = run_here("eval", *files, "--report", tmp_path / "r.html", "--images", pictures)
        assert command.code == 0, command.err
        assert f"\nfound {expected} of 6 images in {pictures}\n" in command.err
    shutil.rmtree(pictures)
    assert "expected a folder" in run_here("eval", *files, "--report", tmp_path / "r.html", "--images", pictures).err
