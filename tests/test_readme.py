"""What README.md says is so."""

from __future__ import annotations

import importlib
import re
import shlex
import subprocess
import sys

import pytest

from support.paths import ROOT, load

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_gives_the_numbers_of_pycocotools() -> None:
    (command,) = re.findall(r"^\.venv/bin/ioukit (.*)$", README, re.MULTILINE)
    ran = subprocess.run(
        [sys.executable, "-m", "ioukit", *shlex.split(command)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    expected = load(ROOT / "examples" / "coco_val2017_100" / "expected.json")["bbox"]["stats"]
    printed = [line.rpartition("= ")[2] for line in ran.stdout.splitlines()[:12]]
    assert printed == [f"{number:0.3f}" for number in expected.values()]


def test_the_speed_chart_is_in_words_too(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib", reason="the chart needs matplotlib: pip install 'ioukit[plots]'")
    monkeypatch.syspath_prepend(ROOT / "docs" / "build")
    times_of_ioukit = importlib.import_module("speed_figures").times_of_ioukit
    (words,) = re.findall(r"!\[(Time from two.*?)\]", README, re.DOTALL)
    small, large = times_of_ioukit("small"), times_of_ioukit("large")
    assert len(small) == len(large) == 5
    for engine in small.keys() - {"ioukit"}:
        numbers = [f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" for ratio in (small[engine], large[engine])]
        assert f"{engine} {numbers[0]} and {numbers[1]}" in words.replace("\n", " ")
