"""How far every overlap may be from its exact value: 100,000 pairs, random and made to hurt, in rational arithmetic.

    python benchmarks/exact_overlap.py [PAIRS]

Prints, for each variant and dtype, the largest difference from the exact value of the very boxes that were given, in
units of 2**-53 or 2**-24: for areas relative to the exact one, for lengths relative to the diagonal around both boxes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ioukit
from ioukit.overlap.variants import VARIANTS, Variant

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.oracles import exact_overlap

Boxes = NDArray[np.floating[Any]]


def pairs(count: int, dtype: type[np.floating[Any]]) -> tuple[Boxes, Boxes]:
    """Boxes of sizes from 1e-6 to 1e6 with a partner each: free, at an edge or a corner, equal, inside, a sliver."""
    rng = np.random.default_rng(20261121)
    size = 10.0 ** rng.uniform(-6, 6, (count, 1))
    corner = rng.uniform(-10, 10, (count, 2)) * size
    first = np.concatenate([corner, corner + rng.uniform(0.01, 1, (count, 2)) * size], axis=1).astype(dtype)
    shifted = corner + rng.uniform(-1, 1, (count, 2)) * size
    second = np.concatenate([shifted, shifted + rng.uniform(0.01, 1, (count, 2)) * size], axis=1).astype(dtype)
    kind = rng.integers(0, 6, count)
    second[kind == 1, 0] = first[kind == 1, 2]  # an edge: touching, or inverted, mended below
    second[kind == 2, :2] = first[kind == 2, :2]  # a corner
    second[kind == 3] = first[kind == 3]
    inside = kind == 4
    sides = first[inside, 2:] - first[inside, :2]
    second[inside, :2] = first[inside, :2] + sides * dtype(0.25)
    second[inside, 2:] = first[inside, 2:] - sides * dtype(0.25)
    sliver = kind == 5
    second[sliver, 2] = np.nextafter(second[sliver, 0], dtype(np.inf))
    second[:, 2:] = np.maximum(second[:, 2:], second[:, :2])
    return first, second


def worst(variant: Variant, first: Boxes, second: Boxes) -> float:
    options = dict(variant.option_values)
    values = getattr(ioukit, f"elementwise_{variant.name}")(first, second, **options)
    parameters = [float(number) for value in options.values() for number in np.ravel(value)]
    name = "ioa_second" if variant.name == "ioa" else variant.name
    if variant.name == "alpha_iou" and not parameters:
        parameters = [3.0]
    exact = np.array([exact_overlap(name, a, b, *parameters) for a, b in zip(first, second, strict=True)])
    if variant.dimension == 2:  # an area: relative to itself
        scale = np.where(exact == 0, 1, np.abs(exact))
    elif variant.dimension == 1:  # a length: relative to the boxes
        sides = np.maximum(first[:, 2:], second[:, 2:]) - np.minimum(first[:, :2], second[:, :2])
        scale = np.hypot(*sides.astype(np.float64).T)
    else:
        scale = np.maximum(1, np.abs(exact))
    units = 2.0 ** (53 if first.dtype == np.float64 else 24)
    return float(np.max(np.abs(values.astype(np.float64) - exact) / scale)) * units


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=int, nargs="?", default=100_000, help="how many pairs (default: 100,000)")
    options = parser.parse_args()
    count = options.pairs
    print(
        f"{count:,} pairs\n\n| variant | float64, units of 2**-53 | float32, units of 2**-24 |\n| --- | ---: | ---: |"
    )
    for variant in VARIANTS:
        errors = [worst(variant, *pairs(count, dtype)) for dtype in (np.float64, np.float32)]
        print(f"| {variant.name} | {errors[0]:.1f} | {errors[1]:.1f} |", flush=True)


if __name__ == "__main__":
    main()
