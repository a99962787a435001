"""YOLO's files beyond boxes in a ``data.yaml``: tasks, Darknet, folders of labels, writing, bad input."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from ioukit import DatasetError, Detections, GroundTruth
from ioukit.datasets import find_format, read, read_coco, read_detections, write
from ioukit.evaluation import evaluate
from support.command import run_here

yaml = pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")

DATA = Path(__file__).parents[1] / "data"
SMALL = DATA / "formats_small"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d49484452 00000064 00000032 0802000000 00000000 0000000049444154")


def folder_of(folder: Path, texts: dict[str, str], names: str = "ant\nbee\n") -> Path:
    """A folder ``labels`` with a list of names, and images of 100 x 50 pixels beside it."""
    for inner in ("labels", "images"):
        (folder / inner).mkdir()
    (folder / "labels" / "classes.txt").write_text(names)
    for stem, text in texts.items():
        (folder / "labels" / f"{stem}.txt").write_text(text)
        (folder / "images" / f"{stem}.png").write_bytes(PNG)
    return folder / "labels"


# ---------------------------------------------------------------------------------------------------------- layouts


def expected_boxes(sample: str) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads((SMALL / "expected_boxes.json").read_text())[sample]
    return found


def check_boxes(gt: GroundTruth, image: int, wanted: list[Any]) -> None:
    rows = np.flatnonzero(gt.image_ids == image)
    assert [gt.categories.names[k] for k in gt.category_ids[rows]] == [name for name, *_ in wanted]
    corners = np.hstack([gt.boxes[:, :2], gt.boxes[:, :2] + gt.boxes[:, 2:]])[rows]
    assert_allclose(corners, np.clip([corners for _, *corners in wanted], 0, None), atol=1e-12)


@pytest.mark.parametrize(
    ("path", "split", "image"),
    [
        ("yolo_ultralytics", "train", "train/train_001.jpg (10x5)"),
        ("yolo_ultralytics/data.yaml", "val", "val/val_001.jpg (10x5)"),
        ("yolo_ultralytics/train", "train", "train/train_001.jpg (10x5)"),
        ("yolo_ultralytics/train/labels", "train", "train/train_001.jpg (10x5)"),
        ("yolo_ultralytics/val", "val", "val/val_001.jpg (10x5)"),
        ("yolo_darknet", "train", "1.jpg (15x10)"),
        ("yolo_darknet/obj.data", "val", "1.jpg (15x10)"),
    ],
)
def test_samples_have_the_expected_boxes(path: str, split: str, image: str) -> None:
    assert find_format(SMALL / path).name == "yolo"
    gt = read(SMALL / path, split=split)
    check_boxes(gt, 0, expected_boxes(Path(path).parts[0])[image])
    size = [int(side) for side in image.partition("(")[2].strip(")").split("x")]
    assert gt.images.sizes[0].tolist() == size
    assert any("those for training are read" in note for note in gt.notes) == (split == "val" and "dark" in path)


def test_a_folder_of_labels_is_evaluated(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "1 .5 .5 .5 .5", "b": "0 .5 .5 1 1\n0 .1 .1 .1 .1", "c": ""})
    found = tmp_path / "predictions"
    found.mkdir()
    (found / "a.txt").write_text("1 .5 .5 .5 .5 .9")
    (found / "b.txt").write_text("0 .5 .5 1 1 .8\n0 .1 .1 .1 .1 .7")
    command = run_here("eval", labels, found, "--json")
    assert command.code in (0, None), command.err
    gt = read(labels)
    assert (gt.categories.names, list(gt.images.names)) == (("ant", "bee"), ["a.png", "b.png", "c.png"])
    assert gt.images.sizes.tolist() == [[100, 50]] * 3
    assert evaluate(labels, found).summary["AP"] == pytest.approx(1)


def test_names_and_sizes_are_found_near_by(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "2 .5 .5 .5 .5"})
    (labels / "classes.txt").unlink()
    gt = read(labels)
    assert gt.categories.names == ("0", "1", "2")
    assert gt.notes == (f"{labels}: no file names the classes; their numbers are their names",)
    (tmp_path / "data.yaml").write_text("names: {0: ant, 1: bee, 2: cat}")
    assert read(labels).categories.names == ("ant", "bee", "cat")
    (tmp_path / "images" / "a.png").unlink()
    with pytest.raises(DatasetError, match=r"expected images in one of .*images.*, or a table sizes\.csv"):
        read(labels)
    (labels / "sizes.csv").write_text("name,width,height\na.png,100,50\nz.jpg,30,40.0\n")
    gt = read(labels)
    assert (gt.boxes.tolist(), gt.images.sizes.tolist()) == ([[25, 12.5, 50, 25]], [[100, 50], [30, 40]])
    for row, message in {
        "a.png,0,50": "line 2, width: expected a number of pixels, found '0'",
        "../a.png,1,1": "line 2, name: expected the name of an image that differs",
        "/a.png,1,1": "line 2, name: expected the name of an image that differs",
        "b.png,1,1": "lists no image a",
    }.items():
        (labels / "sizes.csv").write_text(f"name,width,height\n{row}\n")
        with pytest.raises(DatasetError, match=message):
            read(labels)


def test_folders_inside_of_folders_are_searched(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "0 .5 .5 .5 .5"})
    for inner, text in (("labels", "1 .5 .5 1 1"), ("images", "")):
        (tmp_path / inner / "deep" / "er").mkdir(parents=True)
        suffix = "txt" if text else "png"
        (tmp_path / inner / "deep" / "er" / f"a.{suffix}").write_bytes(text.encode() or PNG)
    (tmp_path / "data.yaml").write_text("val: images\nnames: [ant, bee]")
    for path in (labels, tmp_path, tmp_path / "data.yaml"):
        gt = read(path)
        assert (list(gt.images.names), gt.category_ids.tolist()) == (["a.png", "deep/er/a.png"], [0, 1])
    found = tmp_path / "found"
    (found / "deep" / "er").mkdir(parents=True)
    (found / "deep" / "er" / "a.txt").write_text("1 .5 .5 1 1 .5")
    assert read_detections(found, "yolo", ground_truth=gt).image_ids.tolist() == [1]
    (found / "a.txt").write_text("1 .5 .5 1 1 .5")
    with pytest.raises(DatasetError, match="differ but for the suffix, found a twice"):
        read_detections(found, ground_truth=gt)


def test_lists_name_images_inside_of_the_data_set(tmp_path: Path) -> None:
    folder_of(tmp_path, {"a": "0 .5 .5 .5 .5", "b": ""})
    (tmp_path / "data.yaml").write_text("val: list.txt\nnames: [ant]")
    (tmp_path / "list.txt").write_text(f"\ufeff./images/a.png\r\n\r\n{tmp_path}/images/b.png\r\n")
    assert list(read(tmp_path).images.names) == ["a.png", "b.png"]
    for line in ("../a.png", "/etc/a.png", "images/../../a.png", "a\0.png"):
        (tmp_path / "list.txt").write_text(f"images/a.png\n{line}\n")
        with pytest.raises(DatasetError, match=r"list\.txt: line 2: expected a path inside .*, found "):
            read(tmp_path)


def test_links_out_of_the_folder_are_not_read(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "secret.txt").write_text("0 .5 .5 .5 .5")
    labels = folder_of(tmp_path, {"a": ""})
    (labels / "a.txt").unlink()
    (labels / "a.txt").symlink_to(elsewhere / "secret.txt")
    (tmp_path / "data.yaml").write_text("val: list.txt\ntrain: images\nnames: [ant]")
    (tmp_path / "list.txt").write_text("images/a.png")
    for path, split in ((labels, "val"), (tmp_path, "val"), (tmp_path, "train")):
        with pytest.raises(DatasetError, match=r"expected a path inside the folder of the data set, found a link out"):
            read(path, split=split)
    (labels / "a.txt").unlink()
    (labels / "more").symlink_to(elsewhere)
    with pytest.raises(DatasetError, match="more: expected a folder, found a link to a folder"):
        read(labels)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("classes", "line 1: expected key = value, found 'classes'"),
        ("", "expected the keys valid and names, found an empty file"),
        ("valid = list.txt", "expected the keys valid and names, found valid"),
        ("valid = list.txt\nnames = none.names", "expected a file 'none.names' in .*, found none"),
        ("valid = list.txt\nnames = ../obj.names", "a path inside the folder of the data set|expected a file"),
        ("valid = list.txt\nnames = empty.txt", r"empty\.txt: expected a name of a class in each line, found none"),
        ("valid = empty.txt\nnames = list.txt", r"empty\.txt: expected the path of an image in each line, found none"),
    ],
)
def test_what_darknet_s_settings_lack_is_named(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "obj.data").write_text(text)
    (tmp_path / "list.txt").write_text("a.png\n")
    (tmp_path / "empty.txt").write_text(" \n")
    with pytest.raises(DatasetError, match=message):
        read(tmp_path)
    assert run_here("eval", tmp_path, tmp_path).code == 2


# ------------------------------------------------------------------------------------------------------------ tasks


def test_polygons_and_boxes_around_them(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "1 .1 .2 .5 .2 .5 .6\n0 .5 .5 .2 .2\n0 0 0 1 0 1 1 0 1 .5 .5\n"})
    gt = read(labels)
    assert_allclose(gt.boxes, [[10, 10, 40, 20], [40, 20, 20, 10], [0, 0, 100, 50]])
    assert gt.segmentations is not None
    assert gt.segmentations[1] is None
    assert_allclose(gt.segmentations[0], [[10, 10, 50, 10, 50, 30]])
    assert_allclose(gt.segmentations[2], [[0, 0, 100, 0, 100, 50, 0, 50, 50, 25]])
    assert gt.notes == ()
    (labels / "a.txt").write_text("0 .1 .2 .5 .2 .5 .6 .7\n")
    with pytest.raises(DatasetError, match=r"line 1: expected class cx cy w h, got '0 .1 .2 .5 .2 .5 .6 .7'"):
        read(labels)
    (labels / "a.txt").write_text("0 .1 .2 .5 .2 .5 1.6\n")
    with pytest.raises(DatasetError, match=r"a\.txt: line 1: box .* reaches out of the image by more"):
        read(labels)


def test_four_points_are_oriented_boxes_unless_told_otherwise(tmp_path: Path) -> None:
    # A square of 20 pixels, turned by 45 degrees around (50, 25), and a trapezium.
    side = 10 * 2**0.5
    square = [50 / 100, (25 - side) / 50, (50 + side) / 100, 0.5, 0.5, (25 + side) / 50, (50 - side) / 100, 0.5]
    labels = folder_of(tmp_path, {"a": f"0 {' '.join(map(str, square))}\n1 .1 .2 .3 .2 .25 .4 .15 .4\n"})
    gt = read(labels)
    boxes = gt.regions["RotatedBoxes"]
    assert_allclose(boxes.numpy()[0], [50, 25, 20, 20, np.pi / 4])
    assert_allclose(boxes.area, [400, 200])
    assert_allclose(gt.boxes[0], [50 - side, 25 - side, 2 * side, 2 * side])
    assert gt.notes == (f"{labels}: every line has 4 points, read as oriented boxes; task='segment' reads polygons",)
    assert read(labels, task="obb").notes == ()
    assert_allclose(read(labels, task="segment").segmentations[1], [[10, 10, 30, 10, 25, 20, 15, 20]])  # type: ignore[index]
    found = tmp_path / "found"
    write(gt, tmp_path / "again", "yolo")
    found.mkdir()
    (found / "a.txt").write_text(f"0 {' '.join(map(str, square))} 0.9\n")
    dt = read_detections(found, ground_truth=gt)
    assert_allclose(dt.regions["RotatedBoxes"].numpy(), boxes.numpy()[:1])
    assert "segmentations" in read_detections(found, ground_truth=gt, task="segment").regions
    with pytest.raises(ValueError, match="unknown task 'box'"):
        read(labels, task="box")


def test_poses(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "0 .5 .5 .4 .4 .5 .5 2 .6 .7 0\n"})
    (tmp_path / "data.yaml").write_text("names: [ant]\nkpt_shape: [2, 3]")
    (labels / "classes.txt").unlink()
    gt = read(labels)
    assert_allclose(gt.regions["keypoints"], [[[50, 25, 2], [60, 35, 0]]])
    assert_allclose(gt.boxes, [[30, 15, 40, 20]])
    (tmp_path / "data.yaml").write_text("names: [ant]\nkpt_shape: [3, 2]")
    (labels / "a.txt").write_text("0 .5 .5 .4 .4 .5 .5 -1 .6 0 0\n")
    points = [[[50, 25, 2], [-100, 30, 0], [0, 0, 2]]]
    assert_allclose(read(labels).regions["keypoints"], points)
    (tmp_path / "data.yaml").unlink()
    assert_allclose(read(labels, task="pose").regions["keypoints"][0, 0], [50, 25, -1])  # two points of three numbers
    (labels / "a.txt").write_text("0 .5 .5 .4 .4 .5 .5 .1\n0 .5 .5 .4 .4")
    with pytest.raises(DatasetError, match="line 2: expected class cx cy w h and 1 keypoints of 3 numbers, got"):
        read(labels, task="pose")
    found = tmp_path / "found"
    found.mkdir()
    (found / "a.txt").write_text("0 .5 .5 .4 .4 .5 .5 .9 .6 .7 .8 .75\n")
    dt = read_detections(found, ground_truth=gt)
    assert (dt.scores.tolist(), dt.regions["keypoints"][0, :, 2].tolist()) == ([0.75], [0.9, 0.8])


# -------------------------------------------------------------------------------------------------------- bad files


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"0 .5 .5 .5 .5\n0 .5 .5", r"line 2: expected class cx cy w h, got '0 .5 .5'"),
        (b"0 .5 .5 .5 .5 .5", "line 1: expected class cx cy w h, got"),
        (b"0 .5 .5 nan .5", 'line 1, number 4: expected a finite number, found "nan"'),
        (b"0 .5 .5 1e400 .5", 'line 1, number 4: expected a finite number, found "1e400"'),
        (b"0 .5 .5 1e300 .5", r"line 1: box .* reaches out of the image"),
        (b"cat .5 .5 .5 .5", 'line 1, number 1: expected a finite number, found "cat"'),
        (b"2 .5 .5 .5 .5", "line 1: class 2 is not one of 0 to 1"),
        (b"1e18 .5 .5 .5 .5", "line 1: class 1e18 is not one of 0 to 1"),
        ("0 .5 .5 .5 .5".encode("utf-16"), "expected text in UTF-8, found UTF-16 text"),
        (b"0,.5,.5,.5,.5", 'line 1, number 1: expected a finite number, found "0,.5,.5,.5,.5"'),
        (b"0 .5 .5 .5 .5\r0 .5", "line 2: expected class cx cy w h, got '0 .5'"),
        (b"0 1_0 .5 .5 .5", "line 1, number 2: expected a finite number"),
        (b"0" * 10_000, "line 1: expected class cx cy w h, got"),
    ],
)
def test_bad_text_is_named_with_file_and_line(tmp_path: Path, content: bytes, message: str) -> None:
    labels = folder_of(tmp_path, {"a": ""})
    (labels / "a.txt").write_bytes(content)
    (tmp_path / "data.yaml").write_text("val: images\nnames: [ant, bee]")
    with pytest.raises(DatasetError, match=rf"labels.a\.txt: {message}"):
        read(labels, "yolo")
    command = run_here("eval", tmp_path / "data.yaml", labels)
    assert (command.code, "Traceback" in command.err) == (2, False)
    assert "a.txt" in command.err


def test_text_of_other_editors_is_read(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": ""})
    for content in (b"\xef\xbb\xbf0 .5 .5 .5 .5\r\n\r\n", b"\t0  .5 .5\t.5 .5   ", b"0.0 5e-1 +.5 .50 0.5\r\r"):
        (labels / "a.txt").write_bytes(content)
        assert read(labels, "yolo").boxes.tolist() == [[25, 12.5, 50, 25]]


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=80) | st.text("0123456789.-e \n\r\tx", max_size=80).map(str.encode))
def test_any_bytes_are_read_or_refused_by_words(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    folder = tmp_path_factory.getbasetemp() / "any"
    if not folder.exists():
        folder.mkdir()
        folder_of(folder, {"a": ""})
    (folder / "labels" / "a.txt").write_bytes(content)
    for task in (None, "segment", "pose", "obb"):
        check_read_or_refused(folder / "labels", task)


def check_read_or_refused(labels: Path, task: Any) -> None:
    try:
        gt = read(labels, "yolo", task=task)
    except DatasetError as error:
        assert "a.txt" in str(error) or "four corners" in str(error)  # noqa: PT017 - either is good
    else:
        assert np.isfinite(gt.boxes).all()
        assert read(labels, "yolo", task=task, on_invalid="drop").dropped == 0


# ---------------------------------------------------------------------------------------------------------- writing

POINTS = st.floats(0, 1, allow_subnormal=False)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(POINTS, POINTS, POINTS, POINTS, st.integers(0, 2)), max_size=8), st.data())
def test_boxes_come_back_to_the_last_digits(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Any], data: st.DataObject
) -> None:
    width, height = data.draw(st.integers(1, 9000)), data.draw(st.integers(1, 9000))
    boxes = [[min(a, c) * width, min(b, d) * height, abs(a - c) * width, abs(b - d) * height] for a, b, c, d, _ in rows]
    kept = [box[2] > 1e-6 and box[3] > 1e-6 for box in boxes]
    boxes = [box for box, good in zip(boxes, kept, strict=True) if good]
    labels = [row[4] for row, good in zip(rows, kept, strict=True) if good]
    gt = GroundTruth.from_arrays(
        image_ids=[3] * len(boxes),
        category_ids=labels,
        boxes=np.array(boxes).reshape(-1, 4),
        images=[3, 7],
        sizes=[[width, height], [5, 6]],
        names=["in/side.jpg", "side.png"],
        categories={0: 'a "b"', 1: "\U0001f408: #\\", 2: "\x7f\u2028"},
    )
    folder = tmp_path_factory.mktemp("written") / "out"
    notes = write(gt, folder, "yolo")
    back = read(folder)
    assert (list(back.images.names), back.categories.names) == (list(gt.images.names), gt.categories.names)
    assert back.images.sizes.tolist() == gt.images.sizes.tolist()
    assert_allclose(back.boxes, gt.boxes, rtol=0, atol=4e-16 * max(width, height) * 4)
    assert back.category_ids.tolist() == labels
    for note in notes:
        assert note.startswith(("the last digits of boxes", "ids of 2 images"))
    dt = Detections.from_arrays(
        image_ids=gt.image_ids, category_ids=labels, boxes=gt.boxes, scores=np.linspace(0, 1, len(boxes))
    )
    write(dt, folder / "found", "yolo", ground_truth=gt)
    again = read_detections(folder / "found", "yolo", ground_truth=gt)
    assert_allclose(again.boxes, dt.boxes, rtol=0, atol=4e-16 * max(width, height) * 4)
    assert (again.scores.tolist(), again.image_ids.tolist()) == (dt.scores.tolist(), dt.image_ids.tolist())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 7), st.integers(1, 9000), st.integers(1, 9000), st.integers(0, 2**32))
def test_pixels_of_few_digits_come_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, digits: int, width: int, height: int, seed: int
) -> None:
    """All other formats have few digits, COCO two. A product that is off by its last bit moves AP."""
    random, size = np.random.default_rng(seed), np.array([width, height], np.float64)
    first, second = (random.uniform(0, size, (500, 2)).round(digits) for _ in range(2))
    boxes = np.hstack([np.minimum(first, second), np.abs(second - first).round(digits)])
    boxes = boxes[(boxes[:, 2:] > 0).all(axis=1) & (boxes[:, :2] + boxes[:, 2:] <= size).all(axis=1)]
    gt = GroundTruth.from_arrays(
        image_ids=["a.jpg"] * len(boxes),
        category_ids=[0] * len(boxes),
        boxes=boxes,
        images=["a.jpg"],
        sizes=[size],
        names=["a.jpg"],
        categories={0: "cat"},
    )
    dt = Detections.from_arrays(
        image_ids=["a.jpg"] * len(boxes), category_ids=[0] * len(boxes), boxes=boxes, scores=random.random(len(boxes))
    )
    folder = tmp_path_factory.mktemp("written")
    assert write(gt, folder / "gt", "yolo") == ()
    assert read(folder / "gt").boxes.tolist() == boxes.tolist()
    assert write(dt, folder / "dt", "yolo", ground_truth=gt) == ()
    assert read_detections(folder / "dt", "yolo", ground_truth=gt).boxes.tolist() == boxes.tolist()


def test_average_precision_is_that_of_the_file_that_was_converted(tmp_path: Path) -> None:
    """YOLO's files have neither areas nor crowds, so these are left out before, too."""
    gt, dt = read_coco(*sorted((DATA / "coco_val2014_100").glob("instances_val2014_*.json")))
    plain = GroundTruth.from_arrays(
        image_ids=gt.image_ids,
        category_ids=gt.category_ids,
        boxes=gt.boxes,
        images=gt.images,
        categories=gt.categories,
    )
    notes = write(plain, tmp_path / "gt", "yolo")
    assert not any("digits" in note or "reach" in note for note in notes)
    back = read(tmp_path / "gt")
    write(dt, tmp_path / "dt", "yolo", ground_truth=plain)
    found = read_detections(tmp_path / "dt", "yolo", ground_truth=back)
    assert evaluate(back, found).summary == evaluate(plain, dt).summary


