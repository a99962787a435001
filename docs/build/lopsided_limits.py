"""How often do intervals hold with the lower limit of a lopsided number moved, and without? On the same samples.

    python docs/build/lopsided_limits.py [--samples 100]    # prints the table of docs/uncertainty.md

The populations are some of those of ``interval_coverage.py``: those in which few images lower the numbers much, and
three in which they do not. Its true numbers, in docs/data/coverage.json, are read; those of classes are computed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import detector_populations
from interval_coverage import KEYS, LEVEL, OTHERS, POPULATIONS, REPLICATES, TITLES, sample

from ioukit.statistics.estimating import enough_groups
from ioukit.statistics.evidence import Evidence
from ioukit.statistics.named_numbers import named_numbers

ROWS = [
    ("balanced", 100), ("uneven", 200), ("poor", 500), ("storms", 80), ("storms", 400), ("factory", 60),
    ("duplicates", 300), ("shelves", 300), ("fog", 90), ("annotators", 180), ("insects", 50), ("lesions", 200),
]  # fmt: skip
MOST = 8  # classes of a sample
OF_A_CLASS = "AP of a class"
Cell = tuple[str, str]


def count(row: tuple[str, int, int]) -> Counter[tuple[Cell, str]]:
    """Of the intervals of one row: how many there are, how many hold without and with the move, and their lengths."""
    name, images, samples = row
    every = json.loads((Path(__file__).parents[1] / "data" / "coverage.json").read_text(encoding="utf-8"))
    true = next(part[name]["true"] for part in every.values() if isinstance(part, dict) and name in part)
    of_classes = detector_populations.compute_true_class_numbers(OTHERS[name]) if name in OTHERS else {}
    found = Counter[tuple[Cell, str]]()
    for number in range(samples):
        seed = [number, images, zlib.crc32(name.encode()), 6]
        if name in OTHERS:
            (model, _), groups = detector_populations.evaluations(OTHERS[name], images, seed)
        else:
            (model, _), groups = sample(POPULATIONS[name], images, seed)
        classes = [one.name for one in model.per_class if not math.isnan(one.summary["AP"])] if of_classes else []
        keys = [*KEYS, *(f"AP/{each}" for each in classes[:MOST])]
        drawn = enough_groups(model.matches, None, groups)
        evidence = Evidence(named_numbers(model, keys), [model], drawn, REPLICATES, number, 1)
        for key, one in zip(keys, evidence.estimates, strict=True):
            truth = of_classes[key.partition("/")[2]] if "/" in key else true[key]
            cell = f"{name} {images}", OF_A_CLASS if "/" in key else key
            for way, each in (("before", one._replace(skewness=0.0)), ("after", one)):
                low, high = each.limits(LEVEL)
                if not math.isnan(low + truth):
                    found[cell, way] += low <= truth <= high
                    found[cell, f"{way}, length"] += high - low  # type: ignore[assignment]
                    found[cell, f"{way}, all"] += 1
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    found = Counter[tuple[Cell, str]]()
    with ProcessPoolExecutor(options.workers) as pool:
        for part in pool.map(count, [(*row, options.samples) for row in ROWS]):
            found += part
    columns = [*KEYS, OF_A_CLASS]
    lines = [f"| population | images | {' | '.join(columns)} |", f"| --- | ---: |{' ---: |' * len(columns)}"]
    for name, images in ROWS:
        cells = []
        for column in columns:
            of = {what: found[(f"{name} {images}", column), what] for what in ("before", "after", "after, all")}
            lengths = [found[(f"{name} {images}", column), f"{way}, length"] for way in ("before", "after")]
            every = of["after, all"]
            shares = [round(100 * of[way] / every) for way in ("before", "after")] if every else []
            cells.append(f"{shares[0]}, **{shares[1]}**; {lengths[1] / lengths[0]:.2f}" if every else "")
        lines.append(f"| {TITLES[name]} | {images:,} | {' | '.join(cells)} |")
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
