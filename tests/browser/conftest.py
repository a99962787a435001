"""A real browser: the system's Chromium without a window, driven by Playwright."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from ioukit.report import write_report
from ioukit.report.playground import playground_page
from support.browsing import watch
from support.report_cases import CASES

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from ioukit import Evaluation
    from support.browsing import OpenPage
    from support.viewer_pages import Visits

# The first has no windows around the pages, and takes two thirds of the processor's time.
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
# A third of what the others take, and no test looks at it: the lists below each address bar, which are pages too, and a
# process in reserve. Of an option given twice the last counts, so names of Playwright's are here again.
_WITHOUT = (
    "HttpsUpgrades", "MediaRouter", "OptimizationHints", "PaintHolding", "SpareRendererForSitePerProcess",
    "ThirdPartyStoragePartitioning", "WebUIOmniboxAimPopup", "WebUIOmniboxPopup",
)  # fmt: skip


@pytest.fixture(scope="session")
def started() -> Iterator[tuple[Browser, AbstractEventLoop]]:
    """Chromium, started once, and the event loop of Playwright, which is put aside."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="needs Playwright: pip install 'ioukit[test]'")
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        pytest.skip(f"needs a browser on the PATH: {', '.join(_NAMES)}")
    with sync_api.sync_playwright() as playwright:
        # The sandbox is refused to root, and the pages are our own.
        options = ["--no-sandbox", "--disable-gpu", f"--disable-features={','.join(_WITHOUT)}"]
        browser = playwright.chromium.launch(executable_path=path, args=options)
        loop = asyncio.get_running_loop()
        asyncio._set_running_loop(None)
        yield browser, loop
        asyncio._set_running_loop(loop)
        browser.close()


@pytest.fixture(scope="module")
def browser(started: tuple[Browser, AbstractEventLoop]) -> Iterator[Browser]:
    """Chromium for the tests of a file.

    While Playwright runs, its event loop counts as the running one of this thread, and no other test could start one.
    """
    browser, loop = started
    asyncio._set_running_loop(loop)
    yield browser
    asyncio._set_running_loop(None)


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


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Evaluation, Path]]:
    """A report of each case, written once: the evaluation and the file."""
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[report]'")
    folder, made = tmp_path_factory.mktemp("reports"), {}
    for number, (name, make) in enumerate(CASES.items()):
        evaluation, path = make(), folder / f"{number}.html"
        write_report(evaluation, path)
        made[name] = evaluation, path
    return made


@pytest.fixture
def opened(open_page: OpenPage, tmp_path: Path) -> Callable[..., Page]:
    """Opens the playground."""
    path = tmp_path / "playground.html"
    path.write_text(playground_page(), encoding="utf-8")
    return lambda **options: open_page(path, **options)


@pytest.fixture
def visits(browser: Browser) -> Iterator[Visits]:
    """Starts servers of the viewer and opens their pages, which must not complain."""
    for module in ("jinja2", "uvicorn"):
        pytest.importorskip(module, reason=f"needs {module}: pip install 'ioukit[view]'")
    from support.viewer_pages import Visits  # noqa: PLC0415 - after the checks

    made = Visits(browser)
    yield made
    made.close()