def test_regions_come_back(tmp_path: Path) -> None:
    labels = folder_of(
        tmp_path, {"a": "1 .1 .2 .5 .2 .5 .6\n0 .5 .5 .2 .2\n", "b": "0 .1 .1 .2 .1 .2 .3 .1 .4 .1 .2\n"}
    )
    polygons = read(labels)
    write(polygons, tmp_path / "polygons", "yolo", split="train")
    back = read(tmp_path / "polygons", split="train")
    assert back.segmentations[1] is None  # type: ignore[index]
    for row in (0, 2):
        assert_allclose(back.segmentations[row], polygons.segmentations[row])  # type: ignore[index]
    rotated = GroundTruth.from_arrays(
        image_ids=["a", "a"],
        category_ids=[4, 9],
        regions=__import__("ioukit").RotatedBoxes(
            [[50, 25, 20, 10, 30], [20, 20, 8, 8, 75]], unit="degrees", sense="clockwise"
        ),
        images=["a"],
        sizes=[[100, 50]],
        categories={4: "x", 9: "y"},
    )
    notes = write(rotated, tmp_path / "rotated", "yolo")
    assert "ids of 2 classes: their names remain" in notes
    assert_allclose(
        read(tmp_path / "rotated", task="obb").regions["RotatedBoxes"].convert(unit="degrees").numpy(),
        [[50, 25, 20, 10, 30], [20, 20, 8, 8, 75]],
    )
    poses = GroundTruth.from_arrays(
        image_ids=[0], category_ids=[0], boxes=[[10, 10, 20, 20]], keypoints=[[[15, 15, 2], [0, 0, 0]]],
        images=[0], sizes=[[100, 50]], names=["p.jpg"], categories={0: "x"},
    )  # fmt: skip
    write(poses, tmp_path / "poses", "yolo")
    assert_allclose(read(tmp_path / "poses").regions["keypoints"], [[[15, 15, 2], [0, 0, 0]]])


