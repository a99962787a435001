"""What README.md says is so."""

from __future__ import annotations

import importlib
import re
import shlex
from typing import TYPE_CHECKING

import pytest

from support.command import run_fresh
from support.paths import DATA, ROOT, load

if TYPE_CHECKING:
    from pathlib import Path

README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_example_prints_what_it_says_and_the_numbers_of_pycocotools(tmp_path: Path) -> None:
    """The block is ``bash``: `test_docs.py` runs those of ``sh``, and compares the whole output."""
    block, shown = re.findall(
        r"^<!-- example -->\n```\w+\n(.*?)^```\n\n```text\n(.*?)^```$", README, re.MULTILINE | re.DOTALL
    )[0]
    for command in re.findall(r"^\.venv/bin/ioukit (.*)$", block, re.MULTILINE):
        ran = run_fresh(*shlex.split(command), cwd=tmp_path)
        assert ran.code == 0, ran.err
    expected = load(DATA / "coco_ccby_images" / "expected.json")["bbox"]["stats"]
    printed = ran.out.splitlines()
    assert [line.rpartition("= ")[2] for line in printed[:12]] == [f"{number:0.3f}" for number in expected.values()]
    *first, rest = shown.splitlines()
    assert (printed[: len(first)], rest) == (first, " ...")


def test_the_first_screen_has_the_example() -> None:
    lines = README.splitlines()
    assert len(lines) <= 90
    assert lines.index(" ...") < 25
    bullets = re.findall(
        r"^- (?:.*\n)(?:  .*\n)*", README.partition("## What it does\n")[2].partition("\n## ")[0], re.MULTILINE
    )
    assert 1 <= len(bullets) <= 12
    assert [len(re.findall(r"\]\(", bullet)) for bullet in bullets] == [1] * len(bullets)


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
