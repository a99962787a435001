"""Names of files that are not UTF-8: read, written and named like others, with an escape for each other byte."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from support.command import run_here
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")

VAL2014 = DATA / "coco_val2014_100"
ODD = os.fsdecode(b"\xe9\xff")


def test_files_of_coco(tmp_path: Path) -> None:
    gt, dt = tmp_path / f"gt{ODD}.json", tmp_path / f"dt{ODD}.json"
    shutil.copy(VAL2014 / "instances_val2014_100.json", gt)
    shutil.copy(VAL2014 / "instances_val2014_fakebbox100_results.json", dt)
    done = run_here("eval", gt, dt, "--json", tmp_path / f"out{ODD}.json", "--report", tmp_path / f"page{ODD}.html")
    assert done.code == 0
    assert r"dt\udce9\udcff.json" in done.err
    assert (tmp_path / f"out{ODD}.json").is_file()
    assert run_here("convert", gt, tmp_path / f"voc{ODD}", "--to", "voc").code == 0
    assert run_here("inspect", tmp_path / f"voc{ODD}").code == 0
    for text, says in (("[7]", "expected an object"), ('[{"image_id": 7}]', "")):
        dt.write_text(text)
        refused = run_here("eval", gt, dt)
        assert (refused.code, refused.out) == (2, "")
        assert r"dt\udce9\udcff.json: detections[0]" in refused.err
        assert says in refused.err


def test_a_record_that_belongs_to_nothing(tmp_path: Path) -> None:
    """The core finds it, with the name that the data came with."""
    dt = tmp_path / f"dt{ODD}.json"
    dt.write_text('[{"image_id": 7, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]')
    refused = run_here("eval", VAL2014 / "instances_val2014_100.json", dt)
    assert (refused.code, refused.out) == (2, "")
    assert r"dt\udce9\udcff.json: detections[0].image_id" in refused.err


def test_a_run_in_parts_works_in_a_folder_of_any_name(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    gt, dt = VAL2014 / "instances_val2014_100.json", VAL2014 / "instances_val2014_fakebbox100_results.json"
    done = run_here("eval", gt, dt, "--work", tmp_path / f"work{ODD}")
    assert done.out == run_here("eval", gt, dt).out
