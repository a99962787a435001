"""`nms(..., explain=True)`: which box removed which, and why."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit
from ioukit import Suppression, nms
from postprocess.plain import random_set, table


@pytest.mark.parametrize("metric", ["iou", "ioa", "giou"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_first_survivor_that_overlaps_is_named(metric: Any, dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for number in range(80):
        boxes, scores = random_set(rng)
        boxes, scores = boxes.clip(-99, 99).astype(dtype), scores.astype(dtype)
        labels, batch = rng.integers(0, 2, len(boxes)), rng.integers(0, 2, len(boxes))
        max_keep, threshold = (None, 2)[number % 2], -0.2 if metric == "giou" else 0.2
        options = {"metric": metric, "iou_threshold": threshold, "labels": labels, "batch": batch, "max_keep": max_keep}
        result: Suppression = nms(boxes, scores, score_threshold=-0.2, explain=True, **options)
        assert_array_equal(result.keep, nms(boxes, scores, score_threshold=-0.2, **options))
        computed = np.promote_types(dtype, np.float32)
        overlap = table(metric, boxes.astype(computed))
        for box in range(len(boxes)):
            first = next(
                (
                    k
                    for k in result.keep
                    if overlap[k, box] > computed.type(threshold) and (labels[k], batch[k]) == (labels[box], batch[box])
                ),
                -1,
            )
            if box in result.keep or not scores[box] > dtype(-0.2):
                assert result.reason[box] == ("kept" if box in result.keep else "score")
                first = -1
            else:
                assert result.reason[box] == ("max_keep" if first < 0 else "overlap")
                assert first >= 0 or max_keep is not None
            assert result.suppressed_by[box] == first
            assert_array_equal(result.overlap[box], computed.type(math.nan) if first < 0 else overlap[first, box])
            assert result.overlap.dtype == computed


def test_many_boxes_on_several_threads() -> None:
    rng = np.random.default_rng(1)
    low = rng.uniform(0, 900, (20_000, 2))
    boxes, scores = np.concatenate([low, low + rng.uniform(5, 60, (20_000, 2))], axis=1), rng.random(20_000)
    one, many = (nms(boxes, scores, iou_threshold=0.3, explain=True, threads=threads) for threads in (1, None))
    for name in ("keep", "suppressed_by", "overlap", "reason"):
        assert_array_equal(getattr(one, name), getattr(many, name))
    removed = np.flatnonzero(one.suppressed_by >= 0)
    assert len(removed) + len(one.keep) == 20_000
    by = one.suppressed_by[removed]
    assert_array_equal(one.overlap[removed], ioukit.elementwise_iou(boxes[by], boxes[removed]))
    assert (scores[by] > scores[removed]).all()


def test_words() -> None:
    boxes = [[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8], [7, 7, 8, 8]]
    result = nms(boxes, [0.9, 0.8, 0.7, 0.1], iou_threshold=0.5, explain=True, max_keep=1, score_threshold=0.2)
    assert [result.explain(box) for box in range(4)] == [
        "box 0 (score 0.9) was kept",
        "box 1 (score 0.8) was removed by box 0 (score 0.9): iou 0.75 is above 0.5",
        "box 2 (score 0.7) was removed: max_keep better boxes were kept, none of which overlaps it",
        "box 3 (score 0.1) was removed: its score is below score_threshold",
    ]
    assert result.explain(-4) == result.explain(0)
    assert repr(result) == "<Suppression: 1 of 4 kept; removed 1 by score, 1 by overlap, 1 by max_keep>"
    assert len(result) == 4
    with pytest.raises(IndexError, match="box 4 of 4 boxes"):
        result.explain(4)
    at = nms(boxes, [4, 3, 2, 1], iou_threshold=0.75, explain=True, suppress="at_or_above")
    assert at.explain(1).endswith("iou 0.75 is at or above 0.75")
    assert (at.metric, at.iou_threshold, at.suppress, at.rule) == ("iou", 0.75, "at_or_above", "iou at or above 0.75")
    assert repr(nms([], [], iou_threshold=0.5, explain=True)) == "<Suppression: 0 of 0 kept; removed none>"


def test_it_is_frozen() -> None:
    result = nms([[0, 0, 4, 4]], [0.9], iou_threshold=0.5, explain=True)
    with pytest.raises(AttributeError):
        result.keep = np.zeros(0, int)  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        result.keep[0] = 3
