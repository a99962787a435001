"""Tables with a row per object: which columns are found, what is refused, and what comes back of what is written."""

from __future__ import annotations

import contextlib
import csv
import importlib.util
import math
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, evaluate
from ioukit.datasets import GroundTruth, find_format, read, read_detections, write
from ioukit.datasets.formats.left_out import Holds
from ioukit.datasets.formats.table_columns import ROLES, choose_columns
from support.data_sets import FREE, assert_came_back, assert_detections_came_back, detections_of, ground_truths
from support.malformed import read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

SMALL = DATA / "formats_small"
DOGS = [[0, 1, 1, 1], [1, 2, 2, 1], [0, 0, 1, 1], [0, 2, 2, 2], [0, 0, 1, 1], [1, 1, 1, 1]]
TENSORFLOW = (
    "filename,width,height,class,xmin,ymin,xmax,ymax\na.jpg,640,480,cat,10,20,30,50\nb.jpg,320,200,dog,1,2,3,5\n"
)


def table(place: Path, text: str, name: str = "t.csv") -> Path:
    (place / name).write_text(text)
    return place / name


def test_the_samples() -> None:
    for name in ("ann.csv", "ann2.csv"):
        gt = read(SMALL / "csv" / name)
        assert gt.boxes.tolist() == DOGS, name
        assert gt.image_labels().tolist() == ["1.jpg", "1.jpg", "2.jpg", "3.jpg", "3.jpg", "3.jpg"]
        assert [gt.categories.names[number - 1] for number in gt.category_ids] == [
            "dog",
            "cat",
            "cat",
            "dog",
            "dog",
            "cat",
        ]
    with pytest.raises(
        DatasetError, match=r"which numbers has the column bbox\? Pass boxes=: 'xyxy' or 'xywh' or 'cxcywh'"
    ):
        read(SMALL / "csv" / "ann3.csv")
    assert read(SMALL / "csv" / "ann3.csv", boxes="xyxy").boxes.tolist() == DOGS
    assert find_format(SMALL / "csv" / "ann3.csv").name == "csv"
    vott = read(SMALL / "vott_csv" / "train-export.csv")
    np.testing.assert_allclose(vott.boxes[:, :2] + vott.boxes[:, 2:], np.array([[10, 15], [2, 4], [45.6, 63.6]]))
    assert vott.categories.names == ("helmet", "person")


def test_tensorflow_s_tables(tmp_path: Path) -> None:
    gt = read(table(tmp_path, TENSORFLOW))
    assert gt.boxes.tolist() == [[10, 20, 20, 30], [1, 2, 2, 3]]
    assert gt.images.sizes.tolist() == [[640, 480], [320, 200]]
    assert list(gt.images.names) == gt.images.labels.tolist() == ["a.jpg", "b.jpg"]
    assert (gt.categories.names, gt.category_ids.tolist()) == (("cat", "dog"), [1, 2])
    assert not gt.attributes


@pytest.mark.parametrize(
    ("names", "numbers"),
    [
        ("x1,y1,x2,y2", "10,20,30,50"),
        ("XMin,YMin,XMax,YMax", "10,20,30,50"),
        ("left,top,right,bottom", "10,20,30,50"),
        ("bbox_x1,bbox_y1,bbox_x2,bbox_y2", "10,20,30,50"),
        ("x,y,width,height", "10,20,20,30"),
        ("x,y,w,h", "10,20,20,30"),
        ("left,top,width,height", "10,20,20,30"),
        ("bbox_x,bbox_y,bbox_w,bbox_h", "10,20,20,30"),
        ("x_min,y_min,w,h", "10,20,20,30"),
        ("cx,cy,w,h", "20,35,20,30"),
        ("x_center,y_center,width,height", "20,35,20,30"),
        ("center x,center y,width,height", "20,35,20,30"),
        ("x1,y1,x2,y2,width,height", "10,20,30,50,640,480"),
        ("xmin,ymin,xmax,ymax,image_width,image_height", "10,20,30,50,640,480"),
    ],
)
def test_boxes_by_the_names_of_their_columns(names: str, numbers: str, tmp_path: Path) -> None:
    gt = read(table(tmp_path, f"Image ID,Class Name,{names}\n7,cat,{numbers}\n"))
    assert gt.boxes.tolist() == [[10, 20, 20, 30]]
    assert gt.images.ids.tolist() == [7]
    assert (
        gt.images.sizes.tolist() == ([[640, 480]] if "640" in numbers else [[math.inf] * 2])
        or np.isnan(gt.images.sizes).all()
    )


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("image,class,x,y,w,h,x1,y1,x2,y2", r"several columns can be the box: \[x1, y1, x2, y2\] or .*\[x, y, w, h\]"),
        ("image,class,bbox,x,y,w,h", r"several columns can be the box: \[x, y, w, h\] or \[bbox\]; pass columns="),
        ("filename,path,class,x,y,w,h", "several columns can be the file_name: filename, path; pass columns="),
        ("image,class,label,x,y,w,h", r"can be the category: class, label; pass columns=\{'category': 'class'\} or"),
        ("class,x,y,w,h", "such as image_id or filename, or one of frames, such as frame; found class, x, y, w, h"),
        ("frame,frame_id,class,x,y,w,h", "several columns can be the frame: frame, frame_id; pass columns="),
        ("image,x,y,w,h", "expected a column of classes, such as class or category_id"),
        ("image,class,a,b,c,d", "expected columns of boxes, such as xmin, ymin, xmax, ymax or x, y, width, height"),
    ],
)
def test_what_is_not_clear_is_refused_with_the_choices(names: str, expected: str, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=expected):
        read(table(tmp_path, f"{names}\n"), "csv")


