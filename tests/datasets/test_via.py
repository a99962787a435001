"""VIA's JSON and CSV: what each region becomes, which attribute is the class, and what comes back after writing."""

from __future__ import annotations

import csv
import json
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, GroundTruth
from ioukit.datasets import find_format, read, write
from ioukit.datasets.formats.via import _HOLDS
from support.data_sets import FREE, HALVES, assert_came_back, ground_truths
from support.malformed import read_damaged

TEXTS = st.sampled_from(["a", "", "Ärger\n", "a,b", "<b>", "犬"])
RECT = {"name": "rect", "x": 1, "y": 2, "width": 3, "height": 4}


def region(shape: Any, **attributes: Any) -> dict[str, Any]:
    return {"shape_attributes": shape, "region_attributes": attributes}


def image(*regions: Any, name: str = "a.jpg", **about: Any) -> dict[str, Any]:
    return {f"{name}99": {"filename": name, "size": 99, "regions": list(regions), "file_attributes": about}}


def read_document(folder: Path, document: Any, **options: Any) -> GroundTruth:
    (folder / "a.json").write_text(json.dumps(document))
    assert find_format(folder / "a.json").name == "via"
    return read(folder / "a.json", **options)


def write_csv(path: Path, document: Any, first: str = "filename") -> Path:
    names = [first, "file_size", "file_attributes", "region_count", "region_id", "region_shape_attributes"]
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*names, "region_attributes"])
        for record in document.values():
            regions = record["regions"]
            for number, one in enumerate(regions or [region({})]):
                values = (record["file_attributes"], one["shape_attributes"], one["region_attributes"])
                about, shape, attributes = map(json.dumps, values)
                table.writerow([record["filename"], 99, about, len(regions), number, shape, attributes])
    return path


SHAPES = [
    region(RECT, kind="cat"),
    region({"name": "polygon", "all_points_x": [1, 5, 5], "all_points_y": [1, 1, 4]}, kind="cat"),
    region({"name": "circle", "cx": 10, "cy": 20, "r": 5}, kind="dog"),
    region({"name": "ellipse", "cx": 10, "cy": 20, "rx": 4, "ry": 2, "theta": math.pi / 2}, kind="dog"),
    region({"name": "point", "cx": 10, "cy": 20}, kind="eye"),
    region({"name": "polyline", "all_points_x": [1, 5], "all_points_y": [1, 1]}),
]


@pytest.mark.parametrize("layout", ["annotations", "project", "version 1", "csv", "csv of version 1"])
def test_each_region_becomes_a_box_and_perhaps_a_segmentation(layout: str, tmp_path: Path) -> None:
    document = {**image(*SHAPES), **image(name="b.jpg")}
    if layout == "version 1":
        for record in document.values():
            record["regions"] = {str(at): one for at, one in enumerate(record["regions"])}
    if layout == "project":
        document = {"_via_settings": {}, "_via_img_metadata": document, "_via_attributes": {}}
    if layout.startswith("csv"):
        path = write_csv(tmp_path / "a.csv", document, "#filename" if "1" in layout else "filename")
        assert find_format(path).name == "via"
        gt = read(path)
    else:
        gt = read_document(tmp_path, document)
    assert gt.images.labels.tolist() == ["a.jpg", "b.jpg"]
    assert gt.boxes[:2].tolist() == [[1, 2, 3, 4], [1, 1, 4, 3]]
    np.testing.assert_allclose(gt.boxes[2:], [[5, 15, 10, 10], [8, 16, 4, 8]], atol=1e-12)
    assert gt.areas[:2].tolist() == [12, 6]
    np.testing.assert_allclose(gt.areas[2:], [math.pi * 25, math.pi * 8], rtol=2e-3)
    assert gt.segmentations is not None
    assert gt.segmentations[:2] == [None, [[1, 1, 5, 1, 5, 4]]]
    assert gt.categories.names == ("cat", "dog")
    assert gt.category_ids.tolist() == [1, 1, 2, 2]
    assert np.isnan(gt.images.sizes).all()
    assert [note.rpartition(": left out ")[2] for note in gt.notes] == ["1 x region point", "1 x region polyline"]


def classes(gt: GroundTruth) -> list[str]:
    names = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    return [names[number] for number in gt.category_ids.tolist()]


def test_the_class_is_an_attribute_that_can_be_named(tmp_path: Path) -> None:
    assert classes(read_document(tmp_path, image(region(RECT), region(RECT, empty="")))) == ["object", "object"]
    both = image(region(RECT, colour="red", name="cat"), region(RECT, colour="blue", name="dog", label="x"))
    gt = read_document(tmp_path, both)
    assert classes(gt) == ["cat", "dog"]
    assert {name: column.tolist() for name, column in gt.attributes.items()} == {
        "colour": ["red", "blue"],
        "label": ["", "x"],
    }
    assert classes(read_document(tmp_path, both, class_attribute="colour")) == ["red", "blue"]
    ticked = image(region(RECT, kind={"cat": True, "dog": False}), region(RECT, kind={"dog": True}))
    assert classes(read_document(tmp_path, ticked)) == ["cat", "dog"]
    unclear = image(region(RECT, colour="red"), region(RECT, size="round"))
    says = (
        "expected one region attribute, or class, label, category, name, type at all regions, found colour, size: name"
    )
    with pytest.raises(DatasetError, match=says):
        read_document(tmp_path, unclear)
    with pytest.raises(DatasetError, match=r"regions\[1\]\.region_attributes\.colour: expected text, or an object of"):
        read_document(tmp_path, unclear, class_attribute="colour")
    assert len(read_document(tmp_path, unclear, class_attribute="colour", on_invalid="drop")) == 1
    several = image(region(RECT, kind={"cat": True, "dog": True}))
    with pytest.raises(DatasetError, match=r"region_attributes\.kind: expected the name of one class, found"):
        read_document(tmp_path, several)


