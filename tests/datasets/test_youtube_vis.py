"""YouTube-VIS's files: tracks with lists of masks, made into objects and detections of frames."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit.datasets import read, read_detections
from ioukit.datasets.formats.registry import find_format
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RLE = {"size": [4, 6], "counts": [4, 8, 12]}
"""Columns 1 and 2 of an image of 4 x 6 pixels."""
POLYGON = [[0, 0, 3, 0, 3, 2, 0, 2]]
TRUTH: dict[str, Any] = {
    "videos": [
        {"id": 3, "width": 6, "height": 4, "file_names": ["walk/00.jpg", "walk/05.jpg", "walk/10.jpg"]},
        {"id": 1, "width": 6, "height": 4, "file_names": ["run/00.jpg"]},
    ],
    "categories": [{"id": 7, "name": "person"}, {"id": 9, "name": "dog"}],
    "annotations": [
        {"id": 12, "video_id": 3, "category_id": 7, "segmentations": [RLE, None, POLYGON], "areas": [8, None, 5.5]},
        {"id": 13, "video_id": 1, "category_id": 9, "segmentations": [RLE], "iscrowd": 1},
    ],
}
FOUND: list[dict[str, Any]] = [
    {"video_id": 1, "category_id": 9, "score": 0.25, "segmentations": [RLE]},
    {"video_id": 3, "category_id": 7, "score": 0.5, "segmentations": [None, RLE, RLE]},
]


def written(path: Path, values: Any) -> Path:
    path.write_text(json.dumps(values))
    return path


def test_each_mask_is_a_row_of_its_frame(tmp_path: Path) -> None:
    truth, found = written(tmp_path / "gt.json", TRUTH), written(tmp_path / "dt.json", FOUND)
    assert [find_format(path).name for path in (truth, found)] == ["youtube-vis"] * 2
    gt = read(truth)
    assert list(gt.images.names) == ["walk/00.jpg", "walk/05.jpg", "walk/10.jpg", "run/00.jpg"]
    assert gt.images.attributes["sequence"].tolist() == ["walk"] * 3 + ["run"]
    assert (gt.image_ids.tolist(), gt.category_ids.tolist()) == ([1, 3, 4], [7, 7, 9])
    assert gt.attributes["track_id"].tolist() == [12, 12, 13]
    assert gt.boxes.tolist() == [[1, 0, 2, 4], [0, 0, 3, 2], [1, 0, 2, 4]]
    assert gt.areas.tolist() == [8, 5.5, 8]
    assert gt.crowd.tolist() == [False, False, True]
    dt = read_detections(found, ground_truth=gt)
    assert (dt.image_ids.tolist(), dt.scores.tolist()) == ([4, 2, 3], [0.25, 0.5, 0.5])
    assert dt.attributes["track_id"].tolist() == [0, 1, 1]
    assert np.array_equal(dt.boxes[0], [1, 0, 2, 4])


def test_videos_in_one_folder_have_their_ids_as_names(tmp_path: Path) -> None:
    values = copy.deepcopy(TRUTH)
    values["videos"][1]["file_names"] = ["walk/15.jpg"]
    assert read(written(tmp_path / "gt.json", values)).images.attributes["sequence"].tolist() == ["3"] * 3 + ["1"]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda gt, _: gt["videos"][1].update(id=3), r"videos\[1\].id: expected one that differs .*, found 3"),
        (lambda gt, _: gt["videos"][0].pop("file_names"), r"videos\[0\].file_names: expected a list, found"),
        (lambda gt, _: gt["videos"][0].update(width="x"), r"videos\[0\].width: expected a .*number"),
        (lambda gt, _: gt["categories"][0].pop("name"), r"categories\[0\].name: expected text, found"),
        (lambda gt, _: gt["annotations"][0].update(video_id=8), r"annotations\[0\].video_id: expected one .*, found 8"),
        (
            lambda gt, _: gt["annotations"][1].update(id=True),
            r"annotations\[1\].id: expected an integer .*, found true",
        ),
        (
            lambda gt, _: gt["annotations"][0]["segmentations"].pop(),
            r"annotations\[0\].segmentations: expected 3 items, one per frame of the video, found 2",
        ),
        (
            lambda gt, _: gt["annotations"][0]["areas"].pop(),
            r"annotations\[0\].areas: expected 3 items, one per frame of the video, found 2",
        ),
        (
            lambda gt, _: gt["annotations"][0]["segmentations"].__setitem__(2, {"size": [4, 6]}),
            r"annotations\[0\].segmentations\[2\]: .*counts",
        ),
        (lambda _, dt: dt[0].update(category_id=1), r"detections\[0\].category_id: expected one .*, found 1"),
        (lambda _, dt: dt[1].pop("score"), r"detections\[1\].score: expected a .*number, found"),
        (lambda _, dt: dt[1].pop("segmentations"), r"detections\[1\].segmentations: expected a list, found"),
    ],
)
def test_damaged_files_are_refused_with_the_place(
    spoil: Callable[[Any, Any], object], message: str, tmp_path: Path
) -> None:
    values, results = copy.deepcopy(TRUTH), copy.deepcopy(FOUND)
    spoil(values, results)
    truth, found = written(tmp_path / "gt.json", values), written(tmp_path / "dt.json", results)
    with pytest.raises(DatasetError, match=rf"(gt|dt).json: {message}"):
        read_detections(found, ground_truth=read(truth))


def test_damaged_tracks_can_be_left_out(tmp_path: Path) -> None:
    values = copy.deepcopy(TRUTH)
    values["annotations"][0]["segmentations"].pop()
    gt = read(written(tmp_path / "gt.json", values), on_invalid="drop")
    assert (len(gt), gt.dropped) == (1, 1)


def test_other_shapes_of_files_are_refused(tmp_path: Path) -> None:
    gt = read(written(tmp_path / "gt.json", TRUTH))
    with pytest.raises(DatasetError, match="expected a list of tracks, found"):
        read_detections(written(tmp_path / "dt.json", TRUTH), ground_truth=gt)
    images = read(
        written(tmp_path / "coco.json", {"images": [{"id": 1}], "categories": [{"id": 7}], "annotations": []})
    )
    with pytest.raises(DatasetError, match="expected a ground truth whose images have video_id and frame_index"):
        read_detections(written(tmp_path / "dt.json", FOUND), ground_truth=images)
