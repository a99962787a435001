"""A report as PDF: printed by Chromium where there is one, otherwise said before the work."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from ioukit.report import _printing, write_report
from support.command import run_here
from support.paths import DEMO
from support.report_cases import drawn

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

GT, DT = DEMO / "gt.json", DEMO / "a.json"


def a_browser() -> bool:
    return any(shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))


@pytest.mark.skipif(not a_browser(), reason="needs a browser on the PATH")
def test_the_page_is_printed(tmp_path: Path) -> None:
    path = tmp_path / "report.pdf"
    write_report(drawn(20, ["cat", "dog"]), path)
    content = path.read_bytes()
    assert content.startswith(b"%PDF-")
    assert content.rstrip().endswith(b"%%EOF")
    assert len(content) > 30_000
    assert [file.name for file in tmp_path.iterdir()] == ["report.pdf"]


def test_without_a_browser_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    command = run_here("eval", GT, DT, "--report", tmp_path / "report.pdf")
    assert (command.code, command.out) == (2, "")
    assert "a PDF needs Chromium or Chrome to print the page" in command.err
    with pytest.raises(ValueError, match="a PDF needs Chromium or Chrome"):
        write_report(drawn(5, ["cat"]), tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_a_browser_that_prints_nothing_leaves_the_older_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.pdf"
    path.write_text("an older one")
    monkeypatch.setattr(_printing, "find_browser", lambda: shutil.which("false") or "false")
    with pytest.raises(OSError, match="printed nothing"):
        write_report(drawn(5, ["cat"]), path)
    assert path.read_text() == "an older one"
    assert [file.name for file in tmp_path.iterdir()] == ["report.pdf"]
