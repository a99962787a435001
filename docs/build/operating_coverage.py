"""How often do the intervals of `choose_thresholds` hold the true number of the chosen threshold?

    python docs/build/operating_coverage.py --sets 400   # about two minutes

Numbers with a star are those of `held_out`. "warned" is the share of the sets in which these have the warning that the
thresholds of halves differ much, and "threshold" is that of sets in whose interval the threshold of another set lies.

Each object is found or not by chance, and each image has false positives by chance; scores are drawn from two beta
distributions. So the true numbers of any threshold are known. In "varied", images differ: in their number of objects,
in how well objects are found, and in false positives. In "videos", clusters of 8 images differ so. In "overlapping",
the scores of right and wrong detections overlap so much that few detections reach a precision of 0.9. The table stands
in docs/operating_points.md.
"""

from __future__ import annotations

import argparse
import sys
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.operating import choose_thresholds

KEYS = ("precision", "recall", "f_beta", "false_positives_per_image")
SCORES = {False: ((6, 2), (2, 4)), True: ((3, 2), (2, 3))}  # of right and wrong detections; True: overlapping


Floats = npt.NDArray[np.float64]


class Row(NamedTuple):
    """A population, and what is chosen on it."""

    kind: str
    clusters: int
    objects: float
    """Per image, as the next but one."""
    found: float
    wrong: float
    rule: str

    @property
    def overlapping(self) -> bool:
        """Which scores."""
        return "overlapping" in self.kind

    @property
    def images(self) -> int:
        """Of a cluster."""
        return 8 if "videos" in self.kind else 1


ROWS = (
    Row("alike", 10, 1, 0.8, 0.3, "f1"),
    Row("alike", 20, 2, 0.8, 1, "f1"),
    Row("alike", 20, 2, 0.8, 0.2, "precision=0.9"),
    Row("alike", 20, 2, 0.95, 0.02, "f1"),
    Row("alike", 30, 2, 0.8, 1, "fppi=0.1"),
    Row("alike", 50, 3, 0.8, 1, "f1"),
    Row("alike", 100, 3, 0.8, 1, "precision=0.9"),
    Row("varied", 20, 3, 0.8, 1, "f1"),
    Row("varied", 60, 3, 0.9, 0.3, "f1"),
    Row("varied, overlapping", 30, 3, 0.8, 2, "recall=0.6"),
    Row("alike, overlapping", 100, 3, 0.8, 2, "fppi=0.1"),
    Row("alike, overlapping", 100, 3, 0.8, 2, "precision=0.9"),
    Row("videos", 20, 3, 0.8, 0.3, "f1"),
    Row("videos, overlapping", 40, 3, 0.8, 1, "precision=0.9"),
)


def sample(row: Row, rng: np.random.Generator) -> tuple[Evaluation, npt.NDArray[np.intp]]:
    """An evaluation of images of a population, and the cluster of each image."""
    count = row.clusters
    find, wrong, objects = np.full(count, row.found), np.full(count, row.wrong), np.full(count, int(row.objects))
    if "alike" not in row.kind:
        few = 4 if "varied" in row.kind else 6
        find = rng.beta(few * row.found, few * (1 - row.found), count)
        wrong = wrong * rng.gamma(1, 1, count)
        objects = rng.poisson(row.objects, count)
    cluster = np.repeat(np.arange(count), row.images)
    of_object = np.repeat(np.arange(len(cluster)), objects[cluster])
    of_wrong = np.repeat(np.arange(len(cluster)), rng.poisson(wrong[cluster]))
    starts = np.searchsorted(of_object, of_object)
    boxes = np.stack(
        [100.0 * (np.arange(len(of_object)) - starts), *([[10.0], [50.0], [50.0]] * np.ones(len(of_object)))], axis=1
    )
    found = rng.random(len(of_object)) < find[cluster[of_object]]
    right, other = SCORES[row.overlapping]
    gt = GroundTruth.from_arrays(
        image_ids=of_object, category_ids=np.zeros(len(of_object), int), boxes=boxes, images=np.arange(len(cluster))
    )
    dt = Detections.from_arrays(
        image_ids=np.concatenate([of_object[found], of_wrong]),
        category_ids=np.zeros(found.sum() + len(of_wrong), int),
        boxes=np.concatenate([boxes[found], np.tile([[10.0, 300, 50, 50]], (len(of_wrong), 1))]),
        scores=np.concatenate([rng.beta(*right, found.sum()), rng.beta(*other, len(of_wrong))]),
    )
    return evaluate(gt, dt), cluster


def held(row: Row, sets: int, every: tuple[Floats, Floats]) -> list[float]:
    """The shares of sets in which each interval holds, of the same and of other images; and two further shares.

    The last ones are of sets with a warning, and of sets in whose interval the threshold of another set lies.
    ``every`` has many scores of right and of wrong detections, in order.
    """
    holds, differ, chosen = [], [], []
    for number in range(sets):
        evaluation, cluster = sample(row, np.random.default_rng([number, ROWS.index(row)]))
        clusters = None if row.images == 1 else cluster
        choice = choose_thresholds(evaluation, row.rule, replicates=200, clusters=clusters, seed=number).overall
        if choice.how == "chosen":
            tp, fp = (1 - np.searchsorted(scores, choice.threshold) / len(scores) for scores in every)
            tp, fp = tp * row.found * row.objects, fp * row.wrong
            true = (tp / (tp + fp), tp / row.objects, 2 * tp / (tp + fp + row.objects), fp)
            drawn = [[shown.intervals[key] for key in KEYS] for shown in (choice.chosen, choice.held_out)]
            holds.append(
                [one.low <= value <= one.high for each in drawn for one, value in zip(each, true, strict=True)]
            )
            differ.append(any("differ much" in warning for warning in drawn[1][0].warnings))
            chosen.append(choice.interval)
    of_others = [one.low <= other.value <= one.high for one, other in pairwise(chosen) if not np.isnan(one.low)]
    return [*np.mean(holds, axis=0).tolist(), float(np.mean(differ)), float(np.mean(of_others))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=400, help="of each row")
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    every = {key: tuple(np.sort(rng.beta(*each, 400_000)) for each in pair) for key, pair in SCORES.items()}
    names = ("precision", "recall", "F1", "false positives")
    titles = ("images", "rule", *names, *(f"{name}*" for name in names), "warned", "threshold")
    sys.stdout.write(f"| {' | '.join(titles)} |\n| --- | --- |{' ---: |' * 10}\n")
    for row in ROWS:
        shares = " | ".join(f"{share:.0%}" for share in held(row, options.sets, every[row.overlapping]))
        sys.stdout.write(f"| {row.clusters}, {row.kind} | `{row.rule}` | {shares} |\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
