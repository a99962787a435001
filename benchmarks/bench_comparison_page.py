"""The page of a comparison: how long it takes to write, how large it is, and how soon it answers in Chromium.

    pip install ".[report,test]"
    python benchmarks/make_coco.py bench-data small large
    python benchmarks/bench_comparison_page.py bench-data

The second model is the first one with boxes that moved and detections that are missing. "Usable" is the time from
opening the file until everything is drawn; "filter" that of typing into the filter of the list of changes; "slider"
that of one step of a score threshold, which draws all images again. There is no peer: no other evaluator writes such
a page.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from _machine import described
from bench_report import BROWSERS, SHOWN, SIZES

from ioukit import Detections, Evaluation, evaluate, read_coco
from ioukit.comparison import ModelComparison, compare_models
from ioukit.report import write_comparison

STEPS = {
    "filter": """() => { const start = performance.now(), field = document.getElementById("changes-filter");
      field.value = "1"; field.dispatchEvent(new Event("input")); return performance.now() - start; }""",
    "slider": """() => new Promise((done) => {
      const start = performance.now(), slider = document.getElementById("score-a");
      slider.value = String(Number(slider.max) >> 1);
      slider.dispatchEvent(new Event("input"));
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    })""",
}


def second(known: Detections) -> Detections:
    """Another model: boxes moved by up to a tenth of their sides, one of twenty detections missing."""
    rng = np.random.default_rng(0)
    boxes = known.boxes.copy()
    boxes[:, :2] += rng.uniform(-0.1, 0.1, (len(known), 2)) * boxes[:, 2:]
    kept = rng.random(len(known)) > 0.05
    return Detections.from_arrays(
        image_ids=known.image_ids[kept],
        category_ids=known.category_ids[kept],
        boxes=boxes[kept],
        scores=known.scores[kept],
    )


def compared(gt: Path, dt: Path) -> ModelComparison:
    truth, detections = read_coco(gt, dt)
    models: dict[str, Evaluation] = {
        "first": evaluate(truth, detections),
        "second": evaluate(truth, second(detections)),
    }
    return compare_models(models, replicates=50, permutations=50)


def answers(path: Path, rounds: int) -> dict[str, float]:
    """Milliseconds until the page can be used, and of each step."""
    from playwright.sync_api import sync_playwright  # noqa: PLC0415 - the page can be measured without a browser

    browser_path = next(found for name in BROWSERS if (found := shutil.which(name)))
    times: dict[str, list[float]] = {name: [] for name in ("usable", *STEPS)}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(path.resolve().as_uri())
            page.wait_for_selector("html[data-ready]")
            times["usable"].append(float(page.evaluate(SHOWN)))
            for name, step in STEPS.items():
                times[name].append(float(page.evaluate(step)))
            page.close()
        browser.close()
    return {name: statistics.median(values) for name, values in times.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--sizes", default="small,large", help="of small, large, x10")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{described('ioukit')}\n")
    print("| data | changes | writing | page | usable after | filter | slider |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in arguments.sizes.split(","):
        gt, dt, words = SIZES[size]
        comparison = compared(arguments.data / gt, arguments.data / dt)
        changed = comparison.pairs[0].changes.counts
        count = sum(number for name, number in changed.items() if not name.startswith("still"))
        with tempfile.TemporaryDirectory() as folder:
            page, walls = Path(folder) / "page.html", []
            for _ in range(arguments.rounds):
                start = time.perf_counter()
                write_comparison(comparison, page)
                walls.append(time.perf_counter() - start)
            took = answers(page, arguments.rounds)
            shown = " | ".join(f"{took[name]:,.0f} ms" for name in ("usable", *STEPS))
            megabytes = page.stat().st_size / 1e6
            print(f"| {size}: {words} | {count:,} | {statistics.median(walls):.2f} s | {megabytes:.1f} MB | {shown} |")


if __name__ == "__main__":
    main()
