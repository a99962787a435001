"""`ioukit slices`: tables, conditions, searches, files, and one line for each mistake."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import datasets
from support.command import run_here
from support.evaluated_scenes import made

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ground truth, detections of two models, and a table."""
    path = tmp_path_factory.mktemp("slices")
    data = made(images=60, seed=3)
    assert data.ground_truth is not None
    assert data.detections is not None
    dt = data.detections
    datasets.write(data.ground_truth, path / "gt.json", "coco")
    datasets.write(dt, path / "a.json", "coco", ground_truth=data.ground_truth)
    kept = ~((dt.image_ids <= 30) & (np.arange(len(dt)) % 2 == 0))
    datasets.write(dt.take(kept), path / "b.json", "coco", ground_truth=data.ground_truth)
    rows = ["file_name,weather,speed,video"]
    rows += [f"{one}.png,{'rain' if one <= 30 else 'sun'},{one},{one // 10}" for one in range(1, 61)]
    (path / "scenes.csv").write_text("\n".join(rows) + "\n")
    return path


def test_slices_of_a_table_and_of_conditions_are_printed(folder: Path) -> None:
    files = (folder / "gt.json", folder / "a.json", "--table", folder / "scenes.csv")
    done = run_here(
        "slices", *files, "--by", "weather", "--by", 'weather == "rain" and speed > 20', "--by", "size",
        "--keys", "AP,AP50/dog", "--replicates", "10", "--csv", folder / "out.csv",
    )  # fmt: skip
    assert done.code == 0
    lines = done.out.splitlines()
    assert max(map(len, lines)) <= 80
    (left_out,) = (line for line in lines if line.startswith("left out to fit 80 columns: images, "))
    assert "AP50/dog" in left_out
    assert [line.split("  ")[0] for line in lines[1:] if line != left_out] == [
        "whole data set",
        "weather: rain",
        "weather: sun",
        'weather == "rain" and speed > 20',
        "size: small",
        "size: medium",
        "size: large",
        "intervals: 95 %, for each slice alone",
        "differences of slices of images: less what random sets of as many images have",
        "differences of slices of objects: not corrected, often too high",
    ]
    assert "wrote" in done.err
    assert (folder / "out.csv").read_text().startswith("name,by,value,level,images,objects,share,")


def test_json_and_two_models(folder: Path) -> None:
    files = (folder / "gt.json", folder / "a.json", "--than", folder / "b.json", "--table", folder / "scenes.csv")
    done = run_here("slices", *files, "--by", "weather", "--replicates", "20", "--json")
    found = json.loads(done.out)
    rain, sun = found["slices"]
    assert rain["changes"]["AP"]["high"] < 0
    assert sun["changes"]["AP"]["value"] == 0
    done = run_here(
        "slices", *files, "--by", "weather", "--worst", "--replicates", "5", "--permutations", "50", "--quiet"
    )
    assert done.err == ""
    assert done.out.splitlines()[3].startswith("weather: rain ")  # behind two lines in words, and the head


def test_without_a_column_the_worst_are_searched(folder: Path) -> None:
    files = (folder / "gt.json", folder / "b.json", "--table", folder / "scenes.csv", "--permutations", "50")
    done = run_here("slices", *files, "--replicates", "5", "--bins", "speed=0,31,61", "--json")
    found = json.loads(done.out)
    assert found["slices"][0]["name"] in ("weather: rain", "speed: 0 to 31", "video: 1", "video: 2", "video: 0")
    assert found["found"] >= 1
    done = run_here("slices", *files, "--replicates", "5", "--clusters", "video", "--pairs", "--least-objects", "20")
    assert done.code == 0
    assert "slices of at least 20 objects" in done.out


def test_columns_are_listed(folder: Path) -> None:
    files = (folder / "gt.json", folder / "a.json", "--table", folder / "scenes.csv", "--columns")
    done = run_here("slices", *files)
    assert done.out.splitlines()[0].split() == ["column", "of", "kind", "values", "missing", "meaning"]
    assert any(line.startswith("weather ") for line in done.out.splitlines())
    listed = json.loads(run_here("slices", *files, "--json").out)
    assert {"name": "speed", "level": "image", "kind": "number"}.items() <= listed[-2].items()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--by", "wether"], "no column 'wether'; did you mean 'weather'?"),
        (["--by", "weather ="], "write == instead of ="),
        (["--by", "__import__('os')"], "cannot be called"),
        (["--by", "speed", "--bins", "speed"], "expected COLUMN=EDGES"),
        (["--by", "speed", "--bins", "speed=a"], "expected COLUMN=EDGES"),
        (["--by", "speed", "--bins", "speed=2.5"], "one number is how many ranges"),
        (["--by", "speed", "--bins", "speed=inf"], "one number is how many ranges"),
        (["--by", "speed", "--bins", "weather=3"], "bins for 'weather'"),
        (["--by", "weather", "--pairs"], "--pairs needs --worst"),
        (["--replicates", "0"], "--replicates must be at least 1"),
        (["--by", "weather", "--keys", "APx"], "no number 'APx'"),
        (["--keys", "AP,AP50"], "the search is by one number"),
        (["--by", "weather", "--level", "2"], "level"),
        (["--clusters", "size"], "no column 'size'"),
        (["--clusters", "area"], "one per image is needed"),
        (["--image-column", "frame"], "expected a column 'frame'"),
        (["--table", "missing.csv"], "missing.csv"),
        (["--by", "weather", "--iou-type", "segm"], "segm"),
        (["--json=same.txt", "--csv=same.txt"], "same.txt"),
    ],
)
def test_a_mistake_is_one_line_and_exit_code_2(folder: Path, words: list[str], message: str) -> None:
    done = run_here("slices", folder / "gt.json", folder / "a.json", "--table", folder / "scenes.csv", *words)
    assert done.code == 2
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
    assert done.out == ""


def test_an_input_is_never_overwritten(folder: Path) -> None:
    before = (folder / "scenes.csv").read_text()
    files = (folder / "gt.json", folder / "a.json", "--table", folder / "scenes.csv")
    for option in ("--csv", "--json"):
        assert run_here("slices", *files, "--by", "weather", f"{option}={folder / 'scenes.csv'}").code == 2
    assert (folder / "scenes.csv").read_text() == before


def test_attributes_of_cocos_files_are_columns(folder: Path, tmp_path: Path) -> None:
    gt = json.loads((folder / "gt.json").read_text())
    for at, one in enumerate(gt["annotations"]):
        one["attributes"] = {"occluded": at % 3 == 0, "blur": at % 2}
    (tmp_path / "gt.json").write_text(json.dumps(gt))
    done = run_here(
        "slices", tmp_path / "gt.json", folder / "a.json", "--by", "occluded", "--by", "blur == 1", "--json"
    )
    assert [one["name"] for one in json.loads(done.out)["slices"]] == ["occluded: yes", "occluded: no", "blur == 1"]
