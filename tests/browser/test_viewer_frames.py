"""The viewer in frames on other pages, as notebooks show it, and cut-outs without a server."""

from __future__ import annotations

import http.server
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from ioukit import view
from ioukit.viewer.marking.notes import Notes
from ioukit.viewer.viewing import FRAMES
from support.browsing import pictured, serious_violations
from support.report_cases import drawn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from support.viewer_pages import Visits

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")
pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")

EVALUATION = drawn(90, ["car", "cat", "owl"], images=20)


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[Any]:
    """Serves a page at another port of localhost, which is another site than 127.0.0.1; returns its address."""
    handler = partial(_Quiet, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()

        def host(content: str) -> str:
            text = (
                f'<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>notebook</title>{content}'
            )
            (tmp_path / "notebook.html").write_text(text, encoding="utf-8")
            return f"http://localhost:{server.server_address[1]}/notebook.html"

        yield host
        server.shutdown()
        thread.join()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


def opened(browser: Browser, address: str) -> tuple[Page, list[str]]:
    page, complaints = browser.new_page(viewport={"width": 1100, "height": 900}), []
    page.on("console", lambda message: complaints.append(message.text) if message.type != "log" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    return page, complaints


def test_a_frame_on_another_site_works_as_the_page(
    browser: Browser, visits: Visits, hosted: Any, tmp_path: Path
) -> None:
    file = tmp_path / "val.view.db"
    server = visits.serve(EVALUATION, notes=file, frames=FRAMES)
    page, complaints = opened(
        browser, hosted(f'<iframe src="{server.frame_address("outcome=fp")}" width=1000 height=800>')
    )
    frame = page.frame_locator("iframe")
    frame.locator(".cell").first.click()
    frame.locator(".tag-input").fill("framed")
    frame.locator(".tag-input").press("Enter")
    frame.get_by_text("Saved").wait_for()
    frame.locator("#large-close").click()
    frame.locator("#export summary").click()
    with page.expect_download() as download:
        frame.locator(".export-link").nth(2).click()
    assert download.value.suggested_filename.endswith("-filtered.txt")
    assert list(Notes(file).read().tag_counts()) == ["framed"]
    assert complaints == []
    page.close()


def test_a_frame_is_refused_where_it_is_not_asked_for(browser: Browser, visits: Visits, hosted: Any) -> None:
    server = visits.serve(EVALUATION)
    for address in (server.frame_address(), server.address()):
        page, complaints = opened(browser, hosted(f'<iframe src="{address}" width=1000 height=800>'))
        page.wait_for_timeout(500)
        assert page.frame_locator("iframe").locator(".cell").count() == 0
        assert complaints
        page.close()


def test_a_cut_out_is_alone_in_its_frame(browser: Browser, hosted: Any) -> None:
    with view(EVALUATION, static=True, filter={"outcome": "fn"}) as viewer:
        page, complaints = opened(browser, hosted(viewer._repr_html_()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    frame = page.frame_locator("iframe")
    frame.locator(".cut-open").first.wait_for()
    shown = frame.locator(".cut-open").count()
    assert shown == min(24, len(frame.locator("#cards > div").all()))
    first = frame.locator(".cut-open").first
    before = first.bounding_box()
    first.press("Enter")
    after = frame.locator(".cut-open").first.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"]
    frame.get_by_role("button", name="With class and score").click()
    assert frame.locator("text.label").count() > 0
    inside = page.frames[1]
    assert inside.evaluate("() => { try { return parent.document.title } catch (error) { return error.name } }") == (
        "SecurityError"
    )
    assert asked == []
    assert complaints == []
    page.close()


def test_a_cut_out_is_a_page_of_its_own(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "cut.html"
    path.write_text(view({"a": EVALUATION, "b": EVALUATION}, static=True).to_html(), encoding="utf-8")
    page, complaints = opened(browser, path.as_uri())
    assert page.locator("#models button").all_inner_texts() == ["a", "b"]
    page.locator("#models button").nth(1).press("Enter")
    assert serious_violations(page) == []
    pictured(page, tmp_path / "cut.png")
    assert complaints == []
    page.close()
