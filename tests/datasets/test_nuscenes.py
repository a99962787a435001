"""nuScenes' results: what becomes of each field, and what is refused."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.datasets import NUSCENES_NAMES, read, read_nuscenes, read_nuscenes_detections

if TYPE_CHECKING:
    from pathlib import Path

CAR = {
    "sample_token": "b",
    "translation": [10, 20, 1.5],
    "size": [2, 4, 1],
    "rotation": [math.cos(0.25), 0, 0, math.sin(0.25)],
    "detection_name": "car",
}
FULL = {
    **CAR,
    "velocity": [1.5, -2],
    "attribute_name": "vehicle.parked",
    "ego_translation": [3, 4, 5],
    "num_pts": 7,
    "detection_score": 0.5,
}


def written(folder: Path, results: Any, name: str = "gt.json") -> Path:
    (folder / name).write_text(json.dumps({"meta": {"use_lidar": True}, "results": results}))
    return folder / name


def test_every_field_has_a_column(tmp_path: Path) -> None:
    path = written(tmp_path, {"b": [FULL, {**CAR, "velocity": [math.nan, 0]}], "a": []})
    for gt in (read_nuscenes(path), read(path), read(path, format="nuscenes")):
        assert gt.categories.names == NUSCENES_NAMES
        assert gt.images.labels.tolist() == ["a", "b"]
        assert gt.image_labels().tolist() == ["b", "b"]
        boxes = gt.regions["Boxes3D"]
        np.testing.assert_allclose(boxes.numpy(), [[10, 20, 1.5, 4, 2, 1, 0.5]] * 2, rtol=0, atol=1e-15)
        assert (boxes.z, boxes.unit, boxes.sense) == ("centre", "radians", "counterclockwise")
        assert gt.attributes["velocity"][0].tolist() == [1.5, -2]
        assert np.isnan(gt.attributes["velocity"][1]).all()
        assert gt.attributes["attribute_name"].tolist() == ["vehicle.parked", ""]
        assert gt.attributes["ego_distance"][0] == 5
        assert np.isnan(gt.attributes["ego_distance"][1])
        assert gt.attributes["num_pts"].tolist() == [7, -1]
    assert set(read_nuscenes(written(tmp_path, {"a": [CAR]})).attributes) == set()
    found = read_nuscenes_detections(written(tmp_path, {"b": [FULL]}, "dt.json"), ground_truth=gt)
    assert (found.scores.tolist(), found.image_labels().tolist()) == ([0.5], ["b"])
    assert found.notes[-1].endswith("dt.json: 1 of 2 samples are not listed: they count as without detections")


def test_null_is_an_unknown_velocity_or_attribute(tmp_path: Path) -> None:
    unknown = [{**CAR, "velocity": None, "attribute_name": None}, {**CAR, "velocity": [None, None]}]
    gt = read_nuscenes(written(tmp_path, {"a": unknown}))
    assert np.isnan(gt.attributes["velocity"]).all()
    assert gt.attributes["attribute_name"].tolist() == ["", ""]


def test_no_sample_and_no_record(tmp_path: Path) -> None:
    gt = read(written(tmp_path, {}))
    assert (len(gt), len(gt.images)) == (0, 0)
    gt = read(written(tmp_path, {"a": []}))
    assert len(read_nuscenes_detections(written(tmp_path, {"a": []}, "dt.json"), ground_truth=gt)) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": [2, 0, 1]}, r"gt.json: a\[0\].size: expected numbers above 0, found \[2, 0, 1\]"),
        ({"size": [2, 4]}, r"a\[0\].size: expected \[width, length, height\], found \[2, 4\]"),
        ({"translation": [1, "2", 3]}, r"a\[0\].translation\[1\] \(y\): expected a number"),
        ({"translation": None}, r"a\[0\].translation: expected \[x, y, z\]"),
        ({"rotation": [0, 0, 0, 0]}, r"a\[0\].rotation: expected a quaternion other than 0"),
        ({"detection_name": "tram"}, r"a\[0\].detection_name: expected one of car, truck, .* names=.*, found 'tram'"),
        ({"detection_name": "tram"}, r"--gt-option names=car,tram, gives others\), found 'tram'"),
        ({"detection_name": "Car"}, r"found 'Car'; did you mean 'car'\?"),
        ({"detection_name": 3}, r"a\[0\].detection_name: expected text, found 3"),
        ({"velocity": 3}, r"a\[0\].velocity: expected \[x, y\], found 3"),
        ({"attribute_name": 3}, r"a\[0\].attribute_name: expected text"),
        ({"ego_translation": [1]}, r"a\[0\].ego_translation: expected \[x, y, z\]"),
        ({"num_pts": 1.5}, r"a\[0\].num_pts: expected a whole number, found 1.5"),
    ],
)
def test_a_wrong_field_is_named(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    path = written(tmp_path, {"a": [{**CAR, **change}, CAR]})
    with pytest.raises(DatasetError, match=message):
        read_nuscenes(path)
    dropped = read_nuscenes(path, on_invalid="drop")
    assert (len(dropped), dropped.dropped) == (1, 1)


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    gt = read_nuscenes(written(tmp_path, {"a": [CAR]}))
    for results, message in (
        ({"a": [CAR]}, r"a\[0\].detection_score: .*, found nothing: no record has one; are .* detections swapped\?$"),
        ({"a": [FULL, CAR]}, r"a\[1\].detection_score: expected a number, found nothing$"),
        ({"c": []}, r"dt.json: c: "),
        ({"a": 3}, r"dt.json: results.a: expected a list, found 3"),
        ([], r"dt.json.results: expected an object"),
    ):
        with pytest.raises(DatasetError, match=message):
            read_nuscenes_detections(written(tmp_path, results, "dt.json"), ground_truth=gt)
    with pytest.raises(DatasetError, match="names of images and classes come from the ground truth"):
        read_nuscenes_detections(written(tmp_path, {}, "dt.json"))


def test_own_classes(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": [{**CAR, "detection_name": "tram"}]})
    gt = read_nuscenes(path, names=["car", "tram"])
    assert (gt.categories.names, gt.category_ids.tolist()) == (("car", "tram"), [2])
