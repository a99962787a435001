"""Checks of pages in the browser."""

from __future__ import annotations

import base64
import importlib.resources
import io
import time
from typing import TYPE_CHECKING, Any, Protocol

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import ConsoleMessage, Page, Request

__all__ = ["OpenPage", "assert_themes", "pictured", "serious_violations", "until", "watch"]


class OpenPage(Protocol):
    """The fixture `open_page`."""

    def __call__(
        self, path: Path, *, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False
    ) -> Page: ...


def watch(page: Page, url: str, site: str | None = None) -> list[str]:
    """A list that fills with complaints about a page at `url`: errors, warnings, and requests for other addresses.

    A page of a server may ask for everything of its own `site`, such as `http://127.0.0.1:8421/`.
    """
    complaints: list[str] = []

    def on_request(request: Request) -> None:
        own = request.url.partition("#")[0].partition("?")[0] == url or (
            site is not None and request.url.startswith(site)
        )
        if not own and not request.url.startswith(("data:", "blob:")):
            complaints.append(f"asked for {request.url}")

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            complaints.append(f"console {message.type}: {message.text}")

    page.on("request", on_request)
    page.on("console", on_console)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))
    return complaints


def until(page: Page, expression: str, *, seconds: float = 20) -> None:
    """Waits until an expression of JavaScript is true. Until then it may throw, such as about an element to come.

    Playwright's `wait_for_function` evaluates inside of the page again and again, which the pages' policy forbids.
    """
    from playwright.sync_api import Error  # noqa: PLC0415 - only the tests that open a page need Playwright

    end = time.monotonic() + seconds
    while True:
        try:
            if page.evaluate(expression):
                return
            why = "not true"
        except Error as error:
            why = error.message
        assert time.monotonic() < end, f"after {seconds:g} s still {why}: {expression}"
        page.wait_for_timeout(15)


def serious_violations(page: Page) -> list[str]:
    """Serious and critical findings of axe-core, and those about landmarks: the rule, its help, and the elements.

    axe-core is evaluated and not added as an element, because the page's content security policy would refuse it.
    """
    pytest.importorskip("axe_playwright_python", reason="needs axe-core: pip install 'ioukit[test]'")
    axe = importlib.resources.files("axe_playwright_python") / "axe.min.js"
    page.evaluate(axe.read_text(encoding="utf-8"))
    # Without selectors, and without what else it found about thousands of elements: a quarter of the time is saved.
    found: list[dict[str, Any]] = page.evaluate(
        "() => axe.run({ resultTypes: ['violations'], selectors: false }).then(results => results.violations)"
    )
    return [
        f"{violation['id']} ({violation['impact']}): {violation['help']}: {node['html']}"
        for violation in found
        if violation["impact"] in ("serious", "critical") or violation["id"].startswith("landmark")
        for node in violation["nodes"]
    ]


def pictured(page: Page, path: Path) -> None:
    """Takes a picture of the whole page, which must be as wide as the screen and must not be empty."""
    image_module = pytest.importorskip("PIL.Image", reason="needs Pillow: pip install 'ioukit[report]'")
    image = image_module.open(io.BytesIO(_screenshot(page, path))).convert("L")
    assert page.viewport_size is not None
    assert image.width == page.viewport_size["width"]
    # On an empty page all pixels have the colour of the background; on a page of text, more than half of them.
    histogram = image.histogram()
    assert 0.02 < 1 - max(histogram) / sum(histogram) < 0.9, path


def _screenshot(page: Page, path: Path, *, attempts: int = 3) -> bytes:
    """A picture of the whole page.

    Playwright's own screenshot has the same pixels and takes half as much again: it cannot ask for a file that is
    packed fast instead of small. On a busy machine Chromium now and then refuses a picture of a page that is in order,
    and takes the same picture a moment later. Only this refusal is tried again. Each other error is an error of the
    test.
    """
    from playwright.sync_api import Error  # noqa: PLC0415 - only the tests that open a page need Playwright

    session = page.context.new_cdp_session(page)
    try:
        whole = session.send("Page.getLayoutMetrics")["cssContentSize"]
        wanted = {"clip": {**whole, "scale": 1}, "captureBeyondViewport": True, "optimizeForSpeed": True}
        picture = base64.b64decode(session.send("Page.captureScreenshot", wanted)["data"])
    except Error as error:
        if attempts == 1 or "Unable to capture screenshot" not in error.message:
            raise
        page.wait_for_timeout(500)
        return _screenshot(page, path, attempts=attempts - 1)
    finally:
        session.detach()
    path.write_bytes(picture)
    return picture


def assert_themes(open_page: OpenPage, path: Path) -> None:
    """The theme follows the system, or the switch if it is set."""

    def brightness(page: Page) -> int:
        colour = str(page.evaluate("() => getComputedStyle(document.body).backgroundColor"))
        return int(colour.removeprefix("rgb(").partition(",")[0])

    for dark in (False, True):
        page = open_page(path, dark=dark)
        assert (brightness(page) < 50) == dark
        for name, expected in (("Light", False), ("Dark", True), ("Auto", dark)):
            button = page.get_by_role("button", name=name, exact=True)
            button.press("Enter")
            assert (brightness(page) < 50) == expected, name
            assert button.get_attribute("aria-pressed") == "true"
