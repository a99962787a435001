"""How often do the intervals of slices hold the true number, where nothing makes slices differ?

    python docs/build/slice_coverage.py --sets 200   # about ten minutes

Images, or whole videos, get one of two and one of five labels at random, so the expected difference of AP to the rest
is 0. The expected AP of a slice is the mean over all slices of as many images, or videos, of the population. The shares
are printed by the number of images, or videos: for the difference, of the smaller of both parts. They stand in
docs/slices.md. The populations are those of `interval_coverage.py`.
"""

from __future__ import annotations

import argparse
import math
import sys
import zlib
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
from interval_coverage import POPULATIONS, sample

from ioukit.slices import slice_numbers
from ioukit.statistics import Interval

SETS = (("balanced", 100), ("uneven", 60), ("uneven", 200), ("videos", 320), ("videos", 1200), ("one", 50))
EDGES = (5, 6, 8, 10, 15, 20, 30, 60, 10_000)
FEWEST_ALIKE = 20  # slices of as many images of which the mean is taken as the expected one


def of_slices(name: str, images: int, number: int) -> list[tuple[int, int, Interval, Interval]]:
    """Of each slice of a set: the images or videos of it, and of the smaller part, its AP, and the difference."""
    seed = [number, images, zlib.crc32(name.encode()), 77]
    (model,), video = sample(POPULATIONS[name], images, seed, [])
    rng = np.random.default_rng(seed)
    groups = np.arange(images) if video is None else np.asarray(video)
    labels = {f"of {count}": rng.integers(0, count, groups.max() + 1)[groups] for count in (2, 5)}
    found = []
    tables = {"image": np.arange(images), **labels}
    options: dict[str, Any] = {"tables": tables, "image_column": "image", "clusters": video, "threads": 1}
    for one in slice_numbers(model, [*labels], keys="AP", seed=number, **options):
        inside = len(np.unique(groups[labels[str(one.by)] == int(str(one.value))]))
        smaller = min(inside, len(np.unique(groups)) - inside)
        found.append((inside, smaller, one.numbers["AP"], one.differences["AP"]))
    return found


def shares(rows: list[tuple[int, bool]]) -> list[str]:
    """For each range of sizes: how many intervals there are, and which share of them holds, with its error."""
    cells = []
    for low, high in pairwise(EDGES):
        holds = [one for size, one in rows if low <= size < high]
        share = float(np.mean(holds)) if holds else math.nan
        error = math.sqrt(share * (1 - share) / max(len(holds), 1))
        cells.append(f"{share:.1%} ± {error:.1%} of {len(holds):,}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200, help="of each population and size")
    options = parser.parse_args()
    differences: list[tuple[int, bool]] = []
    numbers: list[tuple[int, bool]] = []
    for name, images in SETS:
        found = [one for number in range(options.sets) for one in of_slices(name, images, number)]
        differences += [(size, one.low <= 0 <= one.high) for _, size, _, one in found if not math.isnan(one.low)]
        values: defaultdict[int, list[float]] = defaultdict(list)
        for size, _, one, _ in found:
            values[size].append(one.value)
        expected = {size: float(np.nanmean(every)) for size, every in values.items() if len(every) >= FEWEST_ALIKE}
        numbers += [
            (size, one.low <= expected[size] <= one.high)
            for size, _, one, _ in found
            if size in expected and not math.isnan(one.low)
        ]
    lines = ["| images or videos | AP of the slice | difference to the rest |", "| ---: | ---: | ---: |"]
    columns = zip(pairwise(EDGES), shares(numbers), shares(differences), strict=True)
    lines += [f"| {low} to {high - 1:,} | {of_slice} | {of_rest} |" for (low, high), of_slice, of_rest in columns]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
