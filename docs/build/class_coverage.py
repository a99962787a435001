"""How often do intervals of AP of a single class hold the true number? By how many images have the class.

    python docs/build/class_coverage.py true RESULTS.jsonl        # ten minutes: the true numbers
    python docs/build/class_coverage.py run RESULTS.jsonl [--samples 20] [--workers 2]   # can be continued
    python docs/build/class_coverage.py summarise RESULTS.jsonl   # writes docs/data/class_coverage.json

The populations are those of ``interval_coverage.py``. Images with a class are images with objects of it that count, or
videos if images are in videos. A class on one of them has no interval.
"""

from __future__ import annotations

import json
import math
import sys
import zlib
from itertools import pairwise
from pathlib import Path
from typing import Any

import detector_populations
import numpy as np
from interval_coverage import (
    CLASSES,
    LEVEL,
    OTHERS,
    PARTS,
    POPULATIONS,
    REPLICATES,
    SETS,
    WAYS,
    add,
    lines_of,
    program,
    sample,
    true_of_class,
)

from ioukit.statistics import bootstrap_weights, interval_from_replicates, intervals, replicate

DATA = Path(__file__).parents[1] / "data" / "class_coverage.json"
EDGES = (2, 4, 7, 11, 21, 51, 201, 100_000)
MOST = 12  # classes of a sample, at random


def true_numbers(of: int | str) -> str:
    """AP of one class of the first populations, or of all classes of another one."""
    if isinstance(of, int):
        return json.dumps({"class": of, "true": json.loads(true_of_class(of))["true"][0][0]})
    return json.dumps({"of": of, "true": detector_populations.compute_true_class_numbers(OTHERS[of])})


def repetition(job: tuple[str, int, int]) -> str:
    """The limits of AP of some classes of one sample, in both ways, and on how many images, or clusters, each is."""
    name, images, number = job
    seed = [number, images, zlib.crc32(name.encode()), 5]
    if name in OTHERS:
        (model, _), groups = detector_populations.evaluations(OTHERS[name], images, seed)
    else:
        (model, _), groups = sample(POPULATIONS[name], images, seed)
    truth = model.ground_truth
    assert truth is not None
    of_image = np.arange(images) if groups is None else np.asarray(groups)
    image = np.searchsorted(model.matches.image_ids, truth.image_ids)
    kept = ~truth.crowd
    pairs = np.unique(np.stack([truth.category_ids[kept], of_image[image[kept]]]), axis=1)
    labels, on = np.unique(pairs[0], return_counts=True)
    chosen = np.random.default_rng(seed).permutation(np.flatnonzero(on > 1))[:MOST]
    titles = {one.id: one.name for one in model.per_class}
    keys = {f"AP/{titles[label]}": at for label, at in zip(labels[chosen].tolist(), chosen.tolist(), strict=True)}
    options: dict[str, Any] = {"seed": number, "clusters": groups}
    found = intervals(model, keys, replicates=REPLICATES, level=LEVEL, threads=1, **options) if keys else {}
    weights = bootstrap_weights(model.matches.image_ids, REPLICATES, **options)
    drawn = replicate(model.matches, weights, measures=["AP"], per_class=True, threads=1)
    assert drawn.per_class is not None
    places = {one.id: at for at, one in enumerate(model.per_class)}
    rows = []
    for (key, at), one in zip(keys.items(), found.values(), strict=True):
        replicates = drawn.per_class[:, places[int(labels[at])], 0]
        plain = interval_from_replicates(one.value, replicates[~np.isnan(replicates)], level=LEVEL)
        limits = [(one.low, one.high), (plain.low, plain.high)]
        rows.append({"class": key.partition("/")[2], "on": int(on[at]), "limits": limits, "warned": bool(one.warnings)})
    return json.dumps({"population": name, "images": images, "number": number, "classes": rows})


def summarise(path: Path) -> dict[str, Any]:
    """By how many images have a class: how many intervals there are, with a warning, and how many hold."""
    lines = lines_of(path)
    first = {str(row["class"]): row["true"] for row in lines if "class" in row}
    others = {row["of"]: row["true"] for row in lines if "of" in row}
    found: dict[str, Any] = {"edges": EDGES}
    for part, (names, _) in PARTS.items():
        counts = np.zeros((len(EDGES) - 1, 2, 1 + len(WAYS)), int)
        for row in lines:
            if row.get("population") not in names:
                continue
            true = others.get(row["population"], first)
            for one in row["classes"]:
                limits = np.array(one["limits"], np.float64)
                if np.isnan(limits).any() or math.isnan(true[one["class"]]):
                    continue
                holds = (limits[:, 0] <= true[one["class"]]) & (true[one["class"]] <= limits[:, 1])
                bin_ = int(np.searchsorted(EDGES, one["on"], side="right")) - 1
                counts[bin_, int(one["warned"])] += [1, *holds.tolist()]
        found[part] = counts.tolist()
    return found


def table(found: dict[str, Any]) -> str:
    """The table of the page: how often limits hold, those of the percentile bootstrap, and how many there are."""
    lines = [f"| images with the class | {' | '.join(what for _, what in PARTS.values())} |"]
    lines.append(f"| ---: |{' ---: |' * len(PARTS)}")
    for at, (low, high) in enumerate(pairwise(found["edges"])):
        cells = []
        for part in PARTS:
            every, ours, theirs = np.sum(found[part][at], axis=0)
            cells.append(f"**{100 * ours / every:.0f}** / {100 * theirs / every:.0f}, {every:,}")
        rows = f"{low} or more" if at == len(EDGES) - 2 else f"{low} to {high - 1}"
        lines.append(f"| {rows} | {' | '.join(cells)} |")
    return "\n".join(lines)


def words(found: dict[str, Any]) -> str:
    """What the page says of the table."""
    said = []
    for part, (_, what) in PARTS.items():
        plain, warned = np.array(found[part]).sum(axis=0)
        said.append(
            f"in {what} {100 * (plain + warned)[1] / (plain + warned)[0]:.0f} % ({100 * plain[1] / plain[0]:.0f} % of "
            f"those without a warning; percentile bootstrap {100 * (plain + warned)[2] / (plain + warned)[0]:.0f} %)"
        )
    return f"Of all these intervals, as many hold: {', '.join(said)}."


def run(path: Path, samples: int, workers: int) -> None:
    """Add the samples that a file lacks, all populations in turns."""
    done = {(row["population"], row["images"], row["number"]) for row in lines_of(path) if "population" in row}
    jobs = [(name, images, number) for number in range(samples) for name, sizes in SETS.items() for images in sizes]
    add(path, [job for job in jobs if job not in done], repetition, workers)


def measure_true(path: Path, _: int, workers: int) -> None:
    """Add the true numbers of all classes."""
    add(path, [*range(CLASSES), *OTHERS], true_numbers, workers)


if __name__ == "__main__":
    program(sys.modules[__name__], {"true": measure_true, "run": run}, samples=20)
