"""Pascal VOC's XML files and results: real files, round trips, other readers, and what is refused."""

from __future__ import annotations

import csv
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ioukit import DatasetError, Detections, GroundTruth, evaluate
from ioukit.datasets import find_format, read, read_detections, read_voc, write
from ioukit.datasets.formats.left_out import Holds
from ioukit.evaluation.protocols import PROTOCOLS, VOC2007
from support.command import run_here
from support.data_sets import assert_came_back, assert_detections_came_back, detections_of, ground_truths
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

CATS = DATA / "toy_cats"
RACCOONS = DATA / "raccoon_voc"
SMALL = DATA / "formats_small"
HOLDS = Holds(flags=frozenset({"difficult", "truncated", "occluded"}), attributes=frozenset({"pose"}))


def rows_of(gt: GroundTruth) -> list[tuple[Any, ...]]:
    """File name, class and corners of each object, sorted."""
    names = dict(zip(gt.images.labels.tolist(), gt.images.names, strict=True))
    corners = np.hstack([gt.boxes[:, :2], gt.boxes[:, :2] + gt.boxes[:, 2:]]).tolist()
    classes = [gt.categories.names[number - 1] for number in gt.category_ids.tolist()]
    labels = gt.image_labels().tolist()
    return sorted((names[label], name, *box) for label, name, box in zip(labels, classes, corners, strict=True))


# ----------------------------------------------------------------------------------------------------- real files


def test_raccoons_are_those_of_the_table() -> None:
    gt = read(RACCOONS / "annotations")
    assert find_format(RACCOONS / "annotations").name == "voc"
    expected = json.loads((RACCOONS / "expected.json").read_text())
    assert (len(gt.images), len(gt), gt.categories.names) == (expected["xml_files"], expected["boxes"], ("raccoon",))
    with open(RACCOONS / "raccoon_labels.csv", newline="") as file:
        table = list(csv.DictReader(file))
    corners = ("xmin", "ymin", "xmax", "ymax")
    assert rows_of(gt) == sorted(
        (row["filename"], row["class"], *(float(row[name]) for name in corners)) for row in table
    )
    sizes = {row["filename"]: [float(row["width"]), float(row["height"])] for row in table}
    assert dict(zip(gt.images.names, gt.images.sizes.tolist(), strict=True)) == sizes
    assert (gt.flag("difficult").sum(), set(gt.flags)) == (0, {"difficult", "truncated"})
    assert gt.images.labels[0] == "raccoon-1"


def test_samples_have_the_expected_boxes() -> None:
    gt = read(SMALL / "voc_xml")
    assert find_format(SMALL / "voc_xml").name == find_format(SMALL / "voc_xml" / "train").name == "voc"
    wanted = json.loads((SMALL / "expected_boxes.json").read_text())["voc_xml"]
    assert gt.images.labels.tolist() == sorted(wanted)
    assert rows_of(gt) == sorted((f"{Path(key).name}.jpg", *box) for key, boxes in wanted.items() for box in boxes)
    one = read(SMALL / "voc_xml" / "train" / "train_001.xml")
    assert (one.images.labels.tolist(), one.boxes.tolist()) == (["train_001"], [[2, 1, 3, 1]])
    assert not one.flags
    assert set(gt.flags) == {"difficult", "truncated", "occluded"}


def test_cats_have_the_published_numbers() -> None:
    gt = read(CATS / "gts_vocpascal_format")
    expected = json.loads((CATS / "expected.json").read_text())["computed"]["values"]["voc"]
    coco = GroundTruth.from_coco(CATS / "gts_coco_format" / "toy_example_coco.JSON")
    order = np.argsort([coco.images.names[at] for at in coco.images.positions(coco.image_ids)], kind="stable")
    assert sorted(gt.boxes.tolist()) == sorted(coco.boxes[order].tolist())
    dt = read_detections(CATS / "dets_classname_abs_xywh", ground_truth=gt)
    for iou, numbers in expected.items():
        for protocol, key in (("voc2007", "eleven_point"), ("voc2012", "every_point")):
            rules = PROTOCOLS[protocol].replace(iou_thresholds=[float(iou)])
            assert evaluate(gt, dt, rules).summary["mAP"] == pytest.approx(numbers[key]["mAP"], abs=1e-15)


