"""What the files of a format do not hold."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from hypothesis import given

from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.formats.left_out import Holds, left_out_columns
from ioukit.regions import RotatedBoxes
from support.data_sets import ALL_COLUMNS, ground_truths

ALL = dataclasses.replace(ALL_COLUMNS, image_ids=True, ids=True, areas=True)


def everything() -> GroundTruth:
    return GroundTruth.from_arrays(
        image_ids=[3, 3, 4],
        category_ids=[2, 2, 2],
        boxes=[[0, 0, 2, 2], [1, 1, 2, 2], [0, 0, 4, 4]],
        areas=[4, 3, 16],
        ids=[1, 2, 9],
        images=[3, 4, 5],
        sizes=np.array([[10, 10], [10, 10], [np.nan, np.nan]]),
        names=["a.jpg", "b.jpg", "c.jpg"],
        categories={2: "cat", 7: "dog"},
        flags={"crowd": [1, 0, 0], "difficult": [0, 0, 0]},
        segmentations=[[[0, 0, 2, 0, 2, 2]], None, None],
        keypoints=np.zeros((3, 2, 3)),
        attributes={"track_id": [1, 2, 3]},
        image_attributes={"date": ["x", "y", "z"]},
        category_attributes={"frequency": ["r", "c"]},
    )


NOTES: dict[str, dict[str, Any]] = {
    "segmentations of 1 object": {"regions": frozenset({"keypoints"})},
    "keypoints of 3 objects": {"regions": frozenset({"segmentations"})},
    "attribute track_id of 3 objects": {"attributes": frozenset({"other"})},
    "areas of 1 object that are not those of the boxes": {"areas": False},
    "flag crowd of 1 object": {"flags": frozenset({"difficult"})},
    "attribute date of the images": {"image_attributes": frozenset()},
    "attribute frequency of the classes": {"category_attributes": frozenset()},
    "1 images without objects": {"empty_images": False},
    "sizes of 2 images": {"image_sizes": False},
    "ids of 3 images: their names remain": {"image_ids": False},
    "1 classes without objects": {"unused_categories": False},
    "ids of 2 classes: their names remain": {"category_ids": False},
    "ids of 3 objects": {"ids": False},
}


def test_each_loss_has_a_note() -> None:
    gt = everything()
    assert left_out_columns(gt, ALL) == []
    for note, changes in NOTES.items():
        assert left_out_columns(gt, dataclasses.replace(ALL, **changes)) == [note]
    nothing = Holds(image_sizes=False, empty_images=False)
    assert sorted(left_out_columns(gt, nothing)) == sorted(NOTES)


def test_areas_may_be_those_of_regions() -> None:
    gt = everything()
    holds = dataclasses.replace(ALL, areas=False, areas_of_regions=True)
    assert left_out_columns(gt, holds) == ["areas of 2 objects that are not those of the regions"]
    fitting = dataclasses.replace(gt, areas=np.array([2.0, 4.0, 16.0]))
    assert left_out_columns(fitting, holds) == []
    assert left_out_columns(fitting, dataclasses.replace(holds, regions=frozenset())) == [
        "segmentations of 1 object",
        "keypoints of 3 objects",
        "areas of 1 object that are not those of the regions",
    ]


def test_areas_of_rotated_boxes_may_differ_by_roundings() -> None:
    boxes = RotatedBoxes([[5, 5, 4, 2, 0.1], [5, 5, 4, 2, 0.2], [5, 5, 3, 1, 0.3]], unit="radians", sense="clockwise")
    for scale, notes in (
        (1 + 1e-10, []),
        (1 + 1e-8, ["areas of 3 objects that are not those of the regions"]),
    ):
        columns: dict[str, Any] = {"image_ids": ["a"] * 3, "category_ids": [1] * 3, "areas": boxes.area * scale}
        gt = GroundTruth.from_arrays(**columns, regions=boxes)
        assert left_out_columns(gt, dataclasses.replace(ALL, areas=False, areas_of_regions=True)) == notes
    upright: dict[str, Any] = {"image_ids": ["a"], "category_ids": [1], "boxes": [[0, 0, 2, 3]]}
    for area, count in ((6, 0), (6 * (1 + 1e-10), 1), (9, 1), (4, 1)):
        gt = GroundTruth.from_arrays(**upright, areas=[area])
        assert len(left_out_columns(gt, dataclasses.replace(ALL, areas=False))) == count
        assert len(left_out_columns(gt, dataclasses.replace(ALL, areas=False, areas_of_regions=True))) == (
            area in (4, 9)
        )
    tiny: dict[str, Any] = {"image_ids": ["a"], "category_ids": [1], "boxes": [[0, 0, 1e-5, 1e-5]]}
    assert (
        len(left_out_columns(GroundTruth.from_arrays(**tiny, areas=[2e-10]), dataclasses.replace(ALL, areas=False)))
        == 1
    )


def test_columns_without_values_are_no_loss() -> None:
    gt = GroundTruth.from_arrays(image_ids=[], category_ids=[], boxes=[], categories={1: "a"}, flags={"crowd": []})
    assert left_out_columns(gt, Holds(unused_categories=True, category_ids=True)) == []
    names = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]], segmentations=[None])
    assert left_out_columns(names, Holds(category_ids=True)) == []


def test_losses_of_detections() -> None:
    columns: dict[str, Any] = {"image_ids": [1, 1], "category_ids": [1, 1], "boxes": [[0, 0, 1, 1]] * 2}
    dt = Detections.from_arrays(**columns, scores=[1, 0], areas=[1, 2], attributes={"alpha": [1, 2]})
    assert left_out_columns(dt, Holds()) == [
        "attribute alpha of 2 detections",
        "areas of 1 detection that are not those of the boxes",
    ]
    assert left_out_columns(Detections.from_arrays(**columns, scores=[1, 0]), Holds()) == []


@given(ground_truths(flags=("crowd",), polygons=True, keypoints=2, sizes=None))
def test_a_format_that_holds_all_loses_nothing(gt: GroundTruth) -> None:
    assert left_out_columns(gt, ALL) == []
    assert len(set(left_out_columns(gt, Holds(image_sizes=False)))) == len(
        left_out_columns(gt, Holds(image_sizes=False))
    )
