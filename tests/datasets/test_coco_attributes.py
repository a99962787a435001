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
    source: Any = document()
    if name is not None:
        text = json.dumps(source, indent=1).encode()
        (tmp_path / name).write_bytes(gzip.compress(text) if name.endswith("gz") else text)
        source = tmp_path / name
    gt = GroundTruth.from_coco(source, attributes=True)
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
