"""How often do intervals hold the true number? Samples of populations whose numbers are known.

    python docs/build/coverage.py run RESULTS.jsonl [--repetitions 500] [--workers 2]   # hours; can be continued
    python docs/build/coverage.py summarise RESULTS.jsonl                               # writes docs/data/coverage.json

A population is a match table of two models. A sample draws images of it with replacement, and gets intervals of its
numbers and a p-value in three ways: percentile, BCa, and percentile after removing repeated images from each replicate,
which is a common mistake. The true numbers are those of the population.

Populations:

- ``model``: a random detector on random scenes. 50,000 images; objects of 20 categories, the most frequent one ten
  times as frequent as the rarest. Images differ in how hard they are, for both models alike; the second model places
  boxes a little better, and has more false positives.
- ``coco``: the 100 images of COCO val2017 in ``examples/``, with the detections of YOLACT; the second model has the
  same detections with shifted boxes and other scores. It is drawn with replacement, so a sample may have any size.

For p-values, the two models are exchanged on each image with probability 1/2. Then neither is better.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ioukit
from ioukit.statistics import bootstrap_weights, interleave, leave_one_out_weights, permutation_swaps, repeat_images
from ioukit.statistics import replicate as replicated
from ioukit.statistics.limits import find_limits

if TYPE_CHECKING:
    from ioukit import MatchTable

    Floats = np.ndarray[Any, np.dtype[np.float64]]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "data" / "coverage.json"
KEYS = ("AP", "AP50", "APs")
WAYS = ("percentile", "bca", "repeats removed")
SIZES = (200, 1_000, 5_000)
REPLICATES = 400
PERMUTATIONS = 199
LEVEL = 0.95
NULL_SIZES = (200, 1_000)  # of samples that have a p-value


@cache
def population(name: str) -> tuple[MatchTable, MatchTable]:
    """The match tables of both models."""
    if name == "model":
        truth, found = random_scenes(50_000)
    else:
        folder = ROOT / "examples" / "coco_val2017_100"
        truth, one = ioukit.read_coco(folder / "ground_truth.json", folder / "yolact.json")
        found = (one, shifted(one))
    a, b = (ioukit.evaluate(truth, each, threads=1).matches for each in found)
    return a, b


def random_scenes(images: int) -> tuple[ioukit.GroundTruth, tuple[ioukit.Detections, ioukit.Detections]]:
    """Random objects, and the detections of two models."""
    rng = np.random.default_rng(20260101)
    share = 1 / np.linspace(1, 10, 20)
    image = np.repeat(np.arange(images), rng.poisson(3, images))
    count = len(image)
    category = rng.choice(20, count, p=share / share.sum())
    side = np.exp(rng.normal(3.8, 0.8, (count, 1))) * np.exp(rng.normal(0, 0.25, (count, 2)))
    boxes = np.concatenate([rng.uniform(0, 500, (count, 2)), side], axis=1)
    truth = ioukit.GroundTruth.from_arrays(
        image_ids=image, category_ids=category, boxes=boxes, images=np.arange(images), categories=np.arange(20)
    )
    hard = rng.normal(0, 0.6, images)[image] + rng.normal(0, 0.8, count)

    def model(quality: float, false_positives: float) -> ioukit.Detections:
        doubt = hard + rng.normal(0, 0.7, count)
        rows = np.flatnonzero(doubt < 1.0)
        noise = 0.05 * quality * np.exp(0.5 * doubt[rows, None]) * rng.normal(size=(len(rows), 4))
        noise[:, :2] *= boxes[rows, 2:]
        moved = boxes[rows] + np.concatenate([noise[:, :2], boxes[rows, 2:] * np.expm1(noise[:, 2:])], axis=1)
        extra = np.repeat(np.arange(images), rng.poisson(false_positives, images))
        width = np.exp(rng.normal(3.8, 0.9, (len(extra), 2)))
        wrong = np.concatenate([rng.uniform(0, 500, (len(extra), 2)), width], axis=1)
        label = np.concatenate([category[rows], rng.choice(20, len(extra), p=share / share.sum())])
        score = np.concatenate([1.2 - doubt[rows] + rng.normal(0, 0.5, len(rows)), rng.normal(0.2, 0.8, len(extra))])
        return ioukit.Detections.from_arrays(
            image_ids=np.concatenate([image[rows], extra]),
            category_ids=label,
            boxes=np.concatenate([moved, wrong]),
            scores=1 / (1 + np.exp(-score)),
        )

    return truth, (model(1.05, 1.5), model(1.0, 1.8))


def shifted(found: ioukit.Detections) -> ioukit.Detections:
    """Other detections of the same objects: boxes a little off, scores a little different."""
    rng = np.random.default_rng(3)
    size = np.tile(found.boxes[:, 2:], 2)
    boxes = found.boxes + 0.03 * size * rng.normal(size=size.shape)
    scores = np.clip(found.scores + rng.normal(0, 0.03, len(found)), 0.001, 1)
    return ioukit.Detections.from_arrays(
        image_ids=found.image_ids, category_ids=found.category_ids, boxes=boxes, scores=scores
    )


@cache
def true_numbers(name: str) -> list[float]:
    """The numbers of the first model and the differences; more copies of the population would not change them."""
    a, b = population(name)
    copies = np.full((1, len(a.image_ids)), 1 if name == "model" else 2_000)
    one, other = (replicated(table, copies, measures=KEYS, threads=1).values[0] for table in (a, b))
    return [*one.tolist(), *(other - one).tolist()]


def numbers(tables: tuple[MatchTable, MatchTable], weights: Any) -> Floats:
    """(B, 6) the numbers of the first model, and the differences of both."""
    one, other = (replicated(table, weights, measures=KEYS, threads=1).values for table in tables)
    return np.concatenate([one, other - one], axis=1)


def repetition(job: tuple[str, int, int]) -> str:
    """Intervals, and a p-value for each difference, of one sample."""
    name, size, number = job
    tables = population(name)
    rng = np.random.default_rng([number, size])
    images = len(tables[0].image_ids)
    counts = np.bincount(rng.integers(0, images, size), minlength=images)
    sample = (repeat_images(tables[0], counts), repeat_images(tables[1], counts))
    ids = np.arange(size)
    value = numbers(sample, np.ones((1, size), np.uint16))[0]
    weights = bootstrap_weights(ids, REPLICATES, seed=number)
    drawn, once = numbers(sample, weights), numbers(sample, np.minimum(weights, 1))
    left = numbers(sample, leave_one_out_weights(ids))
    limits = {
        "percentile": [find_limits(value[q], drawn[:, q], LEVEL)[:2] for q in range(6)],
        "bca": [find_limits(value[q], drawn[:, q], LEVEL, left_out=left[:, q])[:2] for q in range(6)],
        "repeats removed": [find_limits(value[q], once[:, q], LEVEL)[:2] for q in range(6)],
    }
    row = {"population": name, "size": size, "number": number, "value": value.tolist(), "limits": limits}
    row["errors"] = np.nanstd(drawn, axis=0, ddof=1).tolist()
    if size in NULL_SIZES:
        row["null"] = null(sample, number, weights)
    return json.dumps(row)


def null(sample: tuple[MatchTable, MatchTable], number: int, weights: Any) -> dict[str, list[float]]:
    """P-values of the differences of models that are exchanged at random on each image."""
    both = interleave(*sample)
    exchanged = np.random.default_rng([number, 1]).random(weights.shape[1]) < 0.5
    swaps = permutation_swaps(np.arange(weights.shape[1]), PERMUTATIONS, seed=number)
    rows = np.concatenate([np.zeros((1, len(exchanged)), np.bool_), swaps]) ^ exchanged
    place = np.stack([~rows, rows], axis=2).reshape(len(rows), -1)
    found = replicated(both, np.concatenate([place, ~place]).astype(np.uint16), measures=KEYS, threads=1).values
    apart = np.abs(found[len(rows) :] - found[: len(rows)])
    return {"p": ((1 + (~(apart[1:] < apart[0])).sum(axis=0)) / (1 + PERMUTATIONS)).tolist()}


def run(path: Path, repetitions: int, workers: int, sizes: list[int], populations: list[str]) -> None:
    """Add repetitions to a file, those that it lacks; all kinds of samples in turns."""
    done = set()
    if path.exists():
        rows = (json.loads(line) for line in path.read_text().splitlines())
        done = {(row["population"], row["size"], row["number"]) for row in rows}
    wanted = [(name, size, number) for number in range(repetitions) for name in populations for size in sizes]
    left = [job for job in wanted if job not in done]
    with multiprocessing.Pool(workers) as pool, path.open("a") as file:
        for line in pool.imap_unordered(repetition, left):
            file.write(f"{line}\n")
            file.flush()


def summarise(path: Path) -> dict[str, Any]:
    """What the figures and the page show: counts of samples whose interval holds the true number, and of p-values."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    names = [*KEYS, *(f"difference of {key}" for key in KEYS)]
    found: dict[str, Any] = {"level": LEVEL, "replicates": REPLICATES, "permutations": PERMUTATIONS, "populations": {}}
    for name in ("model", "coco"):
        true = np.array(true_numbers(name))
        samples: dict[str, Any] = {}
        for size in SIZES:
            chosen = [row for row in rows if (row["population"], row["size"]) == (name, size)]
            if chosen:
                samples[str(size)] = of_samples(chosen, true, names)
        found["populations"][name] = {"true": dict(zip(names, true.round(6).tolist(), strict=True)), "samples": samples}
    return found


