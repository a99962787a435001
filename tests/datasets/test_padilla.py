"""Text files of Object-Detection-Metrics: published numbers, all layouts, round trips, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import support.strategies  # noqa: F401 - examples have no deadline
from ioukit import DatasetError, Detections, GroundTruth, evaluate
from ioukit.datasets import find_format, read, read_detections, write
from ioukit.evaluation.protocols import PROTOCOLS
from support.paths import DATA

PEOPLE = DATA / "people_7_images"
CATS = DATA / "toy_cats"


@pytest.mark.parametrize("iou", ["0.1", "0.3", "0.5", "0.75"])
def test_published_numbers(iou: str) -> None:
    gt = read(PEOPLE / "groundtruths")
    assert find_format(PEOPLE / "groundtruths").name == "padilla"
    dt = read_detections(PEOPLE / "detections", ground_truth=gt)
    expected = json.loads((PEOPLE / "expected.json").read_text())["computed"]["values"]["voc"][iou]
    for protocol, key in (("voc2007", "eleven_point"), ("voc2012", "every_point")):
        rules = PROTOCOLS[protocol].replace(iou_thresholds=[float(iou)])
        assert evaluate(gt, dt, rules).summary["mAP"] == pytest.approx(expected[key]["mAP"], abs=1e-15)


def test_every_layout_of_the_toy_cats_holds_the_same_detections() -> None:
    gt = GroundTruth.from_coco(CATS / "gts_coco_format" / "toy_example_coco.JSON")
    names = (CATS / "voc.names").read_text().split()
    wanted = None
    for folder, boxes in (
        ("dets_classname_abs_xywh", "xywh"),
        ("dets_classid_abs_xywh", "xywh"),
        ("dets_classname_abs_xyx2y2", "xyxy"),
        ("dets_classid_abs_xyx2y2", "xyxy"),
        ("dets_classname_rel_xcycwh", "fractions"),
        ("dets_classid_rel_xcycwh", "fractions"),
    ):
        options = {"names": names} if "classid" in folder else {}
        dt = read_detections(CATS / folder, "padilla", ground_truth=gt, boxes=boxes, **options)
        rows = np.column_stack([dt.image_ids, dt.category_ids, dt.boxes, dt.scores])
        wanted = rows if wanted is None else wanted
        # The tool that wrote the fractions took a pixel off each side.
        assert np.allclose(rows, wanted, rtol=0, atol=1.0 if boxes == "fractions" else 0)
    assert wanted is not None
    assert len(wanted) == 12


FLOATS = st.floats(0, 1e6)
ROW = st.tuples(st.integers(0, 2), st.integers(0, 1), FLOATS, FLOATS, FLOATS, FLOATS, st.floats(0, 1))


@given(st.lists(ROW, max_size=6))
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, ...]]) -> None:
    folder = tmp_path_factory.mktemp("padilla")
    columns = np.array(rows, np.float64).reshape(-1, 7)
    images, classes = columns[:, 0].astype(int), columns[:, 1].astype(int)
    names = ["a.jpg", "b.jpg", "é 1.png"]
    gt = GroundTruth.from_arrays(
        image_ids=images, category_ids=classes, boxes=columns[:, 2:6], images=[0, 1, 2], names=names,
        categories={0: "person", 1: "traffic light"},
    )  # fmt: skip
    dt = Detections.from_arrays(image_ids=images, category_ids=classes, boxes=columns[:, 2:6], scores=columns[:, 6])
    write(gt, folder / "gt", "padilla")
    write(dt, folder / "dt", "padilla", ground_truth=gt)
    back = read(folder / "gt", "padilla")
    found = read_detections(folder / "dt", "padilla", ground_truth=gt)
    order = np.argsort(images, kind="stable")
    stems = np.array(["a", "b", "é 1"])
    assert back.images.labels.tolist() == stems.tolist()
    assert back.image_labels().tolist() == stems[images[order]].tolist()
    read_names = np.array(back.categories.names)[np.searchsorted(back.categories.ids, back.category_ids)]
    assert read_names.tolist() == [("person", "traffic_light")[at] for at in classes[order].tolist()]
    assert np.array_equal(back.boxes, columns[order, 2:6])
    assert np.array_equal(found.boxes, columns[order, 2:6])
    assert np.array_equal(found.scores, columns[order, 6])
    assert found.image_ids.tolist() == images[order].tolist()
    assert found.category_ids.tolist() == classes[order].tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cat 1 2 3", r"line 1: expected class x y width height, found 'cat 1 2 3'$"),
        (
            "cat .9 1 2 3 4",
            r"line 1: expected class x y width height, found 'cat \.9 1 2 3 4' \(a line of detections\)",
        ),
        ("cat 1 2 3 4\n\ncat 1 2 x 4", r"line 3, width: expected a number, found 'x'"),
        ("cat 1 2 nan 4", "line 1, width: expected a number, found 'nan'"),
        ("cat 1 2 1e400 4", "line 1, width: expected a number, found '1e400'"),
        ("cat 1 2 -3 4", "line 1, width and height: expected a width and a height of at least 0, found -3, 4"),
        ("cat 1 2 3 4\r\ncat 1 2 3 4_0", "line 2, height: expected a number, found '4_0'"),
    ],
)
def test_a_bad_line_is_named(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(text.encode())
    with pytest.raises(DatasetError, match=r"a\.txt: " + message):
        read(tmp_path, "padilla")
    assert read(tmp_path, "padilla", on_invalid="drop").dropped == 1


def test_bytes_that_are_not_text_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfcat 1 2 3 4\n\xff 1 2 3 4")
    with pytest.raises(DatasetError, match=r"a\.txt: line 2: expected text in UTF-8, found the byte 0xff"):
        read(tmp_path, "padilla")


@pytest.mark.parametrize(
    ("line", "beside", "known"),
    [
        ("0 140 130 80 60 0.9", None, "yolo"),
        ("0 0.9 140 130 80 60", None, "padilla"),
        ("0 0.9 140 130 80 60", "classes.txt", "padilla"),
        ("0 140 130 80 60", None, "padilla"),
        ("0 140 130 80 60", "classes.txt", "yolo"),
        ("0 140 130 80 60", "sizes.csv", "yolo"),
        ("cat 140 130 80 60", "classes.txt", "padilla"),
    ],
)
def test_pixels_of_yolo_are_not_taken_for_scores(line: str, beside: str | None, known: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(f"{line}\n")
    if beside is not None:
        (tmp_path / beside).write_text("name,width,height\na.jpg,640,480\n")
    assert find_format(tmp_path).name == known


def test_an_unknown_image_or_class_is_refused(tmp_path: Path) -> None:
    (tmp_path / "none.txt").write_text("person .5 1 2 3 4\n")
    gt = read(PEOPLE / "groundtruths")
    with pytest.raises(DatasetError, match=r"none\.txt: expected an image of .*groundtruths, found 'none'"):
        read_detections(tmp_path, "padilla", ground_truth=gt)
    (tmp_path / "none.txt").rename(tmp_path / "00001.txt")
    (tmp_path / "00001.txt").write_text("dog .5 1 2 3 4\n")
    with pytest.raises(DatasetError, match=r"line 1, class: expected one of the 1 classes, found 'dog'"):
        read_detections(tmp_path, "padilla", ground_truth=gt)


def test_what_the_files_cannot_hold_is_listed(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[7], category_ids=[3], boxes=[[1, 2, 3, 4]], crowd=[True], images=[7, 8], sizes=[[640, 480]] * 2,
        names=["a/x.jpg", "b/x.jpg"], categories={3: "traffic light", 4: "5"},
    )  # fmt: skip
    notes = write(gt, tmp_path / "out", "padilla")
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == ["a_x.txt", "b_x.txt"]
    assert (tmp_path / "out" / "a_x.txt").read_text() == "traffic_light 1.0 2.0 3.0 4.0\n"
    assert [note for note in notes if "ids of" not in note] == [
        "flag crowd of 1 object",
        "sizes of 2 images",
        "1 classes without objects",
        "spaces in the names of 1 classes: they are written as _",
        "the names of 1 classes are numbers, such as 5",
        "names of 2 images: their files are called otherwise, such as a_x for a/x.jpg",
    ]
