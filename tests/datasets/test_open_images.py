"""Open Images' CSV files and class hierarchies: what is read, what is expanded, and what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import ioukit
from ioukit.datasets import (
    ClassHierarchy,
    IdLists,
    find_format,
    read,
    read_detections,
    read_open_images,
    read_open_images_detections,
    write,
)
from ioukit.errors import DatasetError
from ioukit.evaluation.protocols import OPEN_IMAGES_CHALLENGE
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

BOXES = """\
ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsTruncated,IsGroupOf,IsDepiction,IsInside
b,xclick,/m/cat,1,0.25,0.5,0.5,1,0,1,0,0,-1
a,xclick,/m/dog,1,0,0.5,0,0.75,0,0,1,0,0
a,xclick,/m/cup,1,0.5,0.75,0.5,0.75,0,0,0,0,0
"""
LABELS = """\
ImageID,Source,LabelName,Confidence
a,verification,/m/animal,1
a,verification,/m/cup,1
b,verification,/m/cat,1
b,verification,/m/thing,0
c,verification,/m/animal,0
c,verification,/m/other,0
"""
CLASSES = "/m/animal,Animal\n/m/cat,Cat\n/m/dog,Dog\n/m/cup,Cup\n/m/thing,Thing\n"
TREE: dict[str, Any] = {
    "LabelName": "/m/root",
    "Subcategory": [
        {
            "LabelName": "/m/animal",
            "Subcategory": [{"LabelName": "/m/cat", "Part": [{"LabelName": "/m/tail"}]}, {"LabelName": "/m/dog"}],
        },
        {"LabelName": "/m/thing", "Subcategory": [{"LabelName": "/m/cup"}, {"LabelName": "/m/unlisted"}]},
    ],
}
DETECTIONS = """\
ImageID,LabelName,Score,XMin,XMax,YMin,YMax
b,/m/cat,0.9,0.25,0.5,0.5,1
a,/m/dog,0.8,0.25,0.5,0.25,0.5
a,/m/cup,0.7,0.5,0.75,0.5,0.5
c,/m/cup,0.6,-0.1,1.2,0,1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "validation"
    place.mkdir()
    (place / "validation-annotations-bbox.csv").write_text(BOXES)
    (place / "validation-annotations-human-imagelabels-boxable.csv").write_text(LABELS)
    (place / "class-descriptions-boxable.csv").write_text(CLASSES)
    (place / "bbox_labels_600_hierarchy.json").write_text(json.dumps(TREE))
    (tmp_path / "detections.csv").write_text(DETECTIONS)
    return place


def test_a_folder_has_boxes_labels_classes_and_a_hierarchy(folder: Path) -> None:
    gt = read(folder)
    assert find_format(folder).name == "open-images"
    assert gt.images.labels.tolist() == ["a", "b", "c"]
    assert gt.categories.names == ("Animal", "Cat", "Dog", "Cup", "Thing")
    assert gt.categories.attributes["label_name"].tolist() == ["/m/animal", "/m/cat", "/m/dog", "/m/cup", "/m/thing"]
    # Each object is followed by its copies.
    assert gt.image_labels().tolist() == ["b", "b", "a", "a", "a", "a"]
    assert gt.category_ids.tolist() == [2, 1, 3, 1, 4, 5]
    assert gt.boxes.tolist()[:3] == [[0.25, 0.5, 0.25, 0.5]] * 2 + [[0, 0, 0.5, 0.75]]
    assert gt.flag("group_of").tolist() == [False, False, True, True, False, False]
    assert gt.flag("truncated").tolist() == [True, True, False, False, False, False]
    assert not gt.flag("inside").any(), "-1 is unknown"
    attributes = gt.images.attributes
    assert attributes["positive_category_ids"].tolist() == [[1, 4, 5], [1, 2], []]
    assert attributes["negative_category_ids"].tolist() == [[], [4, 5], [1, 2, 3]]
    assert "1 labels of classes that are not among the 5 left out" in gt.notes[0]


