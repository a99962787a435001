"""What each detection, object and image adds to AP: seconds, and times that of one evaluation.

    python benchmarks/make_coco.py bench-data small large
    python benchmarks/bench_influence.py bench-data

Wall time in one process without reading, the median of several runs in turns. Each run begins with an evaluation that
has no near pairs, so detections and objects include matching for them. The last column is the time that evaluating
again would take: one evaluation for each row. Some rows are evaluated again, and the program ends with an error if a
number differs by more than 1e-12.
"""

from __future__ import annotations

import argparse
import dataclasses
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _machine import described

import ioukit
from ioukit.statistics import Influence, detection_influence, image_influence, object_influence

if TYPE_CHECKING:
    from collections.abc import Callable

WORK: dict[str, Callable[[ioukit.Evaluation, str], Influence]] = {
    "detections": detection_influence,
    "objects": object_influence,
    "images": image_influence,
}
SETS = {"small": "dt_small.json", "large": "dt_large.json"}
CHECKED = 5  # rows of each kind that are evaluated again


def without(evaluation: ioukit.Evaluation, found: Influence, row: int, key: str) -> float:
    """The number without a row, by evaluating again."""
    gt, dt, images = evaluation.ground_truth, evaluation.detections, evaluation.matches.image_ids
    assert gt is not None
    assert dt is not None
    if found.of == "image":
        images = np.delete(images, row)
    elif found.of == "detection":
        dt = dt.take(np.arange(len(dt)) != found.matches.detections.row[row])
    else:
        gt = gt.take(np.arange(len(gt)) != found.matches.objects.row[row])
    return ioukit.evaluate(gt, dt, images=images).summary[key]


def check(evaluation: ioukit.Evaluation, found: Influence, key: str) -> None:
    rows = np.random.default_rng(0).choice(len(found), CHECKED - 1, replace=False).tolist()
    for row in [*rows, found.worst(1)[0].position]:
        if abs(without(evaluation, found, row, key) - found.without[row]) > 1e-12:
            raise SystemExit(f"{key} without {found.of} {row} differs from that of evaluating again")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder that make_coco.py wrote")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--key", default="AP", help="the number")
    options = parser.parse_args()
    print(f"{described('ioukit', 'numpy')}\n")
    print(f"| set | {options.key} without each of | seconds | / evaluation | evaluating again |")
    print("| --- | --- | ---: | ---: | ---: |")
    for name, file in SETS.items():
        gt, dt = ioukit.read_coco(options.folder / "gt.json", options.folder / file)
        times: dict[str, list[float]] = {work: [] for work in ("evaluation", *WORK)}
        for run in range(options.runs):
            start = time.perf_counter()
            evaluation = ioukit.evaluate(gt, dt)
            evaluation.summary  # noqa: B018 - computes the numbers
            times["evaluation"].append(time.perf_counter() - start)
            for work, function in WORK.items():
                fresh = dataclasses.replace(evaluation)  # without near pairs
                start = time.perf_counter()
                found = function(fresh, options.key)
                times[work].append(time.perf_counter() - start)
                if run == 0:
                    check(evaluation, found, options.key)
        medians = {work: statistics.median(each) for work, each in times.items()}
        counts = {"detections": len(dt), "objects": len(gt), "images": len(gt.images)}
        for work, count in counts.items():
            again = count * medians["evaluation"] / 3600
            ratio = medians[work] / medians["evaluation"]
            print(f"| {name} | {count:,} {work} | {medians[work]:.2f} | {ratio:.1f} | {again:.1f} hours |", flush=True)
        print(f"| {name} | the evaluation | {medians['evaluation']:.2f} | 1 | |", flush=True)


if __name__ == "__main__":
    main()