def test_the_reader_equals_elementtree_on_all_files() -> None:
    for file in sorted((RACCOONS / "annotations").glob("*.xml")) + sorted(
        (CATS / "gts_vocpascal_format").glob("*.xml")
    ):
        root = ET.parse(file).getroot()
        gt = read(file)
        boxes = [[float(one.findtext(f"bndbox/{name}", "")) for name in ("xmin", "ymin", "xmax", "ymax")] for one in root.iter("object")]  # fmt: skip # noqa: E501
        assert np.hstack([gt.boxes[:, :2], gt.boxes[:, :2] + gt.boxes[:, 2:]]).tolist() == boxes
        for flag in ("difficult", "truncated"):
            assert gt.flag(flag).tolist() == [one.findtext(flag) == "1" for one in root.iter("object")]
        assert gt.images.names[0] == root.findtext("filename")
        poses = [one.findtext("pose") for one in root.iter("object")]
        assert gt.attributes.get("pose", np.array(["Unspecified"] * len(poses))).tolist() == poses


# --------------------------------------------------------------------------------------------------------- layouts


def annotation(*boxes: tuple[float, float, float, float], size: str = "<width>100</width><height>50</height>") -> str:
    objects = "".join(
        f"<object><name>cat</name><bndbox><xmin>{a}</xmin><ymin>{b}</ymin><xmax>{c}</xmax><ymax>{d}</ymax></bndbox></object>"
        for a, b, c, d in boxes
    )
    return f"<annotation><filename>x.jpg</filename><size>{size}</size>{objects}</annotation>"


def devkit(folder: Path) -> Path:
    """A ``VOCdevkit`` with two images, and a list with one of them."""
    for inner in ("Annotations", "ImageSets/Main", "JPEGImages"):
        (folder / "VOC2007" / inner).mkdir(parents=True)
    (folder / "VOC2007" / "Annotations" / "a.xml").write_text(annotation((1, 1, 10, 20)))
    (folder / "VOC2007" / "Annotations" / "b.xml").write_text(annotation((5, 5, 5, 5), (1, 2, 3, 4)))
    (folder / "VOC2007" / "ImageSets" / "Main" / "val.txt").write_text("b\n\n")
    (folder / "VOC2007" / "ImageSets" / "Main" / "cat_train.txt").write_text("a  1\nb -1\n")
    return folder


def test_places_of_a_data_set(tmp_path: Path) -> None:
    path = devkit(tmp_path)
    for place in (path, path / "VOC2007", path / "VOC2007" / "Annotations"):
        assert find_format(place).name == "voc"
        assert read(place).images.labels.tolist() == ["a", "b"]
    assert read(path, split="val").images.labels.tolist() == ["b"]
    assert read(path, split="cat_train").images.labels.tolist() == ["a", "b"]
    (path / "VOC2007" / "ImageSets" / "Main" / "val.txt").write_text("b\nc\n")
    with pytest.raises(DatasetError, match=r"val\.txt: line 2: expected the name of a file in .*, found 'c'"):
        read(path, split="val")
    with pytest.raises(DatasetError, match="expected a path inside the folder of the data set"):
        read(path, split="../x")
    expected = r"expected .*VOC2007/ImageSets/Main/none\.txt, the names of the images of split='none'; there are "
    with pytest.raises(DatasetError, match=expected + "cat_train, val$"):
        read(path, split="none")
    (path / "VOC2012" / "Annotations").mkdir(parents=True)
    with pytest.raises(DatasetError, match="found VOC2007 and VOC2012: name one of them"):
        read(path)
    with pytest.raises(DatasetError, match="expected XML files, found none"):
        read(path / "VOC2012", "voc")


