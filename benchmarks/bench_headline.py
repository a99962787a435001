"""One table, one run: ioukit beside the best peer at what users wait for.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data small large segm keypoints
    python benchmarks/bench_headline.py bench-data

The rows are some of `bench_eval.py`, `bench_kinds.py`, `bench_dropin.py`, `bench_nms.py` and `bench_overlap.py`, with
the peers that come near. The programs of a row take turns. The times of files are walls: use an idle machine.
"""

from __future__ import annotations

import argparse
import json
import statistics
from functools import partial
from pathlib import Path

import bench_dropin
import bench_kinds
import bench_nms
from _fresh import run_program
from _machine import described
from bench_eval import QUIET, SIZES, compare_numbers, installed, take_turns, wall
from bench_overlap import time_text

FILES = {
    "boxes, 36k detections": ("bbox", SIZES["small"]),
    "boxes, 500k detections": ("bbox", SIZES["large"]),
    "masks, 36k detections": ("segm", bench_kinds.FILES["segm"]),
    "keypoints, 35k detections": ("keypoints", bench_kinds.FILES["keypoints"]),
}
FAST = ["ioukit", "hotcoco", "ultrafast-pycocotools"]
OVERLAPS = """
import json, sys
import numpy as np
sys.path.insert(0, sys.argv[1])
from bench_overlap import boxes, medians, peers
from ioukit import pairwise_iou
a, b = (boxes(100, np.dtype(sys.argv[2]), seed) for seed in (1, 2))
print(json.dumps(medians({"ioukit": lambda: pairwise_iou(a, b), **peers("iou", a, b)}, 1.0)))
"""


def of_files(data: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of each engine from two files to the numbers, in a fresh process."""
    found = {}
    for title, (kind, names) in FILES.items():
        files = [str(data / name) for name in names]
        tasks = {
            name: partial(run_program, QUIET + engine.evaluate, *files, kind)
            for name, engine in installed(FAST).items()
        }
        runs = take_turns(tasks, rounds)
        compare_numbers(runs)
        found[f"files to numbers: {title}"] = {name: wall(of) for name, of in runs.items()}
    return found


def of_dictionaries(data: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of the processor for `COCOeval` of records in memory."""
    gt, dt = (str(data / name) for name in SIZES["small"])
    engines = ["ioukit.compat.pycocotools", *FAST[1:]]
    found = {}
    for way in ("list", "dictionaries", "array"):
        runs = take_turns(bench_dropin.tasks_of(way, gt, dt, engines), rounds)
        found[f"`COCOeval`: {way}"] = {
            name.partition(".")[0]: statistics.median(bench_dropin.seconds_of(way, run) for run in of)
            for name, of in runs.items()
        }
    return found


def of_arrays(rounds: int) -> dict[str, dict[str, float]]:
    """Seconds of a call."""
    found = {}
    for kind in ("uniform", "clustered"):
        rows = bench_nms.compare(kind, 100, rounds, 0)
        found[f"NMS of 100 boxes, {kind}"] = {str(row["library"]): float(str(row["ms"])) / 1e3 for row in rows}
    for dtype in ("float32", "float64"):
        runs = [json.loads(run_program(OVERLAPS, str(Path(__file__).parent), dtype).output) for _ in range(rounds)]
        found[f"IoU of 100 x 100 boxes, {dtype}"] = {
            name: statistics.median(run[name] for run in runs) for name in runs[0]
        }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_coco.py")
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()

    found = {
        **of_files(options.data, options.rounds),
        **of_dictionaries(options.data, options.rounds),
        **of_arrays(options.rounds),
    }
    print(described("ioukit", "numpy", "hotcoco", "ultrafast-pycocotools", "powerboxes", "supervision", "torchvision"))
    print("\n| work | ioukit | best peer | ioukit / best peer |\n| --- | ---: | ---: | ---: |")
    for title, seconds in found.items():
        ours = seconds.pop("ioukit")
        best = min(seconds, key=seconds.__getitem__)
        print(f"| {title} | {time_text(ours)} | {best} {time_text(seconds[best])} | {ours / seconds[best]:.2f} |")


if __name__ == "__main__":
    main()
