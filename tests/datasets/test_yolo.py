"""YOLO's data sets and text files through the one door: `ioukit.datasets.read` and `read_detections`."""

from __future__ import annotations

import gzip
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest
from numpy.testing import assert_allclose

import ioukit
from ioukit import DatasetError, Detections, GroundTruth
from ioukit.checks import check
from ioukit.datasets import find_format, read, read_detections, write
from ioukit.datasets.shapes.writing import make_shapes
from ioukit.evaluation import evaluate
from support.command import run_fresh, run_here
from support.paths import EXAMPLES, load

if TYPE_CHECKING:
    from pathlib import Path

yaml = pytest.importorskip("yaml", reason="data.yaml needs PyYAML: pip install 'ioukit[yolo]'")
Image = pytest.importorskip("PIL.Image", reason="sizes of images need Pillow: pip install 'ioukit[yolo]'")

LABELS = {"a": "1 0.5 0.5 0.5 0.25\n0 0.1 0.1 0.2 0.2\n", "b": "", "c": "0 0.75 0.5 0.5 1\n"}
SIZES = {"a.png": (40, 20), "b.jpg": (30, 30), "c.png": (8, 16), "d.png": (5, 5)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two splits; ``val`` holds four images, of which the last has no text file."""
    for split in ("train", "val"):
        (tmp_path / "images" / split).mkdir(parents=True)
        (tmp_path / "labels" / split).mkdir(parents=True)
    for name, size in SIZES.items():
        Image.new("RGB", size).save(tmp_path / "images" / "val" / name)
    for stem, text in LABELS.items():
        (tmp_path / "labels" / "val" / f"{stem}.txt").write_text(text)
    Image.new("RGB", (10, 10)).save(tmp_path / "images" / "train" / "t.png")
    (tmp_path / "labels" / "train" / "t.txt").write_text("1 .5 .5 1 1")
    describe(tmp_path)
    return tmp_path


def describe(folder: Path, **changes: Any) -> Path:
    settings = {"train": "images/train", "val": "images/val", "names": ["ant", "bee"], **changes}
    (folder / "data.yaml").write_text(
        yaml.safe_dump({key: value for key, value in settings.items() if value is not ...}, sort_keys=False)
    )
    return folder / "data.yaml"


def test_columns_are_those_of_the_files(folder: Path) -> None:
    gt = read(folder / "data.yaml")
    assert gt.source == str(folder / "data.yaml")
    assert (gt.images.ids.tolist(), list(gt.images.names)) == ([0, 1, 2, 3], list(SIZES))
    assert gt.images.sizes.tolist() == [list(size) for size in SIZES.values()]
    assert gt.images.attributes["path"].tolist() == [str(folder / "images" / "val" / name) for name in SIZES]
    assert (gt.categories.ids.tolist(), gt.categories.names) == ([0, 1], ("ant", "bee"))
    assert (gt.ids.tolist(), gt.image_ids.tolist(), gt.category_ids.tolist()) == ([1, 2, 3], [0, 0, 2], [1, 0, 0])
    assert_allclose(gt.boxes, [[10.0, 7.5, 20.0, 5.0], [0.0, 0.0, 8.0, 4.0], [4.0, 0.0, 4.0, 16.0]])
    assert_allclose(gt.areas, [100, 32, 64])
    assert_allclose(gt.attributes["fractions"][0], [0.25, 0.375, 0.75, 0.625])
    assert (gt.dropped, gt.notes, gt.crowd.tolist()) == (0, (), [False] * 3)
    train = read(folder / "data.yaml", split="train")
    assert (train.boxes.tolist(), list(train.images.names)) == ([[0, 0, 10, 10]], ["t.png"])


@pytest.mark.parametrize("val", ["images/val", "../images/val", "list.txt"])
def test_places_of_a_split(folder: Path, val: str) -> None:
    (folder / "list.txt").write_text("images/val/a.png\n\n./images/val/c.png\n")
    gt = read(describe(folder, val=val, names={0: "ant", 1: "bee"}))
    assert gt.categories.names == ("ant", "bee")
    assert len(gt) == 3
    assert len(gt.images) == (2 if val == "list.txt" else 4)


def test_a_root_of_its_own(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert len(read(describe(elsewhere, path=str(folder)))) == 3
    assert len(read(describe(folder, path=None))) == 3
    with pytest.raises(DatasetError, match=r"data\.yaml: path must be a folder, got 5"):
        read(describe(folder, path=5))


def test_labels_beside_the_images_of_a_split(folder: Path) -> None:
    """`train/images` and `train/labels`, as other tools lay it out; the last folder `images` counts."""
    inner = folder / "images" / "inner"
    (inner / "images").mkdir(parents=True)
    (inner / "labels").mkdir()
    Image.new("RGB", (10, 20)).save(inner / "images" / "x.PNG")
    (inner / "labels" / "x.txt").write_text("0 0.5 0.5 0.5 0.5")
    assert read(describe(folder, val="images/inner/images")).boxes.tolist() == [[2.5, 5, 5, 10]]


def test_an_image_on_its_side_has_the_size_that_is_seen(folder: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (40, 20)).save(folder / "images" / "train" / "t.png", exif=exif)
    assert read(folder / "data.yaml", split="train").images.sizes.tolist() == [[20, 40]]


def test_only_headers_are_read(folder: Path) -> None:
    image = folder / "images" / "val" / "c.png"
    image.write_bytes(image.read_bytes()[:50])
    assert len(read(folder / "data.yaml", threads=1)) == 3


BAD_LINES = {
    "0 0.5 0.5 0.1": "expected class cx cy w h, got '0 0.5 0.5 0.1'",
    "0 0.5 0.5 0.1 0.1 0.9": "expected class cx cy w h",
    "ant 0.5 0.5 0.1 0.1": 'number 1: expected a finite number, found "ant"',
    "0 0.5 nan 0.1 0.1": 'number 3: expected a finite number, found "nan"',
    "2 0.5 0.5 0.1 0.1": "class 2 is not one of 0 to 1",
    "0.5 0.5 0.5 0.1 0.1": "class 0.5 is not one of 0 to 1",
    "-1 0.5 0.5 0.1 0.1": "class -1 is not one of 0 to 1",
    "0 0.9 0.5 0.4 0.1": r"box \['0.9', '0.5', '0.4', '0.1'\] reaches out of the image by more than 1 % of it \(clip=",
    "0 0.5 0.5 0 0.1": "has no area in the image",
    "0 1.004 0.5 0.006 0.1": "has no area in the image",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_lines_are_refused_or_dropped(folder: Path, line: str) -> None:
    label = folder / "labels" / "val" / "c.txt"
    label.write_text(f"{line}\n{LABELS['c']}")
    for policy in ("error", "pycocotools"):
        with pytest.raises(DatasetError, match=rf"c\.txt: line 1[:,] .*{BAD_LINES[line]}"):
            read(folder / "data.yaml", on_invalid=policy)
    gt = read(folder / "data.yaml", on_invalid="drop")
    assert (len(gt), gt.dropped, len(gt.notes)) == (3, 1, 1)
    assert "data.yaml: left out 1 x " in gt.notes[0]
    with pytest.raises(ValueError, match="unknown on_invalid 'skip'"):
        read(folder / "data.yaml", on_invalid="skip")


@pytest.mark.parametrize(
    ("line", "box"),
    [
        ("1 0.95 0.5 0.1025 0.5", [35.95, 5, 4.05, 10]),
        ("1 0.9505 0.5 0.1 0.5", [36.02, 5, 3.98, 10]),
        ("1 0.5 0.5 1.01 1.018", [0, 0, 40, 20]),
        ("1 0.005 0.99 0.028 0.02", [0, 19.6, 0.76, 0.4]),
    ],
)
def test_boxes_that_reach_out_by_less_than_a_hundredth_are_cut_and_counted(
    folder: Path, line: str, box: list[float]
) -> None:
    before = read(folder)
    label = folder / "labels" / "val" / "a.txt"
    label.write_text(f"{line}\n{LABELS['a']}")
    for policy in ("error", "drop"):
        gt = read(folder, on_invalid=policy)
        assert (len(gt), gt.dropped, gt.boxes[0].tolist()) == (len(before) + 1, 0, box)
        assert gt.notes == (f"{folder}: 1 x box that reaches out of its image: cut at the edges",)


def test_clip_cuts_all_that_reach_out(folder: Path) -> None:
    label = folder / "labels" / "val" / "a.txt"
    label.write_text("1 0.9 0.5 0.4 0.5\n1 0.5 -3 9 7\n")
    gt = read(folder, clip=True)
    assert gt.boxes[:2].tolist() == [[28, 5, 12, 10], [0, 0, 40, 10]]
    assert gt.notes == (f"{folder}: 2 x box that reaches out of its image: cut at the edges",)
    command = run_here("inspect", folder, "--option", "clip=true")
    assert command.code == 0
    label.write_text("1 1.6 0.5 0.4 0.5\n1 0.9 0.5 0.4 0.5\n")
    with pytest.raises(DatasetError, match=r"a\.txt: line 1: box \['1\.6', .* has no area in the image"):
        read(folder, clip=True)
    assert len(read(folder, clip=True, on_invalid="drop")) == 2


def test_bad_files_are_refused_or_dropped(folder: Path) -> None:
    (folder / "images" / "val" / "a.png").unlink()
    with pytest.raises(DatasetError, match=r"a\.txt has labels, but there is no image a in .*val"):
        read(folder / "data.yaml")
    (folder / "images" / "val" / "b.jpg").write_bytes(b"no image")
    (folder / "labels" / "val" / "c.txt").write_bytes(b"\xff\xfe")
    gt = read(folder / "data.yaml", on_invalid="drop")
    assert (list(gt.images.names), len(gt), gt.dropped) == (["c.png", "d.png"], 0, 3)
    assert [note.partition("left out ")[2][:15] for note in gt.notes[:3]] == [
        "1 x missing ima", "1 x corrupt ima", "1 x bad line: /",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"val": ...}, r"expected train, val and names, got \['train', 'names'\]"),
        ({"names": ...}, "expected train, val and names"),
        ({"names": []}, r"names must be a list, or a mapping from 0 on, got \[\]"),
        ({"names": {1: "ant"}}, "names must be a list, or a mapping from 0 on"),
        ({"val": ["a", 5]}, r"val must be a folder or a \.txt file, or a list of them, got \['a', 5\]"),
        ({"val": []}, r"val must be a folder or a \.txt file, or a list of them, got \[\]"),
        ({"val": ["images/val", "images/none"]}, "val: there is no folder .*none"),
        ({"val": ["images/val", "images/val"]}, r"val: expected images of different names, found a\.png twice"),
        ({"kpt_shape": [17]}, r"kpt_shape must be \[points, 2 or 3\], got \[17\]"),
        ({"val": "labels/val"}, "val: there is no image in .*labels"),
    ],
)
def test_what_a_data_yaml_lacks_is_named(folder: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DatasetError, match=rf"data\.yaml: {message}"):
        read(describe(folder, **changes))
    with pytest.raises(DatasetError, match="expected train, val and names and 'test', got"):
        read(folder / "data.yaml", split="test")


@pytest.mark.parametrize(
    ("split", "place"),
    [
        ("val", "val/images"),
        ("val", "valid/images"),
        ("val", "images/valid"),
        ("val", "validation/images"),
        ("train", "train/images"),
        ("test", "images/test"),
    ],
)
@pytest.mark.parametrize("root", [None, "gone/data"])
def test_a_missing_folder_of_a_split_is_looked_for(tmp_path: Path, split: str, place: str, root: str | None) -> None:
    folder = tmp_path / place
    folder.mkdir(parents=True)
    Image.new("RGB", (10, 20)).save(folder / "x.png")
    labels = tmp_path / place.replace("images", "labels")
    labels.mkdir(parents=True)
    (labels / "x.txt").write_text("0 0.5 0.5 0.5 0.5")
    described = describe(tmp_path, **{split: "../nowhere", "path": root or ...})
    gt = read(described, split=split)
    assert gt.boxes.tolist() == [[2.5, 5, 5, 10]]
    missing = tmp_path / (root or "") / "../nowhere"
    assert gt.notes == (f"{described}: {split}: there is no folder {str(missing)!r}; {folder} is read",)


def test_a_split_without_a_folder_names_the_others(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    described = describe(folder, test="images/none", extra="nowhere", nc=2)
    with pytest.raises(
        DatasetError, match=r"yaml: test: there is no folder .*none'; the splits that exist: train, val$"
    ):
        read(described, split="test")
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    with pytest.raises(DatasetError, match=r"val: there is no folder .*; no split has a folder$"):
        read(describe(elsewhere))
    (elsewhere / "images").mkdir()
    (elsewhere / "images" / "val").symlink_to(folder / "images" / "val")  # leads out of the data set
    with pytest.raises(DatasetError, match=r"val: there is no folder .*; no split has a folder$"):
        read(describe(elsewhere, val="images/none"))


def test_a_named_list_that_is_missing_is_not_replaced(folder: Path) -> None:
    with pytest.raises(DatasetError, match=r"val: there is no folder .*list\.txt'; the splits that exist: train"):
        read(describe(folder, val="list.txt"))


def test_a_missing_package_is_named_with_the_extra(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    assert read(folder / "data.yaml").categories.names == ("ant", "bee"), "plain lines need no package"
    with (folder / "data.yaml").open("a") as file:
        file.write("download: |\n  import os\n")
    with pytest.raises(ModuleNotFoundError, match=r"data\.yaml needs yaml: pip install 'ioukit\[yolo\]'"):
        read(folder / "data.yaml")


def test_a_drawn_data_set_is_the_same_in_both_formats(tmp_path: Path) -> None:
    make_shapes(tmp_path / "shapes", images=6, size=(70, 50), val=0.5, handwritten=False)
    for split in ("train", "val"):
        ours = read(tmp_path / "shapes" / "data.yaml", split=split)
        coco = read(tmp_path / "shapes" / "annotations" / f"{split}.json")
        assert (list(ours.images.names), ours.categories.names) == (list(coco.images.names), coco.categories.names)
        positions = coco.images.positions(coco.image_ids.tolist())
        assert ours.image_ids.tolist() == positions.tolist()
        names = [
            [gt.categories.names[gt.categories.ids.tolist().index(k)] for k in gt.category_ids] for gt in (ours, coco)
        ]
        assert names[0] == names[1]
        assert_allclose(ours.boxes, coco.boxes, atol=1e-4)


def test_numbers_of_whole_pixels_keep_all_their_bits(tmp_path: Path) -> None:
    folder = EXAMPLES / "coco_val2017_100"
    gt = load(folder / "ground_truth.json")
    gt["annotations"] = [record for record in gt["annotations"] if not record["iscrowd"]]  # YOLO has no crowds
    dt = load(folder / "yolact.json")
    for record in [*gt["annotations"], *dt]:
        record.pop("segmentation", None)
        record["bbox"] = [max(1, round(number)) for number in record["bbox"]]
        record["area"] = record["bbox"][2] * record["bbox"][3]
    files = {name: tmp_path / f"{name}.json" for name in ("gt", "dt")}
    files["gt"].write_text(json.dumps(gt), encoding="utf-8")
    files["dt"].write_text(json.dumps(dt), encoding="utf-8")
    assert run_here("convert", files["gt"], tmp_path / "gt", "--to", "yolo").code == 0
    truth = ("--ground-truth", files["gt"])
    assert run_here("convert", files["dt"], tmp_path / "dt", "--to", "yolo", *truth).code == 0
    as_coco = evaluate(files["gt"], files["dt"]).summary
    as_yolo = evaluate(tmp_path / "gt", tmp_path / "dt").summary
    assert as_yolo == as_coco
    assert 0.3 < as_yolo["AP"] < 0.5


def test_reading_needs_no_torch(folder: Path) -> None:
    program = f"import sys, ioukit; ioukit.datasets.read({str(folder / 'data.yaml')!r}); print('torch' in sys.modules)"
    assert run_fresh_python(program) == "False\n"


def run_fresh_python(program: str) -> str:
    import subprocess  # noqa: PLC0415 - for one test

    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


# ------------------------------------------------------------------------------------------------------- detections

FOUND = {"a": "1 0.5 0.5 0.5 0.25 0.9\n0 0.1 0.1 0.2 0.2 0.5\n", "c": "0 0.75 0.5 0.5 1 0.25\n1 1 1 0.5 0.5 0.1\n"}


@pytest.fixture
def found(folder: Path) -> Path:
    place = folder / "found"
    place.mkdir()
    for stem, text in FOUND.items():
        (place / f"{stem}.txt").write_text(text)
    (place / "classes.txt").write_text("ant\nbee\n")
    return place


def test_detections_are_those_of_the_text_files(folder: Path, found: Path) -> None:
    gt = read(folder / "data.yaml")
    dt = read_detections(found, ground_truth=gt)
    assert (dt.image_ids.tolist(), dt.category_ids.tolist()) == ([0, 0, 2, 2], [1, 0, 0, 1])
    boxes = [[10.0, 7.5, 20.0, 5.0], [0.0, 0.0, 8.0, 4.0], [4.0, 0.0, 4.0, 16.0], [6.0, 12.0, 4.0, 8.0]]
    assert_allclose(dt.boxes, boxes)
    assert dt.scores.tolist() == [0.9, 0.5, 0.25, 0.1]
    assert evaluate(gt, dt).summary["AP"] == pytest.approx(1)
    assert evaluate(folder / "data.yaml", found).to_json() == evaluate(gt, dt).to_json()


def test_the_command_reads_both(folder: Path, found: Path) -> None:
    command = run_here("eval", folder / "data.yaml", found)
    assert command.code in (0, None), command.err
    assert "area=   all | maxDets=100 ] = 1.000" in command.out
    command = run_fresh("eval", folder / "data.yaml", found, "--json")
    assert command.code == 0, command.err


def test_detections_of_a_data_set_with_ids_of_its_own(folder: Path, found: Path) -> None:
    yolo = read(folder / "data.yaml")
    gt = GroundTruth.from_arrays(
        image_ids=[],
        category_ids=[],
        boxes=[],
        images=["z", "y", "x"],
        sizes=yolo.images.sizes[:3],
        names=["deep/a.jpeg", "b", "c.png"],
        categories={5: "ant", 9: "bee"},
    )
    dt = read_detections(found, ground_truth=gt)
    assert (dt.image_labels().tolist(), dt.category_ids.tolist()) == (["z", "z", "x", "x"], [9, 5, 5, 9])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "0 0.5 0.5 0.1 0.1",
            r"expected class cx cy w h score \(.* save_conf=True\), as 2 of 3 lines have, got '0 0.5",
        ),
        ("-1 0.5 0.5 0.1 0.1 0.5", "class -1 is not one of 0, 1, 2, ..."),
        ("1 0.5 0.5 -1 0.1 0.5", r"expected a width and a height of at least 0, got \['-1', '0.1'\]"),
        ("1 0.5 0.5 0.1 0.1 inf", 'number 6: expected a finite number, found "inf"'),
    ],
)
def test_bad_lines_of_detections_are_refused_or_dropped(folder: Path, found: Path, line: str, message: str) -> None:
    gt = read(folder / "data.yaml")
    (found / "c.txt").write_text(f"\n{line}\n")
    with pytest.raises(DatasetError, match=rf"c\.txt: line 2[:,] {message}"):
        read_detections(found, ground_truth=gt)
    dt = read_detections(found, ground_truth=gt, on_invalid="drop")
    assert (len(dt), dt.dropped) == (2, 1)


def test_numbers_of_classes_beyond_the_list_are_refused_by_evaluate_and_explained_by_check(
    folder: Path, found: Path
) -> None:
    gt = read(folder / "data.yaml")
    (found / "c.txt").write_text("2 0.5 0.5 0.1 0.1 0.5\n3 0.5 0.5 0.1 0.1 0.5\n")
    dt = read_detections(found, ground_truth=gt)
    assert sorted(dt.category_ids.tolist())[-2:] == [2, 3]
    with pytest.raises(DatasetError, match=r"category_id: expected the id of a category of the ground truth, found 2"):
        evaluate(gt, dt)
    assert any(finding.code == "classes_only_in_detections" for finding in check(gt, dt).findings)
    gapped = GroundTruth.from_arrays(
        image_ids=gt.image_ids,
        category_ids=gt.category_ids * 4 + 5,
        boxes=gt.boxes,
        images=gt.images.ids,
        sizes=gt.images.sizes,
        names=gt.images.names,
        categories={5: "bee", 9: "ant"},
    )
    assert sorted(read_detections(found, ground_truth=gapped).category_ids.tolist())[-2:] == [10, 11]
    dropped = read_detections(found, ground_truth=gt, on_invalid="drop")
    assert (dropped.dropped, dropped.category_ids.max()) == (2, 1)
    assert any("class 2 is not one of 0 to 1" in note for note in dropped.notes)


def test_detections_that_belong_nowhere(folder: Path, found: Path) -> None:
    gt = read(folder / "data.yaml")
    (found / "none.txt").write_text("0 0.5 0.5 0.1 0.1 0.5")
    with pytest.raises(DatasetError, match=r"none\.txt has detections, but .*data\.yaml lists no image none"):
        read_detections(found, ground_truth=gt)
    assert read_detections(found, ground_truth=gt, on_invalid="drop").dropped == 1
    with pytest.raises(
        DatasetError, match=r"data\.yaml: expected a folder of text files with detections, found a file"
    ):
        read_detections(folder / "data.yaml", ground_truth=gt)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_detections(folder / "nowhere", "yolo", ground_truth=gt)
    row: dict[str, Any] = {"image_ids": [1], "category_ids": [0], "boxes": [[0, 0, 1, 1]]}
    with pytest.raises(DatasetError, match="image 1: expected a file name, a width and a height"):
        read_detections(found, ground_truth=GroundTruth.from_arrays(**row))
    twins = GroundTruth.from_arrays(**row, images=[1, 2], names=["a.jpg", "x/a.png"], sizes=[[1, 1], [1, 1]])
    with pytest.raises(DatasetError, match="expected file names that differ but for the suffix, found a twice"):
        read_detections(found, ground_truth=twins)


def animals(**changes: Any) -> GroundTruth:
    """A cat and a dog, whose ids are in another order than the numbers of the detections below."""
    columns: dict[str, Any] = {
        "image_ids": [1, 2],
        "category_ids": [1, 2],
        "boxes": [[100, 100, 80, 60]] * 2,
        "images": [1, 2],
        "names": ["a.jpg", "b.jpg"],
        "sizes": [[640, 480]] * 2,
        "categories": {1: "cat", 2: "dog"},
    }
    return GroundTruth.from_arrays(**{**columns, **changes})


def results(folder: Path, *, cat: int = 1, dog: int = 0) -> Path:
    folder.mkdir(parents=True)
    for name, number in (("a", cat), ("b", dog)):
        (folder / f"{name}.txt").write_text(f"{number} {140 / 640} {130 / 480} {80 / 640} {60 / 480} 0.9\n")
    return folder


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("runs/labels/classes.txt", "dog\ncat\n"),
        ("runs/labels/obj.names", "dog\ncat\n"),
        ("runs/data.yaml", "names: [dog, cat]\n"),
        ("data.yaml", "names: {0: dog, 1: cat}\n"),
    ],
)
def test_classes_of_detections_meet_by_name_where_a_file_names_them(tmp_path: Path, place: str, text: str) -> None:
    gt, labels = animals(), results(tmp_path / "runs" / "labels")
    assert read_detections(labels, ground_truth=gt).category_ids.tolist() == [2, 1], "no file: by rising id"
    (tmp_path / place).write_text(text)
    for folder in (labels, labels.parent):
        dt = read_detections(folder, "yolo", ground_truth=gt)
        assert dt.category_ids.tolist() == [1, 2]
        assert evaluate(gt, dt).summary["AP"] == pytest.approx(1)
    # Names that are given come before those of files.
    given = read_detections(labels, ground_truth=gt, names=["cat", "dog"])
    assert given.category_ids.tolist() == [2, 1]


def test_names_of_classes_of_detections_may_be_given(tmp_path: Path) -> None:
    gt, labels = animals(), results(tmp_path / "labels", dog=5)
    names = ["x", "cat", "y", "z", "z", "dog"]
    (tmp_path / "voc.names").write_text("\n".join(names))
    for given in (names, str(tmp_path / "voc.names")):
        dt = read_detections(labels, ground_truth=gt, names=given)
        assert dt.category_ids.tolist() == [1, 2]


def test_a_named_class_of_detections_that_the_ground_truth_lacks(tmp_path: Path) -> None:
    gt, labels = animals(), results(tmp_path / "labels")
    (labels / "classes.txt").write_text("wolf\ncat\nfox\n")
    message = r"b\.txt: line 1: class 0 is 'wolf', which is not one of the 2 classes of the ground truth; names="
    with pytest.raises(DatasetError, match=message):
        read_detections(labels, ground_truth=gt)
    dt = read_detections(labels, ground_truth=gt, on_invalid="drop")
    assert (dt.category_ids.tolist(), dt.dropped) == ([1], 1)


def test_written_detections_keep_their_classes_below_other_names(tmp_path: Path) -> None:
    gt = animals()
    (tmp_path / "data.yaml").write_text("names: [dog, cat]\n")
    dt = read_detections(results(tmp_path / "labels"), ground_truth=gt)
    write(dt, tmp_path / "again", "yolo", ground_truth=gt)
    assert read_detections(tmp_path / "again", ground_truth=gt).category_ids.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("line", "fits"),
    [
        ("0 140 130 80 60 0.9", False),
        ("0 0.5 0.5 2.01 0.5 0.9", False),
        ("0 2.01 0.5 0.1 0.5 0.9", False),
        ("0 2 0.5 2 0.5 0.9", True),
        ("0 0.76 0.63 0.92 1.06 0.9", True),  # of a detector that does not cut its boxes
        ("0 100 100 180 100 180 160 100 160 0.9", False),
        ("0 0.9 0.9 1.1 0.9 1.1 1.1 0.9 1.1 0.9", True),
    ],
)
def test_detections_in_pixels_are_refused(tmp_path: Path, line: str, fits: bool) -> None:
    gt, labels = animals(), results(tmp_path / "labels")
    (labels / "b.txt").write_text(f"{line}\n")
    if not fits:
        message = r"b\.txt: line 1: expected a box whose centre and size are each a fraction of the image, at most 2"
        with pytest.raises(DatasetError, match=message):
            read_detections(labels, "yolo", ground_truth=gt)
    dt = read_detections(labels, "yolo", ground_truth=gt, on_invalid="drop")
    assert (len(dt), dt.dropped) == ((2, 0) if fits else (1, 1))


def test_detections_far_out_of_their_image_are_not_written(tmp_path: Path) -> None:
    gt = animals()
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[1400, 0, 9, 9]], scores=[1])
    with pytest.raises(DatasetError, match="row 0: expected a box whose centre and size are each a fraction"):
        write(dt, tmp_path / "out", "yolo", ground_truth=gt)


def test_missing_sizes_for_detections_name_the_way_out(tmp_path: Path) -> None:
    gt = animals(sizes=None)
    with pytest.raises(
        DatasetError, match=r"a width and a height, .* reader of the ground truth, images=FOLDER \(--gt-"
    ):
        read_detections(results(tmp_path / "labels"), ground_truth=gt)


# ------------------------------------------------------------------------------------------- which format is a path?


@pytest.mark.parametrize(
    ("name", "content", "known"),
    [
        ("gt.json", b"anything", "coco"),
        ("GT.JSON.GZ", b"anything", "coco"),
        ("gt", b'{"images": []}', "coco"),
        ("dt.txt", b" \n\t[1]", "coco"),
        ("bom", b"\xef\xbb\xbf{}", "coco"),
        ("packed", gzip.compress(b"{}", mtime=0), "coco"),
        ("data.yaml", b"train: images", "yolo"),
        ("data.YML", b"{train: images}", "yolo"),
        ("labels.csv", b"1,2,3", None),
        ("empty", b"", None),
    ],
)
def test_a_format_is_found_by_name_or_first_bytes(tmp_path: Path, name: str, content: bytes, known: str | None) -> None:
    (tmp_path / name).write_bytes(content)
    if known is None:
        columns = "as a table: expected columns of boxes, such as xmin, .*, height; found 1, 2, 3; "
        table = columns if name.endswith(".csv") else ""
        with pytest.raises(DatasetError, match=f"not a format that can be read; {table}the formats are coco, .*yolo"):
            find_format(tmp_path / name)
    else:
        assert find_format(tmp_path / name).name == known


def test_a_folder_is_yolo_if_it_holds_text_files(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="not a format that can be read"):
        find_format(tmp_path)
    (tmp_path / "a.txt").touch()
    assert find_format(tmp_path).name == "yolo"
    with pytest.raises(FileNotFoundError, match="none"):
        find_format(tmp_path / "none")
    assert find_format(tmp_path / "none", "yolo").name == "yolo"
    with pytest.raises(ValueError, match="unknown format 'other'; choose from coco, "):
        find_format(tmp_path, "other")


def test_json_under_another_name_is_evaluated(tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 5, 5]}
    gt = {"images": [{"id": 1}], "categories": [{"id": 1}], "annotations": [{**box, "id": 1, "area": 25, "iscrowd": 0}]}
    (tmp_path / "truth").write_text(json.dumps(gt))
    (tmp_path / "found.txt").write_text(json.dumps([{**box, "score": 1}]))
    assert ioukit.evaluate(tmp_path / "truth", tmp_path / "found.txt").summary["AP"] == pytest.approx(1)
