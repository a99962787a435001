"""KITTI's folders of text files: how one is recognised, what is read from it, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import DatasetError, evaluate
from ioukit.datasets import KITTI_NAMES, find_format, read, read_detections, read_kitti, read_kitti_detections
from ioukit.evaluation.protocols import KITTI, KITTI_R11
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

CAR = "Car 0.10 1 -1.57 100.5 120 220.25 190 1.5 1.6 3.9 -2 1.65 20 0.01"
AREA = "DontCare -1 -1 -10 500 150 550 180 -1 -1 -1 -1000 -1000 -1000 -10"
WALKER = "pedestrian 0 0 0.2 10 100 40 190 1.7 0.6 0.8 1 1.6 12 1.5"
FOUND = f"{CAR.replace('0.10 1', '-1 -1')} 0.9"


def folder(place: Path, **files: str) -> Path:
    place.mkdir()
    for name, text in files.items():
        (place / f"{name}.txt").write_text(text)
    return place


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return folder(tmp_path / "label_2", **{"000007": f"{CAR}\n{AREA}\n\n", "000003": f"{WALKER}\r\n", "000009": ""})


def test_labels_become_columns(labels: Path) -> None:
    assert find_format(labels).name == "kitti"
    gt = read(labels)
    assert gt.images.labels.tolist() == ["000003", "000007", "000009"]
    assert gt.images.names[1] == "000007"
    assert gt.categories.names == KITTI_NAMES
    assert gt.categories.ids.tolist() == list(range(1, 10))
    assert gt.image_labels().tolist() == ["000003", "000007", "000007"]
    assert [gt.categories.names[at] for at in gt.category_ids - 1] == ["Pedestrian", "Car", "DontCare"]
    assert gt.boxes.tolist() == [[10, 100, 30, 90], [100.5, 120, 119.75, 70], [500, 150, 50, 30]]
    assert gt.areas[0] == 2700
    assert gt.attributes["truncated"].tolist() == [0, 0.1, -1]
    assert gt.attributes["occluded"].tolist() == [0, 1, -1]
    assert gt.attributes["alpha"].tolist() == [0.2, -1.57, -10]
    assert gt.flag("dont_care").tolist() == gt.crowd.tolist() == [False, False, True]
    boxes = gt.regions["Boxes3D"]
    assert (boxes.z, boxes.unit, boxes.sense) == ("bottom", "radians", "clockwise")
    assert boxes.numpy().tolist() == [
        [1, 12, -1.6, 0.8, 0.6, 1.7, 1.5],
        [-2, 20, -1.65, 3.9, 1.6, 1.5, 0.01],
        [0, 0, 0, 0, 0, 0, 0],
    ]


def test_results_become_columns(labels: Path, tmp_path: Path) -> None:
    place = folder(tmp_path / "data", **{"000007": f"{FOUND}\n", "000003": ""})
    assert find_format(place).name == "kitti"
    gt = read(labels)
    dt = read_detections(place, ground_truth=gt)
    assert (dt.image_labels().tolist(), dt.category_ids.tolist(), dt.scores.tolist()) == (["000007"], [1], [0.9])
    assert dt.boxes.tolist() == [[100.5, 120, 119.75, 70]]
    assert dt.regions["Boxes3D"].numpy().tolist() == [[-2, 20, -1.65, 3.9, 1.6, 1.5, 0.01]]
    assert dt.notes == (f"{place}: 1 of 3 images have no file: they count as without detections",)
    assert evaluate(labels, place, KITTI_R11).summary["Car_moderate"] == 1 / 11
    for iou_type in ("bev", "box3d"):
        assert evaluate(labels, place, KITTI_R11, iou_type=iou_type).summary["Car_moderate"] == 1 / 11
    assert evaluate(labels, place).summary["AP50"] == pytest.approx(0.5), "COCO does not look for areas"


def test_results_without_boxes_in_space(labels: Path, tmp_path: Path) -> None:
    flat = "Car -1 -1 -10 100 120 220 190 -1 -1 -1 -1000 -1000 -1000 -10 0.9"
    gt = read(labels)
    place = folder(tmp_path / "data", **{"000007": flat})
    dt = read_kitti_detections(place, ground_truth=gt)
    assert "Boxes3D" not in dt.regions
    with pytest.raises(DatasetError, match="iou_type='bev' needs detections with Boxes3D, found boxes alone"):
        evaluate(gt, dt, KITTI, iou_type="bev")
    (place / "000003.txt").write_text(FOUND)
    mixed = read_kitti_detections(place, ground_truth=gt)
    assert mixed.regions["Boxes3D"].volume.tolist() == [3.9 * 1.6 * 1.5, 0]


def test_other_names_and_empty_folders(tmp_path: Path) -> None:
    place = folder(tmp_path / "labels", a=CAR.replace("Car", "bus"))
    gt = read(place, format="kitti", names=["Bus"])
    assert (gt.categories.names, gt.category_ids.tolist()) == (("Bus",), [1])
    none = read_kitti(folder(tmp_path / "none", a=""))
    assert (len(none), none.images.labels.tolist(), "Boxes3D" in none.regions) == (0, ["a"], False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Car 0 0", r"line 2: expected 15 fields, found 3"),
        (FOUND, r"line 2: expected 15 fields, found 16: labels have no score, results have one"),
        (CAR.replace("Car", "Karren"), r"line 2: type: expected one of Car, Van, .*, found 'Karren'"),
        (CAR.replace("0.10", "a"), r"line 2: truncated: expected a number, found 'a'"),
        (CAR.replace("1.65", "nan"), r"line 2: y: expected a number, found 'nan'"),
        (CAR.replace("220.25", "90"), r"line 2: right: expected at least left \(100.5\), found 90"),
        (CAR.replace("190", "1"), r"line 2: bottom: expected at least top \(120\), found 1"),
        (CAR.replace("0.10 1", "0.10 0.5"), r"line 2: occluded: expected a whole number, found 0.5"),
        (CAR.replace("1.6 3.9", "-2 3.9"), r"line 2: width: expected a size of at least 0, or -1 -1 -1 .*, found -2"),
    ],
)
def test_bad_lines_are_refused_or_counted(line: str, message: str, tmp_path: Path) -> None:
    place = folder(tmp_path / "labels", **{"000001": f"{CAR}\n{line}\n"})
    with pytest.raises(DatasetError, match=f"{place}/000001.txt: {message}"):
        read_kitti(place)
    left = read_kitti(place, on_invalid="drop")
    assert (len(left), left.dropped) == (1, 1)
    assert "left out 1 x bad line" in left.notes[0]


def test_results_that_do_not_fit_are_refused(labels: Path, tmp_path: Path) -> None:
    gt = read(labels)
    place = folder(tmp_path / "data", **{"000007": CAR})
    with pytest.raises(DatasetError, match="expected 16 fields, found 15: results need a score as the last field"):
        read_kitti_detections(place, ground_truth=gt)
    (place / "000007.txt").rename(place / "000099.txt")
    with pytest.raises(DatasetError, match=r"000099.txt: expected an image of .*label_2, found '000099'"):
        read_kitti_detections(place, ground_truth=gt)
    with pytest.raises(DatasetError, match="expected a folder of text files with labels, found a file"):
        read_kitti(place / "000099.txt")
    with pytest.raises(FileNotFoundError):
        read_kitti(tmp_path / "nothing")
    (place / "000099.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(DatasetError, match=r"000099.txt: line 1: expected text in UTF-8"):
        read_kitti(place)


def test_other_folders_are_not_kitti(tmp_path: Path) -> None:
    assert find_format(folder(tmp_path / "yolo", a="0 0.5 0.5 0.2 0.2 0.9")).name == "yolo"
    (tmp_path / "bytes").mkdir()
    (tmp_path / "bytes" / "a.txt").write_bytes(b"\xff\xfe\x00")
    assert find_format(tmp_path / "bytes").name == "yolo"


def test_the_command_reads_folders(labels: Path, tmp_path: Path) -> None:
    place = folder(tmp_path / "data", **{"000007": FOUND})
    command = run_here("eval", str(labels), str(place), "--protocol", "kitti-r11", "--iou-type", "box3d", "--json")
    assert json.loads(command.out)["summary"]["Car_moderate"] == 1 / 11
    assert "2 of 3 images have no file" in command.err
    shown = run_here("eval", str(labels), str(place), "--protocol", "kitti-r11", "--quiet").out
    assert " Average Precision | Car            | moderate = 0.0909" in shown.splitlines()
    bad = run_here("eval", str(labels), str(place), "--protocol", "kitti", "--iou-thresholds", "0.5")
    assert bad.code == 2
    assert "Car has the IoU threshold 0.7" in bad.err
    assert np.isnan(evaluate(labels, place, KITTI).summary["Cyclist_hard"])
