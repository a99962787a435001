"""Where a detector fails: the five analyses of an evaluation, and TIDE's kinds of errors beside tidecv.

    pip install '.[bench]' && python benchmarks/make_coco.py bench-data small large x10
    python benchmarks/bench_analysis.py bench-data

Fresh processes in turns; reading and evaluating are not counted. "memory" is the peak of the process less that of one
that evaluates alone; "CPU" is the time of all threads, which other work on the machine changes little. tidecv is given
the same columns and asked for its counts and differences of AP, without its drawing.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import os
import statistics
from pathlib import Path
from typing import TYPE_CHECKING

from _fresh import run_program
from _machine import described

if TYPE_CHECKING:
    from collections.abc import Sequence

# NumPy is not imported here: a child inherits the peak of a large parent.

READ = """
import json, sys, time
import ioukit
from ioukit.evaluation import match
gt, dt = ioukit.read_coco(*sys.argv[1:3])
"""
OURS = """
evaluation = ioukit.evaluate(gt, dt)
evaluation.summary
calls = {{
    "score_curves": lambda: evaluation.score_curves(),
    "outcomes": lambda: evaluation.outcomes(),
    "per_image": lambda: evaluation.per_image(),
    "confusion": lambda: evaluation.confusion(),
    "error_kinds": lambda: evaluation.error_kinds(),
}}
taken, results = {{}}, {{}}
for name in {names}:
    start, cpu = time.perf_counter(), time.process_time()
    results[name] = calls[name]()
    taken[name] = (time.perf_counter() - start, time.process_time() - cpu)
errors = results.get("error_kinds")
print(json.dumps([taken, errors and dict(errors.counts)]))
"""
THEIRS = """
from types import ModuleType
sys.modules["tidecv.plotting"] = ModuleType("tidecv.plotting")
from tidecv.data import Data
from tidecv.quantify import TIDERun
truth, found = Data("truth"), Data("found")
for image in gt.images.ids.tolist():
    truth.add_image(image, str(image))
columns = (gt.image_ids, gt.category_ids, gt.boxes, gt.crowd)
for image, category, box, crowd in zip(*(column.tolist() for column in columns)):
    (truth.add_ignore_region if crowd else truth.add_ground_truth)(image, category, box)
for row in zip(*(column.tolist() for column in (dt.image_ids, dt.category_ids, dt.scores, dt.boxes))):
    found.add_detection(*row)
start, cpu = time.perf_counter(), time.process_time()
run = TIDERun(truth, found, 0.5, 0.1, "bbox", 100)
run.fix_main_errors()
run.fix_special_errors()
names = dict(ClassError="classification", BoxError="localisation", OtherError="both", DuplicateError="duplicate",
    BackgroundError="background", MissedError="missed")
counts = {names[kind.__name__]: count for kind, count in run.count_errors().items()}
print(json.dumps([(time.perf_counter() - start, time.process_time() - cpu), counts]))
"""
ANALYSES = ("score_curves", "outcomes", "per_image", "confusion", "error_kinds")
FILES = {
    "small": ("gt.json", "dt_small.json"),
    "large": ("gt.json", "dt_large.json"),
    "x10": ("gt_x10.json", "dt_x10.json"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where make_coco.py wrote")
    parser.add_argument("--sets", nargs="*", default=["small", "large"], choices=FILES)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    peer = importlib.util.find_spec("tidecv") is not None
    packages = ["ioukit", "numpy", *(["tidecv"] if peer else [])]
    print(f"{described(*packages)}\n")
    for name in options.sets:
        files = [str(options.folder / file) for file in FILES[name]]
        if not all(os.path.exists(file) for file in files):
            continue
        runs = [run_program(READ + OURS.format(names=ANALYSES), *files) for _ in range(options.runs)]
        alone = min(run_program(READ + OURS.format(names=()), *files).peak for _ in range(2))
        taken, counts = zip(*(json.loads(run.output) for run in runs), strict=True)
        memory = statistics.median(run.peak for run in runs) - alone
        print(f"| {name} | wall | CPU |\n| --- | ---: | ---: |")
        for analysis in ANALYSES:
            print(f"| `{analysis}` | {_median([one[analysis] for one in taken])}")
        print(f"| together | {_median([[sum(column) for column in zip(*one.values(), strict=True)] for one in taken])}")
        print(f"memory {memory / 2**20:.0f} MB over {alone / 2**20:.0f} MB")
        if peer and name != "x10":
            # Most of a minute on the large set: once is enough for its ratio.
            theirs = [json.loads(run_program(READ + THEIRS, *files).output) for _ in range(1 if name == "large" else 3)]
            print(f"| tidecv | {_median([one[0] for one in theirs])}")
            print(f"counts {counts[0]}\ntidecv {theirs[0][1]}")


def _median(pairs: Sequence[Sequence[float]]) -> str:
    wall, cpu = (statistics.median(column) for column in zip(*pairs, strict=True))
    return f"{wall:.3f} s | {cpu:.3f} s |"


if __name__ == "__main__":
    main()
