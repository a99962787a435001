"""Overlap of rotated boxes against other libraries: medians of runs in turns, in one process.

    pip install 'ioukit[bench]' && python benchmarks/bench_rotated.py

- dense: IoU of 1,000 x 1,000 boxes that crowd (half of the pairs overlap), lie loosely (a tenth), or are sparse (one in
  300), from arrays in memory to an (N, M) float64 array: powerboxes' `rotated_iou_distance`; Shapely's `intersection`
  over the broadcast table, of 50 rows and scaled up, making its geometries not timed; OpenCV's
  `rotatedRectangleIntersection`, pair by pair from Python, of 20,000 pairs and scaled up.
- elementwise: IoU of 100,000 pairs; Shapely and OpenCV alike.
- join: pairs with IoU >= 0.5 of 100,000 x 100,000 boxes; Shapely's `STRtree.query(predicate="intersects")`, then the
  intersections, making geometries not timed.

Prints each median, its ratio to ioukit's, and the largest difference of the IoU from ioukit's. A peer that is not
installed is left out. `--json` prints one object a line instead.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from _machine import described
from numpy.typing import NDArray

from ioukit import RotatedBoxes, elementwise_iou, overlap_join, pairwise_iou

Floats = NDArray[np.float64]
Work = Callable[[], Any]
Prepared = tuple[dict[str, Work], dict[str, float], Callable[[str, Any], float]]

OPENCV_PAIRS = 20_000
SHAPELY_ROWS = 50
STRETCH = 0.1  # seconds


def boxes(count: int, extent: float, seed: int) -> Floats:
    """Rows of cx, cy, width, height, clockwise degrees: sides of 5 to 100 within a square of this extent."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [rng.uniform(0, extent, (count, 2)), rng.uniform(5, 100, (count, 2)), rng.uniform(-180, 180, count)]
    )


def of(rows: Floats) -> RotatedBoxes:
    return RotatedBoxes(rows, unit="degrees", sense="clockwise")


