"""The panel "Numbers" of the viewer in a real browser: what it shows, and what a click in it filters."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit import evaluate
from support.browsing import serious_violations, until
from support.viewer_pages import CASES, Visits, query, ready

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import Evaluation


def shown(page: Page) -> None:
    """Waits until the page shows its answer, and the panel the numbers of its filter."""
    ready(page)
    until(
        page,
        """() => {
          const panel = document.querySelector("#figures"), query = new URLSearchParams(location.search);
          for (const key of ["error", "true", "predicted"]) query.delete(key);
          return !panel.hidden && panel.dataset.shown === query.toString() && !panel.classList.contains("old");
        }""",
    )


def measures(page: Page, row: int = 0) -> list[str]:
    """AP, AP50, AP75, precision, recall and F1 of a model, as the panel shows them."""
    texts: list[str] = page.locator(".measures tr:has(td)").nth(row).locator("td").all_inner_texts()
    return texts


def expected(evaluation: Evaluation, score: float | None = None) -> list[str]:
    curve = evaluation.score_curves().overall
    point = curve.best if score is None else curve.at(score)
    numbers = [*(evaluation.summary[key] for key in ("AP", "AP50", "AP75")), point.precision, point.recall, point.f1]
    return [f"{number:.3f}" for number in numbers]


def is_open(page: Page) -> bool:
    return page.locator("#figures").is_visible()


def test_a_button_and_a_key_open_it_and_escape_closes_it(visits: Visits) -> None:
    page, asked = visits.visit("three classes"), []
    page.on("request", lambda request: asked.append(request.url) if "api/numbers" in request.url else None)
    page.locator("#at-score").focus()
    page.keyboard.press("ArrowRight")
    ready(page)
    assert asked == []  # nothing is computed before it is opened
    page.get_by_role("button", name="Numbers", exact=True).click()
    shown(page)
    assert page.evaluate("() => document.activeElement.id") == "figures-title"
    page.keyboard.press("Escape")
    assert not is_open(page)
    assert page.evaluate("() => document.activeElement.id") == "open-numbers"
    page.keyboard.press("p")
    shown(page)
    page.keyboard.press("p")
    assert not is_open(page)
    page.locator("#class-options").focus()
    page.keyboard.press("p")
    page.keyboard.press("p")
    assert page.get_by_placeholder("Search classes").input_value() == "pp"  # letters that are written open nothing
    assert not is_open(page)
    page.go_back()
    assert is_open(page)
    assert len(asked) == 1  # the same numbers are not asked for again


def test_the_numbers_are_those_of_the_library_and_a_point_of_the_curve_is_a_threshold(visits: Visits) -> None:
    evaluation = CASES["three classes"]()
    page = visits.open(visits.serve(evaluation), "#numbers=on")
    shown(page)
    assert measures(page) == expected(evaluation)
    page.get_by_placeholder("Part of the file name").evaluate("field => field.closest('details').open = true")
    page.get_by_placeholder("Part of the file name").fill("2")
    page.locator("#at-score-exact").fill("0.5")
    page.keyboard.press("Enter")
    until(page, "() => location.search.includes('text=2')")
    shown(page)
    images = [number for number in evaluation.matches.image_ids.tolist() if "2" in str(number)]
    some = evaluate(evaluation.ground_truth, evaluation.detections, images=images)
    assert measures(page) == expected(some, 0.5)
    assert page.locator("#figures [role=status]").inner_text() == f"{len(images)} of 60 images."
    place = page.locator("#figures .chart .pick").bounding_box()
    assert place is not None
    page.mouse.click(place["x"] + 0.3 * place["width"], place["y"] + 0.4 * place["height"])
    until(page, "() => !location.search.includes('at_score=0.5&') && !location.search.endsWith('at_score=0.5')")
    shown(page)
    score = float(query(page)["at_score"][0])
    point = some.score_curves().overall.at(score)
    assert abs(point.recall - 0.3) < 0.05
    assert measures(page) == expected(some, score)
    assert f"recall {point.recall:.3f}" in (page.locator("#figures .chart svg").get_attribute("aria-label") or "")


def test_bars_and_cells_filter_the_grid_and_a_second_click_or_back_undoes_it(visits: Visits) -> None:
    evaluation = CASES["three classes"]()
    page = visits.open(visits.serve(evaluation), "#numbers=on")
    shown(page)
    before = measures(page)
    bar = page.locator(".error-bar", has_text="Wrong place")
    count = bar.locator("b").inner_text()
    bar.click()
    ready(page)
    assert query(page) == {"error": ["localisation"]}
    assert page.locator("#said-marks").inner_text() == f"with {count} selected regions"
    assert bar.get_attribute("aria-pressed") == "true"
    shown(page)
    assert measures(page) == before
    assert "do not follow the filter “Kind of error”" in page.locator("#figures [role=status]").inner_text()
    page.locator(".error-bar", has_text="Not detected").press("Enter")
    ready(page)
    assert query(page) == {"error": ["missed"]}  # in the place of the other one
    page.go_back()
    ready(page)
    assert query(page) == {"error": ["localisation"]}
    assert bar.get_attribute("aria-pressed") == "true"
    bar.click()
    ready(page)
    assert query(page) == {}
    matrix = evaluation.confusion(score_threshold=evaluation.score_curves().overall.best.score).counts
    cells = page.locator(".confusion-matrix td")
    assert [int(text or 0) for text in cells.all_inner_texts()] == matrix.ravel().tolist()
    cells.nth(1).click()
    ready(page)
    assert query(page) == {"true": ["car"], "predicted": ["cat"]}
    assert page.locator("#said-marks").inner_text() == f"with {2 * matrix[0, 1]} selected regions"
    assert cells.nth(1).get_attribute("aria-selected") == "true"
    assert page.locator("#sort option:checked").inner_text() == "Most selected regions"
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    ready(page)
    assert query(page) == {"true": ["cat"], "predicted": ["background"]}
    assert page.evaluate("() => document.activeElement.getAttribute('aria-label')").startswith("cat, predicted missed")
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    ready(page)
    assert query(page) == {"true": ["cat"], "predicted": ["car"]}
    page.keyboard.press(" ")
    ready(page)
    assert query(page) == {}


def test_many_classes_are_a_list_of_confusions(visits: Visits) -> None:
    page = visits.visit("80 classes", "#numbers=on")
    shown(page)
    assert page.locator(".confusion-matrix").count() == 0
    first = page.locator(".confusions .error-bar").first
    count = int(first.locator("b").inner_text())
    first.click()
    ready(page)
    assert page.locator("#said-marks").inner_text() == f"with {2 * count} selected regions"
    assert {*query(page)} == {"true", "predicted"}


def fits(page: Page, picture: Path) -> None:
    """Whether the panel is within the screen, which it does not make wider."""
    shown(page)
    width = page.evaluate("() => window.innerWidth")
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    place = page.locator("#figures").bounding_box()
    assert place is not None
    assert place["x"] + place["width"] <= width
    page.screenshot(path=picture)


def test_both_models_have_numbers_and_a_curve(visits: Visits, tmp_path: Path) -> None:
    models = CASES["two models"]()
    page = visits.open(visits.serve(models), "#numbers=on")
    for width in (1440, 1000, 390):
        page.set_viewport_size({"width": width, "height": 900})
        fits(page, tmp_path / f"{width}.png")
    assert [measures(page, row) for row in (0, 1)] == [expected(evaluation) for evaluation in models.values()]
    assert page.locator("#figures .chart path.line").count() == 2
    assert page.locator("#figures .legend li").all_inner_texts() == ["first", "second"]
    page.locator(".error-bar").last.click()  # on a phone, the panel gives way to the images
    ready(page)
    assert not is_open(page)
    assert query(page) == {"error": ["missed"]}


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (390, True)])
def test_axe_finds_nothing_serious(width: int, *, dark: bool, visits: Visits, tmp_path: Path) -> None:
    page = visits.visit("one image", "#numbers=on", width=width, dark=dark)
    fits(page, tmp_path / "one.png")
    assert serious_violations(page) == []


def test_without_detections_there_is_no_panel(visits: Visits) -> None:
    page = visits.visit("no models", "#numbers=on")
    assert not page.locator("#open-numbers").is_visible()
    page.keyboard.press("p")
    assert not is_open(page)
