"""`inspect`: every number equals that of plain Python, for any data set."""

from __future__ import annotations

import copy
import json
import math
import pickle
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inspection.plain_inspection import iou, plain_inspection
from ioukit import GroundTruth, Inspection, inspect
from ioukit.datasets import read
from ioukit.inspection import neighbours
from ioukit.inspection.inspection import CELLS
from ioukit.regions import Boxes3D, Masks, Polygons, RotatedBoxes
from support.paths import EXAMPLES

if TYPE_CHECKING:
    from pathlib import Path

COCO_100 = EXAMPLES / "coco_val2017_100" / "ground_truth.json"


@st.composite
def data_sets(draw: st.DrawFn) -> GroundTruth:
    """Ground truth with images without objects, boxes without an area or beyond the image, and crowds."""
    images, classes = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    number = st.integers(-8, 40).map(lambda k: k * 0.5)
    side = st.integers(0, 30).map(lambda k: k * 0.5) | st.sampled_from([32.0, 96.0, 250.0])
    row = st.tuples(
        st.integers(0, images - 1), st.integers(0, classes - 1), st.tuples(number, number, side, side),
        st.booleans(), st.booleans() | st.just(False),
    )  # fmt: skip
    rows = draw(st.lists(row, max_size=12))
    size = st.sampled_from([(20, 20), (30, 10), (math.nan, math.nan)])
    sizes = draw(st.lists(size, min_size=images, max_size=images))
    boxes = np.array([one[2] for one in rows], np.float64).reshape(-1, 4)
    areas = boxes[:, 2] * boxes[:, 3] * draw(st.sampled_from([1.0, 0.5]))
    return GroundTruth.from_arrays(
        image_ids=np.array([10 + one[0] for one in rows], np.int64),
        category_ids=np.array([5 * one[1] for one in rows], np.int64),
        boxes=boxes,
        areas=areas,
        images=np.arange(10, 10 + images),
        sizes=np.array(sizes, np.float64),
        categories={5 * k: f"class {k}" for k in range(classes)},
        flags={"crowd": [one[4] for one in rows], "difficult": [one[3] for one in rows]},
    )


def nan(values: list[float | None]) -> list[float]:
    return [math.nan if value is None else value for value in values]


def check(found: Inspection, gt: GroundTruth) -> None:
    expected = plain_inspection(gt, CELLS)
    objects = expected["objects"]
    for name, column in (
        ("side", found.sides), ("ratio", found.aspect_ratios), ("share", found.image_shares), ("any", found.overlaps),
        ("same", found.overlaps_of_class),
    ):  # fmt: skip
        np.testing.assert_allclose(column, nan([one[name] for one in objects]), rtol=1e-12, err_msg=name)
    assert found.positions.tolist() == expected["positions"]
    assert found.outside == expected["outside"]
    assert found.objects_per_image.tolist() == expected["per_image"]
    assert found.objects_per_class.tolist() == expected["per_class"]
    assert found.images_per_class.tolist() == expected["images_per_class"]
    sizes = [one["size"] for one in objects]
    assert found.num_by_size == {name: sizes.count(name) for name in ("small", "medium", "large")}
    ids = gt.categories.ids
    pairs = {tuple(sorted((int(ids[a]), int(ids[b])))): count for a, b, count in found.pairs_of_classes()}
    assert pairs == expected["together"]
    assert found.num_by_flag == {name: int(flag.sum()) for name, flag in gt.flags.items()}
    for place, number in enumerate(ids.tolist()):
        of_class = [one["side"] for one in objects if one["class"] == number]
        middle = np.median(of_class) if of_class else math.nan
        np.testing.assert_allclose(found.median_sides[place], middle)


@given(gt=data_sets())
def test_every_number_is_that_of_plain_python(gt: GroundTruth) -> None:
    found = inspect(gt)
    check(found, gt)
    numbers = found.to_dict()
    assert json.loads(found.to_json()) == numbers
    assert (numbers["images"], numbers["objects"]) == (len(gt.images), len(gt))
    assert [one["count"] for one in numbers["classes"]] == found.objects_per_class.tolist()
    assert sum(numbers["sizes"].values()) == len(gt)
    assert found.table().startswith("images ")
    assert "<table>" in found._repr_html_()


