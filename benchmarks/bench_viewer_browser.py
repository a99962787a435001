"""The viewer in Chromium: how soon it shows the first picture, answers a filter, and whether scrolling leaves gaps.

    pip install ".[view,test]"
    python benchmarks/make_coco.py bench-data large x10
    python benchmarks/bench_viewer_browser.py bench-data --sizes large,x10

"First" is the time from the address that the command prints (the data are read by then) until the first card is drawn;
"filter" that from a change of the address until the cards of its answer are drawn, the median and the longest of
several filters; "slider" the same for steps of the score threshold. "Gap" is the longest time that a card is on the
screen without its drawing: at a steady scroll of 3,000 pixels a second, and for jumps to anywhere.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _machine import described
from bench_report import BROWSERS, SIZES
from playwright.sync_api import sync_playwright

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

# {0}, {1} and {2} are classes of the data.
FILTERS = (
    "class={0}",
    "outcome=fp",
    "outcome=fp&score=0.7..",
    "class={0}&class={1}&outcome=fn",
    "size=..32",
    "error=localisation",
    "error=classification&class={2}",
    "iou=0.5..0.6",
    "sort=f1&order=asc",
    "",
)
SCORES = ("0.9", "0.8", "0.6", "0.5", "0.3", "0.2")
# Waits until every card on the screen has the drawing of the filter of the address, and was painted.
DRAWN = """(query) => new Promise((done, fail) => {
  const step = () => {
    if (!document.getElementById("problem").hidden) fail(document.getElementById("problem-words").textContent);
    const ready = document.documentElement.getAttribute("data-ready") === query;
    const cards = [...document.querySelectorAll(".cell")].filter((card) => {
      const place = card.getBoundingClientRect();
      return place.bottom > 0 && place.top < innerHeight;
    });
    const fresh = cards.every((card) => card.dataset.drawn === query);
    const nothing = !document.getElementById("nothing").hidden;
    if (ready && fresh && (cards.length || nothing)) requestAnimationFrame(() => done(performance.now()));
    else requestAnimationFrame(step);
  };
  step();
})"""
CHANGE = """(query) => {
  history.pushState(null, "", `${location.pathname}${query && `?${query}`}`);
  dispatchEvent(new PopStateEvent("popstate"));
}"""
# How long cards are on the screen without a drawing while the page is scrolled, and how many frames have no card.
WATCH = """([kind, seconds]) => new Promise((done) => {
  const grid = document.getElementById("grid"), since = new Map(), start = performance.now();
  const deepest = () => document.documentElement.scrollHeight - innerHeight;
  let longest = 0, blank = 0, frames = 0, slowest = 0, last = start, jumped = start;
  // After the frame, when the page has followed the scroll of the frame before.
  const step = (now) => setTimeout(() => look(now));
  const look = (now) => {
    frames += 1;
    slowest = Math.max(slowest, now - last);
    const seen = new Set();
    let covered = 0;
    for (const card of grid.querySelectorAll(".cell")) {
      const place = card.getBoundingClientRect();
      if (place.bottom <= 60 || place.top >= innerHeight) continue;
      covered += 1;
      if (card.dataset.drawn !== undefined) continue;
      seen.add(card.id);
      if (!since.has(card.id)) since.set(card.id, now);
      longest = Math.max(longest, now - since.get(card.id));
    }
    for (const id of since.keys()) if (!seen.has(id)) since.delete(id);
    if (!covered) blank += 1;
    if (kind === "steady") scrollBy(0, 3 * (now - last));
    else if (now - jumped > 700) { jumped = now; scrollTo(0, Math.random() * deepest()); }
    last = now;
    if (now - start < seconds * 1000) requestAnimationFrame(step);
    else done({ longest, blank, frames, slowest });
  };
  requestAnimationFrame(step);
})"""


@contextlib.contextmanager
def served(command: list[str]) -> Iterator[tuple[str, float]]:
    """The address that a command prints, and when it did so."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    try:
        said = ""
        for line in process.stdout:
            said += line
            if found := re.search(r"http://\S+", line):
                yield found[0], time.perf_counter()
                return
        raise SystemExit(f"the command ended without an address:\n{said}")
    finally:
        process.terminate()
        process.wait(10)


def answered(page: Page, query: str) -> float:
    """Milliseconds from a change of the address until its cards are drawn."""
    start = float(page.evaluate("() => performance.now()"))
    page.evaluate(CHANGE, query)
    return float(page.evaluate(DRAWN, query)) - start


def measured(page: Page, address: str, printed: float, seconds: float) -> dict[str, Any]:
    """The numbers of one row of the table, in milliseconds."""
    page.goto(address)
    page.locator(".cell[data-drawn]").first.wait_for(timeout=120_000)
    first = (time.perf_counter() - printed) * 1000
    page.evaluate(DRAWN, "")
    classes = page.locator("#class-options .line-text").all_inner_texts()[:3]
    filters = [answered(page, query.format(*classes)) for query in FILTERS]
    steps = [answered(page, f"at_score={score}") for score in SCORES]
    answered(page, "")
    scrolls = {}
    for kind in ("steady", "jumps"):
        page.evaluate("() => scrollTo(0, 0)")
        page.wait_for_timeout(500)
        scrolls[kind] = page.evaluate(WATCH, [kind, seconds])
    return {"first": first, "filters": filters, "steps": steps, **scrolls}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--sizes", default="large,x10", help="of small, large, x10")
    parser.add_argument("--images", help="the folder of the photographs; without it, sheets are drawn")
    parser.add_argument("--seconds", type=float, default=10, help="of each way of scrolling")
    arguments = parser.parse_args()
    browser_path = next(found for name in BROWSERS if (found := shutil.which(name)))
    print(f"{described('ioukit', 'uvicorn')}\n")
    print("| data | first | filter, median | filter, longest | slider | gap, steady | gap, jumps | longest frame |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for size in arguments.sizes.split(","):
            gt, dt, words = SIZES[size]
            command = [sys.executable, "-m", "ioukit", "view", str(arguments.data / gt), str(arguments.data / dt)]
            command += ["--no-browser", "--port", "0", *(["--images", arguments.images] if arguments.images else [])]
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            with served(command) as (address, printed):
                result = measured(page, address, printed, arguments.seconds)
                page.close()
            steady, jumps = result["steady"], result["jumps"]
            numbers = [result["first"], statistics.median(result["filters"]), max(result["filters"])]
            numbers += [statistics.median(result["steps"]), steady["longest"], jumps["longest"], steady["slowest"]]
            print(f"| {words} | {' | '.join(f'{value:,.0f} ms' for value in numbers)} |", flush=True)
            if steady["blank"] or jumps["blank"]:
                print(f"  frames without any card: {steady['blank']} and {jumps['blank']}", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
