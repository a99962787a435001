"""COCO's files as ioukit writes them: every column comes back, and pycocotools gives the same numbers."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pycocotools import mask as pycocotools_mask
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.regions import Masks, Polygons, RotatedBoxes
from support.paths import DATA, load

if TYPE_CHECKING:
    from pathlib import Path

VAL2014 = DATA / "coco_val2014_100"
GT, DT = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
ROWS = ("ids", "image_ids", "category_ids", "boxes", "areas")

quick = settings(
    max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def assert_same_columns(one: Any, other: Any, names: tuple[str, ...]) -> None:
    for name in names:
        first, second = getattr(one, name), getattr(other, name)
        assert (first.dtype, first.tobytes()) == (second.dtype, second.tobytes()), name


def assert_same_ground_truth(one: GroundTruth, other: GroundTruth) -> None:
    assert_same_columns(one, other, ROWS)
    assert one.images.ids.tolist() == other.images.ids.tolist()
    assert one.images.sizes.tobytes() == other.images.sizes.tobytes()
    assert list(one.images.names) == list(other.images.names)
    assert (one.categories.ids.tolist(), one.categories.names) == (
        other.categories.ids.tolist(),
        other.categories.names,
    )
    assert one.crowd.tolist() == other.crowd.tolist()


def pycocotools_stats(gt: Path, dt: Path, iou_type: str) -> list[float]:
    theirs = COCO(str(gt))
    evaluation = COCOeval(theirs, theirs.loadRes(str(dt)), iou_type)
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    stats: list[float] = evaluation.stats.tolist()
    return stats


@pytest.mark.parametrize("name", ["gt.json", "gt.json.gz"])
def test_a_file_comes_back_with_the_digits_of_its_masks(name: str, tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(GT)
    assert datasets.write(gt, tmp_path / name, "coco") == ()
    back = datasets.read(tmp_path / name)
    assert_same_ground_truth(gt, back)
    assert back.segmentations is not None
    assert list(back.segmentations) == [a["segmentation"] for a in load(GT)["annotations"]]


@pytest.mark.parametrize("iou_type", ["bbox", "segm"])
def test_pycocotools_gives_the_same_twelve_numbers(iou_type: str, tmp_path: Path) -> None:
    results = DT if iou_type == "bbox" else mask_results(tmp_path)
    datasets.write(GroundTruth.from_coco(GT), tmp_path / "gt.json", "coco")
    notes = datasets.write(Detections.from_coco(results), tmp_path / "dt.json", "coco")
    assert notes == ()
    assert pycocotools_stats(tmp_path / "gt.json", tmp_path / "dt.json", iou_type) == pycocotools_stats(
        GT, results, iou_type
    )


def mask_results(folder: Path) -> Path:
    """The masks of the objects as results without boxes, with scores that tie and some of another class."""
    theirs = COCO(str(GT))
    records = []
    for row, annotation in enumerate(theirs.loadAnns(sorted(theirs.getAnnIds()))):
        rle = theirs.annToRLE(annotation)
        record = {key: annotation[key] for key in ("image_id", "category_id")}
        if row % 5 == 0:
            record["category_id"] = 1
        spelled = {"size": rle["size"], "counts": rle["counts"].decode()}
        records.append({**record, "segmentation": spelled, "score": row % 7 / 10})
    (folder / "masks.json").write_text(json.dumps(records))
    return folder / "masks.json"


def test_keypoints_come_back_and_pycocotools_reads_them(tmp_path: Path) -> None:
    points = np.array([[[1.5, 2, 2], [0, 0, 0], [7, 8, 1]], [[0, 0, 0]] * 3, [[3, 4, 2], [5, 5, 2], [9, 1, 2]]])
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 2],
        category_ids=[1, 1, 1],
        boxes=[[0, 0, 20, 20]] * 3,
        keypoints=points,
        sizes=[[40, 30]] * 2,
        images=[1, 2],
        categories={1: "person"},
        category_attributes={"skeleton": np.array([[[1, 2], [2, 3], [0, 0]]])},
    )
    assert datasets.write(gt, tmp_path / "gt.json", "coco") == ()
    back = datasets.read(tmp_path / "gt.json")
    assert back.flag("without_keypoints").tolist() == gt.flag("without_keypoints").tolist() == [False, True, False]
    assert [record["num_keypoints"] for record in load(tmp_path / "gt.json")["annotations"]] == [2, 0, 3]
    assert back.regions["keypoints"][2] == points[2].reshape(-1).tolist()
    assert back.categories.attributes["skeleton"].tolist() == [[[1, 2], [2, 3]]]
    dt = Detections.from_arrays(
        image_ids=[1, 2], category_ids=[1, 1], scores=[0.5, 0.25], boxes=[[0, 0, 20, 20]] * 2, keypoints=points[[0, 2]]
    )
    assert datasets.write(dt, tmp_path / "dt.json", "coco") == ()
    assert len(COCO(str(tmp_path / "gt.json")).loadRes(str(tmp_path / "dt.json")).anns) == 2


def test_shapes_become_segmentations(tmp_path: Path) -> None:
    masks = Masks.from_boxes(ioukit.Boxes([[0, 0, 4, 4], [2, 2, 9, 5]]), height=10, width=12)
    rotated = RotatedBoxes([[5.0, 5.0, 4.0, 2.0, 0.3], [6.0, 4.0, 2.0, 2.0, 0.0]], unit="radians", sense="clockwise")
    polygons = Polygons([[[0, 0], [4, 0], [4, 3]], [[1, 1], [6, 1], [6, 5], [1, 5]]])
    for regions in (masks, polygons, rotated):
        gt = GroundTruth.from_arrays(
            image_ids=[1, 1], category_ids=[1, 1], regions=regions, images=[1], sizes=[[12, 10]]
        )
        notes = datasets.write(gt, tmp_path / "gt.json", "coco")
        assert notes == (f"{type(regions).__name__} of 2 rows: they are segmentations",)
        theirs = COCO(str(tmp_path / "gt.json"))
        written = [theirs.annToRLE(annotation) for annotation in theirs.loadAnns(theirs.getAnnIds())]
        if regions is masks:
            assert [pycocotools_mask.toBbox(record).tolist() for record in written] == gt.boxes.tolist()
            assert [int(pycocotools_mask.area(record)) for record in written] == gt.areas.tolist()
        else:
            assert all(int(pycocotools_mask.area(record)) > 0 for record in written)


def test_strings_become_numbers_and_file_names(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(image_ids=["b", "a"], category_ids=[3, 4], boxes=[[0, 0, 1, 2], [3, 4, 5, 6]])
    notes = datasets.write(gt, tmp_path / "gt.json", "coco")
    assert notes == ("ids of 2 images as text: the images are numbered from 1, and file_name has their names",)
    back = datasets.read(tmp_path / "gt.json")
    assert (list(back.images.names), back.images.ids.tolist(), back.image_ids.tolist()) == (["a", "b"], [1, 2], [2, 1])
    dt = Detections.from_arrays(image_ids=["b"], category_ids=[3], scores=[0.5], boxes=[[0, 0, 1, 2]])
    with pytest.raises(ioukit.DatasetError, match="ground_truth="):
        datasets.write(dt, tmp_path / "dt.json", "coco")
    assert not (tmp_path / "dt.json").exists()
    datasets.write(dt, tmp_path / "dt.json", "coco", ground_truth=gt)
    assert load(tmp_path / "dt.json") == [{"image_id": 2, "category_id": 3, "bbox": [0, 0, 1, 2], "score": 0.5}]
    named = GroundTruth.from_arrays(
        image_ids=["x"], category_ids=[1], boxes=[[0, 0, 1, 1]], images=["x"], names=["photo.jpg"]
    )
    assert "ids of 1 images that differ from the names of their files" in datasets.write(
        named, tmp_path / "named.json", "coco"
    )


finite = st.floats(min_value=-(2.0**53), max_value=2.0**53, allow_nan=False)
sides = st.floats(min_value=0, max_value=2.0**53)
names = st.text(max_size=6)


@quick
@given(data=st.data())
def test_every_row_comes_back_with_its_bits(data: st.DataObject, tmp_path: Path) -> None:
    images = data.draw(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1, max_size=3, unique=True))
    classes = data.draw(st.lists(st.integers(-5, 2**40), min_size=1, max_size=3, unique=True))
    count = data.draw(st.integers(0, 5))

    def rows(values: st.SearchStrategy[Any]) -> list[Any]:
        return data.draw(st.lists(values, min_size=count, max_size=count))

    gt = GroundTruth.from_arrays(
        ids=data.draw(st.lists(st.integers(-9, 2**50), min_size=count, max_size=count, unique=True)),
        image_ids=rows(st.sampled_from(images)),
        category_ids=rows(st.sampled_from(classes)),
        boxes=np.array(rows(st.tuples(finite, finite, sides, sides)), np.float64).reshape(-1, 4),
        areas=rows(st.floats(min_value=0, allow_infinity=False)),
        crowd=rows(st.booleans()),
        images=images,
        sizes=[data.draw(st.tuples(sides, sides) | st.just((np.nan, np.nan))) for _ in images],
        names=[data.draw(names) for _ in images],
        categories={number: data.draw(names) for number in classes},
        segmentations=rows(st.sampled_from([None, [[0.5, 1, 4, 1, 4, 1e-7]], {"size": [2, 2], "counts": "04"}])),
    )
    for name in ("gt.json", "gt.json.gz"):
        datasets.write(gt, tmp_path / name, "coco")
        back = GroundTruth.from_coco(tmp_path / name)
        assert_same_ground_truth(gt, back)
        assert [None] * count == [a for a in back.segmentations or [None] * count if a is None] or list(
            back.segmentations or []
        ) == list(gt.segmentations or [])
    dt = Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=gt.category_ids, boxes=gt.boxes, scores=rows(finite)
    )
    for name in ("dt.json", "dt.jsonl", "dt.ndjson.gz"):
        assert datasets.write(dt, tmp_path / name, "coco") == ()
        found = Detections.from_coco(tmp_path / name)
        assert_same_columns(dt, found, ("image_ids", "category_ids", "boxes", "scores"))


def test_results_of_masks_keep_their_areas(tmp_path: Path) -> None:
    masks = Masks.from_boxes(ioukit.Boxes([[0, 0, 4, 4], [2, 2, 9, 5]]), height=10, width=12)
    records = [{"image_id": 1, "category_id": 1, "score": 0.5, "segmentation": record} for record in masks.to_rle()]
    dt = Detections.from_coco(records)
    assert datasets.write(dt, tmp_path / "dt.json", "coco") == ()
    assert load(tmp_path / "dt.json") == records
    back = Detections.from_coco(tmp_path / "dt.json")
    assert back.areas is not None
    assert dt.areas is not None
    assert back.areas.tolist() == dt.areas.tolist() == [16, 21]


def test_lines_have_no_line_breaks_inside(tmp_path: Path) -> None:
    records = [
        {"image_id": 1, "category_id": 1, "bbox": [0, 0, 2, 2], "score": 1.5, "segmentation": [[0, 0, 2, 0, 2, 2]]}
    ]
    (tmp_path / "in.json").write_text(json.dumps(records, indent=2))
    datasets.write(Detections.from_coco(tmp_path / "in.json"), tmp_path / "out.jsonl", "coco")
    assert list(map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())) == records


def test_equal_data_gives_equal_packed_files(tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(GT)
    for name in ("a.json.gz", "b.json.gz"):
        datasets.write(gt, tmp_path / name, "coco")
    assert (tmp_path / "a.json.gz").read_bytes() == (tmp_path / "b.json.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.json.gz").read_bytes()).startswith(b'{"images":[')


def test_ground_truth_per_line_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(ioukit.DatasetError, match=r"gt\.jsonl: .*one object"):
        datasets.write(GroundTruth.from_coco(GT), tmp_path / "gt.jsonl", "coco")
    assert list(tmp_path.iterdir()) == []


def test_a_file_can_be_written_over_itself(tmp_path: Path) -> None:
    path = tmp_path / "gt.json"
    path.write_bytes(GT.read_bytes())
    gt = GroundTruth.from_coco(path)
    datasets.write(gt, path, "coco")
    back = GroundTruth.from_coco(path)
    assert_same_ground_truth(GroundTruth.from_coco(GT), back)
    assert back.segmentations is not None
    assert list(back.segmentations) == [a["segmentation"] for a in load(GT)["annotations"]]


LVIS: dict[str, Any] = {
    "images": [
        {
            "id": 1,
            "width": 8,
            "height": 8,
            "file_name": "a.jpg",
            "neg_category_ids": [2],
            "not_exhaustive_category_ids": [],
        },
        {
            "id": 2,
            "width": 8,
            "height": 8,
            "file_name": "b.jpg",
            "neg_category_ids": [],
            "not_exhaustive_category_ids": [1, 2],
        },
    ],
    "categories": [{"id": 1, "name": "cat", "frequency": "f"}, {"id": 2, "name": "dog", "frequency": "r"}],
    "annotations": [
        {"id": 1, "image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4], "area": 16, "ignore": 1},
        {"id": 2, "image_id": 2, "category_id": 1, "bbox": [0, 0, 4, 5], "area": 20},
    ],
}


@pytest.mark.parametrize("source", [DATA / "lvis_10" / "gt.json", LVIS], ids=["file", "records"])
def test_lvis_comes_back(source: Any, tmp_path: Path) -> None:
    gt = datasets.read_lvis(source)
    notes = datasets.write(gt, tmp_path / "gt.json", "lvis")
    assert notes == ()
    back = datasets.read(tmp_path / "gt.json")
    assert_same_ground_truth(gt, back)
    for name in ("neg_category_ids", "not_exhaustive_category_ids"):
        assert back.images.attributes[name].tolist() == gt.images.attributes[name].tolist()
    assert back.categories.attributes["frequency"].tolist() == gt.categories.attributes["frequency"].tolist()
    assert back.flag("ignore").tolist() == gt.flag("ignore").tolist()


def test_lvis_gets_frequencies_and_lists_where_there_are_none(tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(GT)
    notes = datasets.write(gt, tmp_path / "gt.json", "lvis")
    assert [note for note in notes if "crowd" in note] == [
        f"flag crowd of {int(gt.crowd.sum())} objects: LVIS has no crowds, and they are ignored"
    ]
    document = load(tmp_path / "gt.json")
    for category in document["categories"]:
        images = {a["image_id"] for a in document["annotations"] if a["category_id"] == category["id"]}
        assert category["image_count"] == len(images)
        assert category["frequency"] == ("r" if len(images) <= 10 else "c" if len(images) <= 100 else "f")
    back = datasets.read(tmp_path / "gt.json")
    assert back.images.attributes["neg_category_ids"].tolist() == [[]] * 100
    assert back.flag("ignore").tolist() == gt.crowd.tolist()
