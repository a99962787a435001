"""The playground in a real browser: mouse, touch and keyboard move boxes, and every number follows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ioukit.overlap.variants import VARIANTS
from ioukit.report.playground import IMAGE_SIZE, playground_page
from support.browsing import assert_themes, pictured, serious_violations, until
from support.playground_pages import START, assert_all_numbers_are_those_of_the_library, boxes

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage


def on_screen(page: Page, x: float, y: float) -> tuple[float, float]:
    """Where a point of the picture lies."""
    page.locator("#stage").scroll_into_view_if_needed()
    place = page.locator("#stage").bounding_box()
    assert place
    unit = place["width"] / IMAGE_SIZE[0]
    return place["x"] + x * unit, place["y"] + y * unit


def drag(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    page.mouse.move(*on_screen(page, *start))
    page.mouse.down()
    page.mouse.move(*on_screen(page, *end), steps=4)
    page.mouse.up()


def swipe(page: Page, start: tuple[float, float], end: tuple[float, float]) -> None:
    session = page.context.new_cdp_session(page)
    points = [on_screen(page, *point) for point in (start, ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2), end)]
    for kind, point in zip(("touchStart", "touchMove", "touchMove"), points, strict=True):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": point[0], "y": point[1]}]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_it_opens_with_sixteen_of_fifty_six(opened: Callable[..., Page]) -> None:
    page = opened()
    assert page.title().startswith("What is IoU?")
    assert boxes(page) == START
    equation = page.inner_text(".equation").split()
    assert equation[-4:] == ["16", "56", "=", "0.286"]
    assert page.inner_text("#detail-worked") == "= 16 / 56 = 0.286"
    assert_all_numbers_are_those_of_the_library(page)
    assert page.locator("#stage .arrow").count() == 4


@pytest.mark.parametrize(
    ("start", "end", "box", "expected"),
    [
        ((10, 10), (12, 9), "detection", [7, 4, 13, 10]),  # its inside
        ((4, 4), (3, 5.5), "object", [2, 4.5, 8, 10.5]),
        ((11, 11), (14, 8), "detection", [5, 5, 14, 8]),  # a corner
        ((3, 3), (1, 2), "object", [1, 2, 9, 9]),
        ((11, 9.9), (16.2, 3), "detection", [5, 5, 16, 11]),  # a side goes one way
        ((5, 8), (15, 8), "detection", [11, 5, 11, 11]),  # not beyond the opposite side
        ((10, 10), (40, -20), "detection", [14, 0, 20, 6]),  # not out of the picture
    ],
)
def test_the_mouse_moves_and_resizes(
    opened: Callable[..., Page], start: tuple[float, float], end: tuple[float, float], box: str, expected: list[float]
) -> None:
    page = opened()
    drag(page, start, end)
    assert boxes(page) == {**START, box: expected}
    assert_all_numbers_are_those_of_the_library(page)


def test_without_snapping_boxes_lie_anywhere(opened: Callable[..., Page]) -> None:
    page = opened()
    page.uncheck("#snap")
    drag(page, (10, 10), (11.27, 9.61))
    moved = boxes(page)["detection"]
    assert moved[0] == pytest.approx(6.27, abs=0.03)
    assert moved[0] * 2 != round(moved[0] * 2)
    assert_all_numbers_are_those_of_the_library(page)


def test_a_finger_moves_and_resizes(opened: Callable[..., Page]) -> None:
    page = opened(width=390, height=800, touch=True)
    swipe(page, (9.9, 7), (12.9, 6))
    assert boxes(page) == {**START, "detection": [8, 4, 14, 10]}
    swipe(page, (14.3, 10.3), (16.3, 12.3))  # beside a corner: a finger is no needle
    assert boxes(page) == {**START, "detection": [8, 4, 16, 12]}
    assert_all_numbers_are_those_of_the_library(page)
    before = page.evaluate("scrollY")
    swipe(page, (18, 13), (18, 3))  # beside the boxes it scrolls, as everywhere
    assert boxes(page) == {**START, "detection": [8, 4, 16, 12]}
    until(page, f"scrollY > {before}")


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def tab_to(page: Page, name: str) -> None:
    """Goes there by the keyboard alone."""
    for _ in range(90):
        if focused(page) == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not reach {name}")


def test_the_keyboard_alone_moves_and_resizes(opened: Callable[..., Page]) -> None:
    page = opened()
    tab_to(page, "detection-box")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "Shift+ArrowDown", "Shift+ArrowLeft"):
        page.keyboard.press(key)
    assert boxes(page) == {**START, "detection": [6, 4.5, 11.5, 11]}
    assert_all_numbers_are_those_of_the_library(page)
    page.keyboard.press("Tab")
    assert focused(page) == "detection-top-left"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowDown")
    assert boxes(page) == {**START, "detection": [5.5, 5, 11.5, 11]}
    tab_to(page, "object-bottom-right")
    page.keyboard.press("ArrowRight")
    assert boxes(page)["object"] == [3, 3, 9.5, 9]
    assert_all_numbers_are_those_of_the_library(page)
    until(page, "document.getElementById('announcement').textContent.startsWith('IoU 0.')")
    label = page.get_attribute("#object-box", "aria-label")
    assert label == "object, from 3, 3 to 9.5, 9"


def test_the_keyboard_alone_does_everything_else(opened: Callable[..., Page]) -> None:
    page = opened()
    page.locator("body").press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    while focused(page) != "object-box":
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "Wide and tall":
            page.keyboard.press("Enter")
    assert boxes(page) == {"object": [4, 5, 16, 9], "detection": [8, 1, 12, 13]}
    tab_to(page, "chosen")
    page.keyboard.press("g")
    assert page.input_value("#chosen") in {"iou", "giou"}  # a list may find what starts with a letter
    page.select_option("#chosen", "giou")
    tab_to(page, "descend")
    page.keyboard.press("Space")
    assert boxes(page)["detection"] != [8, 1, 12, 13]
    tab_to(page, "snap")
    page.keyboard.press("Space")
    assert not page.is_checked("#snap")
    tab_to(page, "object-x1")
    page.keyboard.press("Control+a")
    page.keyboard.type("2.75")
    assert boxes(page)["object"] == [2.75, 5, 16, 9]
    assert_all_numbers_are_those_of_the_library(page)
    tab_to(page, "choose-ciou")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail-title") == "CIoU"
    tab_to(page, "nms-step")
    page.keyboard.press("Enter")
    assert page.locator("#nms-rows .kept").count() == 1
    tab_to(page, "nms-threshold")
    page.keyboard.press("ArrowRight")
    assert page.inner_text("#nms-threshold-value") == "0.51"


def test_fields_refuse_what_is_no_box_and_then_move_nothing(opened: Callable[..., Page]) -> None:
    page = opened()
    for text, wrong in (("12", True), ("", True), ("-1", True), ("4.5", False)):
        page.fill("#detection-x1", text)
        assert page.get_attribute("#detection-x1", "aria-invalid") == str(wrong).lower(), text
    page.fill("#detection-x1", "30")
    page.locator("#detection-x1").blur()
    assert boxes(page) == {**START, "detection": [4.5, 5, 11, 11]}  # the last that was right
    assert page.get_attribute("#detection-x1", "aria-invalid") == "false"
    assert_all_numbers_are_those_of_the_library(page)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_axe_finds_nothing_serious(opened: Callable[..., Page], dark: bool) -> None:
    page = opened(dark=dark)
    page.click("#nms-step")
    page.click("#choose-nwd")
    assert serious_violations(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert serious_violations(page) == []


@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (1280, 900), (1920, 1080)])
def test_nothing_is_wider_than_the_screen(opened: Callable[..., Page], tmp_path: Path, width: int, height: int) -> None:
    page = opened(width=width, height=height, touch=width < 800)
    for variant in VARIANTS:
        page.select_option("#chosen", variant.name)
        assert page.evaluate("document.documentElement.scrollWidth") == width, variant.name
    stage = page.locator("#stage").bounding_box()
    assert stage
    assert stage["width"] > 0.55 * min(width, 1240)
    assert stage["width"] / stage["height"] == pytest.approx(IMAGE_SIZE[0] / IMAGE_SIZE[1], rel=0.01)
    pictured(page, tmp_path / "page.png")


def test_light_and_dark_follow_the_system_and_the_switch(open_page: OpenPage, tmp_path: Path) -> None:
    path = tmp_path / "playground.html"
    path.write_text(playground_page(), encoding="utf-8")
    assert_themes(open_page, path)


def test_it_prints_without_what_only_a_screen_needs(opened: Callable[..., Page]) -> None:
    page = opened()
    page.emulate_media(media="print")
    assert page.locator("#stage").is_visible()
    assert page.locator("#values").is_visible()
    assert not page.locator("#descend").is_visible()
    assert not page.locator("#presets").is_visible()
