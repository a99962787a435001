"""IoU of polygons against Shapely, in one run on one machine.

    pip install 'ioukit[bench]' && python benchmarks/bench_polygons.py

Prints a Markdown table: medians of calls that take turns. Polygons lie in an image of 1000 x 1000 pixels and are up to
100 pixels wide. Both libraries begin with their own polygons (`Polygons`, an array of `shapely.Polygon`) and return the
table (N, M); Shapely measures the pairs that its STRtree finds, which is how it is fast. powerboxes has no polygons.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
from typing import Any

import numpy as np
from _machine import described
from bench_overlap import Call, medians
from numpy.typing import NDArray

from ioukit import Polygons, pairwise_iou

SIZES = ((4, 1000), (12, 1000), (4, 100))


def convex(count: int, corners: int, seed: int, spread: float = 1.0) -> NDArray[np.float64]:
    """(count, corners, 2) points on ellipses; ``spread`` below 1 moves them closer together."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0, 2 * np.pi, (count, corners)), axis=1)
    sides = rng.uniform(5, 50, (count, 2, 1))
    points = np.stack([np.cos(angles) * sides[:, 0], np.sin(angles) * sides[:, 1]], axis=2)
    return np.asarray(points + rng.uniform(50, 50 + 900 * spread, (count, 1, 2)))


def stars(count: int, corners: int, seed: int) -> NDArray[np.float64]:
    """(count, corners, 2) simple polygons, mostly concave."""
    rng = np.random.default_rng(seed)
    angles = (np.arange(corners) + rng.uniform(0, 0.9, (count, corners))) * 2 * np.pi / corners
    points = np.stack([np.cos(angles), np.sin(angles)], axis=2) * rng.uniform(15, 50, (count, corners, 1))
    return np.asarray(points + rng.uniform(50, 950, (count, 1, 2)))


def by_shapely(shapely: Any, first: Any, second: Any) -> NDArray[np.float64]:
    values = np.zeros((len(first), len(second)))
    rows, columns = shapely.STRtree(second).query(first)
    shared = shapely.area(shapely.intersection(first[rows], second[columns]))
    values[rows, columns] = shared / (shapely.area(first)[rows] + shapely.area(second)[columns] - shared)
    return values


def compare(title: str, points1: NDArray[np.float64], points2: NDArray[np.float64], seconds: float) -> None:
    shapely: Any = importlib.import_module("shapely")
    first, second = Polygons(points1), Polygons(points2)
    drawn = shapely.polygons(points1), shapely.polygons(points2)
    calls: dict[str, Call] = {
        "ioukit": lambda: pairwise_iou(first, second),
        "one thread": lambda: pairwise_iou(first, second, threads=1),
        "shapely": lambda: by_shapely(shapely, *drawn),
    }
    np.testing.assert_allclose(calls["ioukit"](), calls["shapely"](), atol=1e-12)
    times = medians(calls, seconds)
    share = float((calls["ioukit"]() > 0).mean())
    cells = [f"{times[name] * 1e3:.3g} ms" for name in calls]
    print(f"| {title} | {share:.1%} | {' | '.join(cells)} | {times['shapely'] / times['ioukit']:.1f} x |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0, help="about how long a row may take (default: 4)")
    options = parser.parse_args()
    print(f"{described('ioukit', 'numpy', 'shapely')}\n")
    print("| work | pairs that overlap | ioukit | one thread | Shapely, STRtree | faster by |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for corners, count in SIZES:
        title = f"{count:,} x {count:,} convex, {corners} corners"
        compare(title, convex(count, corners, 1), convex(count, corners, 2), options.seconds)
    near = [convex(300, 12, seed, spread=0.02) for seed in (1, 2)]
    compare("300 x 300 convex, 12 corners, in one place", near[0], near[1], options.seconds)
    compare("1,000 x 1,000 concave, 12 corners", stars(1000, 12, 1), stars(1000, 12, 2), options.seconds)
    compare("1,000 x 1,000 concave x convex", stars(1000, 12, 1), convex(1000, 12, 2), options.seconds)


if __name__ == "__main__":
    main()
