"""LVIS's annotation files: how one is recognised, what is read from it, and what is refused."""

from __future__ import annotations

import copy
import gzip
import json
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import ioukit
from ioukit.datasets import IdLists, find_format, read, read_lvis
from ioukit.evaluation import COCO, Measure, match
from ioukit.evaluation.protocols import LVIS, LVIS_FIXED, Protocol

if TYPE_CHECKING:
    from pathlib import Path

GT: dict[str, Any] = {
    "images": [
        {"id": 7, "neg_category_ids": [3, 99], "not_exhaustive_category_ids": [], "file_name": "b.jpg"},
        {
            "id": 2,
            "neg_category_ids": [],
            "not_exhaustive_category_ids": [1, 3],
            "coco_url": "http://images.example/val/a.jpg",
        },
    ],
    "categories": [
        {"id": 3, "name": "cat", "frequency": "r"},
        {"id": 1, "name": "dog", "frequency": "f"},
    ],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100.0},
        {"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 0, 10, 10], "area": 100.0, "ignore": 1},
    ],
}


def _changed(change: Any) -> dict[str, Any]:
    gt = copy.deepcopy(GT)
    change(gt)
    return gt


@pytest.fixture(params=["file", "packed", "records"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """Makes a source that `read_lvis` takes."""

    def make(gt: dict[str, Any]) -> Any:
        if request.param == "records":
            return gt
        path = tmp_path / ("gt.json" if request.param == "file" else "gt.json.gz")
        text = json.dumps(gt).encode()
        path.write_bytes(text if request.param == "file" else gzip.compress(text))
        return path

    return make


def test_reads_lists_frequency_and_ignore(source: Any) -> None:
    gt = read_lvis(source(GT))
    assert gt.images.ids.tolist() == [2, 7]
    assert list(gt.images.names) == ["a.jpg", "b.jpg"]
    assert gt.images.attributes["neg_category_ids"].tolist() == [[], [3, 99]]
    assert gt.images.attributes["not_exhaustive_category_ids"].tolist() == [[1, 3], []]
    assert gt.categories.attributes["frequency"].tolist() == ["f", "r"]
    assert gt.flag("ignore").tolist() == [False, True]
    assert not gt.crowd.any()


@pytest.mark.parametrize("packed", [False, True])
def test_a_file_is_recognised_by_keys_at_its_begin_or_end(tmp_path: Path, packed: bool) -> None:
    contents = {
        "gt": GT,
        "dt": [{"image_id": 1}],
        "coco": {"images": [{"id": 1}], "annotations": []},
        "last": {"padding": "x" * 200_000, "images": GT["images"]},
    }
    found = {}
    for name, content in contents.items():
        text = json.dumps(content).encode()
        path = tmp_path / (f"{name}.json.gz" if packed else f"{name}.json")
        path.write_bytes(gzip.compress(text) if packed else text)
        found[name] = find_format(path).name
    # The end of a packed file is not looked at.
    assert found == {"gt": "lvis", "dt": "coco", "coco": "coco", "last": "coco" if packed else "lvis"}
    assert read(tmp_path / ("gt.json.gz" if packed else "gt.json")).flag("ignore").any()
    (tmp_path / "cut.json").write_bytes(gzip.compress(b"{}")[:12])
    assert find_format(tmp_path / "cut.json").name == "coco"


_LIST = "a list of ids of categories"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda gt: gt["images"][1].pop("neg_category_ids"),
            rf"images\[1\].neg_category_ids: expected {_LIST}, found no",
        ),
        (
            lambda gt: gt["images"][0].update(not_exhaustive_category_ids=[1, "x"]),
            rf"images\[0\].not_exhaustive_category_ids: expected {_LIST}, found",
        ),
        (
            lambda gt: gt["images"][0].update(neg_category_ids=3),
            rf"images\[0\].neg_category_ids: expected {_LIST}, found",
        ),
        (lambda gt: gt["annotations"][1].update(ignore=2), r"annotations\[1\].ignore: expected 0 or 1, found"),
    ],
)
def test_an_invalid_record_is_refused_or_dropped(source: Any, change: Any, message: str) -> None:
    gt = source(_changed(change))
    with pytest.raises(ioukit.DatasetError, match=message):
        read_lvis(gt)
    kept = read_lvis(gt, on_invalid="drop")
    assert kept.dropped >= 1
    assert len(kept.flag("ignore")) == len(kept)


def test_data_without_lists_or_frequency_is_refused_when_it_is_evaluated(source: Any) -> None:
    dt = ioukit.Detections.from_arrays(image_ids=[7], category_ids=[1], boxes=[[0, 0, 10, 10]], scores=[0.9])
    unnamed = read_lvis(source(_changed(lambda gt: gt["categories"][0].pop("frequency"))))
    with pytest.raises(
        ioukit.DatasetError, match=r"'frequency' of category 3 \(cat\): expected one of r, c, f, found ''"
    ):
        match(unnamed, dt, LVIS)
    assert match(unnamed, dt, LVIS, categories=["dog"]).num_objects.tolist() == [[1, 1, 0, 0]]
    plain = ioukit.GroundTruth.from_arrays(image_ids=[7], category_ids=[1], boxes=[[0, 0, 10, 10]])
    with pytest.raises(
        ioukit.DatasetError, match=r"'frequency' of category 1 .*: expected one of r, c, f, found no such"
    ):
        match(plain, dt, LVIS)
    with pytest.raises(
        ioukit.DatasetError, match="'neg_category_ids' of the images: expected lists of ids, found no such"
    ):
        match(plain, dt, COCO.replace(verified="listed"))