def test_files_can_be_named(folder: Path) -> None:
    boxes, labels = (next(folder.glob(f"*{name}*.csv")) for name in ("bbox", "labels"))
    alone = read(boxes)
    assert alone.categories.names == ("/m/cat", "/m/cup", "/m/dog")
    assert (len(alone), alone.images.attributes) == (3, {})
    assert alone.images.labels.tolist() == ["a", "b"]
    classes = folder.parent / "ids.csv"
    classes.write_text("/m/cat,Cat,7\n/m/dog,Dog,3\n/m/cup,Cup,9\n")
    gt = read_open_images(boxes, labels=labels, classes=classes)
    assert gt.categories.ids.tolist() == [3, 7, 9]
    assert gt.categories.attributes["label_name"].tolist() == ["/m/dog", "/m/cat", "/m/cup"]
    assert gt.images.attributes["positive_category_ids"].tolist() == [[9], [7], []]
    classes.write_text('LabelName,DisplayName\n/m/cat,Cat\n/m/dog,"Dog, a kind"\n/m/cup,Cup\n')
    assert read_open_images(boxes, classes=classes).categories.names == ("Cat", "Dog, a kind", "Cup")
    whole = read_open_images(boxes, labels=labels, hierarchy=ClassHierarchy(TREE))
    assert "/m/animal" in whole.categories.names
    assert len(whole) == 6


def test_detections_have_names_of_classes(folder: Path) -> None:
    gt, path = read(folder), folder.parent / "detections.csv"
    assert find_format(path).name == "open-images"
    dt = read_detections(path, ground_truth=gt)
    assert dt.category_ids.tolist() == [2, 3, 4, 4]
    assert dt.boxes.tolist()[3] == pytest.approx([-0.1, 0, 1.3, 1])
    expanded = read_open_images_detections(path, ground_truth=gt, hierarchy=folder / "bbox_labels_600_hierarchy.json")
    assert expanded.category_ids.tolist() == [2, 1, 3, 1, 4, 5, 4, 5]
    assert expanded.scores.tolist() == [0.9, 0.9, 0.8, 0.8, 0.7, 0.7, 0.6, 0.6]
    summary = ioukit.evaluate(gt, expanded, OPEN_IMAGES_CHALLENGE).per_class
    # The group of dogs is found. The cup has no area, and nobody looked for cups on image c, but for absent things.
    assert {result.name: result.summary["mAP"] for result in summary} == {
        "Animal": 1, "Cat": 1, "Dog": 1, "Cup": 0, "Thing": 0,
    }  # fmt: skip


def test_detections_in_pixels_are_refused(folder: Path) -> None:
    gt, path = read(folder), folder.parent / "detections.csv"
    first = DETECTIONS.splitlines()[1].split(",")
    at = DETECTIONS.splitlines()[0].split(",").index("XMax")
    first[at] = "180"
    path.write_text("\n".join([*DETECTIONS.splitlines(), ",".join(first)]))
    with pytest.raises(DatasetError, match=r"XMax: expected a fraction of the image, within \[-1, 2\], found '180'"):
        read_detections(path, ground_truth=gt)
    dt = read_detections(path, ground_truth=gt, on_invalid="drop")
    assert (len(dt), dt.dropped) == (4, 1)


