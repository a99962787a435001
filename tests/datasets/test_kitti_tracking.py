"""KITTI's files of tracking: a file per sequence, with the frame and the track in front of each line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit import DatasetError, evaluate, evaluate_tracks
from ioukit.datasets import find_format, read, read_detections, write
from support.malformed import assert_links_out_are_refused, read_damaged

if TYPE_CHECKING:
    from pathlib import Path

BOX = "0 0 -1.57 100 120 220 190 1.5 1.6 3.9 -2 1.65 20 0.01"
AREA = "-1 DontCare -1 -1 -10 500 150 550 180 -1000 -1000 -1000 -10 -1 -1 -1"
CAR, PERSON = f"3 Car {BOX}", f"0 Person {BOX}"


def files(folder: Path, **texts: str) -> Path:
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / f"{name.removeprefix('s')}.txt").write_text(text)
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    first = f"0 {CAR}\n0 {AREA}\n\n2 {CAR}\n2 {PERSON}\n"
    return files(tmp_path / "training" / "label_02", s0000=first, s0001=f"1 {CAR}\n")


def test_labels_become_columns(labels: Path) -> None:
    for place in (labels, labels.parent, labels.parent.parent):
        assert find_format(place).name == "kitti"
        gt = read(place)
        assert gt.images.labels.tolist() == ["0000/000000", "0000/000001", "0000/000002", "0001/000000", "0001/000001"]
        assert gt.image_labels().tolist() == [*["0000/000000"] * 2, *["0000/000002"] * 2, "0001/000001"]
        assert gt.attributes["track_id"].tolist() == [3, -1, 3, 0, 3]
        assert [gt.categories.names[at - 1] for at in gt.category_ids] == [
            *("Car", "DontCare", "Car", "Person_sitting", "Car")
        ]
        assert gt.flag("dont_care").tolist() == gt.crowd.tolist() == [False, True, False, False, False]
        assert gt.boxes[1].tolist() == [500, 150, 50, 30]
        assert gt.regions["Boxes3D"].volume.tolist() == pytest.approx([9.36, 0, 9.36, 9.36, 9.36])
    one = read(labels / "0001.txt")
    assert (one.images.labels.tolist(), one.attributes["track_id"].tolist()) == (["0001/000000", "0001/000001"], [3])


def test_numbers_of_frames_come_from_the_development_kit(labels: Path) -> None:
    lengths = labels.parent / "evaluate_tracking.seqmap.training"
    lengths.write_text("0000 empty 000000 000005\n0001 empty 000000 000002\n0002 empty 000000 000009\n")
    for place in (labels, labels / "0000.txt"):
        assert [label for label in read(place).images.labels.tolist() if label[:4] == "0000"][-1] == "0000/000004"
    lengths.write_text("0000 empty 000000 000002\n")
    with pytest.raises(DatasetError, match=r"0000.txt: line 4: frame: expected a whole number from 0 to 1, found '2'"):
        read(labels)
    assert read(labels, on_invalid="drop").dropped == 2
    for text, message in (
        ("0000 5", "line 1: expected 4 fields: sequence, empty, first frame, number of frames, found 2"),
        ("0000 empty 0 x", "line 1: number of frames: expected a whole number from 0 to 1e.06, found 'x'"),
    ):
        lengths.write_text(text)
        with pytest.raises(DatasetError, match=f"evaluate_tracking.seqmap.training: {message}"):
            read(labels)


def test_results_have_scores_in_all_lines_or_in_none(labels: Path, tmp_path: Path) -> None:
    gt = read(labels)
    without = files(tmp_path / "none", s0000=f"0 {CAR}\n2 {CAR}\n", s0001="")
    assert read_detections(without, ground_truth=gt).scores.tolist() == [1, 1]
    some = files(tmp_path / "some", s0000=f"0 {CAR} 0.5\n2 {CAR}\n", s0001="")
    with pytest.raises(DatasetError, match=r"0000\.txt: line 2: expected a score, as 1 of 2 lines have, found none$"):
        read_detections(some, ground_truth=gt)
    kept = read_detections(some, ground_truth=gt, on_invalid="drop")
    assert (kept.scores.tolist(), kept.image_labels().tolist(), kept.dropped) == ([0.5], ["0000/000000"], 1)


def test_results_become_columns(labels: Path, tmp_path: Path) -> None:
    found = files(tmp_path / "data", s0000=f"0 {CAR} 0.5\n2 {CAR} 1\n", s0001="")
    gt = read(labels)
    dt = read_detections(found, ground_truth=gt)
    assert dt.image_labels().tolist() == ["0000/000000", "0000/000002"]
    assert (dt.attributes["track_id"].tolist(), dt.scores.tolist()) == ([3, 3], [0.5, 1])
    assert not dt.notes
    assert evaluate(labels, found).summary["AP50"] == pytest.approx(1 / 3, abs=0.2)
    (found / "0001.txt").unlink()
    note = f"{found}: 1 of 2 sequences have no file: they count as without detections"
    assert read_detections(found, ground_truth=gt).notes == (note,)
    tracks = evaluate_tracks(labels, found, protocol="plain")
    assert (tracks.summary["TP"], tracks.summary["FN"], tracks.summary["FP"]) == (2, 2, 0)
    assert tuple(tracks.sequences) == ("0000", "0001")


def test_results_of_the_only_sequence_may_have_any_name(labels: Path, tmp_path: Path) -> None:
    found = files(tmp_path / "data", sresult=f"1 {CAR} 0.5\n")
    one = read(labels / "0001.txt")
    dt = read_detections(found / "result.txt", ground_truth=one)
    assert dt.image_labels().tolist() == ["0001/000001"]
    assert "its only sequence, 'result', is taken as '0001', the only one of" in dt.notes[0]
    for place, gt in ((found, one), (found, read(labels)), (found / "result.txt", read(labels))):
        with pytest.raises(DatasetError, match=r"result.txt: expected the name of a sequence of .*, found 'result'"):
            read_detections(place, ground_truth=gt)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (f"x {CAR}", "frame: expected a whole number from 0 to 999999, found 'x'"),
        (f"-1 {CAR}", "frame: expected a whole number from 0 to 999999, found '-1'"),
        (f"1.5 {CAR}", "frame: expected a whole number from 0 to 999999, found '1.5'"),
        (f"1 -2 Car {BOX}", "track_id: expected a whole number of at least -1, found '-2'"),
        (f"1 nan Car {BOX}", "track_id: expected a whole number of at least -1, found 'nan'"),
        (f"1 1 Bus {BOX}", "type: expected one of Car, .*, found 'Bus'"),
        (f"1 1 Car {BOX.replace('220', '90')}", r"right: expected at least left \(100\), found 90"),
        (f"Car {BOX}", "expected 17 fields, found 15"),
        (f"1 {CAR} 0.5", "expected 17 fields, found 18: labels have no score, results have one"),
    ],
)
def test_bad_lines_are_refused_or_counted(line: str, message: str, tmp_path: Path) -> None:
    place = files(tmp_path / "label_02", s0000=f"1 {CAR}\n{line}\n")
    with pytest.raises(DatasetError, match=rf"0000.txt: line 2:? ?{message}"):
        read(place)
    left = read(place, on_invalid="drop")
    assert (len(left), left.dropped) == (1, 1)


def test_a_result_beyond_the_frames_is_refused(labels: Path, tmp_path: Path) -> None:
    found = files(tmp_path / "data", s0000=f"0 {CAR} 0.5\n3 {CAR} 0.5\n")
    with pytest.raises(DatasetError, match=r"0000.txt: line 2: frame: expected an image of .*, found '0000/000003'"):
        read_detections(found, ground_truth=read(labels))


def test_tracks_are_no_part_of_files_of_images(labels: Path, tmp_path: Path) -> None:
    notes = write(read(labels), tmp_path / "out", "kitti")
    assert "attribute track_id of 5 objects" in notes
    assert sorted(file.name for file in (tmp_path / "out").iterdir())[0] == "0000_000000.txt"


def make(folder: Path) -> Path:
    files(folder / "label_02", s0000=f"0 {CAR}\n0 {AREA}\n1 {CAR}\n", s0001=f"0 {CAR}\n")
    (folder / "evaluate_tracking.seqmap.training").write_text("0000 empty 000000 000003\n")
    return folder


@pytest.mark.parametrize("broken", ["label_02/0001.txt", "evaluate_tracking.seqmap.training"])
def test_damaged_files_are_read_or_refused(broken: str, tmp_path: Path) -> None:
    outcomes = read_damaged(make, broken, lambda path, **options: read(path, "kitti", **options), tmp_path)
    assert outcomes.refused["wrong byte"]


@pytest.mark.parametrize("link", ["label_02/0001.txt", "evaluate_tracking.seqmap.training"])
def test_links_out_of_the_folder_are_refused(link: str, tmp_path: Path) -> None:
    assert_links_out_are_refused(make, link, lambda path: read(path, "kitti"), tmp_path)
