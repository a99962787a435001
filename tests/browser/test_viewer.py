"""The viewer in a real browser, against its real server: each action by mouse and by keyboard alone."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from ioukit.evaluation import Outcome, outcomes, score_curves
from support.browsing import pictured, serious_violations, until
from support.paths import DEMO
from support.viewer_pages import CASES, Visits, counts, names, query, ready

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from ioukit import Evaluation


NAMES = ("car", "cat", "owl")


def expected(evaluation: Evaluation, *, score: float | None = None, iou: float = 0.5, category: int = 0) -> list[str]:
    """The numbers of an evaluation at thresholds, as the page writes them."""
    if score is None:
        score = score_curves(evaluation.matches, iou_threshold=0.5).overall.best.score
    became = outcomes(evaluation.matches, iou_threshold=iou, score_threshold=score)
    found, objects = became.detections, became.objects
    if category:
        found = found[evaluation.matches.detections.category == category - 1]
        objects = objects[evaluation.matches.objects.category == category - 1]
    tp, fp = int((found == Outcome.TRUE_POSITIVE).sum()), int((found == Outcome.FALSE_POSITIVE).sum())
    fn = int((objects == Outcome.FALSE_NEGATIVE).sum())
    shares = (tp / (tp + fp), tp / (tp + fn), 2 * tp / (2 * tp + fp + fn))
    return [f"{tp:,}", f"{fp:,}", f"{fn:,}", *(f"{share:.3f}" for share in shares)]


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def tab_to(page: Page, selector: str, *, most: int = 60) -> None:
    """Presses Tab until the element has the focus."""
    for _ in range(most):
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


@pytest.mark.parametrize("case", CASES)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(case: str, visits: Visits, tmp_path: Path) -> None:
    page = visits.visit(case, dark=case == "80 classes")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        ready(page)
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        assert page.locator(".cell[data-drawn] svg").count() > 0
        pictured(page, tmp_path / f"{width}.png")
    assert page.locator("#said").inner_text().endswith("image" if case == "one image" else "images")


@pytest.mark.parametrize(("case", "dark"), [("three classes", False), ("two models", True), ("no models", False)])
def test_axe_finds_nothing_serious(case: str, *, dark: bool, visits: Visits) -> None:
    page = visits.visit(case, "class=car&size=10..", dark=dark)
    page.evaluate("() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }")
    assert serious_violations(page) == []
    page.evaluate("() => { for (const sheet of document.querySelectorAll('details.menu')) sheet.open = false; }")
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator("#open-panel").click()
    assert page.locator("#drawer").is_visible()
    assert serious_violations(page) == []


@pytest.mark.parametrize("case", ["three classes", "80 classes", "1,203 classes", "photographs"])
def test_the_numbers_are_those_of_the_library(case: str, visits: Visits) -> None:
    evaluation = CASES[case]()
    page = visits.open(visits.serve(evaluation))
    assert counts(page) == expected(evaluation)
    page.locator("#at-score-exact").fill("0.7")
    page.keyboard.press("Enter")
    page.locator("#at-iou").focus()
    page.keyboard.press("ArrowRight")
    ready(page)
    assert query(page) == {"at_score": ["0.7"], "at_iou": ["0.55"]}
    assert counts(page) == expected(evaluation, score=0.7, iou=0.55)
    first = page.locator("#class-options .option").first
    position = int(first.get_attribute("data-position") or "")
    first.click()
    ready(page)
    assert counts(page) == expected(evaluation, score=0.7, iou=0.55, category=position + 1)


def test_both_models_have_their_numbers(visits: Visits) -> None:
    models = CASES["two models"]()
    page = visits.open(visits.serve(models))
    for row, evaluation in enumerate(models.values()):
        assert counts(page, row) == expected(evaluation)
    assert page.locator("#title").inner_text() == "first, second on ground truth"
    page.get_by_role("button", name="second", exact=True).click()
    ready(page)
    assert query(page) == {"model": ["second"]}
    assert page.locator("#numbers tr.chosen").inner_text().startswith("second")
    best = score_curves(models["second"].matches, iou_threshold=0.5).overall.best.score
    assert page.locator("#at-score-exact").input_value() == f"{best:.4f}".rstrip("0")


def test_a_step_of_the_slider_changes_the_numbers(visits: Visits) -> None:
    evaluation = CASES["three classes"]()
    page = visits.open(visits.serve(evaluation))
    slider = page.locator("#at-score")
    slider.focus()
    press(page, *["ArrowRight"] * 12, *["ArrowLeft"] * 2)
    ready(page)
    score = float(query(page)["at_score"][0])
    assert counts(page) == expected(evaluation, score=score)
    assert (slider.get_attribute("aria-valuetext") or "").startswith(f"score {score:.2f}")
    # All steps are one entry of the history.
    page.go_back()
    ready(page)
    assert query(page) == {}
    assert counts(page) == expected(evaluation)
    page.go_forward()
    ready(page)
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    assert counts(page) == expected(evaluation)


def test_filters_by_mouse_live_in_the_address(visits: Visits) -> None:
    page = visits.visit("80 classes")
    page.locator("label", has_text="False positives").first.click()
    page.get_by_placeholder("Search classes").fill("thing 1")
    page.locator("#class-options .option").first.click()
    ready(page)
    assert query(page) == {"outcome": ["fp"], "class": ["thing 1"]}
    assert page.locator("#said").inner_text().endswith("of 300 images")
    chips = page.locator("#chips .chip")
    assert chips.locator(".name").all_inner_texts() == ["False positives", "thing 1"]
    shown = page.locator(".cell").count()
    assert shown
    address = page.url
    chips.first.click()
    ready(page)
    assert query(page) == {"class": ["thing 1"]}
    page.go_back()
    ready(page)
    assert page.url == address
    assert page.locator('#panel input[value="fp"]').is_checked()
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    assert query(page) == {}
    assert page.locator("#said").inner_text() == "300 images"
    # A copied address shows the same.
    page.goto(address)
    ready(page)
    assert page.locator(".cell").count() == shown
    assert page.locator('#class-options [aria-selected="true"]').inner_text().startswith("thing 1")


def test_filters_by_keyboard_alone(visits: Visits) -> None:
    page = visits.visit("1,203 classes")
    tab_to(page, "#panel input[value='fn']")
    press(page, "Space")
    tab_to(page, "#panel input[type='search']")
    page.keyboard.type("kind 12")
    press(page, "ArrowDown", "ArrowDown", "Space", "ArrowUp", "Enter")
    ready(page)
    assert query(page) == {"outcome": ["fn"], "class": ["kind 120", "kind 12"]}
    # One stop for 1,203 classes.
    tab_to(page, ".handle.low", most=3)
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight")
    ready(page)
    low, high = query(page)["score"][0].split("..")
    assert float(low) > 0
    assert high == ""
    press(page, "Home")
    ready(page)
    assert "score" not in query(page)
    tab_to(page, ".chip")
    press(page, "Enter")
    ready(page)
    assert "outcome" not in query(page)
    assert page.evaluate("() => document.activeElement.matches('.chip')")


def test_a_histogram_is_brushed(visits: Visits) -> None:
    page = visits.visit("three classes")
    brush = page.locator(".brush").first
    box = brush.bounding_box()
    assert box
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.5, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, middle, steps=4)
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=4)
    page.mouse.up()
    ready(page)
    low, high = map(float, query(page)["score"][0].split(".."))
    ends = [float(page.locator(".handle").nth(k).get_attribute("aria-valuenow") or "nan") for k in (0, 1)]
    assert ends == pytest.approx([low, high])
    assert 0.45 < low < 0.55
    assert 0.75 < high < 0.85
    assert page.locator(".plot").first.locator(".bar-out").count()
    # The range that was drawn is one entry of the history.
    page.go_back()
    ready(page)
    assert query(page) == {}
    page.locator('[aria-label="Score from"]').fill("0.9")
    page.keyboard.press("Tab")
    ready(page)
    assert query(page) == {"score": ["0.9.."]}
    page.get_by_role("button", name="Any score").click()
    ready(page)
    assert query(page) == {}


def test_a_finger_brushes(visits: Visits) -> None:
    page = visits.visit("three classes", width=390, height=844)
    page.locator("#open-panel").tap()
    brush = page.locator(".brush").first
    brush.scroll_into_view_if_needed()
    box = brush.bounding_box()
    assert box
    session = page.context.new_cdp_session(page)
    y = box["y"] + box["height"] / 2
    for kind, share in (("touchStart", 0.2), ("touchMove", 0.3), ("touchMove", 0.5)):
        points = [{"x": box["x"] + box["width"] * share, "y": y}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    # The finger rests before it lifts: what lifts while it moves is a fling for Chromium, and the tap that stops a
    # fling is no click.
    page.wait_for_timeout(200)
    session.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [{"x": points[0]["x"] + 1, "y": y}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    until(page, "() => location.search.includes('score')")
    low, high = map(float, query(page)["score"][0].split(".."))
    assert 0.15 < low < 0.25
    assert 0.45 < high < 0.55
    page.locator("#drawer-done").tap()
    page.locator("#drawer").wait_for(state="hidden")


def test_the_drawer_by_keyboard(visits: Visits) -> None:
    page = visits.visit("three classes", width=390, height=844)
    tab_to(page, "#open-panel")
    press(page, "Enter")
    assert page.locator("#drawer").is_visible()
    tab_to(page, "#panel input[value='fp']")
    press(page, "Space", "Escape")
    ready(page)
    assert not page.locator("#drawer").is_visible()
    assert query(page) == {"outcome": ["fp"]}
    assert page.evaluate("() => document.activeElement.id") == "open-panel"
    assert page.locator("#open-panel-count").inner_text() == "1"


def test_the_grid_by_keyboard(visits: Visits) -> None:
    page = visits.visit("80 classes", "sort=position")
    tab_to(page, "#skip")
    press(page, "Enter")
    tab_to(page, ".cell", most=2)
    columns = int(page.locator("#grid").get_attribute("aria-colcount") or "")
    place = "() => Number(document.activeElement.dataset.place)"
    for key, to in (
        ("ArrowRight", 1),
        ("ArrowDown", 1 + columns),
        ("End", 2 * columns - 1),
        ("Home", columns),
        ("ArrowLeft", columns - 1),
        ("ArrowUp", columns - 1),
        ("Control+End", 299),
        ("ArrowRight", 299),
        ("ArrowDown", 299),
        ("Control+Home", 0),
    ):
        press(page, key)
        assert page.evaluate(place) == to, key
        box = page.locator(".cell:focus").bounding_box()
        assert box
        assert 0 < box["y"] < 900 - box["height"] + 20, key
    # Enter shows the image large; its card has the focus again afterwards.
    press(page, "ArrowRight", "Enter")
    until(page, "() => document.querySelector('dialog[open]') !== null")
    press(page, "Escape")
    until(page, "() => document.querySelector('dialog[open]') === null")
    assert page.evaluate(place) == 1
    press(page, "ArrowLeft")
    # Rows far from the screen are no elements of the page, and the focus stays.
    page.evaluate("() => scrollTo(0, document.documentElement.scrollHeight)")
    ready(page)
    assert page.evaluate(place) == 0
    assert page.locator(".cell").count() < 150


def test_it_scrolls_through_all_images(visits: Visits) -> None:
    page = visits.visit("80 classes", "sort=position")
    seen: dict[int, str] = {}
    deepest = page.evaluate("() => document.documentElement.scrollHeight")
    for top in range(0, deepest, 700):
        page.evaluate("(top) => scrollTo(0, top)", top)
        # A frame in which the page follows the scroll, and the one behind it.
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        ready(page)
        found: list[Any] = page.evaluate(
            "() => [...document.querySelectorAll('.cell')].map((card) => [Number(card.dataset.place), card.dataset.at])"
        )
        seen |= {int(place): at for place, at in found}
    assert [seen[place] for place in range(300)] == [str(at) for at in range(300)]


def test_the_order_is_that_of_the_names(visits: Visits) -> None:
    page = visits.visit("photographs")
    page.locator("#sort").select_option("name")
    ready(page)
    shown = names(page)
    assert shown == sorted(shown)
    page.locator("#order").click()
    ready(page)
    assert names(page) == shown[::-1]
    assert query(page) == {"sort": ["name"], "order": ["desc"]}


def test_photographs_come_and_missing_ones_are_said(visits: Visits, tmp_path: Path) -> None:
    page = visits.visit("photographs")
    until(page, "() => [...document.querySelectorAll('.cell')].every((card) => card.querySelector('img.there'))")
    assert page.locator(".missing").count() == 0
    page = visits.open(visits.serve(CASES["photographs"](), tmp_path))
    assert page.locator(".missing").first.inner_text() == "no photograph"
    assert page.locator(".cell img").count() == 0
    assert page.locator(".cell svg .box").count() > 0
    # A file that is no picture is said on its card, and the others come.
    for source in (DEMO / "photos").iterdir():
        (tmp_path / source.name).write_bytes(source.read_bytes())
    broken = sorted(tmp_path.glob("*.jpg"))[0]
    broken.write_bytes(b"no picture")
    visits.expected = ("status of 404",)
    page = visits.open(visits.serve(CASES["photographs"](), tmp_path), "sort=name")
    until(page, "() => document.querySelectorAll('.cell img.there').length === 5")
    until(page, "() => document.querySelector('.missing') !== null")
    assert page.locator(".cell").first.locator(".missing").inner_text() == "not readable"


def test_the_look_lives_in_the_address(visits: Visits) -> None:
    page = visits.visit("two models")
    grid = page.locator("#grid")
    page.locator("#look summary").click()
    page.get_by_role("button", name="Class", exact=True).click()
    page.get_by_role("button", name="Large", exact=True).click()
    page.locator("#look-labels").check()
    page.locator("#look-layers").check()
    page.locator("#look-kinds input").first.uncheck()
    ready(page)
    assert "by-class" in (grid.get_attribute("class") or "")
    assert page.locator(".cell text.label").count() > 0
    assert page.locator(".cell .layer-2").count() > 0
    assert page.locator(".cell .k-tp .box").first.is_hidden()
    columns = int(grid.get_attribute("aria-colcount") or "")
    press(page, "Escape")
    assert page.locator("#look").get_attribute("open") is None
    page.reload()
    ready(page)
    assert int(grid.get_attribute("aria-colcount") or "") == columns == 3
    assert page.locator("#look-layers").is_checked()


def test_a_change_between_two_models(visits: Visits) -> None:
    page = visits.visit("two models", "change=won")
    assert page.locator("#chips .chip").inner_text().startswith("Won: only second finds it")
    shown = page.locator(".cell").count()
    count = page.locator("label", has_text="Won: only second").locator(".facet").inner_text()
    assert 0 < shown <= int(count)
    assert page.locator("#said-marks").inner_text().startswith(f"with {count} ")
    # Objects that the other model finds are shown, because they are what was asked for.
    page.get_by_role("button", name="second", exact=True).click()
    ready(page)
    assert page.locator(".cell g.k-gt:not(.other-mark) .box").first.is_visible()
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    assert page.locator(".cell g.k-gt .box").first.is_hidden()


def test_nothing_fits_and_errors_are_said_in_words(visits: Visits) -> None:
    server = visits.serve(CASES["three classes"]())
    page = visits.open(server, "score=0.5..0.5&size=..1")
    assert page.locator("#nothing-words").inner_text() == "No image fits all filters. Remove one of them."
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    assert page.locator("#said").inner_text() == "60 images"

    visits.expected = ("status of 400", "ERR_CONNECTION")
    page.evaluate("() => history.pushState(null, '', '?class=nobody')")
    page.evaluate("() => dispatchEvent(new PopStateEvent('popstate'))")
    until(page, "() => !document.getElementById('problem').hidden")
    assert "nobody" in page.locator("#problem-words").inner_text()
    page.get_by_role("button", name="Reset all", exact=True).click()
    until(page, "() => document.getElementById('problem').hidden")
    assert page.locator("#said").inner_text() == "60 images"

    server.close()
    page.locator("label", has_text="False positives").first.click()
    until(page, "() => !document.getElementById('problem').hidden")
    assert page.locator("#problem-words").inner_text().startswith("The viewer does not answer.")


def test_a_question_mark_lists_the_keys(visits: Visits) -> None:
    page = visits.visit("three classes")
    keys = page.locator("#keys")
    press(page, "?")
    assert keys.is_visible()
    assert {"?", "Enter", "+, \N{MINUS SIGN}, 0", "t, n", "l, c", "p", "f"} <= set(keys.locator("dt").all_inner_texts())
    assert serious_violations(page) == []
    press(page, "Escape")
    assert keys.is_hidden()
    page.locator(".cell").first.click()
    page.locator("#large").wait_for()
    press(page, "?")
    assert keys.is_visible()
    press(page, "Escape")
    assert page.locator("#large").is_visible()
    press(page, "Escape")
    page.get_by_placeholder("Search classes").press("?")  # a letter of what is searched
    assert keys.is_hidden()


def test_the_order_follows_the_filter(visits: Visits) -> None:
    page = visits.visit("80 classes", "outcome=fp")
    assert page.locator("#sort option:checked").inner_text() == "Most selected regions"
    shown = names(page)
    page.locator("#sort").select_option("fp")
    ready(page)
    assert names(page) == shown
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    page.locator("#sort").select_option("errors")
    ready(page)
    assert page.locator("#sort option:checked").inner_text() == "Most errors"
    assert names(page) != shown


def test_without_scores_nothing_on_the_page_is_about_them(visits: Visits) -> None:
    evaluation = CASES["without scores"]()
    server = visits.serve(evaluation)
    page = visits.open(server, "#numbers=on&labels=on")
    assert counts(page) == expected(evaluation, score=0.0)
    until(page, "() => document.querySelector('#figures .measures td') !== null")
    page.evaluate("() => { for (const fold of document.querySelectorAll('details')) fold.open = true; }")
    shown = page.locator("body").inner_text()
    said = (
        "The protocol does not read scores: all detections count, and those of an image choose their objects together."
    )
    assert said in shown
    assert re.findall(r".*(?:[Ss]core|AP|Precision over recall|--issues).*", shown.replace(said, "")) == []
    assert page.locator("#at-score").count() == 0
    assert "score" not in page.locator("#sort option").evaluate_all("(all) => all.map((one) => one.value)")
    assert set(page.locator(".cell .label").all_text_contents()) <= {*(f"missed {name}" for name in NAMES), *NAMES}
    # The IoU threshold still moves.
    page.evaluate("() => { for (const sheet of document.querySelectorAll('details.menu')) sheet.open = false; }")
    page.locator("#at-iou").focus()
    press(page, "ArrowRight")
    ready(page)
    assert counts(page) == expected(evaluation, score=0.0, iou=0.55)
    page.locator(".cell").first.click()
    # In one step of the page: a list that is made anew between the press and the release of a mouse has no click.
    until(
        page,
        """() => {
          document.querySelector('#large-list .option')?.click();
          return document.querySelector('#large-why') !== null;
        }""",
    )
    assert "score" not in page.locator("#large").inner_text().lower()


def test_a_saved_link_with_a_score_says_why_it_cannot_be_shown(visits: Visits) -> None:
    server = visits.serve(CASES["without scores"]())
    visits.expected = ("400",)
    page = visits.open(server, "outcome=fp")
    page.goto(server.address("score=0.5..&at_score=0.3"))
    until(page, "() => document.querySelector('#problem-words').textContent !== ''")
    words = "score cannot be used: the protocol 'Unranked' does not read scores"
    assert page.locator("#problem-words").inner_text() == words
    page.get_by_role("button", name="Reset all").click()
    ready(page)
    assert page.locator("#said").inner_text() == "30 images"
    assert page.locator("#problem").is_hidden()
