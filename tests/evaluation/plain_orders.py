"""AP of detections with equal scores in plain Python, in every order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import permutations

from evaluation.plain_unranked import Object, iou

Area = tuple[float, float]


def ap(objects: list[Object], order: Sequence[Object], threshold: float, area: Area, cap: int = 100) -> float:
    """The mean over the classes that have objects to find."""
    found = [of_class(objects, order, category, threshold, area, cap) for category in (1, 2, 3)]
    defined = [one for one in found if not math.isnan(one)]
    return sum(defined) / len(defined) if defined else math.nan


def of_class(
    objects: list[Object], order: Sequence[Object], category: int, threshold: float, area: Area, cap: int
) -> float:
    """COCO's AP of one class, if the detections choose in an order and stand in the curve in this order."""
    there = [one for one in objects if one.category == category]
    ignored = [one.crowd or not area[0] <= one.box[2] * one.box[3] <= area[1] for one in there]
    if all(ignored):
        return math.nan
    free = [True] * len(there)
    seen: dict[int, int] = {}
    right, wrong, points = 0, 0, []
    for one in order:
        if one.category != category:
            continue
        seen[one.image] = seen.get(one.image, 0) + 1
        if seen[one.image] > cap:
            continue
        best: tuple[bool, float, int] | None = None
        for place, other in enumerate(there):
            overlap = iou(one.box, other.box, over_first=other.crowd)
            if other.image == one.image and free[place] and overlap >= threshold:
                best = max(best or (False, 0.0, -1), (not ignored[place], overlap, place))
        if best is not None:
            free[best[2]] = there[best[2]].crowd
            right += best[0]
        elif area[0] <= one.box[2] * one.box[3] <= area[1]:
            wrong += 1
        points.append((right, right / max(1, right + wrong)))
    total = len(ignored) - sum(ignored)
    best_at = [max([precision for done, precision in points if done >= k], default=0.0) for k in range(total + 1)]
    recalls = [place / 100 for place in range(101)]
    return sum(best_at[max(1, math.ceil(recall * total - 1e-9))] for recall in recalls) / len(recalls)


def all_orders(
    objects: list[Object], detections: list[Object], thresholds: Sequence[float], area: Area, cap: int = 100
) -> list[list[float]]:
    """For each order, AP at each threshold."""
    return [[ap(objects, order, one, area, cap) for one in thresholds] for order in permutations(detections)]