def test_sizes_come_from_file_attributes_or_from_images(tmp_path: Path) -> None:
    pillow = pytest.importorskip("PIL.Image")
    (tmp_path / "images").mkdir()
    pillow.new("L", (7, 5)).save(tmp_path / "images" / "b.png")
    pillow.new("L", (9, 9)).save(tmp_path.parent / "outside.png")
    (tmp_path / "images" / "link.png").symlink_to(tmp_path.parent / "outside.png")
    names = ("b.png", "../outside.png", "link.png", "none.png")
    document = {
        **image(name="a.jpg", width=40, height=30),
        **{key: one for name in names for key, one in image(name=name).items()},
    }
    sizes = dict(zip(*(column.tolist() for column in _sizes(read_document(tmp_path, document))), strict=True))
    assert sizes.pop("a.jpg") == [40, 30]
    assert sizes.pop("b.png") == [7, 5]
    assert all(np.isnan(size).all() for size in sizes.values())
    assert len(sizes) == 3


def _sizes(gt: GroundTruth) -> tuple[Any, Any]:
    return gt.images.labels, gt.images.sizes


@pytest.mark.parametrize(
    ("shape", "says"),
    [
        ({"name": "rect", "x": 1}, r"regions\[0\]\.shape_attributes\.y: expected a number, found nothing"),
        ({**RECT, "width": -1}, r"shape_attributes\.width: expected a number of at least 0, found -1"),
        ({"name": "star"}, r"name: expected one of rect, polygon, circle, ellipse, polyline, point, found 'star'"),
        ({}, r"name: expected one of rect, .*, found nothing"),
        (
            {"name": "polygon", "all_points_x": [1], "all_points_y": []},
            r"all_points_y: expected 1 numbers, .*, found 0",
        ),
        (
            {"name": "polygon", "all_points_x": [1], "all_points_y": [1]},
            r"expected at least 3 points of a polygon, found 1",
        ),
        (
            {"name": "polygon", "all_points_x": ["a"], "all_points_y": [1]},
            r"all_points\[0\]\[0\] \(x\): expected a number",
        ),
        ("rect", r"regions\[0\]\.shape_attributes: expected an object, found 'rect'"),
    ],
)
def test_a_bad_region_is_refused_or_left_out(shape: Any, says: str, tmp_path: Path) -> None:
    document = image(region(shape), region(RECT))
    with pytest.raises(DatasetError, match=rf"a\.json: 'a\.jpg99'.*{says}"):
        read_document(tmp_path, document)
    gt = read_document(tmp_path, document, on_invalid="drop")
    assert (gt.boxes.tolist(), gt.dropped) == ([[1, 2, 3, 4]], 1)
    if isinstance(shape, dict):
        with pytest.raises(DatasetError, match=r"a\.csv: line 2"):
            read(write_csv(tmp_path / "a.csv", document))


@given(
    st.sampled_from([HALVES, FREE]).flatmap(
        lambda coordinates: ground_truths(
            coordinates=coordinates,
            sizes=None,
            flags=("crowd", "difficult"),
            attributes={"note": TEXTS, "depth": st.floats(-10, 10)},
            polygons=coordinates is FREE,
        )
    )
)
def test_what_is_written_comes_back(gt: GroundTruth) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.json"
        notes = write(gt, path, "via")
        assert find_format(path).name == "via"
        again = read(path)
    assert_came_back(gt, again, _HOLDS, notes, tolerance=1e-9)
    if gt.segmentations is None:  # the numbers of a box are written as they are
        order = np.argsort(gt.image_ids, kind="stable")
        assert again.boxes.tolist() == gt.boxes[order].tolist()


def test_losses_of_writing_are_named(tmp_path: Path) -> None:
    parts = [[0, 0, 4, 0, 0, 4], [5, 5, 9, 5, 5, 9]]
    gt = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[1],
        boxes=[[0, 0, 9, 9]],
        images=[1],
        segmentations=[parts],
        flags={"class": [True]},
        attributes={"class": ["x"]},
    )
    notes = write(gt, tmp_path / "a.json", "via")
    for said in ("in several parts", "attribute class: the name means something else", "flag class: the name means"):
        assert any(said in note for note in notes), said
    assert read(tmp_path / "a.json").boxes.tolist() == [[0, 0, 9, 9]]


@pytest.mark.parametrize("suffix", [".json", ".csv"])
def test_damaged_files_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    def make(folder: Path) -> Path:
        path = folder / f"a{suffix}"
        document = image(*SHAPES[:4], width=40, height=30)
        if suffix == ".csv":
            return write_csv(path, document)
        path.write_text(json.dumps(document, indent=1))
        return path

    outcomes = read_damaged(make, f"a{suffix}", lambda path, **options: read(path, "via", **options), tmp_path)
    assert outcomes.read.total() > 20
    assert outcomes.refused.total() > 100
