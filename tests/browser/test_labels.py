"""The page of label errors in a real browser: it opens everywhere, and its list follows the filters."""

from __future__ import annotations

import csv
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ioukit import Detections, GroundTruth, evaluate
from ioukit.label_errors import LabelErrors, find_label_errors, read_decisions
from ioukit.report import write_label_errors
from support.browsing import assert_themes, pictured, serious_violations
from support.evaluated_scenes import HARD_NAMES
from support.planted_labels import KINDS, plant, street
from support.planted_scenes import real
from support.report_cases import CASES, attacked

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")


def _planted() -> LabelErrors:
    truth, found = street(120, seed=6)
    return find_label_errors(evaluate(plant(truth, dict.fromkeys(KINDS, 0.03), 0).ground_truth, found))


def _hard_names() -> LabelErrors:
    rng = np.random.default_rng(0)
    count = 60
    image, label = np.repeat(np.arange(20), 3), np.arange(count) % len(HARD_NAMES)
    boxes = np.concatenate([rng.uniform(0, 300, (count, 2)), rng.uniform(20, 90, (count, 2))], axis=1)
    kept = rng.random(count) < 0.8
    truth = GroundTruth.from_arrays(
        image_ids=image[kept], category_ids=label[kept], boxes=boxes[kept], images=np.arange(20),
        sizes=np.full((20, 2), 400.0), names=[f"{HARD_NAMES[k % len(HARD_NAMES)]} {k}" for k in range(20)],
        categories=dict(enumerate(HARD_NAMES)),
    )  # fmt: skip
    found = Detections.from_arrays(image_ids=image, category_ids=label, boxes=boxes, scores=rng.uniform(0.3, 1, count))
    return find_label_errors(evaluate(truth, found))


MADE: dict[str, Callable[[], LabelErrors]] = {
    "planted": lambda: _planted().chosen(at_least=0.05),
    "nothing": lambda: _planted()[:0],
    "one": lambda: _planted()[:1],
    "hard names": _hard_names,
    "coco": lambda: find_label_errors(evaluate(*real()["yolact"])),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[LabelErrors, Path]]:
    """A page of each case, written once."""
    folder, made = tmp_path_factory.mktemp("labels"), {}
    for number, (name, make) in enumerate(MADE.items()):
        errors, path = make(), folder / f"{number}.html"
        write_label_errors(errors, path)
        made[name] = errors, path
    return made


def listed(page: Page) -> int:
    """How many cards are listed when all of them are shown."""
    while page.locator("#more").is_visible():
        page.locator("#more").click()
    return page.locator("#gallery .card").count()


@pytest.mark.parametrize("case", MADE)
def test_it_opens_without_a_complaint_and_fits_phone_and_desk(
    case: str, open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]], tmp_path: Path
) -> None:
    page = open_page(pages[case][1], dark=case == "coco")
    assert page.locator("html[data-ready]").count() == 1
    for width in (1280, 360):
        page.set_viewport_size({"width": width, "height": 900})
        across = page.evaluate("() => document.documentElement.scrollWidth")
        assert across <= width, f"{across} at {width}"
        assert page.locator("h1").is_visible()
        if case in ("planted", "nothing"):
            pictured(page, tmp_path / f"{width}.png")


@pytest.mark.parametrize(
    ("case", "dark"), [("planted", False), ("planted", True), ("hard names", True), ("nothing", False)]
)
def test_axe_finds_nothing_serious(
    case: str, *, dark: bool, open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]
) -> None:
    page = open_page(pages[case][1], dark=dark)
    assert serious_violations(page) == []
    if case != "nothing":
        page.locator("#gallery button").first.click()
        assert serious_violations(page) == []


