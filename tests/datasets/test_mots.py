"""Files of MOTS Challenge and KITTI MOTS: masks of tracked cars and pedestrians."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import DatasetError, Masks
from ioukit.datasets import find_format, read, read_detections, read_mots
from support.malformed import assert_links_out_are_refused

if TYPE_CHECKING:
    from pathlib import Path

HIGH, WIDE = 8, 10


def rle(top: int, left: int, height: int = 2, width: int = 3, *, size: tuple[int, int] = (HIGH, WIDE)) -> str:
    """A rectangle as compressed run lengths."""
    pixels = np.zeros(size, np.bool_)
    pixels[top : top + height, left : left + width] = True
    return str(Masks.from_arrays([pixels]).to_rle()[0]["counts"])


def line(frame: int, track: int, mask: str, *, category: int | None = None, size: str = f"{HIGH} {WIDE}") -> str:
    return f"{frame} {track} {track // 1000 if category is None else category} {size} {mask}\n"


CAR, PERSON = rle(0, 0), rle(4, 5)
TEXT = line(0, 1001, CAR) + line(0, 2007, PERSON) + line(2, 10000, rle(2, 2, 4, 4)) + line(2, 10000, rle(3, 3, 4, 4))


def write_labels(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "0002.txt").write_text(TEXT)
    (folder / "0006.txt").write_text(line(1, 2001, PERSON))
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    return write_labels(tmp_path / "label_02")


def test_kitti_mots_becomes_columns(labels: Path) -> None:
    for place in (labels, labels.parent):
        assert find_format(place).name == "mots"
        gt = read(place)
        assert gt.images.labels.tolist() == [*(f"0002/{at:06d}" for at in range(3)), "0006/000000", "0006/000001"]
        assert gt.image_labels().tolist() == ["0002/000000"] * 2 + ["0002/000002"] * 2 + ["0006/000001"]
        assert gt.category_ids.tolist() == [1, 2, 10, 10, 2]
        assert gt.categories.names == ("car", "pedestrian", "ignore")
        assert gt.attributes["track_id"].tolist() == [1001, 2007, 10000, 10000, 2001]
        assert gt.flag("ignore_region").tolist() == gt.crowd.tolist() == [False, False, True, True, False]
        assert gt.boxes[1].tolist() == [5, 4, 3, 2]
        assert gt.areas.tolist() == [6, 6, 16, 16, 6]
        assert gt.images.sizes.tolist() == [[WIDE, HIGH]] * 5
        assert gt.regions["Masks"].to_rle()[0]["counts"] == CAR
    assert read(labels / "0006.txt").images.labels.tolist() == ["000000", "000001"]
    (labels.parent / "evaluate_mots.seqmap.val").write_text("0002 empty 000000 0003\n0006 empty 000000 0001\n")
    assert read(labels).images.labels.tolist()[:4] == [f"0002/{at:06d}" for at in range(4)]
    (labels.parent / "evaluate_mots.seqmap.val").write_text("0002 empty 000000 0001\n")
    with pytest.raises(DatasetError, match=r"0002.txt: line 3, time_frame: expected .* from 0 to 1, found '2'"):
        read(labels)


def test_mots_challenge_counts_frames_from_1(tmp_path: Path) -> None:
    for name in ("MOTS20-02", "MOTS20-05"):
        (tmp_path / name / "gt").mkdir(parents=True)
        (tmp_path / name / "gt" / "gt.txt").write_text(line(2, 2001, PERSON))
    info = f"[Sequence]\nimDir=img1\nseqLength=3\nimWidth={WIDE}\nimHeight={HIGH}\nimExt=.jpg\n"
    (tmp_path / "MOTS20-02" / "seqinfo.ini").write_text(info)
    gt = read(tmp_path)
    assert gt.images.labels.tolist() == [
        *(f"MOTS20-02/00000{at}" for at in (1, 2, 3)),
        "MOTS20-05/000001",
        "MOTS20-05/000002",
    ]
    assert gt.images.names[1] == "MOTS20-02/img1/000002.jpg"
    for place in (tmp_path / "MOTS20-02", tmp_path / "MOTS20-02" / "gt" / "gt.txt"):
        assert find_format(place).name == "mots"
        assert read(place).images.labels.tolist()[:2] == ["000001", "000002"]
    for text, message in (
        (line(0, 2001, PERSON), "time_frame: expected a whole number from 1 to 3, found '0'"),
        (line(4, 2001, PERSON), "time_frame: expected a whole number from 1 to 3, found '4'"),
        (
            line(1, 2001, rle(0, 0, size=(8, 9)), size="8 9"),
            "img_width: expected 10 pixels, as in other frames, found 9",
        ),
    ):
        (tmp_path / "MOTS20-02" / "gt" / "gt.txt").write_text(text)
        with pytest.raises(DatasetError, match=rf"gt.txt: line 1, {message}"):
            read(tmp_path)


def test_results_are_read_for_the_sequences_of_the_ground_truth(labels: Path, tmp_path: Path) -> None:
    gt = read(labels)
    (tmp_path / "found").mkdir()
    (tmp_path / "found" / "0006.txt").write_text(line(0, 2005, CAR, category=2))
    (tmp_path / "found" / "0002.txt").write_text("")
    dt = read_detections(tmp_path / "found", ground_truth=gt)
    assert (dt.image_labels().tolist(), dt.category_ids.tolist(), dt.scored) == (["0006/000000"], [2], False)
    assert dt.attributes["track_id"].tolist() == [2005]
    one = read(labels / "0006.txt")
    (tmp_path / "mine.txt").write_text(line(1, 2005, CAR))
    assert read_detections(tmp_path / "mine.txt", ground_truth=one).image_labels().tolist() == ["000001"]
    with pytest.raises(DatasetError, match=r"mine.txt: expected the name of a sequence of .*label_02, found 'mine'"):
        read_detections(tmp_path / "mine.txt", ground_truth=gt)
    (tmp_path / "mine.txt").write_text(line(5, 2005, CAR))
    with pytest.raises(DatasetError, match=r"mine.txt: line 1, time_frame"):
        read_detections(tmp_path / "mine.txt", ground_truth=one)
    with pytest.raises(DatasetError, match="frames and classes come from the ground truth"):
        read_detections(tmp_path / "found", "mots")


WRONG = {
    "few fields": (
        "0 1 1 8 10\n",
        "line 1: expected 6 fields: time_frame id class_id img_height img_width rle, found 5",
    ),
    "no number": (
        line(0, 1001, CAR).replace("1001", "a"),
        "line 1, id: expected a whole number of at least 0, found 'a'",
    ),
    "a fraction": (line(0, 1001, CAR).replace("1001", "1.5"), "line 1, id: expected a whole number"),
    "a class": (
        line(0, 1001, CAR, category=3),
        r"line 1, class_id: expected 1 \(car\) or 2 \(pedestrian\) or 10 \(ignore\), found 3",
    ),
    "bad run lengths": (
        line(0, 1001, "abc"),
        "line 1, rle: expected compressed run lengths of 8 x 10 pixels, found 'abc': the compressed counts end within",
    ),
    "run lengths of another size": (line(0, 1001, rle(0, 0, size=(9, 9))), "rle: .* the counts sum to 81, but 8 x 10"),
    "another height": (
        line(0, 1001, CAR) + line(1, 1001, rle(0, 0, size=(9, 10)), size="9 10"),
        "line 2, img_height: expected 8 pixels, as in other frames, found 9",
    ),
    "an id twice": (
        line(0, 1001, CAR) + line(0, 1001, PERSON),
        "line 2, id: expected each id once in frame 0, found 1001 again",
    ),
    "an overlap": (
        line(0, 1001, CAR) + line(0, 1002, rle(1, 1)),
        "line 2, rle: expected a mask beside the others of frame 0, found an overlap",
    ),
    "an overlap with a region": (line(0, 10000, CAR) + line(0, 1002, rle(1, 1)), "line 2, rle: .* found an overlap"),
}


@pytest.mark.parametrize("name", WRONG)
def test_invalid_lines_are_refused_or_left_out(name: str, labels: Path) -> None:
    text, message = WRONG[name]
    (labels / "0002.txt").write_text(text)
    with pytest.raises(DatasetError, match=f"0002.txt: .*{message}"):
        read(labels, "mots")
    gt = read(labels, "mots", on_invalid="drop")
    assert (len(gt), gt.dropped) == (1 + text.count("\n") - 1, 1)


def test_no_two_masks_of_results_overlap(labels: Path) -> None:
    gt = read(labels)
    (labels / "0002.txt").write_text("")
    (labels / "0006.txt").write_text(line(0, 10000, CAR) + line(0, 10001, rle(1, 1)))
    with pytest.raises(DatasetError, match=r"0006.txt: line 2, rle: .* found an overlap"):
        read_detections(labels, ground_truth=gt)


def test_links_out_of_the_folder_are_refused(tmp_path: Path) -> None:
    assert_links_out_are_refused(write_labels, "0006.txt", read_mots, tmp_path)
