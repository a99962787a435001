"""Slices: how long their numbers and the search for the worst take, beside one evaluation.

    python benchmarks/make_coco.py bench-data small
    python benchmarks/bench_slices.py bench-data

`gt.json` has 5,000 images and 36,000 objects, `dt_small.json` 38,000 detections. Ten columns are of the images, from a
table in memory; ten are of the objects. Each column is cut into about four slices. Medians of wall time in one process.
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from _machine import described

from ioukit import evaluate, read_coco
from ioukit.slices import slice_numbers, worst_slices

if TYPE_CHECKING:
    from collections.abc import Callable

OF_OBJECTS = (*("size", "shape", "crowding", "occlusion", "truncation", "width", "height", "aspect_ratio", "x", "y"),)


def seconds(work: Callable[[], Any], rounds: int) -> float:
    """The median time of a call."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    gt, dt = read_coco(arguments.data / "gt.json", arguments.data / "dt_small.json")
    rng = np.random.default_rng(0)
    table: dict[str, Any] = {"image_id": gt.images.ids}
    table |= {f"c{at}": rng.choice(["a", "b", "c", "d"], len(gt.images)) for at in range(10)}
    of_images = [name for name in table if name != "image_id"]
    evaluation = evaluate(gt, dt)
    once = seconds(lambda: evaluate(gt, dt), 9)
    print(f"{described('ioukit', 'numpy')}\n\none evaluation: {1000 * once:.0f} ms\n")
    print("| work | slices | time | evaluations |")
    print("| --- | ---: | ---: | ---: |")
    works: dict[str, Callable[[], Any]] = {
        "numbers, 10 columns of images": lambda: slice_numbers(evaluation, of_images, tables=table, replicates=0),
        "numbers, 10 columns of objects": lambda: slice_numbers(evaluation, OF_OBJECTS, replicates=0),
        "numbers, 20 columns": lambda: slice_numbers(evaluation, [*of_images, *OF_OBJECTS], tables=table, replicates=0),
        "the same with intervals, AP, 200 replicates": lambda: slice_numbers(
            evaluation, [*of_images, *OF_OBJECTS], tables=table, keys=["AP"]
        ),
        "search, 20 columns, 200 permutations": lambda: worst_slices(
            evaluation, [*of_images, *OF_OBJECTS], tables=table
        ),
    }
    for what, work in works.items():
        found = work()
        took = seconds(work, arguments.rounds)
        slices = found.looked_at if hasattr(found, "looked_at") else len(found)
        print(f"| {what} | {slices} | {took:.2f} s | {took / once:.0f} |", flush=True)


if __name__ == "__main__":
    main()
