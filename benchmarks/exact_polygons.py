"""How far the IoU of two convex polygons may be from its exact value: 100,000 pairs, in rational arithmetic.

    python benchmarks/exact_polygons.py [PAIRS]

The pairs are made to hurt: polygons of 3 to 12 corners, of sizes from 1e-6 to 1e6 and up to ten sizes from 0. Prints,
for each kind of position, the largest difference of ioukit, and of Shapely if it is installed, from the exact IoU of
the very points that were given.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

from ioukit import Polygons, elementwise_iou

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.polygon_oracles import KINDS, convex_pair, exact_iou

SAYS = {
    "free": "free",
    "edge": "mirrored at an edge that both share",
    "corner": "a corner in common",
    "same": "the same region, other first corner and sense",
    "inside": "one inside the other",
    "sliver": "a sliver, 1e-9 to 1e-3 as wide as long",
    "parallel": "the same, turned by 1e-15 to 1e-3",
    "apart": "apart",
}


def by_shapely(first: Polygons, second: Polygons) -> Any:
    try:
        import shapely  # noqa: PLC0415
    except ImportError:
        return None
    one, other = (np.array([shapely.Polygon(points) for points in each.points()]) for each in (first, second))
    shared = shapely.area(shapely.intersection(one, other))
    return shared / (shapely.area(one) + shapely.area(other) - shared)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=100_000, help="how many pairs (default: 100,000)")
    options = parser.parse_args()
    count = options.pairs
    rng = np.random.default_rng(20261121)
    print(f"{count:,} pairs\n\n| position | ioukit | Shapely |\n| --- | ---: | ---: |")
    worst = np.zeros(2)
    for kind in KINDS:
        pairs = [convex_pair(rng, kind) for _ in range(count // len(KINDS))]
        first, second = (Polygons([pair[side] for pair in pairs]) for side in (0, 1))
        exact = np.array([exact_iou(*pair) for pair in pairs])
        ours, theirs = elementwise_iou(first, second), by_shapely(first, second)
        errors = [np.abs(values - exact).max() if values is not None else np.nan for values in (ours, theirs)]
        worst = np.fmax(worst, errors)
        print(f"| {SAYS[kind]} | {errors[0]:.1e} | {errors[1]:.1e} |", flush=True)
    print(f"| all | {worst[0]:.1e} | {worst[1]:.1e} |")


if __name__ == "__main__":
    main()
