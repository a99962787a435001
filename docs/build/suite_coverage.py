"""How often does the interval of a mean over data sets hold the true mean? Random data sets with known detectors.

    python docs/build/suite_coverage.py [--samples 297]      # ten minutes; prints the shares of docs/suite.md

A suite has six small data sets. Each sample draws all of them anew, with two detectors, from the classes of
`interval_coverage.py`, whose true numbers are those of 60,000 images. Images are independent.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from interval_coverage import ORDER, Ints, sample, true_of_class

from ioukit.comparison import evaluate_suite

SETS = ((1, 50, 0.6), (2, 40, 0.5), (3, 60, 0.4), (5, 50, 0.3), (1, 60, 0.9), (4, 40, 0.4))
"""How many classes each data set has, how many images, and how often an image has each class."""
REPLICATES = 200


@dataclass(frozen=True)
class DataSet:
    """What `interval_coverage.sample` asks of a population."""

    classes: Ints
    frequency: Any
    images: int
    videos: int = 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=297)
    options = parser.parse_args()
    classes = np.split(ORDER, np.cumsum([count for count, *_ in SETS]))
    sets = [DataSet(of, np.full(*row[::2]), row[1]) for of, row in zip(classes, SETS, strict=False)]
    true = np.mean([np.mean([_true(label) for label in one.classes.tolist()], axis=0) for one in sets], axis=0)
    held = np.zeros(3, int)
    for number in range(options.samples):
        drawn = {
            str(at): dict(zip("AB", sample(cast("Any", one), one.images, [number, at, 77])[0], strict=True))
            for at, one in enumerate(sets)
        }
        found = evaluate_suite(drawn, replicates=REPLICATES, permutations=REPLICATES, seed=number, threads=1)
        limits = [(one.low, one.high) for one in (*found.intervals, *found.differences)]
        held += [low <= value <= high for (low, high), value in zip(limits, (*true, true[1] - true[0]), strict=True)]
    shares = 100 * held / options.samples
    told = ", ".join(f"{name} {share:.1f}" for name, share in zip(("A", "B", "B - A"), shares.tolist(), strict=True))
    sys.stdout.write(f"{options.samples} samples; held in %: {told}\n")


def _true(label: int) -> list[float]:
    """The true AP of a class, for both detectors."""
    return [numbers[0] for numbers in json.loads(true_of_class(label))["true"]]


if __name__ == "__main__":
    main()