def test_columns_can_be_named(tmp_path: Path) -> None:
    place = table(tmp_path, "photo,what,class,a,b,c,d\np.jpg,cat,9,1,2,4,8\n")
    named = {"image": "photo", "category": "what", "category_id": "class", "box": ["a", "b", "c", "d"]}
    gt = read(place, "csv", columns=named, boxes="xyxy")
    assert (gt.boxes.tolist(), gt.category_ids.tolist(), gt.categories.names) == ([[1, 2, 3, 6]], [9], ("cat",))
    assert read(place, "csv", columns=named, boxes="cxcywh").boxes.tolist() == [[-1, -2, 4, 8]]
    for wrong, expected in (
        ({"photo": "photo"}, f"unknown role 'photo' in columns; choose from {', '.join(ROLES)}"),
        ({**named, "box": ["a", "b"]}, "one name or four for the box, got 2"),
        ({**named, "image": ["photo", "what"]}, "one name for each role but box"),
    ):
        with pytest.raises(ValueError, match=expected):
            read(place, "csv", columns=wrong, boxes="xyxy")
    with pytest.raises(DatasetError, match="expected a column 'foto', found photo, what"):
        read(place, "csv", columns={"image": "foto"})
    with pytest.raises(DatasetError, match=r"which numbers has a, b, c, d\? Pass boxes="):
        read(place, "csv", columns=named)
    with pytest.raises(ValueError, match="unknown boxes 'yxyx'; choose from xyxy, xywh, cxcywh"):
        read(place, "csv", columns=named, boxes="yxyx")
    assert choose_columns(["image", "label", "x", "y", "w", "h"], "t", boxes="xyxy").layout == "xyxy"


def test_files_without_names_of_columns(tmp_path: Path) -> None:
    place = table(tmp_path, "p.jpg,1,2,4,8,cat\nempty.jpg,,,,,\n")
    gt = read(place, "csv", header=["image", "x1", "y1", "x2", "y2", "class"])
    assert gt.images.labels.tolist() == ["empty.jpg", "p.jpg"], "a row without a box is an image without objects"
    assert gt.boxes.tolist() == [[1, 2, 3, 6]]
    tabs = table(tmp_path, "image\tclass\tx\ty\tw\th\np\tcat\t1\t2\t3\t4\n", "t.tsv")
    assert find_format(tabs).name == "csv"
    assert read(tabs).boxes.tolist() == [[1, 2, 3, 4]]


def test_fractions_need_sizes(tmp_path: Path) -> None:
    place = table(tmp_path, "image,image_width,image_height,class,cx,cy,w,h\np,200,100,cat,0.5,0.5,0.5,0.5\n")
    assert read(place, normalized=True).boxes.tolist() == [[50, 25, 100, 50]]
    place = table(tmp_path, "image,class,x,y,w,h\np,cat,0.5,0.5,0.5,0.5\n")
    with pytest.raises(DatasetError, match="line 2, x: expected a box in fractions of an image of known size"):
        read(place, normalized=True)
    gt = GroundTruth.from_arrays(
        image_ids=["p"], category_ids=[1], boxes=[[0, 0, 1, 1]], sizes=[[200, 100]], images=["p"], categories={1: "cat"}
    )
    found = table(tmp_path, "image,class,score,x,y,w,h\np,cat,0.5,0.5,0.5,0.5,0.5\n")
    dt = read_detections(found, ground_truth=gt, normalized=True)
    assert dt.boxes.tolist() == [[100, 50, 100, 50]]


