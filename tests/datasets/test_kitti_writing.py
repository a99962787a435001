"""KITTI's folders that ioukit writes: what comes back, what is lost, and what damaged files do."""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import DatasetError, evaluate
from ioukit.datasets import KITTI_NAMES, Detections, GroundTruth, read, read_detections, read_kitti, write
from ioukit.datasets.formats.kitti import _NO_BOX
from ioukit.datasets.formats.left_out import Holds
from ioukit.evaluation.protocols import KITTI_R11
from ioukit.regions import Boxes3D
from support.data_sets import (
    CLASS_NAMES,
    FILE_STEMS,
    FREE,
    HALVES,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
    stem_of,
)
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

HOLDS = Holds(
    regions=frozenset({"Boxes3D"}),
    flags=frozenset({"dont_care"}),
    attributes=frozenset({"truncated", "occluded", "alpha"}),
    image_sizes=False,
)
VALUES: Any = {"truncated": st.floats(0, 1), "occluded": st.integers(0, 3), "alpha": st.floats(-3, 3)}
sizes_in_space = st.floats(0.25, 50)
places = st.floats(-500, 500)


@st.composite
def spaces(draw: st.DrawFn, count: int) -> Boxes3D:
    """Boxes in space, some of size 0, which KITTI writes as none."""
    rows = [
        [0.0] * 7
        if draw(st.booleans())
        else [*(draw(places) for _ in range(3)), *(draw(sizes_in_space) for _ in range(3)), draw(st.floats(-4, 4))]
        for _ in range(count)
    ]
    return Boxes3D(np.array(rows).reshape(-1, 7), z="bottom", unit="radians", sense="clockwise")


@settings(max_examples=40)
@given(st.data())
def test_labels_come_back(data: st.DataObject) -> None:
    # x + width - x is the width again for halves; other coordinates may change by a rounding.
    exact = data.draw(st.booleans())
    gt = data.draw(
        ground_truths(
            stems=FILE_STEMS, classes=KITTI_NAMES[:-1], attributes=VALUES, coordinates=HALVES if exact else FREE
        )
    )
    if len(gt):
        gt = dataclasses.replace(gt, regions={"Boxes3D": data.draw(spaces(len(gt)))})
    with tempfile.TemporaryDirectory() as folder:
        notes = write(gt, Path(folder) / "out", "kitti")
        again = read(Path(folder) / "out", "kitti")
    if not gt.regions or not gt.regions["Boxes3D"].volume.any():
        gt = dataclasses.replace(gt, regions={})
    assert_came_back(gt, again, HOLDS, notes, tolerance=0 if exact else 1e-12 * 1200, image_key=stem_of)


@settings(max_examples=40)
@given(st.data())
def test_results_come_back(data: st.DataObject) -> None:
    gt = data.draw(ground_truths(stems=FILE_STEMS, classes=CLASS_NAMES))
    dt = data.draw(detections_of(gt, coordinates=HALVES, attributes={"alpha": VALUES["alpha"]}))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "out"
        write(dt, path, "kitti", ground_truth=gt)
        again = read_detections(path, "kitti", ground_truth=gt)
    assert_detections_came_back(dt, again, gt, HOLDS)


def test_the_sample_comes_back_as_it_is(tmp_path: Path) -> None:
    folder = DATA / "formats_small" / "kitti" / "label_2"
    notes = write(read(folder), tmp_path / "out", "kitti")
    assert [note for note in notes if "ids of" not in note] == []
    for file in folder.glob("*.txt"):
        ours = [line.split() for line in (tmp_path / "out" / file.name).read_text().splitlines()]
        theirs = [line.split() for line in file.read_text().splitlines()]
        assert [[line[0], *map(float, line[1:8])] for line in ours] == [
            [line[0], *map(float, line[1:8])] for line in theirs
        ]


