"""`ioukit compare --report`: the page, its photographs, and what is refused before the work."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from support.command import run_here
from support.paths import DEMO

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")

TRUTH = DEMO / "gt.json"
FAST = ("--replicates", "20", "--permutations", "20")


@pytest.fixture
def models(tmp_path: Path) -> tuple[Path, Path]:
    """Detections, and two of three of them."""
    found = json.loads((DEMO / "a.json").read_text(encoding="utf-8"))
    paths = tmp_path / "all.json", tmp_path / "fewer.json"
    for path, rows in zip(paths, (found, [row for at, row in enumerate(found) if at % 3]), strict=True):
        path.write_text(json.dumps(rows), encoding="utf-8")
    return paths


def test_a_page(models: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    found = run_here("compare", TRUTH, *models, *FAST, "--report", page)
    assert found.code == 0
    assert found.out
    assert f"wrote {page}" in found.err
    text = page.read_text(encoding="utf-8")
    assert '<h1 class="name">fewer compared with all</h1>' in text
    assert "data:image/jpeg" not in text


def test_photographs_are_counted(models: tuple[Path, Path], tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    for image in json.loads(TRUTH.read_text(encoding="utf-8"))["images"][:5]:
        image_module.new("RGB", (image["width"], image["height"])).save(tmp_path / image["file_name"])
    page = tmp_path / "page.html"
    found = run_here("compare", TRUTH, *models, *FAST, "--report", page, "--images", tmp_path, "--json")
    assert json.loads(found.out)["pairs"]
    assert f"found 5 of 6 images in {tmp_path}" in found.err
    assert "data:image/jpeg;base64," in page.read_text(encoding="utf-8")


def test_wrong_paths_are_refused_before_the_work(models: tuple[Path, Path], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    cases = [
        (("--images", tmp_path), "--images needs --report"),
        (("--report", tmp_path), "is a folder, expected a file to write"),
        (("--report", models[0]), "is an input and would be overwritten"),
        (("--report", tmp_path / "no" / "page.html"), "there is no folder"),
        (("--report", page, "--images", tmp_path / "no"), "expected a folder"),
        (("--report", page, f"--json={page}"), "is the file of --json, too"),
    ]
    for options, message in cases:
        refused = run_here("compare", TRUTH, *models, *FAST, *options)
        assert (refused.code, refused.out) == (2, "")
        assert message in " ".join(refused.err.split()), refused.err
        assert not page.exists()
