"""Plant label errors in correct data, and measure how well they are found: by ioukit, by ten lines, and by cleanlab.

python benchmarks/planted_label_errors.py --seeds 20 --json rows.json   # ioukit and the ten lines
python benchmarks/planted_label_errors.py --cleanlab --json rows.json   # with cleanlab, which must be installed
python benchmarks/planted_label_errors.py --read a.json b.json          # the tables of earlier runs
python benchmarks/planted_label_errors.py --calibration                 # how often labels with a given score are wrong
python benchmarks/planted_label_errors.py --numbers                     # how many wrong labels are expected

The numbers are areas under the precision-recall curve (average precision of the ranking). A missing object is found by
the best detection of its class with IoU of at least 0.5 with it; further ones are false. A double is found by either of
its two annotations. "objects" ranks all annotations by one score, "images" all images; an image counts if any of its
labels is wrong. For a kind, ioukit's annotations of this kind come first, and then those with another suspicion.

The ten lines (`ten_lines`) are what one would try first: the score of a detection that overlaps no annotation; the
largest score times IoU of another class less that of the own class; the IoU of two annotations of a class. cleanlab
(AGPL) has a score per detection for overlooked objects, scores per annotation for badly located and swapped ones, and
one score per image. For doubled and spurious objects and for "objects", an annotation has the worse of its two scores.
cleanlab runs with three values of its high_probability_threshold (its default 0.95, 0.5 and 0.2), and the best of the
three is taken for each number.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from ioukit import evaluate, overlap_join, pairwise_iou
from ioukit.label_errors import LABEL_ERROR_KINDS, find_label_errors
from support.planted_labels import KINDS, plant, street
from support.planted_scenes import drawn, real

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ioukit import Detections, GroundTruth
    from support.planted_labels import Planted

__all__ = ["NUMBERS", "Row", "average_precision", "measure", "table"]

NUMBERS = (*KINDS, "objects", "images")
SETTINGS = (None, 0.5, 0.2)
TITLES = {"objects": "all annotations", "images": "all images"} | {kind.key: kind.title for kind in LABEL_ERROR_KINDS}
PLANTED = {
    "overlooked": ("overlooked", {}),
    "badly_drawn": ("badly_drawn", {}),
    "swapped": ("swapped", {}),
    "swapped by a rule": ("swapped", {"by_rule": True}),
    "doubled": ("doubled", {}),
    "doubled loosely": ("doubled", {"loosely": True}),
    "spurious": ("spurious", {}),
}
"""What is planted alone: the kind, and how."""
TITLES |= {"swapped by a rule": "Wrong class, by a rule", "doubled loosely": "Doubled object, drawn anew"}
_NEVER = -1.0


class Row(NamedTuple):
    """An area under the precision-recall curve."""

    data: str
    planted: str
    """The kind that was planted, or ``mixed``."""
    rate: float
    seed: int
    number: str
    """What was ranked, one of :data:`NUMBERS`."""
    engine: str
    value: float
    total: int
    """How many errors there are to find."""


class Scores(NamedTuple):
    """The scores of an engine, high for wrong labels; -1 for what is never suspected."""

    detections: Any
    """(N,) that a detection shows an overlooked object."""
    annotations: dict[str, Any]
    """(G,) for each other kind."""
    images: Any
    """(I,) that any label of the image is wrong."""


def sets(seed: int) -> dict[str, tuple[GroundTruth, Detections]]:
    """The data sets by name: two real ones, and ones that are drawn anew for each seed."""
    found = {"street": street(seed=seed), "60 classes": street(300, 60, seed=seed)} | real()
    return found | {name: drawn(name, seed) for name in ("aerial", "crowd", "many classes", "documents")}


def plans() -> Iterable[tuple[str, float, dict[str, float], dict[str, bool]]]:
    """What is planted: one kind alone at two rates, and all kinds together."""
    for name, (kind, how) in PLANTED.items():
        for rate in (0.02, 0.1):
            yield name, rate, {kind: rate}, how
    for rate in (0.02, 0.1):
        yield "mixed", rate, {kind: rate / len(KINDS) for kind in KINDS}, {}


def average_precision(scores: Any, right: Any, total: int) -> float:
    """The area under the precision-recall curve of a ranking; equal scores share one point of the curve."""
    if not total:
        return float("nan")
    order = np.argsort(-scores, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(right[order])[ends]
    return float((np.diff(hits, prepend=0) * hits / (ends + 1)).sum() / total)


def own_scores(gt: GroundTruth, dt: Detections) -> Scores:
    evaluation = evaluate(gt, dt)
    errors = find_label_errors(evaluation)
    table = evaluation.near_matches()
    detections = np.full(len(dt), _NEVER)
    annotations = {}
    for place, kind in enumerate(KINDS):
        rows = np.flatnonzero(errors.kind == place)
        if kind == "overlooked":
            detections[table.detections.row[errors.detection[rows]]] = errors.score[rows]
            continue
        annotations[kind] = np.full(len(gt), _NEVER)
        accused = np.flatnonzero(errors.object >= 0)
        behind = np.where(errors.kind[accused] == place, 0.0, 1.0)
        annotations[kind][table.objects.row[errors.object[accused]]] = errors.score[accused] - behind
    return Scores(detections, annotations, errors.image_scores())


def ten_lines(gt: GroundTruth, dt: Detections) -> Scores:
    """The scores of the plainest rules."""

    def largest(values: Any, rows: Any, count: int) -> Any:
        found = np.zeros(count)
        np.maximum.at(found, rows, values)
        return found

    near = overlap_join(dt.boxes, gt.boxes, min_iou=1e-9, labels1=dt.image_ids, labels2=gt.image_ids, format="xywh")
    d, g, iou = near.rows, near.columns, near.values
    same, strength = dt.category_ids[d] == gt.category_ids[g], dt.scores[d] * iou
    own, other = (largest(strength[chosen], g[chosen], len(gt)) for chosen in (same, ~same))
    best = np.zeros(len(gt), np.int64)
    order = np.argsort(strength)[same[np.argsort(strength)]]
    best[g[order]] = order  # the pair of the strongest detection of the class
    drawn = np.where(own > 0, dt.scores[d[best]] * (1 - iou[best]), 0.0) if len(d) else own
    # A detection on a crowd of its class is as good as matched.
    crowds = np.flatnonzero(gt.crowd)
    keys = [side.image_ids * (1 + int(gt.categories.ids.max())) + side.category_ids for side in (gt, dt)]
    on_crowd = overlap_join(
        dt.boxes, gt.boxes[crowds], min_iou=0.5, metric="ioa", of="first", labels1=keys[1], labels2=keys[0][crowds],
        format="xywh",
    ).rows  # fmt: skip
    matched = largest(iou, d, len(dt)) >= 0.5
    matched[on_crowd] = True
    pairs = overlap_join(gt.boxes, min_iou=1e-9, labels1=keys[0], format="xywh")
    doubled = np.maximum(*(largest(pairs.values, side, len(gt)) for side in (pairs.rows, pairs.columns)))
    annotations = {
        "badly_drawn": drawn, "swapped": other - own, "doubled": doubled, "spurious": 1 - np.maximum(own, other),
    }  # fmt: skip
    unmatched = np.where(matched, _NEVER, dt.scores)
    images = np.searchsorted(gt.images.ids, dt.image_ids)
    return Scores(unmatched, annotations, largest(np.maximum(unmatched, 0), images, len(gt.images)))


def cleanlab_scores(gt: GroundTruth, dt: Detections, settings: Iterable[float | None]) -> list[Scores]:
    """The scores of cleanlab with each setting; the score of an image has no setting."""
    from cleanlab.internal.constants import ALPHA  # noqa: PLC0415 - only this function needs the peer
    from cleanlab.object_detection import rank  # noqa: PLC0415 - as above

    labels, predictions, of_labels, of_predictions = [], [], [], []
    corners = [np.concatenate([side.boxes[:, :2], side.boxes[:, :2] + side.boxes[:, 2:]], axis=1) for side in (gt, dt)]
    classes = [np.searchsorted(gt.categories.ids, side.category_ids) for side in (gt, dt)]
    for image in gt.images.ids.tolist():
        rows = np.flatnonzero(gt.image_ids == image)
        of_labels.append(rows)
        labels.append({"bboxes": corners[0][rows], "labels": classes[0][rows]})
        rows = np.flatnonzero(dt.image_ids == image)
        rows = rows[np.argsort(classes[1][rows], kind="stable")]
        of_predictions.append(rows)
        lists = np.empty(len(gt.categories), object)
        for label in range(len(gt.categories)):
            here = rows[classes[1][rows] == label]
            lists[label] = np.concatenate([corners[1][here], dt.scores[here, None]], axis=1)
        predictions.append(lists)

    def column(parts: Any, places: Any, count: int) -> Any:
        found = np.full(count, _NEVER)
        for part, place in zip(parts, places, strict=True):
            found[place] = np.where(np.isnan(part), _NEVER, 1 - np.asarray(part))
        return found

    # What all scores need is computed once; most of the time goes into it.
    shared = rank._get_valid_inputs_for_compute_scores(labels=labels, predictions=predictions, alpha=ALPHA)
    moved = column(rank.compute_badloc_box_scores(auxiliary_inputs=shared), of_labels, len(gt))
    images = 1 - rank.get_label_quality_scores(labels, predictions, verbose=False)
    found = []
    for setting in settings:
        given = {} if setting is None else {"high_probability_threshold": setting}
        missing = column(rank.compute_overlooked_box_scores(auxiliary_inputs=shared, **given), of_predictions, len(dt))
        swapped = column(rank.compute_swap_box_scores(auxiliary_inputs=shared, **given), of_labels, len(gt))
        worse = np.maximum(moved, swapped)
        of_kinds = {"badly_drawn": moved, "swapped": swapped, "doubled": worse, "spurious": worse}
        found.append(Scores(missing, of_kinds, images))
    return found


def measure(planted: Planted, dt: Detections, scores: Scores) -> dict[str, tuple[float, int]]:
    """The areas of an engine by number, each with the number of errors."""
    gt, wrong = planted.ground_truth, planted.wrong
    found: dict[str, tuple[float, int]] = {}
    count = len(planted.missing)
    found["overlooked"] = average_precision(scores.detections, _showing(planted.missing, dt), count), count
    of_kinds = {kind: _lent(planted, column) for kind, column in scores.annotations.items()}
    for kind, column in of_kinds.items():
        found[kind] = average_precision(column, np.isin(gt.ids, wrong[kind]), len(wrong[kind])), len(wrong[kind])
    every = np.isin(gt.ids, np.concatenate([wrong[kind] for kind in of_kinds]))
    worst = np.max([*of_kinds.values()], axis=0)
    found["objects"] = average_precision(worst, every, int(every.sum())), int(every.sum())
    images = np.isin(gt.images.ids, np.concatenate([gt.image_ids[every], planted.missing.image_ids]))
    found["images"] = average_precision(scores.images, images, int(images.sum())), int(images.sum())
    return found


def _showing(missing: GroundTruth, dt: Detections) -> Any:
    """(N,) whether a detection is the best one of a missing object."""
    shown = np.zeros(len(dt), np.bool_)
    for row in range(len(missing)):
        here = (dt.image_ids == missing.image_ids[row]) & (dt.category_ids == missing.category_ids[row])
        rows = np.flatnonzero(here)
        if len(rows):
            rows = rows[pairwise_iou(dt.boxes[rows], missing.boxes[row][None], format="xywh")[:, 0] >= 0.5]
        if len(rows):
            shown[rows[np.argmax(dt.scores[rows])]] = True
    return shown


def _lent(planted: Planted, scores: Any) -> Any:
    """The scores with those of originals given to their copies, if they are higher."""
    place = {number: row for row, number in enumerate(planted.ground_truth.ids.tolist())}
    made = scores.copy()
    for copy, original in zip(planted.wrong["doubled"].tolist(), planted.originals.tolist(), strict=True):
        made[place[copy]] = max(made[place[copy]], made[place[original]])
        made[place[original]] = _NEVER
    return made


def table(rows: list[Row]) -> str:
    """By what was planted: the means over all sets, rates and seeds; and by set for what was planted alone."""
    head = "| planted | ranked | ioukit | ten lines | ioukit - ten lines | cleanlab | ioukit - cleanlab | runs |"
    lines = [head, "|---|---|---|---|---|---|---|---|"]
    for planted in (*PLANTED, "mixed"):
        numbers = NUMBERS if planted == "mixed" else (PLANTED[planted][0],)
        for number in numbers:
            cells = _means([row for row in rows if (row.planted, row.number) == (planted, number)])
            lines.append(f"| {TITLES.get(planted, planted)} | {TITLES[number]} | {' | '.join(cells)} |")
    data = list(dict.fromkeys(row.data for row in rows))
    lines += ["", "| planted | " + " | ".join(data) + " |", "|---" * (1 + len(data)) + "|"]
    for planted, (number, _) in PLANTED.items():
        chosen = [row for row in rows if (row.planted, row.number) == (planted, number)]
        of_sets = [_means([row for row in chosen if row.data == name]) for name in data]
        lines.append(f"| {TITLES[planted]} | " + " | ".join(f"{cells[0]}, {cells[2]}" for cells in of_sets) + " |")
    return "\n".join(lines)


def _means(rows: list[Row]) -> list[str]:
    """The mean of each engine, the mean differences to ioukit with their standard errors, and the number of runs."""
    cells: dict[str, dict[Any, float]] = {"ioukit": {}, "ten lines": {}, "cleanlab": {}}
    for row in rows:
        if row.total:
            engine = cells[row.engine.rpartition(" ")[0] if row.engine.startswith("cleanlab") else row.engine]
            key = row.data, row.rate, row.seed
            engine[key] = max(engine.get(key, 0.0), row.value)
    own = cells.pop("ioukit")
    found = [f"{_mean(own)[0]:.3f}" if own else "-"]
    for peer in cells.values():
        if peer:
            mean, error = _mean({key: own[key] - value for key, value in peer.items()})
            found += [f"{_mean(peer)[0]:.3f}", f"{mean:+.3f} ± {error:.3f}"]
        else:
            found += ["-", "-"]
    return [*found, str(len(own))]


def _mean(values: dict[Any, float]) -> tuple[float, float]:
    """The mean over sets and rates of the means over seeds, and its standard error: sets and rates stay as they are."""
    settings: dict[Any, list[float]] = {}
    for key, value in values.items():
        settings.setdefault(key[:2], []).append(value)
    spread = [np.var(seeds, ddof=1) / len(seeds) for seeds in settings.values() if len(seeds) > 1]
    mean = np.mean([np.mean(seeds) for seeds in settings.values()])
    return float(mean), float(np.sqrt(np.sum(spread)) / len(settings))


def expected_numbers(seeds: int) -> str:
    """How many wrong labels the scores add up to, and how many were planted, in each way alone."""
    rates = (0.0, 0.02, 0.1)
    lines = ["| data | labels | planted | " + " | ".join(TITLES[kind] for kind in KINDS) + " | score of 0.5 or more |"]
    lines.append("|---" * (len(KINDS) + 4) + "|")
    for name, (gt, dt) in sets(0).items():
        for rate in rates:
            sums, sure = np.zeros(len(KINDS)), 0.0
            for place, kind in enumerate(KINDS):
                for seed in range(seeds):
                    errors = find_label_errors(evaluate(plant(gt, {kind: rate}, seed).ground_truth, dt))
                    sums[place] += errors.score[errors.kind == place].sum() / seeds
                    sure += (errors.score >= 0.5).mean() * len(errors) / len(gt) / seeds / len(KINDS)
            cells = " | ".join(f"{value:.0f}" for value in sums)
            lines.append(f"| {name} | {len(gt):,} | {round(rate * len(gt))} | {cells} | {sure:.1%} |")
    return "\n".join(lines)


def calibration(seeds: int) -> str:
    """How often a label with a score is wrong, where 2 % are planted in each way."""
    ends = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    counts = np.zeros((len(KINDS), len(ends), 2), np.int64)
    for seed in range(seeds):
        for gt, dt in sets(seed).values():
            planted = plant(gt, dict.fromkeys(KINDS, 0.02), seed)
            scores = own_scores(planted.ground_truth, dt)
            for place, kind in enumerate(KINDS):
                ids = planted.ground_truth.ids
                column, right = (
                    (scores.detections, _showing(planted.missing, dt))
                    if kind == "overlooked"
                    else (_lent(planted, scores.annotations[kind]), np.isin(ids, planted.wrong[kind]))
                )
                bins = np.searchsorted(ends, column, side="left")
                for at in range(len(ends)):
                    here = (bins == at) & (column > 0)
                    counts[place, at] += int(here.sum()), int(right[here].sum())
    lines = ["| score | " + " | ".join(TITLES[kind] for kind in KINDS) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for at, (low, high) in enumerate(zip((0.0, *ends), ends, strict=False)):
        cells = [f"{wrong / total:.0%} of {total:,}" if total else "-" for total, wrong in counts[:, at].tolist()]
        lines.append(f"| {low:g} to {high:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", help="only these data sets, separated by commas")
    parser.add_argument("--seeds", type=int, default=2, help="how often each set is drawn, and each plan planted")
    parser.add_argument("--cleanlab", action="store_true", help="run cleanlab, too")
    parser.add_argument("--json", type=Path, help="write all rows to a file")
    parser.add_argument("--read", type=Path, nargs="+", help="print the table of the rows in these files")
    parser.add_argument("--numbers", action="store_true", help="print how many wrong labels are expected")
    parser.add_argument("--calibration", action="store_true", help="print how often labels with a score are wrong")
    given = parser.parse_args()
    if given.calibration:
        print(calibration(given.seeds))
        return
    if given.numbers:
        print(expected_numbers(given.seeds))
        return
    if given.read:
        print(table([Row(**row) for path in given.read for row in json.loads(path.read_text(encoding="utf-8"))]))
        return
    warnings.simplefilter("ignore")
    rows: list[Row] = []
    seconds = {"ioukit": 0.0, "cleanlab": 0.0}
    for seed in range(given.seeds):
        data = sets(seed)
        for name in given.sets.split(",") if given.sets else data:
            gt, dt = data[name]
            for kind, rate, rates, how in plans():
                planted = plant(gt, rates, seed, **how)
                start = time.perf_counter()
                found = {"ioukit": own_scores(planted.ground_truth, dt)}
                middle = time.perf_counter()
                if given.cleanlab:
                    peers = cleanlab_scores(planted.ground_truth, dt, SETTINGS)
                    found |= {f"cleanlab {value}": peer for value, peer in zip(SETTINGS, peers, strict=True)}
                seconds["ioukit"] += middle - start
                seconds["cleanlab"] += time.perf_counter() - middle
                found["ten lines"] = ten_lines(planted.ground_truth, dt)
                for engine, scores in found.items():
                    for number, (value, count) in measure(planted, dt, scores).items():
                        if count:
                            rows.append(Row(name, kind, rate, seed, number, engine, value, count))
        print(f"seed {seed}; so far {seconds}", file=sys.stderr, flush=True)
        if given.json:
            given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
