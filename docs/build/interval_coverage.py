"""How often do intervals hold the true number? Random populations whose numbers are known.

    python docs/build/interval_coverage.py true RESULTS.jsonl        # ten minutes: the true numbers
    python docs/build/interval_coverage.py run RESULTS.jsonl [--samples 20] [--workers 2]   # can be continued
    python docs/build/interval_coverage.py summarise RESULTS.jsonl   # writes docs/data/coverage.json

Every sample is drawn anew: images, objects, sizes, detections. Classes differ in how well they are found, in their
size, in how many objects an image has, and in false positives; images differ in how hard they are, for all of their
classes. What a class is does not depend on how frequent it is. So the true AP of a class is that of a set of 60,000
images that all have the class, without the bias that random halves of it show; that of a population is the mean over
its classes. A second model finds less of the same objects, with errors of its own, for the difference of two models.
Other populations are those of ``detector_populations.py``, ``further_populations.py`` and ``held_populations.py``.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import re
import sys
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import detector_populations
import further_populations
import held_populations
import numpy as np

import ioukit
from ioukit.statistics import (
    bootstrap_weights,
    compare,
    interval_from_replicates,
    intervals,
    replicate,
)

Floats = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

ROOT = Path(__file__).parents[2]
DATA = ROOT / "docs" / "data" / "coverage.json"
KEYS = ("AP", "AP50", "APs", "AR100")
DIFFERENCE = "AP"
COLUMNS = (*KEYS, "AP of B - A")
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
WORSE = 0.15  # by how much less the second model finds
FALSE_SCORE = _rng.normal(-0.9, 0.4, CLASSES)  # its logit
ORDER = np.random.default_rng(5).permutation(CLASSES)


class Population(NamedTuple):
    """What a sample is drawn from."""

    title: str
    frequency: Floats
    """(K,) how often an image has each class."""
    images: tuple[int, ...]
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
    "balanced": Population("balanced", np.full(10, 0.25), (100, 400)),
    "uneven": Population("uneven", uneven(40), (200, 1000)),
    "coco": Population("COCO's size", uneven(80), (5000,)),
    "videos": Population("videos", np.full(10, 0.25), (320, 1200), videos=40),
    "one": Population("one class", np.array([0.6]), (50, 200)),
}
OTHERS = detector_populations.POPULATIONS | further_populations.POPULATIONS | held_populations.POPULATIONS
PARTS = {
    "populations": (POPULATIONS, "these populations"),
    "others": (detector_populations.POPULATIONS, "the ten difficult ones"),
    "further": (further_populations.POPULATIONS, "the ten later ones"),
    "held": (held_populations.POPULATIONS, "the eight that were held back"),
}
SETS = {name: one.images for name, one in POPULATIONS.items()} | {name: one.sizes for name, one in OTHERS.items()}
TITLES = {name: one.title for name, one in (*POPULATIONS.items(), *OTHERS.items())}


class Objects(NamedTuple):
    """The objects of pairs of an image and a class, apart from each other."""

    image: Ints
    label: Ints
    boxes: Floats
    doubt: Floats
    """(N,) how hard each is to find, for any model."""


def objects(image: Ints, label: Ints, hard: Floats, rng: np.random.Generator) -> Objects:
    count = 1 + rng.poisson(MORE[label] * rng.gamma(1.0, 1.0, len(label)))
    of, kind = np.repeat(image, count), np.repeat(label, count)
    number = len(of)
    sides = np.exp(rng.normal(SIZE[kind], 0.8)[:, None] + rng.normal(0, 0.25, (number, 2)))
    boxes = np.column_stack([2000.0 * np.arange(number), np.zeros(number), sides])
    return Objects(of, kind, boxes, hard[of] + rng.normal(0, 0.8, number))


def detections(
    of: Objects, hard: Floats, false: tuple[Ints, Ints], rng: np.random.Generator, quality: Floats
) -> ioukit.Detections:
    """What a model finds: objects, some twice, and false positives on images, of classes."""
    kind, sides, doubt = of.label, of.boxes[:, 2:], of.doubt
    hits = np.flatnonzero(doubt + rng.normal(0, 0.5, len(kind)) < 1.0 + quality[kind])
    doubles = hits[rng.random(len(hits)) < 0.2]
    rows, twice = np.concatenate([hits, doubles]), np.arange(len(hits) + len(doubles)) >= len(hits)
    spread = 0.07 * np.exp(0.4 * doubt[rows] - 0.2 * quality[kind[rows]]) * np.where(twice, 2.0, 1.0)
    error = spread[:, None] * rng.normal(size=(len(rows), 4))
    found = np.hstack([of.boxes[rows, :2] + error[:, :2] * sides[rows], sides[rows] * np.exp(error[:, 2:])])
    logit = 1 + quality[kind[rows]] - 0.8 * doubt[rows] + rng.normal(0, 0.8, len(rows)) - 1.5 * twice
    on, wrong = false
    wrong_sides = np.exp(rng.normal(SIZE[wrong], 0.9)[:, None] + rng.normal(0, 0.25, (len(on), 2)))
    wrong_boxes = np.column_stack([2000.0 * np.arange(len(on)), np.full(len(on), 5000.0), wrong_sides])
    wrong_logit = FALSE_SCORE[wrong] + 0.4 * hard[on] + rng.normal(0, 1.1, len(on))
    return ioukit.Detections.from_arrays(
        image_ids=np.concatenate([of.image[rows], on]),
        category_ids=np.concatenate([kind[rows], wrong]),
        boxes=np.concatenate([found, wrong_boxes]),
        scores=1 / (1 + np.exp(-np.concatenate([logit, wrong_logit]))),
    )


def evaluated(
    of: Objects,
    found: list[ioukit.Detections],
    images: int,
    classes: Ints,
    protocol: ioukit.Protocol = ioukit.COCO,
) -> Iterator[ioukit.Evaluation]:
    truth = ioukit.GroundTruth.from_arrays(
        image_ids=of.image, category_ids=of.label, boxes=of.boxes, images=np.arange(images), categories=classes
    )
    for one in found:
        yield ioukit.evaluate(truth, one, protocol, threads=1)


def sample(
    population: Population,
    images: int,
    seed: list[int],
    others: Sequence[float] = (WORSE,),
    protocol: ioukit.Protocol = ioukit.COCO,
) -> tuple[list[ioukit.Evaluation], Any]:
    """The evaluations of a model and of others, worse by so much, on a sample; and the video of each image."""
    rng = np.random.default_rng(seed)
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

    def false(rng: np.random.Generator) -> tuple[Ints, Ints]:
        places = np.nonzero(counts := rng.poisson(FALSE[classes] * share, (images, len(classes))))
        times = counts[places]
        return np.repeat(places[0], times), classes[np.repeat(places[1], times)]

    wrong = false(rng)
    of = objects(image, classes[label], hard, rng)
    found = [detections(of, hard, wrong, rng, QUALITY)]
    for at, worse in enumerate(others):
        other = np.random.default_rng([*seed, 1 + at])
        found.append(detections(of, hard, false(other), other, QUALITY - worse))
    return list(evaluated(of, found, images, classes, protocol)), video


def true_of_class(label: int) -> str:
    """The true numbers of a class, for both models."""
    rng, images = np.random.default_rng([7, label]), np.arange(TRUE_IMAGES)
    hard = rng.normal(0, 0.6, TRUE_IMAGES)
    of = objects(images, np.full(TRUE_IMAGES, label), hard, rng)
    found = []
    for quality in (QUALITY, QUALITY - WORSE):
        on = np.repeat(images, rng.poisson(FALSE[label], TRUE_IMAGES))
        found.append(detections(of, hard, (on, np.full(len(on), label)), rng, quality))
    halves = np.array([np.ones(TRUE_IMAGES), images % 2, 1 - images % 2], np.uint16)
    true = []
    for evaluation in evaluated(of, found, TRUE_IMAGES, np.array([label])):
        whole, *parts = replicate(evaluation.matches, halves, measures=KEYS).values
        rise = (np.mean(parts, axis=0) - whole) / (2**0.7 - 1)
        rise[KEYS.index("AR100")] = 0
        true.append((whole - rise).tolist())
    return json.dumps({"class": label, "true": true})


def true_numbers(of: int | str) -> str:
    """The true numbers of a class, or of one of the other populations."""
    if isinstance(of, int):
        return true_of_class(of)
    found = detector_populations.compute_true_numbers(OTHERS[of])
    return json.dumps({"of": of, "true": [found[key] for key in (*KEYS, "difference")]})


def repetition(job: tuple[str, int, int]) -> str:
    """The limits of one sample, in both ways: of numbers of the first model, and of the difference to the second."""
    name, images, number = job
    seed = [number, images, zlib.crc32(name.encode())]
    if name in OTHERS:
        models, groups = detector_populations.evaluations(OTHERS[name], images, seed)
    else:
        models, groups = sample(POPULATIONS[name], images, seed)
    options: dict[str, Any] = {"seed": number, "clusters": groups}
    weights = bootstrap_weights(models[0].matches.image_ids, REPLICATES, **options)
    options |= {"replicates": REPLICATES, "level": LEVEL, "threads": 1}
    numbers = list(intervals(models[0], KEYS, **options).values())
    difference = compare(*models, keys=DIFFERENCE, permutations=1, **options)[DIFFERENCE]
    first = replicate(models[0].matches, weights, measures=KEYS, threads=1).values
    second = replicate(models[1].matches, weights, measures=DIFFERENCE, threads=1).values
    plain = [
        *(interval_from_replicates(one.value, row, level=LEVEL) for one, row in zip(numbers, first.T, strict=True)),
        interval_from_replicates(difference.difference, second[:, 0] - first[:, KEYS.index(DIFFERENCE)], level=LEVEL),
    ]
    ours = [*numbers, difference]
    limits = {way: [(one.low, one.high) for one in found] for way, found in zip(WAYS, (ours, plain), strict=True)}
    count = images if groups is None else len(np.unique(groups))
    row = {"population": name, "images": images, "number": number, "groups": count}
    again = {"values": [one.value for one in numbers], "another set": [one.another_set for one in numbers]}
    return json.dumps({**row, "limits": limits, "warnings": [one.warnings for one in ours], **again})


def add(path: Path, jobs: list[Any], of: Any, workers: int) -> None:
    """Write a line for each job."""
    with multiprocessing.Pool(workers) as pool, path.open("a", encoding="utf-8") as file:
        for line in pool.imap_unordered(of, jobs):
            file.write(f"{line}\n")
            file.flush()


def lines_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run(path: Path, samples: int, workers: int) -> None:
    """Add the samples that a file lacks, all populations in turns."""
    done = {(row["population"], row["images"], row["number"]) for row in lines_of(path) if "population" in row}
    wanted = [(name, images, number) for number in range(samples) for name, sizes in SETS.items() for images in sizes]
    add(path, [job for job in wanted if job not in done], repetition, workers)


def summarise(path: Path) -> dict[str, Any]:
    """For each population and size: in how many samples the limits hold, lie too high, and how far they are apart."""
    lines = lines_of(path)
    of_classes = {row["class"]: np.array(row["true"]) for row in lines if "class" in row}
    true = {row["of"]: row["true"] for row in lines if "of" in row}
    for name, population in POPULATIONS.items():
        first, second = np.mean([of_classes[label] for label in population.classes.tolist()], axis=0)
        true[name] = [*first.tolist(), float((second - first)[KEYS.index(DIFFERENCE)])]
    found: dict[str, Any] = {"level": LEVEL, "replicates": REPLICATES}
    for part, (names, _) in PARTS.items():
        found[part] = {}
        for name in names:
            rows = [row for row in lines if row.get("population") == name]
            found[part][name] = {
                "title": TITLES[name],
                "true": {key: round(value, 5) for key, value in zip(COLUMNS, true[name], strict=True)},
                "images": {str(size): of_size(rows, size, true[name]) for size in SETS[name]},
            }
    return found


def of_size(lines: list[dict[str, Any]], size: int, true: Sequence[float]) -> dict[str, Any]:
    """The counts of one population at one size."""
    rows = [row for row in lines if row["images"] == size]
    groups = round(float(np.mean([row["groups"] for row in rows])))
    return {"groups": groups} | {
        column: of_samples(rows, at, number) for at, (column, number) in enumerate(zip(COLUMNS, true, strict=True))
    }


def of_samples(rows: list[dict[str, Any]], at: int, true: float) -> dict[str, Any]:
    """The counts of one number in the samples of one population and size."""
    # A sample without small objects has no APs.
    defined = [row for row in rows if not np.isnan(np.array(row["limits"]["interval"][at], np.float64)).any()]
    warnings = [{kind_of(one) for one in row["warnings"][at]} for row in defined]
    warned = np.array([bool(one) for one in warnings])
    made: dict[str, Any] = {"samples": len(defined), "warned": int(warned.sum())}
    if at < len(KEYS):
        made["another set"] = round(share_of_other_sets(defined, at), 4)
    for way in WAYS:
        low, high = np.array([row["limits"][way][at] for row in defined], np.float64).T
        holds = (low <= true) & (true <= high)
        if way == WAYS[0]:
            made["by warning"] = {
                kind: [sum(kind in one for one in warnings), sum(kind in one for one in np.array(warnings)[holds])]
                for kind in sorted(set().union(*warnings))
            }
        made[way] = {
            "holds": int(holds.sum()),
            "holds, warned": int(holds[warned].sum()),
            "too high": int((low > true).sum()),
            "length": round(float(np.nanmean(high - low)), 4),
        }
    return made


def kind_of(warning: str) -> str:
    """A warning without its numbers, the same for images and clusters, for one and many."""
    if "close to" in warning:
        return warning
    without = re.sub(r"\d[\d,]*", "N", warning)
    of_images = re.sub(r"N (image|cluster)s?\b", "N images (or clusters)", without)
    of_images = re.sub(r"one (image|cluster)\b", "one image (or cluster)", of_images).replace(
        "more clusters", "more images"
    )
    return re.sub(r"N class(es)?\b", "N classes", of_images)


def share_of_other_sets(rows: list[dict[str, Any]], at: int) -> float:
    """In which share of all pairs of samples the number of one lies within the limits that the other gives for it."""
    low, high = np.array([row["another set"][at] for row in rows], np.float64).T[:, :, None]
    values = np.array([row["values"][at] for row in rows], np.float64)
    within = (low <= values) & (values <= high)
    return float((within.sum() - np.trace(within)) / (len(rows) * (len(rows) - 1)))


def table(found: dict[str, Any]) -> str:
    """The tables of the page: how often limits hold, in percent; those of the percentile bootstrap behind a slash.

    The last one is by warning.
    """
    head = f"| population | images | samples | {' | '.join(COLUMNS)} |\n| --- |{' ---: |' * (2 + len(COLUMNS))}"
    tables = []
    for part in PARTS:
        lines = [head]
        for population in found[part].values():
            for images, made in population["images"].items():
                cells = []
                for column in COLUMNS:
                    one = made[column]
                    ours, theirs = (100 * one[way]["holds"] / one["samples"] for way in WAYS)
                    cells.append(f"**{ours:.0f}** / {theirs:.0f}, {100 * one['warned'] / one['samples']:.0f}")
                groups = f" ({made['groups']})" if made["groups"] != int(images) else ""
                size = f"{int(images):,}{groups} | {made['AP']['samples']}"
                lines.append(f"| {population['title']} | {size} | {' | '.join(cells)} |")
        tables.append("\n".join(lines))
    return "\n\n".join([*tables, table_of_warnings(found)])


def cells_of(found: dict[str, Any], parts: Sequence[str] = tuple(PARTS)) -> list[tuple[str, dict[str, Any]]]:
    """All cells of the tables: the name of a number, and its counts."""
    sizes = [made for part in parts for one in found[part].values() for made in one["images"].values()]
    return [(key, made[key]) for made in sizes for key in COLUMNS]


def table_of_warnings(found: dict[str, Any]) -> str:
    """How often intervals with each warning hold, over all populations."""
    cells = [cell for _, cell in cells_of(found)]
    counts: dict[str, list[int]] = {}
    for cell in cells:
        for kind, both in cell["by warning"].items():
            counts[kind] = np.add(counts.get(kind, [0, 0]), both).tolist()
    rest = sum(cell["samples"] - cell["warned"] for cell in cells)
    counts["none"] = [rest, sum(cell["interval"]["holds"] - cell["interval"]["holds, warned"] for cell in cells)]
    lines = ["| warning | intervals | hold |", "| --- | ---: | ---: |"]
    ordered = sorted(counts.items(), key=lambda item: -item[1][0])
    return "\n".join(
        [*lines, *(f"| {kind} | {count:,} | {100 * hold / count:.0f} % |" for kind, (count, hold) in ordered)]
    )


def words(found: dict[str, Any]) -> str:
    """What the page says of the tables."""
    said = [words_of(cells_of(found, [part]), what) for part, (_, what) in PARTS.items()]
    shares = sorted(100 * cell["another set"] for key, cell in cells_of(found) if key in KEYS)
    low, middle, high = (float(np.quantile(shares, one)) for one in (0.05, 0.5, 0.95))
    samples = min(made["samples"] for key, made in cells_of(found) if key == DIFFERENCE)
    within = 196 * math.sqrt(LEVEL * (1 - LEVEL) / samples)
    said.append(
        f"The number of another sample lies within `another_set` in {middle:.0f} % of the pairs of samples (median of "
        f"{len(shares)} rows and numbers; nine tenths of them have {low:.0f} to {high:.0f}). With {samples} samples, a "
        f"share of 95 % is known within {within:.1f}."
    )
    return " ".join(said)


def words_of(rows: Sequence[tuple[str, dict[str, Any]]], what: str) -> str:
    """What the page says of some rows, each a number and its counts."""
    cells = [one for _, one in rows]
    ours, theirs = (sorted(100 * one[way]["holds"] / one["samples"] for one in cells) for way in WAYS)
    biased = [one for column, one in rows if column in ("AP", "AP50", "APs")]
    high = sum(one["interval"]["too high"] for one in biased)
    missed = sum(one["samples"] - one["interval"]["holds"] for one in biased)
    length = sorted(one["interval"]["length"] / one["percentile"]["length"] for one in cells)
    return (
        f"In {what}, the intervals of ioukit hold in {ours[0]:.0f} to {ours[-1]:.0f} % of the samples, on average in "
        f"{held(cells)}. {high} of {missed} misses of AP, AP50 and APs lie above the true number. "
        f"The intervals are {length[0]:.2f} to {length[-1]:.2f} times as long as those of the percentile bootstrap, "
        f"which hold in {theirs[0]:.0f} to {theirs[-1]:.0f} %."
    )


def held(cells: Sequence[dict[str, Any]]) -> str:
    """In what share of the samples intervals hold: all, with a warning, and without one."""
    warned, samples = sum(one["warned"] for one in cells), sum(one["samples"] for one in cells)
    holds, with_warning = (sum(one["interval"][key] for one in cells) for key in ("holds", "holds, warned"))
    return (
        f"{100 * holds / samples:.0f} % ({100 * with_warning / warned:.0f} % of those with a warning, "
        f"{100 * (holds - with_warning) / (samples - warned):.0f} % of the others)"
    )


def program(module: ModuleType, actions: Mapping[str, Callable[[Path, int, int], None]], samples: int) -> None:
    """The command line of a module that measures: its actions, and ``summarise``, which writes and prints."""
    parser = argparse.ArgumentParser(description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=[*actions, "summarise"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--samples", type=int, default=samples)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    if options.action in actions:
        actions[options.action](options.results, options.samples, options.workers)
    else:
        found = module.summarise(options.results)
        module.DATA.write_text(json.dumps(found) + "\n", encoding="utf-8")
        sys.stdout.write(f"{module.table(found)}\n\n{module.words(found)}\n")


def measure_true(path: Path, _: int, workers: int) -> None:
    """Add the true numbers of all classes, and of the other populations."""
    add(path, [*range(CLASSES), *OTHERS], true_numbers, workers)


if __name__ == "__main__":
    program(sys.modules[__name__], {"true": measure_true, "run": run}, samples=20)
