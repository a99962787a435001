"""DOTA's folders: four points as rotated boxes, results per class, and what comes back of what is written."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError
from ioukit.datasets import Detections, GroundTruth, find_format, read, read_detections, write
from ioukit.datasets.formats.dota import rotated_of_points
from ioukit.datasets.formats.left_out import Holds
from ioukit.regions import Polygons, RotatedBoxes
from support.data_sets import (
    FREE,
    HALVES,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
)
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

SAMPLE = DATA / "formats_small" / "dota"
WORDS = ("plane", "large-vehicle", "Ärger", "犬", "a,b", "<b>&amp;", "Person", "1")
STEMS = ("a", "000007", "image 2", "straße-ü", "図", "a.b", "it's", "#1", "-rf", "0", "CON")
HOLDS = Holds(regions=frozenset({"RotatedBoxes"}), flags=frozenset({"difficult"}), image_sizes=False)
LABELS = """imagesource:GoogleEarth
gsd:0.146343590398
2753 2408 2861 2385 2888 2468 2805 2502 plane 1
100 100 140 100 140 120 100 120 large-vehicle 0

10.5 10 20.5 20 10.5 30 0.5 20 ship
"""


def stem(name: str) -> str:
    return PurePosixPath(name).stem


def folder(place: Path) -> Path:
    (place / "labelTxt").mkdir(parents=True)
    (place / "labelTxt" / "P0001.txt").write_text(LABELS)
    (place / "labelTxt" / "P0002.txt").write_text("imagesource:null\ngsd:null\n")
    return place


def test_the_samples() -> None:
    gt = read(SAMPLE / "train")
    assert find_format(SAMPLE).name == find_format(SAMPLE / "train").name == "dota"
    assert gt.image_labels().tolist() == ["train_001", "train_002"]
    assert list(gt.images.names) == ["train_001.jpg", "train_002.jpg"]
    assert gt.images.sizes.tolist() == [[10, 5], [10, 5]]
    assert list(gt.segmentations or ()) == [[[0, 0, 0, 2, 2, 2, 2, 0]], [[1, 1, 1, 5, 5, 5, 5, 1]]]
    assert gt.boxes.tolist() == [[0, 0, 2, 2], [1, 1, 4, 4]]
    assert gt.categories.names == ("label_0", "label_1")
    assert read(SAMPLE).images.labels.tolist() == ["train_001", "train_002", "val_001"]
    assert read(SAMPLE, split="val").boxes.tolist() == read(SAMPLE / "val" / "labelTxt").boxes.tolist()
    assert read(SAMPLE, split="val").boxes.tolist() == [[0, 0, 1, 1], [1, 2, 9, 3]]
    with pytest.raises(DatasetError, match="expected a folder test, found none"):
        read(SAMPLE, split="test")
    with pytest.raises(DatasetError, match="inside the folder of the data set"):
        read(SAMPLE, format="dota", split="../dota")


def test_labels_become_columns(tmp_path: Path) -> None:
    gt = read(folder(tmp_path))
    assert gt.image_labels().tolist() == ["P0001"] * 3
    assert gt.categories.names == ("large-vehicle", "plane", "ship")
    assert gt.flag("difficult").tolist() == [True, False, False]
    assert gt.boxes.tolist() == [[2753, 2385, 135, 117], [100, 100, 40, 20], [0.5, 10, 20, 20]]
    assert gt.images.attributes["imagesource"].tolist() == ["GoogleEarth", "null"]
    np.testing.assert_array_equal(gt.images.attributes["gsd"], [0.146343590398, math.nan])
    rotated = gt.regions["RotatedBoxes"].convert(unit="degrees").numpy()
    np.testing.assert_allclose(rotated[1], [120, 110, 40, 20, 0], atol=1e-9)
    np.testing.assert_allclose(rotated[2], [10.5, 20, math.sqrt(200), math.sqrt(200), 45], atol=1e-9)
    assert gt.areas.tolist() == gt.regions["RotatedBoxes"].area.tolist()
    assert gt.notes == (
        f"{tmp_path}: 1 of 3 quadrilaterals are not rectangles: their rotated boxes are the smallest ones around them",
    )


def test_points_are_taken_for_a_rectangle_within_their_rounding() -> None:
    exact = RotatedBoxes([[50, 40, 30, 10, 30]], unit="degrees", sense="clockwise")
    rounded = np.round(exact.corners())
    for points in (exact.corners(), rounded, np.round(exact.corners(), 1), rounded[:, ::-1]):
        boxes, is_rectangle = rotated_of_points(points)
        assert is_rectangle.all()
        np.testing.assert_allclose(boxes[0, :2], [50, 40], atol=0.5)
        np.testing.assert_allclose(np.sort(boxes[0, 2:4]), [10, 30], atol=1)
    skewed = exact.corners() + np.array([[[0, 0], [0, 0], [4.25, 0], [0, 0]]])
    boxes, is_rectangle = rotated_of_points(skewed)
    assert not is_rectangle.any()
    smallest = Polygons(list(skewed)).min_area_boxes()
    assert boxes.tolist() == smallest.numpy().tolist()
    assert boxes[0, 2] * boxes[0, 3] >= Polygons(list(skewed)).area[0]


@given(st.lists(st.tuples(*[st.integers(0, 40).map(lambda k: k / 2)] * 8), max_size=5))
def test_a_rotated_box_covers_what_is_no_rectangle(quads: list[tuple[float, ...]]) -> None:
    points = np.array(quads, np.float64).reshape(-1, 4, 2)
    boxes, is_rectangle = rotated_of_points(points)
    assert np.isfinite(boxes).all()
    corners = RotatedBoxes(boxes, unit="radians", sense="clockwise").corners()
    for quad, box, around, exact in zip(points, boxes, corners, is_rectangle, strict=True):
        angle = box[4]
        turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        inner = (quad - box[:2]) @ turn
        assert (np.abs(inner) <= box[2:4] / 2 + (1.1 if exact else 1e-6)).all()
        if exact:
            assert np.abs(quad[:, None] - around[None]).max(axis=2).min(axis=1).max() <= 1.1


def test_results_of_both_tasks(tmp_path: Path) -> None:
    gt = read(folder(tmp_path / "gt"))
    found = tmp_path / "found"
    found.mkdir()
    (found / "Task1_plane.txt").write_text("P0001 0.9 2753 2408 2861 2385 2888 2468 2805 2502\n")
    (found / "Task1_ship.txt").write_text("\nP0002 0.25 0 0 10 0 10 5 0 5\r\n")
    (found / "Task2_ship.txt").write_text("P0001 0.5 1 2 11 22\n")
    assert find_format(found).name == "dota"
    dt = read_detections(found, ground_truth=gt)
    assert dt.image_labels().tolist() == ["P0001", "P0002"]
    assert dt.category_ids.tolist() == [2, 3]
    assert dt.scores.tolist() == [0.9, 0.25]
    assert dt.boxes.tolist() == [[2753, 2385, 135, 117], [0, 0, 10, 5]]
    np.testing.assert_allclose(dt.regions["RotatedBoxes"].numpy()[1], [5, 2.5, 10, 5, 0], atol=1e-12)
    upright = read_detections(found, ground_truth=gt, task=2)
    assert (upright.boxes.tolist(), dict(upright.regions)) == ([[1, 2, 10, 20]], {})
    with pytest.raises(ValueError, match="task must be 1 or 2, got 3"):
        read_detections(found, ground_truth=gt, task=3)
    (tmp_path / "none").mkdir()
    with pytest.raises(
        DatasetError, match=r"none: expected a folder of text files Task1_<class>\.txt .* no such files"
    ):
        read_detections(tmp_path / "none", "dota", ground_truth=gt)


@pytest.mark.parametrize(
    ("name", "line", "expected"),
    [
        ("Task1_plane", "P0009 0.9 0 0 1 0 1 1 0 1", "line 1: expected an image of .*found 'P0009'"),
        ("Task1_plane", "P0001 0.9 0 0 1 0 1 1 0", "line 1: expected image score x1 y1"),
        ("Task1_plane", "P0001 nan 0 0 1 0 1 1 0 1", "line 1, score: expected a number, found 'nan'"),
        ("Task1_car", "P0001 0.9 0 0 1 0 1 1 0 1", "Task1_car.txt: expected one of the 3 classes in its name"),
        ("Task2_plane", "P0001 0.9 5 5 1 9", "line 1: expected xmax and ymax of at least xmin and ymin, found 5 5 1 9"),
    ],
)
def test_bad_results_are_refused(tmp_path: Path, name: str, line: str, expected: str) -> None:
    gt = read(folder(tmp_path / "gt"))
    (tmp_path / f"{name}.txt").write_text(line)
    with pytest.raises(DatasetError, match=expected):
        read_detections(tmp_path, "dota", ground_truth=gt)
    assert read_detections(tmp_path, "dota", ground_truth=gt, on_invalid="drop").dropped == 1


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("0 0 1 0 1 1 0 1", "line 1: expected x1 y1 .* class difficult, found '0 0 1 0 1 1 0 1'"),
        ("0 0 1 0 1 x 0 1 plane 0", "line 1, y3: expected a number, found 'x'"),
        ("0 0 1 0 1 1 0 1 plane yes", "line 1, difficult: expected a whole number"),
        ("gsd:-1", "line 1, gsd: expected a number of at least 0, found '-1'"),
    ],
)
def test_bad_labels_are_refused(tmp_path: Path, line: str, expected: str) -> None:
    (tmp_path / "a.txt").write_text(line)
    with pytest.raises(DatasetError, match=expected):
        read(tmp_path, "dota")
    assert read(tmp_path, "dota", on_invalid="drop").dropped == 1


def test_several_versions_of_labels_are_a_choice(tmp_path: Path) -> None:
    for version in ("labelTxt-v1.0", "labelTxt-v1.5"):
        (tmp_path / version).mkdir()
        (tmp_path / version / "a.txt").write_text("0 0 1 0 1 1 0 1 plane 0")
    with pytest.raises(DatasetError, match=r"found several: choose .*labelTxt-v1.0 or .*labelTxt-v1.5"):
        read(tmp_path, "dota")
    assert len(read(tmp_path / "labelTxt-v1.5")) == 1


@given(st.data())
def test_labels_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    rotated = data.draw(st.booleans())
    gt = data.draw(
        ground_truths(
            stems=STEMS, coordinates=HALVES, classes=WORDS, rotated=rotated, flags=("difficult", "crowd"), sizes=None
        )
    )
    place = tmp_path_factory.mktemp("dota") / "out"
    notes = write(gt, place, "dota")
    again = read(place, "dota")
    assert_came_back(gt, again, HOLDS, notes, tolerance=1e-9 if rotated else 0.0, image_key=stem)
    # What was read has all that DOTA can say, so it comes back with the same bits.
    assert_same(read_again(again, tmp_path_factory), again)


def read_again(gt: GroundTruth, folders: pytest.TempPathFactory) -> GroundTruth:
    place = folders.mktemp("dota") / "out"
    notes = write(gt, place, "dota")
    assert not [note for note in notes if not note.startswith(("ids of", "sizes of"))]
    return read(place, "dota")


def assert_same(ours: Any, expected: Any) -> None:
    assert ours.boxes.tolist() == expected.boxes.tolist()
    assert list(ours.segmentations or ()) == list(expected.segmentations or ())
    assert ours.regions.get("RotatedBoxes") == expected.regions.get("RotatedBoxes")
    assert ours.areas.tolist() == expected.areas.tolist()
    assert ours.category_ids.tolist() == expected.category_ids.tolist()


@given(st.data())
def test_detections_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    gt = data.draw(ground_truths(stems=STEMS, classes=WORDS))
    rotated = data.draw(st.booleans())
    dt = data.draw(detections_of(gt, coordinates=FREE, rotated=rotated))
    place = tmp_path_factory.mktemp("dota") / "out"
    notes = write(dt, place, "dota", ground_truth=gt)
    differ = rotated and not np.allclose(dt.regions["RotatedBoxes"].area, dt.areas_or_those_of_boxes(), rtol=1e-6)
    assert any(note.startswith("areas of") for note in notes) == differ
    assert len(list(place.iterdir())) == len(gt.categories)
    again = read_detections(place, "dota", ground_truth=gt)
    holds = HOLDS if rotated else Holds()
    assert_detections_came_back(dt, again, gt, holds, tolerance=1e-9, order="class")


def test_names_with_spaces_and_segmentations_of_other_shapes_are_noted(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["a b.png", "a b.png"],
        category_ids=[1, 2],
        boxes=[[0, 0, 4, 4], [0, 0, 2, 2]],
        segmentations=[[[0, 0, 4, 0, 4, 4]], [[0, 0, 2, 0, 2, 2, 0, 2]]],
        areas=[8, 4],
        categories={1: "traffic light", 2: "car"},
    )
    notes = write(gt, tmp_path / "out", "dota")
    assert "segmentations of 1 objects that are not one polygon of four points" in notes
    assert "spaces in the names of 1 classes: they are written as -" in notes
    again = read(tmp_path / "out")
    assert again.categories.names == ("car", "traffic-light")
    notes = write(detections_in(gt), tmp_path / "found", "dota", ground_truth=gt)
    assert "spaces in the names of 1 images: they are written as _" in notes
    assert (tmp_path / "found" / "Task2_traffic-light.txt").read_text() == "a_b 0.5 0 0 4 4\n"
    dt = read_detections(tmp_path / "found", ground_truth=gt)
    assert (dt.category_ids.tolist(), dt.image_labels().tolist()) == ([1], ["a b.png"])
    clash = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "a/b"})
    with pytest.raises(DatasetError, match="part of names of files, found 'a/b'"):
        write(detections_in(clash), tmp_path / "dt", "dota", ground_truth=clash)
    with pytest.raises(ValueError, match="task must be 1 or 2, got 3"):
        write(detections_in(clash), tmp_path / "dt", "dota", ground_truth=clash, task=3)
    assert not (tmp_path / "dt").exists()


def detections_in(gt: GroundTruth) -> Any:
    return Detections.from_arrays(
        image_ids=gt.image_labels()[:1], category_ids=gt.category_ids[:1], boxes=gt.boxes[:1], scores=[0.5]
    )


def test_damaged_files(tmp_path: Path) -> None:
    outcomes = read_damaged(
        folder, "labelTxt/P0001.txt", lambda path, **options: read(path, "dota", **options), tmp_path
    )
    assert outcomes.refused["number b'NaN'"] > 0
    assert outcomes.read["Windows lines"] == 2
    assert outcomes.read["byte-order mark"] == 2


def test_links_out_are_refused(tmp_path: Path) -> None:
    assert_links_out_are_refused(folder, "labelTxt/P0001.txt", lambda path: read(path, "dota"), tmp_path)
