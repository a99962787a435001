"""The page of a data set in a real browser: it opens everywhere, and its charts show the numbers of the library."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import inspect
from ioukit.inspection.histograms import side_histogram
from ioukit.report import write_inspection
from support.browsing import assert_themes, pictured, serious_violations
from support.inspection_cases import CASES, coco, crowds
from support.report_cases import attacked
from support.report_pages import column

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import Inspection
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Inspection, Path]]:
    """A page of each case, written once."""
    folder, made = tmp_path_factory.mktemp("inspections"), {}
    for number, (name, make) in enumerate(CASES.items()):
        held, path = make(), folder / f"{number}.html"
        write_inspection(held, path)
        made[name] = held, path
    return made


@pytest.mark.parametrize("case", CASES)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]], tmp_path: Path
) -> None:
    page = open_page(pages[case][1], dark=case == "crowds")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        assert page.locator("h1").is_visible()
        if case in ("coco", "nothing", "rotated"):
            pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(("case", "dark"), [("coco", False), ("crowds", True), ("nothing", False), ("no sizes", True)])
def test_axe_finds_nothing_serious(
    case: str, *, dark: bool, open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]
) -> None:
    page = open_page(pages[case][1], dark=dark)
    page.locator("details").evaluate_all("folds => { for (const fold of folds) fold.open = true; }")
    assert serious_violations(page) == []
    if case == "coco":
        page.locator("#gallery button").first.click()
        assert serious_violations(page) == []


def test_light_and_dark_follow_the_system_and_the_switch(
    open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]
) -> None:
    assert_themes(open_page, pages["coco"][1])


def counts(page: Page, table: str, place: int) -> list[int]:
    """The whole numbers in a column of a folded table."""
    cells = page.locator(f"#{table} tbody tr > :nth-child({place})").all_text_contents()
    return [int(text.replace(",", "")) for text in cells]


def test_charts_show_the_numbers_of_a_class(open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]) -> None:
    held, path = pages["coco"]
    page = open_page(path)
    names = held.ground_truth.categories.names
    sides = side_histogram(held).counts
    for label in (None, names.index("person"), names.index("toaster")):
        page.locator("#class").select_option(label="All classes" if label is None else names[label])
        row = 0 if label is None else label + 1
        assert [count for count in counts(page, "sizes-table", 3) if count] == sides[row][sides[row] > 0].tolist()
        total = 745 if label is None else int(held.objects_per_class[label])
        assert page.locator("#chosen-said").inner_text() == f"{total:,} objects"
        assert sum(counts(page, "shapes-table", 3)) == total
        assert sum(counts(page, "per-image-table", 2)) == 100
        chosen = slice(None) if label is None else held.classes == label
        reached = [
            f"{100 * (held.overlaps_of_class[chosen] >= k / 20 - 1e-9).mean():.2f} %" if total else "\N{EN DASH} %"
            for k in range(1, 21)
        ]
        assert page.locator("#overlaps-table tbody tr > :nth-child(3)").all_text_contents() == reached
        assert page.locator("#sizes-chart .bar-rect").count() == (sides[row] > 0).sum()
    empty = page.locator("#positions-chart").inner_text()
    assert empty == "The sizes of the images are unknown, or all centres are outside."


def test_a_name_in_the_table_leads_to_its_charts(
    open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]
) -> None:
    page = open_page(pages["coco"][1])
    assert column(page, 0)[:3] == ["person", "book", "chair"]
    page.locator("#class-table tbody button").nth(1).click()
    assert page.locator("#class").evaluate("select => select.selectedOptions[0].text") == "book"
    assert page.locator("#sizes-chart svg").get_attribute("aria-label") is not None
    page.locator("#class-table thead button").nth(4).click()
    sides = [float(text) for text in column(page, 4) if text != "\N{EN DASH}"]
    assert sides == sorted(sides, reverse=True)
    page.locator("#class-filter").fill("bear")
    assert sorted(column(page, 0)) == ["bear", "teddy bear"]


def test_classes_beyond_those_with_charts_are_text(
    open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]
) -> None:
    page = open_page(pages["1,203 classes"][1])
    assert page.locator("#class-table tbody tr").count() == 1_203
    assert page.locator("#class-table tbody button").count() == 1_000
    page.locator("#class").select_option(index=1_000)
    assert page.locator("#positions-chart").inner_text() == "Only frequent classes have this map."


def test_examples_are_marked(open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]) -> None:
    held, path = pages["crowds"]
    page = open_page(path)
    first = page.locator("#gallery .card").first
    assert first.locator(".counts").inner_text().startswith("largest object: ")
    assert first.locator("g.k-marked .box").count() == 1
    assert page.locator("#overlays input").count() == 4  # with those of crowds
    most = page.locator("#gallery .card", has_text=f"most objects: {held.objects_per_image.max()}")
    assert most.locator(".box").count() == held.objects_per_image.max()
    page.locator('#overlays input[value="object"]').uncheck()
    assert not first.locator("g.k-object").first.is_visible()
    page.locator("#gallery button").first.click()
    before = page.locator("#viewer-title").inner_text(), page.locator("#viewer-words").inner_text()
    page.keyboard.press("ArrowRight")
    assert (page.locator("#viewer-title").inner_text(), page.locator("#viewer-words").inner_text()) != before


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    truth = attacked(tmp_path).ground_truth
    assert truth is not None
    path = tmp_path / "page.html"
    write_inspection(inspect(truth), path, title="<script>window.pwned = 1</script>")
    page = open_page(path)
    assert page.title().startswith("<script>window.pwned")
    elements = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert elements == 2  # the data and the program
    for position in range(page.locator("#class option").count()):
        page.locator("#class").select_option(index=position)
    page.locator("#overlays input[value=labels]").check()
    page.locator("#gallery button").first.click()
    for _ in range(page.locator("#gallery button").count() - 1):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#class-filter").fill("<img")
    assert page.evaluate("() => window.pwned") is None
    after = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert after == elements


def test_photographs_are_shown(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    held = crowds()
    images = held.ground_truth.images
    for name, (width, height) in zip(images.names[:], images.sizes.astype(int).tolist(), strict=True):
        image_module.new("RGB", (width, height), "teal").save(tmp_path / name)
    write_inspection(held, tmp_path / "page.html", tmp_path, examples=5)
    page = open_page(tmp_path / "page.html")
    assert page.locator("#gallery svg.photo image").count() == 5


def test_it_prints(open_page: OpenPage, tmp_path: Path) -> None:
    write_inspection(coco(), tmp_path / "page.html")
    page = open_page(tmp_path / "page.html", dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()


def test_positions_sum_to_the_centres(open_page: OpenPage, pages: dict[str, tuple[Inspection, Path]]) -> None:
    held, path = pages["coco"]
    page = open_page(path)
    titles = page.locator("#positions-chart title").all_text_contents()
    found = np.array([int(title.split()[0].replace(",", "")) for title in titles])
    assert found.sum() == held.positions.sum()
