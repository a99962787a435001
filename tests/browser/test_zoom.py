"""Zoom and pan of a picture on a page: by wheel, drag, fingers, buttons and keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from numpy.testing import assert_allclose

from ioukit.report import _html
from support.browsing import serious_violations, until

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page

    from support.browsing import OpenPage

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

W, H = 600, 400
TEMPLATE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Zoom</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{{ policy }}"><style>{{ style }}</style>
<script type="application/json" id="data">{{ data }}</script></head>
<body>{% include "shared/theme.html.j2" %}<main><h1>Zoom</h1>
<div id="stage"></div><div id="bar"></div><p id="told">0</p><p id="clicked">0</p><p class="long">below</p></main>
<script>{{ script }}</script></body></html>"""
SCRIPT = """
const stage = byId("stage");
const made = DATA.pictures.map(() => shape("svg", { viewBox: "0 0 600 400", role: "img", "aria-label": "A square" },
  shape("rect", { x: 100, y: 100, width: 50, height: 50, class: "square" })));
stage.append(...made);
const changed = () => { byId("told").textContent = Number(byId("told").textContent) + 1; };
const zoom = startZoom(stage, { keys: document.body, changed });
zoom.show(made, 600, 400);
byId("bar").append(zoomButtons(zoom));
stage.addEventListener("click", () => { byId("clicked").textContent = Number(byId("clicked").textContent) + 1; });
addEventListener("part", () => zoom.to([100, 100, 50, 50], 2));
"""
CSS = """#stage { display: flex; gap: 1rem; max-width: 700px; }
#stage svg { width: 100%; min-width: 0; max-height: 60vh; background: #ddd; }
.long { margin-top: 2000px; }"""


@pytest.fixture
def zoomed(open_page: OpenPage, tmp_path: Path) -> Any:
    def open_it(pictures: int = 1, **options: Any) -> Page:
        text = _html.page(
            TEMPLATE,
            css=_html.style("shared/zoom.css") + CSS,
            js=_html.program("shared/zoom.js").replace("})();\n", SCRIPT + "})();\n"),
            data={"pictures": list(range(pictures))},
        )
        path = tmp_path / "zoom.html"
        path.write_text(text, encoding="utf-8")
        page = open_page(path, **options)
        page.wait_for_timeout(50)
        return page

    return open_it


def view(page: Page, number: int = 0) -> list[float]:
    page.wait_for_timeout(60)  # the events have come
    # And the frame after them is drawn, which on a busy machine takes longer.
    page.evaluate("() => new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(() => drawn())))")
    box = page.locator("#stage svg").nth(number).get_attribute("viewBox")
    assert box is not None
    return [float(part) for part in box.split()]


def centre(page: Page) -> tuple[float, float]:
    place = page.locator("#stage svg").first.bounding_box()
    assert place is not None
    return place["x"] + place["width"] / 2, place["y"] + place["height"] / 2


def square(page: Page) -> tuple[float, float]:
    """The corner of the square on the screen."""
    place = page.locator(".square").first.bounding_box()
    assert place is not None
    return place["x"], place["y"]


def test_the_wheel_zooms_where_the_pointer_is(zoomed: Any) -> None:
    page = zoomed()
    before = square(page)
    page.mouse.move(before[0], before[1])
    page.mouse.wheel(0, -240)
    box = view(page)
    assert_allclose(box[2:], [W / 2, H / 2])
    assert_allclose(square(page), before, atol=1)
    assert page.evaluate("() => scrollY") == 0
    for _ in range(20):
        page.mouse.wheel(0, -240)
    assert 0.5 < view(page)[2] < W / 8  # there is an end
    for _ in range(30):
        page.mouse.wheel(0, 240)
        page.wait_for_timeout(10)
    assert_allclose(view(page), [0, 0, W, H])
    page.mouse.wheel(0, 240)
    page.wait_for_timeout(100)
    assert page.evaluate("() => scrollY") > 0  # the whole is shown: the page scrolls


def test_a_drag_moves_and_is_no_click(zoomed: Any) -> None:
    page = zoomed()
    x, y = centre(page)
    page.mouse.move(x, y)
    page.mouse.wheel(0, -240)
    page.mouse.wheel(0, -240)
    assert_allclose(view(page), [W * 3 / 8, H * 3 / 8, W / 4, H / 4], atol=1)
    before = square(page)
    page.mouse.down()
    page.mouse.move(x + 60, y + 30, steps=4)
    page.mouse.up()
    view(page)
    assert_allclose(square(page), (before[0] + 60, before[1] + 30), atol=1)
    assert page.locator("#clicked").inner_text() == "0"
    page.mouse.click(x, y)
    assert page.locator("#clicked").inner_text() == "1"
    for _ in range(8):
        page.mouse.move(x - 200, y - 150)
        page.mouse.down()
        page.mouse.move(x + 200, y + 150, steps=3)
        page.mouse.up()
    assert_allclose(view(page)[:2], [0, 0], atol=1)  # not beyond the edge
    page.mouse.move(x, y, steps=2)
    assert_allclose(view(page)[:2], [0, 0], atol=1)