def test_other_columns_are_flags_and_attributes(tmp_path: Path) -> None:
    rows = "1,cat,1,2,3,4,0,True,5,red,,50\n1,cat,1,2,3,4,1,False,,,0.5,60\n"
    gt = read(table(tmp_path, f"image_id,class,x,y,w,h,iscrowd,Difficult,depth,colour,empty,area\n{rows}"))
    assert gt.crowd.tolist() == [False, True]
    assert gt.flag("difficult").tolist() == [True, False]
    np.testing.assert_array_equal(gt.attributes["depth"], [5, math.nan])
    assert gt.attributes["colour"].tolist() == ["red", ""]
    np.testing.assert_array_equal(gt.attributes["empty"], [math.nan, 0.5])
    assert gt.areas.tolist() == [50, 60]
    classes = read(table(tmp_path, "image,class_id,class,x,y,w,h\np,3,cat,1,2,3,4\np,5,,1,2,3,4\n"))
    assert (classes.categories.ids.tolist(), classes.categories.names) == ([3, 5], ("cat", "5"))
    numbers = read(table(tmp_path, "image,class,x,y,w,h\np,3,1,2,3,4\n"))
    assert (numbers.categories.ids.tolist(), numbers.categories.names) == ([3], ("3",))


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ("p,cat,1,2,3,x", "line 2, h: expected a number within 2..53, found 'x'"),
        ("p,cat,1,2,3,", "line 2, h: expected a number within 2..53, found ''"),
        ("p,cat,1,2,3,inf", "line 2, h: expected a number within 2..53, found 'inf'"),
        ("p,cat,1,2,3,nan", "line 2, h: expected a number within 2..53, found 'nan'"),
        ("p,cat,1,2,3,1_0", "line 2, h: expected a number within 2..53, found '1_0'"),
        ("p,cat,1,2,3,-4", "line 2, h: expected a size of at least 0, found '-4'"),
        (",cat,1,2,3,4", "line 2, image: expected the name of an image, found ''"),
        ("p,,1,2,3,4", "line 2, class: expected the name of a class, found ''"),
    ],
)
def test_bad_rows_are_refused(row: str, expected: str, tmp_path: Path) -> None:
    place = table(tmp_path, f"image,class,x,y,w,h\n{row}\nq,dog,1,2,3,4\n")
    with pytest.raises(DatasetError, match=expected):
        read(place)
    gt = read(place, on_invalid="drop")
    assert (gt.dropped, len(gt), gt.categories.names) == (1, 1, ("dog",))


def test_files_without_columns_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"t\.csv: line 1: expected the names of columns, found none"):
        read(table(tmp_path, "\n\n"), "csv")


def test_rows_that_disagree_are_refused(tmp_path: Path) -> None:
    corners = table(tmp_path, "image,class,x1,y1,x2,y2\np,cat,5,2,3,4\n")
    with pytest.raises(DatasetError, match="line 2, x2: expected at least x1, found '3'"):
        read(corners)
    sizes = table(tmp_path, TENSORFLOW + "a.jpg,641,480,cat,10,20,30,50\n")
    with pytest.raises(DatasetError, match="line 4, width: expected the size that the image has in other rows"):
        read(sizes)
    names = table(tmp_path, "image,class_id,class,x,y,w,h\np,3,cat,1,2,3,4\np,3,dog,1,2,3,4\n")
    with pytest.raises(
        DatasetError, match="line 3, class: expected the name that the class has in other rows, found 'dog'"
    ):
        read(names)
    with pytest.raises(DatasetError, match=r"line 2, class_id: expected a whole number, found '1\.5'"):
        read(table(tmp_path, "image,class_id,x,y,w,h\np,1.5,1,2,3,4\n"))


