"""One score threshold for the whole page of a report: each part shows the numbers of the library there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.evaluation import ERROR_KINDS, Outcome, score_curves
from support.browsing import serious_violations, until
from support.paths import DEMO

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import Evaluation
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

Written = dict[str, "tuple[Evaluation, Path]"]
READY = "() => document.documentElement.hasAttribute('data-ready')"


def moved_to(page: Page, share: float) -> float:
    """Moves the slider; the score threshold there."""
    slider = page.locator("#score")
    slider.fill(str(int(int(slider.get_attribute("max") or 0) * share)))
    until(page, READY)
    return float(slider.get_attribute("data-score") or "nan")


def number(text: str) -> int:
    return int(text.replace(",", "") or 0)


@pytest.mark.parametrize("share", [0.0, 0.4, 0.8, 1.0])
def test_every_part_follows(share: float, open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    page = open_page(path)
    score = moved_to(page, share)
    expected = evaluation.confusion(score_threshold=score).counts
    for cell in page.locator("#matrix td").all():
        at = int(cell.get_attribute("data-true") or 0), int(cell.get_attribute("data-predicted") or 0)
        assert number(cell.inner_text()) == expected[at]
    for row, area in zip(page.locator("#size-table tbody tr").all(), evaluation.protocol.area_labels, strict=True):
        became = evaluation.outcomes(area_range=area, score_threshold=score)
        assert number(row.locator(".fp").inner_text()) == (became.detections == Outcome.FALSE_POSITIVE).sum()
        assert number(row.locator(".fn").inner_text()) == (became.objects == Outcome.FALSE_NEGATIVE).sum()
    found = evaluation.detections
    assert found is not None
    assert evaluation.ground_truth is not None
    kinds = evaluate(evaluation.ground_truth, found[found.scores >= score]).error_kinds().counts
    for kind in ERROR_KINDS:
        assert number(page.locator(f'#error-table tr[data-kind="{kind}"] .now').inner_text()) == kinds[kind]
    results = evaluation.per_image(score_threshold=score)
    worst = results.worst(24)
    shown = page.locator("#gallery figcaption .counts").all_inner_texts()
    assert shown == [
        f"{results.false_positives[at]} false, {results.false_negatives[at]} missed, {results.true_positives[at]} found"
        for at in worst.tolist()
    ]
    assert page.locator("#images .now-score").inner_text() == page.locator("#score-now").inner_text()


def test_the_button_leads_back(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    best = score_curves(evaluation.matches).overall.best.score
    back = page.locator("#start")
    assert back.is_disabled()
    assert moved_to(page, 0.9) != best
    assert back.is_enabled()
    back.click()
    until(page, READY)
    assert float(page.locator("#score").get_attribute("data-score") or 0) == best


def test_the_slider_stays_in_sight(open_page: OpenPage, written: Written) -> None:
    for width in (1280, 390):
        page = open_page(written["80 classes"][1], width=width, height=800)
        page.locator("#images").scroll_into_view_if_needed()
        place = page.locator("#score").bounding_box()
        assert place is not None
        assert 0 <= place["y"] < 160


def test_the_gallery_has_filters_and_orders(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    page = open_page(path)
    best = score_curves(evaluation.matches).overall.best.score
    results = evaluation.per_image(score_threshold=best)

    def shown() -> list[str]:
        return page.locator("#gallery figcaption .title").all_inner_texts()

    page.get_by_role("button", name="Best", exact=True).click()
    f1 = np.where(np.isnan(results.f1), -1, results.f1)
    order = np.lexsort((-results.true_positives, -f1))
    order = order[results.true_positives[order] > 0]
    names = [f"image {results.image_ids[at]}" for at in order.tolist()]
    first = shown()
    assert sorted(first) == sorted(names[: len(first)])
    assert [round(float(f1[int(name.split()[1]) - 1]), 4) for name in first] == sorted(
        (round(float(value), 4) for value in f1[order[: len(first)]]), reverse=True
    )
    page.get_by_role("button", name="By chance").click()
    chance = shown()
    assert sorted(chance) == sorted(f"image {number}" for number in results.image_ids.tolist())
    page.get_by_role("button", name="Most errors").click()
    # Only the images that have a false positive of the class, which is emphasised.
    page.locator("#gallery-class").select_option(label="dog")
    page.locator("#gallery-outcome").select_option("fp")
    became = evaluation.outcomes(score_threshold=best)
    table = evaluation.matches
    dog = list(table.categories.names).index("dog")
    wrong = (became.detections == Outcome.FALSE_POSITIVE) & (table.detections.category == dog)
    assert {int(name.split()[1]) for name in shown()} == set(table.image_ids[table.detections.image[wrong]].tolist())
    assert page.locator("#gallery .marked").count() == wrong.sum()
    assert serious_violations(page) == []
    moved_to(page, 1.0)
    assert page.locator("#gallery-said").inner_text() != ""


def test_more_images_can_be_shown(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["80 classes"][1])
    assert page.locator("#gallery figure").count() == 24
    page.locator("#gallery-more").click()
    assert page.locator("#gallery figure").count() == 48
    phone = open_page(written["80 classes"][1], width=390)
    assert phone.locator("#gallery figure").count() == 6


def test_histograms_follow_class_and_threshold(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    score = moved_to(page, 0.3)
    titles = page.locator("#iou-bins title").all_text_contents()
    counted = {title.partition(": ")[0]: title.partition(": ")[2] for title in titles}
    point = score_curves(evaluation.matches).overall.at(score)
    words = [text.replace(",", "").split() for text in counted.values()]
    assert sum(int(word[0]) for word in words) == point.true_positives
    assert sum(int(word[2]) for word in words) == point.false_positives
    before = page.locator("#score-bins svg").inner_html()
    page.locator("#score-class").select_option("1")
    assert page.locator("#class").input_value() == "1"
    assert page.locator("#score-bins svg").inner_html() != before
    assert "class person" in (page.locator("#score-bins svg").get_attribute("aria-label") or "")
    assert page.locator("#reliability-chart .dot").count() > 5


def test_on_a_phone_long_parts_are_folded_and_wide_ones_say_so(open_page: OpenPage, written: Written) -> None:
    path = written["80 classes"][1]
    phone = open_page(path, width=390, height=844, touch=True)
    assert phone.locator("details.long[open]").count() == 0
    assert phone.evaluate("() => document.documentElement.scrollHeight") < 11 * 844
    bar = phone.locator("nav ul")
    assert bar.get_attribute("data-more") == "right"
    bar.evaluate("list => { list.scrollLeft = list.scrollWidth; }")
    until(phone, "() => document.querySelector('nav ul').dataset.more === 'left'")
    phone.get_by_role("button", name="Most confused").click()
    until(phone, "() => document.querySelector('#matrix').dataset.more === 'right'")
    assert phone.locator(".wide-hint").is_visible()
    desk = open_page(path, width=1280)
    assert desk.locator("details.long:not([open])").count() == 0
    assert desk.locator("nav ul").get_attribute("data-more") == ""
    assert not desk.locator(".wide-hint").is_visible()


def test_no_bar_of_a_class_without_objects_is_out_of_line(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["80 classes"][1])
    page.locator("#class-bare").check()
    for table in ("#class-table", "#size-table"):
        ends = page.locator(f"{table} .with-bar .bar").evaluate_all(
            "bars => bars.map(bar => Math.round(bar.getBoundingClientRect().left))"
        )
        assert len(ends) == page.locator(f"{table} tbody tr").count()
        assert len(set(ends)) == 1


@pytest.mark.parametrize("score", [0.9, 90.0])
def test_equal_scores_are_drawn_without_a_slider(score: float, open_page: OpenPage, tmp_path: Path) -> None:
    gt = GroundTruth.from_arrays(
        image_ids=[1, 1],
        category_ids=[1, 1],
        boxes=[[10, 10, 20, 20], [60, 60, 20, 20]],
        images=[1],
        sizes=[[100, 100]],
    )
    boxes = [[10, 10, 20, 20], [60, 10, 20, 20]]
    dt = Detections.from_arrays(image_ids=[1, 1], category_ids=[1, 1], boxes=boxes, scores=[score, score])
    evaluate(gt, dt).report(tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    until(page, READY)
    assert page.locator("#score").count() == 0
    assert [page.locator(f"#now-{outcome}").inner_text() for outcome in ("tp", "fp", "fn")] == ["1", "1", "1"]
    for chart in ("pr-chart", "f1-chart", "iou-chart", "iou-bins"):
        drawing = page.locator(f"#{chart} svg").first.inner_html()
        assert "<path" in drawing or "<rect" in drawing, chart
        assert "NaN" not in drawing, chart
        assert "Infinity" not in drawing, chart
    assert page.locator("#gallery figure").count() == 1
    assert page.locator("#error-table .now").all_inner_texts().count("1") == 2


def test_intervals_have_room_on_a_phone(open_page: OpenPage, tmp_path: Path) -> None:
    """The line of an interval stays a line: long words go below it."""
    evaluate(DEMO / "gt.json", DEMO / "a.json").report(tmp_path / "report.html")
    lines = open_page(tmp_path / "report.html", width=390).locator(".tile .scale svg").all()
    assert lines
    assert min(box["width"] if (box := one.bounding_box()) else 0 for one in lines) > 60
