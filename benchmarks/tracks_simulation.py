"""How often do the intervals of two trackers hold the true difference, and how often does the test raise a false alarm?

    python benchmarks/tracks_simulation.py --sets 400

Each data set has a few sequences of a population, and the counts of two trackers in them. Four populations:

- alike: sequences of one length, with normal differences
- lengths: the longest of 21 sequences has about a hundred times the objects of the shortest one
- heavy: the differences of sequences have Student's t distribution with two degrees of freedom
- rare: B loses much in one of ten sequences, and is a little better in all others

In the first three, the two trackers are equally good and could be exchanged. In the last one, their combined MOTA is
equal, but they could not be exchanged, which the test assumes. Their HOTA differs, so alarms of HOTA are true. The
true difference is that of 50,000 sequences. Lengths differ in the last three.

Printed are shares of the data sets, for HOTA and MOTA: in which the interval holds the true difference; in which it has
no warning; of these, in which it holds; and in which the p-value is at most 0.05.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from ioukit.comparison.drawn_sequences import exchanges_of, limits_of_differences, tests_of_differences
from ioukit.tracks.draws import drawn_numbers
from ioukit.tracks.measures import THRESHOLDS

KEYS = ("HOTA", "MOTA")
POPULATIONS = ("alike", "lengths", "heavy", "rare")
LEVEL = 0.95


def sequences(population: str, count: int, rng: np.random.Generator, edge: float = 0.0) -> tuple[Any, Any]:
    """The numbers of both trackers; `edge` is added to the recall of B."""
    objects = np.full(count, 5000.0)
    if population != "alike":
        objects = np.maximum(np.round(5000 * np.exp(rng.normal(0, 1.2, count))), 50)
    difficulty = rng.normal(0.6, 0.12, count)
    noise = rng.standard_t(2, (2, count)) if population == "heavy" else rng.normal(0, 1, (2, count))
    recall = difficulty + 0.03 * noise
    if population == "rare":
        recall[1] = recall[0] + np.where(rng.random(count) < 0.1, -0.25, 0.03) + 0.005 * noise[1] + edge
    recall = np.clip(recall, 0.02, 0.98)
    kept = np.clip(0.6 + 0.5 * (recall - 0.6) + 0.03 * rng.normal(0, 1, (2, count)), 0.02, 0.98)
    made = []
    for found, association in zip(recall, kept, strict=True):
        at_half = np.round(objects * found)
        matches = np.round(objects[:, np.newaxis] * found[:, np.newaxis] * (1.05 - 0.9 * THRESHOLDS**3))
        wrong = np.round(0.15 * objects)
        switches = np.round(0.02 * objects * (1 - association))
        rows = []
        for at in range(count):
            values: dict[str, Any] = dict.fromkeys(("Frag", "MT", "PT", "ML", "IDs", "GT_IDs"), 0.0)
            values |= dict.fromkeys(("STDA", "FDA", "VACE_Frames"), 0.0)
            detections = at_half[at] + wrong[at]
            values |= {"HOTA_TP": matches[at], "HOTA_FN": objects[at] - matches[at]}
            values |= {"HOTA_FP": detections - matches[at], "LocA": np.full(len(THRESHOLDS), 0.8)}
            values |= {name: np.full(len(THRESHOLDS), association[at]) for name in ("AssA", "AssRe", "AssPr")}
            values |= {"TP": at_half[at], "FN": objects[at] - at_half[at], "FP": wrong[at], "IDSW": switches[at]}
            values |= {"CLR_Frames": 600, "MOTP_sum": 0.8 * at_half[at], "Dets": detections, "GT_Dets": objects[at]}
            shared = at_half[at] * association[at]
            values |= {"IDTP": shared, "IDFN": objects[at] - shared, "IDFP": detections - shared, "Frames": 600}
            rows.append(values)
        made.append(rows)
    return made[0], made[1]


def truth(population: str, edge: float, count: int = 50_000) -> np.ndarray:
    """The differences of the combined numbers of very many sequences."""
    sides = sequences(population, count, np.random.default_rng(99), edge)
    of_a, of_b = (drawn_numbers(side, np.ones((1, count)), KEYS)[0] for side in sides)
    return np.asarray(of_b - of_a)


def main() -> None:
    """Print the shares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400)
    parser.add_argument("--sequences", type=int, nargs="+", default=[5, 6, 7, 10, 21, 50])
    parser.add_argument("--populations", nargs="+", choices=POPULATIONS, default=POPULATIONS)
    args = parser.parse_args()
    print(f"{args.sets} sets each; the standard error of 95 % is {math.sqrt(0.05 * 0.95 / args.sets):.3f}")
    print("                       all intervals   no warning    without, they hold   false alarms")
    print("population  sequences   HOTA   MOTA   HOTA   MOTA      HOTA   MOTA      HOTA   MOTA")
    for population in args.populations:
        # For "rare", the edge that makes the combined MOTA equal; MOTA is linear in it, apart from the limits.
        edge = -truth(population, 0.0)[1] if population == "rare" else 0.0
        true = truth(population, edge) if population == "rare" else np.zeros(len(KEYS))
        for count in args.sequences:
            held, sure, held_sure, alarms = np.zeros((4, len(KEYS)))
            for number in range(args.sets):
                a, b = sequences(population, count, np.random.default_rng([number, count]), edge)
                limits = limits_of_differences(a, b, KEYS, level=LEVEL, replicates=1000, seed=0)
                tests = tests_of_differences(a, b, KEYS, exchanges_of(a, b, 1000), level=LEVEL, seed=0)
                for at, (one, (p_value, _)) in enumerate(zip(limits, tests, strict=True)):
                    holds = one.low <= true[at] <= one.high
                    held[at] += holds
                    sure[at] += not one.warnings
                    held_sure[at] += holds and not one.warnings
                    alarms[at] += p_value <= 1 - LEVEL + 1e-12
            with np.errstate(invalid="ignore"):
                columns = (held / args.sets, sure / args.sets, held_sure / sure, alarms / args.sets)
            shares = "      ".join("  ".join(f"{value:.3f}" for value in column) for column in columns)
            print(f"{population:10}  {count:9}  {shares}", flush=True)


if __name__ == "__main__":
    main()
