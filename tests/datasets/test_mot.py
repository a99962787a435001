"""MOTChallenge's sequences: frames, classes and tracks, and what comes back of what is written."""

from __future__ import annotations

import math
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ioukit import DatasetError, evaluate
from ioukit.datasets import Detections, GroundTruth, find_format, read, read_detections, write
from ioukit.datasets.formats.left_out import Holds
from ioukit.datasets.formats.mot import MOT_NAMES, recognises
from support.data_sets import (
    CLASS_NAMES,
    FREE,
    assert_came_back,
    assert_detections_came_back,
    detections_of,
    ground_truths,
)
from support.malformed import assert_links_out_are_refused, read_damaged
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

FRAMES = [f"{number:06d}" for number in range(1, 8)]
INFO = "[Sequence]\nname=A\nimDir=img1\nframeRate=30\nseqLength=3\nimWidth=1920\nimHeight=1080\nimExt=.jpg\n"
LABELS = "1,7,912,484,97,109,0,7,1\n1,8,10.5,20,30,40,1,1,0.86014\n3,8,11,20,30,40,1,1,0.5\n"
FOUND = "1,-1,912.5,482,97,110,0.9\n3,-1,11,20,30,40,0.8\n"


def stem(name: str) -> str:
    return PurePosixPath(name).stem


def sequence(place: Path) -> Path:
    (place / "gt").mkdir(parents=True)
    (place / "gt" / "gt.txt").write_text(LABELS)
    (place / "seqinfo.ini").write_text(INFO)
    return place


def test_the_sample() -> None:
    place = DATA / "formats_small" / "mot"
    gt = read(place)
    assert find_format(place).name == find_format(place / "gt" / "gt.txt").name == "mot"
    assert gt.boxes.tolist() == [[0, 4, 4, 8]]
    assert gt.image_labels().tolist() == ["000001"]
    assert gt.categories.names == tuple(f"label_{number}" for number in range(10))
    assert gt.category_ids.tolist() == [3]
    assert gt.categories.names[2] == "label_2"
    assert gt.attributes["track_id"].tolist() == [-1]
    assert read(place / "gt" / "gt.txt", names=gt.categories.names).category_ids.tolist() == [3]


def test_a_sequence_becomes_columns(tmp_path: Path) -> None:
    gt = read(sequence(tmp_path))
    assert gt.images.labels.tolist() == ["000001", "000002", "000003"], "a frame without objects is an image"
    assert gt.images.names[1] == "img1/000002.jpg"
    assert gt.images.sizes.tolist() == [[1920, 1080]] * 3
    assert gt.categories.names == MOT_NAMES
    assert gt.category_ids.tolist() == [7, 1, 1]
    assert gt.flag("ignore").tolist() == [True, False, False]
    assert gt.attributes["track_id"].tolist() == [7, 8, 8]
    assert gt.attributes["visibility"].tolist() == [1, 0.86014, 0.5]
    assert gt.boxes[1].tolist() == [10.5, 20, 30, 40]


def test_pixels_start_at_0_or_1(tmp_path: Path) -> None:
    place = sequence(tmp_path / "one")
    from_0, from_1 = read(place), read(place, first_pixel=1)
    assert (from_0.boxes - from_1.boxes).tolist() == [[1, 1, 0, 0]] * 3
    write(from_1, tmp_path / "two", "mot", first_pixel=1)
    assert read(tmp_path / "two").boxes.tolist() == from_0.boxes.tolist()
    with pytest.raises(ValueError, match="first_pixel must be 0 or 1, got 2"):
        read(place, first_pixel=2)


def test_files_of_2015_have_no_class(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text("1,1,10,20,30,40,1,-3.5,2,0\n2,1,10,20,30,40,1,-1,-1,-1\n")
    gt = read(tmp_path / "gt.txt")
    assert set(gt.category_ids.tolist()) == {1}
    assert gt.images.labels.tolist() == ["000001", "000002"]
    assert np.isnan(gt.attributes["visibility"]).all()


def test_several_sequences_and_their_results(tmp_path: Path) -> None:
    for name in ("MOT17-02", "MOT17-04"):
        sequence(tmp_path / "train" / name)
        (tmp_path / "train" / name / "det").mkdir()
        (tmp_path / "train" / name / "det" / "det.txt").write_text(FOUND)
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "MOT17-04.txt").write_text(
        FOUND.replace("0.9", "0.9,-1,-1,-1").replace("0.8", "0.8,-1,-1,-1")
    )
    gt = read(tmp_path / "train")
    assert find_format(tmp_path / "train").name == find_format(tmp_path / "found").name == "mot"
    assert gt.images.labels.tolist() == [f"MOT17-0{at}/00000{frame}" for at in (2, 4) for frame in (1, 2, 3)]
    dt = read_detections(tmp_path / "train", ground_truth=gt)
    assert dt.image_labels().tolist() == [f"MOT17-0{at}/00000{frame}" for at in (2, 4) for frame in (1, 3)]
    assert set(dt.category_ids.tolist()) == {1}
    results = read_detections(tmp_path / "found", ground_truth=gt)
    assert results.image_labels().tolist() == ["MOT17-04/000001", "MOT17-04/000003"]
    assert results.scores.tolist() == [0.9, 0.8]
    assert evaluate(gt, dt).summary["AP50"] > 0


