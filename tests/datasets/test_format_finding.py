"""Which format a path has: every sample of every format is recognised as that, and as nothing else."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import struct
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError, RotatedBoxes
from ioukit.datasets import GroundTruth, find_format, write
from ioukit.datasets.formats.builtin import BUILTIN
from support.paths import DATA, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable

SMALL = DATA / "formats_small"

FILES: dict[str, list[str]] = {
    "voc": [
        "formats_small/voc_xml",
        "formats_small/voc_xml/train/train_001.xml",
        "raccoon_voc/annotations",
        "toy_cats/gts_vocpascal_format",
    ],
    "coco": [
        "formats_small/coco_json/train/_annotations.coco.json",
        "coco_val2014_100/instances_val2014_100.json",
        "coco_val2014_100/instances_val2014_fakebbox100_results.json",
        "toy_cats/gts_coco_format/toy_example_coco.JSON",
    ],
    "cvat": [
        "formats_small/cvat_images",
        "formats_small/cvat_images/train.xml",
        "formats_small/cvat_video",
        "formats_small/cvat_video/annotations.xml",
    ],
    "labelme": ["formats_small/labelme_json", "formats_small/labelme_json/2007_000243.json"],
    "labelme-xml": ["formats_small/labelme_xml", "formats_small/labelme_xml/Annotations/subset1/img1.xml"],
    "lvis": ["lvis_10/gt.json"],
    "csv": [*(f"formats_small/csv/ann{number}.csv" for number in ("", 2, 3)), "formats_small/vott_csv/test-export.csv"],
    "dota": [*(f"formats_small/dota{inner}" for inner in ("", "/train", "/train/labelTxt"))],
    "mot": ["formats_small/mot", "formats_small/mot/gt", "formats_small/mot/gt/gt.txt"],
    "wider-face": ["formats_small/wider_face", "formats_small/wider_face/wider_face_split/wider_face_val_bbx_gt.txt"],
    "kitti": ["formats_small/kitti/label_2"],
    "open-images": ["formats_small/open_images", "formats_small/open_images/train-annotations-bbox.csv"],
    "roboflow-coco": ["formats_small/coco_json", "formats_small/coco_json/train"],
    "padilla": [f"toy_cats/dets_classname_{kind}" for kind in ("abs_xywh", "abs_xyx2y2", "rel_xcycwh")],
    "yolo": ["formats_small/yolo_ultralytics/data.yaml", "formats_small/yolo_ultralytics/train/labels"],
}
"""Paths of samples in the folder of test data, by format."""


def _header_of_png(*, colours: int) -> bytes:
    """The first bytes of a PNG of 640 x 480 pixels: colours are 3 for a palette, and 0 for grey."""
    return b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIBB", 640, 480, 8, colours)


CONTENTS: dict[str, list[tuple[str, str | bytes]]] = {
    "coco": [
        ("a.json", '{"images": [], "annotations": [], "categories": []}'),
        ("results.json", '[{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}]'),
        ("empty.json", "[]"),
        ("no_suffix", '{"images": []}'),
        ("packed.json.gz", gzip.compress(b'{"images": []}', mtime=0)),
        ("lines.jsonl", '{"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}\n'),
        ("packed.ndjson.gz", gzip.compress(b'{"image_id": 1}\n', mtime=0)),
        ("no_lines.jsonl", ""),
    ],
    "answers": [
        ("a.jsonl", '{"image": "a.jpg", "answer": "[]"}\n'),
        ("b.ndjson", '\ufeff{"answer" : "{\\"image_id\\": 1}", "image": "a.jpg"}\n'),
    ],
    "createml": [
        ("a.json", '[{"image": "a", "annotations": []}]'),
        ("b.json", '\ufeff[ { "imagefilename": "a", "annotation": []}]'),
        ("a/_annotations.createml.json", '[{"annotations": [{"coordinates": {}}]}]'),
    ],
    "coco-panoptic": [
        ("a.json", '{"annotations": [{"segments_info": []}], "images": []}'),
        ("b.json", '{"images": ["' + "x" * 90_000 + '"], "annotations": [{"segments_info" : []}]}'),
    ],
    "burst": [
        ("a.json", '{"sequences": [], "categories": []}'),
        ("b.json", '{"split": "val", "sequences": [{"track_category_ids": {}, "segmentations": [{}]}]}'),
    ],
    "youtube-vis": [
        ("a.json", '{"videos": [{"id": 1, "file_names": ["a/0.jpg"]}], "annotations": []}'),
        ("b.json", '[{"video_id": 1, "score": 0.5, "segmentations" : [null]}]'),
    ],
    "davis": [
        ("bear/00000.png", _header_of_png(colours=3)),
        ("cows/00000.png", _header_of_png(colours=0)),
    ],
    "roboflow-coco": [("valid/_annotations.coco.json", "{}")],
    "crowdhuman": [("a.odgt", json.dumps({"ID": "a", "gtboxes": []})), ("empty.odgt", "")],
    "lvis": [("a.json", '{"images": [{"id": 1, "neg_category_ids": []}], "annotations": [], "categories": []}')],
    "kitti": [("a/000001.txt", "Car 0 0 0 1 2 3 4 1 1 1 1 1 1 1\n"), ("b/000001.txt", "\n")],
    "csv": [("a.csv", '"filename","class","x1","y1","x2","y2"\n'), ("a.tsv", "image\tlabel\tx\ty\tw\th\n")],
    "parquet": [("a.parquet", b"PAR1 and more PAR1")],
    "arrow": [("a.arrow", b"ARROW1\0\0"), ("a.feather", b"ARROW1\0\0")],
    "dota": [("a/Task1_plane.txt", "P1 0.9 0 0 1 0 1 1 0 1\n"), ("a/P1.txt", "gsd:1\n\n0 0 1 0 1 1 0 1 plane 0\n")],
    "icdar2015": [
        ("a/gt_img_1.txt", "0,0,1,0,1,1,0,1,a word\n"),
        ("b/res_img_20.txt", ""),
        ("c/res_img_3.txt", "nonsense\n"),
    ],
    "mot": [("det.txt", "1,-1,0,0,5,5,0.5\n"), ("a/MOT17-02.txt", "1, 1, 0, 0, 5, 5, 0.5, -1, -1, -1\n")],
    "mots": [
        ("0002.txt", "0 1001 1 2 4 24P\n"),
        ("a/0002.txt", "\n0 1001 1 2 4 nonsense\n"),
        ("a/MOTS20-02/gt/gt.txt", "1 2001 2 2 4 24P\n"),
    ],
    "wider-face": [("a/b.txt", "b\n1\n0 0 5 5 0.5\n"), ("a.txt", "b.jpg\n0\n0 0 0 0 0 0 0 0 0 0\nc.jpg\n0\n")],
    "nuscenes": [
        ("a.json", '{"meta": {"use_camera": true}, "results": {}}'),
        ("b.json", '{"results" : {"token": [{"detection_name": "car"}]}, "meta": {}}'),
    ],
    "open-images": [("a.csv", "ImageID,LabelName,XMin,XMax,YMin,YMax\n")],
    "scalabel": [
        ("a.json", '{"frames": []}'),
        ("b.json", '[{"name": "a.jpg", "labels": null}]'),
        ("a/a.json", '{"name": "a", "attributes": {}, "frames": [{"timestamp": 1, "objects": []}]}'),
    ],
    "via": [
        ("a.json", '{"_via_settings": {}, "_via_img_metadata": {}}'),
        ("b.json", '{"a.jpg9": {"fileref": "", "filename": "a.jpg", "regions": {}, "file_attributes": {}}}'),
        (
            "a.csv",
            "#filename,file_size,file_attributes,region_count,region_id,region_shape_attributes,region_attributes",
        ),
    ],
    "voc": [("a/a.xml", "<annotation/>"), ("a/comp4_det_test_cat.txt", "b 0.5 1 2 3 4\n")],
    "yolo": [("a/a.txt", "0 0.5 0.5 0.1 0.1\n"), ("b/a.txt", "0 0.5 0.5 0.1 0.1 0.9\n"), ("data.yml", "names: [a]\n")],
}
"""Small files by format: the path, whose folder is the path to look at if it has one, and the content."""

BUILT = {known.name: known for known in BUILTIN}


def recognising(path: Path) -> list[str]:
    return [name for name, known in BUILT.items() if known.recognises(path)]


def test_every_format_has_samples() -> None:
    assert set(BUILT) <= FILES.keys() | CONTENTS.keys()
    assert FILES.keys() | CONTENTS.keys() <= set(BUILT)


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in FILES.items() for path in paths])
def test_a_sample_has_one_format(name: str, path: str) -> None:
    place = DATA / path
    assert find_format(place).name == name
    # Any folder of text files may be YOLO's, so YOLO comes last.
    assert [found for found in recognising(place) if found != "yolo" or place.is_file() or name == "yolo"] == [name]


@pytest.mark.parametrize(
    ("name", "path", "content"), [(name, *one) for name, contents in CONTENTS.items() for one in contents]
)
def test_small_files_have_one_format(name: str, path: str, content: str | bytes, tmp_path: Path) -> None:
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    if name == "kitti" and not (isinstance(content, str) and content.strip()):
        name = "yolo"  # a folder of empty text files may be either
    assert find_format(file if file.parent == tmp_path else file.parent).name == name


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_itself(path: Path) -> None:
    path.symlink_to(path)


def link_to_nothing(path: Path) -> None:
    path.symlink_to(path.parent / "nothing")


def empty_folder(path: Path) -> None:
    path.mkdir()


def empty_file(path: Path) -> None:
    path.touch()


def noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 8)


def closed(path: Path) -> None:
    path.touch(mode=0)


def missing(path: Path) -> None:
    assert not path.exists()


def folder_of_folders(path: Path) -> None:
    for suffix in (".txt", ".xml", ".json", ".csv", ".jpg"):
        (path / f"a{suffix}").mkdir(parents=True)


ODD = (fifo, link_to_itself, link_to_nothing, empty_folder, empty_file, noise, closed, missing, folder_of_folders)


@pytest.mark.parametrize(
    "suffix", ["", ".txt", ".json", ".xml", ".csv", ".yaml", ".odgt", ".zip", ".parquet", ".json.gz"]
)
@pytest.mark.parametrize("make", ODD, ids=lambda make: make.__name__)
def test_no_recogniser_raises(make: Callable[[Path], Any], suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"odd{suffix}"
    make(path)
    for known in BUILT.values():
        assert known.recognises(path) in (True, False), known.name


@pytest.mark.parametrize("kind", ["zip", "tar", "gztar", "bztar", "xztar"])
@pytest.mark.parametrize("name", [None, "labels", "labels.json.gz"])
def test_archives_are_refused(kind: str, name: str | None, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"images": []}')
    path = Path(shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path / "in"))
    path = path if name is None else path.rename(tmp_path / name)
    with pytest.raises(
        DatasetError, match=r"expected a file or a folder of labels, found an? \w+ file: unpack it first"
    ):
        find_format(path)


def test_an_unknown_path_is_refused(tmp_path: Path) -> None:
    noise(tmp_path / "a.bin")
    with pytest.raises(DatasetError, match=r"a\.bin: not a format that can be read; the formats are coco, .*yolo"):
        find_format(tmp_path / "a.bin")
    with pytest.raises(DatasetError, match="not a format that can be read"):
        find_format(tmp_path)
    with pytest.raises(FileNotFoundError):
        find_format(tmp_path / "nothing")
    with pytest.raises(ValueError, match="unknown format 'other'; choose from coco, "):
        find_format(tmp_path / "a.bin", "other")
    for name, near in (("COCO", "'coco'"), ("cocoa", "'coco'"), ("Open_Images", "'open-images'"), ("YOLO", "'yolo'")):
        with pytest.raises(
            ValueError, match=rf"unknown format '{name}'; did you mean {near}\? Else choose from coco, "
        ):
            find_format(tmp_path / "a.bin", name)


PAGE = (ROOT / "docs" / "label_files.md").read_text(encoding="utf-8")
TABLE = {re.findall("`(.*?)`", line)[0]: line.strip("| ").split(" | ") for line in PAGE.splitlines() if "| [`" in line}
"""The table of all formats on the page about labels: the cells of each row, by the name of the format."""

COLUMNS: dict[str, tuple[dict[str, Any], str, str]] = {
    "masks": ({"segmentations": [[[10, 10, 30, 10, 30, 20, 10, 20]]]}, r"masks|polygons", "segmentations of 1"),
    "keypoints": ({"keypoints": [[[10, 10, 2], [30, 20, 2]]]}, "keypoints", "keypoints of 1"),
    "rotated": (
        {"regions": RotatedBoxes([[20, 15, 20, 10, 0]], unit="radians", sense="clockwise")},
        "rotated boxes",
        "RotatedBoxes of 1",
    ),
    "flags": ({"flags": {"odd": [True]}}, "any flags", "flag odd of 1"),
    "attributes": ({"attributes": {"colour": ["red"]}}, "any flags and attributes", "attribute colour of 1"),
    "sizes": ({}, "sizes of images", "sizes of 1"),
}
"""Columns by what they are: the data, the words in the table if a format holds it, and how the note begins if not."""


def test_the_table_of_formats_names_all_of_them() -> None:
    assert sorted(TABLE) == sorted(BUILT)
    for name, cells in TABLE.items():
        known = BUILT[name]
        for cell, truth, found in (
            (cells[2], known.read, known.read_detections),
            (cells[3], known.write, known.write_detections),
        ):
            able = [word for word, function in (("GT", truth), ("DT", found)) if function is not None]
            assert cell == (", ".join(able) or "-"), name


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", [name for name, known in BUILT.items() if known.write is not None])
def test_the_table_of_formats_says_what_is_lost(name: str, column: str, tmp_path: Path) -> None:
    data, words, note = COLUMNS[column]
    ground_truth = GroundTruth.from_arrays(
        image_ids=[1],
        category_ids=[1],
        boxes=[[10, 10, 20, 10]],
        images=[1],
        names=["0--Parade/000001.jpg"],
        sizes=[[100, 100]],
        categories={1: "person"},
        **data,
    )
    notes = write(ground_truth, tmp_path / f"out{BUILT[name].suffix}", name)
    is_lost = any(line.startswith(note) for line in notes)
    assert is_lost == (re.search(words, TABLE[name][4]) is None), notes
