"""Flags, attributes and members of categories in COCO's files: written, and read when they are asked for."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ioukit
from ioukit import Detections, GroundTruth, datasets
from ioukit.datasets.columns._regions import KEYPOINTS, SEGMENTATIONS
from ioukit.datasets.formats.left_out import Holds
from support.command import run_here
from support.data_sets import assert_came_back, assert_detections_came_back, detections_of, ground_truths
from support.paths import load

if TYPE_CHECKING:
    from pathlib import Path

HOLDS = Holds(
    regions=frozenset({SEGMENTATIONS, KEYPOINTS}),
    flags=None,
    attributes=None,
    image_attributes=None,
    category_attributes=None,
    image_ids=True,
    category_ids=True,
    unused_categories=True,
    ids=True,
    areas=True,
)
ATTRIBUTES: dict[str, st.SearchStrategy[float | str]] = {
    "angle": st.floats(-9, 9),
    "colour": st.sampled_from(["red", "dark blue", '\u00e9\n"', "\U0001f697"]),
    "lane": st.integers(-3, 9),
    "track_id": st.integers(0, 9),
    "instance_id": st.sampled_from(["a", "b"]),
}
slow = settings(
    max_examples=40, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@slow
@given(data=st.data(), name=st.sampled_from(["gt.json", "gt.json.gz"]))
def test_every_column_comes_back(data: st.DataObject, name: str, tmp_path: Path) -> None:
    masks = data.draw(st.booleans())
    gt = data.draw(
        ground_truths(
            flags=("crowd", "difficult", "truncated"),
            attributes=ATTRIBUTES,
            integer_ids=True,
            sizes=True if masks else None,
            masks=masks,
            polygons=not masks,
            keypoints=data.draw(st.sampled_from([0, 3])),
        )
    )
    notes = datasets.write(gt, tmp_path / name, "coco")
    back = datasets.read(tmp_path / name, attributes=True)
    assert_came_back(gt, back, HOLDS, notes)
    plain = datasets.read(tmp_path / name)
    assert (list(plain.attributes), set(plain.flags) - {"crowd", "without_keypoints"}) == ([], set())
    datasets.write(back, tmp_path / f"again_{name}", "coco")
    assert content(tmp_path / f"again_{name}") == content(tmp_path / name)
    dt = data.draw(detections_of(gt, attributes=ATTRIBUTES))
    for result in ("dt.json", "dt.jsonl.gz"):
        datasets.write(dt, tmp_path / result, "coco", ground_truth=gt)
        found = datasets.read_detections(tmp_path / result, "coco", attributes=True)
        assert_detections_came_back(dt, found, gt, HOLDS)


def content(path: Path) -> Any:
    text = path.read_bytes()
    return json.loads(gzip.decompress(text) if path.suffix == ".gz" else text)


def document() -> dict[str, Any]:
    box = {"bbox": [0, 0, 4, 4], "area": 16, "iscrowd": 0, "category_id": 1}
    return {
        "images": [
            {"id": 1, "width": 8, "height": 8, "attributes": {"night": True, "city": "Ulm"}},
            {"id": 2, "width": 8, "height": 8},
        ],
        "categories": [
            {
                "id": 1,
                "name": "person",
                "supercategory": "being",
                "keypoints": ["nose", "tail"],
                "skeleton": [[1, 2]],
                "isthing": 1,
            },
            {"id": 2, "name": "road", "supercategory": "ground"},
        ],
        "annotations": [
            {"id": 1, "image_id": 1, **box, "attributes": {"occluded": False, "rotation": 0.5, "track": 3, "tag": "a"}},
            {
                "id": 2,
                "image_id": 2,
                **box,
                "attributes": {"occluded": True, "track": 4, "flow": [1, None], "x": {"a": 1}},
            },
            {"id": 3, "image_id": 2, **box},
            {"id": 4, "image_id": 2, **box, "attributes": None},
        ],
    }


@pytest.mark.parametrize("name", ["gt.json", "gt.json.gz", None])
def test_attributes_become_columns(name: str | None, tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(saved(document(), name, tmp_path), attributes=True)
    assert gt.flag("occluded").tolist() == [False, True, False, False]
    assert {key: column.tolist() for key, column in gt.attributes.items() if column.dtype.kind == "U"} == {
        "tag": ["a", "", "", ""],
        "x": ["", '{"a": 1}', "", ""],
    }
    np.testing.assert_array_equal(gt.attributes["rotation"], [0.5, np.nan, np.nan, np.nan])
    np.testing.assert_array_equal(gt.attributes["track"], [3, 4, np.nan, np.nan])
    np.testing.assert_array_equal(gt.attributes["flow"][1], [1, np.nan])
    assert gt.images.attributes["night"].tolist() == [True, False]
    assert gt.images.attributes["city"].tolist() == ["Ulm", ""]
    categories = gt.categories.attributes
    assert categories["supercategory"].tolist() == ["being", "ground"]
    assert categories["keypoint_names"].tolist() == [["nose", "tail"], ["", ""]]
    np.testing.assert_array_equal(categories["isthing"], [1, np.nan])


def test_a_conversion_keeps_what_a_person_wrote(tmp_path: Path) -> None:
    before = document()
    before["annotations"][0]["keypoints"] = [1, 2, 2, 0, 0, 0]
    (tmp_path / "in.json").write_text(json.dumps(before))
    assert run_here("convert", str(tmp_path / "in.json"), str(tmp_path / "out.json"), "--to", "coco").code == 0
    after = load(tmp_path / "out.json")
    assert after["categories"] == [{**c, **({"isthing": 1.0} if c["id"] == 1 else {})} for c in before["categories"]]
    assert after["images"][0]["attributes"] == {"night": True, "city": "Ulm"}
    first = after["annotations"][0]
    assert (first["keypoints"], first["num_keypoints"]) == ([1, 2, 2, 0, 0, 0], 1)
    # A flag that is not set is left out.
    assert first["attributes"] == {"rotation": 0.5, "track": 3, "tag": "a"}
    assert "attributes" not in after["annotations"][2]


@pytest.mark.parametrize("array", ["annotations", "images", "detections"])
def test_attributes_must_be_objects(array: str, tmp_path: Path) -> None:
    truth = document()
    if array == "detections":
        records = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1, "attributes": [1]}]
        (tmp_path / "dt.json").write_text(json.dumps(records))
        with pytest.raises(ioukit.DatasetError, match=r"dt\.json: detections\[0\]\.attributes: expected an object"):
            Detections.from_coco(tmp_path / "dt.json", attributes=True)
        assert len(Detections.from_coco(tmp_path / "dt.json")) == 1
        return
    truth[array][1]["attributes"] = "no"
    (tmp_path / "gt.json").write_text(json.dumps(truth))
    for source in (truth, tmp_path / "gt.json"):
        with pytest.raises(ioukit.DatasetError, match=rf"{array}\[1\]\.attributes: expected an object, found \"no\""):
            GroundTruth.from_coco(source, attributes=True)
        assert len(GroundTruth.from_coco(source)) == 4


def video() -> dict[str, Any]:
    """Records as TAO's and MMTracking's: ids of tracks and frames beside ``attributes``."""
    truth = document()
    truth["videos"] = [{"id": 4, "name": "walk", "fps": 30}, {"id": 5, "name": "run"}, {"id": 6, "name": "run"}]
    truth["images"][0] |= {"video_id": 4, "frame_index": 0, "frame_id": 1}
    truth["images"][1] |= {"video_id": 5, "frame_index": 0}
    for track, record in enumerate(truth["annotations"][1:]):
        record |= {"track_id": track, "video_id": 5}
    truth["annotations"][0]["instance_id"] = "a"
    return truth


def saved(document: Any, name: str | None, folder: Path) -> Any:
    """A path of the document, or the document itself."""
    if name is None:
        return document
    text = json.dumps(document, indent=1).encode()
    (folder / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    return folder / name


@pytest.mark.parametrize("name", ["gt.json", "gt.json.gz", None])
def test_tracks_and_frames_become_columns(name: str | None, tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(saved(video(), name, tmp_path), attributes=True)
    np.testing.assert_array_equal(gt.attributes["track_id"], [np.nan, 0, 1, 2])
    assert gt.attributes["instance_id"].tolist() == ["a", "", "", ""]
    assert gt.attributes["tag"].tolist() == ["a", "", "", ""]
    assert gt.images.attributes["video_id"].tolist() == [4, 5]
    assert gt.images.attributes["sequence"].tolist() == ["walk", "run"]
    assert gt.images.attributes["frame_index"].tolist() == [0, 0]
    np.testing.assert_array_equal(gt.images.attributes["frame_id"], [1, np.nan])
    assert "video_id" not in gt.attributes
    assert not GroundTruth.from_coco(saved(video(), name, tmp_path)).attributes


@pytest.mark.parametrize("name", ["dt.json", "dt.jsonl", "dt.json.gz", None])
def test_tracks_of_detections_become_columns(name: str | None, tmp_path: Path) -> None:
    records: Any = [{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 1} for _ in range(3)]
    records[1]["track_id"] = 3
    records[2] |= {"track_id": 9_007_199_254_740_993, "attributes": {"track_id": 9_007_199_254_740_993, "speed": 2}}
    source = saved(records, name, tmp_path)
    if name == "dt.jsonl":
        source.write_text("".join(json.dumps(record) + "\n" for record in records))
    dt = Detections.from_coco(source, attributes=True)
    assert dt.attributes.keys() == {"track_id", "speed"}
    np.testing.assert_array_equal(dt.attributes["track_id"], [np.nan, 3, 2.0**53])
    records[0]["track_id"] = np.int64(0)
    ids = Detections.from_coco(records, attributes=True).attributes["track_id"]
    assert ids.tolist() == [0, 3, 9_007_199_254_740_993]


@pytest.mark.parametrize(
    ("change", "names"),
    [
        (lambda truth: truth["videos"][1].pop("name"), None),
        (lambda truth: truth["videos"][1].update(name="walk"), None),
        (lambda truth: truth["videos"][1].update(id=7), None),
        (lambda truth: truth.update(videos={"4": "walk"}), None),
        (lambda truth: truth["videos"].insert(0, "walk"), ["walk", "run"]),
        (lambda truth: truth["images"][1].update(attributes={"sequence": "b"}), ["", "b"]),
    ],
)
def test_videos_without_names_of_their_own(change: Any, names: list[str] | None, tmp_path: Path) -> None:
    truth = video()
    change(truth)
    for name in ("gt.json", None):
        columns = GroundTruth.from_coco(saved(truth, name, tmp_path), attributes=True).images.attributes
        assert columns["video_id"].tolist() == [4, 5]
        assert (columns["sequence"].tolist() if "sequence" in columns else None) == names


def test_an_attribute_twice_with_two_values_is_refused(tmp_path: Path) -> None:
    truth = video()
    truth["annotations"][1]["attributes"]["track_id"] = 3
    message = r"annotations\[1\]\.track_id: expected 3, as attributes.track_id has it, found 0"
    for name in ("gt.json", None):
        source = saved(truth, name, tmp_path)
        with pytest.raises(ioukit.DatasetError, match=message):
            GroundTruth.from_coco(source, attributes=True)
        assert len(GroundTruth.from_coco(source)) == 4


def test_tracks_are_written_where_other_programs_look_for_them(tmp_path: Path) -> None:
    gt = GroundTruth.from_coco(video(), attributes=True)
    assert datasets.write(gt, tmp_path / "gt.json", "coco") == ()
    after = load(tmp_path / "gt.json")
    assert after["images"][0]["video_id"] == 4
    assert after["images"][0]["attributes"] == {"sequence": "walk", "night": True, "city": "Ulm"}
    assert [record.get("track_id") for record in after["annotations"]] == [None, 0, 1, 2]
    assert '"track_id":2}' in (tmp_path / "gt.json").read_text(), "NaN made floats of the ids"
    assert after["annotations"][0]["instance_id"] == "a"
    assert after["annotations"][2].keys() & {"attributes", "instance_id"} == set()
    back = datasets.read(tmp_path / "gt.json", attributes=True)
    for one, other in ((gt.attributes, back.attributes), (gt.images.attributes, back.images.attributes)):
        assert one.keys() == other.keys()
        for name, column in one.items():
            np.testing.assert_array_equal(column, other[name])
    dt = Detections.from_arrays(
        image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[1], attributes={"track_id": [7], "speed": [2]}
    )
    datasets.write(dt, tmp_path / "dt.json", "coco")
    assert load(tmp_path / "dt.json")[0]["track_id"] == 7
    assert load(tmp_path / "dt.json")[0]["attributes"] == {"speed": 2}


@pytest.mark.parametrize("value", [[1], {"a": 1}, True, np.nan, np.inf])
@pytest.mark.parametrize("member", ["track_id", "instance_id"])
def test_ids_of_tracks_are_numbers_or_text(member: str, value: Any, tmp_path: Path) -> None:
    truth = video()
    truth["annotations"][2][member] = value
    message = rf"annotations\[2\]\.{member}: expected a number or text, found "
    for name in ("gt.json", None):
        source = saved(truth, name, tmp_path)
        with pytest.raises(ioukit.DatasetError, match=message):
            GroundTruth.from_coco(source, attributes=True)
        assert len(GroundTruth.from_coco(source)) == 4