def test_detections_find_images_and_classes(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[3, 4], category_ids=[7, 8], boxes=[[0, 0, 5, 5]] * 2, images=[3, 4], names=["a.jpg", "b.jpg"],
        categories={7: "cat", 8: "dog"},
    )  # fmt: skip
    by_name = table(
        tmp_path, "filename,label,confidence,x,y,w,h,colour\nx/b.png,dog,0.5,0,0,5,5,red\na,cat,0.9,0,0,5,4,blue\n"
    )
    dt = read_detections(by_name, ground_truth=gt)
    assert (dt.image_ids.tolist(), dt.category_ids.tolist(), dt.scores.tolist()) == ([4, 3], [8, 7], [0.5, 0.9])
    assert dt.attributes["colour"].tolist() == ["red", "blue"]
    assert evaluate(gt, by_name).summary["AP50"] == pytest.approx(1)
    by_id = table(tmp_path, 'image_id,category_id,score,bbox\n3,8,0.5,"[0, 0, 5, 5]"\n')
    dt = read_detections(by_id, boxes="xywh")
    assert (dt.image_ids.tolist(), dt.category_ids.tolist()) == ([3], [8])
    for text, expected in (
        ("image_id,category_id,det_score,x,y,w,h\n", "expected a column of scores"),
        (
            "image_id,category_id,score,x,y,w,h\n3,9,0.5,0,0,5,5\n",
            "line 2, category_id: expected the id of one of the 2",
        ),
        ("image_id,category,score,x,y,w,h\n3,cow,0.5,0,0,5,5\n", "line 2, category: expected one of the 2 classes"),
        ("image_id,category,score,x,y,w,h\n9,cat,0.5,0,0,5,5\n", "line 2, image_id: expected an image of .*found '9'"),
        ("image_id,category,score,x,y,w,h\n3,cat,,0,0,5,5\n", "line 2, score: expected a number"),
    ):
        with pytest.raises(DatasetError, match=expected):
            read_detections(table(tmp_path, text), ground_truth=gt)
    with pytest.raises(DatasetError, match="ids of classes come from the ground truth: give "):
        read_detections(table(tmp_path, "image_id,category,score,x,y,w,h\n3,cow,0.5,0,0,5,5\n"))


def numbered(*names: str) -> GroundTruth:
    """Two images with the ids 1 and 2."""
    return GroundTruth.from_arrays(
        image_ids=[1, 2],
        category_ids=[1, 1],
        boxes=[[0, 0, 5, 5]] * 2,
        images=[1, 2],
        names=names,
        categories={1: "cat"},
    )


def cats(place: Path, kind: str, **images: list[Any]) -> Path:
    """A table with a detection per row, and these columns of images."""
    rows = len(next(iter(images.values())))
    columns = {**images, "class": ["cat"] * rows, "score": [0.5] * rows}
    columns |= {name: [value] * rows for name, value in zip("xywh", (0.0, 0.0, 5.0, 5.0), strict=True)}
    if kind == "csv":
        lines = [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
        return table(place, "\n".join((",".join(columns), *lines, "")))
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), place / "t.parquet")
    return place / "t.parquet"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_numbers_that_are_names_of_images_are_said(kind: str, tmp_path: Path) -> None:
    gt = numbered("000008.jpg", "000009.jpg")
    path = cats(tmp_path, kind, image_id=[9, 8])
    dt = read_detections(path, ground_truth=gt)
    assert dt.image_ids.tolist() == [2, 1]
    assert dt.notes == (f"{path}: image ids are names of images of ground truth: 9 is '000009.jpg'",)
    assert evaluate(gt, path).notes == dt.notes
    for columns in ({"image_id": [1, 2]}, {"image_id": [9, 8], "filename": ["000009.jpg", "000008.jpg"]}):
        assert read_detections(cats(tmp_path, kind, **columns), ground_truth=gt).notes == ()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_ids_and_names_of_other_images_are_refused(kind: str, tmp_path: Path) -> None:
    gt = numbered("a.jpg", "b.jpg")
    path = cats(tmp_path, kind, image_id=[1, 2, 1], filename=["a.jpg", "a.jpg", "b.jpg"])
    where = "line 3" if kind == "csv" else "row 1"
    expected = r", filename: expected the image 2, as image_id says \('b\.jpg'\), found 'a\.jpg', which is the image 1$"
    with pytest.raises(DatasetError, match=where + expected):
        read_detections(path, ground_truth=gt)
    kept = read_detections(path, ground_truth=gt, on_invalid="drop")
    assert (kept.image_ids.tolist(), kept.dropped) == ([1], 2)
    text = GroundTruth.from_arrays(
        image_ids=["a", "b"],
        category_ids=[1, 1],
        boxes=gt.boxes,
        images=["a", "b"],
        names=["a.jpg", "b.jpg"],
        categories={1: "cat"},
    )
    with pytest.raises(DatasetError, match=r"expected the image 'a', as image_id says .* which is the image 'b'"):
        read_detections(cats(tmp_path, kind, image_id=["a", "a"], filename=["a.jpg", "b.jpg"]), ground_truth=text)


