"""Evaluations in ClearML's offline mode: the events that it would send, read from its folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.evaluated_scenes import made
from support.paths import IMPORTED_FROM, ROOT

pytest.importorskip("clearml", reason="needs ClearML: pip install clearml")
pytest.importorskip("matplotlib", reason="figures need matplotlib")
pytest.importorskip("jinja2", reason="the report needs Jinja2")
pytest.importorskip("PIL", reason="ClearML makes pictures with Pillow")

# ClearML patches libraries and has one task per process, so it runs in its own.
PROGRAM = """
import json, sys
from clearml import Task
Task.set_offline(True)
task = Task.init("ioukit", "offline", auto_connect_frameworks=False, auto_connect_arg_parser=False,
                 auto_resource_monitoring=False)
from support.evaluated_scenes import made
stepped = made().log_to(task, step=3, prefix="val/", errors="raise")
alone = made(seed=1).log_to(task, figures=False, report=False, errors="raise")
folder = str(task.get_offline_mode_folder())
task.close()
print(json.dumps([folder, dict(stepped.numbers), stepped.figures, stepped.files, dict(alone.numbers)]))
"""


@pytest.fixture(scope="module")
def offline(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Any]]:
    home = tmp_path_factory.mktemp("clearml")
    path = os.pathsep.join([str(IMPORTED_FROM), str(ROOT / "tests")])
    environment = {**os.environ, "HOME": str(home), "CLEARML_CACHE_DIR": str(home / "cache"), "PYTHONPATH": path}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, env=environment, cwd=home
    )
    assert ran.returncode == 0, ran.stderr
    folder, *rest = json.loads(ran.stdout.splitlines()[-1])
    return Path(folder), rest


def events(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    return [event for line in lines for event in (json.loads(line) if line.startswith("[") else [json.loads(line)])]


def test_the_events_have_the_numbers_to_the_last_bit(offline: tuple[Path, list[Any]]) -> None:
    folder, (stepped, _, _, alone) = offline
    scalars = [event for event in events(folder) if event["type"] == "training_stats_scalar"]
    found = {(one["metric"], one["variant"], one["iter"]): one["value"] for one in scalars}
    one, other = made(), made(seed=1)
    assert found["val", "AP", 3] == one.summary["AP"]
    assert found["val/AP50", "dog", 3] == one.per_class["dog"].summary["AP50"]
    assert found["val/counts", "detections", 3] == one.counts["detections"]
    assert {"/".join(key[:2]): value for key, value in found.items() if key[2] == 3} == stepped
    assert stepped == {f"val/{name}": value for name, value in one.metrics().items() if value == value}  # noqa: PLR0124 - NaN
    single = {variant: value for (metric, variant, _), value in found.items() if metric == "Summary"}
    assert single == alone == {name: value for name, value in other.metrics().items() if value == value}  # noqa: PLR0124


def test_figures_and_the_report_are_in_its_folder(offline: tuple[Path, list[Any]]) -> None:
    folder, (_, figures, files, _) = offline
    assert len(figures) == 7
    assert files == ["val/report"]
    images = [event for event in events(folder) if event["type"] == "training_debug_image"]
    assert sorted(f"{one['metric']}/{one['variant']}" for one in images) == sorted(figures)
    pictures = [path for path in folder.rglob("*.png") if path.read_bytes().startswith(b"\x89PNG")]
    assert len(pictures) == 7
    (report,) = folder.rglob("report.html")
    assert "AP50" in report.read_text(encoding="utf-8")