def test_two_conventions_of_corners(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_text(annotation((1, 1, 10, 20), (5, 5, 5, 5)))
    assert read(tmp_path).boxes.tolist() == [[1, 1, 9, 19], [5, 5, 0, 0]]
    pixels = read(tmp_path, corners="pixels")
    assert pixels.boxes.tolist() == [[0, 0, 10, 20], [4, 4, 1, 1]]
    write(pixels, tmp_path / "out", "voc", corners="pixels")
    assert read(tmp_path / "out", corners="pixels").boxes.tolist() == pixels.boxes.tolist()
    assert read(tmp_path / "out").boxes.tolist() == read(tmp_path / "a.xml").boxes.tolist()
    with pytest.raises(ValueError, match="unknown corners 'inclusive'"):
        read(tmp_path, corners="inclusive")


# ------------------------------------------------------------------------------------------------------ round trips


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    gt = data.draw(
        ground_truths(
            sizes=None,
            flags=("difficult", "truncated", "crowd"),
            attributes={"pose": st.sampled_from(["Left", "a<b"]), "weight": st.floats(0, 1)},
            polygons=True,
        )
    )
    assume(len(gt.images))
    corners = data.draw(st.sampled_from(["as_is", "pixels"]))
    folder = tmp_path_factory.mktemp("written") / "out"
    notes = write(gt, folder, "voc", corners=corners)
    back = read(folder, corners=corners)
    assert_came_back(gt, back, HOLDS, notes, tolerance=1e-9, image_key=lambda name: name.rpartition(".")[0])
    assert sorted(back.images.names) == sorted(gt.images.names)
    assert len(read(folder, split="val", corners=corners).images) == len(gt.images)
    for file in (folder / "Annotations").iterdir():
        assert ET.parse(file).getroot().tag == "annotation"
    classes = [name for name in gt.categories.names if "/" not in name]
    if len(classes) == len(gt.categories):
        dt = data.draw(detections_of(gt))
        write(dt, folder / "found", "voc", ground_truth=gt, corners=corners)
        again = read_detections(folder / "found", ground_truth=gt, corners=corners)
        assert_detections_came_back(dt, again, gt, Holds(), tolerance=1e-9, order="class")


def test_the_command_reads_both(tmp_path: Path) -> None:
    gt = read(CATS / "gts_vocpascal_format")
    dt = read_detections(CATS / "dets_classname_abs_xywh", ground_truth=gt)
    write(dt, tmp_path / "found", "voc", ground_truth=gt)
    command = run_here("eval", CATS / "gts_vocpascal_format", tmp_path / "found", "--protocol", "voc2012", "--json")
    assert command.code in (0, None), command.err
    assert json.loads(command.out)["summary"]["mAP"] == pytest.approx(0.8958333333333334)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ["../a.jpg"]}, "expected the name of a file inside a folder"),
        ({"categories": {1: "a\x01"}}, "class: expected text that XML can hold"),
        ({"categories": {1: ""}}, "class: expected text that XML can hold, found ''"),
        ({"categories": {1: " a"}}, "class: expected text that XML can hold, found ' a'"),
    ],
)
def test_what_cannot_be_written_is_named(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    columns: dict[str, Any] = {"names": ["a.jpg"], "categories": {1: "cat"}, **changes}
    gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], images=[1], **columns)
    with pytest.raises(DatasetError, match=message):
        write(gt, tmp_path / "out", "voc")
    assert not list(tmp_path.iterdir())
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[1])
    slash = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "a/b"})
    with pytest.raises(DatasetError, match="class 'a/b': expected a name that can be that of one file"):
        write(dt, tmp_path / "out", "voc", ground_truth=slash)


# -------------------------------------------------------------------------------------------------------- bad files


