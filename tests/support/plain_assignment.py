"""The rules of assignment as slow plain Python, one pair at a time, in the order of their descriptions."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def iou(a: Any, b: Any) -> float:
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    inter = max(width, 0.0) * max(height, 0.0)
    union = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inter
    return inter / union if union > 0 else 0.0


def centre(box: Any) -> tuple[float, float]:
    return (box[0] + box[2]) / 2, (box[1] + box[3]) / 2


def inside(point: Any, box: Any, margin: float = 0.0) -> bool:
    depth: float = min(point[0] - box[0], point[1] - box[1], box[2] - point[0], box[3] - point[1])
    return depth > margin


def first_max(values: Sequence[float]) -> int:
    return max(range(len(values)), key=lambda k: (values[k], -k))


def max_iou(
    predictions: Any, objects: Any, positive: float, negative: Any, low_quality: str, least: float, every_tie: bool
) -> tuple[list[int], list[bool]]:
    low, high = (0.0, negative) if isinstance(negative, float) else negative
    target, ignore = [], []
    for p in predictions:
        overlaps = [iou(g, p) for g in objects]
        best = max(overlaps, default=0.0)
        if objects and best >= positive and best > 0:
            target.append(first_max(overlaps))
            ignore.append(False)
        else:
            target.append(-1)
            ignore.append(bool(objects) and not low <= best < high)
    if low_quality == "none":
        return target, ignore
    for k, g in enumerate(objects):
        overlaps = [iou(g, p) for p in predictions]
        best = max(overlaps, default=0.0)
        if best <= 0 or best < least:
            continue
        tied = [j for j, overlap in enumerate(overlaps) if overlap == best]
        for j in tied if every_tie or low_quality == "detectron2" else tied[:1]:
            own = [iou(other, predictions[j]) for other in objects]
            target[j] = k if low_quality == "mmdet" else first_max(own)
            ignore[j] = False
    return target, ignore


def nearest(numbers: Any, boxes: Any, point: tuple[float, float]) -> list[int]:
    def apart(j: int) -> tuple[float, int]:
        x, y = centre(boxes[j])
        return (x - point[0]) ** 2 + (y - point[1]) ** 2, j

    return sorted(numbers, key=apart)


def atss(
    anchors: Any, objects: Any, levels: Sequence[int], top_k: int, ignored: Sequence[bool] = (), fill: bool = False
) -> list[int]:
    """``fill``: MMDetection's rule. Ignored anchors are infinitely far, and still fill a level of few others."""
    wanted: list[list[tuple[float, int]]] = [[] for _ in anchors]
    for k, g in enumerate(objects):
        cx, cy = centre(g)
        candidates, start = [], 0
        for size in levels:
            level = range(start, start + size)
            near = nearest([j for j in level if not (ignored and ignored[j])], anchors, (cx, cy))
            candidates += (near + [j for j in level if j not in near and fill])[:top_k]
            start += size
        overlaps = [Fraction(iou(anchors[j], g)) for j in candidates]
        mean = sum(overlaps, Fraction(0)) / max(len(overlaps), 1)
        variance = sum(((o - mean) ** 2 for o in overlaps), Fraction(0)) / max(len(overlaps) - 1, 1)
        for j, overlap in zip(candidates, overlaps, strict=True):
            # overlap >= mean + std, without a root
            if overlap >= mean and (overlap - mean) ** 2 >= variance and inside(centre(anchors[j]), g, 0.01):
                wanted[j].append((float(overlap), -k))
    return [-max(claims)[1] if claims else -1 for claims in wanted]


