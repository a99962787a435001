"""The page of an agreement in a real browser: it opens everywhere, and shows the regions of all annotators."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit.comparison import agree
from support.agreement_cases import CASES, attacked_files, two
from support.browsing import assert_themes, pictured, serious_violations

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit.comparison import Agreement
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

Pages = dict[str, tuple["Agreement", "Path"]]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """The page of each case, written once."""
    folder, made = tmp_path_factory.mktemp("agreements"), {}
    for number, (name, make) in enumerate(CASES.items()):
        found, path = make(), folder / f"{number}.html"
        found.report(path)
        made[name] = found, path
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
        assert page.locator(".lead").is_visible()
        pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(("case", "dark"), [("two", False), ("four", True), ("nothing", False), ("eight", True)])
def test_axe_finds_nothing_serious(case: str, *, dark: bool, open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages[case][1], dark=dark)
    assert serious_violations(page) == []
    if case == "two":
        page.locator("#gallery button").first.click()
        assert page.locator("#viewer").is_visible()
        assert serious_violations(page) == []


def test_light_and_dark_follow_the_system_and_the_switch(open_page: OpenPage, pages: Pages) -> None:
    assert_themes(open_page, pages["two"][1])


def rows(page: Page, table: str) -> list[list[str]]:
    """The texts of the rows of a table that are in sight."""
    return [line.locator("th, td").all_inner_texts() for line in page.locator(f"{table} tbody tr:visible").all()]


@pytest.mark.parametrize("case", ["two", "four"])
def test_numbers_and_lists_are_those_of_the_result(case: str, open_page: OpenPage, pages: Pages) -> None:
    found, path = pages[case]
    page = open_page(path)
    tables = page.locator(".tables table").all()
    for table, pair in zip(tables, found.pairs, strict=False):
        values = table.locator("td:nth-child(2)").all_inner_texts()
        limits = table.locator("td:nth-child(3)").all_inner_texts()
        expected = [*pair.numbers.values(), *([found.alpha] if case == "two" else [])]
        assert values == [f"{one.value:.3f}" for one in expected]
        assert limits == [f"{one.low:.3f} to {one.high:.3f}" for one in expected]
        assert table.locator(".whisker").count() == len(expected)
    assert len(tables) == (1 if case == "two" else 7)
    names = found.annotations.categories.names
    confused = sorted(
        (row[3] for row in page.evaluate("() => JSON.parse(document.getElementById('data').textContent)")["confusion"]),
        reverse=True,
    )
    shown = rows(page, "#confusion-table")
    assert [int(row[-1]) for row in shown] == confused[:25]
    assert all({row[-3], row[-2]} <= set(names) and row[-3] != row[-2] for row in shown)
    if case == "two":
        for first, second, count in shown:
            assert found.pairs[0].confusion[names.index(first), names.index(second)] == int(count)
    classes = rows(page, "#class-table")
    at = {name: place for place, name in enumerate(names)}
    assert [row[1] for row in classes] == [f"{found.by_class[at[row[0]]]:.3f}" for row in classes]
    page.locator("#class-table thead button").nth(1).click()
    assert rows(page, "#class-table") == classes[::-1]
    page.locator("#class-filter").fill("ow")
    assert [row[0] for row in rows(page, "#class-table")] == ["owl"]


def test_pictures_show_the_regions_of_both(open_page: OpenPage, pages: Pages) -> None:
    found, path = pages["two"]
    page = open_page(path)
    assert page.locator("#gallery .card").count() == 24
    first = page.locator("#gallery .card").first
    name = first.locator(".title").inner_text()
    gt = found.annotations
    here = gt.image_ids == gt.images.ids[[*gt.images.names].index(name)]
    for at in (0, 1):
        boxes = first.locator(f'.picture > [class^="k-of{at}"] .box')
        assert boxes.count() == (here & (found.annotator == at)).sum()
    colours = [
        page.locator(f'#overlays svg[class*="k-of{at}"] .box').evaluate("box => getComputedStyle(box).stroke")
        for at in (0, 1)
    ]
    assert colours[0] != colours[1]
    widths = [
        page.locator(f'#gallery .picture > [class$="-{became}"] .box').first.evaluate(
            "box => parseFloat(getComputedStyle(box).strokeWidth)"
        )
        for became in ("agreed", "classes", "lacking")
    ]
    assert widths == [1.2, 3, 3]  # the thick lines are what they do not agree on
    labels = page.locator("#overlays label").all_inner_texts()
    assert labels == ["ann", "bob", "agreed (thin)", "different classes (thick)", "one lacks it (thick)", "labels"]
    page.locator("#overlays input").nth(1).uncheck()
    assert page.locator('#gallery [class^="k-of1"] .box:visible').count() == 0
    assert page.locator('#gallery [class^="k-of0"] .box:visible').count() > 0
    for place in (2, 3, 4):
        page.locator("#overlays input").nth(place).uncheck()
    assert page.locator("#gallery .box:visible").count() == 0
    first.locator("button").click()
    assert page.locator("#viewer-words").inner_text() == f"{first.locator('.counts').inner_text()} (1 of 24)"
    labels = page.locator("#viewer-stage .label").all_text_contents()
    assert {text.partition(": ")[0] for text in labels} <= {"ann", "bob"}
    assert {text.partition(": ")[2] for text in labels} <= {"cat", "dog", "owl"}


def test_a_lone_region_leads_to_its_image(open_page: OpenPage, pages: Pages) -> None:
    found, path = pages["two"]
    page = open_page(path)
    button = page.locator("#alone-table tbody button").first
    name = button.inner_text()
    button.click()
    assert page.locator("#viewer-title").inner_text() == name
    assert page.locator('#viewer-stage .picture > [class$="-lacking"] .box').count() > 0
    page.keyboard.press("Escape")
    page.locator("#alone-table thead button").nth(3).click()  # the largest first
    areas = [w * h for _, _, w, h in (map(float, row[3].split(", ")) for row in rows(page, "#alone-table"))]
    assert areas == sorted(areas, reverse=True)
    assert len(found.names) == 2


def test_what_is_empty_says_so(open_page: OpenPage, pages: Pages) -> None:
    said = open_page(pages["same"][1]).locator(".empty:visible").all_inner_texts()
    assert said == [
        "No pair has two classes.",
        "There is no image on which annotators differ in objects or classes.",
        "Every region has a partner.",
    ]


def test_photographs_are_shown(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    found = two()
    for name in [*found.annotations.images.names][1:]:
        image_module.new("RGB", (640, 640), "teal").save(tmp_path / name)
    found.report(tmp_path / "page.html", images=tmp_path, examples=5)
    page = open_page(tmp_path / "page.html")
    assert page.locator("#gallery svg.photo image").count() >= 4
    assert page.locator("#gallery .halo").count() > 0


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    found = agree(attacked_files(tmp_path))
    path = tmp_path / "page.html"
    found.report(path, title="<script>window.pwned = 1</script>")
    page = open_page(path)
    assert page.title().startswith("<script>window.pwned")
    elements = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert elements == 2  # the data and the program
    page.locator("#overlays input[value=labels]").check()
    page.locator("#gallery button").first.click()
    for _ in range(page.locator("#gallery button").count() - 1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#class-filter").fill("<img")
    for table in ("#confusion-table", "#alone-table"):
        for button in page.locator(f"{table} thead button").all():
            button.click()
    assert page.evaluate("() => window.pwned") is None
    after = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert after == elements


def test_it_prints_with_its_legend(open_page: OpenPage, pages: Pages) -> None:
    page = open_page(pages["two"][1], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()
    assert page.locator("#overlays label").nth(1).is_visible()
    assert not page.locator("#overlays input").first.is_visible()