def test_damaged_files_are_read_or_refused(tmp_path: Path) -> None:
    # A file that is left out lets the other one be read.
    outcomes = read_damaged(devkit, "VOC2007/Annotations/b.xml", read_voc, tmp_path)
    for kind in ("nested elements", "nested inner elements", "entity bomb", "outer entity", "unknown entity", "UTF-16"):
        assert outcomes.refused[kind] == outcomes.read[kind] == 1, kind
    assert outcomes.read["byte-order mark"] == outcomes.read["Windows lines"] == 2
    assert outcomes.refused["cut"] > 50


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    assert_links_out_are_refused(lambda folder: devkit(folder) / "VOC2007", "VOC2007/Annotations/a.xml", read, tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (annotation((9, 1, 5, 5)), r"a\.xml: line 1, object\[0\]\.bndbox\.xmax: expected at least xmin, found 9 and 5"),
        (
            annotation((1, 1, 2, 2)).replace("<xmin>1", "\n<xmin>nan"),
            r'a\.xml: line 1, object\[0\]\.bndbox\.xmin: expected a number of pixels, found "nan"',
        ),
        (
            annotation((1, 1, 2, 2)).replace("bndbox", "robndbox"),
            r"object\[0\]\.bndbox: expected a box, found none",
        ),
        (annotation((1, 1, 1e300, 2)), r'bndbox\.xmax: expected a number of pixels, found "1e\+300"'),
        (
            annotation(size="<width>-5</width><height>1</height>"),
            r"a\.xml: size\.width: expected a number of pixels of at",
        ),
        ("<annotation>\n<object>\n</annotation>", r"a\.xml: line 3: expected the end of the element that is open"),
        (
            "<!DOCTYPE a>\n<annotation/>",
            r"a\.xml: line 1: expected an element, as document types and entities are not read",
        ),
        ("<annotation>&lol;</annotation>", r"a\.xml: line 1: expected one of XML's own five entities, found \"&lol;"),
        ("<annotations/>", r"a\.xml: line 1: expected the element annotation, found \"annotations\""),
        ("", r"a\.xml: line 1: expected an element, found the end of the file"),
    ],
)
def test_bad_annotations_are_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "a.xml").write_text(text)
    (tmp_path / "b.xml").write_text(annotation((1, 2, 3, 4)))
    with pytest.raises(DatasetError, match=message):
        read(tmp_path, "voc")
    kept = read(tmp_path, "voc", on_invalid="drop")
    assert (kept.dropped, kept.boxes.tolist()) == (1, [[1, 2, 2, 2]])
    assert "left out 1 x bad " in kept.notes[0]
    (tmp_path / "b.xml").unlink()
    (tmp_path / "a.xml").rename(tmp_path / "0.xml")
    (tmp_path / "1.xml").write_text(annotation((1, 2, 3, 4)))
    command = run_here("eval", tmp_path, tmp_path)
    assert (command.code, "Traceback" in command.err) == (2, False)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("a 0.5 1 2 3", r"line 2: expected image score xmin ymin xmax ymax, found 'a 0\.5 1 2 3'"),
        ("a 0.5 1 2 3 x", r"line 2, ymax: expected a number, found 'x'"),
        ("a nan 1 2 3 4", r"line 2, score: expected a number, found 'nan'"),
        ("a 0.5 1 2 0 4", r"line 2, xmax: expected at least xmin, found 1 and 0"),
        ("c 0.5 1 2 3 4", r"line 2, image: expected an image of .*, found 'c'"),
    ],
)
def test_bad_results_are_named(tmp_path: Path, line: str, message: str) -> None:
    gt = read(devkit(tmp_path))
    found = tmp_path / "found"
    found.mkdir()
    (found / "comp4_det_test_cat.txt").write_text(f"b 1 1 2 3 4\n{line}\n")
    assert find_format(found).name == "voc"
    with pytest.raises(DatasetError, match=rf"comp4_det_test_cat\.txt: {message}"):
        read_detections(found, ground_truth=gt)
    dt = read_detections(found, ground_truth=gt, on_invalid="drop")
    assert (len(dt), dt.dropped) == (1, 1)
    (found / "comp4_det_test_cat.txt").rename(found / "comp4_det_test_dog.txt")
    with pytest.raises(DatasetError, match="expected one of the 1 classes, found 'dog'"):
        read_detections(found, ground_truth=gt)
    with pytest.raises(DatasetError, match=r"expected files named comp4_det_test_<class>\.txt, found none"):
        read_detections(tmp_path, "voc", ground_truth=gt)


