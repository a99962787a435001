"""Tags, notes, downloads and the map of images of the viewer in a real browser."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.columns import user_columns
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.marking.exporting import export
from ioukit.viewer.marking.noted_marks import Noting
from ioukit.viewer.marking.notes import Notes, Subject
from support.browsing import pictured, serious_violations, until
from support.report_cases import drawn
from support.viewer_pages import query, ready

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.viewer_pages import Visits

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

EVALUATION = drawn(90, ["car", "cat", "owl"], images=20)
HOSTILE = '<img src=x onerror="document.title=1">'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "val.view.db"


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def saved(page: Page) -> None:
    until(page, "() => document.querySelector('.note-said').textContent === 'Saved'")


def is_open(page: Page) -> bool:
    return bool(page.evaluate("() => document.querySelector('#large').open"))


def entry(file: Path, kind: str = "image", at: int = 0) -> tuple[tuple[str, ...], str]:
    """Tags and note of an image or of the marks on it."""
    entries = Notes(file).read().entries
    found = [one for subject, one in entries.items() if subject.kind == kind and subject.image == at + 1]
    return (found[0].tags, found[0].note) if found else ((), "")


def test_an_image_is_tagged_and_noted_by_keys_alone(visits: Visits, file: Path) -> None:
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position")
    page.locator(".cell").first.focus()
    press(page, "Enter")
    page.locator(".tag-input").wait_for()
    press(page, "t")
    until(page, "() => document.activeElement.matches('.tag-input')")
    page.keyboard.type("  wet   road ")
    press(page, "Enter")
    assert page.evaluate("() => !document.activeElement.matches('input, textarea')")  # keys are those of the page again
    press(page, "t")
    page.keyboard.type(f"{HOSTILE}")
    press(page, "Enter")
    assert is_open(page)
    press(page, "n")
    page.keyboard.type("t and n and j are letters here")
    press(page, "Enter")
    page.keyboard.type("second line")
    press(page, "Control+Enter")
    saved(page)
    assert page.locator(".tag-list .chip .name").all_inner_texts() == ["wet road", HOSTILE]
    assert entry(file) == (("wet road", HOSTILE), "t and n and j are letters here\nsecond line")
    assert serious_violations(page) == []
    press(page, "Escape")
    assert is_open(page)
    press(page, "Escape")
    assert not is_open(page)
    until(page, "() => [...document.querySelectorAll('.cell .tag')].some((tag) => tag.textContent === 'wet road')")
    page.get_by_role("heading", name="Tags and notes").click()
    page.get_by_role("checkbox", name="wet road").check()
    until(page, "() => document.querySelector('#said').textContent === '1 of 20 images'")
    assert query(page)["tag"] == ["wet road"]
    assert page.title() != "1"
    page.reload()
    ready(page)
    assert page.locator("#said").inner_text() == "1 of 20 images"


def test_a_region_is_tagged_by_mouse_and_a_tag_is_removed(visits: Visits, file: Path) -> None:
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    page.locator(".mark-list .option").nth(1).click()
    page.locator(".tag-input").fill("occluded")
    page.get_by_role("button", name="Add", exact=True).click()
    saved(page)
    page.locator(".note-text").fill("behind the wall")
    page.locator("#large-title").click()
    saved(page)
    (subject, stored), *others = Notes(file).read().entries.items()
    assert not others
    assert subject.kind in ("object", "detection")
    assert (stored.tags, stored.note) == (("occluded",), "behind the wall")
    # Another region has none of it; this one has it again.
    page.locator(".mark-list .option").nth(0).click()
    assert page.locator(".tag-list .chip").count() == 0
    assert page.locator(".note-text").input_value() == ""
    page.locator(".mark-list .option").nth(1).click()
    assert page.locator(".note-text").input_value() == "behind the wall"
    page.get_by_role("button", name="Remove tag: occluded").click()
    page.locator(".note-text").fill("")
    page.locator("#large-title").click()
    until(page, "() => document.querySelector('.note-said').textContent === 'Saved'")
    page.wait_for_timeout(300)
    assert not Notes(file).read().entries


def test_the_image_of_a_note_that_is_being_written_may_change(visits: Visits, file: Path) -> None:
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    page.locator(".note-text").fill("of the first image")
    page.locator("#large-next").click()
    until(page, "() => document.querySelector('.note-text').value === ''")
    page.locator(".note-text").fill("of the second image")
    page.locator("#large-before").click()
    until(page, "() => document.querySelector('.note-text').value === 'of the first image'")
    press(page, "Escape", "Escape")
    assert (entry(file)[1], entry(file, at=1)[1]) == ("of the first image", "of the second image")


def test_a_note_on_its_way_is_shown_to_who_comes_back(visits: Visits, file: Path) -> None:
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    until(page, "() => document.querySelector('#large-title').textContent !== ''")
    title, held = page.locator("#large-title").text_content(), list[Any]()
    page.route("**/notes*", lambda route: held.append(route) if route.request.method == "POST" else route.continue_())
    page.locator(".note-text").fill("of the first image")
    page.locator("#large-next").click()
    until(page, "() => document.querySelector('.note-text').value === ''")
    page.locator("#large-before").click()
    until(page, f"() => document.querySelector('#large-title').textContent === '{title}'")
    assert page.locator(".note-text").input_value() == "of the first image"
    assert len(held) == 1
    assert not entry(file)[1]
    with page.expect_response(lambda response: response.request is held[0].request):
        held[0].continue_()
    page.unroute("**/notes*")
    page.locator(".note-text").fill("of the first image, written again")
    page.locator("#large-title").click()
    saved(page)
    assert entry(file)[1] == "of the first image, written again"


def test_two_windows_lose_nothing(visits: Visits, file: Path) -> None:
    visits.expected = ("409 (Conflict)",)
    server = visits.serve(EVALUATION, notes=file)
    first, second = (visits.open(server, "sort=position#image=0") for _ in range(2))
    for page, tag in ((first, "a"), (second, "b")):
        page.locator(".tag-input").fill(tag)
        page.locator(".tag-input").press("Enter")
        saved(page)
    assert entry(file)[0] == ("a", "b")
    assert second.locator(".tag-list .chip").count() == 2
    for page, note in ((first, "mine"), (second, "theirs")):
        page.locator(".note-text").fill(note)
        page.locator(".note-text").press("Control+Enter")
        until(page, "() => document.querySelector('.note-said').textContent.match(/aved$/)")
    assert second.locator(".note-problem").inner_text().split("\n")[0].startswith("This note was changed in another")
    assert second.locator(".note-theirs").inner_text() == "mine"
    assert serious_violations(second) == []
    assert entry(file)[1] == "mine"
    second.get_by_role("button", name="Keep mine").click()
    saved(second)
    assert entry(file)[1] == "theirs"
    first.locator(".note-text").fill("again")
    first.locator(".note-text").press("Control+Enter")
    first.get_by_role("button", name="Take the other").click()
    assert first.locator(".note-text").input_value() == "theirs"
    assert entry(file) == (("a", "b"), "theirs")
    # Who leaves without a choice loses neither.
    for page, note in ((first, "one"), (second, "two")):
        page.locator(".note-text").fill(note)
        page.locator(".note-text").press("Control+Enter")
        until(page, "() => document.querySelector('.note-said').textContent.match(/aved$/)")
    second.locator("#large-close").click()
    until(second, "() => !document.querySelector('#large').open")
    for _ in range(200):  # the note is on its way
        if entry(file)[1] != "one":
            break
        second.wait_for_timeout(50)
    assert entry(file)[1] == "one\ntwo"


def test_a_note_is_stored_when_the_page_is_left_at_once(visits: Visits, file: Path) -> None:
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    page.wait_for_load_state("networkidle")
    page.evaluate(
        """() => {
          const note = document.querySelector(".note-text");
          note.value = "a last thought";
          note.dispatchEvent(new Event("input"));
          location.href = "about:blank";
        }"""
    )
    page.wait_for_url("about:blank")
    for _ in range(200):
        if entry(file)[1]:
            break
        time.sleep(0.05)
    assert entry(file)[1] == "a last thought"


def test_two_notes_that_are_too_long_together_are_cut_with_a_word(visits: Visits, file: Path) -> None:
    visits.expected = ("409 (Conflict)",)
    server = visits.serve(EVALUATION, notes=file)
    first, second = (visits.open(server, "sort=position#image=0") for _ in range(2))
    for page, sign in ((first, "a"), (second, "b")):
        page.locator(".note-text").fill(sign * 6000)
        page.locator(".note-text").press("Control+Enter")
        until(page, "() => document.querySelector('.note-said').textContent.match(/aved$/)")
    second.locator("#large-close").click()
    until(second, "() => !document.querySelector('#problem').hidden")
    assert "the last 2,001 characters are left out" in second.locator("#problem-words").inner_text()
    second.wait_for_load_state("networkidle")
    assert entry(file)[1] == "a" * 6000 + "\n" + "b" * 3999


def test_a_file_that_cannot_be_used_is_said_and_the_page_works(visits: Visits, file: Path) -> None:
    file.write_text("no database")
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    until(page, "() => document.querySelector('.note-said').textContent.includes('not a database')")
    assert page.locator(".tag-input").is_disabled()
    assert page.locator(".note-text").is_disabled()
    press(page, "t", "n", "ArrowRight")
    until(page, "() => location.hash === '#image=1'")
    assert file.read_text() == "no database"


def test_what_is_not_stored_stays_in_the_field(visits: Visits, file: Path) -> None:
    visits.expected = ("400 (Bad Request)",)
    page = visits.open(visits.serve(EVALUATION, notes=file), "sort=position#image=0")
    page.wait_for_load_state("networkidle")
    file.write_text("broken meanwhile")
    page.locator(".note-text").fill("a long thought")
    page.locator(".note-text").press("Control+Enter")
    until(page, "() => !document.querySelector('.note-problem').hidden")
    assert "not a database" in page.locator(".note-problem").inner_text()
    assert page.locator(".note-text").input_value() == "a long thought"
    file.unlink()
    page.get_by_role("button", name="Try again").click()
    saved(page)
    assert entry(file)[1] == "a long thought"


def test_downloads_are_those_of_the_library(visits: Visits, file: Path) -> None:
    Notes(file).write(Subject("image", 3), ["t"], "")
    page = visits.open(visits.serve(EVALUATION, notes=file), "class=cat&outcome=fp")
    assert EVALUATION.ground_truth is not None
    shown = Collection.of(EVALUATION.ground_truth, {"detections": EVALUATION})
    noting, chosen = Noting(shown, Notes(file)), Filter(classes=("cat",), outcome=("fp",))
    found = answer(shown, chosen)
    page.locator("#export summary").focus()
    press(page, "Enter")
    said = page.locator(".export-said").inner_text()
    assert said == f"{len(found.order)} images, {found.marks.sum()} regions of detections"
    assert serious_violations(page) == []
    for of, name in (("filtered", "Shown"), ("tagged", "Tagged or noted")):
        page.get_by_role("button", name=name, exact=True).press("Enter")
        for number, form in enumerate(("csv", "coco", "ids")):
            with page.expect_download() as download:
                page.locator(".export-link").nth(number).press("Enter")
            made = export(shown, noting, chosen, form, of)
            assert download.value.suggested_filename == made.name
            with open(download.value.path(), "rb") as stored:
                assert stored.read() == b"".join(made.chunks), (form, of)
    press(page, "Escape")
    assert page.locator("#export").get_attribute("open") is None


# ---- The map.


def table() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    truth = EVALUATION.ground_truth
    assert truth is not None
    ids = truth.images.labels
    return {"image_id": ids, "clip": rng.normal(size=(len(ids), 6)), "speed": rng.uniform(0, 9, len(ids))}


def test_a_rectangle_on_the_map_chooses_its_images(visits: Visits, tmp_path: Path) -> None:
    columns = table()
    page = visits.open(visits.serve(EVALUATION, table=columns))
    canvas = page.locator(".scatter-plot")
    canvas.scroll_into_view_if_needed()
    until(page, "() => document.querySelector('.scatter [role=status]').textContent === '20 of 20 images with a place'")
    pictured(page, tmp_path / "map.png")
    box = canvas.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 10, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] - 10, steps=4)
    page.mouse.up()
    ready(page)
    chosen = query(page)
    truth = EVALUATION.ground_truth
    assert truth is not None
    x, y = (value.values for value in user_columns(columns, truth).values[:2])
    inside = np.ones(len(x), np.bool_)
    for values, key in ((x, "column.clip.x"), (y, "column.clip.y")):
        low, high = map(float, chosen[key][0].split(".."))
        inside &= (values >= low) & (values <= high)
    assert 0 < inside.sum() < 20
    assert page.locator("#said").inner_text() == f"{inside.sum()} of 20 images"
    assert page.locator(".scatter [role=status]").inner_text() == f"{inside.sum()} of 20 images with a place"
    # The same by keys.
    page.locator(".scatter").get_by_role("button", name="Clear").press("Enter")
    ready(page)
    assert "column.clip.x" not in query(page)
    page.get_by_label("From, x").fill("0")
    page.get_by_label("From, x").press("Tab")
    ready(page)
    assert page.locator("#said").inner_text() == f"{(x >= 0).sum()} of 20 images"
    assert serious_violations(page) == []


def test_a_click_on_the_map_opens_an_image(visits: Visits) -> None:
    page = visits.open(visits.serve(EVALUATION, table={"image_id": [7], "place": np.array([[3.0, 4.0]])}))
    canvas = page.locator(".scatter-plot")
    canvas.scroll_into_view_if_needed()
    until(page, "() => document.querySelector('.scatter [role=status]').textContent.startsWith('1 of 1 image')")
    canvas.click()
    until(page, "() => document.querySelector('#large').open")
    assert page.url.endswith("#image=6")


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone(visits: Visits, file: Path, dark: bool) -> None:
    page = visits.open(
        visits.serve(EVALUATION, notes=file, table=table()), "sort=position#image=0", width=390, dark=dark
    )
    page.locator(".tag-input").fill("phone")
    page.locator(".tag-input").press("Enter")
    saved(page)
    assert serious_violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    page.locator("#large-close").click()
    page.locator("#export summary").click()
    assert page.evaluate("() => document.querySelector('#export .menu-sheet').getBoundingClientRect().left >= 0")
    assert serious_violations(page) == []
