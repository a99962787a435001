"""How often do intervals hold the true number? Random populations whose numbers are known.

    python docs/build/coverage.py true RESULTS.jsonl                          # minutes: the true numbers
    python docs/build/coverage.py run RESULTS.jsonl [--samples 60] [--workers 2]   # ten minutes; can be continued
    python docs/build/coverage.py summarise RESULTS.jsonl                     # writes docs/data/coverage.json

Every sample is drawn anew: images, objects, sizes, detections. Classes differ in how well they are found, in their
size, in how many objects an image has, and in false positives; images differ in how hard they are, for all of their
classes. What a class is does not depend on how frequent it is. So the true AP of a class is that of a set of 60,000
images that all have the class, without the bias that random halves of it show; that of a population is the mean over
its classes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import sys
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import ioukit
from ioukit.statistics import bootstrap_weights, interval_from_replicates, intervals, replicate

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "data" / "coverage.json"
KEYS = ("AP", "AP50", "APs", "AR100")
WAYS = ("interval", "percentile")
REPLICATES = 400
LEVEL = 0.95
CLASSES = 80
TRUE_IMAGES = 60_000
_rng = np.random.default_rng(991)
QUALITY = _rng.normal(0.1, 0.7, CLASSES)
FALSE = np.exp(_rng.normal(0.6, 0.6, CLASSES))  # false positives per image with the class
MORE = _rng.uniform(0.1, 2.2, CLASSES)  # objects beyond the first one
SIZE = _rng.normal(4.0, 0.5, CLASSES)  # logarithm of a side
FALSE_SCORE = _rng.normal(-0.9, 0.4, CLASSES)  # its logit
ORDER = np.random.default_rng(5).permutation(CLASSES)


class Population(NamedTuple):
    """What a sample is drawn from."""

    title: str
    frequency: Floats
    """(K,) how often an image has each class."""
    images: tuple[int, ...]
    samples: float
    """How many samples, in relation to others."""
    videos: int = 0
    """Of how many images a video consists; 0 for images that are independent."""

    @property
    def classes(self) -> Ints:
        """(K,) the classes."""
        return ORDER[: len(self.frequency)]


def uneven(classes: int) -> Floats:
    """Frequencies by Zipf's law with an exponent of 0.9; an image has 2.9 classes."""
    weights = 1 / np.arange(1, classes + 1) ** 0.9
    return np.asarray(2.9 * weights / weights.sum())


POPULATIONS = {
    "balanced": Population("balanced", np.full(10, 0.25), (100, 400), 3),
    "uneven": Population("uneven", uneven(40), (200, 1000), 2),
    "coco": Population("COCO's size", uneven(80), (5000,), 1),
    "videos": Population("videos", np.full(10, 0.25), (320, 1200), 3, videos=40),
    "one": Population("one class", np.array([0.6]), (50, 200), 3),
}


