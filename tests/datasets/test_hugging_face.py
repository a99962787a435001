"""Hugging Face's data sets: a stand-in with the features of the package, and the package if it is installed."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.datasets import read

if TYPE_CHECKING:
    from collections.abc import Mapping

ROWS: dict[str, list[Any]] = {
    "image_id": [15, 7, 9],
    "width": [640, 320, 100],
    "height": [480, 200, 50],
    "objects": [
        {"id": [1, 2], "area": [100.0, 6.0], "bbox": [[1.0, 2, 10, 10], [0.0, 0, 2, 3]], "category": [2, 0]},
        {"id": [], "area": [], "bbox": [], "category": []},
        {"id": [5], "area": [9.0], "bbox": [[5.0, 5, 3, 3]], "category": [0]},
    ],
}
NAMES = ["coverall", "gloves", "mask"]


@dataclass
class ClassLabel:
    names: list[str]


@dataclass
class Listed:
    """What the package calls ``Sequence`` or ``List``: its feature is in ``feature``."""

    feature: Any


@dataclass
class Image:
    decode: bool = True


@dataclass
class Dataset:
    """The parts of ``datasets.Dataset`` that are read."""

    rows: Mapping[str, list[Any]]
    features: Mapping[str, Any] = field(default_factory=dict)
    decoded: int = 0

    @property
    def column_names(self) -> list[str]:
        return list(self.rows)

    def __getitem__(self, name: str) -> list[Any]:
        if name == "image" and self.features["image"].decode:
            self.decoded += 1
        return self.rows[name]

    def cast_column(self, name: str, feature: Any) -> Dataset:
        return Dataset(self.rows, {**self.features, name: feature})


FEATURES = (
    {"objects": Listed({"bbox": Listed(None), "category": ClassLabel(NAMES)})},
    {"objects": {"bbox": Listed(None), "category": Listed(ClassLabel(NAMES))}},
    {"objects": [{"bbox": None, "category": ClassLabel(NAMES)}]},
)


def as_lists(rows: Mapping[str, list[Any]]) -> dict[str, list[Any]]:
    """The same rows with a list of objects in the place of lists by name."""
    listed = [
        [dict(zip(one, values, strict=True)) for values in zip(*one.values(), strict=True)] for one in rows["objects"]
    ]
    return {**rows, "objects": listed}


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("rows", [ROWS, as_lists(ROWS)], ids=["mapping", "list"])
def test_a_data_set_becomes_columns(features: Any, rows: Mapping[str, list[Any]]) -> None:
    gt = read(Dataset(rows, features))
    check(gt)


def check(gt: Any) -> None:
    assert gt.images.ids.tolist() == [7, 9, 15]
    assert gt.images.sizes.tolist() == [[320, 200], [100, 50], [640, 480]]
    assert gt.image_ids.tolist() == [15, 15, 9]
    assert gt.boxes.tolist() == [[1, 2, 10, 10], [0, 0, 2, 3], [5, 5, 3, 3]]
    assert gt.areas.tolist() == [100, 6, 9]
    assert gt.ids.tolist() == [1, 2, 5]
    assert gt.categories.ids.tolist() == [0, 1, 2], "a class without objects is listed, too"
    assert (gt.categories.names, gt.category_ids.tolist()) == (tuple(NAMES), [2, 0, 0])


def test_the_layout_of_boxes_is_chosen() -> None:
    data = Dataset(ROWS, FEATURES[0])
    assert read(data, boxes="xyxy", on_invalid="drop").boxes[0].tolist() == [1, 2, 9, 8]
    assert read(data, boxes="cxcywh").boxes[0].tolist() == [-4, -3, 10, 10]
    fractions = {**ROWS, "objects": [{"bbox": [[0.5, 0.5, 0.25, 0.25]], "label": ["a"]}, None, None]}
    gt = read(Dataset(fractions), normalized=True)
    assert gt.boxes.tolist() == [[320, 240, 160, 120]]
    assert gt.categories.names == ("a",)


def test_splits_are_chosen() -> None:
    splits = {"train": Dataset(ROWS, FEATURES[0]), "test": Dataset(ROWS, FEATURES[0])}
    check(read(splits, split="test"))
    check(read({"train": splits["train"]}))
    with pytest.raises(DatasetError, match="expected split=, one of 'train', 'test', found nothing"):
        read(splits)
    with pytest.raises(DatasetError, match="found 'val'"):
        read(splits, split="val")
    with pytest.raises(DatasetError, match="found a data set without splits"):
        read(splits["train"], split="val")


def test_sizes_of_images_without_decoding_them() -> None:
    pillow = pytest.importorskip("PIL.Image", reason="sizes of images need Pillow: pip install 'ioukit[yolo]'")
    content = io.BytesIO()
    pillow.new("RGB", (31, 17)).save(content, "PNG")
    turned = io.BytesIO()
    exif = pillow.Exif()
    exif[0x0112] = 6
    pillow.new("RGB", (31, 17)).save(turned, "JPEG", exif=exif)
    pictures = [{"bytes": content.getvalue()}, {"bytes": turned.getvalue(), "path": None}, {"bytes": b"none"}]
    data = Dataset({"image": pictures, "objects": ROWS["objects"]}, {**FEATURES[0], "image": Image()})
    gt = read(data)
    np.testing.assert_array_equal(gt.images.sizes, [[31, 17], [17, 31], [np.nan, np.nan]])
    assert gt.images.ids.tolist() == [0, 1, 2]
    assert data.decoded == 0


@pytest.mark.parametrize(
    ("objects", "expected"),
    [
        ({"bbox": [[1, 2, 3]], "category": [0]}, "row 0, object 0, bbox: expected four numbers"),
        ({"bbox": [[1, 2, 3, -1]], "category": [0]}, "row 0, object 0, bbox: expected a size of at least 0"),
        (
            {"bbox": [[1, 2, 3, 4]], "category": [3]},
            "row 0, object 0, category: expected the name of a class, found 'number 3",
        ),
        (
            {"bbox": [[1, 2, 3, 4]], "category": [0, 1]},
            "row 0, objects: expected lists of one length, found bbox: 1, category: 2",
        ),
        ("text", "row 0, objects: expected a list of objects, or a mapping of lists, found str"),
        ([3], "row 0, objects: expected objects with bbox and category, found int"),
    ],
)
def test_bad_objects_are_refused(objects: Any, expected: str) -> None:
    with pytest.raises(DatasetError, match=expected):
        read(Dataset({"objects": [objects]}, FEATURES[0]))


def test_objects_without_boxes_are_refused_and_lists_are_noted() -> None:
    with pytest.raises(DatasetError, match="expected a column 'objects' with a bbox per object, found image"):
        read(Dataset({"image": []}, {"image": None}))
    data = {"objects": [{"bbox": [[1, 2, 3, 4]], "category": ["a"], "segmentation": [[[1, 2]]], "difficult": [True]}]}
    gt = read(Dataset(data))
    assert gt.flag("difficult").tolist() == [True]
    assert gt.notes == ("Hugging Face data set: left out objects.segmentation, which has lists",)


def test_the_package_itself() -> None:
    package = pytest.importorskip("datasets", reason="its data sets need Hugging Face's package")
    if not hasattr(package, "Features"):
        pytest.skip("this is the folder of these tests, which has the name of the package")
    pillow = pytest.importorskip("PIL.Image", reason="the package decodes with Pillow")
    inner = {
        "id": package.Value("int64"),
        "area": package.Value("float64"),
        "bbox": package.Sequence(package.Value("float32"), length=4),
        "category": package.ClassLabel(names=NAMES),
    }
    plain = {name: package.Value("int64") for name in ("image_id", "width", "height")}
    check(
        read(package.Dataset.from_dict(ROWS, features=package.Features({**plain, "objects": package.Sequence(inner)})))
    )
    made = package.Dataset.from_dict(as_lists(ROWS), features=package.Features({**plain, "objects": [inner]}))
    check(read(made))
    check(read(package.DatasetDict({"train": made, "test": made}), split="test"))
    pictures = [pillow.new("RGB", (width, 10)) for width in (21, 22, 23)]
    features = package.Features({"image": package.Image(), "objects": package.Sequence(inner)})
    with_images = package.Dataset.from_dict({"image": pictures, "objects": ROWS["objects"]}, features=features)
    assert read(with_images).images.sizes.tolist() == [[21, 10], [22, 10], [23, 10]]