def test_every_number_has_its_place(tmp_path: Path) -> None:
    """A line as in the description of the development kit: type, 14 numbers, and a score."""
    space = Boxes3D(
        np.array([[-2, 20, -1.65, 3.9, 1.6, 1.5, 0.25], [0] * 7]), z="bottom", unit="radians", sense="clockwise"
    )
    columns: Any = {
        "image_ids": [7, 7],
        "category_ids": [1, 9],
        "boxes": [[100.5, 120, 119.75, 70], [1, 2, 3, 4]],
        "regions": space,
        "areas": [119.75 * 70, 12],
    }
    gt = GroundTruth.from_arrays(
        **columns,
        categories=dict(enumerate(KITTI_NAMES, start=1)),
        flags={"dont_care": [False, True], "crowd": [False, True]},
        attributes={"truncated": [0.5, -1], "occluded": [2, -1], "alpha": [-1.5, -10]},
    )
    assert write(gt, tmp_path / "gt", "kitti") == ("ids of 1 images: their names remain",)
    assert (tmp_path / "gt" / "7.txt").read_text().splitlines() == [
        "Car 0.5 2 -1.5 100.5 120 220.25 190 1.5 1.6 3.9 -2 1.65 20 0.25",
        "DontCare -1 -1 -10 1 2 4 6 -1 -1 -1 -1000 -1000 -1000 -10",
    ]
    assert read(tmp_path / "gt").flag("dont_care").tolist() == [False, True]
    dt = Detections.from_arrays(**columns, scores=[0.875, 1])
    assert write(dt, tmp_path / "dt", "kitti", ground_truth=gt) == ()
    assert (tmp_path / "dt" / "7.txt").read_text().splitlines()[0] == (
        "Car -1 -1 -10 100.5 120 220.25 190 1.5 1.6 3.9 -2 1.65 20 0.25 0.875"
    )
    assert evaluate(tmp_path / "gt", tmp_path / "dt", KITTI_R11).summary["Car_moderate"] != 0


def test_boxes_with_other_conventions_are_converted(tmp_path: Path) -> None:
    """The same box with its centre for z, in degrees, counterclockwise."""
    same = Boxes3D(
        np.array([[-2, 20, -1.65 + 0.75, 3.9, 1.6, 1.5, -90]]), z="centre", unit="degrees", sense="counterclockwise"
    )
    gt = GroundTruth.from_arrays(
        image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "Car"}, regions=same
    )
    write(gt, tmp_path / "out", "kitti")
    (line,) = (tmp_path / "out" / "a.txt").read_text().splitlines()
    np.testing.assert_allclose(list(map(float, line.split()[8:])), [1.5, 1.6, 3.9, -2, 1.65, 20, np.pi / 2], atol=1e-12)


def test_what_is_lost_and_what_is_made_up(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[4],
        boxes=[[0, 0, 2, 2]],
        areas=[3],
        crowd=[True],
        sizes=[[5, 5]],
        images=[1],
        names=["a/b.jpg"],
        categories={4: "traffic light"},
        attributes={"occluded": [0.5], "alpha": ["left"], "depth": [2]},
    )
    notes = write(gt, tmp_path / "out", "kitti")
    assert (
        tmp_path / "out" / "b.txt"
    ).read_text() == f"traffic_light 0 0 -10 0 0 2 2 {' '.join(f'{v:g}' for v in _NO_BOX)}\n"
    assert notes == (
        "attribute alpha of 1 object",
        "attribute depth of 1 object",
        "areas of 1 object that are not those of the boxes",
        "flag crowd of 1 object",
        "sizes of 1 images",
        "ids of 1 images: their names remain",
        "ids of 1 classes: their names remain",
        "spaces in the names of 1 classes: they are written as _",
        "truncated of 1 objects are not known: they are written as 0",
        "1 classes are not KITTI's: read the files with names=[...]",
    )
    assert read_kitti(tmp_path / "out", names=["traffic_light"]).categories.names == ("traffic_light",)


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    columns: Any = {"image_ids": ["a", "b"], "category_ids": [1, 2], "boxes": [[0, 0, 1, 1]] * 2}
    twice = GroundTruth.from_arrays(**columns, categories={1: "a b", 2: "a_b"})
    with pytest.raises(DatasetError, match="expected names of classes that differ, also without spaces"):
        write(twice, tmp_path / "out", "kitti")
    dt = Detections.from_arrays(**columns, scores=[1, 1])
    with pytest.raises(DatasetError, match=r"give ground_truth=\.\.\., or --ground-truth in a command"):
        write(dt, tmp_path / "out", "kitti")
    assert list(tmp_path.iterdir()) == []


def make(folder: Path) -> Path:
    (folder / "a.txt").write_text("Car 0.10 1 -1.57 100.5 120 220.25 190 1.5 1.6 3.9 -2 1.65 20 0.01\n" * 2)
    (folder / "b.txt").write_text("Pedestrian 0 0 0.2 10 100 40 190 1.7 0.6 0.8 1 1.6 12 1.5\r\n")
    return folder


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    outcomes = read_damaged(make, "a.txt", lambda path, **options: read(path, "kitti", **options), tmp_path)
    assert outcomes.refused["number b'NaN'"]
    assert outcomes.refused["wrong byte"]
    assert outcomes.refused["column too few"]
    assert not outcomes.refused["byte-order mark"]
    assert not outcomes.refused["Windows lines"]


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    assert_links_out_are_refused(make, "b.txt", lambda path: read(path, "kitti"), tmp_path)
