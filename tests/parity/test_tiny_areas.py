"""Boxes whose areas are subnormal numbers, or underflow to 0."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
import support.strategies  # noqa: F401 - the profile
from parity.reference import run_pycocotools
from parity.same_bits import assert_same_evaluation

SIDE = st.integers(1, 4)
PLACE = st.tuples(st.integers(0, 4), st.integers(0, 4), SIDE, SIDE)


def scene(objects: list[Any], found: list[Any], unit: float) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One image with boxes that are given in a unit."""

    def record(box: tuple[int, ...]) -> dict[str, Any]:
        x, y, w, h = (side * unit for side in box)
        return {"image_id": 1, "category_id": 1, "bbox": [x, y, w, h]}

    annotations = [
        {**record(box), "id": at + 1, "area": math.prod(record(box)["bbox"][2:]), "iscrowd": 0}
        for at, box in enumerate(objects)
    ]
    truth = {"images": [{"id": 1, "width": 9, "height": 9}], "categories": [{"id": 1, "name": "speck"}]}
    scores = np.linspace(0.9, 0.1, len(found)).tolist()
    results = [{**record(box), "score": score} for box, score in zip(found, scores, strict=True)]
    return {**truth, "annotations": annotations}, results


@given(
    st.lists(PLACE, min_size=1, max_size=5),
    st.lists(PLACE, min_size=1, max_size=6),
    st.sampled_from([1e-100, 1e-153, 1e-155, 1e-158, 1e-161]),
)
def test_areas_above_zero_give_the_same_bits(objects: list[Any], found: list[Any], unit: float) -> None:
    truth, results = scene(objects, found, unit)
    assert truth["annotations"][0]["area"] > 0
    assert_same_evaluation(ioukit.evaluate(truth, results), run_pycocotools(truth, results))


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_an_area_that_underflows_has_iou_0_and_matches_nothing() -> None:
    truth, results = scene([(0, 0, 1, 1)], [(0, 0, 1, 1)], 1e-170)
    assert truth["annotations"][0]["area"] == 0
    assert ioukit.evaluate(truth, results).summary["AP"] == 0
    # 0 divided by 0 is NaN there, which is not below any threshold.
    stats = run_pycocotools(truth, results).stats
    assert stats is not None
    assert stats[0] > 0.99