def load(module: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError:
        return None


shapely, powerboxes, cv2 = load("shapely"), load("powerboxes"), load("cv2")


def shapely_iou(a: Any, b: Any) -> Floats:
    shared = shapely.area(shapely.intersection(a, b))
    iou: Floats = shared / (shapely.area(a) + shapely.area(b) - shared)
    return iou


def opencv_iou(first: Floats, second: Floats) -> Floats:
    """One pair after the other."""
    rectangles = [[((x, y), (w, h), angle) for x, y, w, h, angle in rows.tolist()] for rows in (first, second)]
    iou = np.zeros(len(first))
    for k, (a, b) in enumerate(zip(*rectangles, strict=True)):
        kind, points = cv2.rotatedRectangleIntersection(a, b)
        if kind and points is not None:
            shared = cv2.contourArea(cv2.convexHull(points))
            iou[k] = shared / (a[1][0] * a[1][1] + b[1][0] * b[1][1] - shared)
    return iou


def dense(extent: float, threads: int | None) -> Prepared:
    first, second = boxes(1000, extent, 0), boxes(1000, extent, 1)
    rng = np.random.default_rng(2)
    rows, columns = rng.integers(0, 1000, (2, OPENCV_PAIRS))
    a, b = of(first), of(second)
    table = pairwise_iou(a, b)
    work: dict[str, Work] = {"ioukit": lambda: pairwise_iou(a, b, threads=threads)}
    scale = {"ioukit": 1.0, "powerboxes": 1.0, "shapely": 1000 / SHAPELY_ROWS}
    if powerboxes:
        work["powerboxes"] = lambda: powerboxes.rotated_iou_distance(first, second)
    if shapely:
        polygons = shapely.polygons(a[:SHAPELY_ROWS].corners())[:, None], shapely.polygons(b.corners())[None]
        work["shapely"] = lambda: shapely_iou(*polygons)
    if cv2:
        work["opencv"] = lambda: opencv_iou(first[rows], second[columns])
        scale["opencv"] = 1e6 / OPENCV_PAIRS

    def difference(name: str, result: Any) -> float:
        wanted = table[rows, columns] if name == "opencv" else table[: len(result)]
        return float(np.abs((1 - result if name == "powerboxes" else result) - wanted).max())

    return work, scale, difference


def elementwise(threads: int | None) -> Prepared:
    count = 100_000
    first = boxes(count, 1000, 0)
    second = first + np.random.default_rng(1).normal(0, 1, (count, 5)) * [8, 8, 1, 1, 20]
    second[:, 2:4] = second[:, 2:4].clip(1)
    a, b = of(first), of(second)
    values = elementwise_iou(a, b)
    work: dict[str, Work] = {"ioukit": lambda: elementwise_iou(a, b, threads=threads)}
    scale = {"ioukit": 1.0, "shapely": 1.0, "opencv": count / OPENCV_PAIRS}
    if shapely:
        polygons = shapely.polygons(a.corners()), shapely.polygons(b.corners())
        work["shapely"] = lambda: shapely_iou(*polygons)
    if cv2:
        work["opencv"] = lambda: opencv_iou(first[:OPENCV_PAIRS], second[:OPENCV_PAIRS])
    return work, scale, lambda _, result: float(np.abs(result - values[: len(result)]).max())


def join(threads: int | None) -> Prepared:
    count = 100_000
    first = boxes(count, 60 * count**0.5, 0)
    second = first[np.random.default_rng(1).permutation(count)]
    second = second + np.random.default_rng(2).normal(0, 1, (count, 5)) * [3, 3, 1, 1, 5]
    second[:, 2:4] = second[:, 2:4].clip(1)
    a, b = of(first), of(second)
    wanted = len(overlap_join(a, b, min_iou=0.5))
    work: dict[str, Work] = {"ioukit": lambda: overlap_join(a, b, min_iou=0.5, threads=threads).values}
    if shapely:
        polygons = shapely.polygons(a.corners()), shapely.polygons(b.corners())

        def by_tree() -> Floats:
            rows, columns = shapely.STRtree(polygons[1]).query(polygons[0], predicate="intersects")
            iou = shapely_iou(polygons[0][rows], polygons[1][columns])
            return iou[iou >= 0.5]

        work["shapely"] = by_tree
    return work, {"ioukit": 1.0, "shapely": 1.0}, lambda _, result: float(abs(len(result) - wanted))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7, help="runs of each, in turns (default: 7)")
    parser.add_argument("--threads", type=int, default=0, help="threads of ioukit; 0 means all cores (default)")
    parser.add_argument("--cpu", action="store_true", help="processor time in place of wall time, for a busy machine")
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    options = parser.parse_args()
    threads = options.threads or None
    clock = time.process_time if options.cpu else time.perf_counter
    if not options.json:
        packages = ("ioukit", "numpy", "powerboxes", "shapely", "opencv-python-headless")
        print(f"{described(*packages)}\n")
        print(
            "| work | library | median | time over ioukit's | largest difference |\n| --- | --- | ---: | ---: | ---: |"
        )
    subjects: dict[str, Callable[[], Prepared]] = {
        "1,000 x 1,000, crowded": lambda: dense(100, threads),
        "1,000 x 1,000, loose": lambda: dense(300, threads),
        "1,000 x 1,000, sparse": lambda: dense(2000, threads),
        "100,000 pairs": lambda: elementwise(threads),
        "join 100,000 x 100,000": lambda: join(threads),
    }
    for subject, prepare in subjects.items():
        work, scale, difference = prepare()
        off = {name: difference(name, run()) for name, run in work.items()}
        seconds: dict[str, list[float]] = {name: [] for name in work}
        for _ in range(options.runs):
            for name, run in work.items():
                # A stretch of calls a turn: caches and sleeping threads are the engine's own again after the first.
                end = time.perf_counter() + STRETCH
                calls: list[float] = []
                while not calls or time.perf_counter() < end:
                    start = clock()
                    run()
                    calls.append((clock() - start) * scale[name])
                seconds[name].append(statistics.median(calls))
        ours = statistics.median(seconds["ioukit"])
        for name, times in seconds.items():
            median = statistics.median(times)
            if options.json:
                print(json.dumps({"work": subject, "library": name, "seconds": median, "ratio": median / ours}))
            else:
                print(
                    f"| {subject} | {name} | {median * 1e3:.2f} ms | {median / ours:.1f} x | {off[name]:.1e} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
