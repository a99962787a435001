"""Opens every page of a built site in Chromium and says what is wrong: python docs/build/site/audit.py FOLDER.

- On a phone (360 and 390 pixels wide), no page scrolls sideways as a whole, no text is cut, what scrolls within a page
  shows it, and figures are large enough to read (`layout.js`).
- axe-core finds nothing, in the light and in the dark. It looks at the first 600 elements of an article: the pages of
  the reference repeat the same few parts up to thirty thousand times. ``--whole`` looks at all of them; it takes long.
- No page asks another server for anything, and none has errors.
- The search finds a function, over a server and from the disk, and all that `search.py` lists.

Without a browser, it says so and checks nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import functools
import http.server
import importlib.resources
import importlib.util
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import search

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PHONES = (360, 390)
SIZE_OF_A_DESK = {"width": 1280, "height": 800}
LAYOUT = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
LOOKED_AT = 600
# A heading that is cut through goes as a whole.
SHORTENED = """count => {
  const cut = [...document.querySelectorAll("article *")].slice(count);
  cut[0]?.closest("h1, h2, h3, h4, h5, h6")?.remove();
  cut.forEach(element => element.remove());
}"""
SEARCHED = "pairwise_iou"
PATIENCE = 600_000  # milliseconds: the machine may be busy, and the longest page takes long


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a folder, served on this machine."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


async def open_page(browser: Browser, site: str, address: str, faults: list[str], **options: Any) -> Page:
    """A page of the site. Its errors, and its requests to others, which are refused, become faults."""
    context = await browser.new_context(**options)
    context.set_default_timeout(PATIENCE)

    async def settle(route: Any) -> None:
        if route.request.url.startswith((site, "data:", "blob:")):
            await route.continue_()
        else:
            faults.append(f"asks for {route.request.url}")
            await route.abort()

    await context.route("**/*", settle)
    page = await context.new_page()
    page.on(
        "console", lambda line: faults.append(f"console: {line.text}") if line.type in {"error", "warning"} else None
    )
    page.on("pageerror", lambda error: faults.append(f"error: {error}"))
    await page.goto(site + address)
    return page


async def axe(page: Page, script: str, **options: Any) -> list[str]:
    """What axe-core finds: the rule, its help, and one element that breaks it."""
    await page.evaluate(script)
    found = await page.evaluate("options => axe.run(options).then(results => results.violations)", options)
    return [
        f"axe, {one['id']}: {one['help']}, {len(one['nodes'])} times: {one['nodes'][0]['html'][:200]}" for one in found
    ]


async def faults_of(browser: Browser, site: str, address: str, script: str, *, whole: bool) -> list[str]:
    """What is wrong with a page."""
    faults: list[str] = []
    phone = {"width": PHONES[0], "height": 800}
    page = await open_page(
        browser, site, address, faults, viewport=phone, reduced_motion="reduce", color_scheme="light"
    )
    for width in PHONES:
        await page.set_viewport_size(phone | {"width": width})
        faults += [f"{width} pixels: {fault}" for fault in await page.evaluate(LAYOUT)]
    if not whole:
        await page.evaluate(SHORTENED, LOOKED_AT)
    faults += [f"light, phone: {fault}" for fault in await axe(page, script)]
    await page.set_viewport_size(SIZE_OF_A_DESK)
    await page.emulate_media(color_scheme="dark")
    faults += [f"dark, desk: {fault}" for fault in await axe(page, script, runOnly=["color-contrast"])]
    await page.context.close()
    return faults


async def faults_of_search(browser: Browser, site: str) -> list[str]:
    """What is wrong with the search."""
    from playwright.async_api import TimeoutError as TooLate  # noqa: PLC0415

    faults: list[str] = []
    page = await open_page(browser, site, "index.html", faults)
    await page.keyboard.press("/")
    await page.keyboard.type(SEARCHED)
    try:
        await page.wait_for_selector(f".md-search-result__link[href*='{SEARCHED}']")
    except TooLate:
        faults.append(f"the search does not find {SEARCHED}")
    await page.context.close()
    return faults


async def faults_of_answers(browser: Browser, site: str, folder: Path) -> list[str]:
    """What the search does not find, and what it writes into the console."""
    faults: list[str] = []
    right = search.right_pages(folder)
    page = await open_page(browser, site, "index.html", faults)
    found = await page.evaluate(search.ASK, [*right, *search.PASTED])
    await page.context.close()
    return faults + search.faults(right, found)


async def audit(folder: Path, pages: list[str], chromium: str, *, whole: bool) -> int:
    """Writes what is wrong with pages of a site, and with its search; returns the number of faults."""
    from playwright.async_api import TimeoutError as TooLate  # noqa: PLC0415
    from playwright.async_api import async_playwright  # noqa: PLC0415

    script = (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    count = 0

    def report(where: str, faults: list[str]) -> None:
        nonlocal count
        for fault in dict.fromkeys(faults):
            sys.stdout.write(f"{where}: {fault}\n")
            sys.stdout.flush()
            count += 1

    async def work(browser: Browser, site: str, waiting: list[str]) -> None:
        while waiting:
            address = waiting.pop()
            try:
                report(address, await faults_of(browser, site, address, script, whole=whole))
            except TooLate as late:
                report(address, [str(late).partition("\n")[0]])

    with served(folder) as site:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            waiting = pages[::-1]
            await asyncio.gather(*(work(browser, site, waiting) for _ in range(os.cpu_count() or 1)))
            for where, place in (("over a server", site), ("from the disk", f"{folder.as_uri()}/")):
                report(f"search {where}", await faults_of_search(browser, place))
            report("search", await faults_of_answers(browser, site, folder))
            await browser.close()
    return count


def main() -> int:
    """The exit code: 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description="Checks a built site in the browser.")
    parser.add_argument("folder", type=Path, help="what `mkdocs build` wrote")
    parser.add_argument("pages", nargs="*", help="such as reference/overlap.html; all by default")
    parser.add_argument("--whole", action="store_true", help="axe-core looks at all elements")
    asked = parser.parse_args()
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if chromium is None or not all(map(importlib.util.find_spec, ("playwright", "axe_playwright_python"))):
        sys.stdout.write("not checked in the browser: needs Chromium, and pip install 'ioukit[test]'\n")
        return 0
    folder = asked.folder.resolve()
    # The pages in frames have tests of their own, in tests/report.
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))
    pages = asked.pages or [page for page in found if not page.startswith("demo/")]
    if not pages:
        parser.error(f"{folder} has no pages")
    started = time.monotonic()
    count = asyncio.run(audit(folder, pages, chromium, whole=asked.whole))
    sys.stdout.write(f"{len(pages)} pages opened, {count} faults, {time.monotonic() - started:.0f} s\n")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
