"""Scalabel's and BDD100K's JSON: what labels become, what is refused, and what comes back after writing."""

from __future__ import annotations

import dataclasses
import json
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ioukit import DatasetError, Detections, GroundTruth
from ioukit.datasets import find_format, read, read_detections, write
from ioukit.datasets.formats.scalabel import _HOLDS
from ioukit.regions import Masks
from support.data_sets import FREE, HALVES, assert_came_back, assert_detections_came_back, detections_of, ground_truths
from support.malformed import assert_links_out_are_refused, read_damaged

TEXTS = st.sampled_from(["a", "", "Ärger\n", "a,b", "<b>", "犬"])
BOX = {"x1": 1, "y1": 2, "x2": 4.5, "y2": 6}
TRIANGLE = {"vertices": [[1, 1], [5, 1], [5, 4]], "types": "LLL", "closed": True}


def label(**changes: Any) -> dict[str, Any]:
    made = {"id": "7", "category": "car", "box2d": BOX, **changes}
    return {name: value for name, value in made.items() if value is not ...}


def frame(*labels: Any, **changes: Any) -> dict[str, Any]:
    return {"name": "a.jpg", "labels": list(labels), **changes}


def read_document(folder: Path, document: Any, **options: Any) -> GroundTruth:
    (folder / "a.json").write_text(json.dumps(document))
    assert find_format(folder / "a.json").name == "scalabel"
    return read(folder / "a.json", **options)


def test_labels_of_scalabel_become_columns(tmp_path: Path) -> None:
    rle = Masks.from_arrays(np.pad(np.ones((1, 2, 3), bool), ((0, 0), (4, 0), (5, 0)))).to_rle()[0]
    config = {
        "imageSize": {"width": 1280, "height": 720},
        "categories": [{"name": "truck"}, {"name": "traffic", "subcategories": [{"name": "light"}, {"name": "car"}]}],
    }
    attributes = {"occluded": True, "weather": "wet", "lanes": 2, "colours": ["red"], "nothing": None}
    labels = [
        label(attributes=attributes, poly2d=[TRIANGLE]),
        label(
            id="9", category="light", box2d=..., poly2d=[TRIANGLE, {**TRIANGLE, "vertices": [[8, 8], [9, 8], [9, 9]]}]
        ),
        label(id="11", category="truck", box2d=..., rle=rle, attributes={"ignored": True}),
        label(id="12", box2d=..., box3d={}),
        label(id="13", box2d=..., poly2d=[{**TRIANGLE, "closed": False}]),
        label(id="14", category=None),
    ]
    frames = [frame(*labels), frame(name="b.jpg", size={"width": 10, "height": 20}), {"name": "c.jpg", "labels": None}]
    gt = read_document(tmp_path, {"frames": frames, "groups": [], "config": config})
    assert gt.images.labels.tolist() == ["a.jpg", "b.jpg", "c.jpg"]
    assert gt.images.sizes.tolist() == [[1280, 720], [10, 20], [1280, 720]]
    assert gt.boxes.tolist() == [[1, 2, 3.5, 4], [1, 1, 8, 8], [5, 4, 3, 2]]
    assert gt.areas.tolist() == [6, 6.5, 6]
    assert list(gt.segmentations or ()) == [[[1, 1, 5, 1, 5, 4]], [[1, 1, 5, 1, 5, 4], [8, 8, 9, 8, 9, 9]], rle]
    assert dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True)) == {1: "truck", 2: "light", 3: "car"}
    assert gt.category_ids.tolist() == [3, 2, 1]
    assert gt.ids.tolist() == [7, 9, 11]
    assert gt.flag("occluded").tolist() == [True, False, False]
    assert gt.crowd.tolist() == [False, False, True]
    assert gt.attributes["weather"].tolist() == ["wet", "", ""]
    assert gt.attributes["lanes"].tolist()[0] == 2
    assert sorted(note.rpartition(": left out ")[2] for note in gt.notes) == [
        "1 x attribute that is a list or an object",
        "1 x label with only box3d",
        "1 x label without a category",
        "1 x poly2d that is not closed",
    ]


def test_labels_of_bdd100k_are_a_list_of_frames(tmp_path: Path) -> None:
    lane = {"vertices": [[1, 1], [5, 1]], "types": "LL", "closed": False}
    labels = [
        label(id=0, manualShape=True, attributes={"occluded": False, "trafficLightColor": "none"}),
        label(id=1, category="lane", box2d=..., poly2d=[lane]),
    ]
    gt = read_document(
        tmp_path, [{"name": "a.jpg", "attributes": {"weather": "clear"}, "timestamp": 10000, "labels": labels}]
    )
    assert gt.boxes.tolist() == [[1, 2, 3.5, 4]]
    assert gt.attributes["label_id"].tolist() == ["0"]
    assert gt.categories.names == ("car",)


