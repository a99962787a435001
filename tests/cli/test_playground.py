"""`ioukit playground` writes one page, whole or not at all."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from support.command import run_fresh, run_here

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

from ioukit.report import playground_page

if TYPE_CHECKING:
    from pathlib import Path


def test_it_writes_the_page_where_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "page.html"
    path.write_text("what stood there before")
    outcome = run_here("playground", "-o", path)
    assert (outcome.code, outcome.out) == (0, "")
    assert outcome.err == f"wrote {path}: open it in a browser\n"
    assert path.read_text(encoding="utf-8") == playground_page()
    assert list(tmp_path.iterdir()) == [path]
    path.unlink()
    assert run_here("playground", path).err == outcome.err
    twice = run_here("playground", path, "-o", tmp_path / "other.html")
    assert (twice.code, "the file is given already" in twice.err) == (2, True)


def test_it_has_a_name_for_the_page(tmp_path: Path) -> None:
    outcome = run_fresh("playground", "--quiet", cwd=tmp_path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert (tmp_path / "iou_playground.html").read_bytes() == playground_page().encode()


def test_what_cannot_become_a_file_is_said(tmp_path: Path) -> None:
    folder = run_here("playground", "-o", tmp_path)
    assert folder.code == 2
    assert "is a folder, expected a file to write" in folder.err
    nowhere = run_here("playground", "-o", tmp_path / "none" / "page.html")
    assert nowhere.code == 2
    assert "there is no folder" in nowhere.err


def test_without_jinja2_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    outcome = run_here("playground", "-o", tmp_path / "page.html")
    assert outcome.code == 2
    assert outcome.err == "Error: playground_page needs jinja2: pip install 'ioukit[report]'\n"
    assert list(tmp_path.iterdir()) == []