@given(gt=data_sets(), most=st.integers(1, 30))
def test_joins_in_blocks_find_the_same(gt: GroundTruth, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "MOST_PAIRS", most)
        check(inspect(gt), gt)


@given(counts=st.lists(st.integers(1, 9), max_size=12), most=st.integers(1, 60))
def test_blocks_have_every_object_once_and_few_pairs(counts: list[int], most: int) -> None:
    images = np.repeat(np.arange(len(counts)), counts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours, "MOST_PAIRS", most)
        blocks = list(neighbours._blocks(images))
    assert [row for rows, _ in blocks for row in range(rows.start, rows.stop)] == list(range(len(images)))
    for rows, others in blocks:
        mine = set(images[rows].tolist())
        assert np.flatnonzero(np.isin(images, list(mine))).tolist() == list(range(others.start, others.stop))
        pairs = sum(int((images[others] == image).sum()) for image in images[rows].tolist())
        assert pairs <= max(most, others.stop - others.start)


def test_a_hundred_images_of_coco() -> None:
    found = inspect(COCO_100)
    gt = read(COCO_100)
    check(found, gt)
    assert repr(found) == "Inspection(coco: 100 images, 745 objects, 80 classes)"
    assert found.to_dict()["format"] == "coco"
    numbers = found.to_dict()["aspect_ratios"]
    ratios = gt.boxes[:, 2] / gt.boxes[:, 3]
    assert (numbers["median"], numbers["p95"]) == (float(np.median(ratios)), float(np.quantile(ratios, 0.95)))
    assert inspect(gt).format == ""
    assert inspect(gt, format="coco", threads=1).to_dict() == found.to_dict()


def test_only_the_classes_on_the_most_images_are_compared() -> None:
    images, classes = np.divmod(np.arange(150 * 151), 151)
    kept = classes <= images
    gt = GroundTruth.from_arrays(
        image_ids=images[kept], category_ids=classes[kept], boxes=np.tile([0.0, 0, 1, 1], (int(kept.sum()), 1))
    )
    found = inspect(gt)
    assert found.together_classes.tolist() == list(range(100))
    expected = [[150 - max(a, b) for b in range(100)] for a in range(100)]
    assert found.together_images.tolist() == expected


def test_rotated_boxes_overlap_as_such() -> None:
    boxes = RotatedBoxes(
        [[5, 5, 8, 2, 0], [5, 5, 8, 2, 90], [20, 5, 8, 2, 30], [5, 5, 8, 2, 10]], unit="degrees", sense="clockwise"
    )
    gt = GroundTruth.from_arrays(image_ids=[1, 1, 1, 2], category_ids=[1, 2, 1, 1], regions=boxes)
    found = inspect(gt)
    assert found.overlap_of == "RotatedBoxes"
    np.testing.assert_allclose(found.overlaps, [4 / 28, 4 / 28, 0, 0])
    assert found.overlaps_of_class.tolist() == [0, 0, 0, 0]
    (values,) = found.regions
    assert values.title == "rotated boxes"
    assert values.present.all()
    np.testing.assert_allclose(values.values["angle"], [0, 0, 30, 10], atol=1e-9)
    np.testing.assert_allclose(values.values["box_share"][:2], [1, 1])
    assert "rotated boxes" in found.table()


def test_polygons_without_points_have_no_neighbour() -> None:
    square, triangle = [[0, 0], [4, 0], [4, 4], [0, 4]], [[0, 0], [4, 0], [0, 4]]
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 1],
        category_ids=[1, 1, 1],
        boxes=[[0, 0, 4, 4]] * 3,
        regions=Polygons([square, [], triangle]),
    )
    found = inspect(gt)
    assert found.overlap_of == "Polygons"
    np.testing.assert_allclose(found.overlaps, [0.5, 0, 0.5])
    (values,) = found.regions
    assert values.present.tolist() == [True, False, True]
    np.testing.assert_allclose(values.values["box_share"], [1, np.nan, 0.5])


