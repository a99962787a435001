"""Create ML's JSON: centres become corners, what is refused, and what comes back after writing."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, Detections, GroundTruth
from ioukit.datasets import find_format, read, read_detections, write
from ioukit.datasets.formats.createml import _HOLDS
from support.data_sets import (
    FREE,
    HALVES,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
)
from support.malformed import assert_links_out_are_refused, read_damaged

COORDINATES = {"x": 5, "y": 8, "width": 4, "height": 3}


def annotation(**changes: Any) -> dict[str, Any]:
    return {"label": "cat", "coordinates": COORDINATES, **changes}


def read_images(folder: Path, images: Any, **options: Any) -> GroundTruth:
    (folder / "a.json").write_text(json.dumps(images))
    assert find_format(folder / "a.json").name == "createml"
    return read(folder / "a.json", **options)


@pytest.mark.parametrize("keys", [("image", "annotations"), ("imagefilename", "annotation")])
def test_centres_become_corners(keys: tuple[str, str], tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    pillow.new("L", (7, 5)).save(tmp_path / "b.png")
    image, listed = keys
    short = {"x": 1, "y": 2, "w": 2, "h": 2}
    images = [
        {image: "b.png", listed: [annotation(), annotation(label="ant", coordinates=short)]},
        {image: "c", listed: []},
    ]
    gt = read_images(tmp_path, images)
    assert gt.boxes.tolist() == [[3, 6.5, 4, 3], [0, 1, 2, 2]]
    assert gt.image_labels().tolist() == ["b.png", "b.png"]
    assert gt.images.labels.tolist() == ["b.png", "c"]
    np.testing.assert_array_equal(gt.images.sizes, [[7, 5], [np.nan, np.nan]])
    assert gt.categories.names == ("ant", "cat")
    assert gt.category_ids.tolist() == [2, 1]
    assert len(read(tmp_path)) == 2


def test_detections_have_a_confidence(tmp_path: Path) -> None:
    truth = read_images(tmp_path, [{"image": "b/c.png", "annotations": [annotation()]}])
    found = tmp_path / "found.json"
    found.write_text(json.dumps([{"image": "c.jpg", "annotations": [annotation(confidence=0.25)]}]))
    dt = read_detections(found, ground_truth=truth)
    assert (dt.boxes.tolist(), dt.scores.tolist(), dt.image_labels().tolist()) == (
        [[3, 6.5, 4, 3]],
        [0.25],
        ["b/c.png"],
    )
    for changed, says in (
        (annotation(), r"\[0\]\.annotations\[0\]\.confidence: expected a number, found nothing"),
        (annotation(label="emu", confidence=1), r"label: expected one of the 1 classes, found 'emu'"),
    ):
        found.write_text(json.dumps([{"image": "c.jpg", "annotations": [changed]}]))
        with pytest.raises(DatasetError, match=says):
            read_detections(found, ground_truth=truth)
        assert len(read_detections(found, ground_truth=truth, on_invalid="drop")) == 0
    found.write_text(json.dumps([{"image": "x.jpg", "annotations": []}]))
    with pytest.raises(DatasetError, match=r"\[0\]: expected an image of .*, found 'x\.jpg'"):
        read_detections(found, ground_truth=truth)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (annotation(label=None), r"a\.json: \[0\]\.annotations\[0\]\.label: expected text, found nothing"),
        (annotation(label=""), r"label: expected the name of a class, found ''"),
        (annotation(coordinates=[1, 2, 3, 4]), r"coordinates: expected an object, found \[1, 2, 3, 4\]"),
        (annotation(coordinates={**COORDINATES, "x": "a"}), r"coordinates\.x: expected a number, found 'a'"),
        (annotation(coordinates={**COORDINATES, "width": -1}), r"coordinates\.width: expected a number of at least 0"),
        (annotation(coordinates={"x": 1, "y": 1, "width": 1}), r"coordinates\.height: expected a number of at least 0"),
        (5, r"annotations\[0\]\.label: expected an object, found 5|annotations\[0\]: expected an object, found 5"),
    ],
)
def test_a_bad_annotation_is_refused_or_left_out(changed: Any, says: str, tmp_path: Path) -> None:
    images = [{"image": "a.jpg", "annotations": [changed, annotation()]}]
    with pytest.raises(DatasetError, match=says):
        read_images(tmp_path, images)
    gt = read_images(tmp_path, images, on_invalid="drop")
    assert (len(gt), gt.dropped) == (1, 1)


def test_bad_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(DatasetError, match=r"a\.json: expected a list of images, found \{\}"):
        read(tmp_path / "a.json", "createml")
    images = [{"image": "a.jpg", "annotations": []}] * 2
    with pytest.raises(DatasetError, match=r"a\.json: \[1\]: expected an image that differs from those before"):
        read_images(tmp_path, images)
    (tmp_path / "b.json").touch()
    with pytest.raises(
        DatasetError, match=r"expected _annotations\.createml\.json, or a single JSON file, found 2 JSON"
    ):
        read(tmp_path, "createml")


both = st.sampled_from([HALVES, FREE]).flatmap(
    lambda coordinates: ground_truths(coordinates=coordinates, flags=("crowd",))
)


@given(both.flatmap(lambda gt: st.tuples(st.just(gt), detections_of(gt))))
def test_what_is_written_comes_back(data: tuple[GroundTruth, Detections]) -> None:
    gt, dt = data
    with tempfile.TemporaryDirectory() as folder:
        path, found = Path(folder) / "a.json", Path(folder) / "b.json"
        notes = write(gt, path, "createml")
        write(dt, found, "createml", ground_truth=gt)
        if len(gt.images):
            assert find_format(path).name == find_format(found).name == "createml"
        assert_came_back(gt, read(path, "createml"), _HOLDS, notes, tolerance=1e-12 * 600)
        again = read_detections(found, "createml", ground_truth=gt)
    assert_detections_came_back(dt, again, gt, _HOLDS, tolerance=1e-12 * 600)


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        images = [
            {"image": "a.jpg", "annotations": [annotation(), annotation(label="dog")]},
            {"image": "b", "annotations": []},
        ]
        (folder / "a.json").write_text(json.dumps(images, indent=1))
        return folder / "a.json"

    outcomes = read_damaged(make, "a.json", lambda path, **options: read(path, "createml", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        (folder / "a.json").write_text(json.dumps([{"image": "a.jpg", "annotations": []}]))
        return folder

    assert_links_out_are_refused(make, "a.json", lambda path: read(path, "createml"), tmp_path)
