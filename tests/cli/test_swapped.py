"""Ground truth in the place of detections, and a file in the place of its folder: the line says so in all formats."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from support.command import run_here
from support.label_samples import write_sample

if TYPE_CHECKING:
    from pathlib import Path

SWAPPED = (
    "createml",
    "crowdhuman",
    "csv",
    "dota",
    "icdar2015",
    "kitti",
    "mot",
    "padilla",
    "scalabel",
    "voc",
    "wider-face",
)


@pytest.mark.parametrize("name", [*SWAPPED, "yolo"])
@pytest.mark.parametrize("command", ["eval", "check"])
def test_exchanged_sides_are_asked_about(command: str, name: str, tmp_path: Path) -> None:
    sample = write_sample(name, tmp_path)
    assert sample.detections is not None
    done = run_here(command, sample.detections, sample.ground_truth)
    assert done.code == 2
    assert done.err.count("are the two swapped?") == 1
    assert "invalid records" not in done.err
    alike = run_here(command, sample.ground_truth, sample.ground_truth)
    assert "swapped?" not in alike.err


def test_an_unknown_image_is_no_swap(tmp_path: Path) -> None:
    sample = write_sample("csv", tmp_path)
    assert sample.detections is not None
    lines = sample.ground_truth.read_text().splitlines()
    sample.ground_truth.write_text("\n".join(line for line in lines if "b.jpg" not in line))
    done = run_here("eval", sample.ground_truth, sample.detections)
    assert done.code == 2
    assert "swapped?" not in done.err


@pytest.mark.parametrize("name", ["dota", "icdar2015", "kitti", "padilla", "wider-face", "yolo"])
def test_a_file_in_the_place_of_its_folder_is_told(name: str, tmp_path: Path) -> None:
    sample = write_sample(name, tmp_path)
    assert sample.detections is not None
    texts = (file for file in sorted(sample.detections.glob("*.txt")) if file.name != "classes.txt")
    file = next(file for file in texts if file.read_text())
    for words in ([], ["--dt-format", name]):
        done = run_here("eval", sample.ground_truth, file, *words)
        assert done.code == 2
        assert re.search(rf"name (the|its) folder, {re.escape(str(file.parent))}$", done.err.strip())


def test_a_list_among_labels_is_not_one_of_them(tmp_path: Path) -> None:
    sample = write_sample("padilla", tmp_path)
    (sample.ground_truth / "val.txt").write_text("a\nb\n")
    done = run_here("eval", sample.ground_truth / "val.txt", sample.ground_truth)
    assert done.code == 2
    assert "val.txt: not a format that can be read" in done.err
