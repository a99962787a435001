"""Detections whose files say less than the columns hold: the ground truth has the rest, and is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit import DatasetError, Detections
from ioukit.datasets import FORMATS, read_detections, write

if TYPE_CHECKING:
    from pathlib import Path

ASKED = r"come from the ground truth: give ground_truth=\.\.\., or --ground-truth in a command"
COMPLETE = ("arrow", "coco", "csv", "lvis", "parquet")
"""Their files have the ids of images and classes, and pixels."""
WRITERS = [name for name, known in FORMATS.items() if known.write_detections and name not in COMPLETE]
READERS = [name for name, known in FORMATS.items() if known.read_detections and name not in (*COMPLETE, "crowdhuman")]


@pytest.mark.parametrize("name", WRITERS)
def test_a_writer_asks_for_the_ground_truth(name: str, tmp_path: Path) -> None:
    dt = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 2, 2]], scores=[0.5])
    with pytest.raises(DatasetError, match=rf"^detections: .* {ASKED}$"):
        write(dt, tmp_path / "found", name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", READERS)
def test_a_reader_asks_for_the_ground_truth(name: str, tmp_path: Path) -> None:
    path = tmp_path / "found"
    if FORMATS[name].detections_suffix:
        path.touch()
    else:
        path.mkdir()
    with pytest.raises(DatasetError, match=rf"found: .* {ASKED}$"):
        read_detections(path, name)
