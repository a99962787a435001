"""Drawings of images in the viewer: what is drawn is what the data and the evaluations say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Detections, GroundTruth, evaluate, read_coco
from ioukit.evaluation import Outcome
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.selecting import select
from ioukit.viewer.images.drawing import Surroundings, drawings
from ioukit.viewer.images.large_image import explained
from ioukit.viewer.marking.noted_marks import Noting
from ioukit.viewer.marking.notes import Notes
from support import region_cases
from support.paths import DEMO
from support.two_models import pair

if TYPE_CHECKING:
    from pathlib import Path

OF_OBJECT = {Outcome.TRUE_POSITIVE: 0, Outcome.FALSE_NEGATIVE: 3, Outcome.IGNORED: 4}
OF_DETECTION = {Outcome.TRUE_POSITIVE: 1, Outcome.FALSE_POSITIVE: 2, Outcome.IGNORED: 5}


def parsed(*pairs: tuple[str, str]) -> Filter:
    return Filter.parse(pairs)


def rows_of(image: dict[str, Any]) -> Any:
    return np.array(image["boxes"], np.int64).reshape(-1, 9)


def two(seed: int = 0) -> Collection:
    one, other = pair(seed, images=8)
    assert one.ground_truth is not None
    return Collection.of(one.ground_truth, {"one": one, "other": other})


def test_every_mark_is_drawn_once_with_its_outcome() -> None:
    collection = two()
    chosen = parsed(("at_score", "0.4"), ("at_iou", "0.75"), ("model", "other"))
    images = drawings(collection, chosen, range(len(collection.table.image_ids)))["images"]
    rows = [rows_of(image) for image in images]
    for number, model in enumerate(collection.models, 1):
        became = model.evaluation.outcomes(iou_threshold=0.75, score_threshold=0.4)
        table, detections = model.evaluation.matches, model.evaluation.detections
        assert detections is not None
        expected = {
            (int(table.detections.image[at]), int(table.detections.row[at])): OF_DETECTION[Outcome(outcome)]
            for at, outcome in enumerate(became.detections)
            if outcome != Outcome.NOT_COUNTED
        }
        found = [(at, row) for at, listed in enumerate(rows) for row in listed[listed[:, 7] == number].tolist()]
        assert {(at, row[8]): row[0] for at, row in found} == expected
        assert len(found) == len(expected)
        for _, (_, category, score, *box, _, row) in found:
            assert table.categories.ids[category] == detections.category_ids[row]
            assert score == round(detections.scores[row] * 1000)
            assert_allclose(np.array(box) / 10, detections.boxes[row], atol=0.051)
        if model.name == "other":  # objects are found or missed by the chosen model
            kinds = {
                (int(table.objects.image[at]), int(table.objects.row[at])): OF_OBJECT[Outcome(outcome)]
                for at, outcome in enumerate(became.objects)
            }
            objects = [(at, row) for at, listed in enumerate(rows) for row in listed[listed[:, 7] == 0].tolist()]
            assert {(at, row[8]): row[0] for at, row in objects} == kinds
    for image, listed in zip(images, rows, strict=True):
        assert (image["w"], image["h"]) == (640, 640)
        assert image["name"] == f"{image['id'] - 10}.jpg"
        assert (np.diff(listed[:, 7]) >= 0).all()
        assert "chosen" not in image
        assert not image["photo"]


def test_the_filter_marks_what_it_chooses() -> None:
    collection = two(1)
    for pairs in ([("outcome", "fp")], [("class", "car"), ("score", "0.3..")], [("change", "won")], [("class", "owl")]):
        chosen = parsed(*pairs, ("at_score", "0.3"), ("sort", "name"))
        selection = select(collection, parsed(*pairs, ("at_score", "0.3")))
        images = drawings(collection, chosen, range(len(collection.table.image_ids)))["images"]
        for at, image in enumerate(images):
            rows = rows_of(image)
            for side, flags, table_rows, part in (
                (0, selection.objects, collection.table.objects.row, collection.objects_of(at)),
                (1, selection.detections, collection.table.detections.row, collection.models[0].detections_of(at)),
            ):
                expected = set(table_rows[part][flags[part]].tolist())
                here = rows[:, 7] == side
                assert set(rows[here & (np.array(image["chosen"]) == 1), 8].tolist()) == expected


@pytest.mark.parametrize("kind", region_cases.KINDS)
def test_regions_of_every_kind(kind: str) -> None:
    evaluation = region_cases.evaluated(kind)
    assert evaluation.ground_truth is not None
    assert evaluation.detections is not None
    collection = Collection.of(evaluation.ground_truth, {"model": evaluation})
    page = drawings(collection, parsed(("at_score", "0")), range(3))
    assert page["style"]["ground"] == (kind in ("bev", "box3d"))
    count = 0
    for at, image in enumerate(page["images"]):
        rows = rows_of(image)
        count += len(rows)
        assert len(image.get("shapes", rows)) == len(rows)
        assert ("grid" in image) == (kind in ("bev", "box3d"))
        large = explained(collection, parsed(("at_score", "0")), at)
        assert large["boxes"] == image["boxes"]
        assert len(large["marks"]) == len(rows)
        for row, mark in zip(rows, large["marks"], strict=True):
            assert mark["kind"] == row[0]
            assert (mark["id"] is None) == (row[7] > 0)
            if row[7] == 0:
                assert mark["id"] == evaluation.ground_truth.ids[row[8]]
            if mark["partner"] is not None:
                assert rows[mark["partner"], 7] != row[7]
                assert large["marks"][mark["partner"]]["class"] == mark["class"]
    assert count == len(evaluation.ground_truth) + len(evaluation.detections)


def test_a_person_without_keypoints_is_drawn_as_a_box() -> None:
    points = np.zeros((1, 17, 3))
    gt = GroundTruth.from_arrays(
        image_ids=[1], category_ids=[1], boxes=[[10, 20, 30, 40]], keypoints=points, images=[1], sizes=[[90, 90]]
    )
    dt = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[], keypoints=points[:0])
    collection = Collection.of(gt, {"model": evaluate(gt, dt, iou_type="keypoints")})
    (image,) = drawings(collection, parsed(), [0])["images"]
    assert image["boxes"][3:7] == [100, 200, 300, 400]
    assert image["shapes"] == [{"rings": [[100, 200, 400, 200, 400, 600, 100, 600]]}]


def test_without_models_objects_alone_are_drawn() -> None:
    evaluation, _ = pair(2)
    assert evaluation.ground_truth is not None
    collection = Collection.of(evaluation.ground_truth, {})
    count = len(collection.table.image_ids)
    images = drawings(collection, parsed(), range(count))["images"]
    rows = np.concatenate([rows_of(image) for image in images])
    assert_array_equal(np.sort(rows[:, 8]), np.arange(len(evaluation.ground_truth)))
    assert set(rows[:, 0].tolist()) <= {0, 4}
    marks = [mark for at in range(count) for mark in explained(collection, parsed(), at)["marks"]]
    assert all(mark["why"] == "" and mark["partner"] is None for mark in marks)


def test_sizes_of_photographs_replace_unknown_ones() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[10, 20, 30, 40]], images=[1, 2])
    collection = Collection.of(gt, {})
    around = Surroundings(has_photograph=lambda at: at == 0, size_of_photograph=lambda _: (320, 200))
    first, second = drawings(collection, parsed(), [0, 1], around)["images"]
    assert (first["w"], first["h"], first["photo"]) == (320, 200, True)
    assert (second["w"], second["h"], second["photo"]) == (100, 100, False)
    (first,) = drawings(collection, parsed(), [0])["images"]
    assert (first["w"], first["h"], first["photo"]) == (40, 60, False)


def test_the_large_image_says_everything_about_its_marks() -> None:
    folder = DEMO
    evaluation = evaluate(*read_coco(folder / "gt.json", folder / "a.json"))
    assert evaluation.ground_truth is not None
    collection = Collection.of(evaluation.ground_truth, {"derived": evaluation}, folder=folder / "photos")
    became = evaluation.outcomes(score_threshold=0.3)
    codes = 0
    for at in range(len(collection.table.image_ids)):
        page = explained(collection, parsed(("at_score", "0.3")), at)
        assert page["photo"]
        assert dict(page["columns"])["width"] == page["w"]
        rows = rows_of(page)
        for k, (row, mark) in enumerate(zip(rows.tolist(), page["marks"], strict=True)):
            codes += 1
            assert mark["why"].endswith(".")
            assert mark["kind"] == row[0]
            table_rows = evaluation.matches.objects.row if row[7] == 0 else evaluation.matches.detections.row
            place = int(np.flatnonzero(table_rows == row[8])[0])
            if row[7] == 1 and became.matched_object[place] >= 0:
                partner = rows[mark["partner"]]
                assert partner[8] == evaluation.matches.objects.row[became.matched_object[place]]
                assert mark["iou"] == pytest.approx(became.match_iou[place], abs=1e-6)
                if row[0] == 1:
                    assert page["marks"][mark["partner"]]["partner"] == k
            if row[0] in (0, 1):
                assert mark["error"] is None
            if row[0] == 2:
                assert mark["error"] is not None
            if mark["flags"]:
                assert row[7] == 0
                assert "crowd" in mark["flags"]
    assert codes > 50


def test_tags_and_notes_are_said(tmp_path: Path) -> None:
    collection = two(3)
    noting = Noting(collection, Notes(tmp_path / "x.view.db"))
    at = next(at for at in range(8) if collection.objects_of(at).stop > collection.objects_of(at).start)
    row = int(collection.table.objects.row[collection.objects_of(at).start])
    noting.write({"at": at, "tags": ["dark"], "note": "very dark"})
    noting.write({"at": at, "side": 0, "row": row, "tags": ["wrong"], "note": ""})
    around = Surroundings(noting=noting)
    page = explained(collection, parsed(), at, around)
    assert (page["note"], page["image_tags"], page["tags"], page["noted"]) == (
        "very dark",
        ["dark"],
        ["dark", "wrong"],
        True,
    )
    for values, mark in zip(rows_of(page).tolist(), page["marks"], strict=True):
        assert mark["tags"] == (["wrong"] if values[7:] == [0, row] else [])
        assert mark["note"] == ""


def test_names_are_escaped() -> None:
    gt = GroundTruth.from_coco(
        {
            "images": [{"id": 1, "width": 9, "height": 9, "file_name": "a\u202eb.jpg"}],
            "categories": [{"id": 1, "name": "c\u202ed"}],
            "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2], "area": 4, "iscrowd": 0}],
        }
    )
    page = explained(Collection.of(gt, {}), parsed(), 0)
    assert "\u202e" not in page["name"]
    assert "\u202e" not in page["marks"][0]["class"]


def test_boxes_far_away_have_numbers_that_the_page_can_read() -> None:
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[2.0**52, 0, 2.0**52, 5]], images=[1])
    (image,) = drawings(Collection.of(gt, {}), parsed(), [0])["images"]
    assert max(image["boxes"]) <= 1e9
