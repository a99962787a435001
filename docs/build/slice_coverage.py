"""How often does the interval of a slice's difference to the rest hold 0, where nothing makes slices differ?

    python docs/build/slice_coverage.py --sets 200   # about five minutes

Images, or whole videos, get one of two and one of five labels at random, so the expected difference of AP is 0. The
share of the intervals that hold 0 is printed by the number of images, or videos, of the smaller of both parts, and
stands in docs/slices.md. The populations are those of `interval_coverage.py`.
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

SETS = (("balanced", 100), ("uneven", 60), ("uneven", 200), ("videos", 320), ("videos", 1200), ("one", 50))
EDGES = (2, 3, 4, 6, 10, 15, 20, 30, 60, 10_000)


def held(name: str, images: int, number: int) -> list[tuple[int, bool]]:
    """Of each slice of a set: the images or videos of the smaller part, and whether its interval holds 0."""
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
        difference = one.differences["AP"]
        if not math.isnan(difference.low):
            found.append((min(inside, len(np.unique(groups)) - inside), difference.low <= 0 <= difference.high))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=200, help="of each population and size")
    options = parser.parse_args()
    counts: defaultdict[int, list[bool]] = defaultdict(list)
    for name, images in SETS:
        for number in range(options.sets):
            for size, holds in held(name, images, number):
                counts[size].append(holds)
    lines = ["| images or videos | slices | holds 0 | standard error |", "| ---: | ---: | ---: | ---: |"]
    for low, high in pairwise(EDGES):
        rows = [holds for size, part in counts.items() if low <= size < high for holds in part]
        if rows:
            share = float(np.mean(rows))
            error = math.sqrt(share * (1 - share) / len(rows))
            lines.append(f"| {low} to {high - 1:,} | {len(rows):,} | {share:.1%} | {error:.1%} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
