"""CrowdHuman's files: what is read, what is refused, and the numbers of a command."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import DatasetError, evaluate
from ioukit.datasets import find_format, read, read_crowdhuman, read_crowdhuman_detections, read_detections
from ioukit.evaluation.protocols import CROWDHUMAN
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

PERSON = {
    "tag": "person",
    "hbox": [123, 10, 20, 20],
    "fbox": [100, 0, 60, 120],
    "vbox": [100, 0, 60, 80],
    "head_attr": {"ignore": 1, "occ": 1, "unsure": 0},
    "extra": {"box_id": 0, "occ": 1},
}
HIDDEN = {**PERSON, "fbox": [0, 0, 10, 20], "extra": {"box_id": 1, "ignore": 1}, "head_attr": {}}
MASK = {"tag": "mask", "fbox": [300, 0, 90, 90], "vbox": [300, 0, 90, 90], "hbox": [300, 0, 90, 90]}
TRUTH = [{"ID": "b,1", "gtboxes": [PERSON, HIDDEN, MASK]}, {"ID": "a,2", "gtboxes": []}]
FOUND = [
    {"ID": "a,2", "width": 400, "height": 300, "dtboxes": []},
    {"ID": "b,1", "width": 400, "height": 100, "dtboxes": [{"box": [100, 0, 60, 100], "score": 0.9, "tag": 1}]},
]


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_objects_have_the_box_that_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "annotation_val.odgt", TRUTH)
    gt = read(path)
    assert gt.images.labels.tolist() == ["a,2", "b,1"]
    assert gt.image_labels().tolist() == ["b,1"] * 3
    assert (gt.categories.ids.tolist(), gt.categories.names) == ([1], ("person",))
    assert gt.boxes.tolist() == [PERSON["fbox"], HIDDEN["fbox"], MASK["fbox"]]
    assert gt.flag("ignore").tolist() == [False, True, True]
    assert np.isnan(gt.images.sizes).all()
    visible = gt.attributes["visibility"]
    assert visible[0] == pytest.approx(2 / 3)
    assert visible[2] == 1
    assert np.isnan(
        read(write(tmp_path / "bare.odgt", _changed(vbox=None, fbox=[1, 2, 0, 4]))).attributes["visibility"][0]
    )
    assert "visibility" not in read_crowdhuman(path, box="vbox").attributes
    assert read_crowdhuman(path, box="vbox").boxes[0].tolist() == PERSON["vbox"]
    heads = read(path, box="hbox")
    assert heads.boxes[0].tolist() == PERSON["hbox"]
    assert heads.flag("ignore").tolist() == [True, True, True]
    with pytest.raises(ValueError, match="unknown box 'body'; choose from fbox, vbox, hbox"):
        read_crowdhuman(path, box="body")


def test_detections_have_the_sizes_of_their_images(tmp_path: Path) -> None:
    path = write(tmp_path / "dump.odgt", FOUND)
    dt = read_detections(path)
    assert (dt.image_labels().tolist(), dt.scores.tolist(), dt.category_ids.tolist()) == (["b,1"], [0.9], [1])
    assert dt.attributes["image_size"].tolist() == [[400.0, 100.0]]
    other = write(tmp_path / "heads.odgt", [{"ID": "a", "dtboxes": [{"hbox": [1, 2, 3, 4], "score": 1}]}])
    heads = read_crowdhuman_detections(other, box="hbox")
    assert heads.boxes.tolist() == [[1.0, 2.0, 3.0, 4.0]]
    assert np.isnan(heads.attributes["image_size"]).all()
    empty = write(tmp_path / "empty.odgt", [])
    assert (len(read_detections(empty)), len(read(empty))) == (0, 0)


def test_a_name_decides_the_format(tmp_path: Path) -> None:
    assert find_format(write(tmp_path / "a.odgt", TRUTH)).name == "crowdhuman"
    assert find_format(write(tmp_path / "a.txt", TRUTH)).name == "coco"


def test_boxes_are_cut_at_the_sizes_of_the_detections(tmp_path: Path) -> None:
    paths = write(tmp_path / "gt.odgt", TRUTH), write(tmp_path / "dt.odgt", FOUND)
    evaluation = evaluate(*paths, CROWDHUMAN)
    assert evaluation.matches.pairs.iou[0] == pytest.approx(1.0)
    done = run_here("eval", *paths, "--protocol", "crowdhuman", "--json")
    assert not done.code, done.err
    # One detection that is right: a curve of a single point has no area in CrowdDet's program.
    assert json.loads(done.out)["summary"] == {"AP": 0.0, "MR-2": 0.0, "JI": pytest.approx(1, abs=1e-6)}


def _changed(**fields: Any) -> list[Any]:
    """A file of one person with other fields; ``None`` leaves a field out."""
    person = {name: value for name, value in {**PERSON, **fields}.items() if value is not None}
    return [{"ID": "a", "gtboxes": [person]}]


BAD_TRUTH: list[tuple[list[Any], str]] = [
    ([5], "line 1: record: expected an object, found 5"),
    ([{"gtboxes": []}], "line 1: record.ID: expected text, found nothing"),
    ([{"ID": 7, "gtboxes": []}], "line 1: record.ID: expected text, found 7"),
    ([{"ID": "a"}], "line 1: record.gtboxes: expected a list, found nothing"),
    ([{"ID": "a", "gtboxes": []}] * 2, "line 2: record.ID: expected an image of its own, found 'a', as in line 1"),
    ([{"ID": "a", "gtboxes": [], "width": 4}], "line 1: record.height: expected a number, found nothing"),
    ([{"ID": "a", "gtboxes": [], "width": 4, "height": 0}], "a width and a height above 0, found 4 and 0"),
    ([{"ID": "a", "gtboxes": [[1]]}], r"line 1: gtboxes\[0\]: expected an object, found \[1\]"),
    (_changed(fbox=None), r"gtboxes\[0\]\.fbox: expected \[x, y, width, height\], found nothing"),
    (_changed(fbox=[1, 2, 3]), r"gtboxes\[0\]\.fbox: expected \[x, y, width, height\], found \[1, 2, 3\]"),
    (_changed(fbox=[1, 2, "3", 4]), r"gtboxes\[0\]\.fbox\[2\] \(width\): expected a number, found '3'"),
    (_changed(fbox=[1, 2, True, 4]), r"gtboxes\[0\]\.fbox\[2\] \(width\): expected a number, found true"),
    (_changed(fbox=[1, 2, math.nan, 4]), r"gtboxes\[0\]\.fbox\[2\] \(width\): expected a number, found NaN"),
    (_changed(fbox=[1, 2, 10**400, 4]), r"fbox\[2\] \(width\): expected a number, found 1000.*\.\.\."),
    (_changed(fbox=[1, 2, -3, 4]), r"fbox: expected a width and a height of at least 0, found \[1, 2, -3, 4\]"),
    (_changed(vbox=[1, 2]), r"gtboxes\[0\]\.vbox: expected \[x, y, width, height\], found \[1, 2\]"),
    (_changed(tag=1), r"gtboxes\[0\]\.tag: expected text, found 1"),
    (_changed(extra=1), r"gtboxes\[0\]\.extra: expected an object, found 1"),
    (_changed(extra={"ignore": "no"}), r"gtboxes\[0\]\.extra\.ignore: expected a number"),
]


@pytest.mark.parametrize(("records", "message"), BAD_TRUTH)
def test_bad_ground_truth_is_named_with_its_line(records: list[Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bad.odgt", records)
    with pytest.raises(DatasetError, match=rf"bad\.odgt: .*{message}"):
        read(path)
    gt = read(path, on_invalid="drop")
    assert gt.dropped == 1
    assert len(gt) == 0
    assert gt.notes[0].startswith(f"{path}: left out 1 x invalid ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b'{"ID": "a", "gtboxes": [', "line 1, column 25: expected JSON, found something else"),
        (b'\n{"ID": "\xff", "gtboxes": []}', "line 2, column 9: expected text in UTF-8, found the byte 0xff"),
        (b"[" * 100_000, "line 1: expected JSON, found lists or objects that are nested too deeply"),
    ],
)
def test_a_line_that_is_not_json_is_refused(text: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.odgt"
    path.write_bytes(text)
    with pytest.raises(DatasetError, match=message):
        read(path)
    with pytest.raises(DatasetError, match=message):
        read_detections(path)


@pytest.mark.parametrize(
    ("detection", "message"),
    [
        ({"box": [1, 2, 3, 4]}, r"dtboxes\[0\]\.score: expected a number, found nothing"),
        ({"fbox": [1, 2, 3, 4], "score": 1}, r"dtboxes\[0\]\.box: expected \[x, y, width, height\], found nothing"),
    ],
)
def test_bad_detections_are_named_with_their_line(detection: Any, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "bad.odgt", [{"ID": "a", "dtboxes": [detection]}])
    with pytest.raises(DatasetError, match=rf"bad\.odgt: line 1: {message}"):
        read_detections(path)
    assert read_detections(path, on_invalid="drop").dropped == 1


def test_paths_that_are_no_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing.odgt")
    with pytest.raises(DatasetError, match="expected a file, found a folder"):
        read(tmp_path, "crowdhuman")


def test_detections_of_an_unknown_image_are_refused(tmp_path: Path) -> None:
    gt = write(tmp_path / "gt.odgt", TRUTH)
    dt = write(tmp_path / "dt.odgt", [{"ID": "c", "dtboxes": [{"box": [1, 2, 3, 4], "score": 1}]}])
    with pytest.raises(DatasetError, match="'c'"):
        evaluate(gt, dt, CROWDHUMAN)
