"""Folders of label files: names in capitals, and folders inside."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from ioukit.datasets import read, read_detections
from ioukit.errors import DatasetError
from support.command import run_here
from support.label_samples import Sample, write_sample
from support.same_columns import assert_same_columns

IN_FOLDERS = ("dota", "icdar2015", "kitti", "mots", "padilla", "wider-face", "yolo")
"""The formats with a text file per image, class or sequence."""
FLAT = ("dota", "icdar2015", "kitti", "mots", "padilla")
"""Those of them that do not read folders inside."""
OF_THE_SET = ("classes.txt", "wider_face_val_bbx_gt.txt")
"""Files that are no files of one image."""


def texts(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*.txt") if file.name not in OF_THE_SET)


def capitalize(folder: Path) -> None:
    for file in texts(folder):
        file.rename(file.with_suffix(".TXT"))


def both(sample: Sample) -> tuple[Any, Any]:
    assert sample.detections is not None
    return read(sample.ground_truth), read_detections(sample.detections, ground_truth=sample.reference)


@pytest.mark.parametrize("name", IN_FOLDERS)
def test_names_in_capitals_are_read(name: str, tmp_path: Path) -> None:
    sample = write_sample(name, tmp_path)
    expected = both(sample)
    capitalize(tmp_path)
    assert len(expected[1])
    assert_same_columns(both(sample), expected)


def test_results_of_sequences_in_capitals_are_read(tmp_path: Path) -> None:
    sample = write_sample("mot", tmp_path / "of_one")
    assert sample.detections is not None
    (tmp_path / "gt").mkdir()
    (tmp_path / "dt").mkdir()
    sample.ground_truth.rename(tmp_path / "gt" / "walk")
    (sample.detections / "det" / "det.txt").rename(tmp_path / "dt" / "walk.txt")
    gt = read(tmp_path / "gt")
    expected = read_detections(tmp_path / "dt", "mot", ground_truth=gt)
    capitalize(tmp_path / "dt")
    assert_same_columns(read_detections(tmp_path / "dt", "mot", ground_truth=gt), expected)
    assert len(expected)


@pytest.mark.parametrize("split", ["images/val", "list.txt"])
@pytest.mark.parametrize("beside", [False, True])
def test_labels_in_capitals_beside_photographs(split: str, *, beside: bool, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image", reason="sizes of images need Pillow: pip install 'ioukit[yolo]'")
    images = tmp_path / "images" / "val"
    labels = images if beside else tmp_path / "labels" / "val"
    for folder in {images, labels}:
        folder.mkdir(parents=True)
    for name in ("a", "b", "c"):
        image.new("L", (8, 8)).save(images / f"{name}.png")
    (labels / "a.TXT").write_text("0 0.5 0.5 0.5 0.5\n")
    (labels / "b.txt").write_text("0 0.5 0.5 0.25 0.25\n")
    (tmp_path / "list.txt").write_text("".join(f"images/val/{name}.png\n" for name in "abc"))
    (tmp_path / "data.yaml").write_text(f"train: {split}\nval: {split}\nnames: [cat]\n")
    gt = read(tmp_path)
    assert gt.boxes.tolist() == [[2, 2, 4, 4], [3, 3, 2, 2]]
    (labels / "b.TXT").write_text("")
    if (labels / "b.txt").read_text():  # else the two names are one file
        with pytest.raises(DatasetError, match=r"b\.TXT: expected one text file for each image, found also b\.txt"):
            read(tmp_path)


@pytest.mark.parametrize("name", FLAT)
def test_files_in_folders_inside_are_counted(name: str, tmp_path: Path) -> None:
    sample = write_sample(name, tmp_path)
    expected = both(sample)
    for folder in {file.parent for file in texts(tmp_path)}:
        (folder / "old" / "more").mkdir(parents=True)
        shutil.copy(texts(folder)[0], folder / "old" / "first.TXT")
        shutil.copy(texts(folder)[0], folder / "old" / "more" / "second.txt")
        (folder / "old" / "photograph.png").touch()
        (folder / "empty").mkdir()
    found: tuple[Any, ...] = both(sample)
    words = (
        "2 x file in a folder inside, which is not read, such as old/first.TXT: name that folder, or move its files up"
    )
    if name == "dota":  # results are named by their task
        assert_same_columns(found[1], expected[1])
        found = (found[0],)
    for data, of in zip(found, expected, strict=False):
        assert f"{data.source}: {words}" in data.notes
        assert_same_columns(data, of, but=["notes"])


def test_the_command_says_what_is_not_read(tmp_path: Path) -> None:
    sample = write_sample("padilla", tmp_path)
    assert sample.detections is not None
    (sample.detections / "night").mkdir()
    texts(sample.detections)[0].rename(sample.detections / "night" / "a.txt")
    done = run_here("eval", sample.ground_truth, sample.detections)
    assert done.code in (None, 0)
    assert f"{sample.detections}: 1 x file in a folder inside, which is not read, such as night/a.txt" in " ".join(
        done.err.split()
    )


def test_folders_inside_of_yolo_are_read(tmp_path: Path) -> None:
    sample = write_sample("yolo", tmp_path)
    expected = both(sample)
    assert sample.detections is not None
    (sample.detections / "night").mkdir()
    for file in texts(sample.detections):
        file.rename(sample.detections / "night" / file.name)
    assert_same_columns(read_detections(sample.detections, "yolo", ground_truth=sample.reference), expected[1])
