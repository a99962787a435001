"""The numbers that the report shows in a real browser are those of the library, whatever is chosen."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

import pytest

from ioukit.evaluation import score_curves
from support.report_pages import column, shown

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from ioukit import Evaluation
    from ioukit.evaluation import OperatingPoint
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")


def rounded(value: float) -> str:
    """As JavaScript's toFixed does, which takes the larger of two that are equally near."""
    return str(Decimal(value).quantize(Decimal("0.0001"), ROUND_HALF_UP))


def expected(point: OperatingPoint) -> dict[str, str]:
    numbers = {"precision": point.precision, "recall": point.recall, "f1": point.f1}
    counts = {"tp": point.true_positives, "fp": point.false_positives, "fn": point.false_negatives}
    return {
        **{key: "\N{EN DASH}" if math.isnan(value) else rounded(value) for key, value in numbers.items()},
        **{key: f"{value:,}" for key, value in counts.items()},
    }


def score_of(slider: Locator) -> float:
    return float(slider.get_attribute("data-score") or "nan")


@pytest.mark.parametrize("case", ["three classes", "80 classes"])
def test_the_slider_shows_the_numbers_of_the_curve(
    case: str, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written[case]
    curves = score_curves(evaluation.matches)
    page = open_page(path)
    slider, chooser = page.locator("#score"), page.locator("#class")
    last = int(slider.get_attribute("max") or 0)
    assert score_of(slider) == curves.overall.best.score
    assert shown(page) == expected(curves.overall.best)
    for option, curve in ((0, curves.overall), (1, curves.per_class[0]), (3, curves.per_class[2])):
        chooser.select_option(str(option))
        for position in (0, last // 3, last // 2, last - 1, last):
            slider.fill(str(position))
            assert shown(page) == expected(curve.at(score_of(slider))), (option, position)
        page.locator("#best").click()
        assert score_of(slider) == curve.best.score
        assert shown(page) == expected(curve.best)
        assert page.locator("#best").is_disabled()


def test_the_curves_follow_the_slider_and_can_be_pulled(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["80 classes"]
    curve = score_curves(evaluation.matches).overall
    page = open_page(path)
    slider = page.locator("#score")
    slider.focus()
    page.keyboard.press("End")
    assert score_of(slider) == curve.scores[0]
    page.keyboard.press("ArrowLeft")
    assert score_of(slider) < curve.scores[0]
    before = page.locator("#f1-chart svg").get_attribute("aria-label")
    page.locator("#f1-chart").scroll_into_view_if_needed()
    area = page.locator("#f1-chart .pick").bounding_box()
    assert area is not None
    page.mouse.click(area["x"] + area["width"] * 0.6, area["y"] + 20)
    assert score_of(slider) == pytest.approx(0.6, abs=0.01)
    assert page.locator("#f1-chart svg").get_attribute("aria-label") != before
    area = page.locator("#pr-chart .pick").bounding_box()
    assert area is not None
    page.mouse.click(
        area["x"] + area["width"] * curve.recall[500], area["y"] + area["height"] * (1 - curve.precision[500])
    )
    assert float(shown(page)["recall"]) == pytest.approx(curve.recall[500], abs=0.02)
    page.locator("#curve-fold summary").click()
    page.locator("#curve-table tbody tr").nth(20).wait_for()  # the rows are made when the fold has opened


def test_sorting_sorts_and_filtering_filters(open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    names = [result.name for result in evaluation.per_class]
    aps = {result.name: result.summary["AP"] for result in evaluation.per_class}
    with_objects = [result.name for result in evaluation.per_class if result.num_ground_truth]
    assert column(page, 0) == sorted(with_objects, key=lambda name: -aps[name])
    assert page.locator("#class-said").inner_text().startswith(f"{len(with_objects)} of 80 classes")
    page.get_by_label(f"also {80 - len(with_objects)} without objects").check()
    head = page.locator("#class-table thead th").nth(1)
    assert head.get_attribute("aria-sort") == "descending"
    defined = [name for name in names if not math.isnan(aps[name])]
    falling = sorted(defined, key=lambda name: -aps[name])
    assert column(page, 0) == falling + [name for name in names if math.isnan(aps[name])]
    page.get_by_role("button", name="AP", exact=True).press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    rising = sorted(defined, key=lambda name: aps[name])
    # What is undefined stays at the end.
    assert column(page, 0) == rising + [name for name in names if math.isnan(aps[name])]
    page.get_by_role("button", name="class", exact=True).click()
    assert column(page, 0) == sorted(names)
    page.locator("#class-filter").fill("  CAR")
    assert column(page, 0) == [name for name in sorted(names) if "car" in name]
    assert page.locator("#class-said").inner_text().startswith("2 of 80 classes")
    page.locator("#class-table tbody tr:not([hidden]) button").first.click()
    assert page.locator("#class").input_value() == str(names.index("car") + 1)


@pytest.mark.parametrize("way", ["click", "Enter", " "])
def test_a_cell_of_the_matrix_lists_its_images(
    way: str, open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["crowds"]
    assert evaluation.ground_truth is not None
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    book = confusion.categories.names.index("book")
    missed = len(confusion.categories)
    names = evaluation.ground_truth.images.names
    listed = {names[image] for image in confusion.image[confusion.cell(book, missed)].tolist()}
    page = open_page(path)
    cell = page.locator(f'td[data-true="{book}"][data-predicted="{missed}"]')
    assert cell.inner_text() == str(confusion.counts[book, missed])
    if way == "click":
        cell.click()
    else:
        cell.focus()
        page.keyboard.press(way)
    panel = page.locator("#cell-images")
    assert panel.locator("h3").inner_text() == f"book missed: {confusion.counts[book, missed]} times"
    assert set(panel.locator("li .name").all_inner_texts()) == listed
    assert cell.get_attribute("aria-selected") == "true"
    # A list of a hundred names is not to be read out: only the heading is.
    assert panel.locator("[role=status] h3").count() == 1
    assert panel.locator("[role=status] li").count() == 0
    panel.locator("li button").first.click()
    assert page.locator("#viewer").is_visible()
    assert page.locator("#viewer-title").inner_text() in listed


def test_the_matrix_shows_shares_and_all_classes_or_the_confused(
    open_page: OpenPage, written: dict[str, tuple[Evaluation, Path]]
) -> None:
    evaluation, path = written["80 classes"]
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    page = open_page(path)
    rows = page.locator("#matrix tbody tr")
    assert rows.count() == 0
    page.get_by_role("button", name="Most confused").click()
    assert rows.count() == 21
    page.get_by_role("button", name="All classes").click()
    assert rows.count() == 81
    cell = page.locator('td[data-true="0"][data-predicted="0"]')
    for button, by in (("Share of objects", "truth"), ("Share of detections", "prediction")):
        page.get_by_role("button", name=button).click()
        assert cell.inner_text() == f"{confusion.normalized(by)[0, 0]:.2f}"  # type: ignore[arg-type]
    page.get_by_role("button", name="Counts").click()
    assert cell.inner_text() == str(confusion.counts[0, 0])