def test_the_oldest_layout_has_a_file_per_image(tmp_path: Path) -> None:
    for name, category in (("a", "area/drivable"), ("b", "lane/road curb")):
        path = [[0, 0, "L"], [4, 0, "L"], [4, 4, "L"]]
        objects = [label(id=3), label(id=4, category=category, box2d=..., poly2d=path)]
        document = {"name": name, "attributes": {}, "frames": [{"timestamp": 10000, "objects": objects}]}
        (tmp_path / f"{name}.json").write_text(json.dumps(document))
    assert find_format(tmp_path).name == "scalabel"
    gt = read(tmp_path)
    assert gt.image_labels().tolist() == ["a", "a", "b"]
    assert gt.boxes.tolist() == [[1, 2, 3.5, 4], [0, 0, 4, 4], [1, 2, 3.5, 4]]
    assert gt.categories.names == ("area/drivable", "car")
    assert gt.attributes["label_id"].tolist() == ["3", "4", "3"]


@pytest.mark.parametrize("types", ["LCCL", "LCCC", "CCCL"])
def test_curves_become_lines(types: str, tmp_path: Path) -> None:
    """The curve is the cubic one of matplotlib's CURVE4, which Scalabel draws with."""
    vertices = [[0, 0], [0, 4], [6, 4], [6, 0]]
    if types == "CCCL":  # the first vertex is the beginning, whatever its type
        types = "CCCLL"
        vertices = [*vertices, [3, -3]]
    path = {"vertices": vertices, "types": types, "closed": True}
    gt = read_document(tmp_path, [frame(label(box2d=..., poly2d=[path]))])
    points = np.reshape((gt.segmentations or [])[0][0], (-1, 2))
    t = np.linspace(0, 1, 17)[:, None]
    expected = (1 - t) ** 3 * [0, 0] + 3 * t * (1 - t) ** 2 * [0, 4] + 3 * t**2 * (1 - t) * [6, 4] + t**3 * [6, 0]
    np.testing.assert_allclose(points[:17], expected, atol=1e-12)
    assert len(points) == 17 + (len(vertices) == 5)


def test_corners_may_be_inclusive(tmp_path: Path) -> None:
    """As scalabel.label.transforms.box2d_to_bbox computes: x2 - x1 + 1."""
    document = [frame(label())]
    assert read_document(tmp_path, document, corners="inclusive").boxes.tolist() == [[1, 2, 4.5, 5]]
    gt = read_document(tmp_path, document)
    write(gt, tmp_path / "b.json", "scalabel", corners="inclusive")
    written = json.loads((tmp_path / "b.json").read_text())["frames"][0]["labels"][0]["box2d"]
    assert written == {"x1": 1, "y1": 2, "x2": 3.5, "y2": 5}
    assert read(tmp_path / "b.json", corners="inclusive").boxes.tolist() == gt.boxes.tolist()
    with pytest.raises(ValueError, match="corners"):
        read_document(tmp_path, document, corners="outer")


def test_names_of_frames_may_repeat_between_videos(tmp_path: Path) -> None:
    frames = [frame(label(), videoName=video, name=name) for video, name in (("x", "1"), ("y", "1"), ("y", "2"))]
    gt = read_document(tmp_path, {"frames": frames})
    assert gt.images.labels.tolist() == ["2", "x/1", "y/1"]
    assert gt.attributes["label_id"].tolist() == ["7"] * 3
    found = [{**one, "labels": [label(score=at / 4)]} for at, one in enumerate(frames)]
    (tmp_path / "b.json").write_text(json.dumps(found))
    dt = read_detections(tmp_path / "b.json", ground_truth=gt)
    assert dict(zip(dt.image_labels().tolist(), dt.scores.tolist(), strict=True)) == {"x/1": 0, "y/1": 0.25, "2": 0.5}
    with pytest.raises(DatasetError, match=r"frames\[1\]: expected an image that differs from those before"):
        read_document(tmp_path, [frame(), frame()])


