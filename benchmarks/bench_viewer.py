"""The viewer without its browser: reading, the first answer, the answers to filters, and memory.

    python benchmarks/make_coco.py bench-data large x10
    python benchmarks/bench_viewer.py bench-data

Each run is a fresh process. "Evaluate" reads two files and evaluates them; it is what memory is compared with. "Viewer"
does the same with near pairs, makes the collection and answers an empty filter, which makes all columns. Then it
answers filters one after the other, each for the first time, and writes each answer as JSON. Times of answers are those
on the clock, and behind them what the processors worked, which other work on the machine does not change.
"""

from __future__ import annotations

import argparse
import json
import statistics
from pathlib import Path

from _fresh import Run, run_program
from _machine import described

SIZES = {
    "large": ("gt.json", "dt_large.json", "5,000 images, 500k detections"),
    "x10": ("gt_x10.json", "dt_x10.json", "50,000 images, 5M detections"),
}
FILTERS = {
    "class": [("class", "CLASS")],
    "false positives with a score of at least 0.7": [("outcome", "fp"), ("score", "0.7..")],
    "errors of localisation": [("error", "localisation")],
    "missed objects of a class, sorted by their number": [("class", "CLASS"), ("outcome", "fn"), ("sort", "fn")],
    "smaller than 32 pixels, sorted by F1": [("size", "..32"), ("sort", "f1")],
    "words in file names": [("text", "7")],
    "a cell of the confusion matrix": [("true", "CLASS"), ("predicted", "background")],
    "score threshold 0.2": [("at_score", "0.2")],
    "IoU threshold 0.75": [("at_iou", "0.75")],
    "all detections, IoU from 0.3 to 0.5": [("at_score", "0"), ("iou", "0.3..0.5")],
}
EVALUATE = "import sys, ioukit; ioukit.evaluate(sys.argv[1], sys.argv[2])"
VIEWER = """
import json, sys, time
import ioukit
from ioukit.viewer.answers.answering import answer
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.answers.filters import Filter

def timed(function):
    start, work = time.perf_counter(), time.process_time()
    result = function()
    return result, (time.perf_counter() - start, time.process_time() - work)

def answered(pairs):
    return json.dumps(answer(shown, Filter.parse(pairs)).to_json(), separators=(",", ":"))

evaluation, reading = timed(lambda: ioukit.evaluate(sys.argv[1], sys.argv[2], near=0.1))
shown, making = timed(lambda: Collection.of(evaluation.ground_truth, {"model": evaluation}))
first = timed(lambda: answered([]))[1]
times = {}
for name, pairs in json.loads(sys.argv[3]).items():
    pairs = [(key, shown.class_keys[0] if text == "CLASS" else text) for key, text in pairs]
    times[name] = timed(lambda: answered(pairs))[1]
print(json.dumps([reading, [a + b for a, b in zip(making, first)], times]))
"""


def middle(times: list[tuple[float, float]], unit: str) -> str:
    """The median on the clock, and that of the work in parentheses."""
    clock, work = (statistics.median(column) for column in zip(*times, strict=True))
    if unit == "s":
        return f"{clock:.2f} s ({work:.2f} s)"
    return f"{1000 * clock:,.0f} ms ({1000 * work:,.0f} ms)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--sizes", default="large,x10", help="of large and x10")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    print(f"{described('ioukit', 'numpy')}\n")
    sizes = arguments.sizes.split(",")
    plain: dict[str, list[Run]] = {size: [] for size in sizes}
    shown: dict[str, list[Run]] = {size: [] for size in sizes}
    for _ in range(arguments.rounds):
        for size in sizes:
            files = [str(arguments.data / name) for name in SIZES[size][:2]]
            plain[size].append(run_program(EVALUATE, *files))
            shown[size].append(run_program(VIEWER, *files, json.dumps(FILTERS)))
    answers = {size: [json.loads(run.output) for run in runs] for size, runs in shown.items()}
    print("| data | reading and evaluating | first answer | peak memory | that of `evaluate` | ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for size in sizes:
        before, after = (statistics.median(run.peak for run in runs[size]) for runs in (plain, shown))
        reading, first = (middle([one[at] for one in answers[size]], "s") for at in (0, 1))
        print(
            f"| {size}: {SIZES[size][2]} | {reading} | {first} | {after / 1e6:,.0f} MB "
            f"| {before / 1e6:,.0f} MB | {after / before:.2f} |"
        )
    print(f"\n| filter | {' | '.join(sizes)} |\n| --- |{' ---: |' * len(sizes)}")
    for name in FILTERS:
        times = [middle([one[2][name] for one in answers[size]], "ms") for size in sizes]
        print(f"| {name} | {' | '.join(times)} |")


if __name__ == "__main__":
    main()
