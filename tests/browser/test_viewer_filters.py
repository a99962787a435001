"""Each part of the viewer's panel in a real browser: what it writes into the address, and the library's answer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.label_errors import LABEL_ERROR_KINDS
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter
from support.browsing import until
from support.two_models import model
from support.viewer_pages import Visits, counts, query, ready

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

    from ioukit.evaluation import Evaluation


def _models() -> dict[str, Evaluation]:
    """Three models on images of several sizes, with crowds and wrong classes."""
    rng = np.random.default_rng(3)
    count, images = 240, 50
    corner, size = rng.uniform(0, 300, (count, 2)), rng.uniform(6, 150, (count, 2))
    truth = GroundTruth.from_coco(
        {
            "images": [
                {
                    "id": k,
                    "width": 450 + 10 * (k % 7),
                    "height": 450,
                    "file_name": f"{'day' if k % 3 else 'night'}/{k}.jpg",
                }
                for k in range(images)
            ],
            "categories": [{"id": k + 1, "name": name} for k, name in enumerate(["car", "cat, black", "owl"])],
            "annotations": [
                {
                    "id": k + 1,
                    "image_id": int(rng.integers(images)),
                    "category_id": int(rng.integers(1, 4)),
                    "bbox": [*map(float, [*corner[k], *size[k]])],
                    "area": float(size[k].prod()),
                    "iscrowd": int(k % 17 == 0),
                }
                for k in range(count)
            ],
        }
    )
    made = {}
    for seed, name in enumerate(("small", "large, slow", "old")):
        found = model(truth, seed, found=0.6 + 0.15 * seed)
        said = found.category_ids.copy()
        said[::9] = said[::9] % 3 + 1
        wrong = Detections.from_arrays(
            image_ids=found.image_ids, category_ids=said, boxes=found.boxes, scores=found.scores
        )
        made[name] = evaluate(truth, wrong)
    return made


MODELS = _models()


def open_fold(page: Page, title: str) -> None:
    fold = page.locator("details.fold", has=page.get_by_role("heading", name=title, exact=True))
    if fold.get_attribute("open") is None:
        fold.locator("summary").focus()
        page.keyboard.press("Enter")


def assert_the_answer_is_that_of_the_library(page: Page) -> Any:
    """The images, the marks and all counts beside the values."""
    ready(page)
    first = next(iter(MODELS.values()))
    assert first.ground_truth is not None
    collection = Collection.of(first.ground_truth, MODELS)
    pairs = parse_qsl(urlsplit(page.url).query, keep_blank_values=True)
    expected = answer(collection, Filter.parse(pairs))
    images, marks = len(expected.order), int(expected.marks.sum())
    assert page.locator("#said").inner_text() == ("50 images" if images == 50 else f"{images} of 50 images")
    if page.locator("#chips .chip").count() and images:
        assert page.locator("#said-marks").inner_text() == f"with {marks:,} selected region{'s' * (marks != 1)}"
    shown = page.evaluate("() => [...document.querySelectorAll('.cell')].map((card) => Number(card.dataset.at))")
    assert shown == expected.order[: len(shown)].tolist()
    for row, of in enumerate(expected.counts):
        texts = page.locator("#numbers tbody tr").nth(row).locator("td").all_inner_texts()
        shares = (of.precision, of.recall, of.f1)
        wanted = [
            *(f"{count:,}" for count in (of.tp, of.fp, of.fn)),
            *("\N{EN DASH}" if np.isnan(share) else f"{share:.3f}" for share in shares),
        ]
        if any(key in ("change", "flag") for key, _ in pairs):  # of objects only: nothing is said of detections
            wanted = [
                "\N{EN DASH}" if k in (1, 3, 5) else text for k, text in enumerate([f"{of.found:,}", *wanted[1:]])
            ]
        assert texts == wanted
    lists = page.evaluate(FACETS)
    for key, label in LABELS.items():
        facets = {value: f"{count:,}" for value, count in expected.facets[key].items() if value != "all"}
        assert lists[label] == facets
    return expected


# One question to the browser: one for each number would take longer than all else here.
FACETS = """() => {
  const facet = (box) => [box.value, box.parentElement.querySelector(".facet")?.textContent];
  const facets = (list) => Object.fromEntries([...list.querySelectorAll("[type=checkbox]")].map(facet));
  const lists = [...document.querySelectorAll("#panel .checks")];
  return Object.fromEntries(lists.map((list) => [list.ariaLabel, facets(list)]));
}"""
LABELS = {"outcome": "Outcome", "error": "Kind of error", "change": "What became of objects", "area": "Area"}


def _check(title: str, text: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        open_fold(page, title)
        page.locator("#panel label", has_text=text).locator("input").first.focus()
        page.keyboard.press("Space")

    return act


def _choose(title: str, label: str, value: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        open_fold(page, title)
        field = page.locator("#panel").get_by_label(label, exact=True)
        field.focus()
        field.select_option(value)

    return act


def _write(title: str, label: str, text: str) -> Callable[[Page], None]:
    def act(page: Page) -> None:
        open_fold(page, title)
        field = page.get_by_label(label, exact=True)
        field.focus()
        page.keyboard.type(text)
        page.keyboard.press("Enter")

    return act


def _model(page: Page) -> None:
    page.get_by_role("button", name="large, slow").focus()
    page.keyboard.press("Enter")


ACTIONS: dict[str, tuple[Callable[[Page], None], dict[str, list[str]]]] = {
    "outcome": (_check("Outcome", "Ignored"), {"outcome": ["ignored"]}),
    "kind of error": (_check("Kind of error", "Wrong class"), {"error": ["classification"]}),
    "change": (_check("Change", "Lost:"), {"change": ["lost"]}),
    "pair": (_choose("Change", "Change to", "old"), {"models": ["small,old"]}),
    "pair with a comma": (_choose("Change", "Change from", "old"), {"models": ["old,large\\, slow"]}),
    "object": (_choose("Confusion", "Object", "car"), {"true": ["car"]}),
    "detected as": (_choose("Confusion", "Detected as", "background"), {"predicted": ["background"]}),
    "area": (_check("Size", "Medium"), {"area": ["medium"]}),
    "size": (_write("Size", "Size from, in px", "60"), {"size": ["60.."]}),
    "IoU": (_write("IoU", "IoU to", "0.4"), {"iou": ["..0.4"]}),
    "file name": (_write("File name", "File name contains", "NIGHT"), {"text": ["NIGHT"]}),
    "flag": (_check("Flags", "Crowd"), {"flag": ["crowd"]}),
    "column": (_write("Width", "Width from", "500"), {"column.width": ["500.."]}),
    "without notes": (_check("Tags and notes", "Without a note"), {"noted": ["no"]}),
    "model": (_model, {"model": ["large, slow"]}),
}


@pytest.mark.parametrize("name", ACTIONS)
def test_each_part_of_the_panel_by_keyboard(name: str, visits: Visits) -> None:
    act, expected = ACTIONS[name]
    page = visits.open(visits.serve(MODELS))
    assert_the_answer_is_that_of_the_library(page)
    act(page)
    until(page, "() => location.search !== ''")
    assert query(page) == expected
    assert_the_answer_is_that_of_the_library(page)
    page.go_back()
    assert_the_answer_is_that_of_the_library(page)
    assert query(page) == {}
    page.go_forward()
    assert_the_answer_is_that_of_the_library(page)
    assert query(page) == expected


def test_filters_combine(visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS), "class=cat%2C+black&class=owl&change=won&change=both&size=20..&model=old")
    before = assert_the_answer_is_that_of_the_library(page)
    assert page.locator("#chips .chip").count() == 5
    page.locator("#at-score").focus()
    page.keyboard.press("Home")
    after = assert_the_answer_is_that_of_the_library(page)
    assert before.counts != after.counts
    while page.locator("#chips .chip").count():
        page.locator("#chips .chip").first.focus()
        page.keyboard.press("Enter")
        assert_the_answer_is_that_of_the_library(page)
    assert query(page) == {"model": ["old"], "at_score": ["0.00"]}


def test_the_numbers_say_what_they_leave_out_and_whose_threshold_it_is(visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS))
    assert page.locator("#numbers-words").is_hidden()
    assert page.locator("#at-score-whose").inner_text() == f"best F1 of {next(iter(MODELS))}"
    page = visits.open(visits.serve(MODELS), "outcome=fp&at_score=0.3")
    assert page.locator("#numbers-words").inner_text().startswith("These numbers do not follow the filter “Outcome”")
    assert page.locator("#at-score-whose").inner_text() == "for all models"
    page = visits.open(visits.serve(MODELS), "score=0.5..")
    assert "FN, recall and F1 are not defined" in page.locator("#numbers-words").inner_text()
    page = visits.open(visits.serve(MODELS), "change=lost#colour=class")
    assert "chooses objects only" in page.locator("#numbers-words").inner_text()
    assert f"finds {counts(page)[0]} of these" in page.locator("#numbers-words").inner_text()
    assert page.locator(".filtered .k-gt:not(.other-mark) .box").first.is_visible()
    assert page.locator("html.class-colours").count() == 1


@pytest.mark.parametrize("wanted", ["", "area=medium", "size=40..90", "size=40..90&class=car&model=old"])
def test_the_ratios_are_what_their_titles_and_sentences_say(wanted: str, visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS), wanted)
    titles = page.locator("#numbers thead th").evaluate_all("all => all.map((one) => one.title)")
    assert titles[4:] == [
        "TP / (TP + FP)",
        "detected objects / (detected objects + FN)",
        "harmonic mean of precision and recall",
    ]
    differ = 0
    for row, name in enumerate(MODELS):
        cells = page.locator("#numbers tbody tr").nth(row).locator("td span")
        tp, fp, fn = (int(text.replace(",", "")) for text in cells.all_inner_texts()[:3])
        found, objects = map(int, re.findall(r"\d+", cells.nth(4).get_attribute("title") or ""))
        assert objects == found + fn
        precision, recall = tp / (tp + fp), found / objects
        f1 = 2 / (1 / precision + 1 / recall)
        assert cells.all_inner_texts()[3:] == [f"{number:.3f}" for number in (precision, recall, f1)]
        if f"model={name}" in wanted or (row == 0 and "model=" not in wanted):
            said = page.locator("#numbers-words").inner_text()
            assert ("recall counts objects" in said) == (found != tp)
            assert found == tp or said.endswith(f"{name} finds {found} of these {objects} objects.")
        differ += found != tp
    assert (differ > 0) == (wanted != "")


def test_issues_have_the_titles_of_label_errors(visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS, issues=True), "issue=swapped")
    assert page.locator("#chips .chip .name").all_inner_texts() == ["Issue: Wrong class"]
    open_fold(page, "Label issues")
    texts = page.locator("#panel .checks[aria-label='Label issues'] label").all_inner_texts()
    assert [re.sub(r"[\d,\s]+$", "", text) for text in texts] == [kind.title for kind in LABEL_ERROR_KINDS]


def test_the_order_by_keyboard(visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS))
    for _ in range(3):
        page.locator("#sort").focus()
        page.keyboard.press("ArrowDown")
        assert_the_answer_is_that_of_the_library(page)
        page.locator("#order").focus()
        page.keyboard.press("Enter")
        assert_the_answer_is_that_of_the_library(page)
        assert query(page)["order"] == ["asc"]


def test_the_display_menu_by_keyboard(visits: Visits) -> None:
    page = visits.open(visits.serve(MODELS))
    page.locator("#look > summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "colour=class" in page.url
    page.keyboard.press("Escape")
    assert page.evaluate("() => document.activeElement.closest('#look') !== null")
    assert page.locator("#look").get_attribute("open") is None