def test_detections_need_scores_and_known_classes(tmp_path: Path) -> None:
    gt = read_document(tmp_path, [frame(label())])
    for changed, says in (
        (label(), r"frames\[0\]\.labels\[0\]\.score: expected a number, found nothing"),
        (label(score=1, category="emu"), r"category: expected one of the 1 classes, found 'emu'"),
    ):
        (tmp_path / "b.json").write_text(json.dumps([frame(changed, label(score=0.5))]))
        with pytest.raises(DatasetError, match=says):
            read_detections(tmp_path / "b.json", ground_truth=gt)
        assert read_detections(tmp_path / "b.json", ground_truth=gt, on_invalid="drop").scores.tolist() == [0.5]


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        (
            label(box2d={**BOX, "x2": 0}),
            r"a\.json: frames\[0\]\.labels\[0\]\.box2d: expected x2 and y2 of at least x1 and",
        ),
        (label(box2d={"x1": 1}), r"box2d\[1\] \(y1\): expected a number, found nothing"),
        (label(box2d=[1, 2, 3, 4]), r"box2d: expected \[x1, y1, x2, y2\], found nothing"),
        (label(box2d=...), r"labels\[0\]: expected box2d, poly2d or rle, found none of them"),
        (label(category=5), r"category: expected text, found 5"),
        (label(attributes=[1]), r"attributes: expected an object, found \[1\]"),
        (label(poly2d={}), r"poly2d: expected a list, found \{\}"),
        (label(poly2d=[{"closed": True}]), r"poly2d\[0\]\.vertices: expected a list, found nothing"),
        (label(poly2d=[{**TRIANGLE, "types": "LL"}]), r"types: expected 3 letters L and C, one per vertex, found 'LL'"),
        (label(poly2d=[{**TRIANGLE, "types": "LCL"}]), r"types: expected C in pairs, the inner points of a curve"),
        (label(poly2d=[{**TRIANGLE, "vertices": [[1, 1]], "types": "L"}]), r"vertices: expected at least 3 points"),
        (label(poly2d=[[1, 2]]), r"poly2d\[0\]: expected \[x, y, type\], found \[1, 2\]"),
        (label(rle={"counts": "?", "size": [2, 2]}), r"rle: expected RLE, found something else"),
        (label(rle={"counts": [4], "size": [2, 2]}), r"rle: expected a mask with at least one pixel, found none"),
        (label(rle=5), r"rle: expected an object with size and counts, found 5"),
        (5, r"labels\[0\]: expected an object, found 5"),
    ],
)
def test_a_bad_label_is_refused_or_left_out(changed: Any, says: str, tmp_path: Path) -> None:
    document = {"frames": [frame(changed, label(id="8"))]}
    with pytest.raises(DatasetError, match=says):
        read_document(tmp_path, document)
    gt = read_document(tmp_path, document, on_invalid="drop")
    assert (gt.boxes.tolist(), gt.dropped, gt.ids.tolist()) == ([[1, 2, 3.5, 4]], 1, [8])


def test_a_bad_frame_is_refused_or_left_out(tmp_path: Path) -> None:
    document = {"frames": [frame(label(), videoName=7), frame(label(id="8"), name="b.jpg")]}
    with pytest.raises(DatasetError, match=r"a\.json: frames\[0\]\.videoName: expected text, found 7"):
        read_document(tmp_path, document)
    gt = read_document(tmp_path, document, on_invalid="drop")
    assert (list(gt.images.names), gt.ids.tolist(), gt.dropped) == (["b.jpg"], [8], 1)


def test_classes_that_are_not_listed_are_refused(tmp_path: Path) -> None:
    document = {"frames": [frame(label(), label(category="bus"))], "config": {"categories": [{"name": "bus"}]}}
    with pytest.raises(DatasetError, match=r"labels\[0\]\.category: expected one of the 1 classes, found 'car'"):
        read_document(tmp_path, document)
    assert len(read_document(tmp_path, document, on_invalid="drop")) == 1


kinds: st.SearchStrategy[Literal["boxes", "polygons"]] = st.sampled_from(["boxes", "polygons"])
both = kinds.flatmap(
    lambda kind: ground_truths(
        coordinates=HALVES if kind == "boxes" else FREE,
        sizes=None,
        flags=("crowd", "difficult"),
        attributes={"note": TEXTS, "depth": st.floats(-10, 10)},
        polygons=kind == "polygons",
    )
)


@given(both.flatmap(lambda gt: st.tuples(st.just(gt), detections_of(gt, attributes={"note": TEXTS}))))
def test_what_is_written_comes_back(data: tuple[GroundTruth, Detections]) -> None:
    gt, dt = data
    with tempfile.TemporaryDirectory() as folder:
        path, found = Path(folder) / "a.json", Path(folder) / "b.json"
        notes = write(gt, path, "scalabel")
        write(dt, found, "scalabel", ground_truth=gt)
        assert find_format(path).name == find_format(found).name == "scalabel"
        assert_came_back(gt, read(path), _HOLDS, notes, tolerance=1e-9)
        again = read_detections(found, ground_truth=gt)
    assert_detections_came_back(dt, again, gt, _HOLDS, tolerance=1e-9)


