"""The report: how long it takes to write, how large it is, and how soon it can be used in Chromium.

    pip install ".[report,test]"
    python benchmarks/make_coco.py bench-data small large x10
    python benchmarks/bench_report.py bench-data

Each run is a fresh process, from two files to the tables and the page; beside it the same without a report, so that the
difference is what the report costs, with its intervals and without. Behind times on the clock stands what the
processors worked, which other work on the machine hardly changes. "Usable" is the time from opening the file until it
has drawn everything and shown it; "slider" that of one step of it until the next picture. There is no peer: no other
evaluator writes such a page.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import statistics
import sys
import tempfile
from pathlib import Path

from _fresh import Run, run_command
from _machine import described

SIZES = {
    "small": ("gt.json", "dt_small.json", "5,000 images, 36k detections"),
    "large": ("gt.json", "dt_large.json", "5,000 images, 500k detections"),
    "x10": ("gt_x10.json", "dt_x10.json", "50,000 images, 5M detections"),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Two frames: the first shows what was drawn, the second comes after it.
SHOWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))))"
STEP = """() => new Promise((done) => {
  const start = performance.now(), slider = document.getElementById("score"), page = document.documentElement;
  let first = 0;
  slider.value = String(Number(slider.max) >> 1);
  slider.dispatchEvent(new Event("input"));
  requestAnimationFrame(() => setTimeout(() => { first = performance.now() - start; }));
  const look = () => {
    if (first && page.hasAttribute("data-ready")) done([first, performance.now() - start]);
    else setTimeout(look, 1);
  };
  look();
})"""


def opened(path: Path, rounds: int) -> tuple[float, float, float] | None:
    """Milliseconds until the page can be used, and until one part and all show a step; None without a browser."""
    browser_path = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser_path is None or not importlib.util.find_spec("playwright"):
        return None
    from playwright.sync_api import sync_playwright  # noqa: PLC0415

    usable, step, every = [], [], []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.resolve().as_uri())
            page.wait_for_selector("html[data-ready]")
            usable.append(float(page.evaluate(SHOWN)))
            first, last = page.evaluate(STEP)
            step.append(float(first))
            every.append(float(last))
            page.close()
        browser.close()
    return statistics.median(usable), statistics.median(step), statistics.median(every)


def medians(runs: list[Run]) -> tuple[float, float]:
    """The time on the clock, and the work."""
    return statistics.median(run.wall for run in runs), statistics.median(run.work for run in runs)


def shown_times(times: tuple[float, float], others: tuple[float, float] = (0.0, 0.0)) -> str:
    """How much longer some times are than others."""
    clock, work = (time - other for time, other in zip(times, others, strict=True))
    return f"{clock:.2f} s ({work:.2f} s)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--sizes", default="small,large", help="of small, large, x10")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{described('ioukit')}\n")
    columns = "to tables | with the report | more | without intervals | peak memory | page | usable after | slider"
    print(f"| data | {columns} | all parts |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in arguments.sizes.split(","):
        gt, dt, words = SIZES[size]
        command = [sys.executable, "-m", "ioukit", "eval", str(arguments.data / gt), str(arguments.data / dt), "-q"]
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "report.html"
            plain, bare, whole = [], [], []
            for _ in range(arguments.rounds):
                plain.append(run_command(command))
                bare.append(run_command([*command, "--report", str(page), "--no-intervals"]))
                whole.append(run_command([*command, "--report", str(page)]))
            before, without, after = map(medians, (plain, bare, whole))
            peak = statistics.median(run.peak for run in whole)
            times = opened(page, arguments.rounds)
            shown = "- | - | -" if times is None else " | ".join(f"{value:,.0f} ms" for value in times)
            print(
                f"| {size}: {words} | {shown_times(before)} | {shown_times(after)} | {shown_times(after, before)} "
                f"| {shown_times(without, before)} | {peak / 1e6:,.0f} MB | {page.stat().st_size / 1e6:.1f} MB "
                f"| {shown} |"
            )


if __name__ == "__main__":
    main()