def data(
    image: Ints, label: Ints, hard: Floats, rng: np.random.Generator, *, classes: Ints, false: tuple[Ints, Ints]
) -> tuple[ioukit.GroundTruth, ioukit.Detections]:
    """Objects and detections, apart from each other: of pairs of an image and a class, and of false positives."""
    count = 1 + rng.poisson(MORE[label] * rng.gamma(1.0, 1.0, len(label)))
    of, kind = np.repeat(image, count), np.repeat(label, count)
    number = len(of)
    sides = np.exp(rng.normal(SIZE[kind], 0.8)[:, None] + rng.normal(0, 0.25, (number, 2)))
    boxes = np.column_stack([2000.0 * np.arange(number), np.zeros(number), sides])
    doubt = hard[of] + rng.normal(0, 0.8, number)
    hits = np.flatnonzero(doubt + rng.normal(0, 0.5, number) < 1.0 + QUALITY[kind])
    doubles = hits[rng.random(len(hits)) < 0.2]
    rows, twice = np.concatenate([hits, doubles]), np.arange(len(hits) + len(doubles)) >= len(hits)
    spread = 0.07 * np.exp(0.4 * doubt[rows] - 0.2 * QUALITY[kind[rows]]) * np.where(twice, 2.0, 1.0)
    error = spread[:, None] * rng.normal(size=(len(rows), 4))
    found = np.hstack([boxes[rows, :2] + error[:, :2] * sides[rows], sides[rows] * np.exp(error[:, 2:])])
    logit = 1 + QUALITY[kind[rows]] - 0.8 * doubt[rows] + rng.normal(0, 0.8, len(rows)) - 1.5 * twice
    on, wrong = false
    wrong_sides = np.exp(rng.normal(SIZE[wrong], 0.9)[:, None] + rng.normal(0, 0.25, (len(on), 2)))
    wrong_boxes = np.column_stack([2000.0 * np.arange(len(on)), np.full(len(on), 5000.0), wrong_sides])
    wrong_logit = FALSE_SCORE[wrong] + 0.4 * hard[on] + rng.normal(0, 1.1, len(on))
    truth = ioukit.GroundTruth.from_arrays(
        image_ids=of, category_ids=kind, boxes=boxes, images=np.arange(len(hard)), categories=classes
    )
    detections = ioukit.Detections.from_arrays(
        image_ids=np.concatenate([of[rows], on]),
        category_ids=np.concatenate([kind[rows], wrong]),
        boxes=np.concatenate([found, wrong_boxes]),
        scores=1 / (1 + np.exp(-np.concatenate([logit, wrong_logit]))),
    )
    return truth, detections


def sample(population: Population, images: int, rng: np.random.Generator) -> tuple[ioukit.Evaluation, Any]:
    """The evaluation of a sample, and the video of each image."""
    classes, frequency = population.classes, population.frequency
    if population.videos:
        video = np.arange(images) // population.videos
        count = int(video[-1]) + 1
        hard = rng.normal(0, 0.5, count)[video] + rng.normal(0, 0.33, images)
        has = rng.random((count, len(classes))) < 1 - np.exp(-2 * frequency * rng.gamma(2, 0.5, (count, 1)))
        on, share = has[video] & (rng.random((images, len(classes))) < 0.5), 0.5 * (1 - (1 + frequency) ** -2)
    else:
        video, hard = None, rng.normal(0, 0.6, images)
        on = rng.random((images, len(classes))) < 1 - np.exp(-frequency * rng.gamma(2, 0.5, (images, 1)))
        share = 1 - (1 + frequency / 2) ** -2
    image, label = np.nonzero(on)
    false = np.nonzero(counts := rng.poisson(FALSE[classes] * share, (images, len(classes))))
    times = counts[false]
    wrong = np.repeat(false[0], times), classes[np.repeat(false[1], times)]
    return ioukit.evaluate(*data(image, classes[label], hard, rng, classes=classes, false=wrong), threads=1), video


def true_of_class(label: int) -> str:
    """The true numbers of a class."""
    rng = np.random.default_rng([7, label])
    images = np.arange(TRUE_IMAGES)
    on = np.repeat(images, rng.poisson(FALSE[label], TRUE_IMAGES))
    hard = rng.normal(0, 0.6, TRUE_IMAGES)
    labels, false = np.full(TRUE_IMAGES, label), (on, np.full(len(on), label))
    both = data(images, labels, hard, rng, classes=np.array([label]), false=false)
    halves = np.array([np.ones(TRUE_IMAGES), images % 2, 1 - images % 2], np.uint16)
    whole, *parts = replicate(ioukit.evaluate(*both).matches, halves, measures=KEYS).values
    rise = (np.mean(parts, axis=0) - whole) / (2**0.7 - 1)
    rise[KEYS.index("AR100")] = 0
    return json.dumps({"class": label, "true": (whole - rise).tolist()})


def repetition(job: tuple[str, int, int]) -> str:
    """The limits of one sample, in both ways."""
    name, images, number = job
    rng = np.random.default_rng([number, images, zlib.crc32(name.encode())])
    evaluation, video = sample(POPULATIONS[name], images, rng)
    found = intervals(evaluation, KEYS, replicates=REPLICATES, seed=number, clusters=video, threads=1, level=LEVEL)
    weights = bootstrap_weights(evaluation.matches.image_ids, REPLICATES, seed=number, clusters=video)
    drawn = replicate(evaluation.matches, weights, measures=KEYS, threads=1).values
    plain = [interval_from_replicates(found[key].value, drawn[:, at], level=LEVEL) for at, key in enumerate(KEYS)]
    limits = {
        "interval": [(one.low, one.high) for one in found.values()],
        "percentile": [(one.low, one.high) for one in plain],
    }
    warned = [bool(one.warnings) for one in found.values()]
    return json.dumps({"population": name, "images": images, "number": number, "limits": limits, "warned": warned})