def test_one_sequence_takes_results_of_any_name(tmp_path: Path) -> None:
    gt = read(sequence(tmp_path / "A"))
    (tmp_path / "MOT17-09.txt").write_text(FOUND)
    dt = read_detections(tmp_path / "MOT17-09.txt", ground_truth=gt)
    assert dt.image_labels().tolist() == ["000001", "000003"]
    cars = read_detections(tmp_path / "MOT17-09.txt", ground_truth=gt, category="car")
    assert set(cars.category_ids.tolist()) == {3}
    with pytest.raises(DatasetError, match="the ground truth has no class 'cars'"):
        read_detections(tmp_path / "MOT17-09.txt", ground_truth=gt, category="cars")
    (tmp_path / "MOT17-09.txt").write_text(f"{FOUND}9,-1,0,0,5,5,0.5\n")
    with pytest.raises(DatasetError, match=r"line 3, frame: expected a frame of .*, found .*9"):
        read_detections(tmp_path / "MOT17-09.txt", ground_truth=gt)
    assert read_detections(tmp_path / "MOT17-09.txt", ground_truth=gt, on_invalid="drop").dropped == 1


def test_results_without_a_class_are_of_the_class_of_all_objects(tmp_path: Path) -> None:
    gt = read(sequence(tmp_path / "A"))
    (tmp_path / "A.txt").write_text(FOUND)
    several = read_detections(tmp_path / "A.txt", ground_truth=gt)
    assert set(several.category_ids.tolist()) == {MOT_NAMES.index("pedestrian") + 1}
    only = gt.take(gt.category_ids == 7)
    assert set(read_detections(tmp_path / "A.txt", ground_truth=only).category_ids.tolist()) == {7}
    assert set(read_detections(tmp_path / "A.txt", ground_truth=gt.take([])).category_ids.tolist()) == {1}


def test_a_folder_of_results_has_the_files_of_the_sequences(tmp_path: Path) -> None:
    alone, named = read(sequence(tmp_path / "train" / "A")), read(tmp_path / "train")
    found = tmp_path / "found"
    found.mkdir()
    (found / "B.txt").write_text(FOUND)
    # One file for one sequence without a name is its result; where both have names, these must agree.
    assert len(read_detections(found, ground_truth=alone)) == 2
    with pytest.raises(DatasetError, match=r"B\.txt: line 1, frame: expected a frame of .*train, found B 1"):
        read_detections(found, ground_truth=named)
    (found / "A.txt").write_text(FOUND)
    with pytest.raises(DatasetError, match=r"A\.txt: line 1, frame: expected a frame of .*A, found A 1"):
        read_detections(found, ground_truth=alone)
    (found / "B.txt").unlink()
    assert read_detections(found, ground_truth=named).image_labels().tolist() == ["A/000001", "A/000003"]


def test_videos_need_names_that_results_can_have(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        images=[1, 2],
        image_attributes={"video_id": [1, 2]},
        image_ids=[1, 2],
        category_ids=[1, 1],
        boxes=[[0, 0, 5, 5], [0, 0, 5, 5]],
    )
    (tmp_path / "1.txt").write_text(FOUND)
    with pytest.raises(DatasetError, match=r"expected images named by sequence and frame, .*found several videos"):
        read_detections(tmp_path / "1.txt", ground_truth=gt)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("1,1,0,0,5", "line 1: expected frame, id, .*found '1,1,0,0,5'"),
        ("1;1;0;0;5;5;1", "line 1: expected frame, id, .* between commas or white space, found '1;1;0;0;5;5;1'"),
        ("0,1,0,0,5,5,1,1,1", "line 1, frame: expected a number from 1 on, found 0"),
        ("1.5,1,0,0,5,5,1,1,1", "line 1, frame: expected a number from 1 on, found 1.5"),
        ("1,1,0,0,-5,5,1,1,1", "line 1: expected bb_width and bb_height of at least 0, found -5 and 5"),
        ("1,1,0,0,5,5,1,14,1", "line 1, class: expected a number from 1 to 13, found 14"),
        ("1,1,0,x,5,5,1,1,1", "line 1, bb_top: expected a number, found 'x'"),
    ],
)
def test_bad_lines_are_refused(tmp_path: Path, line: str, expected: str) -> None:
    (tmp_path / "gt.txt").write_text(line)
    with pytest.raises(DatasetError, match=expected):
        read(tmp_path / "gt.txt", "mot")
    assert read(tmp_path / "gt.txt", "mot", on_invalid="drop").dropped == 1


