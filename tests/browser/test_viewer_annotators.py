"""Two annotators in the viewer: their names are the words, and they stand beside each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from ioukit.comparison.agreement import evaluate_annotators
from support.browsing import serious_violations, until
from support.viewer_pages import Visits, counts, query, ready
from viewer.test_annotators import two_annotators

if TYPE_CHECKING:
    from playwright.sync_api import Page

FIRST = "outcome=fp&outcome=fn&sort=f1&order=asc"
DETECTOR = re.compile(
    r"truth|detect|\bmiss|positive|predict|precision|recall|\b[TF][PN]\b|object|model|score|error", re.I
)
VISIBLE = """() => [...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()).flatMap((one) => [
  ...["aria-label", "title", "placeholder"].map((name) => one.getAttribute(name)),
  ...[...one.childNodes].filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data),
]).filter(Boolean)"""


def opened(visits: Visits, filters: str = FIRST, *, seed: int = 1, **options: Any) -> Page:
    evaluation, _ = evaluate_annotators(two_annotators(seed), near=0.1)
    return visits.open(visits.serve({"bob": evaluation}, annotators=("ann", "bob")), filters, **options)


def words_of_a_detector(page: Page) -> list[str]:
    return [text for text in page.evaluate(VISIBLE) if DETECTOR.search(text)]


def test_no_word_is_of_a_detector_or_a_truth(visits: Visits) -> None:
    page = opened(visits)
    assert page.locator("#title").inner_text() == "ann and bob"
    page.evaluate("() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }")
    assert words_of_a_detector(page) == []
    page.evaluate("() => { for (const sheet of document.querySelectorAll('details.menu')) sheet.open = false; }")
    assert serious_violations(page) == []
    page.locator("#open-keys").click()
    assert words_of_a_detector(page) == []
    page.keyboard.press("Escape")
    page.locator(".cell").first.click()
    rows = page.locator("#large-list .option")
    until(page, "() => document.querySelector('#large-details dl') !== null")
    assert words_of_a_detector(page) == []
    assert rows.count() > 0
    for at in range(rows.count()):
        rows.nth(at).click()
        until(page, f"() => document.querySelectorAll('#large-list .option')[{at}].classList.contains('current')")
        assert words_of_a_detector(page) == []


def test_counts_are_pairs_and_regions_of_one_alone(visits: Visits) -> None:
    page = opened(visits)
    heads = page.locator("#numbers thead th").all_inner_texts()
    assert heads == ["Pairs", "Only bob", "Only ann", "F1"]
    pairs, only_bob, only_ann, f1 = counts(page)
    given = two_annotators(1)
    assert int(pairs) + int(only_ann) == len(given["ann"])
    assert int(pairs) + int(only_bob) == len(given["bob"])
    assert f1 == f"{2 * int(pairs) / (len(given['ann']) + len(given['bob'])):.3f}"
    assert page.locator("#chips .chip .name").all_inner_texts() == ["Only bob", "Only ann"]
    assert page.locator("#sort").input_value() == "f1"
    page.locator("#panel summary", has_text="Kind of difference").click()
    page.locator("label", has_text="other class").first.click()
    ready(page)
    assert query(page)["error"] == ["classification"]


def test_f1_is_what_its_title_and_the_sentence_below_say(visits: Visits) -> None:
    """A range of sizes separates some regions from their pairs."""
    page = opened(visits, "size=35..", seed=0)
    assert page.locator("#numbers th.v-f1").get_attribute("title") == (
        "harmonic mean of the shares of their regions that are paired"
    )
    pairs, only_bob, only_ann, f1 = counts(page)
    said = re.fullmatch(
        r"The filters choose the two regions of a pair each by itself: bob has (\d+) paired regions?, ann has (\d+) of "
        r"these (\d+) regions? paired\.",
        page.locator("#numbers-words").inner_text(),
    )
    assert said
    of_bob, of_ann, all_of_ann = map(int, said.groups())
    assert (of_bob, all_of_ann - of_ann) == (int(pairs), int(only_ann))
    assert of_bob != of_ann
    assert f1 == f"{2 / ((of_bob + int(only_bob)) / of_bob + all_of_ann / of_ann):.3f}"


@pytest.mark.parametrize("width", [1280, 390])
def test_both_stand_beside_each_other_each_with_its_own_regions(width: int, visits: Visits) -> None:
    page = opened(visits, "", width=width, dark=width == 390)
    page.locator(".cell").first.click()
    until(page, "() => document.querySelectorAll('#large .pane').length === 2")
    assert page.locator("#large .pane figcaption").all_inner_texts() == ["ann", "bob"]
    kinds = [
        {
            name
            for group in pane.locator("svg.picture g[class^='k-']").all()
            for name in str(group.get_attribute("class")).split()
        }
        for pane in page.locator("#large .pane").all()
    ]
    assert kinds[0] & {"k-tp", "k-fp"} == set()
    assert kinds[1] & {"k-gt", "k-fn"} == set()
    assert kinds[0]
    assert kinds[1]
    assert set(page.locator("#large-list .option .facet").all_inner_texts()) == {"ann"}
    assert page.evaluate("() => document.documentElement.scrollWidth") <= width
    page.locator("#large-tools").get_by_role("button", name="One", exact=True).click()
    until(page, "() => document.querySelectorAll('#large .pane').length === 1")
    assert set(page.locator("#large-list .option .facet").all_inner_texts()) == {"ann", "bob"}
