"""Detections that have no scores: what each way of reading makes of them, and who refuses them."""

from __future__ import annotations

import numpy as np
import pytest

from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.errors import DatasetError

TRUTH = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [5, 5, 20, 20]])


def unscored(count: int = 2) -> Detections:
    boxes = [[0, 0, 10, 9], [5, 5, 20, 18]][:count]
    return Detections.from_arrays(image_ids=[1, 2][:count], category_ids=[1] * count, boxes=boxes, scores=None)


def test_arrays_without_scores_are_said_to_have_none() -> None:
    found = unscored()
    assert not found.scored
    assert found.scores.tolist() == [1, 1]
    assert found.notes == ("detections: the detections have no scores, so they are counted and not ranked",)
    assert not found[:1].scored
    assert "score" not in next(iter(found.notebook_rows()[0]))
    none = Detections.from_arrays(image_ids=[], category_ids=[], boxes=np.zeros((0, 4)), scores=[])
    assert none.scored


def test_parts_with_and_without_scores_do_not_join() -> None:
    assert not Detections.concat([unscored(), unscored(1)]).scored
    scored = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 1, 1]], scores=[0.5])
    assert Detections.concat([scored, scored[:0], unscored(0)]).scored
    with pytest.raises(ValueError, match="some parts have scores, others have none: detections"):
        Detections.concat([scored, unscored()])


def test_a_protocol_that_ranks_refuses_them() -> None:
    with pytest.raises(DatasetError, match="have no scores, and COCO ranks by scores; the protocol 'unranked' counts"):
        evaluate(TRUTH, unscored(), COCO)