@pytest.mark.parametrize("ids", [[11, 12], [1, 3], ["x", "y"]])
def test_names_decide_where_ids_are_unknown(ids: list[int | str], tmp_path: Path) -> None:
    path = cats(tmp_path, "csv", image_id=ids, filename=["a.jpg", "b.jpg"])
    dt = read_detections(path, ground_truth=numbered("a.jpg", "b.jpg"))
    assert (dt.image_ids.tolist(), dt.notes) == ([1, 2], ())


def test_ids_count_where_names_are_unknown(tmp_path: Path) -> None:
    path = cats(tmp_path, "csv", image_id=[1, 2], filename=["2.jpg", "c.jpg"])  # 2 is an id, but no file is called so
    for names in (("a.jpg", "b.jpg"), ("", "")):
        assert read_detections(path, ground_truth=numbered(*names)).image_ids.tolist() == [1, 2]


VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "depth": st.floats(-5, 5, allow_subnormal=False),
    "track id": st.integers(0, 9),
    "colour": st.sampled_from(["red", "a,b", 'say "x"', "", "x\ny", "図"]),
}
KEPT = Holds(flags=None, attributes=frozenset(VALUES), image_ids=True, category_ids=True, ids=True, areas=True)


WRITERS = ["csv", "parquet", "arrow"] if importlib.util.find_spec("pyarrow") else ["csv"]