def simota(
    predictions: Any, scores: Any, objects: Any, labels: Any, points: Any, strides: Any, rule: str, top_k: int = 10
) -> list[int]:
    radius, extra, epsilon = (2.5, 1e5, 1e-7) if rule == "mmdet" else (1.5, 1e6, 1e-8)

    def near(k: int, j: int) -> bool:
        (x, y), half = centre(objects[k]), radius * strides[j]
        return inside(points[j], (x - half, y - half, x + half, y + half))

    def own(k: int, j: int) -> bool:
        return near(k, j) and (rule == "yolox" or inside(points[j], objects[k]))

    def log(x: float) -> float:
        return max(math.log(x), -100.0) if x > 0 else -100.0

    def cost(k: int, j: int) -> float:
        given = [math.sqrt(s) if rule == "yolox" else s for s in scores[j]]
        entropy = sum(-log(s) if c == labels[k] else -log(1 - s) for c, s in enumerate(given))
        return entropy - 3 * math.log(iou(predictions[j], objects[k]) + epsilon) + (0 if own(k, j) else extra)

    objects_range = range(len(objects))
    part = [
        j for j in range(len(predictions))
        if any(near(k, j) or (rule == "mmdet" and inside(points[j], objects[k])) for k in objects_range)
    ]  # fmt: skip
    claims: dict[int, list[int]] = {}
    for k in objects_range:
        best = sorted((iou(predictions[j], objects[k]) for j in part), reverse=True)[:top_k]
        taken = max(int(sum(best)), 1)
        for j in sorted(part, key=lambda j: (cost(k, j), j))[:taken]:
            claims.setdefault(j, []).append(k)
    target = [-1] * len(predictions)
    for j, those in claims.items():
        target[j] = those[0] if len(those) == 1 else min(objects_range, key=lambda k: (cost(k, j), k))
    return target


def task_aligned(
    overlaps: Any, scores: Any, objects: Any, labels: Any, points: Any, rule: str, alpha: float, top_k: int,
    second: int | None = None,
) -> tuple[list[int], list[float]]:  # fmt: skip
    """Task-aligned assignment from overlaps[object][prediction]."""
    margin = 0.01 if rule == "tood" else 1e-9
    count = len(points)
    metric = [[scores[j][labels[k]] ** alpha * overlaps[k][j] ** 6 for j in range(count)] for k in range(len(objects))]
    claims: dict[int, list[int]] = {}
    for k, g in enumerate(objects):
        within = [j for j in range(count) if inside(points[j], g, margin)]
        ranked = sorted(range(count) if rule == "tood" else within, key=lambda j: (-metric[k][j], j))[:top_k]
        for j in ranked:
            if metric[k][j] > 0 and j in within:
                claims.setdefault(j, []).append(k)
    target = [-1] * count
    for j, those in claims.items():
        rivals = those
        if rule == "v8" and len(those) > 1:
            rivals = [k for k, g in enumerate(objects) if inside(points[j], g, margin)]
        target[j] = min(rivals, key=lambda k: (-overlaps[k][j], k))
    if second is not None:
        for k in range(len(objects)):
            mine = sorted((j for j in range(count) if target[j] == k), key=lambda j: (-metric[k][j], j))
            for j in mine[second:]:
                target[j] = -1
    wanted = [0.0] * count
    for k in range(len(objects)):
        mine = [j for j in range(count) if target[j] == k]
        best = max((metric[k][j] for j in mine), default=0.0)
        for j in mine:
            wanted[j] = metric[k][j] / best * max(overlaps[k][i] for i in mine) if best > 0 else 0.0
    return target, wanted


def least_cost(cost: Any, objects: int) -> float:
    """The least total cost of one prediction for each object; cost[prediction][object]."""
    costs = (
        sum(cost[j][k] for k, j in enumerate(chosen)) for chosen in itertools.permutations(range(len(cost)), objects)
    )
    return float(min(costs))


def yolov3(objects: Any, anchors: Any, strides: Any, side: int) -> dict[tuple[int, int, int, int], int]:
    """(scale, anchor, row, column) -> object."""
    target: dict[tuple[int, int, int, int], int] = {}
    for k, g in enumerate(objects):
        width, height = g[2] - g[0], g[3] - g[1]
        best = max(
            ((s, a) for s, sizes in enumerate(anchors) for a in range(len(sizes))),
            key=lambda at: (iou((0, 0, width, height), (0, 0, *anchors[at[0]][at[1]])), -at[0], -at[1]),
        )
        column, row = (math.floor(c / strides[best[0]]) for c in centre(g))
        if 0 <= column < side // strides[best[0]] and 0 <= row < side // strides[best[0]]:
            target[best[0], best[1], row, column] = k
    return target