def test_what_is_lost_is_said(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1, 1],
        category_ids=[1, 1, 1],
        boxes=[[-5, 0, 10, 10], [200, 0, 5, 5], [0, 0, 5, 5]],
        crowd=[True, False, False],
        images=[1],
        sizes=[[100, 50]],
        categories={1: "x"},
        segmentations=[None, [[0, 0, 1, 0, 1, 1], [5, 5, 6, 5, 6, 6]], {"size": [50, 100], "counts": [5000]}],
    )
    notes = write(gt, tmp_path / "out", "yolo", digits=3)
    for start in (
        "1 objects without an area inside of their image", "1 boxes that reach out of their image",
        "masks of 2 objects that are not one polygon", "flag crowd of 1 object", "ids of 1 images",
    ):  # fmt: skip
        assert any(note.startswith(start) for note in notes), (start, notes)
    assert (tmp_path / "out" / "labels" / "val" / "1.txt").read_text() == (
        "0 0.025 0.100 0.050 0.200\n0 0.025 0.050 0.050 0.100\n"
    )
    assert any("last digits" in note for note in write(gt, tmp_path / "detect", "yolo", task="detect", digits=1))
    with pytest.raises(ValueError, match="task 'pose' needs keypoints"):
        write(gt, tmp_path / "none", "yolo", task="pose")
    with pytest.raises(ValueError, match="digits must be from 1 to 17"):
        write(gt, tmp_path / "none", "yolo", digits=0)
    with pytest.raises(ValueError, match="split must be the name of a folder"):
        write(gt, tmp_path / "none", "yolo", split="../val")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["../a.jpg", "b.jpg"], r"image 1: expected the name of a file inside a folder, found '../a\.jpg'"),
        (["/a.jpg", "b.jpg"], "expected the name of a file inside a folder"),
        (["C:/a.jpg", "b.jpg"], "expected the name of a file inside a folder"),
        (["a\n.jpg", "b.jpg"], "expected the name of a file inside a folder"),
        (["a.jpg", "a.png"], r"image 2: expected names that differ but for the suffix, found a\.png and a\.jpg"),
    ],
)
def test_names_of_images_stay_in_the_folder(tmp_path: Path, names: list[str], message: str) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], images=[1, 2], sizes=[[5, 5], [5, 5]], names=names
    )
    with pytest.raises(DatasetError, match=message):
        write(gt, tmp_path / "out", "yolo")
    assert list(tmp_path.iterdir()) == []