def test_the_command_reads_a_folder(folder: Path) -> None:
    command = run_here(
        "eval", folder, folder.parent / "detections.csv", "--protocol", "open-images-challenge", "--json"
    )
    assert command.code == 0, command.err
    assert list(json.loads(command.out)["summary"]) == ["mAP"]
    command = run_here("eval", folder, folder.parent / "detections.csv", "--protocol", "open-images", "--quiet")
    assert command.out.startswith("OpenImagesV2_Precision/mAP@0.5IOU,0.")
    (folder / "validation-annotations-human-imagelabels-boxable.csv").unlink()
    (folder.parent / "detections.csv").write_text("\n".join(DETECTIONS.splitlines()[:-1]))
    command = run_here("eval", folder, folder.parent / "detections.csv", "--protocol", "open-images-challenge")
    assert command.code != 0
    assert "the attribute 'positive_category_ids' of the images" in " ".join(command.err.split())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("0.25,0.5,", "0.25,x,"), "line 2, XMax: expected a number, found 'x'"),
        (("0.25,0.5,", "nan,0.5,"), "line 2, XMin: expected a number, found 'nan'"),
        (("0.25,0.5,", "0.25,0.1,"), "line 2, XMax: expected at least XMin, found '0.1'"),
        (("0.25,0.5,", "0.25,320,"), r"line 2, XMax: expected a fraction of the image, within \[0, 1\], found '320'"),
        (("/m/dog", "/m/wolf"), "line 3, LabelName: expected one of the 5 classes, found '/m/wolf'"),
        (("0,0,1,0,0", "0,0,2,0,0"), "line 3, IsGroupOf: expected 0, 1, or -1 for unknown, found '2'"),
    ],
)
def test_a_bad_row_is_refused_or_left_out(folder: Path, change: tuple[str, str], message: str) -> None:
    file = next(folder.glob("*bbox.csv"))
    file.write_text(BOXES.replace(*change, 1))
    with pytest.raises(DatasetError, match=f"bbox.csv: {message}"):
        read(folder)
    gt = read(folder, on_invalid="drop")
    assert (gt.dropped, len(gt)) == (1, 4)
    assert "left out 1 x wrong " in gt.notes[0]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("bbox", "ImageID,LabelName,XMin,XMax\n", "expected a CSV file with the columns ImageID, LabelName"),
        ("bbox", BOXES + "a,b\n", "bbox.csv: line 5: expected 13 fields: ImageID, .*; found 2"),
        (
            "bbox",
            BOXES + 'a,"b\n',
            "bbox.csv: line 5: expected the end of a field in quotes, found the end of the file",
        ),
        ("bbox", BOXES.replace("Source", "XMin"), "line 1: expected columns of different names"),
        (
            "imagelabels",
            LABELS.replace("cup,1", "cup,0.3"),
            "line 3, Confidence: expected 1 for a class .* found '0.3'",
        ),
        ("class", CLASSES + "/m/cat,Again\n", "line 6, LabelName: expected a class that differs .* found '/m/cat'"),
        ("class", "/m/cat,Cat,1\n/m/dog,Dog,1\n", "line 2, ID: expected a number that differs .* found '1'"),
        ("class", "/m/cat,Cat,1\n/m/dog,Dog,x\n", "line 2, ID: expected a whole number, found 'x'"),
        ("class", f"/m/cat,Cat,{'9' * 5000}\n", "line 1, ID: expected a whole number of at most 15 digits, found '9"),
        ("class", "/m/cat,Cat\n/m/dog\n", "line 2: expected 2 fields: LabelName, DisplayName; found 1"),
    ],
)
def test_a_bad_file_is_refused(folder: Path, name: str, text: str, message: str) -> None:
    next(folder.glob(f"*{name}*.csv")).write_text(text)
    with pytest.raises(DatasetError, match=message):
        read(folder, format="open-images")


def test_bytes_that_are_no_text_are_refused(folder: Path) -> None:
    path = folder.parent / "detections.csv"
    gt = read(folder)
    path.write_bytes(DETECTIONS.encode() + b"\xff\xfe,,,,,,\n")
    with pytest.raises(DatasetError, match=r"detections.csv: line \d+: expected CSV in UTF-8"):
        read_detections(path, ground_truth=gt)
    path.write_text(DETECTIONS.replace("0.9", "best"))
    with pytest.raises(DatasetError, match="line 2, Score: expected a number, found 'best'"):
        read_detections(path, ground_truth=gt)
    with pytest.raises(DatasetError, match="expected a CSV file of detections, found a folder"):
        read_detections(folder, ground_truth=gt)