def test_double_clicks_zoom(zoomed: Any) -> None:
    page = zoomed()
    x, y = centre(page)
    page.mouse.dblclick(x, y)
    assert_allclose(view(page)[2], W / 1.5)
    page.keyboard.down("Shift")
    page.mouse.dblclick(x, y)
    page.keyboard.up("Shift")
    assert_allclose(view(page), [0, 0, W, H])


def test_keys_zoom_and_move(zoomed: Any) -> None:
    page = zoomed()
    page.keyboard.press("+")
    page.keyboard.press("=")
    assert_allclose(view(page)[2:], [W / 2.25, H / 2.25])
    page.keyboard.press("-")
    before = view(page)
    assert_allclose(before[2:], [W / 1.5, H / 1.5])
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("Shift+ArrowUp")
    after = view(page)
    assert after[0] > before[0]
    assert after[1] < before[1]
    page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Shift+ArrowDown")
    assert_allclose(view(page), before)
    page.keyboard.press("ArrowRight")
    assert_allclose(view(page), before)
    page.keyboard.press("0")
    assert_allclose(view(page), [0, 0, W, H])


def test_buttons_zoom(zoomed: Any) -> None:
    page = zoomed()
    page.get_by_role("button", name="Larger").click()
    assert_allclose(view(page)[2], W / 1.5)
    page.get_by_role("button", name="Smaller").press("Enter")
    assert_allclose(view(page)[2], W)
    page.get_by_role("button", name="Larger").press("Enter")
    page.get_by_role("button", name="whole").press("Enter")
    assert_allclose(view(page), [0, 0, W, H])
    assert serious_violations(page) == []


def test_a_part_fills_the_picture_with_a_margin(zoomed: Any) -> None:
    page = zoomed()
    page.evaluate("() => dispatchEvent(new Event('part'))")
    x, y, w, h = view(page)
    assert_allclose([x + w / 2, y + h / 2], [125, 125], atol=0.01)
    assert_allclose(h, 100, atol=1)
    told = page.locator("#told").inner_text()
    page.evaluate("() => dispatchEvent(new Event('part'))")
    view(page)
    assert page.locator("#told").inner_text() == told  # nothing changed


def test_two_pictures_move_together(zoomed: Any) -> None:
    page = zoomed(pictures=2)
    box = page.locator("#stage svg").nth(1).bounding_box()
    page.mouse.move(box["x"] + box["width"] / 4, box["y"] + box["height"] / 2)
    page.mouse.wheel(0, -240)
    first = view(page)
    assert_allclose(first, [W / 8, H / 4, W / 2, H / 2], atol=1)
    assert_allclose(view(page, 1), first)


def test_two_fingers_zoom_and_one_moves(zoomed: Any) -> None:
    page = zoomed(width=390, touch=True)
    session = page.context.new_cdp_session(page)
    x, y = centre(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        session.send(
            "Input.dispatchTouchEvent",
            {"type": kind, "touchPoints": [{"x": a, "y": b, "id": k} for k, (a, b) in enumerate(points)]},
        )

    touch("touchStart", (x - 30, y), (x + 30, y))
    for apart in (40, 60, 80, 90):
        touch("touchMove", (x - apart, y), (x + apart, y))
    touch("touchEnd")
    box = view(page)
    assert_allclose(box, [W / 3, H / 3, W / 3, H / 3], rtol=0.06)
    assert page.evaluate("() => visualViewport.scale") == 1
    touch("touchStart", (x, y))
    for step in (10, 20, 40):
        touch("touchMove", (x - step, y))
    touch("touchEnd")
    assert view(page)[0] > box[0] + 10
    assert page.evaluate("() => scrollY") == 0


def test_a_window_of_another_size_keeps_the_part(zoomed: Any) -> None:
    page = zoomed()
    page.keyboard.press("+")
    before = view(page)
    page.set_viewport_size({"width": 500, "height": 900})
    assert_allclose(view(page), before)
    until(page, "() => document.documentElement.scrollWidth <= 500")
