"""Badly drawn objects: detections of their class lie elsewhere than detections of such objects usually do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._array_types import Floats, Rows
from ioukit.label_errors.calibration import along, chance, combined, design_of, products, score_features
from ioukit.label_errors.evidence import FOUND, LEAST, matched_among
from ioukit.label_errors.judging import NEVER_SURE, RATE, Suspicions
from ioukit.label_errors.label_error import BADLY_DRAWN

if TYPE_CHECKING:
    from ioukit.label_errors.evidence import Evidence


_LEAST_SPREAD = 0.1  # of the logit of an IoU
_LEAST_REST = 0.02  # smaller differences count as this one
_FREEDOM = 4.0  # of Student's t: IoUs have a few outliers where nothing is wrong
_ROUNDS = 12
_WORST = 0.75  # badly drawn boxes have an IoU between LEAST and this one


def badly_drawn(evidence: Evidence, threads: int | None) -> Suspicions:
    """Objects whose detection overlaps them less than is usual for this score, size and class."""
    table, pairs = evidence.table, evidence.pairs
    gt = np.flatnonzero((evidence.match_of >= 0) & evidence.accusable)
    dt, iou = evidence.match_of[gt], evidence.match_iou[gt]
    # Objects and detections without a match may belong together although they overlap by less than half.
    classes = table.objects.category[pairs.object] == table.detections.category[pairs.detection]
    free = evidence.free[pairs.detection] & evidence.accusable[pairs.object] & (evidence.match_of[pairs.object] < 0)
    more = matched_among(evidence, classes & free, LEAST, class_agnostic=False, threads=threads)
    gt, dt, iou = (np.concatenate(columns) for columns in zip((gt, dt, iou), more, strict=True))
    if not len(gt):
        return Suspicions(BADLY_DRAWN, gt, dt, np.zeros(0, np.int64), iou, np.zeros(0), np.zeros(0))
    far = iou < FOUND
    certain = chance(evidence.alone[dt])
    features = np.concatenate([score_features(table.detections.score)[dt], evidence.size[gt]], axis=1)
    inside = np.clip(iou, 0.02, 0.98)
    logit = np.log(inside) - np.log1p(-inside)
    usual, spread = _usual(
        logit, features, table.objects.category[gt].astype(np.int64), certain * np.where(far, 0.2, 1)
    )
    distance = (logit - usual) / spread
    good = (1 + distance**2 / _FREEDOM) ** (-(_FREEDOM + 1) / 2) * 0.375 / spread
    bad = inside * (1 - inside) / (_WORST - LEAST)
    ratio = np.where((distance < 0) & (iou < 0.9), bad / good, 0.05)
    # With an IoU below one half, a right label means two chances at once: a miss, and a wrong detection beside it.
    miss = np.clip(1 - evidence.own_found[gt], NEVER_SURE, 1)
    ratio = np.where(far, np.minimum(ratio, 20) * np.clip(1 / miss, 1, 5) * certain, ratio)
    ratio = certain * ratio + (1 - certain) * 0.2
    odds = RATE * ratio * (1 - _support(evidence, gt, dt, iou))
    return Suspicions(BADLY_DRAWN, gt, dt, np.full(len(gt), -1), iou, 1 / (1 + np.exp(-usual)), odds)


def _support(evidence: Evidence, gt: Rows, dt: Rows, iou: Floats) -> Floats:
    """The chance that another detection, which fits the object better, is right."""
    pairs, table = evidence.pairs, evidence.table
    expected = np.full(len(table.objects), np.inf)
    expected[gt] = iou + 0.1
    taken = np.full(len(table.objects), -1)
    taken[gt] = dt
    others = (
        (pairs.iou > expected[pairs.object])
        & evidence.free[pairs.detection]
        & (taken[pairs.object] != pairs.detection)
        & (pairs.iou >= FOUND)
    )
    best = np.zeros(len(table.objects))
    right = chance(evidence.alone)
    np.maximum.at(best, pairs.object[others], right[pairs.detection[others]])
    return best[gt]


def _usual(values: Floats, features: Floats, classes: Rows, weight: Floats) -> tuple[Floats, Floats]:
    """The expected value and the spread of each row: a robust regression, with an offset for each class."""
    design = design_of(features)
    offsets = np.zeros(int(classes.max(initial=0)) + 1)
    spread: Floats = np.full(
        len(values), max(float(np.median(np.abs(values - np.median(values)))) * 1.5, _LEAST_SPREAD)
    )
    beta: Floats = np.zeros(design.shape[1])
    beta[0] = np.median(values)
    ridge = np.diag([1e-6, *[0.5] * features.shape[1]])
    for _ in range(_ROUNDS):
        rest: Floats = values - combined(design, beta) - offsets[classes]
        robust = weight * (_FREEDOM + 1) / (_FREEDOM + (rest / spread) ** 2) / spread**2
        wanted = along(design, robust * (values - offsets[classes]))
        beta = np.linalg.solve(products(design, robust) + ridge, wanted).astype(np.float64, copy=False)
        rest = values - combined(design, beta)
        offsets = np.bincount(classes, robust * rest, len(offsets)) / (np.bincount(classes, robust, len(offsets)) + 10)
        off: Floats = np.abs(rest - offsets[classes])
        # The logarithm of the spread is linear in the features, too. The mean of log |t| is about -0.5.
        wanted = along(design, weight * np.log(np.maximum(off, _LEAST_REST)))
        gamma = np.linalg.solve(products(design, weight) + 20 * ridge, wanted)
        spread = np.maximum(np.exp(combined(design, gamma) + 0.5), _LEAST_SPREAD)
    return combined(design, beta) + offsets[classes], spread
