"""What users of single formats met: names, classes of one name, lists of classes, and what a message must say."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError, Detections, GroundTruth, datasets, evaluate
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

BOX = [[4, 6, 20, 12]]


def one(*, names: list[str], classes: dict[int, str] | None = None) -> tuple[GroundTruth, Detections]:
    """An object on each image, and a detection of it."""
    ids = list(range(1, len(names) + 1))
    columns: dict[str, Any] = {"image_ids": ids, "category_ids": [2] * len(ids), "boxes": BOX * len(ids)}
    gt = GroundTruth.from_arrays(
        **columns, images=ids, names=names, sizes=[[64, 48]] * len(ids), categories=classes or {2: "cat"}
    )
    return gt, Detections.from_arrays(**columns, scores=[0.5] * len(ids))


@pytest.mark.parametrize("name", ["padilla", "kitti", "dota"])
def test_images_are_called_like_their_files_without_suffix(name: str, tmp_path: Path) -> None:
    gt, _ = one(names=["img1.jpg"], classes={2: "Car"})
    datasets.write(gt, tmp_path / "labels", name)
    assert list(datasets.read(tmp_path / "labels", name).images.names) == ["img1"]


@pytest.mark.parametrize("name", ["padilla", "kitti", "dota", "crowdhuman"])
def test_folders_become_part_of_names_that_would_be_the_same(name: str, tmp_path: Path) -> None:
    gt, dt = one(names=["rain/1.jpg", "sun/1.jpg"], classes={2: "person"})
    folder = datasets.FORMATS[name].detections_suffix
    notes = datasets.write(dt, tmp_path / f"dt{folder}", name, ground_truth=gt)
    assert any("names of 2 images: their files are called otherwise, such as rain_1 for rain/1.jpg" in n for n in notes)
    back = datasets.read_detections(tmp_path / f"dt{folder}", name, ground_truth=gt)
    assert back.image_ids.tolist() == [1, 2]


@pytest.mark.parametrize(
    "names", [["1.jpg", "1.jpg", "2.jpg"], ["rain/1.jpg", "sun/1.jpg", "rain_1.jpg", "rain_1.jpg"]]
)
def test_no_file_is_called_like_another_image(names: list[str], tmp_path: Path) -> None:
    """The ids would be the names of files, and a reader would take the file of image 2 for that of ``2.jpg``."""
    gt, _ = one(names=names, classes={2: "Car"})
    with pytest.raises(DatasetError, match=r"expected images whose names or ids .* each of one image alone, found '1'"):
        datasets.write(gt, tmp_path / "labels", "kitti")
    assert not (tmp_path / "labels").exists()


def test_two_classes_of_one_name_are_kept_by_id_or_refused(tmp_path: Path) -> None:
    gt, dt = one(names=["a.jpg"], classes={1: "cat", 2: "cat"})
    for name in ("coco", "csv", "yolo"):
        place = tmp_path / f"dt{datasets.FORMATS[name].detections_suffix}{name}"
        datasets.write(dt, place, name, ground_truth=gt)
        assert datasets.read_detections(place, name, ground_truth=gt).category_ids.tolist() == [2], name
        place = tmp_path / f"gt{datasets.FORMATS[name].suffix}{name}"
        datasets.write(gt, place, name)
        assert datasets.read(place, name).categories.names == (("cat",) if name == "csv" else ("cat", "cat")), name
    for name in (
        "voc",
        "mot",
        "createml",
        "kitti",
        "dota",
        "padilla",
        "cvat",
        "labelme",
        "via",
        "scalabel",
        "open-images",
    ):
        with pytest.raises(DatasetError, match="names of classes that differ"):
            datasets.write(gt, tmp_path / "out", name)


@pytest.mark.parametrize("name", ["voc", "createml", "scalabel", "kitti", "padilla", "open-images", "csv"])
def test_a_name_of_two_classes_does_not_tell_which(name: str, tmp_path: Path) -> None:
    plain, dt = one(names=["a.jpg"])
    place = tmp_path / f"dt{datasets.FORMATS[name].detections_suffix}"
    datasets.write(dt, place, name, ground_truth=plain)
    if name == "csv":
        place.write_text("image,category,x,y,width,height,score\na.jpg,cat,4,6,20,12,0.5\n")
    twice, _ = one(names=["a.jpg"], classes={2: "cat", 3: "cat"})
    with pytest.raises(DatasetError, match="several classes are called 'cat'"):
        datasets.read_detections(place, name, ground_truth=twice)


def test_a_table_with_names_and_ids_of_classes_goes_by_names(tmp_path: Path) -> None:
    gt, _ = one(names=["a.jpg"], classes={2: "cat", 3: "dog"})
    table = tmp_path / "dt.csv"
    table.write_text("image,category_id,category,x,y,width,height,score\na.jpg,3,cat,4,6,20,12,0.5\n")
    assert datasets.read_detections(table, ground_truth=gt).category_ids.tolist() == [2]
    table.write_text("image,category_id,category,x,y,width,height,score\na.jpg,3,bird,4,6,20,12,0.5\n")
    assert datasets.read_detections(table, ground_truth=gt).category_ids.tolist() == [3]


def test_coco_with_frequencies_stays_coco(tmp_path: Path) -> None:
    gt, _ = one(names=["a.jpg"])
    datasets.write(gt, tmp_path / "lvis.json", "lvis")
    read = datasets.read(tmp_path / "lvis.json")
    datasets.write(datasets.read(tmp_path / "lvis.json", attributes=True), tmp_path / "coco.json", "coco")
    assert b'"frequency"' in (tmp_path / "coco.json").read_bytes()
    assert datasets.find_format(tmp_path / "lvis.json").name == "lvis"
    assert datasets.find_format(tmp_path / "coco.json").name == "coco"
    assert len(datasets.read(tmp_path / "coco.json")) == len(read)


def test_classes_without_ids_are_said(tmp_path: Path) -> None:
    gt, dt = one(names=["a.jpg"], classes={1: "cat", 2: "dog"})
    both = GroundTruth.concat([gt.filter(categories=[1, 2])])
    datasets.write(both, tmp_path / "csv.csv", "csv")
    (tmp_path / "csv.csv").write_text("image,category,x,y,width,height\n1,dog,4,6,20,12\n1,cat,0,0,1,1\n")
    datasets.write(dt, tmp_path / "dt.json", "coco")
    result = evaluate(tmp_path / "csv.csv", tmp_path / "dt.json")
    assert any("has no ids of classes, so they count in the order of their names: 1 is 'cat', 2 is 'dog'" in note
               for note in result.notes)  # fmt: skip


def test_names_of_classes_may_be_a_file(tmp_path: Path) -> None:
    names = tmp_path / "voc.names"
    names.write_text("dog\ncat\n")
    labels = tmp_path / "labels"
    labels.mkdir()
    (labels / "a.txt").write_text("1 4 6 20 12\n")
    assert datasets.read(labels, "padilla", names=str(names)).categories.names == ("dog", "cat")
    with pytest.raises(DatasetError, match=r"labels/a.txt: expected a name of a class|a.txt"):
        datasets.read(labels, "padilla", names=str(labels / "a.txt"))
    (labels / "a.txt").write_text("cat 0 0 -10 4 6 24 18 -1 -1 -1 -1000 -1000 -1000 -10\n")
    assert datasets.read(labels, "kitti", names=names).category_ids.tolist() == [2]


def test_ground_truth_in_the_place_of_a_format_is_named(tmp_path: Path) -> None:
    gt, _ = one(names=["a.jpg"])
    with pytest.raises(TypeError, match="format must be the name of a format, got GroundTruth: write ground_truth="):
        datasets.read_detections(tmp_path, gt)  # type: ignore[arg-type]


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for name in ("2020", "2021"):
        (tmp_path / "splits" / name).mkdir(parents=True)
    with pytest.raises(DatasetError, match=r"it holds 2 folders \(2020, 2021\): name the one with the files"):
        datasets.read(tmp_path / "splits")
    (tmp_path / "t.csv").write_text("photo,kind,x1,y1,x2,y2\na,1,2,3,4,5\n")
    with pytest.raises(
        DatasetError, match=r"not a format that can be read; as a table: expected a column of .*; found photo, kind, x1"
    ):
        datasets.read(tmp_path / "t.csv")


def test_scalabel_takes_classes_that_no_frame_has(tmp_path: Path) -> None:
    gt, _ = one(names=["a.jpg"], classes={1: "dog", 2: "cat"})
    _, dt = one(names=["a.jpg"])
    dogs = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=BOX, scores=[0.5])
    datasets.write(dogs, tmp_path / "dt.json", "scalabel", ground_truth=gt)
    (tmp_path / "gt.json").write_text(
        '[{"name": "a.jpg", "labels": [{"category": "cat", "box2d": {"x1": 4, "y1": 6, "x2": 24, "y2": 18}}]}]'
    )
    with pytest.raises(DatasetError, match="expected one of"):
        datasets.read_detections(tmp_path / "dt.json", ground_truth=datasets.read(tmp_path / "gt.json"))
    read = datasets.read(tmp_path / "gt.json", names=["dog", "cat"])
    assert datasets.read_detections(tmp_path / "dt.json", ground_truth=read).category_ids.tolist() == [1]
    assert len(dt) == len(read)


def test_cartucho_detections_of_other_classes_are_left_out(tmp_path: Path) -> None:
    gt, _ = one(names=["a.jpg"])
    (tmp_path / "a.txt").write_text("cat 0,5 4,0 6 24 18\nbird 0.9 1 2 3 4\n")
    dt = datasets.read_detections(tmp_path, "padilla", ground_truth=gt, boxes="xyxy")
    assert (dt.boxes.tolist(), dt.scores.tolist()) == ([[4, 6, 20, 12]], [0.5])  # and decimal commas
    assert any("left out 1 detection of 'bird', a class that the ground truth lacks" in note for note in dt.notes)
    (tmp_path / "a.txt").write_text("bird 0.9 1 2 3 4\n")
    with pytest.raises(DatasetError, match="line 1, class: expected one of the 1 classes, found 'bird'"):
        datasets.read_detections(tmp_path, "padilla", ground_truth=gt)


def test_detections_of_persons_need_such_a_class(tmp_path: Path) -> None:
    gt, dt = one(names=["a.jpg"], classes={2: "person"})
    datasets.write(dt, tmp_path / "dt.odgt", "crowdhuman", ground_truth=gt)
    other, _ = one(names=["a.jpg"], classes={1: "car", 2: "bus"})
    with pytest.raises(DatasetError, match=r"expected one class person, or one class, .* found 2 classes"):
        datasets.read_detections(tmp_path / "dt.odgt", ground_truth=other)


RECORD = {"image_id": "val/000042.jpg", "category_id": 3, "bbox": [1, 2, 3.5, 4], "score": 0.5}


def test_results_of_coco_may_name_images(tmp_path: Path) -> None:
    path = tmp_path / "dt.json"
    further = {"image_id": 7, "segmentation": [[0, 0, 4, 0, 4, 4]], "score": 1}
    path.write_text(json.dumps([{**RECORD, "segmentation": [[1, 2, 3, 4, 5, 6]]}, {**RECORD, **further}]))
    found = datasets.read_detections(path)
    assert found.image_labels().tolist() == ["val/000042.jpg", "7"]
    assert (found.source, len(found.segmentations or ())) == (str(path), 2)
    gt = GroundTruth.from_arrays(
        image_ids=[42], category_ids=[3], boxes=BOX, images=[42, 9], names=["000042.jpg", "7.png"]
    )
    assert found.known_to(gt).image_ids.tolist() == [42, 9]


def test_results_of_coco_with_stems_are_evaluated(tmp_path: Path) -> None:
    gt, dt = one(names=["", ""])
    files = tmp_path / "gt.json", tmp_path / "dt.json"
    datasets.write(gt, files[0], "coco")
    datasets.write(dt, files[1], "coco")
    files[1].write_text(files[1].read_text().replace('"image_id":1,', '"image_id":"0001",'))
    assert '"0001"' in files[1].read_text()
    assert evaluate(*files).summary["AP"] == 1
    done = run_here("eval", *files, "--json")
    assert (done.code or 0, done.err.count("error")) == (0, 0)
    assert json.loads(done.out)["summary"]["AP"] == 1


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"score": None}, r"score: expected .*, found null|score"),
        ({"bbox": [1, 2, 3]}, "bbox"),
        ({"image_id": [1]}, "image_id: expected an integer"),
        ({"image_id": None}, "image_id: expected an integer"),
    ],
)
def test_a_wrong_record_beside_names_is_named(tmp_path: Path, change: dict[str, object], says: str) -> None:
    path = tmp_path / "dt.json"
    path.write_text(json.dumps([RECORD, {**RECORD, **change}]))
    with pytest.raises(DatasetError, match=rf"dt.json: detections\[1\].*{says}"):
        datasets.read_detections(path)
    kept = datasets.read_detections(path, on_invalid="drop")
    assert (len(kept), kept.dropped) == (1, 1)


VOC = """<annotation><filename>{0}.jpg</filename><size><width>64</width><height>48</height></size>
<object><name>{1}</name><bndbox><xmin>5</xmin><ymin>7</ymin><xmax>24</xmax><ymax>18</ymax></bndbox></object></annotation>"""


def voc(place: Path) -> GroundTruth:
    """Two images, whose classes are in another order than in the alphabet."""
    place.mkdir()
    for name, label in (("a", "person"), ("b", "car")):
        (place / f"{name}.xml").write_text(VOC.format(name, label))
    return datasets.read(place)


def results(images: list[int | str]) -> list[dict[str, object]]:
    return [
        {"image_id": image, "category_id": number, "bbox": [4, 6, 20, 12], "score": 0.5}
        for number, image in enumerate(images, start=1)
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dt.csv", "filename,category_id,score,x,y,w,h\na.jpg,1,.9,4,6,20,12\nb.jpg,2,.9,4,6,20,12\n"),
        ("whole.csv", "filename,class,score,x,y,w,h\na.jpg,1,.9,4,6,20,12\n"),
        ("ids.json", json.dumps(results(["a", "b"]))),
        ("names.json", json.dumps(results(["a.jpg", "b.jpg"]))),
        ("set.json", json.dumps({"images": [], "annotations": results(["a", "b"])})),
    ],
)
def test_ids_of_classes_are_said_however_images_are_called(name: str, text: str, tmp_path: Path) -> None:
    gt = voc(tmp_path / "voc")
    (tmp_path / name).write_text(text)
    if name == "set.json":  # its images are numbers
        (tmp_path / name).write_text(text.replace('"a"', "1").replace('"b"', "2"))
        gt = GroundTruth.from_arrays(
            image_ids=[1, 2], category_ids=gt.category_ids, boxes=gt.boxes, categories={1: "car", 2: "person"}
        )
        gt = dataclasses.replace(gt, categories=dataclasses.replace(gt.categories, made_up_ids=True))
    expected = f"{tmp_path / name}: {gt.source} has no ids of classes, so they count in the order of their names"
    assert [note for note in evaluate(gt, tmp_path / name).notes if note.startswith(expected)] == [
        f"{expected}: 1 is 'car', 2 is 'person'"
    ]


def test_names_of_classes_need_no_note(tmp_path: Path) -> None:
    gt = voc(tmp_path / "voc")
    (tmp_path / "dt.csv").write_text("filename,category_id,class,score,x,y,w,h\na.jpg,7,person,.9,4,6,20,12\n")
    assert evaluate(gt, tmp_path / "dt.csv").notes == ()


def test_ids_of_classes_that_contradict_a_known_name_are_refused(tmp_path: Path) -> None:
    """Where a name is unknown, ids count; but not if another name shows that they are those of another file."""
    gt, _ = one(names=["1.jpg"], classes={1: "a_b", 2: "face", 3: "traffic_light"})
    head, place = "image_id,category_id,category,x,y,width,height,score", "4,6,20,12,0.5"
    path = tmp_path / "dt.csv"
    path.write_text(f"{head}\n1,1,a b,{place}\n1,2,face,{place}\n")
    assert datasets.read_detections(path, "csv", ground_truth=gt).category_ids.tolist() == [1, 2]
    path.write_text(f"{head}\n1,1,a b,{place}\n1,3,face,{place}\n")
    with pytest.raises(
        DatasetError, match=r"line 3, category: expected the class that category_id says .* found 'face'"
    ):
        datasets.read_detections(path, "csv", ground_truth=gt)
    path.write_text(f"{head}\n1,1,a_b,{place}\n1,3,face,{place}\n")  # all known: names say the same everywhere
    assert datasets.read_detections(path, "csv", ground_truth=gt).category_ids.tolist() == [1, 2]