@pytest.mark.parametrize("name", WRITERS)
@given(st.data())
def test_tables_come_back(name: str, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    gt = data.draw(
        ground_truths(sizes=None, flags=("crowd", "difficult", "my flag"), attributes={**VALUES, "label": st.just(1.0)})
    )
    place = tmp_path_factory.mktemp("tables") / f"out.{name}"
    notes = write(gt, place, name)
    if len(gt) or len(gt.images):
        assert find_format(place).name == name
    again = read(place, name)
    text_is_unclear = [note for note in notes if note.startswith("the kind of the attribute")]
    if text_is_unclear:
        return
    assert_came_back(gt, again, KEPT, notes)
    assert any(note.startswith("attribute label") for note in notes) == ("label" in gt.attributes)
    if len(gt):
        assert again.boxes.tobytes() == gt.boxes[np.argsort(again.ids)][np.argsort(np.argsort(again.ids))].tobytes()
    dt = data.draw(detections_of(gt, coordinates=FREE, attributes={"depth": VALUES["depth"]}))
    found = place.with_name(f"found.{name}")
    write(dt, found, name, ground_truth=gt)
    assert_detections_came_back(dt, read_detections(found, name, ground_truth=gt), gt, KEPT)


@given(ground_truths(coordinates=st.integers(0, 600).map(float)), st.sampled_from(["xyxy", "cxcywh"]))
def test_other_layouts_come_back(tmp_path_factory: pytest.TempPathFactory, gt: GroundTruth, layout: str) -> None:
    place = tmp_path_factory.mktemp("tables") / "out.csv"
    write(gt, place, "csv", boxes=layout)
    assert_came_back(gt, read(place, "csv"), KEPT, write(gt, place, "csv", boxes=layout))


def test_text_that_looks_like_numbers_is_noted(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=["17"], category_ids=[1], boxes=[[0, 0, 1, 1]], attributes={"plate": ["123"], "ok": ["true"]},
        regions=None, categories={1: "1"},
    )  # fmt: skip
    notes = write(gt, tmp_path / "t.csv", "csv")
    assert notes == (
        "the kind of the attribute plate: it looks like a column of numbers",
        "the kind of the attribute ok: it looks like a column of flags",
    )
    again = read(tmp_path / "t.csv")
    assert (again.images.labels.tolist(), again.categories.names) == (["17"], ("1",))
    with pytest.raises(ValueError, match="unknown boxes 'yxyx'"):
        write(gt, tmp_path / "t.csv", "csv", boxes="yxyx")


def test_damaged_files(tmp_path: Path) -> None:
    def make(place: Path) -> Path:
        return table(place, TENSORFLOW)

    outcomes = read_damaged(make, "t.csv", lambda path, **options: read(path, "csv", **options), tmp_path)
    assert outcomes.refused["number b'NaN'"] > 0
    assert outcomes.read["Windows lines"] == 2
    assert outcomes.read["byte-order mark"] == 2


def test_damaged_arrow_files(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="Parquet and Arrow files need PyArrow: pip install 'ioukit[tables]'")
    gt = read(table(tmp_path, TENSORFLOW))
    random = np.random.default_rng(0)
    for name in ("parquet", "arrow"):
        place = tmp_path / f"t.{name}"
        write(gt, place, name)
        content = bytearray(place.read_bytes())
        for at in range(0, len(content), 13):
            place.write_bytes(content[:at])
            with pytest.raises(DatasetError, match=f"t.{name}: "):
                read(place, name)
        for _ in range(300):
            changed = bytearray(content)
            changed[int(random.integers(len(content)))] ^= int(random.integers(1, 256))
            place.write_bytes(changed)
            with contextlib.suppress(DatasetError):
                read(place, name)
    place.write_text("not a table")
    with pytest.raises(DatasetError, match=r"t\.arrow: expected"):
        read(place, "arrow")


def test_a_file_has_no_more_than_the_writer_says(tmp_path: Path) -> None:
    gt = read(table(tmp_path, TENSORFLOW))
    write(gt, tmp_path / "out.csv", "csv")
    with (tmp_path / "out.csv").open() as file:
        names, first, _ = csv.reader(file)
    assert dict(zip(names, first, strict=True)) == {
        "image": "a.jpg", "image_width": "640", "image_height": "480", "category_id": "1", "category": "cat",
        "x": "10", "y": "20", "width": "20", "height": "30", "id": "1", "area": "600",
    }  # fmt: skip


def test_boxes_in_lists_of_arrow(tmp_path: Path) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "dt.parquet"
    boxes = [[0.5, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 4.0]]
    for kind in (pyarrow.list_(pyarrow.float32()), pyarrow.list_(pyarrow.float64(), 4)):
        columns = {"image_id": [1, 2], "category_id": [1, 1], "score": [0.5, 0.25]}
        parquet.write_table(pyarrow.table({**columns, "bbox": pyarrow.array(boxes, kind)}), path)
        assert read_detections(path, boxes="xywh").boxes.tolist() == boxes
        wrong = pyarrow.array([boxes[0], [1.0, math.nan, 3.0, 4.0]], kind)
        parquet.write_table(pyarrow.table({**columns, "bbox": wrong}), path)
        with pytest.raises(DatasetError, match=r"row 1, bbox: expected four numbers, found \[1\.0, NaN, 3\.0, 4\.0\]"):
            read_detections(path, boxes="xywh")
        assert read_detections(path, boxes="xywh", on_invalid="drop").boxes.tolist() == boxes[:1]


def test_arrow_without_memory_is_no_damaged_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "dt.parquet"
    parquet.write_table(pyarrow.table({"image_id": [1]}), path)

    def without_memory(_: Any) -> Any:
        raise pyarrow.ArrowMemoryError("malloc of size 8388608 failed")

    monkeypatch.setattr(parquet, "read_table", without_memory)
    with pytest.raises(MemoryError, match=r"dt\.parquet: not enough memory for its rows"):
        read_detections(path)


def test_threads_of_arrow_need_no_file_of_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the process aborts now and then, if it ends soon after reading."""
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / os.fsdecode(b"\xc3\xa4\xff.parquet" if sys.platform == "linux" else b"\xc3\xa4.parquet")
    columns = {"image_id": [1], "category_id": [1], "x": [1.0], "y": [2.0], "width": [3.0], "height": [4.0]}
    with open(path, "wb") as file:
        parquet.write_table(pyarrow.table({**columns, "score": [0.5]}), file)
    plain, sources = parquet.read_table, []

    def noted(source: Any) -> Any:
        sources.append(type(source))
        return plain(source)

    monkeypatch.setattr(parquet, "read_table", noted)
    assert read_detections(path).boxes.tolist() == [[1, 2, 3, 4]]
    assert sources == [pyarrow.OSFile]