def test_masks_keypoints_and_boxes_in_space() -> None:
    pixels = np.zeros((3, 4, 6), bool)
    pixels[0, :2, :3] = True
    pixels[1, 0, 0] = pixels[1, 1, 1] = True
    points = np.zeros((3, 4, 3))
    points[0, :, 2] = [2, 1, 0, 2]
    points[2, :, 2] = [0, 0, 0, 1]
    space = Boxes3D([[0, 0, 0, 4, 2, 1.5, 0.3]] * 3, z="centre", unit="radians", sense="clockwise")
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 2], category_ids=[1, 1, 1], boxes=[[0, 0, 4, 4]] * 3, keypoints=points,
        regions=[Masks.from_arrays(pixels), space],
    )  # fmt: skip
    found = inspect(gt)
    kinds = {values.column: values for values in found.regions}
    assert found.overlap_of == "boxes"
    assert kinds["Masks"].present.tolist() == [True, True, False]
    np.testing.assert_array_equal(kinds["Masks"].values["box_share"], [1, 0.5, np.nan])
    assert kinds["keypoints"].present.tolist() == [True, False, True]
    np.testing.assert_array_equal(kinds["keypoints"].values["labelled"], [3, np.nan, 1])
    np.testing.assert_array_equal(kinds["keypoints"].values["visible"], [2, np.nan, 0])
    assert kinds["Boxes3D"].values["length"].tolist() == [4, 4, 4]
    assert [one["title"] for one in found.to_dict()["regions"]] == ["masks", "3-D boxes", "keypoints"]


def coco(*annotations: dict[str, Any]) -> dict[str, Any]:
    rows = [
        {"id": k, "image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 4], "area": 16, "iscrowd": 0, **annotation}
        for k, annotation in enumerate(annotations, 1)
    ]
    image = {"id": 1, "width": 10, "height": 10, "file_name": "a.png"}
    return {"images": [image], "categories": [{"id": 1, "name": "a"}], "annotations": rows}


@pytest.mark.parametrize("as_file", [False, True])
def test_masks_of_some_objects(tmp_path: Path, *, as_file: bool) -> None:
    source: Any = coco({"segmentation": [[1, 1, 5, 1, 5, 5, 1, 5]]}, {}, {"segmentation": [[1, 1, 5, 1, 1, 5]]})
    if as_file:
        (tmp_path / "gt.json").write_text(json.dumps(source))
        source = tmp_path / "gt.json"
    (values,) = inspect(GroundTruth.from_coco(source)).regions
    assert values.present.tolist() == [True, False, True]
    assert values.values["box_share"][0] == 1
    assert 0.3 < values.values["box_share"][2] < 0.8


def test_masks_without_area_are_none() -> None:
    found = inspect(GroundTruth.from_coco(coco({"segmentation": []}, {})))
    assert (found.regions, found.notes) == ((), ())


def test_masks_that_cannot_be_read_are_a_note() -> None:
    found = inspect(GroundTruth.from_coco(coco({"segmentation": {"size": [10, 10], "counts": "?"}})))
    assert found.regions == ()
    assert found.notes[0].startswith("masks are left out: ")
    assert "segmentation" in found.notes[0]


def test_neither_objects_nor_images() -> None:
    nothing = GroundTruth.from_coco({"images": [], "categories": [], "annotations": []})
    numbers = inspect(nothing).to_dict()
    assert (numbers["images"], numbers["objects"], numbers["classes"]) == (0, 0, [])
    assert numbers["sides"]["median"] is None
    assert numbers["overlaps"]["same_class"]["count"] == 0


def test_copies_are_read_only() -> None:
    found = inspect(COCO_100)
    assert found.size_names.sum() > 0
    for other in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert other.to_dict() == found.to_dict()
        with pytest.raises(ValueError, match="read-only"):
            other.overlaps[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            other.together_images[0] = 1


def test_wrong_arguments() -> None:
    with pytest.raises(TypeError, match=r"expected GroundTruth or the path of a data set, got list"):
        inspect([1])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"on_invalid: options of reading need a path"):
        inspect(read(COCO_100), on_invalid="drop")
    with pytest.raises(FileNotFoundError):
        inspect("nowhere.json")


def test_the_oracle_knows_a_quarter() -> None:
    assert iou([0, 0, 2, 2], [0, 0, 1, 1]) == 0.25
