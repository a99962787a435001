"""BURST's files: sequences whose frames list masks by track, made into objects and detections of frames."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit.datasets import read, read_detections
from ioukit.datasets.formats.registry import find_format
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

RLE = {"rle": "48<"}
"""Columns 1 and 2 of an image of 4 x 6 pixels."""
WALK: dict[str, Any] = {
    "id": 5,
    "dataset": "AVA",
    "seq_name": "walk",
    "width": 6,
    "height": 4,
    "all_image_paths": ["00.jpg", "01.jpg", "05.jpg"],
    "annotated_image_paths": ["00.jpg", "05.jpg"],
    "neg_category_ids": [9],
    "not_exhaustive_category_ids": [],
    "track_category_ids": {"1": 7, "12": 7},
    "segmentations": [{"12": {**RLE, "is_gt": True}, "1": RLE}, {"1": RLE}],
}
RUN = {
    **{name: WALK[name] for name in ("dataset", "width", "height", "neg_category_ids")},
    "seq_name": "run",
    "annotated_image_paths": ["00.jpg"],
    "not_exhaustive_category_ids": [7, 9],
    "track_category_ids": {"1": 9},
    "segmentations": [{"1": RLE}],
}
TRUTH: dict[str, Any] = {
    "sequences": [WALK, RUN],
    "categories": [{"id": 7, "name": "person", "synset": "person.n.01"}, {"id": 9, "name": "dog"}],
    "split": "val",
}
FOUND: dict[str, Any] = {
    "sequences": [
        {
            "dataset": "AVA",
            "seq_name": "walk",
            "annotated_image_paths": ["00.jpg", "01.jpg", "05.jpg"],
            "track_category_ids": {"3": 7},
            "segmentations": [{"3": {**RLE, "score": 0.5}}, {"3": RLE}, {"3": RLE, "4": {**RLE, "category_id": 9}}],
        }
    ]
}


def written(path: Path, values: Any) -> Path:
    path.write_text(json.dumps(values))
    return path


def test_each_mask_is_a_row_of_its_frame(tmp_path: Path) -> None:
    truth, found = written(tmp_path / "gt.json", TRUTH), written(tmp_path / "dt.json", FOUND)
    assert [find_format(path).name for path in (truth, found)] == ["burst"] * 2
    gt = read(truth)
    assert list(gt.images.names) == ["AVA/walk/00.jpg", "AVA/walk/05.jpg", "AVA/run/00.jpg"]
    assert gt.images.attributes["sequence"].tolist() == ["AVA/walk", "AVA/walk", "AVA/run"]
    assert gt.images.attributes["neg_category_ids"].tolist() == [[9]] * 3
    assert gt.images.attributes["not_exhaustive_category_ids"].tolist() == [[], [], [7, 9]]
    assert (gt.image_ids.tolist(), gt.category_ids.tolist()) == ([1, 1, 2, 3], [7, 7, 7, 9])
    assert gt.attributes["track_id"].tolist() == [12, 1, 1, 1]
    assert (gt.boxes.tolist(), gt.areas.tolist()) == ([[1, 0, 2, 4]] * 4, [8] * 4)
    dt = read_detections(found, ground_truth=gt)
    assert (dt.image_ids.tolist(), dt.scores.tolist()) == ([1, 2, 2], [0.5, 1, 1])
    assert (dt.category_ids.tolist(), dt.attributes["track_id"].tolist()) == ([7, 7, 9], [3, 3, 4])
    assert dt.boxes.tolist() == [[1, 0, 2, 4]] * 3
    assert dt.notes == (
        f"{found}: left out 1 x mask of a frame that the ground truth does not have",
        f"{found}: 2 x a mask without a score, which counts as 1, as in TrackEval",
    )


def first(values: Any) -> Any:
    return values["sequences"][0]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda gt, _: gt["sequences"][1].update(seq_name="walk"), r"sequences\[1\].seq_name: .*, found AVA/walk"),
        (lambda gt, _: first(gt).pop("dataset"), r"sequences\[0\].dataset: expected text, found"),
        (lambda gt, _: first(gt).update(height=0), r"sequences\[0\].height: expected a number of at least 1, found 0"),
        (
            lambda gt, _: first(gt).update(annotated_image_paths=["0.jpg", "0.jpg"]),
            r"sequences\[0\].annotated_image_paths\[1\]: expected a path that differs from those before, found '0.jpg'",
        ),
        (lambda gt, _: first(gt).pop("neg_category_ids"), r"sequences\[0\].neg_category_ids: expected a list, found"),
        (
            lambda gt, _: first(gt).update(neg_category_ids=["x"]),
            r"sequences\[0\].neg_category_ids\[0\]: expected the id of a category, found 'x'",
        ),
        (
            lambda gt, _: first(gt)["segmentations"].pop(),
            r"sequences\[0\].segmentations: expected 2 items, one per annotated image, found 1",
        ),
        (
            lambda gt, _: first(gt)["segmentations"].__setitem__(1, []),
            r"sequences\[0\].segmentations\[1\]: expected an object with a mask for each track id, found \[\]",
        ),
        (
            lambda gt, _: first(gt)["segmentations"][1].update({"x": RLE}),
            r"sequences\[0\].segmentations\[1\]: expected track ids that are whole numbers .* 15 digits, found 'x'",
        ),
        (
            lambda gt, _: first(gt)["segmentations"][1].update({"1": "48<"}),
            r"sequences\[0\].segmentations\[1\].1: expected an object with rle, found '48<'",
        ),
        (
            lambda gt, _: first(gt)["segmentations"][1].update({"1": {"rle": 5}}),
            r"sequences\[0\].segmentations\[1\].1.rle: expected text, found 5",
        ),
        (
            lambda gt, _: first(gt)["segmentations"][1].update({"1": {"rle": "4"}}),
            r"sequences\[0\].segmentations\[1\].1: .*",
        ),
        (
            lambda gt, _: first(gt)["track_category_ids"].pop("1"),
            r"sequences\[0\].track_category_ids.1: expected a number, found",
        ),
        (
            lambda gt, _: first(gt)["track_category_ids"].update({"1": 8}),
            r"sequences\[0\].track_category_ids.1: expected one .* lists, found 8",
        ),
        (
            lambda _, dt: first(dt).update(seq_name="swim"),
            r"sequences\[0\].seq_name: expected a sequence of the ground truth, as dataset/seq_name, found AVA/swim",
        ),
        (
            lambda _, dt: first(dt)["segmentations"][0]["3"].update(score="x"),
            r"sequences\[0\].segmentations\[0\].3.score: expected a .*number",
        ),
        (
            lambda _, dt: first(dt)["segmentations"][2]["4"].update(category_id=1),
            r"sequences\[0\].segmentations\[2\].4.category_id: expected one .* lists, found 1",
        ),
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


def test_damaged_masks_can_be_left_out(tmp_path: Path) -> None:
    values = copy.deepcopy(TRUTH)
    first(values)["segmentations"][1]["1"] = {"rle": None}
    gt = read(written(tmp_path / "gt.json", values), on_invalid="drop")
    assert (len(gt), gt.dropped) == (3, 1)


def test_the_ground_truth_has_sequences(tmp_path: Path) -> None:
    images = read(
        written(tmp_path / "coco.json", {"images": [{"id": 1}], "categories": [{"id": 7}], "annotations": []})
    )
    with pytest.raises(DatasetError, match="expected a ground truth whose images have the attribute sequence"):
        read_detections(written(tmp_path / "dt.json", FOUND), ground_truth=images)
