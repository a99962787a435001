"""ICDAR 2015's text files: what becomes of each field, and what is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ioukit import DatasetError, GroundTruth
from ioukit.datasets import find_format, read, read_detections
from support.command import run_here

if TYPE_CHECKING:
    from pathlib import Path

SQUARE = "0,0,10,0,10,10,0,10"


def written(folder: Path, **files: str) -> Path:
    """A folder with files ``<name>.txt``."""
    folder.mkdir(exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8", newline="")
    return folder


def truth(tmp_path: Path, **files: str) -> GroundTruth:
    return read(written(tmp_path / "gt", **(files or {"gt_img_1": f"{SQUARE},a\n", "gt_img_2": ""})))


def test_every_field_has_a_column(tmp_path: Path) -> None:
    text = f'\ufeff{SQUARE},Caf\u00e9, open\r\n\r\n 5 , 5 ,9,5,9,8,5,8,###\r\n{SQUARE},"say \\"x\\""\r\n{SQUARE},\n'
    gt = truth(tmp_path, gt_img_10=text + f'{SQUARE}, ###\n{SQUARE},"###"', gt_img_2="")
    assert find_format(tmp_path / "gt").name == "icdar2015"
    assert gt.images.labels.tolist() == ["img_10", "img_2"]
    assert gt.image_labels().tolist() == ["img_10"] * 6
    assert gt.attributes["transcription"].tolist() == ["Caf\u00e9, open", "###", 'say "x"', "", " ###", "###"]
    assert gt.flag("dont_care").tolist() == gt.crowd.tolist() == [False, True, False, False, False, True]
    assert gt.boxes[:2].tolist() == [[0, 0, 10, 10], [5, 5, 4, 3]]
    assert gt.areas[:2].tolist() == [100, 12]
    polygons: Any = gt.regions["Polygons"]
    assert polygons.to_flat()[1] == [5, 5, 9, 5, 9, 8, 5, 8]
    assert gt.categories.names == ("text",)


def test_scores_are_read_if_every_line_has_one(tmp_path: Path) -> None:
    gt = truth(tmp_path)
    found = read_detections(written(tmp_path / "a", res_img_1=f"{SQUARE},0.5\n{SQUARE},1,word, too\n"), ground_truth=gt)
    assert (found.scored, found.scores.tolist()) == (True, [0.5, 1])
    assert found.image_labels().tolist() == ["img_1", "img_1"]
    found = read_detections(written(tmp_path / "b", res_img_1=f"{SQUARE}\n{SQUARE}, \n"), ground_truth=gt)
    assert not found.scored
    words = read_detections(written(tmp_path / "c", res_img_1=f"{SQUARE},word\n{SQUARE},2015\n"), ground_truth=gt)
    assert (words.scored, len(words)) == (False, 2)
    assert len(read_detections(written(tmp_path / "d", res_img_1="\n"), ground_truth=gt)) == 0
    gate = read_detections(written(tmp_path / "e", res_img_1=f"{SQUARE},gate\n{SQUARE},1\n"), ground_truth=gt)
    assert not gate.scored


@pytest.mark.parametrize("rest", ["", ",gate"])
def test_some_scores_are_an_error_with_their_counts(rest: str, tmp_path: Path) -> None:
    gt = truth(tmp_path)
    folder = written(tmp_path / "a", res_img_1=f"{SQUARE},0.5\n{SQUARE}{rest}\n\n{SQUARE},1\n{SQUARE}{rest}\n")
    words = r"res_img_1\.txt: line 2: expected a score, as 2 of 4 lines have, found none$"
    with pytest.raises(DatasetError, match=words):
        read_detections(folder, ground_truth=gt)
    kept = read_detections(folder, ground_truth=gt, on_invalid="drop")
    assert (kept.scores.tolist(), kept.dropped) == ([0.5, 1], 2)
    command = run_here("eval", tmp_path / "gt", folder)
    assert command.code == 2
    assert "as 2 of 4 lines have" in command.err


def test_files_may_be_called_like_their_images(tmp_path: Path) -> None:
    gt = read(written(tmp_path / "gt", scene=f"{SQUARE},a\n"), "icdar2015")
    found = read_detections(written(tmp_path / "dt", scene=f"{SQUARE}\n"), "icdar2015", ground_truth=gt)
    assert found.image_labels().tolist() == ["scene"]
    coco = GroundTruth.from_arrays(
        image_ids=[7], category_ids=[3], boxes=[[0, 0, 9, 9]], images=[7], names=["img_1.jpg"], categories={3: "word"}
    )
    found = read_detections(written(tmp_path / "res", res_img_1=f"{SQUARE}\n"), ground_truth=coco)
    assert (found.image_ids.tolist(), found.category_ids.tolist()) == ([7], [3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SQUARE, r"gt_img_1\.txt: line 2: expected x1,y1,x2,y2,x3,y3,x4,y4,transcription, found '0,0,10"),
        ("0,0,10,0,wide,10,0,10,a", r"gt_img_1\.txt: line 2, x3: expected a number, found 'wide'"),
        ("0,0,10,0,nan,10,0,10,a", r"gt_img_1\.txt: line 2, x3: expected a number, found 'nan'"),
        ("158 128 411 181 Footpath", r"gt_img_1\.txt: line 2: expected x1,y1,.*, found '158 128 411 181 Footpath'"),
        ("0,0,10,10,10,0,0,10,a", r"gt_img_1\.txt: line 2: expected four points in order around a text, found a path"),
        ("0,0,5,0,9,0,9,9,5,9,0,9,a", r"gt_img_1\.txt: line 2: expected four points, then transcription, found '0,0,5"),
        ("0,0,0,10,10,0,10,10,a", r"gt_img_1\.txt: line 2: expected four points in order around a text, found a path"),
    ],
)
def test_a_line_that_is_wrong_is_named_or_left_out(tmp_path: Path, text: str, message: str) -> None:
    folder = written(tmp_path / "gt", gt_img_1=f"{SQUARE},a\n{text}\n{SQUARE},b\n")
    with pytest.raises(DatasetError, match=message):
        read(folder)
    kept = read(folder, on_invalid="drop")
    assert (kept.attributes["transcription"].tolist(), kept.dropped) == (["a", "b"], 1)


def test_points_without_an_area_and_paths_that_touch_are_read(tmp_path: Path) -> None:
    lines = ("1,1,1,1,1,1,1,1,a", "0,0,10,0,10,0,0,0,a", "0,0,10,0,5,0,5,10,a", "0,10,10,10,10,0,0,0,a")
    assert truth(tmp_path, gt_img_1="\n".join(lines)).areas.tolist() == [0, 0, 25, 100]


def test_files_that_fit_no_image_or_no_class_are_refused(tmp_path: Path) -> None:
    gt = truth(tmp_path)
    other = written(tmp_path / "other", res_img_1=f"{SQUARE}\n", res_img_3=f"{SQUARE}\n")
    with pytest.raises(DatasetError, match=r"res_img_3\.txt: expected an image of .*gt, found 'img_3'"):
        read_detections(other, ground_truth=gt)
    kept = read_detections(other, ground_truth=gt, on_invalid="drop")
    assert (kept.image_labels().tolist(), kept.dropped) == (["img_1"], 1)
    with pytest.raises(DatasetError, match=r"gt_img_1\.txt: expected res_<image>\.txt, found a file of ground truth"):
        read_detections(tmp_path / "gt", ground_truth=gt)
    with pytest.raises(DatasetError, match=r"res_img_1\.txt: expected gt_<image>\.txt, found a file of results"):
        read(other)
    with pytest.raises(DatasetError, match="names of images come from the ground truth"):
        read_detections(other)
    two = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 9, 9]], categories={1: "a", 2: "b"})
    with pytest.raises(DatasetError, match=r"expected one class, as .*other names none, found 2"):
        read_detections(other, ground_truth=two)
    with pytest.raises(DatasetError, match=r"img_1\.txt: expected one file for each image, found also .*gt_img_1\.txt"):
        truth(tmp_path, gt_img_1=f"{SQUARE},a\n", img_1=f"{SQUARE},b\n")
    (other / "res_img_1.txt").write_bytes(b"0,0,1,0,1,1,0,1,\xff\n")
    with pytest.raises(DatasetError, match=r"res_img_1\.txt: line 1: expected text in UTF-8, found the byte 0xff"):
        read_detections(other, ground_truth=gt)
