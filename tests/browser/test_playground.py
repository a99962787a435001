"""The playground in a real browser: mouse, touch and keyboard move boxes, and every number follows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from ioukit.overlap.variants import VARIANTS
from ioukit.report.playground import IMAGE_SIZE, PRESETS, SCENES, playground_page
from support.browsing import assert_themes, pictured, serious_violations, until

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage

SIDES = ("x1", "y1", "x2", "y2")
START = {"object": [3.0, 3.0, 9.0, 9.0], "detection": [5.0, 5.0, 11.0, 11.0]}
# What the page begins with where the library has no default.
OPTIONS: dict[str, dict[str, Any]] = {
    "alpha_iou": {"alpha": 3},
    "inner_iou": {"ratio": 0.75},
    "mpdiou": {"image_size": IMAGE_SIZE},
}


@pytest.fixture
def opened(open_page: OpenPage, tmp_path: Path) -> Callable[..., Page]:
    path = tmp_path / "playground.html"
    path.write_text(playground_page(), encoding="utf-8")
    return lambda **options: open_page(path, **options)


def boxes(page: Page) -> dict[str, list[float]]:
    """The boxes as the fields show them."""
    fields = [f"#{box}-{side}" for box in START for side in SIDES]
    values = page.evaluate("fields => fields.map((field) => document.querySelector(field).valueAsNumber)", fields)
    return {"object": values[:4], "detection": values[4:]}


def number(page: Page, selector: str) -> float:
    """What an element says to a program, all digits of it."""
    return float(page.get_attribute(selector, "value") or "")


def assert_all_numbers_are_those_of_the_library(page: Page) -> None:
    found = boxes(page)
    shown = {
        name.rpartition("-")[2]: float(value)
        for name, value in page.evaluate(
            "[...document.querySelectorAll('data')].map((e) => [e.id, e.getAttribute('value')])"
        )
    }
    for variant in VARIANTS:
        function, options = getattr(ioukit, f"elementwise_{variant.name}"), OPTIONS.get(variant.name, {})
        expected = float(function(found["object"], found["detection"], **options))
        assert shown[variant.name] == pytest.approx(expected, abs=1e-9), variant.name
    assert page.inner_text("#iou") == f"{shown['iou']:.3f}"
    shared = float(ioukit.elementwise_intersection(found["object"], found["detection"]))
    first, second = ((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in found.values())
    either, rest = first + second - shared, IMAGE_SIZE[0] * IMAGE_SIZE[1] - first - second + shared
    regions = {"tp": shared, "top": shared, "fp": second - shared, "fn": first - shared, "bottom": either, "tn": rest}
    assert {name: shown[name] for name in regions} == pytest.approx(regions, abs=1e-9)


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


@pytest.mark.parametrize("preset", PRESETS, ids=lambda preset: preset.title)
def test_presets_give_the_values_of_the_library(opened: Callable[..., Page], preset: Any) -> None:
    page = opened()
    chip = page.get_by_role("button", name=preset.title, exact=True)
    chip.click()
    assert boxes(page) == {"object": list(preset.object), "detection": list(preset.detection)}
    assert chip.get_attribute("aria-pressed") == "true"
    assert_all_numbers_are_those_of_the_library(page)
    # Every formula with its numbers, and every picture, can be shown.
    shown = page.evaluate(
        """names => names.map((name) => {
        document.getElementById(`choose-${name}`).click();
        return ["#detail-worked", "main", "#stage"].map((part) => document.querySelector(part).textContent);
    })""",
        [variant.name for variant in VARIANTS],
    )
    for variant, (worked, page_text, picture) in zip(VARIANTS, shown, strict=True):
        result = float(worked.replace("\N{MINUS SIGN}", "-").rpartition("= ")[2])
        assert result == pytest.approx(number(page, f"#value-{variant.name}"), abs=5.1e-4), worked
        assert "NaN" not in page_text + picture


def test_two_presets_have_one_iou_and_another_giou(opened: Callable[..., Page]) -> None:
    page, found = opened(), []
    for title in ("IoU 0.2, in a row", "IoU 0.2, at a corner"):
        page.get_by_role("button", name=title).click()
        found.append((number(page, "#iou"), number(page, "#value-giou")))
    assert found[0] == pytest.approx((0.2, 0.2), abs=1e-12)
    assert found[1] == pytest.approx((0.2, 0.2 - 12 / 72), abs=1e-12)


def test_a_chosen_measure_is_explained_with_its_options(opened: Callable[..., Page]) -> None:
    page = opened()
    for variant in VARIANTS:
        page.click(f"#choose-{variant.name}")
        assert page.input_value("#chosen") == variant.name
        text = page.inner_text(".detail")
        for part in (variant.formula, variant.range, variant.degenerate, variant.gradient, variant.reference):
            assert part in text
        for option in variant.options:
            assert option in page.inner_text("#detail-options")
    page.click("#choose-alpha_iou")
    page.fill("#option-alpha", "2")
    assert number(page, "#value-alpha_iou") == pytest.approx((16 / 56) ** 2, abs=1e-12)
    page.fill("#option-alpha", "0")  # refused: what was right stays
    assert number(page, "#value-alpha_iou") == pytest.approx((16 / 56) ** 2, abs=1e-12)
    page.click("#choose-ioa")
    page.get_by_role("button", name="Contained").click()
    assert number(page, "#value-ioa") == 1
    page.select_option("#option-of", "first")
    assert number(page, "#value-ioa") == pytest.approx(25 / 140)
    program = page.inner_text("#program").replace("elementwise_ioa(object", "result = elementwise_ioa(object")
    names: dict[str, Any] = {}
    exec(program, names)
    assert float(names["result"]) == pytest.approx(25 / 140)


def test_arrows_stand_where_a_loss_has_a_slope(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Apart").click()
    assert page.locator("#stage .arrow").count() == 0  # IoU knows no way
    page.select_option("#chosen", "giou")
    drawn = [path.get_attribute("d") or "" for path in page.locator("#stage .arrow").all()]
    (x0, y0, x1, y1), *_ = (list(map(float, re.findall(r"[-\d.]+", path))) for path in drawn)
    assert x1 < x0 and y1 == y0  # the left side moves towards the object  # noqa: PT018
    page.select_option("#chosen", "intersection")
    assert page.locator("#stage .arrow").count() == 0
    assert page.is_disabled("#descend")


def test_it_learns_until_the_boxes_agree(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="Apart").click()
    page.click("#descend")
    assert boxes(page)["detection"] == list(PRESETS[3].detection)  # IoU has no slope there
    page.select_option("#chosen", "diou")
    before = number(page, "#value-diou")
    page.click("#descend")
    assert number(page, "#value-diou") > before
    page.click("#run")
    assert page.inner_text("#run") == "Stop"
    until(page, f"Number(document.getElementById('value-diou').value) > {before} + 0.1")
    page.click("#run")
    assert page.inner_text("#run") == "Let it learn"
    page.evaluate("for (let k = 0; k < 300; k += 1) document.getElementById('descend').click()")
    assert number(page, "#iou") > 0.9
    until(page, "document.getElementById('announcement').textContent.startsWith('There is no next step')")


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.title)
def test_suppression_steps_as_the_library_decides(opened: Callable[..., Page], scene: Any) -> None:
    page = opened()
    page.get_by_role("button", name=scene.title, exact=True).click()
    decided = ioukit.nms(scene.boxes, scene.scores, iou_threshold=scene.threshold, explain=True)
    rows = page.locator("#nms-rows tr")

    def states() -> dict[int, str]:
        return {int(row.get_attribute("data-box") or ""): row.get_attribute("class") or "" for row in rows.all()}

    assert set(states().values()) == {"waiting"}
    for step, best in enumerate(decided.keep.tolist(), start=1):
        page.click("#nms-step")
        done = set(decided.keep[:step].tolist())
        for box, state in states().items():
            expected = "kept" if box in done else "removed" if int(decided.suppressed_by[box]) in done else "waiting"
            assert state == expected, (step, box)
        assert page.inner_text("#nms-words").startswith(chr(65 + best))
    assert page.is_disabled("#nms-step")
    for box in range(len(scene.boxes)):
        if decided.reason[box] == "overlap":
            text = page.inner_text(f"#nms-rows [data-box='{box}']")
            assert f"removed by {chr(65 + int(decided.suppressed_by[box]))}: IoU {decided.overlap[box]:.3f}" in text
    last = states()
    page.click("#nms-back")
    assert states() != last
    page.click("#nms-step")
    assert states() == last
    page.click("#nms-reset")
    assert set(states().values()) == {"waiting"}


def test_the_threshold_decides_anew(opened: Callable[..., Page]) -> None:
    page = opened()
    page.get_by_role("button", name="A crowd").click()
    for threshold, kept in ((0.6, 2), (0.65, 3), (1.0, 4)):
        page.fill("#nms-threshold", str(threshold))
        while page.is_enabled("#nms-step"):
            page.click("#nms-step")
        assert page.locator("#nms-rows .kept").count() == kept
        expected = ioukit.nms(SCENES[2].boxes, SCENES[2].scores, iou_threshold=threshold)
        assert len(expected) == kept


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
