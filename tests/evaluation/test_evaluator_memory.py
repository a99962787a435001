"""An `Evaluator` grows by at most 60 bytes per detection, before and after its images are matched."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ioukit

MOST_BYTES = 60


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc, and tells glibc to free memory")
@pytest.mark.parametrize("measure", ["traced", "resident"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_half_a_million_detections(dtype: str, measure: str) -> None:
    script = Path(__file__).parent / "memory_process.py"
    paths = os.pathsep.join([str(Path(ioukit.__file__).parent.parent), str(script.parent.parent)])
    # With an arena per thread, glibc keeps one free megabyte more or less, by chance, whatever the detections.
    environment = {**os.environ, "PYTHONPATH": paths, "MALLOC_ARENA_MAX": "1"}
    command = [sys.executable, str(script), dtype, measure]
    grown = json.loads(subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout)
    assert 0 < grown["waiting"] <= MOST_BYTES, grown
    assert 0 < grown["matched"] <= MOST_BYTES, grown