@given(st.lists(arrays(np.bool_, (7, 9)).filter(np.any), min_size=1, max_size=4))
def test_masks_come_back(pixels: list[Any]) -> None:
    masks = Masks.from_arrays(pixels)
    gt = GroundTruth.from_arrays(
        image_ids=["a"] * len(masks),
        category_ids=[1] * len(masks),
        boxes=np.tile([0.0, 0.0, 9.0, 7.0], (len(masks), 1)),
        areas=masks.area,
        segmentations=masks.to_rle(compressed=False),
        images=["a"],
        sizes=[[9, 7]],
        categories={1: "a"},
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        assert write(gt, path, "scalabel") == ("ids of 1 classes: their names remain",)
        again = read(path)
    assert list(again.segmentations or ()) == masks.to_rle()
    assert again.boxes.tolist() == gt.boxes.tolist()
    assert again.areas.tolist() == gt.areas.tolist()


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        labels = [label(poly2d=[TRIANGLE]), label(id="9", rle={"size": [2, 2], "counts": "04"})]
        config = {"imageSize": {"width": 9, "height": 9}, "categories": [{"name": "car"}]}
        (folder / "a.json").write_text(json.dumps({"frames": [frame(*labels)], "config": config}, indent=1))
        return folder / "a.json"

    outcomes = read_damaged(make, "a.json", lambda path, **options: read(path, "scalabel", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        for name in "ab":
            (folder / f"{name}.json").write_text(json.dumps([frame(name=name)]))
        return folder

    assert_links_out_are_refused(make, "b.json", lambda path: read(path, "scalabel"), tmp_path)


def test_videos_and_frames_come_back(tmp_path: Path) -> None:
    frames = [
        frame(label(id=track), name=str(at), videoName="walk", frameIndex=at) for at, track in ((7, "a"), (8, "a"))
    ]
    gt = read_document(tmp_path, frames)
    assert gt.images.attributes["sequence"].tolist() == ["walk", "walk"]
    assert gt.images.attributes["frame_index"].tolist() == [7, 8]
    assert gt.attributes["label_id"].tolist() == ["a", "a"]
    assert not any("attribute" in note for note in write(gt, tmp_path / "again.json", "scalabel"))
    written = json.loads((tmp_path / "again.json").read_text())["frames"]
    assert [(one["videoName"], one["frameIndex"]) for one in written] == [("walk", 7), ("walk", 8)]
    odd = {"sequence": np.array([1, 2]), "frame_index": np.array([0.5, np.nan])}
    other = dataclasses.replace(gt, images=dataclasses.replace(gt.images, attributes=odd))
    notes = write(other, tmp_path / "odd.json", "scalabel")
    assert {"attribute sequence of the images", "attribute frame_index of the images"} <= set(notes)
    del frames[0]["frameIndex"], frames[1]["videoName"]
    lacking = read_document(tmp_path, frames).images.attributes
    np.testing.assert_array_equal(lacking["frame_index"], [np.nan, 8])
    assert lacking["sequence"].tolist() == ["walk", ""]
    write(read_document(tmp_path, frames), tmp_path / "again.json", "scalabel")
    assert json.loads((tmp_path / "again.json").read_text())["frames"][0].keys() == {"name", "videoName", "labels"}
    for number, message in ((-1, "of at least 0, found -1"), (1.5, ".*, found 1.5"), ("1", ".*, found '1'")):
        frames[0]["frameIndex"] = number
        with pytest.raises(DatasetError, match=rf"frames\[0\]\.frameIndex: expected a whole number {message}"):
            read_document(tmp_path, frames)


def test_tracks_of_detections(tmp_path: Path) -> None:
    gt = read_document(tmp_path, [frame(label(), name="a"), frame(name="b")])
    for ids, expected in ((["7", "7"], ["7", "7"]), (["x", "y"], ["x", "y"]), (["1", "2"], None), ([..., ...], None)):
        found = [frame(label(id=one, score=0.5), name=name) for one, name in zip(ids, "ab", strict=True)]
        (tmp_path / "found.json").write_text(json.dumps(found))
        dt = read_detections(tmp_path / "found.json", ground_truth=gt)
        assert (dt.attributes["label_id"].tolist() if "label_id" in dt.attributes else None) == expected
