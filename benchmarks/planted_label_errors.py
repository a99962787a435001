"""Plant label errors in correct data, and measure how well they are found: by ioukit, and by cleanlab beside it.

python benchmarks/planted_label_errors.py --json rows.json              # ioukit alone
python benchmarks/planted_label_errors.py --cleanlab --json rows.json   # with cleanlab, which must be installed
python benchmarks/planted_label_errors.py --read a.json b.json          # the table of earlier runs
python benchmarks/planted_label_errors.py --calibration                 # how often labels with a given score are wrong

The numbers are areas under the precision-recall curve (average precision of the ranking). A missing object is found by
the best detection of its class with IoU of at least 0.5 with it; further ones are false. A double is found by either of
its two annotations. "objects" ranks all annotations by one score, "images" all images; an image counts if any of its
labels is wrong. cleanlab (AGPL) has a score per detection for overlooked objects, scores per annotation for badly
located and swapped ones, and one score per image. For doubled and spurious objects and for "objects", an annotation has
the worse of its two scores. cleanlab runs with three values of its high_probability_threshold (its default 0.95, 0.5
and 0.2), and the best of the three is taken for each number.
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

from ioukit import evaluate, pairwise_iou
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


def sets() -> dict[str, tuple[GroundTruth, Detections]]:
    """The data sets by name: two real ones, and drawn ones."""
    found = {f"street {seed}": street(seed=seed) for seed in (1, 2)} | {"60 classes": street(300, 60, seed=5)}
    return found | real() | {name: drawn(name) for name in ("aerial", "crowd", "many classes")}


def plans() -> Iterable[tuple[str, float, dict[str, float]]]:
    """What is planted: one kind alone at two rates, and all kinds together."""
    for kind in KINDS:
        for rate in (0.02, 0.1):
            yield kind, rate, {kind: rate}
    for rate in (0.02, 0.1):
        yield "mixed", rate, {kind: rate / len(KINDS) for kind in KINDS}


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
        annotations[kind][table.objects.row[errors.object[rows]]] = errors.score[rows]
    return Scores(detections, annotations, errors.image_scores())


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
    """The mean over all data sets, seeds and rates: a line per number, and then a line per data set."""
    lines = ["| ranked | planted | ioukit | cleanlab | runs | ioukit at least as good |", "|---|---|---|---|---|---|"]
    for number in NUMBERS:
        for planted in ("alone", "mixed") if number in KINDS else (*KINDS, "mixed"):
            wanted = number if planted == "alone" else planted
            if number == "objects" and planted == "overlooked":
                continue
            lines.append(_line([row for row in rows if (row.number, row.planted) == (number, wanted)], number, planted))
    lines += ["", "| data | ranked, all kinds planted | ioukit | cleanlab | runs | ioukit at least as good |"]
    lines.append("|---|---|---|---|---|---|")
    for data in dict.fromkeys(row.data for row in rows):
        for number in ("objects", "images"):
            chosen = [row for row in rows if (row.data, row.number, row.planted) == (data, number, "mixed")]
            lines.append(_line(chosen, data, TITLES[number]))
    return "\n".join(lines)


def _line(rows: list[Row], first: str, second: str) -> str:
    cells: dict[str, dict[Any, list[float]]] = {}
    for row in rows:
        if row.total:
            engine = row.engine.partition(" ")[0]
            cells.setdefault(engine, {}).setdefault((row.data, row.rate, row.seed), []).append(row.value)
    own, peer = ({key: max(found) for key, found in cells.get(name, {}).items()} for name in ("ioukit", "cleanlab"))
    means = [f"{np.mean([*side.values()]):.3f}" if side else "-" for side in (own, peer)]
    won = f"{sum(own[key] >= peer[key] for key in peer)} of {len(peer)}" if peer else "-"
    return f"| {TITLES.get(first, first)} | {TITLES.get(second, second)} | {' | '.join(means)} | {len(own)} | {won} |"


def calibration(seeds: int) -> str:
    """How often a label with a score is wrong, where 2 % are planted in each way."""
    ends = np.array([0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0])
    counts = np.zeros((len(KINDS), len(ends), 2), np.int64)
    for gt, dt in sets().values():
        for seed in range(seeds):
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
    parser.add_argument("--seeds", type=int, default=2, help="how often each plan is planted")
    parser.add_argument("--cleanlab", action="store_true", help="run cleanlab, too")
    parser.add_argument("--json", type=Path, help="write all rows to a file")
    parser.add_argument("--read", type=Path, nargs="+", help="print the table of the rows in these files")
    parser.add_argument("--calibration", action="store_true", help="print how often labels with a score are wrong")
    given = parser.parse_args()
    if given.calibration:
        print(calibration(given.seeds))
        return
    if given.read:
        print(table([Row(**row) for path in given.read for row in json.loads(path.read_text(encoding="utf-8"))]))
        return
    warnings.simplefilter("ignore")
    data = sets()
    rows: list[Row] = []
    seconds = {"ioukit": 0.0, "cleanlab": 0.0}
    for name in given.sets.split(",") if given.sets else data:
        gt, dt = data[name]
        for kind, rate, rates in plans():
            for seed in range(given.seeds):
                planted = plant(gt, rates, seed)
                start = time.perf_counter()
                found = {"ioukit": own_scores(planted.ground_truth, dt)}
                middle = time.perf_counter()
                if given.cleanlab:
                    peers = cleanlab_scores(planted.ground_truth, dt, SETTINGS)
                    found |= {f"cleanlab {value}": peer for value, peer in zip(SETTINGS, peers, strict=True)}
                seconds["ioukit"] += middle - start
                seconds["cleanlab"] += time.perf_counter() - middle
                for engine, scores in found.items():
                    for number, (value, count) in measure(planted, dt, scores).items():
                        if count:
                            rows.append(Row(name, kind, rate, seed, number, engine, value, count))
        print(f"{name}: {gt}, {dt}; so far {seconds}", file=sys.stderr, flush=True)
        if given.json:
            given.json.write_text(json.dumps([row._asdict() for row in rows], indent=1), encoding="utf-8")
    print(table(rows))


if __name__ == "__main__":
    main()
