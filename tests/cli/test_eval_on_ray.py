"""`ioukit eval --on ray`: the same numbers, and one line about what is wrong."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import pytest

from ioukit import datasets
from support.command import run_fresh, run_here
from support.paths import DATA

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("pyarrow")

GT = DATA / "coco_val2014_100" / "instances_val2014_100.json"
DT = DATA / "coco_val2014_100" / "instances_val2014_fakebbox100_results.json"


def test_the_numbers_are_those_of_one_process(tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
    detections = tmp_path / "detections.parquet"
    datasets.write(datasets.read_detections(DT), detections, "parquet")
    done = run_fresh("eval", GT, detections, "--on", "ray", "--threads", "2", "--timeout", "90", "--json")
    assert done.code == 0, done.err
    ours, alone = (json.loads(text) for text in (done.out, run_here("eval", GT, DT, "--json").out))
    for each in (ours, alone):
        each.pop("notes")
    assert ours == alone
    wrong = run_fresh("eval", GT, detections, "--on", "ray", "--address", "127.0.0.1:9")
    assert wrong.code == 2
    assert "Error: expected a Ray cluster at the address '127.0.0.1:9'" in wrong.err
    assert "Traceback" not in wrong.err


def test_without_ray_the_extra_is_named() -> None:
    if importlib.util.find_spec("ray") is not None:
        pytest.skip("Ray is installed")
    done = run_here("eval", GT, DT, "--on", "ray")
    assert (done.code, "Error: on='ray' needs ray: pip install 'ioukit[ray]'" in done.err) == (2, True)


@pytest.mark.parametrize("option", [("--address", "head:6379"), ("--timeout", "5")])
def test_options_of_a_cluster_need_one(option: tuple[str, str]) -> None:
    done = run_here("eval", GT, DT, *option, "--on", "local")
    assert done.code == 2
    assert "needs --on ray" in done.err
