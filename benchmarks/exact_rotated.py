"""How far the overlap of rotated boxes may be from its exact value, for boxes that are made to hurt.

    pip install 'ioukit[bench]' && python benchmarks/exact_rotated.py [PAIRS] [EXACT]

For each kind of pairs (tests/support/rotated_pairs.py), PAIRS of them (100,000) are compared with Shapely, which also
computes in float64. EXACT of them (1,000) are computed in rational arithmetic, and both libraries are compared with it:
half of these as they come, and half those where the two libraries differ most. Prints the worst absolute error of IoU,
and the worst error of the area of the intersection, relative to the smaller of the two boxes.
"""

from __future__ import annotations

import argparse
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import shapely
from numpy.typing import NDArray

from ioukit import RotatedBoxes, elementwise_intersection, elementwise_iou

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.rotated_pairs import KINDS, exact_intersection, exact_ring, make_pairs

Floats = NDArray[np.float64]


def by_shapely(first: RotatedBoxes, second: RotatedBoxes) -> tuple[Floats, Floats]:
    """Intersection and IoU of float64 polygons."""
    a, b = (shapely.polygons(boxes.corners()) for boxes in (first, second))
    shared, areas = shapely.area(shapely.intersection(a, b)), shapely.area(a) + shapely.area(b)
    return shared, shared / (areas - shared)


def exactly(first: Floats, second: Floats) -> tuple[list[Fraction], list[Fraction]]:
    """Intersection and IoU of the numbers given."""
    shared = [exact_intersection(exact_ring(a), exact_ring(b)) for a, b in zip(first, second, strict=True)]
    areas = [
        Fraction(a[2]) * Fraction(a[3]) + Fraction(b[2]) * Fraction(b[3]) for a, b in zip(first, second, strict=True)
    ]
    return shared, [one / (area - one) for one, area in zip(shared, areas, strict=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=100_000, help="how many pairs (default: 100,000)")
    parser.add_argument("exact", type=int, nargs="?", default=1_000, help="how many of them exactly (default: 1,000)")
    options = parser.parse_args()
    count, exact_count = options.pairs, options.exact
    print(f"{count:,} pairs of each kind against Shapely {shapely.__version__}, {exact_count:,} exactly\n")
    print("| pairs | IoU against Shapely | IoU, exactly | Shapely's IoU, exactly | area, exactly | Shapely's area |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for kind in KINDS:
        rows = make_pairs(kind, count)
        first, second = (RotatedBoxes(part, unit="degrees", sense="clockwise") for part in rows)
        shared, iou = elementwise_intersection(first, second), elementwise_iou(first, second)
        shapely_shared, shapely_iou = by_shapely(first, second)
        disputed = np.argsort(-np.abs(iou - shapely_iou))[: exact_count // 2]
        few = np.concatenate([np.arange(exact_count - len(disputed)), disputed])
        exact_shared, exact_iou = exactly(rows[0][few], rows[1][few])
        smaller = np.minimum(first.area, second.area)[few]

        def error(values: Floats, exact: list[Fraction], scale: Floats | float = 1.0) -> float:
            off = [float(abs(Fraction(value) - right)) for value, right in zip(values.tolist(), exact, strict=True)]
            return float(np.max(np.array(off) / scale))

        errors = [
            float(np.abs(iou - shapely_iou).max()),
            error(iou[few], exact_iou),
            error(shapely_iou[few], exact_iou),
            error(shared[few], exact_shared, smaller),
            error(shapely_shared[few], exact_shared, smaller),
        ]
        print(f"| {kind} | {' | '.join(f'{one:.1e}' for one in errors)} |", flush=True)


if __name__ == "__main__":
    main()
