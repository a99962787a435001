"""A real browser: the system's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from support.browsing import watch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from support.browsing import OpenPage

_NAMES = ("chromium", "chromium-browser", "google-chrome")


# Of a module, not of the session: while Playwright runs, its event loop counts as the running one of this thread, and
# no other test could start one. A browser starts in a second.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, as long as the tests of a file run."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"needs a browser on the PATH: {', '.join(_NAMES)}")
    with sync_api.sync_playwright() as playwright:
        # The sandbox is refused to root, and the pages are our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser) -> Iterator[OpenPage]:
    """Opens a file; the test fails if the console then shows an error or a warning, or anything else is asked for."""
    opened = []

    def open_it(path: Path, *, width: int = 1280, height: int = 900, dark: bool = False, touch: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            reduced_motion="reduce",
        )
        context.set_default_timeout(10_000)
        page, url = context.new_page(), path.resolve().as_uri()
        opened.append((context, watch(page, url)))
        page.goto(url)
        return page

    yield open_it
    for context, _ in opened:
        context.close()
    complaints = [complaint for _, found in opened for complaint in found]
    assert not complaints, "\n".join(complaints)
