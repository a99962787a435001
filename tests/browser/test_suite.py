"""The page of a suite in a real browser: it opens everywhere, and its tables are those of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit.comparison import evaluate_suite
from support.browsing import assert_themes, pictured, serious_violations
from support.report_cases import ATTACKS
from support.suite_cases import CASES, FEW, models_on

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit.comparison import Suite
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

Pages = dict[str, tuple["Suite", "Path"]]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The page of each case, written once."""
    folder, made = tmp_path_factory.mktemp("suites"), {}
    for number, (name, make) in enumerate(CASES.items()):
        suite, path = make(), folder / f"{number}.html"
        suite.report(path)
        made[name] = suite, path
    return made


@pytest.mark.parametrize("case", CASES)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, pages: Pages, tmp_path: Path
) -> None:
    page = open_page(pages[case][1], dark=case == "four")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(("case", "dark"), [("two", False), ("four", True), ("undefined", False), ("no tests", True)])
def test_axe_finds_nothing_serious(case: str, *, dark: bool, open_page: OpenPage, pages: Pages) -> None:
    assert serious_violations(open_page(pages[case][1], dark=dark)) == []


def test_light_and_dark_follow_the_system_and_the_switch(open_page: OpenPage, pages: Pages) -> None:
    assert_themes(open_page, pages["two"][1])


def rows(page: Page, table: str) -> list[list[str]]:
    """The texts of the rows of a table that are in sight."""
    return [line.locator("th, td").all_inner_texts() for line in page.locator(f"{table} tbody tr:visible").all()]


def test_sentences_are_those_of_the_result(open_page: OpenPage, pages: Pages) -> None:
    for case in ("two", "four", "no tests"):
        suite, path = pages[case]
        page = open_page(path)
        said = page.locator("#summary .lead, #summary .verdicts li").all_inner_texts()
        assert said == suite.verdicts()
        assert page.locator("#summary p.soft").inner_text() == " ".join(suite.notes())
        assert page.locator("#tests").count() == (case != "no tests")


def test_data_sets_are_sorted_and_filtered(open_page: OpenPage, pages: Pages) -> None:
    suite, path = pages["four"]
    page = open_page(path)
    listed = rows(page, "#class-table")
    assert [row[0] for row in listed] == list(suite.sets)
    assert [row[2:] for row in listed] == [[f"{value:.4f}" for value in line] for line in suite.values.tolist()]
    assert page.locator("#class-said").inner_text() == "12 data sets"
    assert page.locator("#class-table .best").count() == 12
    page.locator("#class-table thead button").nth(2).click()
    assert [float(row[2]) for row in rows(page, "#class-table")] == sorted(
        (float(row[2]) for row in listed), reverse=True
    )
    page.locator("#class-filter").fill("1")
    assert page.locator("#class-said").inner_text() == "3 of 12 data sets, by base"
    assert {row[0] for row in rows(page, "#class-table")} == {"set 1", "set 10", "set 11"}


def test_models_have_bars_with_their_intervals(open_page: OpenPage, pages: Pages) -> None:
    suite, path = pages["two"]
    page = open_page(path)
    fills = page.locator("#models .bar .fill").evaluate_all("bars => bars.map((bar) => bar.getAttribute('width'))")
    assert fills == [f"{100 * mean:.2f}" for mean in suite.means.tolist()]
    lines = page.locator("#models .whisker").evaluate_all("lines => lines.map((line) => line.getAttribute('d'))")
    assert lines == [f"M{100 * one.low:.2f} 5H{100 * one.high:.2f}" for one in suite.intervals]
    doubtful = page.locator("#models .whisker.doubtful").count()
    assert doubtful == sum(bool(one.warnings) for one in suite.intervals)
    assert ("dashed ones are doubtful" in page.locator("#models .intro").inner_text()) == bool(doubtful)
    page.set_viewport_size({"width": 360, "height": 900})
    assert not page.locator("#models .bar").first.is_visible()
    assert "line over a bar" not in page.locator("#models .intro").inner_text()
    assert page.locator("#class-table").locator("xpath=..").evaluate("area => area.scrollWidth - area.clientWidth") <= 1


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    names = [name for name in ATTACKS if name]
    suite = evaluate_suite({name: models_on(seed, names[:4]) for seed, name in enumerate(names)}, **FEW)
    path = tmp_path / "page.html"
    suite.report(path, title="<script>window.pwned = 1</script>")
    page = open_page(path)
    assert page.title().startswith("<script>window.pwned")
    for button in page.locator("#class-table thead button").all():
        button.click()
    page.locator("#class-filter").fill("<img")
    assert len(rows(page, "#class-table")) == sum("<img" in name for name in names)
    assert page.evaluate("() => window.pwned") is None
    assert page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length") == 2


def test_it_prints(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["two"][1], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
