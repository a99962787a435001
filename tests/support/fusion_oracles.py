"""Slow, plain definitions of suppression and fusion: loops over Python floats, one pair at a time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Box = list[float]
Places = list[int]


def iou(a: Sequence[float], b: Sequence[float]) -> float:
    """IoU with the library's rounding, in double precision."""
    wide, high = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(wide, 0.0) * max(high, 0.0)
    union = ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])) - both
    return both / union if union > 0 else 0.0


def ranked(scores: Sequence[float]) -> Places:
    """Positions by descending score; among equal scores, the lower position first."""
    return sorted(range(len(scores)), key=lambda k: (-scores[k], k))


def meet(labels: Sequence[int] | None, a: int, b: int) -> bool:
    return labels is None or labels[a] == labels[b]


def greedy(boxes: list[Box], scores: list[float], threshold: float, labels: list[int] | None = None) -> Places:
    keep: Places = []
    for k in ranked(scores):
        if all(not meet(labels, j, k) or iou(boxes[j], boxes[k]) <= threshold for j in keep):
            keep.append(k)
    return keep


def fast(boxes: list[Box], scores: list[float], threshold: float, labels: list[int] | None = None) -> Places:
    order = ranked(scores)
    return [
        k
        for place, k in enumerate(order)
        if all(not meet(labels, j, k) or iou(boxes[j], boxes[k]) <= threshold for j in order[:place])
    ]


def soft(
    boxes: list[Box],
    scores: list[float],
    *,
    method: str,
    threshold: float = 0.3,
    sigma: float = 0.5,
    least: float = 0.0,
    labels: list[int] | None = None,
) -> tuple[Places, list[float]]:
    current, left = list(scores), set(range(len(scores)))
    keep: Places = []
    kept: list[float] = []
    while True:
        left = {k for k in left if current[k] >= least}
        if not left:
            return keep, kept
        best = min(left, key=lambda k: (-current[k], k))
        left.remove(best)
        keep.append(best)
        kept.append(current[best])
        for k in left:
            u = iou(boxes[best], boxes[k]) if meet(labels, best, k) else 0.0
            if method == "gaussian":
                current[k] *= math.exp(-u * u / sigma)
            elif u >= threshold and u > 0:
                current[k] *= 1 - u


def matrix(
    boxes: list[Box], scores: list[float], *, kernel: str, sigma: float, labels: list[int] | None = None
) -> list[float]:
    """The lowered score of every box, in the order of the input."""
    order = ranked(scores)
    count = len(order)

    def f(u: float) -> float:
        return math.exp(-sigma * u * u) if kernel == "gaussian" else 1 - u

    u = [[iou(boxes[a], boxes[b]) if meet(labels, a, b) else 0.0 for b in order] for a in order]
    covered = [max([u[k][i] for k in range(i)], default=0.0) for i in range(count)]
    lowered = [0.0] * count
    for j in range(count):
        factors = [f(u[i][j]) / f(covered[i]) for i in range(j) if f(covered[i]) > 0]
        lowered[order[j]] = scores[order[j]] * min([1.0, *factors])
    return lowered


def cluster(boxes: list[Box], scores: list[float], threshold: float, rounds: int) -> Places:
    order = ranked(scores)
    left = [True] * len(order)
    for _ in range(rounds):
        left = [
            all(not left[i] or iou(boxes[order[i]], boxes[order[j]]) <= threshold for i in range(j))
            for j in range(len(order))
        ]
    return [k for k, stays in zip(order, left, strict=True) if stays]


def groups(boxes: list[Box], scores: list[float], threshold: float, labels: list[int] | None = None) -> list[Places]:
    """Groups of boxes: each best box with the boxes that it groups, best first."""
    left, found = ranked(scores), []
    while left:
        best = left[0]
        group = [
            k
            for k in left
            if k == best
            or (meet(labels, best, k) and iou(boxes[best], boxes[k]) >= threshold and iou_positive(boxes, best, k))
        ]
        found.append(group)
        left = [k for k in left if k not in group]
    return found


def iou_positive(boxes: list[Box], a: int, b: int) -> bool:
    return iou(boxes[a], boxes[b]) > 0


def fused(
    boxes: list[Box],
    scores: list[float],
    labels: list[int],
    models: list[int],
    weights: list[float],
    *,
    threshold: float,
    rule: str,
    moving: bool = True,
) -> list[tuple[float, int, Box]]:
    """Score, label and box of every cluster, by descending score; the given scores are not yet weighted."""
    weighted = [score * weights[model] for score, model in zip(scores, models, strict=True)]
    clusters: list[dict[str, Any]] = []
    for k in ranked(weighted):
        best, most = None, threshold
        for one in clusters:
            if one["label"] == labels[k] and iou(one["box"], boxes[k]) > most:
                best, most = one, iou(one["box"], boxes[k])
        if best is None:
            clusters.append({"label": labels[k], "box": boxes[k], "members": [k], "parts": [weighted[k]]})
            continue
        best["members"].append(k)
        best["parts"].append(weighted[k] * (1 if moving else most))
        if moving:
            best["box"] = mean_box(boxes, best)
    found = []
    for one in clusters:
        members = one["members"]
        total, n = sum(weighted[k] for k in members), len(members)
        of_boxes = sum(weights[models[k]] for k in members)
        present = {models[k] for k in members}
        here = sum(weights[model] for model in present)
        score = {
            "avg": total / n * min(n, len(weights)) / sum(weights),
            "avg_overflow": total / sum(weights),
            "max": max(weighted[k] for k in members) / max(weights),
            "box_and_model_avg": total / of_boxes * here / sum(weights),
            "absent_model_aware_avg": total / (of_boxes + sum(weights) - here),
            "best": weighted[members[0]],
        }[rule]
        found.append((score, one["label"], one["box"] if moving else mean_box(boxes, one)))
    return sorted(found, key=lambda one: -one[0])


def mean_box(boxes: list[Box], cluster: dict[str, Any]) -> Box:
    members, parts = cluster["members"], cluster["parts"]
    if len(members) == 1 or sum(parts) == 0:
        return boxes[members[0]]
    return [sum(part * boxes[k][x] for k, part in zip(members, parts, strict=True)) / sum(parts) for x in range(4)]


def crowd(seed: int, count: int, *, extent: float = 60.0, labels: int = 3) -> tuple[Any, Any, Any]:
    """Boxes (N, 4) that overlap a lot, with scores and labels; some boxes and some scores are equal."""
    rng = np.random.default_rng(seed)
    low = rng.integers(0, int(extent), (count, 2)).astype(np.float64)
    boxes = np.concatenate([low, low + rng.integers(1, 25, (count, 2))], axis=1)
    copies = rng.random(count) < 0.15
    boxes[copies] = boxes[rng.integers(0, max(count, 1), int(copies.sum()))] if count else boxes[copies]
    scores = rng.permutation(count) / max(count, 1)
    tied = rng.random(count) < 0.3
    scores[tied] = np.round(scores[tied], 1)
    return boxes, scores, rng.integers(0, labels, count)