def add(path: Path, jobs: list[Any], of: Any, workers: int) -> None:
    """Write a line for each job."""
    with multiprocessing.Pool(workers) as pool, path.open("a", encoding="utf-8") as file:
        for line in pool.imap_unordered(of, jobs):
            file.write(f"{line}\n")
            file.flush()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run(path: Path, samples: int, workers: int) -> None:
    """Add the samples that a file lacks, all kinds in turns."""
    done = {(row["population"], row["images"], row["number"]) for row in lines_of(path) if "population" in row}
    wanted = [
        (name, images, number)
        for number in range(3 * samples)
        for name, one in POPULATIONS.items()
        for images in one.images
        if number < one.samples * samples
    ]
    add(path, [job for job in wanted if job not in done], repetition, workers)


def summarise(path: Path) -> dict[str, Any]:
    """For each population and size: in how many samples the limits hold, lie too high, and how far they are apart."""
    lines = lines_of(path)
    true = {row["class"]: row["true"] for row in lines if "class" in row}
    found: dict[str, Any] = {"level": LEVEL, "replicates": REPLICATES, "populations": {}}
    for name, population in POPULATIONS.items():
        numbers = np.mean([true[label] for label in population.classes.tolist()], axis=0)
        sizes: dict[str, Any] = {}
        for images in population.images:
            rows = [row for row in lines if (row.get("population"), row.get("images")) == (name, images)]
            if rows:
                sizes[str(images)] = of_samples(rows, numbers)
        found["populations"][name] = {
            "title": population.title,
            "true": dict(zip(KEYS, numbers.round(5).tolist(), strict=True)),
            "images": sizes,
        }
    return found


def of_samples(rows: list[dict[str, Any]], true: Floats) -> dict[str, Any]:
    """The counts of the samples of one population and size."""
    made: dict[str, Any] = {"samples": len(rows)}
    for at, key in enumerate(KEYS):
        # A sample without small objects has no APs.
        defined = [row for row in rows if not np.isnan(np.array(row["limits"]["interval"][at], np.float64)).any()]
        made[key] = {"samples": len(defined), "warned": sum(row["warned"][at] for row in defined)}
        for way in WAYS:
            low, high = np.array([row["limits"][way][at] for row in defined], np.float64).T
            made[key][way] = {
                "holds": int(((low <= true[at]) & (true[at] <= high)).sum()),
                "too high": int((low > true[at]).sum()),
                "length": round(float(np.nanmean(high - low)), 4),
            }
    return made


def table(found: dict[str, Any]) -> str:
    """The table of the page: how often limits hold, in percent; those of the percentile bootstrap behind a slash."""
    lines = [f"| population | images | samples | {' | '.join(KEYS)} |", f"| --- |{' ---: |' * (2 + len(KEYS))}"]
    for population in found["populations"].values():
        for images, made in population["images"].items():
            cells = []
            for key in KEYS:
                ours, theirs = (100 * made[key][way]["holds"] / made[key]["samples"] for way in WAYS)
                doubt = " *" if made[key]["warned"] > made[key]["samples"] / 2 else ""
                cells.append(f"**{ours:.0f}**{doubt} / {theirs:.0f}")
            lines.append(f"| {population['title']} | {int(images):,} | {made['samples']} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["true", "run", "summarise"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--samples", type=int, default=60)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.action == "true":
        add(options.results, list(range(CLASSES)), true_of_class, options.workers)
    elif options.action == "run":
        run(options.results, options.samples, options.workers)
    else:
        found = summarise(options.results)
        DATA.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
        sys.stdout.write(f"{table(found)}\n")


if __name__ == "__main__":
    main()