def of_samples(rows: list[dict[str, Any]], true: Floats, names: list[str]) -> dict[str, Any]:
    """The counts of samples of one population and size."""
    values = np.array([row["value"] for row in rows])
    spread = np.nanstd(values, axis=0, ddof=1)
    bias = (np.nanmean(values, axis=0) - true) / spread
    error = np.nanmean([row["errors"] for row in rows], axis=0) / spread
    made: dict[str, Any] = {"repetitions": len(rows)}
    for at, name in enumerate(names):
        made[name] = {"bias": round(bias[at], 3), "standard error": round(error[at], 3)}  # both in units of the spread
        for way in WAYS:
            low, high = np.array([row["limits"][way][at] for row in rows]).T
            counts = {
                "too low": high < true[at],
                "too high": low > true[at],
                "holds": (low <= true[at]) & (true[at] <= high),
            }
            made[name][way] = {word: int(count.sum()) for word, count in counts.items()}
    if "null" in rows[0]:
        p_values = np.array([row["null"]["p"] for row in rows])
        edges = np.linspace(0, 1, 21)[1:]
        made["p-values"] = {
            key: [int((p_values[:, at] <= edge + 1e-9).sum()) for edge in edges] for at, key in enumerate(KEYS)
        }
    return made


def table(found: dict[str, Any]) -> str:
    """The table of the page: how often the intervals of ``evaluation.interval`` and of ``compare`` hold, in percent."""
    names = [*KEYS, *(f"difference of {key}" for key in KEYS)]
    lines = [f"| population | images | samples | {' | '.join(names)} |", f"| --- |{' ---: |' * (2 + len(names))}"]
    for population, title in (("model", "random detector"), ("coco", "COCO val2017, YOLACT")):
        for size, sample in found["populations"][population]["samples"].items():
            count = sample["repetitions"]
            ways = ["bca"] * len(KEYS) + ["percentile"] * len(KEYS)
            shares = [100 * sample[name][way]["holds"] / count for name, way in zip(names, ways, strict=True)]
            cells = " | ".join(f"{share:.0f}" for share in shares)
            lines.append(f"| {title} | {int(size):,} | {count:,} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["run", "summarise"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--repetitions", type=int, default=500)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--populations", nargs="*", default=["model", "coco"])
    options = parser.parse_args()
    if options.action == "run":
        run(options.results, options.repetitions, options.workers, options.sizes, options.populations)
    else:
        DATA.write_text(json.dumps(summarise(options.results), indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