def test_two_files_of_one_kind_are_refused(folder: Path) -> None:
    (folder / "train-annotations-bbox.csv").write_text(BOXES)
    with pytest.raises(DatasetError, match=r"expected one file of boxes, found train-.* and validation-.*csv"):
        read(folder)
    assert len(read_open_images(folder / "train-annotations-bbox.csv")) == 3


def test_a_circle_of_classes_is_refused(folder: Path) -> None:
    tree = folder / "bbox_labels_600_hierarchy.json"
    circle = {"LabelName": "cat", "Subcategory": [{"LabelName": "animal"}]}
    tree.write_text(json.dumps({"LabelName": "all", "Subcategory": [{"LabelName": "animal", "Subcategory": [circle]}]}))
    message = r"hierarchy.json: Subcategory\[0\].Subcategory\[0\].Subcategory\[0\]: .* a circle: animal > cat > animal"
    with pytest.raises(DatasetError, match=message):
        read(folder)
    for bad, expected in (
        ({"LabelName": "all", "Subcategory": [3]}, r"Subcategory\[0\]: expected a node with LabelName, found 3"),
        ({"LabelName": "all", "Subcategory": "cat"}, r"the root.Subcategory: expected a list of nodes, found 'cat'"),
        ({"LabelName": "", "Subcategory": []}, r"the root.LabelName: expected text, found ''"),
        ({"Subcategory": [{}]}, r"the root.LabelName: expected text, found None"),
    ):
        with pytest.raises(DatasetError, match=expected):
            ClassHierarchy(bad)
    deep: dict[str, Any] = {"LabelName": "0"}
    for level in range(1, 200):
        deep = {"LabelName": str(level), "Subcategory": [deep]}
    with pytest.raises(DatasetError, match="expected at most 100 levels of classes, found more"):
        ClassHierarchy(deep)
    tree.write_text("[" * 100_000)
    with pytest.raises(DatasetError, match="expected JSON, found something else"):
        ClassHierarchy.read(tree)


def test_a_class_with_two_places_has_the_classes_above_both() -> None:
    tree = {
        "LabelName": "all",
        "Subcategory": [
            {"LabelName": "vehicle", "Subcategory": [{"LabelName": "seaplane"}]},
            {"LabelName": "toy", "Subcategory": [{"LabelName": "model", "Subcategory": [{"LabelName": "seaplane"}]}]},
        ],
    }
    hierarchy = ClassHierarchy(tree)
    assert hierarchy.ancestors["seaplane"] == ("model", "toy", "vehicle")
    assert hierarchy.descendants == {
        "vehicle": ("seaplane",), "toy": ("model", "seaplane"), "model": ("seaplane",), "seaplane": (),
    }  # fmt: skip
    assert repr(hierarchy) == "ClassHierarchy(4 classes)"


def test_arrays_are_expanded_by_the_names_of_their_categories() -> None:
    gt = ioukit.GroundTruth.from_arrays(
        image_ids=[5, 6], category_ids=[2, 3], boxes=[[0, 0, 1, 1], [0, 0, 2, 2]], ids=[8, 9], images=[5, 6],
        categories={1: "animal", 2: "cat", 3: "cup"},
        image_attributes={"negative_category_ids": IdLists.of([[3], [1]])},
    )  # fmt: skip
    tree = {"LabelName": "all", "Subcategory": [{"LabelName": "animal", "Subcategory": [{"LabelName": "cat"}]}]}
    expanded = ClassHierarchy(tree).expand_ground_truth(gt)
    assert expanded.category_ids.tolist() == [2, 1, 3]
    assert expanded.ids.tolist() == [1, 2, 3]
    assert expanded.images.attributes["negative_category_ids"].tolist() == [[3], [1, 2]]
    dt = ioukit.Detections.from_arrays(image_ids=[5], category_ids=[2], boxes=[[0, 0, 1, 1]], scores=[0.5])
    assert ClassHierarchy(tree).expand_detections(dt, gt.categories).category_ids.tolist() == [2, 1]
    none = ClassHierarchy(tree).expand_detections(dt.take(np.zeros(0, int)), gt.categories)
    assert len(none) == 0