@pytest.mark.parametrize("corners", ["as_is", "pixels"])
def test_few_results_that_end_before_they_begin_are_false_positives(corners: str, tmp_path: Path) -> None:
    """As in `voc_eval`, whose intersection with such a box is empty. A darknet network gave three of 87,765."""
    gt = GroundTruth.from_arrays(
        image_ids=[f"i{image}" for image in range(199)],
        category_ids=[1] * 199,
        boxes=[[9, 9, 20, 30]] * 199,
        categories={1: "cat"},
    )
    good = [f"i{image} {0.9 - image / 1000:.3f} 10 10 29 39\n" for image in range(0, 199, 2)]

    def results(*others: str, policy: str = "error") -> Detections:
        (tmp_path / "comp4_det_test_cat.txt").write_text("".join([*good[:50], *others, *good[50:]]))
        return read_detections(tmp_path, ground_truth=gt, corners=corners, on_invalid=policy)

    for inverted in ("i1 0.88 10 39 29 10\n", "i1 0.88 10 39 29 37.9\n", "i1 0.88 29 10 10 39\n"):
        for policy in ("error", "drop"):
            dt = results(inverted, policy=policy)
            assert (len(dt), dt.dropped) == (len(good) + 1, 0)
            assert dt.boxes[50, 2:].min() == 0
            assert dt.notes[0].endswith(": 1 x box that ends before it begins: kept without an area, a false positive")
        elsewhere = results("i1 0.88 300 300 310 310\n")
        found = evaluate(gt, dt, VOC2007).summary
        assert found == evaluate(gt, elsewhere, VOC2007).summary
        assert found["mAP"] < evaluate(gt, results(), VOC2007).summary["mAP"]
        with pytest.raises(
            DatasetError, match=r"line 51, [xy]max: expected at least [xy]min, found 39 and|found 29 and"
        ):
            results(inverted, inverted)
        assert results(inverted, inverted, policy="drop").dropped == 2


@pytest.mark.parametrize("name", ["a:b", "a/b", "a\\b", "x" * 300])
def test_results_of_a_class_that_cannot_name_a_file_are_not_written(name: str, tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(image_ids=["i"], category_ids=[1], boxes=[[1, 2, 3, 4]], categories={1: name})
    dt = Detections.from_arrays(image_ids=["i"], category_ids=[1], boxes=[[1, 2, 3, 4]], scores=[0.5])
    with pytest.raises(DatasetError, match=f"class '{re.escape(name[:50]).replace(chr(92) * 2, chr(92) * 4)}"):
        write(dt, tmp_path / "out", "voc", ground_truth=gt)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ImageSets", "ImageSets/Main", "ImageSets/Main/val.txt"])
def test_a_list_of_images_is_not_read_through_a_link_out_of_the_folder(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "VOC2007"
    (folder / "Annotations").mkdir(parents=True)
    (folder / "ImageSets" / "Main").mkdir(parents=True)
    (folder / "Annotations" / "a.xml").write_text("<annotation/>")
    (folder / "ImageSets" / "Main" / "val.txt").write_text("a\n")
    assert len(read_voc(folder, split="val").images) == 1
    (folder / name).rename(tmp_path / "outside")
    (folder / name).symlink_to(tmp_path / "outside")
    with pytest.raises(DatasetError, match="found a link out of it"):
        read_voc(folder, split="val")
