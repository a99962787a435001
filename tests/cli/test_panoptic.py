"""`ioukit panoptic`: the table, JSON, and what it refuses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from evaluation.plain_panoptic import random_panoptic
from ioukit.evaluation import panoptic_quality
from support.command import run_here
from support.panoptic_files import write_panoptic

if TYPE_CHECKING:
    from pathlib import Path

SCENE = random_panoptic(12)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    gt, dt, categories = SCENE
    return write_panoptic(tmp_path / "gt.json", gt, categories), write_panoptic(tmp_path / "dt.json", dt)


def test_the_tables(files: tuple[Path, Path]) -> None:
    quality = panoptic_quality(*SCENE)
    command = run_here("panoptic", *files)
    table, classes = command.out.split("\n\n")
    assert (command.code, table) == (0, quality.table())
    assert classes.splitlines()[0].split() == ["class", "PQ", "SQ", "RQ", "matched", "wrong", "missed"]
    assert len(classes.splitlines()) == 1 + quality.overall.num_categories
    assert command.err.startswith("done 1 image  1 class  ")
    every = run_here("panoptic", *files, "--per-class", "--quiet", "--threads", "1")
    assert every.err == ""
    assert len(every.out.split("\n\n")[1].splitlines()) == 1 + len(quality.per_class)


def test_json(files: tuple[Path, Path], tmp_path: Path) -> None:
    expected = panoptic_quality(*SCENE).to_dict()
    command = run_here("panoptic", *files, "--json")
    assert json.loads(command.out) == expected
    both = run_here("panoptic", *files, "--json", tmp_path / "result.json")
    assert json.loads((tmp_path / "result.json").read_text()) == expected
    assert both.out.startswith("          |    PQ")
    refused = run_here("panoptic", *files, f"--json={files[0]}")
    assert refused.code == 2
    assert "is an input and would be overwritten" in refused.err


def test_folders(files: tuple[Path, Path], tmp_path: Path) -> None:
    for side in ("gt", "dt"):
        (tmp_path / side).rename(tmp_path / f"{side}_png")
    refused = run_here("panoptic", *files)
    assert (refused.code, refused.out) == (2, "")
    assert f"there is no folder {tmp_path}/gt with its PNG files; name the folder: gt_folder, or on" in refused.err
    folders: list[str | Path] = ["--gt-folder", tmp_path / "gt_png", "--dt-folder", tmp_path / "dt_png"]
    assert run_here("panoptic", *files, *folders).code == 0


def test_what_it_refuses(files: tuple[Path, Path]) -> None:
    missing = run_here("panoptic", files[0], files[1].with_name("dtt.json"))
    assert missing.code == 2
    assert f"did you mean '{files[1]}'" in missing.err
    files[1].write_text('{"annotations": []}')
    command = run_here("panoptic", *files)
    assert (command.code, command.out) == (2, "")
    assert command.err.startswith(f"Error: {files[1]}: expected a prediction for image ")
    assert command.err.count("\n") == 1
