"""Is the smallest detectable difference right? Models that are worse by two amounts, and how often a test finds it.

    python docs/build/detectable_differences.py run RESULTS.jsonl [--samples 200] [--workers 2]   # can be continued
    python docs/build/detectable_differences.py summarise RESULTS.jsonl              # writes docs/data/detectable.json

The populations are those of ``interval_coverage.py``. A test finds a true difference of d in a share of the samples
that tells its error: ``d / (z(0.975) + z(share))`` for normal differences. The mean of the errors at two differences,
one that is found in about two thirds of the samples and one in nine tenths, gives the difference found in 80 %.
"""

from __future__ import annotations

import json
import sys
import zlib
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from false_alarms import ALL_SIZES
from interval_coverage import POPULATIONS, add, lines_of, program, sample

from ioukit.statistics import compare

DATA = Path(__file__).parents[1] / "data" / "detectable.json"
WORSE = {("balanced", 100): (0.2, 0.3), ("uneven", 200): (0.2, 0.3), ("uneven", 1000): (0.1, 0.15),
         ("videos", 320): (0.15, 0.25)}  # fmt: skip
POWER, REPLICATES = 0.8, 400


def repetition(job: tuple[str, int, float, int]) -> str:
    """The difference of one sample, whether it is found, and the smallest one that would be."""
    name, images, worse, number = job
    seed = [number, images, zlib.crc32(name.encode()), 9]
    models, video = sample(POPULATIONS[name], images, seed, [worse], ALL_SIZES)
    options: dict[str, Any] = {"permutations": REPLICATES, "replicates": 2, "seed": number, "clusters": video}
    found = compare(*models, keys="AP", power=POWER, threads=1, **options)["AP"]
    row = {"population": name, "images": images, "worse": worse, "number": number}
    numbers = {"difference": found.difference, "detectable": found.detectable, "found": found.p_value <= 0.05}
    return json.dumps(row | numbers)


def summarise(path: Path) -> dict[str, Any]:
    """For each population and size: the mean of what is said to be detectable, and what is."""
    lines, normal = lines_of(path), NormalDist()
    found = []
    for (name, images), amounts in WORSE.items():
        made: dict[str, Any] = {"population": name, "images": images, "shares": [], "said": [], "true": []}
        for worse in amounts:
            rows = [row for row in lines if (row["population"], row["images"], row["worse"]) == (name, images, worse)]
            share = (sum(row["found"] for row in rows) + 0.5) / (len(rows) + 1)
            error = -np.mean([row["difference"] for row in rows]) / (normal.inv_cdf(0.975) + normal.inv_cdf(share))
            made["shares"].append(round(share, 3))
            made["true"].append(round(float(error) * (normal.inv_cdf(0.975) + normal.inv_cdf(POWER)), 5))
            made["said"].append(round(float(np.mean([row["detectable"] for row in rows])), 5))
        found.append(made | {"samples": len(rows)})
    return {"power": POWER, "sets": found}


def table(found: dict[str, Any]) -> str:
    """The table of the page."""
    lines = [
        "| population | samples | found | `detectable`, mean | found in 80 % |",
        "| --- | ---: | ---: | ---: | ---: |",
    ]
    for one in found["sets"]:
        title = f"{POPULATIONS[one['population']].title}, {one['images']:,} images"
        shares = " and ".join(f"{100 * share:.0f}" for share in one["shares"])
        said, true = np.mean(one["said"]), np.mean(one["true"])
        lines.append(f"| {title} | 2 x {one['samples']} | {shares} % | {said:.4f} | {true:.4f} |")
    return "\n".join(lines)


def words(found: dict[str, Any]) -> str:
    """What the page says of the table."""
    ratios = [float(np.mean(one["said"]) / np.mean(one["true"])) for one in found["sets"]]
    return f"The first is {min(ratios):.2f} to {max(ratios):.2f} times the second."


def run(path: Path, samples: int, workers: int) -> None:
    """Add the samples that a file lacks, all populations in turns."""
    done = {(row["population"], row["images"], row["worse"], row["number"]) for row in lines_of(path)}
    jobs = [(*one, worse, number) for number in range(samples) for one, both in WORSE.items() for worse in both]
    add(path, [job for job in jobs if job not in done], repetition, workers)


if __name__ == "__main__":
    program(sys.modules[__name__], {"run": run}, samples=200)