def test_themes(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    assert_themes(open_page, pages["one"][1])


def test_the_list_follows_the_filters(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    errors, path = pages["planted"]
    rows = errors.rows()
    page = open_page(path)
    assert listed(page) == len(rows)
    first = page.locator("#gallery .card").first
    assert first.locator(".score").inner_text() == f"{rows[0].score:.2f}"
    assert first.locator(".why").inner_text() == rows[0].reason
    boxes = page.locator("#kinds input")
    assert boxes.count() == len({row.kind for row in rows})
    for at in range(boxes.count() - 1):
        boxes.nth(at).uncheck()
    last = [kind for kind in KINDS if any(row.kind == kind for row in rows)][-1]
    assert listed(page) == sum(row.kind == last for row in rows)
    for at in range(boxes.count() - 1):
        boxes.nth(at).check()
    name = rows[0].category or rows[0].suggested_category
    page.locator("#class").select_option(label=name)
    assert listed(page) == sum(name in (row.category, row.suggested_category) for row in rows)
    page.locator("#class").select_option(index=0)
    page.locator("#text").fill(rows[3].file_name.upper())
    assert listed(page) == sum(row.file_name == rows[3].file_name for row in rows)
    page.locator("#text").fill("no such words")
    assert (listed(page), page.locator("#said").inner_text()) == (0, "No label fits the filters.")
    page.locator("#text").fill("")
    page.locator("#least").fill("50")
    assert listed(page) == sum(round(row.score, 4) >= 0.5 for row in rows)


def test_the_numbers_of_the_page_are_those_of_its_labels(
    open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]
) -> None:
    """Labels that were left out before the page are in none of its numbers, and the page says so."""
    errors, path = pages["planted"]
    page = open_page(path)
    for place, tile in enumerate(page.locator("#summary .tile").all()):
        scores = errors.score[errors.kind == place]
        assert tile.locator(".value").inner_text() == f"{len(scores):,}"
        said = re.search(r"Expected to be wrong: ([\d.,]+) of ([\d,]+)\.", tile.inner_text())
        assert (said is None) == (len(scores) == 0)
        assert said is None or abs(float(said[1].replace(",", "")) - scores.sum()) <= 0.51
        assert said is None or said[2] == f"{len(scores):,}"
    assert "Labels that were left out, such as those with a low score, are not counted here" in page.inner_text(
        "#summary"
    )


def test_keys_lead_through_the_listed_labels(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    errors, path = pages["planted"]
    page = open_page(path)
    page.locator("#kinds label", has_text="Wrong class").locator("input").focus()
    for box in page.locator("#kinds label").all():
        if "Wrong class" not in box.inner_text():
            box.locator("input").press("Space")
    wanted = [row for row in errors.rows() if row.kind == "swapped"]
    page.locator("#gallery button").first.press("Enter")
    words = page.locator("#viewer-words")
    assert wanted[0].reason in words.inner_text()
    assert words.inner_text().endswith(f"(1 of {len(wanted)})")
    page.keyboard.press("ArrowRight")
    assert wanted[1].reason in words.inner_text()
    whole = page.locator("#viewer-stage svg").get_attribute("viewBox")
    page.locator("#zoom").press("Space")
    assert page.locator("#viewer-stage svg").get_attribute("viewBox") != whole
    assert page.locator("#viewer-stage .k-accused .box").count() == 1
    assert page.locator("#viewer-stage .k-proposed .box").count() == 1
    page.keyboard.press("Escape")
    assert not page.locator("#viewer").is_visible()


def test_boxes_are_those_of_the_data(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    errors, path = pages["planted"]
    page = open_page(path)
    cards: list[dict[str, list[float]]] = page.locator("#gallery .card").evaluate_all(
        """cards => {
          const numbers = (box) => ["x", "y", "width", "height"].map((name) => parseFloat(box.getAttribute(name)));
          return cards.map((card) => Object.fromEntries(
            ["accused", "proposed", "second"].map((kind) => [kind, card.querySelector(`.k-${kind} .box`)])
              .filter(([, box]) => box !== null).map(([kind, box]) => [kind, numbers(box)])));
        }"""
    )

    assert len(cards) >= min(30, len(errors))
    for row, card in zip(errors.rows()[:30], cards, strict=False):
        for kind, expected in (
            ("accused", row.box),
            ("proposed", None if row.kind == "swapped" else row.suggested_box),
        ):
            shown = card.get(kind)
            if expected is not None:
                assert shown is not None
                np.testing.assert_allclose(shown, expected, atol=0.051)
        assert ("accused" not in card) == (row.kind == "overlooked")
        assert ("second" not in card) == (row.kind != "doubled")


def test_attacks_stay_inert(open_page: OpenPage, tmp_path: Path) -> None:
    errors = find_label_errors(attacked(tmp_path))
    assert len(errors)
    path = tmp_path / "page.html"
    write_label_errors(errors, path, title="<script>window.pwned = 1</script>")
    page = open_page(path)
    assert page.title().startswith("<script>window.pwned")
    elements = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert elements == 2  # the data and the program
    for position in range(page.locator("#class option").count()):
        page.locator("#class").select_option(index=position)
    page.locator("#class").select_option(index=0)
    page.locator("#gallery button").first.click()
    for _ in range(min(page.locator("#gallery button").count() - 1, 40)):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    page.locator("#text").fill("<img")
    assert page.evaluate("() => window.pwned") is None
    after = page.evaluate("() => document.querySelectorAll('script, iframe, img, a[href^=http]').length")
    assert after == elements


def test_photographs_are_in_the_page_once(open_page: OpenPage, tmp_path: Path) -> None:
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    errors = _planted()[:20]
    truth = errors.evaluation.ground_truth
    assert truth is not None
    for name, (width, height) in zip(truth.images.names[:], truth.images.sizes.astype(int).tolist(), strict=True):
        image_module.new("RGB", (width, height), "teal").save(tmp_path / name)
    write_label_errors(errors, tmp_path / "page.html", tmp_path)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert text.count("data:image/jpeg") == len(set(errors.image.tolist()))
    page = open_page(tmp_path / "page.html")
    assert page.locator("#gallery svg.photo image").count() == 20
    write_label_errors(errors, tmp_path / "few.html", tmp_path, photographs=3)
    page = open_page(tmp_path / "few.html")
    assert "further images are left out" in page.locator(".notes").inner_text()


# Suspicions need scores: tests/datasets/test_without_scores.py has the refusal.
@pytest.mark.parametrize("case", [case for case in CASES if case != "without scores"])
def test_other_kinds_of_regions(case: str, open_page: OpenPage, tmp_path: Path) -> None:
    errors = find_label_errors(CASES[case]())
    write_label_errors(errors, tmp_path / "page.html", most=60)
    page = open_page(tmp_path / "page.html")
    assert page.locator("html[data-ready]").count() == 1
    assert listed(page) == min(len(errors), 60)


def test_it_prints(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    page = open_page(pages["planted"][1], dark=True)
    page.emulate_media(media="print")
    assert page.evaluate("() => getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#filters").is_visible()


def decided(page: Page) -> str:
    return page.locator("#decided").inner_text()


def test_decisions_by_key_are_kept_undone_and_applied(
    open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]], tmp_path: Path
) -> None:
    errors, path = pages["planted"][0][:12], tmp_path / "page.html"
    write_label_errors(errors, path)
    page, total = open_page(path), len(errors)
    cards = page.locator("#gallery .card")
    assert decided(page) == f"0 of {total} decided"
    page.keyboard.press("y")  # nothing has the focus: the first card gets it, and nothing is decided
    assert decided(page) == f"0 of {total} decided"
    for key in ("y", "N", "u"):
        page.keyboard.press(key)
    assert decided(page) == f"3 of {total} decided: 1 yes, 1 no, 1 unsure"
    assert cards.nth(1).locator(".deciding [aria-pressed=true]").inner_text() == "No"
    assert page.evaluate("() => document.activeElement.closest('.card').dataset.at") == "3"
    page.keyboard.press("z")
    assert decided(page) == f"2 of {total} decided: 1 yes, 1 no, 0 unsure"
    page.keyboard.press("Control+y")
    page.locator("#text").press("u")  # a word, and no decision
    page.locator("#text").fill("")
    assert decided(page) == f"2 of {total} decided: 1 yes, 1 no, 0 unsure"
    # In the large image: a decision leads to the next one, and back again.
    cards.nth(2).locator("button").first.click()
    page.keyboard.press("y")
    assert errors.rows()[3].reason in page.locator("#viewer-words").inner_text()
    page.keyboard.press("z")
    assert errors.rows()[2].reason in page.locator("#viewer-words").inner_text()
    page.keyboard.press("y")
    page.locator("#viewer .deciding button", has_text="Unsure").click()
    page.keyboard.press("Escape")
    # A pressed button takes its decision back.
    cards.nth(5).get_by_role("button", name="No").click()
    cards.nth(5).get_by_role("button", name="No").click()
    after = f"4 of {total} decided: 2 yes, 1 no, 1 unsure"
    assert decided(page) == after
    page.reload()
    assert decided(page) == after
    page.locator("#undecided").check()
    assert listed(page) == total - 4
    with page.expect_download() as started:
        page.locator("#save").click()
    started.value.save_as(tmp_path / "decisions.csv")
    expected = ["yes", "no", "yes", "unsure", *[""] * (total - 4)]
    assert read_decisions(errors, tmp_path / "decisions.csv").tolist() == expected
    # The table is the one of the command, and a further column.
    errors.write_csv(tmp_path / "labels.csv")
    texts = [(tmp_path / name).read_text(encoding="utf-8").splitlines() for name in ("labels.csv", "decisions.csv")]
    for label, row, word in zip(*map(csv.DictReader, texts), expected, strict=True):
        assert row.pop("decision") == word
        assert [*label] == [*row]
        assert all(cell == row[name] or float(cell) == float(row[name]) for name, cell in label.items())


def test_decisions_of_a_page_without_storage(open_page: OpenPage, pages: dict[str, tuple[LabelErrors, Path]]) -> None:
    page = open_page(pages["one"][1])
    assert not page.locator("#lost").is_visible()
    page.add_init_script("Object.defineProperty(window, 'localStorage', { get() { throw new Error('no storage'); } })")
    page.reload()
    page.locator("#gallery button").first.focus()
    page.keyboard.press("y")
    assert decided(page) == "1 of 1 decided: 1 yes, 0 no, 0 unsure"
    assert page.locator("#lost").is_visible()
