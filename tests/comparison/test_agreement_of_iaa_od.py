"""Krippendorff's alpha beside iaa-od: equal where both make the same objects of the regions.

iaa-od joins regions by average linkage: two groups, if the mean IoU between them is above the threshold. ioukit pairs
every two annotators with the most pairs, and joins pairs, those with the highest IoU first. For two annotators and
objects that stand apart, both are the pairs above the threshold.
"""

from __future__ import annotations

import itertools
import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import GroundTruth
from ioukit.comparison import agree

if TYPE_CHECKING:
    from pathlib import Path

iaa_od: Any = pytest.importorskip("iaa_od", reason="compared with iaa-od")

CLASSES = {1: "cat", 2: "dog", 3: "owl"}
IMAGES = 4
Region = tuple[int, int, list[float]]
"""Image, class, and ``x, y, width, height``."""


def drawn(rng: np.random.Generator, annotators: int, *, moved: float) -> list[list[Region]]:
    """Objects as annotators draw them, each in a cell of its own."""
    sets: list[list[Region]] = [[] for _ in range(annotators)]
    for image in range(1, IMAGES + 1):
        for cell in range(int(rng.integers(1, 6))):
            box, kind = np.array([200 * cell + 50, 50, *rng.uniform(30, 60, 2)]), int(rng.integers(1, 4))
            for own in sets:
                if rng.random() < 0.85:
                    given = kind if rng.random() < 0.7 else int(rng.integers(1, 4))
                    near = np.round(box + rng.normal(0, moved, 4))  # iaa-od cuts off what follows the point
                    own.append((image, given, [*near[:2].tolist(), *np.maximum(near[2:], 5).tolist()]))
    return sets


def alpha_of_iaa_od(sets: list[list[Region]], folder: Path) -> float:
    truths = []
    for name, regions in zip("abcd", sets, strict=False):
        path = folder / f"{name}.json"
        record = {
            "images": [
                {"id": image, "file_name": f"{image}.jpg", "width": 1500, "height": 300}
                for image in range(1, IMAGES + 1)
            ],
            "categories": [{"id": number, "name": title} for number, title in CLASSES.items()],
            "annotations": [
                {"id": at, "image_id": image, "category_id": kind, "bbox": box, "area": box[2] * box[3]}
                for at, (image, kind, box) in enumerate(regions, start=1)
            ],
        }
        path.write_text(json.dumps(record))
        truths.append(iaa_od.models.GroundTruth.from_file(str(path), name=name))
    return float(iaa_od.metrics.alpha(truths, iou_threshold=0.5).alpha)


def alpha_of_ioukit(sets: list[list[Region]]) -> float:
    data = {
        name: GroundTruth.from_arrays(
            image_ids=np.array([one[0] for one in regions], np.int64),
            category_ids=np.array([one[1] for one in regions], np.int64),
            boxes=np.array([one[2] for one in regions], np.float64).reshape(-1, 4),
            images=list(range(1, IMAGES + 1)),
            categories=CLASSES,
        )
        for name, regions in zip("abcd", sets, strict=False)
    }
    return agree(data).alpha.value


def iou(first: list[float], second: list[float]) -> float:
    sides = [
        max(min(first[at] + first[at + 2], second[at] + second[at + 2]) - max(first[at], second[at]), 0)
        for at in (0, 1)
    ]  # fmt: skip
    both = sides[0] * sides[1]
    return both / (first[2] * first[3] + second[2] * second[3] - both)


def are_clear(sets: list[list[Region]]) -> bool:
    """Whether all regions of an object reach 0.5 with each other, or none does: objects lie in cells of 200 pixels."""
    cells: dict[tuple[int, int], list[list[float]]] = {}
    for image, _, box in itertools.chain(*sets):
        cells.setdefault((image, int(box[0]) // 200), []).append(box)
    reached = [{iou(a, b) > 0.5 for a, b in itertools.combinations(boxes, 2)} for boxes in cells.values()]
    return all(len(one) < 2 for one in reached)


@pytest.mark.parametrize("annotators", [2, 3, 4])
def test_alpha_is_that_of_iaa_od_where_objects_are_clear(annotators: int, tmp_path: Path) -> None:
    compared = 0
    for seed in range(40):
        sets = drawn(np.random.default_rng(seed), annotators, moved=2)
        if not (all(sets) and are_clear(sets)):
            continue
        own, other = alpha_of_ioukit(sets), alpha_of_iaa_od(sets, tmp_path)
        assert math.isnan(own) or own == pytest.approx(other, abs=1e-12)
        compared += not math.isnan(own)
    assert compared >= 20


def test_where_they_differ(tmp_path: Path) -> None:
    # b fits a and c, but a and c do not fit each other: on average, the IoU of c with the two others is 0.46.
    boxes: list[list[float]] = [[0, 0, 100, 10], [20, 0, 100, 10], [45, 0, 100, 10]]
    chain: list[list[Region]] = [[(1, 1, boxes[0])], [(1, 1, boxes[1])], [(1, 2, boxes[2])]]
    for own in chain:
        own.append((2, 2, [0, 0, 50, 50]))
    assert [round(iou(boxes[a], boxes[b]), 2) for a, b in ((0, 1), (1, 2), (0, 2))] == [0.67, 0.6, 0.38]
    assert alpha_of_iaa_od(chain, tmp_path) == pytest.approx(1)
    assert alpha_of_ioukit(chain) == pytest.approx(1 - 5 * 2 / 16)
    # One class alone says nothing about agreement: undefined here, 1 there.
    alone: list[list[Region]] = [[(1, 1, [0, 0, 50, 50])], [(1, 1, [0, 0, 50, 50])]]
    assert math.isnan(alpha_of_ioukit(alone))
    assert alpha_of_iaa_od(alone, tmp_path) == 1
    # An IoU of just the threshold is a pair here, and none there.
    half: list[list[Region]] = [[(1, 1, [0, 0, 50, 50]), (2, 2, [0, 0, 50, 50])] for _ in range(2)]
    half[1][0] = (1, 2, [0, 0, 50, 25])
    assert alpha_of_ioukit(half) < 1
    assert alpha_of_iaa_od(half, tmp_path) == 1
