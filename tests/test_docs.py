"""The pages in docs: figures are those that their script draws, programs print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")

FIGURES = ROOT / "docs" / "figures"
REDRAW = "run `python docs/figures/draw.py`"


def words(svg: Path) -> list[str]:
    """What is written in it: letters are outlines, and a comment above each text says what they read."""
    return re.findall(r"<!-- (.*?) -->", svg.read_text(encoding="utf-8"))


def test_committed_figures_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-W", "error", FIGURES / "draw.py", tmp_path], check=True)
    drawn, committed = (sorted(path.name for path in folder.glob("*.svg")) for folder in (tmp_path, FIGURES))
    assert drawn == committed, REDRAW
    for name in drawn:
        assert words(tmp_path / name), name
        assert words(tmp_path / name) == words(FIGURES / name), f"{name}: {REDRAW}"


def test_the_programs_of_the_page_print_what_it_says() -> None:
    page = (ROOT / "docs" / "overlap.md").read_text(encoding="utf-8")
    programs, printed = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    assert len(programs) == len(printed) == 2
    ran = subprocess.run([sys.executable, "-c", "".join(programs)], capture_output=True, text=True, check=True)
    assert ran.stdout == "".join(printed)


@pytest.mark.parametrize("page", ["README.md", "docs/overlap.md", "docs/degenerate.md", "docs/compat.md"])
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []
