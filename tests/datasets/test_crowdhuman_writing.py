"""CrowdHuman's files that ioukit writes: what comes back, what is lost, and what damaged files do."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ioukit import DatasetError
from ioukit.datasets import Detections, GroundTruth, read, read_crowdhuman_detections, read_detections, write
from ioukit.datasets.formats.left_out import Holds
from support.data_sets import (
    FILE_STEMS,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
    stem_of,
)
from support.malformed import read_damaged

HOLDS = Holds(flags=frozenset({"ignore"}), unused_categories=True)


@settings(max_examples=40)
@given(ground_truths(stems=FILE_STEMS, classes=["person"], flags=("ignore", "crowd"), sizes=None))
def test_persons_come_back(gt: GroundTruth) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.odgt"
        notes = write(gt, path, "crowdhuman")
        again = read(path)
    # Images that have string ids keep them.
    key = stem_of if gt.images.keys is None else None
    assert_came_back(gt, again, HOLDS, notes, image_key=key)


@settings(max_examples=40)
@given(st.data())
def test_detections_come_back(data: st.DataObject) -> None:
    gt = data.draw(ground_truths(stems=FILE_STEMS, classes=["person"]))
    dt = data.draw(detections_of(gt))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.odgt"
        assert write(dt, path, "crowdhuman", ground_truth=gt) == ()
        again = read_detections(path, ground_truth=gt)
    assert_detections_came_back(dt, again, gt, HOLDS)
    sizes = dict(zip(gt.images.labels.tolist(), gt.images.sizes.tolist(), strict=True))
    assert again.attributes["image_size"].tolist() == [sizes[label] for label in again.image_labels().tolist()]


GT = GroundTruth.from_arrays(
    image_ids=[7, 7, 8],
    category_ids=[3, 5, 3],
    boxes=np.array([[1, 2, 3, 4.5], [0, 0, 1, 1], [5, 6, 7, 8]]),
    images=[7, 8, 9],
    sizes=np.array([[640, 480], [np.nan, np.nan], [3, 4]]),
    names=["val/a.jpg", "val/b.jpg", "val/c.jpg"],
    categories={3: "person", 5: "dog"},
    flags={"ignore": [True, False, False]},
)


def test_every_field_has_its_place(tmp_path: Path) -> None:
    notes = write(GT, tmp_path / "a.odgt", "crowdhuman")
    records = [json.loads(line) for line in (tmp_path / "a.odgt").read_text().splitlines()]
    assert records == [
        {
            "ID": "a",
            "width": 640,
            "height": 480,
            "gtboxes": [{"tag": "person", "fbox": [1, 2, 3, 4.5], "extra": {"ignore": 1}}],
        },
        {"ID": "b", "gtboxes": [{"tag": "person", "fbox": [5, 6, 7, 8]}]},
        {"ID": "c", "width": 3, "height": 4, "gtboxes": []},
    ]
    assert notes == ("ids of 3 images: their names remain", "1 objects of other classes than person")
    dogs = write(GT, tmp_path / "b.odgt", "crowdhuman", person="dog", box="vbox")
    assert '{"tag": "person", "vbox": [0, 0, 1, 1]}' in (tmp_path / "b.odgt").read_text()
    assert dogs[-1] == "2 objects of other classes than dog"
    dt = Detections.from_arrays(
        image_ids=[7, 7],
        category_ids=[3, 5],
        boxes=[[1, 2, 3, 4]] * 2,
        scores=[0.5, 1],
        attributes={"image_size": [[9, 9]] * 2},
    )
    notes = write(dt, tmp_path / "c.odgt", "crowdhuman", ground_truth=GT)
    assert notes == ("1 detections of other classes than person",)
    first = json.loads((tmp_path / "c.odgt").read_text().splitlines()[0])
    assert first == {"ID": "a", "width": 9, "height": 9, "dtboxes": [{"box": [1, 2, 3, 4], "score": 0.5, "tag": 1}]}


def test_images_and_persons_are_those_of_the_ground_truth(tmp_path: Path) -> None:
    path = tmp_path / "a.odgt"
    path.write_text(
        "".join(
            json.dumps({"ID": name, "dtboxes": [{"box": [1, 2, 3, 4], "score": 1}]}) + "\n"
            for name in ("a", "val/b.jpg")
        )
    )
    dt = read_detections(path, ground_truth=GT)
    assert (dt.image_ids.tolist(), dt.category_ids.tolist()) == ([7, 8], [3, 3])
    alone = read_crowdhuman_detections(path)
    assert (alone.image_labels().tolist(), alone.category_ids.tolist()) == (["a", "val/b.jpg"], [1, 1])
    path.write_text(json.dumps({"ID": "d", "dtboxes": []}))
    with pytest.raises(
        DatasetError, match=r"a\.odgt: line 1: record\.ID: expected an image of ground truth, found 'd'"
    ):
        read_detections(path, ground_truth=GT)
    assert read_detections(path, ground_truth=GT, on_invalid="drop").dropped == 1


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"expected objects of the class 'persn', .* did you mean 'person'"):
        write(GT, tmp_path / "a.odgt", "crowdhuman", person="persn")
    with pytest.raises(ValueError, match="unknown box 'body'; choose from fbox, vbox, hbox"):
        write(GT, tmp_path / "a.odgt", "crowdhuman", box="body")
    dt = Detections.from_arrays(image_ids=[7], category_ids=[3], boxes=[[1, 2, 3, 4]], scores=[1])
    with pytest.raises(DatasetError, match=r"give ground_truth=\.\.\., or --ground-truth in a command"):
        write(dt, tmp_path / "a.odgt", "crowdhuman")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("classes", "found"), [({}, 0), ({3: "cat", 5: "dog"}, 2), ({3: "person", 5: "Person", 7: "dog"}, 2)]
)
def test_detections_are_not_written_for_a_ground_truth_with_which_none_are_read(
    classes: dict[int, str], found: int, tmp_path: Path
) -> None:
    gt = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], images=["a"], categories=classes)
    rows = [3] if "person" in classes.values() else []
    dt = Detections.from_arrays(
        image_ids=np.array(["a"] * len(rows), np.str_), category_ids=rows, boxes=[[1, 2, 3, 4]] * len(rows), scores=rows
    )
    refusal = rf"^ground truth: expected one class person, or one class, for detections of persons, found {found} cl"
    with pytest.raises(DatasetError, match=refusal):
        write(dt, tmp_path / "a.odgt", "crowdhuman", ground_truth=gt)
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "b.odgt").write_text('{"ID": "a", "dtboxes": []}')
    with pytest.raises(DatasetError, match=refusal):
        read_detections(tmp_path / "b.odgt", ground_truth=gt)


def test_another_class_may_be_written_as_persons(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["a"], category_ids=[3], boxes=[[1, 2, 3, 4]], categories={3: "pedestrian", 5: "car"}
    )
    dt = Detections.from_arrays(image_ids=["a"], category_ids=[3], boxes=[[1, 2, 3, 4]], scores=[1])
    write(gt, tmp_path / "gt.odgt", "crowdhuman", person="pedestrian")
    write(dt, tmp_path / "dt.odgt", "crowdhuman", ground_truth=gt, person="pedestrian")
    read_back = read_detections(tmp_path / "dt.odgt", ground_truth=read(tmp_path / "gt.odgt"))
    assert (read_back.image_labels().tolist(), read_back.category_ids.tolist()) == (["a"], [1])


def make(folder: Path) -> Path:
    person: Any = {
        "tag": "person",
        "hbox": [123, 10, 20, 20],
        "fbox": [100, 0, 60, 120],
        "vbox": [100, 0, 60, 80],
        "head_attr": {"ignore": 1},
        "extra": {"box_id": 0, "ignore": 0},
    }
    records = [{"ID": "é", "width": 10, "height": 20, "gtboxes": [person, person]}, {"ID": "b", "gtboxes": []}]
    path = folder / "a.odgt"
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    outcomes = read_damaged(make, "a.odgt", read, tmp_path)
    for kind in ("cut", "wrong byte", "nested lists", "number b'NaN'", "number b'\"7\"'", "line twice"):
        assert outcomes.refused[kind], kind
    for kind in ("byte-order mark", "Windows lines"):
        assert outcomes.read[kind], kind
        assert not outcomes.refused[kind], kind
