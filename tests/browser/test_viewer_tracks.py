"""The frames of a sequence in the viewer: steps, colours and ids of tracks, events, trails, and two trackers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from ioukit import Detections, evaluate
from support.browsing import pictured, serious_violations, until
from support.large_images import details, opened, point_on, spots, title
from support.tracked_scenes import walking
from support.viewer_pages import CASES, names

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.viewer_pages import Visits

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

TRUTH, FIRST, SECOND = walking()


def models(*names: str) -> dict[str, Any]:
    found = {"first": FIRST, "second": SECOND}
    return {name: evaluate(TRUTH, found[name]) for name in names or ("first",)}


def at_frame(number: int) -> int:
    """The position of a frame on the page, where they are ordered as texts."""
    return sorted(f"street/{one}" for one in range(1, 13)).index(f"street/{number}")


def street(visits: Visits, frame: int, look: str = "", data: Any = None, **options: Any) -> Page:
    page = visits.open(
        visits.serve(models() if data is None else data), f"sort=frame#image={at_frame(frame)}{look}", **options
    )
    opened(page)
    settled(page, frame)
    return page


def settled(page: Page, frame: int) -> None:
    """Waits until a frame is there, and what happened in it."""
    until(page, f"() => document.querySelector('#frame-said').textContent.startsWith('{frame} of 12')")
    until(page, "() => document.querySelectorAll('#events li').length > 0")
    page.wait_for_timeout(80)


def sentences(page: Page) -> list[str]:
    listed: list[str] = page.locator("#events li").all_inner_texts()
    return listed


def test_the_order_of_frames_is_offered(visits: Visits) -> None:
    page = visits.open(visits.serve(models()))
    page.locator("#sort").select_option("frame")
    until(page, "() => location.search.includes('sort=frame') && document.querySelector('.cell .card-name')")
    until(page, "() => document.querySelector('.cell .card-name').textContent === 'street/1'")
    assert names(page)[:12] == [f"street/{number}" for number in range(1, 13)]


def test_keys_buttons_and_the_slider_step_through_the_frames(visits: Visits) -> None:
    page = street(visits, 1)
    assert page.locator("#frame-before").is_disabled()
    seen = []
    for key in (".", ".", ",", "."):
        page.keyboard.press(key)
        page.wait_for_timeout(150)
        seen.append(title(page))
    assert seen == ["street/2", "street/3", "street/2", "street/3"]
    page.locator("#frame-next").click()
    settled(page, 4)
    page.locator("#frame").focus()
    page.keyboard.press("ArrowRight")
    settled(page, 5)
    page.keyboard.press("End")
    settled(page, 12)
    assert title(page) == "street/12"
    assert page.locator("#frame-next").is_disabled()
    assert page.locator("#frame").get_attribute("aria-valuetext") == "12 of 12 frames, street"


def test_the_frames_of_a_filter_are_still_all_there(visits: Visits) -> None:
    page = visits.open(visits.serve(models()), f"outcome=fp#image={at_frame(9)}")
    opened(page)
    settled(page, 9)
    page.keyboard.press(",")
    settled(page, 8)
    assert "not among the filtered images" in page.locator("#large-words").inner_text()


def test_playing_goes_to_the_end_and_stops(visits: Visits) -> None:
    page = street(visits, 8)
    page.keyboard.press("p")
    assert page.locator("#frame-play").get_attribute("aria-label") == "Pause (key p)"
    settled(page, 12)
    until(page, "() => document.querySelector('#frame-play').getAttribute('aria-label') === 'Play (key p)'")
    assert title(page) == "street/12"


def test_the_zoomed_part_and_the_chosen_track_stay(visits: Visits) -> None:
    page = street(visits, 2)
    page.mouse.click(*point_on(page, 55, 95))
    assert "Track\n1" in details(page)
    page.keyboard.press("+")
    page.wait_for_timeout(60)
    part = page.locator("#large-stage svg").get_attribute("viewBox")
    page.keyboard.press(".")
    settled(page, 3)
    assert page.locator("#large-stage svg").get_attribute("viewBox") == part
    assert "Track\n1" in details(page)
    assert_allclose(spots(page)[-1], [67, 90, 40, 80])


def test_events_are_told_and_gone_to(visits: Visits) -> None:
    page = street(visits, 1)
    assert sentences(page) == ["Nothing but matches."]
    page.keyboard.press("e")
    settled(page, 7)
    assert sentences(page) == [
        "Object 1 was followed by track 1, now by 2. Track 2 followed object 2 before.",
        "Object 2 was followed by track 2, now by 1. Track 1 followed object 1 before.",
        "Object 3 was followed by track 3, now by 4. Object 3 is followed again, after frame 3.",
    ]
    assert "Track\n2" in details(page)  # the first event is looked at
    assert page.locator("#event-next").is_disabled()
    page.locator("#events button").nth(2).click()
    assert "Track\n4" in details(page)
    page.locator("#event-kind").select_option("miss")
    page.locator("#event-before").click()
    settled(page, 4)
    assert sentences(page) == ["No track follows object 3, from frame 4 to 6."]
    assert "Missed object" in details(page)
    page.locator("#event-kind").select_option("false")
    page.locator("#event-next").click()
    settled(page, 9)
    assert sentences(page) == ["Track 9 follows no object, from frame 9 to 10."]
    page.locator("#large-close").focus()
    page.keyboard.press("w")
    page.wait_for_timeout(200)
    assert title(page) == "street/9"  # there is none before


def test_a_colour_is_that_of_a_track_in_every_frame(visits: Visits) -> None:
    page = street(visits, 9)

    def looks() -> list[tuple[str, str, str]]:
        return [
            tuple(one)
            for one in page.locator("#large-stage .box").evaluate_all(
                "boxes => boxes.map((box) => [box.parentNode.style.getPropertyValue('--hue'),"
                " getComputedStyle(box).stroke, getComputedStyle(box).strokeDasharray])"
            )
        ]

    by_outcome = {stroke for _, stroke, dashes in looks() if dashes == "none"}
    assert len(by_outcome) == 1
    page.get_by_role("button", name="Track", exact=True).click()
    settled(page, 9)
    here = looks()
    assert len({stroke for _, stroke, _ in here}) == 4
    assert [dashes != "none" for *_, dashes in here].count(True) == 1  # the false positive
    page.keyboard.press(".")
    settled(page, 10)
    assert sorted(looks()) == sorted(here)
    labels = page.locator("#large-stage .labels text").all_text_contents()
    assert sorted(labels) == ["#1 person 0.90", "#2 person 0.90", "#4 person 0.90", "#9 person 0.90"]
    page.keyboard.press("c")
    until(page, "() => !location.hash.includes('colour')")


def test_trails_are_where_the_tracks_were(visits: Visits) -> None:
    page = street(visits, 4)

    def lines() -> list[str]:
        found = page.locator("#large-stage .trail path:last-child")
        return sorted(str(line.get_attribute("d")) for line in found.all())

    first = "M570 1300L720 1300L870 1300L1020 1300"
    second = "M2370 1900L2220 1900L2070 1900L1920 1900"
    third = "M1620 450L1620 500L1620 550"
    assert lines() == sorted([first, second, third])
    page.get_by_text("detected", exact=True).click()
    until(page, "() => document.querySelectorAll('.trail.of-object').length === 3")
    page.get_by_text("trails", exact=True).click()
    until(page, "() => !document.querySelector('.trail')")
    assert "trails=off" in page.url
    page.go_back()
    until(page, "() => document.querySelector('.trail')")


def test_two_trackers_stand_side_by_side(visits: Visits) -> None:
    page = street(visits, 4, "&layers=sides", models("first", "second"))
    assert sentences(page) == ["first: No track follows object 3, from frame 4 to 6."]
    page.locator("#event-kind").select_option("miss")
    page.locator("#event-next").click()
    settled(page, 5)
    assert sentences(page) == [
        "second: No track follows object 2.",
        "first: No track follows object 3, from frame 4 to 6.",
    ]
    shown = page.locator(".pane").all()
    assert [pane.locator("figcaption").inner_text() for pane in shown] == ["first", "second"]
    assert [pane.locator(".trail").count() for pane in shown] == [3, 3]
    assert "Track\n2" in details(page)


def test_data_without_track_ids_have_no_frames(visits: Visits) -> None:
    server = visits.serve(CASES["three classes"]())
    page = visits.open(server)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    assert page.locator("#sort option[value=frame]").count() == 0
    page.locator(".cell").first.click()
    opened(page)
    page.keyboard.press(".")
    page.wait_for_timeout(200)
    assert page.locator("#large-frames").count() == 0
    assert page.get_by_role("button", name="Track", exact=True).count() == 0
    assert not [one for one in asked if "/api/sequences" in one or "/api/events" in one]


def test_tracks_are_evaluated_when_a_frame_is_opened(visits: Visits) -> None:
    page = visits.open(visits.serve(models()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    page.wait_for_timeout(500)
    assert not [one for one in asked if "/api/events" in one]


def test_tracks_that_cannot_be_evaluated_are_explained(visits: Visits) -> None:
    twice = np.concatenate([np.arange(len(FIRST)), [0]])
    found = Detections.from_arrays(
        image_ids=np.array([f"street/{one + 1}" for one in range(12)])[FIRST.image_ids[twice] - 1],
        category_ids=FIRST.category_ids[twice],
        boxes=FIRST.boxes[twice],
        scores=FIRST.scores[twice],
        attributes={"track_id": FIRST.attributes["track_id"][twice]},
    )
    visits.expected = ("status of 400",)
    page = visits.open(visits.serve({"first": evaluate(TRUTH, found)}), f"#image={at_frame(1)}")
    opened(page)
    until(page, "() => !document.querySelector('#large-frames .problem').hidden")
    assert (
        "expected each track once in a frame, found track 1 again"
        in page.locator("#large-frames .problem").inner_text()
    )
    page.keyboard.press(".")
    until(page, "() => document.querySelector('#large-title').textContent === 'street/2'")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "height"), [(1280, 900), (390, 844)])
def test_it_fits_and_all_can_use_it(visits: Visits, tmp_path: Path, width: int, height: int, *, dark: bool) -> None:
    page = street(visits, 9, "&colour=track", width=width, height=height, dark=dark)
    assert serious_violations(page) == []
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for name in ("#frame-before", "#frame-next", "#event-next", "#event-kind", "#frame-said", "#trails", "#events"):
        box = page.locator(name).bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
    stage = page.locator("#large-stage").bounding_box()
    assert stage is not None
    assert stage["height"] >= 200
    pictured(page, tmp_path / "frames.png")
