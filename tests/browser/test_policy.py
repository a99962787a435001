"""What the tests of all pages stand on: the policy stops what slips in, and what is wrong is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.report import _html
from support.browsing import serious_violations, watch

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser

    from support.browsing import OpenPage

TEMPLATE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>before</title>
<meta http-equiv="Content-Security-Policy" content="{{ policy }}"><style>{{ style }}</style></head>
<body><main><h1>A page</h1><p id="text">{{ words }}</p></main>
<script type="application/json" id="data">{{ data }}</script><script>{{ script }}</script>
"""
SLIPPED_IN = """<script>document.title = "bad"</script><img src="http://localhost:9/x.png" onerror="document.title = 0">
<p style="color: red" onclick="document.title = 'bad'">click</p></body></html>"""
SCRIPT = "document.title = JSON.parse(document.getElementById('data').textContent).title;"


def written(folder: Path, *, css: str = "p { color: black }", rest: str = "</body></html>") -> Path:
    words = "<b onclick='document.title = 1'>bold</b>"
    path = folder / "page.html"
    path.write_text(_html.page(TEMPLATE + rest, css=css, js=SCRIPT, data={"title": "</script>"}, words=words), "utf-8")
    return path


def test_a_sound_page_runs_its_script_and_escapes_the_rest(open_page: OpenPage, tmp_path: Path) -> None:
    page = open_page(written(tmp_path))
    assert page.title() == "</script>"
    assert page.locator("#text").inner_text() == "<b onclick='document.title = 1'>bold</b>"
    assert serious_violations(page) == []


def test_what_slips_in_stays_inert_and_is_seen(browser: Browser, tmp_path: Path) -> None:
    path = written(tmp_path, rest=SLIPPED_IN)
    page = browser.new_page()
    complaints = watch(page, path.as_uri())
    page.goto(path.as_uri())
    text = page.get_by_text("click", exact=True)
    text.click()
    assert page.title() == "</script>"
    assert text.evaluate("element => getComputedStyle(element).color") == "rgb(0, 0, 0)"
    said = "\n".join(complaints)
    for part in ("http://localhost:9/x.png", "inline script", "inline style", "inline event handler"):
        assert part in said, part
    page.close()


def test_axe_sees_grey_on_white(open_page: OpenPage, tmp_path: Path) -> None:
    (violation,) = serious_violations(open_page(written(tmp_path, css="p { color: #ddd }")))
    assert violation.startswith("color-contrast (serious): ")
