"""The pages in docs: figures are those that their script draws, programs print what the page says."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from paths import ROOT

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")

FIGURES = ROOT / "docs" / "figures"
PAGES = ["README.md", "ARCHITECTURE.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md"))]
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


@pytest.mark.parametrize(
    ("name", "count"), [("anchors.md", 1), ("assignment.md", 1), ("diagnose.md", 5), ("overlap.md", 2)]
)
def test_the_programs_of_the_page_print_what_it_says(name: str, count: int) -> None:
    page = (ROOT / "docs" / name).read_text(encoding="utf-8")
    programs, printed = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    assert len(programs) == len(printed) == count
    ran = subprocess.run(
        [sys.executable, "-c", "".join(programs)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert ran.stdout == "".join(printed)


def test_the_program_about_masks_prints_what_the_page_says() -> None:
    page = (ROOT / "docs" / "masks.md").read_text(encoding="utf-8")
    (program,), (printed,) = (re.findall(rf"```{kind}\n(.*?)```", page, re.DOTALL) for kind in ("python", "text"))
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout == printed


def test_the_walk_through_yolo_says_what_the_library_computes() -> None:
    script = ROOT / "docs" / "make_iou_in_yolo.py"
    page = runpy.run_path(str(script))["page"]
    assert (ROOT / "docs" / "iou_in_yolo.md").read_text(encoding="utf-8") == page(), f"run python {script.name}"


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    path = ROOT / page
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text(encoding="utf-8"))
    assert [target for target in targets if not (path.parent / target).exists()] == []


def test_the_tests_that_a_page_names_exist() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    named = {name for page in PAGES for name in re.findall(r"`(test_\w+)`", (ROOT / page).read_text(encoding="utf-8"))}
    assert len(named) >= 10
    assert [name for name in sorted(named) if f"def {name}(" not in text] == []
