"""The first screen of the report: its numbers with intervals, the costliest images and the most frequent confusions."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit.evaluation import score_curves
from support.browsing import serious_violations, until

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from ioukit import Evaluation
    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

Written = dict[str, tuple["Evaluation", Path]]


def confused(evaluation: Evaluation, score: float) -> list[tuple[int, int, int]]:
    """True class, predicted class and count, the most frequent first."""
    counts = evaluation.confusion(score_threshold=score).counts[:-1, :-1].copy()
    np.fill_diagonal(counts, 0)
    order = np.argsort(-counts, axis=None, kind="stable")
    return [(*divmod(int(at), len(counts)), int(counts.flat[at])) for at in order if counts.flat[at]]


def told(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.locator("#story-confusions figcaption").all_inner_texts()]


def test_three_images_and_three_confusions_lead_to_their_regions(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    best = score_curves(evaluation.matches).overall.best.score
    names, objects = evaluation.matches.categories.names, evaluation.matches.num_objects[:, 0]
    page = open_page(path)
    results = evaluation.per_image(score_threshold=best)
    counts = (results.false_positives, results.false_negatives, results.true_positives)
    assert page.locator("#story-images .counts").all_inner_texts() == [
        "{} false, {} missed, {} found".format(*(column[image] for column in counts)) for image in results.worst(3)
    ]
    for (true, predicted, count), words in zip(confused(evaluation, best), told(page), strict=False):
        share = 100 * count / objects[true]
        assert words == (
            f"{names[true]} detected as {names[predicted]} {count} times, "
            f"{share:.{1 if share < 10 else 0}f} % of the true class"
        )
    assert len(told(page)) == 3
    # The viewer opens with the regions of the confusion marked, by mouse and by key.
    first = page.locator("#story-confusions button").first
    first.click()
    assert page.locator("#viewer-stage .marked").count() >= 2
    assert told(page)[0].split(" detected")[0] in page.locator("#viewer-words").inner_text()
    page.keyboard.press("Escape")
    page.locator("#story-images button").first.press("Enter")
    assert page.locator("#viewer-title").inner_text() == page.locator("#story-images .title").first.inner_text()
    page.keyboard.press("Escape")
    page.locator("#confusions .link").first.click()
    page.locator("#error-table tbody button").first.click()
    assert serious_violations(page) == []


def test_they_follow_the_slider(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    page = open_page(path)
    before = told(page)
    page.locator("#score").press("Home")
    until(page, "() => document.documentElement.dataset.ready !== undefined")
    lowest = float(page.locator("#score").get_attribute("data-score") or "nan")
    names = evaluation.matches.categories.names
    counts = [f"{count} times" for _, _, count in confused(evaluation, lowest)[:3]]
    assert told(page) != before
    assert all(count in words for count, words in zip(counts, told(page), strict=True))
    assert told(page)[0].startswith(f"{names[confused(evaluation, lowest)[0][0]]} detected as ")


def test_confusions_are_a_ranked_list_that_leads_to_pictures(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["80 classes"]
    best = score_curves(evaluation.matches).overall.best.score
    confusion = evaluation.confusion(score_threshold=best)
    names, objects = evaluation.matches.categories.names, confusion.counts.sum(axis=1)
    pairs = confused(evaluation, best)
    page = open_page(path)
    lines = page.locator("#confusions > li")
    assert lines.count() == 8
    page.locator("#confusions-more").press("Enter")
    assert lines.count() == 16
    assert page.evaluate(
        "() => document.activeElement.closest('li') === document.querySelectorAll('#confusions > li')[8]"
    )
    with page.expect_download() as waiting:
        page.locator("#confusions-downloads button").click()
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text())))[1:]
    assert [(row[0], row[1], int(row[2])) for row in rows] == [
        (names[true], names[predicted], count) for true, predicted, count in pairs
    ]
    assert float(rows[0][3]) == pytest.approx(pairs[0][2] / objects[pairs[0][0]])
    # Choosing a pair shows its pictures; the matrix need not be there.
    lines.nth(1).locator(".link").press("Enter")
    true, predicted, count = pairs[1]
    panel = page.locator("#cell-images")
    assert panel.locator("h3").inner_text() == f"{names[true]} detected as {names[predicted]}: {count} times"
    images = confusion.image[confusion.cell(true, predicted)]
    assert panel.locator(".crop").count() == len(set(images.tolist()))
    assert page.locator("#matrix td").count() == 0
    page.locator("#score").press("End")
    until(page, "() => document.documentElement.dataset.ready !== undefined")
    assert page.locator("#confusions-none").is_visible() == (lines.count() == 0)


def test_pictures_of_errors_are_shown_a_page_at_a_time(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["80 classes"][1])
    page.locator('#error-table tr[data-kind="background"] button').click()
    cards, more = page.locator("#error-images li"), page.locator("#error-images .more")
    assert cards.count() == 24
    while more.is_visible():
        before = cards.count()
        more.press("Enter")
        assert cards.count() > before
    assert f"on {cards.count()} images" in page.locator("#error-images [role=status]").inner_text()
    assert page.evaluate("() => document.activeElement.closest('#error-images li') !== null")


def test_colours_have_a_legend(open_page: OpenPage, written: Written) -> None:
    page = open_page(written["three classes"][1])
    assert page.locator("#story-keys li").all_inner_texts() == ["found", "false", "missed"]
    for kind, item in zip(("tp", "fp", "fn"), page.locator("#story-keys .box").all(), strict=True):
        shown = page.locator(f"#story-images .k-{kind} .box").first
        colours = [one.evaluate("(one) => getComputedStyle(one).stroke") for one in (item, shown)]
        assert colours[0] == colours[1], kind


@pytest.mark.parametrize("case", ["one class", "no detections"])
def test_what_does_not_exist_has_no_heading(case: str, open_page: OpenPage, written: Written) -> None:
    page = open_page(written[case][1])
    for holder in ("story-images", "story-confusions"):
        assert page.locator(f"#{holder} button").count() > 0 or not page.locator(f"#{holder}").is_visible()


def test_limits_are_drawn_and_saved(open_page: OpenPage, written: Written) -> None:
    evaluation, path = written["three classes"]
    page = open_page(path)
    assert page.locator(".tile .whisker").count() == 4
    assert page.locator("#class-table .whisker").count() == 3
    places = page.locator(".tile").first.evaluate(
        """tile => [".axis", ".whisker", ".dot"].map((part) => tile.querySelector(part).getBoundingClientRect())
            .map(({left, right}) => [left, right])"""
    )
    (start, end), (low, high), (dot, _) = places
    limits = evaluation.intervals("AP", replicates=200)["AP"]
    shares = [(at - start) / (end - start) for at in (low, high, dot)]
    assert shares == pytest.approx([limits.low, limits.high, limits.value], abs=0.03)
    with page.expect_download() as waiting:
        page.locator("#class-downloads button", has_text="CSV").click()
    rows = list(csv.reader(io.StringIO(Path(waiting.value.path()).read_text())))
    assert rows[0][:4] == ["class", "AP", "AP from", "AP to"]
    found = evaluation.intervals(["AP", *(f"AP/{row[0]}" for row in rows[1:])], replicates=200)
    for row in rows[1:]:
        assert float(row[2]) <= float(row[3])
        assert float(row[2]) == pytest.approx(found[f"AP/{row[0]}"].low, abs=0.02)