def test_a_detection_counts_where_its_category_was_looked_for() -> None:
    """On image 2 cats were not looked for, and dogs not exhaustively; on image 7 there is no cat."""
    gt = read_lvis(GT)
    dt = ioukit.Detections.from_arrays(
        image_ids=[7, 7, 2, 2],
        category_ids=[1, 3, 3, 1],
        boxes=[[0, 0, 10, 10], *[[50, 50, 9, 9]] * 3],
        scores=[0.9] * 4,
    )
    table = match(gt, dt, LVIS)
    assert table.detections.row.tolist() == [3, 0, 1]
    assert table.is_true_positive().tolist() == [False, True, False]
    assert table.is_ignored().tolist() == [True, False, False]
    assert table.is_not_exhaustive().tolist() == [True, False, False]
    assert table.image_detections.tolist() == [2, 2]
    whole = match(gt, dt, LVIS_FIXED)
    assert whole.detections.row.tolist() == [3, 2, 0, 1]
    assert whole.takes_part().tolist() == whole.is_within_cap().tolist() == [True, False, True, True]
    assert match(gt, dt, LVIS_FIXED.replace(max_dets=[1])).is_within_cap().tolist() == [True, False, False, False]


def test_a_measure_of_a_group_is_the_mean_over_its_categories() -> None:
    boxes = [[0, 0, 9, 9], [20, 0, 9, 9], [40, 0, 9, 9]]
    gt = ioukit.GroundTruth.from_arrays(
        image_ids=[1, 1, 1],
        category_ids=[1, 2, 3],
        boxes=boxes,
        categories=[1, 2, 3],
        category_attributes={"habitat": ["sea", "land", "land"]},
    )
    dt = ioukit.Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 2], boxes=boxes[:2], scores=[0.9, 0.8])
    measures = [Measure("AP"), Measure("AP at sea", group="sea"), Measure("AR on land", "AR", group="land")]
    protocol = COCO.replace(category_groups="habitat", summary=measures)
    result = ioukit.evaluate(gt, dt, protocol)
    assert list(result.summary.values()) == pytest.approx([2 / 3, 1.0, 0.5])
    assert np.isnan(result.per_class[1].summary["AP at sea"])
    assert result.per_class[1].summary["AR on land"] == 1.0
    assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
    agnostic = ioukit.evaluate(gt, dt, protocol.replace(class_agnostic=True))
    assert np.isnan(agnostic.summary["AP at sea"])
    assert not COCO.defines(measures[1])
    other = ioukit.GroundTruth.from_arrays(
        image_ids=[2],
        category_ids=[1],
        boxes=boxes[:1],
        categories=[1, 2, 3],
        category_attributes={"habitat": ["land", "land", "land"]},
    )
    none = ioukit.Detections.from_arrays(image_ids=[], category_ids=[], boxes=[], scores=[])
    with pytest.raises(ValueError, match="different groups of categories do not add up: their habitat differs"):
        _ = result.matches + match(other, none, protocol.replace(summary=measures))


def test_the_protocols_survive_a_file() -> None:
    for protocol in (LVIS, LVIS_FIXED):
        assert Protocol.from_dict(json.loads(json.dumps(protocol.to_dict()))) == protocol
    with pytest.raises(TypeError, match="category_groups must be the name of an attribute, got 3"):
        COCO.replace(category_groups=3)
    with pytest.raises(ValueError, match="unknown verified 'some'; choose from all, listed"):
        COCO.replace(verified="some")


def test_lists_are_chosen_put_together_and_kept() -> None:
    lists = IdLists.of([[3, 1], [], np.array([2])])
    assert lists.tolist() == [[3, 1], [], [2]]
    assert lists[-1].tolist() == [2]
    assert lists[1:].tolist() == [[], [2]]
    assert lists.take(np.array([2, 0, 0])).tolist() == [[2], [3, 1], [3, 1]]
    assert lists.take(np.array([], int)).tolist() == []
    assert IdLists.concat([lists, IdLists.of([]), lists[:1]]).tolist() == [[3, 1], [], [2], [3, 1]]
    again = pickle.loads(pickle.dumps(lists))
    assert again.tolist() == lists.tolist()
    assert not again.ids.flags.writeable
    assert repr(lists) == "IdLists(3 lists, 3 ids)"
    with pytest.raises(TypeError, match="row 1 must be a list of integers"):
        IdLists.of([[1], [0.5]])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="ends must rise to the number of ids, 3"):
        IdLists(np.arange(3), np.array([1, 2]))
    with pytest.raises(IndexError):
        lists[3]
    halves = [read_lvis(GT).filter(images=[number]) for number in (7, 2)]
    joined = ioukit.GroundTruth.concat(halves)
    assert joined.images.attributes["neg_category_ids"].tolist() == [[], [3, 99]]
