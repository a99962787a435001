"""Numbers of a comparison's page say which command opens their images."""

from __future__ import annotations

import itertools
import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ioukit import evaluate, read_coco
from ioukit.comparison import compare_models
from ioukit.report import write_comparison
from support.browsing import serious_violations
from support.report_cases import EXAMPLE, drawn

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

TRUTH, FOUND = EXAMPLE / "ground_truth.json", EXAMPLE / "yolact.json"


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of two models whose data were read from files; the second has no detection of every third image."""
    folder = tmp_path_factory.mktemp("it's a folder")
    fewer = [row for row in json.loads(FOUND.read_text()) if row["image_id"] % 3]
    (folder / "B.json").write_text(json.dumps(fewer))
    models = {"first model": evaluate(*read_coco(TRUTH, FOUND)), "B": evaluate(*read_coco(TRUTH, folder / "B.json"))}
    write_comparison(compare_models(models, replicates=40, permutations=40), folder / "page.html")
    return folder / "page.html"


def words(page: Page) -> list[str]:
    found = shlex.split(page.locator("dialog.command-panel textarea").input_value())
    page.keyboard.press("Escape")
    return found


def filters(command: list[str]) -> list[str]:
    return [after for before, after in itertools.pairwise(command) if before == "--filter"]


def test_counts_changes_and_parts_open_the_viewer(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file)
    page.locator("#curve-commands button").nth(4).click()
    command = words(page)
    assert command[:2] == ["ioukit", "view"]
    assert [Path(word).exists() for word in command[2:5]] == [True, True, True]
    assert command[5:9] == ["--name", "first model", "--name", "B"]
    score = page.locator("#score-b").get_attribute("data-score")
    assert filters(command) == ["model=B", "outcome=fp", f"at_score={score}", "at_iou=0.5"]
    page.locator("#changes-class").select_option(label="person")
    page.locator("#changes-command button").press("Enter")
    assert filters(words(page)) == ["change=won", "change=lost", "class=person", "at_iou=0.5"]
    page.locator('#changes-kinds input[value="found"]').uncheck()
    page.locator("#changes-command button").click()
    assert filters(words(page)) == ["change=lost", "class=person", "at_iou=0.5"]
    expected = {"Class": "class=", "Size": "area=", "Kind of error": "error=", "Image": "text="}
    for title, start in expected.items():
        page.locator("#parts-by").get_by_role("button", name=title, exact=True).click()
        page.locator("#parts-table .command-button").first.click()
        first = filters(words(page))
        assert first[0].startswith(start)
        assert len(first) == 1  # a class can differ in AP although no object is won or lost
    page.locator("#changes-command button").click()
    shown = page.locator("dialog.command-panel textarea").input_value().split("\n")
    assert len(shown) > 3
    assert all(line.startswith("--") for line in shown[1:])  # an option does not break
    assert serious_violations(page) == []


def test_the_panel_is_without_serious_findings_and_fits_a_phone(open_page: OpenPage, page_file: Path) -> None:
    page = open_page(page_file, width=390, dark=True)
    page.locator("#changes-command button").click()
    assert serious_violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth") <= 390


def test_models_from_memory_have_no_commands(open_page: OpenPage, tmp_path: Path) -> None:
    a = drawn(60, ["cat", "dog"])
    assert a.ground_truth is not None
    assert a.detections is not None
    b = evaluate(a.ground_truth, a.detections[a.detections.scores > 0.4])
    write_comparison(compare_models({"a": a, "b": b}), tmp_path / "page.html")
    assert open_page(tmp_path / "page.html").locator(".command-button").count() == 0