def test_bad_information_about_a_sequence_is_refused(tmp_path: Path) -> None:
    place = sequence(tmp_path)
    for text, expected in (
        ("seqLength=3\n", r"expected a section \[Sequence\]"),
        (INFO.replace("=3", "=three"), "seqLength: expected a whole number"),
        (INFO.replace("=3", "=999999999999"), "seqLength: expected at most 10,000,000 frames"),
        (INFO.replace("=3", "=2"), "line 3, frame: expected a number from 1 to 2, found 3"),
        (INFO.replace("imHeight=1080\n", ""), "imHeight: expected .*found nothing"),
    ):
        (place / "seqinfo.ini").write_text(text)
        with pytest.raises(DatasetError, match=expected):
            read(place)
    (place / "seqinfo.ini").unlink()
    (place / "gt" / "labels.txt").write_text("a\nb\na\n")
    with pytest.raises(DatasetError, match="expected the class a as number 1, as before, found 3"):
        read(place)


SEEN = {"track_id": st.integers(1, 99).map(float), "visibility": st.floats(0, 1, allow_subnormal=False)}


@given(st.data())
def test_sequences_come_back(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    several = data.draw(st.booleans())
    stems = [f"{name}/{frame}" for name in ("A", "B b") for frame in FRAMES[:4]] if several else FRAMES
    gt = data.draw(
        ground_truths(stems=stems, sizes=None, flags=("ignore", "crowd"), attributes={**SEEN, "colour": st.just("red")})
    )
    place = tmp_path_factory.mktemp("mot") / "out"
    notes = write(gt, place, "mot")
    again = read(place, "mot")
    holds = Holds(
        flags=frozenset({"ignore"}),
        attributes=frozenset(SEEN),
        image_sizes=not any(note.startswith("sizes of") for note in notes),
        empty_images=not any(note.endswith("images without objects") for note in notes),
        unused_categories=True,
    )
    assert_came_back(gt, again, holds, notes, image_key=lambda name: name.removesuffix(".jpg"))
    dt = data.draw(detections_of(gt, coordinates=FREE, attributes={"track_id": SEEN["track_id"]}))
    write(dt, place.with_name("found"), "mot", ground_truth=gt)
    found = read_detections(place.with_name("found"), "mot", ground_truth=gt)
    assert_detections_came_back(dt, found, gt, Holds(attributes=frozenset({"track_id"})))


@given(ground_truths(classes=CLASS_NAMES))
def test_other_names_become_numbers_of_frames(tmp_path_factory: pytest.TempPathFactory, gt: GroundTruth) -> None:
    place = tmp_path_factory.mktemp("mot") / "out"
    notes = write(gt, place, "mot")
    again = read(place, "mot")
    assert len(again) == len(gt)
    if len(gt.images) and not all(stem(name) in FRAMES for name in gt.images.names):
        assert any(note.startswith("names of") for note in notes)
    classes = dict(zip(again.categories.ids.tolist(), again.categories.names, strict=True))
    before = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    assert sorted(classes[number] for number in again.category_ids.tolist()) == sorted(
        before[number] for number in gt.category_ids.tolist()
    )


def test_what_cannot_be_written(tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(image_ids=["a"], category_ids=[1], boxes=[[0, 0, 1, 1]], categories={1: "a\nb"})
    with pytest.raises(DatasetError, match="names of classes without line breaks"):
        write(gt, tmp_path / "out", "mot")
    assert not (tmp_path / "out").exists()
    below = GroundTruth.from_arrays(
        image_ids=["a"], category_ids=[-1], boxes=[[0, 0, 1, 1]], categories={-1: "a", 2: "b"}
    )
    found = Detections.from_arrays(image_ids=["a"], category_ids=[-1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    with pytest.raises(DatasetError, match="expected ids of classes other than -1, found -1"):
        write(found, tmp_path / "out", "mot", ground_truth=below)
    assert not (tmp_path / "out").exists()
    assert math.isnan(gt.images.sizes[0, 0])


def test_damaged_files(tmp_path: Path) -> None:
    for name in ("gt/gt.txt", "seqinfo.ini"):
        place = tmp_path / name.partition("/")[0].removesuffix(".ini")
        place.mkdir()
        outcomes = read_damaged(sequence, name, lambda path, **options: read(path, "mot", **options), place)
        assert sum(outcomes.refused.values()) > 10
        assert outcomes.read["Windows lines"] == 2
        assert outcomes.read["byte-order mark"] == 2


def test_links_out_are_refused(tmp_path: Path) -> None:
    for at, name in enumerate(("gt/gt.txt", "seqinfo.ini")):
        place = tmp_path / str(at)
        place.mkdir()
        assert_links_out_are_refused(sequence, name, lambda path: read(path, "mot"), place)


SPELLED = [
    ("frame,id,bb_left,bb_top,bb_width,bb_height,conf,class,visibility\n", ","),
    ("# Frame, Track_ID, x, y, w, h, score, class, visibility\n", ", "),
    ("", " "),
    ("", "\t"),
    ("frame id x1 y1 width height conf class visibility\n", "  "),
]


@pytest.mark.parametrize(("head", "between"), SPELLED)
def test_a_line_of_names_and_other_separators(tmp_path: Path, head: str, between: str) -> None:
    rows = [[frame, 7, 10 * frame, 5.5, 20, 30, 1, 2, 0.5] for frame in (1, 2, 12)]
    plain, other = tmp_path / "plain", tmp_path / "other"
    for folder, first, sign in ((plain, "", ","), (other, head, between)):
        text = first + "".join(f"{sign.join(map(str, row))}\n" for row in rows)
        for file in (folder / "data" / "S1" / "gt" / "gt.txt", folder / "results" / "S1.txt"):
            file.parent.mkdir(parents=True)
            file.write_text(text)
    gt, same = (read(folder / "data") for folder in (plain, other))
    assert np.array_equal(same.boxes, gt.boxes)
    assert same.images.labels.tolist() == gt.images.labels.tolist()
    assert same.attributes["visibility"].tolist() == [0.5] * 3
    for of in ("results", "results/S1.txt"):
        dt, found = (read_detections(folder / of, ground_truth=gt) for folder in (plain, other))
        assert np.array_equal(found.boxes, dt.boxes)
        assert found.attributes["track_id"].tolist() == [7] * 3


@pytest.mark.parametrize(
    "names",
    [
        *("frame,id,x1,y1,x2,y2,conf", "frame,id,cx,cy,w,h,conf", "frame,x,y,w,h,conf,id", "frame,id"),
        "id,frame,bb_left,bb_top,bb_width,bb_height,conf",
    ],
)
def test_other_columns_are_refused(tmp_path: Path, names: str) -> None:
    (tmp_path / "gt.txt").write_text(f"{names}\n1,1,0,0,9,9,1\n")
    expected = "no names of columns, or frame, id, bb_left, bb_top, bb_width, bb_height, conf in this order"
    with pytest.raises(DatasetError, match=rf"gt\.txt: line 1: expected {expected}, found '?(frame|id), "):
        read(tmp_path / "gt.txt", "mot")


@pytest.mark.parametrize(
    "line", ["1;1;0;0;9;9;1", "1 1 0 0 9 9", "1,1,0,0,9,9", "id,frame,x,y,w,h,conf\n1,1,0,0,9,9,1"]
)
def test_files_with_a_mistake_are_recognised(tmp_path: Path, line: str) -> None:
    for file in (tmp_path / "data" / "S1" / "gt" / "gt.txt", tmp_path / "results" / "S1.txt"):
        file.parent.mkdir(parents=True)
        file.write_text(f"{line}\n")
    for place in (tmp_path / "data", tmp_path / "data" / "S1", tmp_path / "results", tmp_path / "results" / "S1.txt"):
        assert recognises(place)
    with pytest.raises(DatasetError, match=r"gt\.txt: line 1: expected .*frame, id, bb_left, .*, found "):
        read(tmp_path / "data")


@pytest.mark.parametrize(
    "line",
    [
        "0 0.5 0.5 0.2 0.2 0.9 1",
        "1 1 1 0.5 0.5 0.9",
        "1 1.0 10 10 20 20",
        "3 1 1 0.5 0.5 0.2 0.2",
        "1 0.1 0.1 0.5 0.1 0.5 0.5 0.1 0.5",
    ],
)
def test_lines_of_yolo_are_none_of_motchallenge(tmp_path: Path, line: str) -> None:
    (tmp_path / "1.txt").write_text(f"{line}\n")
    assert not recognises(tmp_path / "1.txt")
    assert not recognises(tmp_path)


def test_semicolons_of_masks_are_no_mistake(tmp_path: Path) -> None:
    (tmp_path / "gt.txt").write_text("1 2000 2 36 48 h<;i0MXOJh09000000`R1\n", encoding="utf-8")
    assert not recognises(tmp_path / "gt.txt")
