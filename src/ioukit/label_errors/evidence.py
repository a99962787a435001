"""What the detections say about each object and each other, as arrays from a match table."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags, Floats, Rows
from ioukit.evaluation.analysis._near import match_again, near_pairs
from ioukit.evaluation.protocols import AreaRange, Protocol
from ioukit.evaluation.table import IGNORED, REPEATED, VOID, NearPairs, threshold_bits
from ioukit.label_errors.calibration import chance, fitted_logits, score_features, without_lapse
from ioukit.overlap.join import overlap_join

if TYPE_CHECKING:
    from ioukit.evaluation.results import Evaluation
    from ioukit.evaluation.table import MatchTable


LEAST = 0.1
"""The least IoU of near pairs."""
FOUND = 0.5
"""A detection with at least this IoU is a detection of an object."""
RELIABLE = 0.3
"""A detection that is right with this chance, or whose score times IoU is this much, makes an object a found one."""
FULL = 0.7
"""A detection with at least this IoU has its full strength, which is its score."""
_CONFIDENT = 0.2  # of the matches
_MISSING = 0.002, 0.5  # the least and the largest share of the objects
_NEVER_ACCUSED = IGNORED | REPEATED | VOID
_GROUP = 4
_NO_CAP = 2**31 - 1
_OF_MODEL = 0.5  # the part of a class's lack of matches that is the model's, as nothing tells it from the annotators'
_OF_NOTHING = 0.05  # the share of labels of nothing up to which missing traces tell of them
_FEW_TRACES = 0.1  # misses with a weak detection, per one without any; usual models have more
_HALVINGS = 80  # of a range of factors, until its ends are equal
_STEPS = (0.1, 0.2, 0.5)  # of the overlaps with better detections; the first two also of those with objects


@dataclass(frozen=True)
class Evidence:
    """The evidence of a match table. Rows of detections, objects and pairs are those of the table."""

    table: MatchTable
    pairs: NearPairs
    accusable: Flags
    """(G,) objects that count: no crowds, no ignored objects."""
    open: Flags
    """(N,) detections that match no object of their class and may be of an overlooked one."""
    free: Flags
    """(N,) detections that match no object of their class; those on crowds are among them."""
    match: Rows
    """(N,) the object of its class that each detection matches, with an IoU of at least 0.5; -1 for none."""
    match_of: Rows
    """(G,) the detection that matches each object; -1 for none."""
    match_iou: Floats
    """(G,) their IoU; NaN for none."""
    size: Floats
    """(G, F) features of the size of each object."""
    logits: Floats
    """(N,) log odds that a detection like this one matches an object of its class: score, class and overlaps."""
    alone: Floats
    """(N,) the same by score and class alone."""
    score: Floats
    """(N,) scores within [0, 1]."""
    strength: Floats
    """(Q,) strength of the detection of each near pair: its score, less if the IoU is below 0.7."""
    own_support: Floats
    """(G,) chance that the best detection of its class on each object is right; 0 for none."""
    any_support: Floats
    """(G,) the largest score times IoU of a detection of any class with each object; 0 for none."""
    own_found: Floats
    """(G,) chance that an object of this class and size has a reliable detection of its class."""
    any_found: Floats
    """(G,) the same for detections of any class."""
    missing: float
    """An estimate of the share of the objects that are not annotated."""
    real: Floats
    """(N,) log odds that a detection like this one shows an object of its class, annotated or not."""
    detection_boxes: Floats | None
    """(N, 4) x, y, width, height; ``None`` if the evaluation holds the match table alone."""
    object_boxes: Floats | None
    """(G, 4), in the same way."""


def gather(evaluation: Evaluation, *, threads: int | None) -> Evidence:
    """Collect the evidence.

    Raises:
        ValueError: If the protocol does not rank, or the evaluation has neither near pairs nor its data.
    """
    evaluation.protocol.check_ranks("suspicions about labels")
    table = evaluation.near_matches(LEAST, threads=threads)
    pairs = near_pairs(table, LEAST)
    detections, objects = table.detections, table.objects
    gt, dt = evaluation.ground_truth, evaluation.detections
    held = gt is not None and dt is not None
    object_boxes = gt.boxes[objects.row] if held and gt is not None else None
    detection_boxes = dt.boxes[detections.row] if held and dt is not None else None

    accusable = ~table.ignores(table.protocol.main_area) & (objects.special & _NEVER_ACCUSED == 0)
    taking_part = table.takes_part()
    match = matched(table, pairs, np.flatnonzero(taking_part), FOUND, class_agnostic=False, threads=threads)
    match_of, match_iou = np.full(len(objects), -1), np.full(len(objects), np.nan)
    hit = match >= 0
    match_of[match[hit]] = np.flatnonzero(hit)
    at_match = np.flatnonzero(match[pairs.detection] == pairs.object)
    match_iou[pairs.object[at_match]] = pairs.iou[at_match]

    same = detections.category[pairs.detection] == objects.category[pairs.object]
    counts, single = accusable[pairs.object], objects.special[pairs.object] & _GROUP == 0
    on_ignored, on_crowd, on_object = (
        np.bincount(pairs.detection[chosen & (pairs.iou >= FOUND)], minlength=len(table))
        for chosen in (~counts & single, ~counts & ~single & same, counts)
    )
    # Detections on ignored objects of any class, or on crowds of their own, do not show overlooked objects. Those on
    # crowds may still lie on an object whose label is wrong.
    telling = taking_part & ~table.is_not_exhaustive() & (on_ignored == 0)
    free = telling & ~hit
    open_ = free & (on_crowd == 0) & (on_object == 0)
    judged = (free & (on_crowd == 0)) | (hit & np.append(accusable, False)[match])
    # Detections are compared as they would be without their object: only those that would be open then, and only by
    # the overlaps that they would keep. A match on a crowd, for example, would not be open.
    alike = judged & telling & (on_crowd == 0) & (on_object <= 1)
    beside = [largest(pairs.iou, pairs.detection, (pairs.iou < FOUND) & chosen, len(table)) for chosen in (same, ~same)]
    around = [_below(overlap, _STEPS[:2]) for overlap in beside]
    better: list[Floats] = []
    if detection_boxes is not None:
        better = [_below(overlap, _STEPS) for overlap in _better_neighbours(table, detection_boxes, threads)]
    scores = score_features(detections.score)
    category = detections.category.astype(np.int64)
    alone = fitted_logits(hit, scores, category, judged, rising=scores.shape[1])
    # Second detections of objects, which are many, teach what a better detection beside one means. The odds, and what
    # an object beside it means, are those of matches to open detections. In a crowd, objects overlap other objects
    # more often than false positives do; but an annotator who stops there leaves out the neighbours, too. So no overlap
    # raises the odds. And a class has few matches because the model errs in it, or because annotators forget it.
    features = np.concatenate([scores, *better], axis=1)
    order = fitted_logits(hit, features, category, alike, rising=features.shape[1], class_share=_OF_MODEL)
    features = np.concatenate([order[:, None], *around], axis=1)
    logits = fitted_logits(hit, features, category * 0, alike & (hit | open_), rising=features.shape[1])
    logits, alone = (np.where(judged | free, values, -math.inf) for values in (logits, alone))

    missing, real = _annotated_or_not(logits, alike & hit, open_)
    right = chance(alone)
    own = largest(right[pairs.detection], pairs.object, same & (pairs.iou >= FOUND), len(objects))
    score = scores[:, -1]
    strength = score[pairs.detection] * np.minimum(pairs.iou / FULL, 1)
    seen = largest(score[pairs.detection] * pairs.iou, pairs.object, slice(None), len(objects))
    size = _sizes(table, None if gt is None else gt.areas[objects.row])
    # Whether objects are found is measured where a detection lies on them: labels of nothing must not teach it.
    met = own > 0, largest(pairs.iou, pairs.object, slice(None), len(objects)) >= FOUND
    found = [
        _found(support >= RELIABLE, on, accusable, size, objects.category)
        for support, on in zip((own, seen), met, strict=True)
    ]
    return Evidence(
        table, pairs, accusable, open_, free, match, match_of, match_iou, size, logits, alone, score, strength,
        own, seen, found[0], found[1], missing, real, detection_boxes, object_boxes,
    )  # fmt: skip


def _annotated_or_not(logits: Floats, usual: Flags, open_: Flags) -> tuple[float, Floats]:
    """The share of the objects that are not annotated, and the logits if all of them were.

    How often confident detections match nothing bounds how often objects were overlooked.

    Args:
        logits: (N,) log odds of a match.
        usual: (N,) detections with a match, as the open ones would be if their object were annotated.
        open_: (N,) detections that may be of an overlooked object.
    """
    told = usual | open_
    confident = told & (logits >= (np.quantile(logits[usual], 1 - _CONFIDENT) if usual.any() else -math.inf))
    missing = ((confident & open_).sum() + 0.5) / (confident.sum() + 1.5)
    missing = float(np.clip(missing, *_MISSING))
    return missing, without_lapse(logits, usual, told, missing)


def matched(
    table: MatchTable,
    pairs: NearPairs,
    chosen: npt.NDArray[np.intp],
    threshold: float,
    *,
    class_agnostic: bool,
    threads: int | None,
) -> Rows:
    """(N,) the object of each detection, -1 for none: best scores first, each takes the free one with the highest IoU.

    Ignored objects are taken, too, but do not count.
    """
    protocol = Protocol(
        name="labels",
        iou_thresholds=(threshold,),
        recall_thresholds=(1.0,),
        max_dets=(_NO_CAP,),
        area_ranges=(AreaRange("all", 0.0, math.inf),),
        class_agnostic=class_agnostic,
    )
    again = match_again(table, pairs, chosen, protocol, threads=threads)
    object_of = np.full(len(again.detections["row"]), -1)
    object_of[again.pairs["detection"]] = again.objects["row"][again.pairs["object"]]
    ignored = threshold_bits(again.detections["ignored"][:, 0], 0)
    match = np.full(len(table), -1)
    match[chosen[again.detections["row"]]] = np.where(ignored, -1, object_of)
    return match


def matched_among(
    evidence: Evidence, wanted: Flags, threshold: float, *, class_agnostic: bool, threads: int | None
) -> tuple[Rows, Rows, Floats]:
    """The matches of the detections that are free, among some of the near pairs.

    Args:
        evidence: The evidence.
        wanted: (Q,) the near pairs to choose from.
        threshold: The least IoU of a match.
        class_agnostic: Whether an object of another class may be matched.
        threads: How many threads.

    Returns:
        The object, the detection and the IoU of each match.
    """
    pairs = evidence.pairs
    among = NearPairs(pairs.detection[wanted], pairs.object[wanted], pairs.iou[wanted], pairs.least)
    free = np.flatnonzero(evidence.free)
    match = matched(evidence.table, among, free, threshold, class_agnostic=class_agnostic, threads=threads)
    at = np.flatnonzero(match[among.detection] == among.object)
    return among.object[at], among.detection[at], among.iou[at]


def _better_neighbours(table: MatchTable, boxes: Floats, threads: int | None) -> list[Floats]:
    """(N,) the largest IoU of each detection with a better one of its class on the image, and with one of another."""
    image, category = table.detections.image.astype(np.int64), table.detections.category
    kept = np.isfinite(boxes).all(axis=1)
    rows = np.flatnonzero(kept)
    found = overlap_join(boxes[rows], min_iou=LEAST, labels1=image[rows], format="xywh", threads=threads)
    one, two = rows[found.rows], rows[found.columns]
    score = table.detections.score
    worse = np.where(score[one] < score[two], one, two)  # of equal scores the later row
    same = category[one] == category[two]
    return [largest(found.values.astype(np.float64), worse, chosen, len(table)) for chosen in (same, ~same)]


def has_weak(scores: Floats) -> bool:
    """Whether there are detections that are not reliable wherever they lie, as a detector's list has them.

    Args:
        scores: (N,) scores, in any unit.
    """
    return bool((score_features(scores)[:, -1] < RELIABLE).any())


def _found(reliably: Flags, met: Flags, counted: Flags, size: Floats, category: npt.NDArray[np.uint32]) -> Floats:
    """(G,) the chance of a reliable detection by class and size.

    It is that of objects that have a detection at all: labels of nothing have none. The chances of a miss are
    multiplied by one number, so that they add up to all misses; none is above 1. But a model whose misses
    leave hardly a trace, or whose low scores were cut off, does not show in this way what it misses. Then all objects
    tell it.
    """
    kinds, misses = category.astype(np.int64), counted & ~reliably
    miss = np.where(counted, 1 - chance(fitted_logits(reliably, size, kinds, met & counted)), 0.0)
    factor = np.count_nonzero(misses) / max(float(miss.sum()), 1e-9)
    if factor * float(miss.max(initial=0)) > 1:
        low, high = factor, 1 / max(float(miss.min(where=counted, initial=1)), 1e-9)
        for _ in range(_HALVINGS):
            factor = (low + high) / 2
            rises = float(np.minimum(factor * miss, 1).sum()) < np.count_nonzero(misses)
            low, high = (factor, high) if rises else (low, factor)
    miss = np.minimum(factor * miss, 1)
    traces, without = np.count_nonzero(misses & met), np.count_nonzero(misses & ~met)
    without -= _OF_NOTHING * np.count_nonzero(counted)
    if without > 0:
        traces -= np.sqrt(traces)  # a few may be there by chance
        untold = max(1 - traces / (_FEW_TRACES * without), 0)
        miss += untold * (1 - chance(fitted_logits(reliably, size, kinds, counted)) - miss)
    found: Floats = 1 - miss
    return found


def largest(values: Floats, rows: Rows, chosen: Flags | slice, count: int) -> Floats:
    """(count,) the largest of the chosen values of each row; 0 for none."""
    found = np.zeros(count)
    np.maximum.at(found, rows[chosen], values[chosen])
    return found


def strongest(values: Floats, rows: Rows, chosen: Flags, count: int) -> Rows:
    """(count,) the place of the largest of the chosen values of each row, of equal ones the last; -1 for none."""
    places = np.flatnonzero(chosen)
    places = places[np.argsort(values[places], kind="stable")]
    found = np.full(count, -1)
    found[rows[places]] = places  # later ones overwrite earlier ones
    return found


def _below(overlap: Floats, steps: tuple[float, ...]) -> Floats:
    return (overlap[:, None] < steps).astype(np.float64)


def _sizes(table: MatchTable, areas: Floats | None) -> Floats:
    """(G, F) the logarithm of the side and its square; area ranges if the table has no areas."""
    if areas is not None:
        side = 0.5 * np.log(np.clip(areas, 1e-6, 1e12))
        return np.stack([side, side**2], axis=1)
    ranges = [table.ignores(label) for label in table.protocol.area_labels if label != table.protocol.main_area]
    return np.stack(ranges, axis=1).astype(np.float64) if ranges else np.zeros((len(table.objects), 0))