def test_images_are_copied_or_linked_when_asked(tmp_path: Path) -> None:
    labels = folder_of(tmp_path, {"a": "0 .5 .5 .5 .5"})
    gt = read(labels)
    write(gt, tmp_path / "copies", "yolo", images="copy")
    write(gt, tmp_path / "links", "yolo", images="link", image_folder=tmp_path / "images")
    for folder in ("copies", "links"):
        image = tmp_path / folder / "images" / "val" / "a.png"
        assert (image.read_bytes(), image.is_symlink()) == (PNG, folder == "links")
        assert read(tmp_path / folder).boxes.tolist() == gt.boxes.tolist()
    with pytest.raises(DatasetError, match=r"image 0: expected the file .*none.a\.png, found none"):
        write(gt, tmp_path / "out", "yolo", images="copy", image_folder=tmp_path / "none")
    columns: dict[str, Any] = {"image_ids": [1], "category_ids": [1], "boxes": [[0, 0, 1, 1]], "images": [1]}
    elsewhere = GroundTruth.from_arrays(**columns, names=["a.png"], sizes=[[5, 5]])
    with pytest.raises(DatasetError, match="expected image_folder=, because the data set does not say where its"):
        write(elsewhere, tmp_path / "out", "yolo", images="copy")
    text = GroundTruth.from_arrays(**columns, names=["a.txt"], sizes=[[5, 5]])
    with pytest.raises(DatasetError, match=r"image 1: expected a name that ends like an image, found 'a\.txt'"):
        write(text, tmp_path / "out", "yolo", images="copy", image_folder=tmp_path / "images")
    (tmp_path / "empty").mkdir()
    with pytest.raises(DatasetError, match="empty: expected text files with labels, found none"):
        read(tmp_path / "empty", "yolo")
    no_size = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]])
    with pytest.raises(
        DatasetError, match=r"image 1: expected a width and a height, which fractions need.* \(--to csv\)"
    ):
        write(no_size, tmp_path / "out", "yolo")
    assert not os.path.lexists(tmp_path / "out")
