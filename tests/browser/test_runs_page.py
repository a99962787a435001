"""The page of runs in a real browser: any number of runs, and two that are compared."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from ioukit.cli.view import _pages_of
from ioukit.runs import Ledger, write_runs_page
from support.browsing import serious_violations, until
from support.listed_runs import runs_over_time, two_groups

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage
    from support.viewer_pages import Visits

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

MINUS, UNDEFINED = "\N{MINUS SIGN}", "\N{EN DASH}"


def page_of(folder: Path, count: int) -> Path:
    write_runs_page(runs_over_time(folder, count), folder / f"{count}.html", ledger=folder / "runs.db")
    return folder / f"{count}.html"


def cells(page: Page, place: int) -> list[str]:
    return page.locator(f"#table tbody tr > :nth-child({place})").all_inner_texts()


def compared(page: Page, name: str) -> list[str]:
    return page.locator("#pair-table tbody tr", has=page.get_by_text(name, exact=True)).locator("td").all_inner_texts()


@pytest.mark.parametrize(("count", "dark"), [(0, True), (1, False), (3, True), (1000, False)])
def test_it_opens_with_any_number_of_runs(open_page: OpenPage, tmp_path: Path, count: int, *, dark: bool) -> None:
    page = open_page(page_of(tmp_path, count), dark=dark)
    assert page.locator("html[data-ready]").count() == 1
    for width in (390, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("() => document.documentElement.scrollWidth") <= width
        assert page.locator("#pair-table").evaluate_all(
            "all => all.every(one => one.clientWidth <= one.parentNode.clientWidth)"
        )
    assert page.locator("#chart circle").count() == count
    assert page.locator("#chart .whisker").count() == (count + 1) // 2
    assert page.locator("#table tbody tr").count() == min(count, 25)
    numbers, values, other_tags = 12, 1, 2
    assert page.locator("#pair-table tbody tr").count() == (0 if count < 2 else numbers + values + other_tags)
    assert count != 3 or serious_violations(page) == []


def test_chart_and_table_show_the_chosen_number(open_page: OpenPage, tmp_path: Path) -> None:
    runs = runs_over_time(tmp_path, 9)
    page = open_page(page_of(tmp_path, 9))
    newest_first = [run.reference for run in runs][::-1]
    assert [text.split()[-1] for text in cells(page, 1)] == newest_first
    assert cells(page, 2) == [f"{run.summary['AP']:.3f}" for run in runs][::-1]
    assert cells(page, 3)[:2] == ["0.567 to 0.717", UNDEFINED]
    assert page.locator("#lead").inner_text() == (
        "AP of the newest run, main@5, is 0.667, its 95 % interval is 0.567 to 0.717. "
        "9 runs reach from 0.400 (main@1) to 0.667 (main@5)."
    )
    assert page.locator("#chart .line").count() == 2  # a line joins the runs of one name
    page.locator("#table thead button", has_text="lr").click()
    by_rate = [text.split()[-1] for text in cells(page, 1)]
    assert by_rate[:5] == ["main@1", "main@4", "main@2", "main@5", "main@3"]  # 1, 1, 0.01, 0.01, 0.0001
    page.locator("#key").select_option("latency")
    assert page.locator("#table th[aria-sort=descending]").inner_text() == "lr"
    assert cells(page, 2)[0] == "12.50"
    assert page.locator("#chart .whisker").count() == 0
    page.locator("#filter").fill("LR=1E-2")
    assert cells(page, 2) == ["14.50", "20.50"]
    assert page.locator("#chart circle").count() == 2
    page.locator("#filter").fill("nothing")
    assert page.locator("#chart").inner_text() == "No run fits the filter."


def test_two_runs_that_are_chosen_are_compared(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(page_of(tmp_path, 60))
    page.locator("#table button[data-run]").first.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "Enter"):
        page.keyboard.press(key)  # main@29
    page.locator("#chart circle").first.click()  # main@1
    assert page.locator("#pair-said").inner_text().startswith("A is main@29, added 2026-09-17 16:00. B is main@1,")
    assert [letter.strip() for letter in page.locator("#table .letter").all_inner_texts()[:4]] == ["", "", "", "A"]
    assert compared(page, "AP") == ["0.680\n0.580 to 0.730", "0.400\n0.300 to 0.450", f"{MINUS}0.2800"]
    assert compared(page, "latency") == ["68.50", "12.50", f"{MINUS}56.00"]
    assert compared(page, "lr") == ["1e-2", "1e-0", "differs"]
    assert not compared(page, "release")  # both have it
    assert page.locator("#table button[aria-pressed=true]").count() == 1
    page.locator("#table button[aria-pressed=true]").click()
    assert page.locator("#pair-said").inner_text() == "Choose another run above."
    assert not page.locator("#pair-area").is_visible()


def test_runs_of_other_rules_are_shown_apart_and_text_stays_text(open_page: OpenPage, tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "it's.db")
    runs = two_groups(tmp_path / "it's.db")
    write_runs_page(runs, tmp_path / "page.html", ledger=ledger.path, notes=["<b>damaged</b>"])
    page = open_page(tmp_path / "page.html")
    for group, names in enumerate((runs[:2], runs[2:])):
        page.locator("#group").select_option(str(group))
        assert page.locator("#group-words").inner_text().startswith(runs[2 * group].protocol)
        assert page.locator("#chart circle").count() == 2
        assert [text.split("\n")[-1] for text in cells(page, 1)] == [run.reference for run in names][::-1]
        words = shlex.split(page.locator("#command").input_value())
        assert words[:3] == ["ioukit", "compare", ledger.path]
        assert [ledger.run(word) for word in words[3:]] == [*names]
        assert not any(word.startswith("-") for word in words)
    assert page.evaluate("() => document.querySelectorAll('script, img, b').length") == 2  # the data and the program


def test_a_server_compares_the_chosen_runs(open_page: OpenPage, visits: Visits, tmp_path: Path) -> None:
    two_groups(tmp_path / "runs.db")
    page = open_page(page_of(tmp_path, 3))
    assert page.locator("#open").count() == 0  # a file has the command alone
    served = visits.open_pages(_pages_of(tmp_path / "runs.db", 1))
    pressed = served.locator("#table button[aria-pressed=true]")
    assert sorted(pressed.all_inner_texts()) == ["it's@1", "it's@2"]
    served.locator("#open").click()
    until(served, 'document.querySelector("h1").innerText === "it\'s@2 compared with it\'s@1"')
    assert served.locator("#numbers tbody tr").count() > 0