def test_what_is_written_is_read_back(folder: Path, tmp_path: Path) -> None:
    gt = read_open_images(next(folder.glob("*bbox.csv")), labels=next(folder.glob("*imagelabels*")))
    assert not write(gt, tmp_path / "out", "open-images")
    back = read(tmp_path / "out")
    assert back.images.labels.tolist() == gt.images.labels.tolist()
    for name in ("boxes", "category_ids", "image_ids"):
        assert_allclose(getattr(back, name), getattr(gt, name), atol=1e-15)
    assert {name: flag.tolist() for name, flag in back.flags.items()} == {
        name: flag.tolist() for name, flag in gt.flags.items()
    }
    for name in ("positive_category_ids", "negative_category_ids"):
        assert back.images.attributes[name].tolist() == gt.images.attributes[name].tolist()
    dt = read_detections(folder.parent / "detections.csv", ground_truth=read(folder))
    write(dt, tmp_path / "dt.csv", "open-images", ground_truth=read(folder))
    again = read_detections(tmp_path / "dt.csv", ground_truth=read(folder))
    assert_allclose(again.boxes, dt.boxes, atol=1e-15)
    assert (again.scores.tolist(), again.image_labels().tolist()) == (dt.scores.tolist(), dt.image_labels().tolist())


def test_pixels_become_fractions(tmp_path: Path) -> None:
    columns: dict[str, Any] = {"image_ids": [1, 1], "category_ids": [7, 7], "boxes": [[10, 5, 20, 10], [-5, 0, 10, 50]]}
    gt = ioukit.GroundTruth.from_arrays(
        **columns, images=[1, 2], sizes=[[100, 50], [5, 5]], names=["a.jpg", "b.jpg"], categories={7: "cat", 9: "dog"}
    )
    notes = write(gt, tmp_path / "out", "open-images")
    assert notes[0] == "1 boxes that reach out of their image: they are cut at its edges"
    assert {"1 images without objects", "sizes of 2 images"} <= set(notes)
    back = read(tmp_path / "out")
    assert_allclose(back.boxes, [[0.1, 0.1, 0.2, 0.2], [0, 0, 0.05, 1]])
    assert (back.image_labels().tolist(), back.categories.ids.tolist()) == (["a", "a"], [7, 9])
    unknown = ioukit.GroundTruth.from_arrays(**columns)
    with pytest.raises(DatasetError, match="image 1: expected a width and a height, which fractions need, found none"):
        write(unknown, tmp_path / "none", "open-images")
    two: dict[str, Any] = {"image_ids": [1, 2], "category_ids": [1, 2], "boxes": [[0, 0, 1, 1]] * 2}
    two |= {"images": [1, 2], "sizes": [[9, 9], [9, 9]]}
    stems = ioukit.GroundTruth.from_arrays(**two, names=["a.jpg", "a.png"])
    with pytest.raises(DatasetError, match="expected images of different names, found 'a' twice"):
        write(stems, tmp_path / "none", "open-images")
    classes = ioukit.GroundTruth.from_arrays(**two, categories={1: "cat", 2: "cat"})
    with pytest.raises(DatasetError, match="expected names of classes that differ, found 'cat, cat'"):
        write(classes, tmp_path / "none", "open-images")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("name", ["boxes.csv", "classes.csv", "hierarchy.json"])
def test_a_link_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "boxes.csv").write_text("ImageID,LabelName,XMin,XMax,YMin,YMax\na,/m/cat,0,1,0,1\n")
    (folder / "classes.csv").write_text("/m/cat,Cat\n")
    (folder / "hierarchy.json").write_text('{"LabelName": "/m/0bl9f", "Subcategory": [{"LabelName": "/m/cat"}]}')
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(DatasetError, match=f"{name}: expected a path inside the folder .*, found a link out of it"):
        read(folder, "open-images")
