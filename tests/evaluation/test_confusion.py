"""Which class is taken for which."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evaluation.small_scene import DT, GT
from ioukit import evaluate
from ioukit.evaluation import confusion_matrix, match
from support.data_rows import entries_in_data

TABLE = match(GT, DT, near=0.5)


def test_numbers_that_can_be_counted() -> None:
    evaluation = evaluate(GT, DT)
    matrix = evaluation.confusion(score_threshold=0.0)
    entries = entries_in_data(evaluation, matrix)
    # Rows cat, dog, cow, background: two cats found and one missed, a dog taken for a cat and one missed.
    assert matrix.counts.tolist() == [[2, 0, 0, 1], [1, 0, 0, 1], [0, 0, 0, 0], [6, 0, 0, 0]]
    assert matrix.categories.names == ("cat", "dog", "cow")
    (confused,) = matrix.cell(1, 0)
    assert (entries.ground_truth[confused], entries.detection[confused]) == (2, 4)
    assert matrix.image_ids[matrix.image[matrix.cell(3, 0)]].tolist() == [1, 1, 1, 1, 1, 3]
    assert entries.detection[matrix.cell(3, 0)].tolist() == [1, 2, 3, 5, 6, 9]
    assert entries.ground_truth[matrix.cell(1, 3)].tolist() == [3]
    nan = [np.nan] * 4
    np.testing.assert_array_equal(matrix.normalized(), [[2 / 3, 0, 0, 1 / 3], [1 / 2, 0, 0, 1 / 2], nan, [1, 0, 0, 0]])
    np.testing.assert_array_equal(matrix.normalized("prediction")[:, 0], [2 / 9, 1 / 9, 0, 6 / 9])
    assert np.isnan(matrix.normalized("prediction")[:, 1]).all()
    assert repr(matrix) == "ConfusionMatrix(3 classes, 2 right, 1 confused, 2 missed, 6 background)"


def test_score_and_cap_and_selection() -> None:
    assert confusion_matrix(TABLE, score_threshold=0.96).counts.sum() == 5
    assert confusion_matrix(TABLE, max_dets=1).counts[:, 0].tolist() == [2, 0, 0, 0]  # image 3: below the score
    part = evaluate(GT, DT, images=[1], categories=["cat"]).confusion()
    assert part.counts.tolist() == [[1, 1], [6, 0]]
    assert part.image_ids.tolist() == [1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iou_threshold": 0.0}, r"must lie within \(0, 1\], got 0.0"),
        ({"score_threshold": math.nan}, "score_threshold must be a number, got nan"),
        ({"max_dets": 0}, "max_dets must be positive integers, got 0"),
        ({"iou_threshold": 0.3}, "lists those of at least 0.5: match with near=0.3"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        confusion_matrix(TABLE, **arguments)


def test_cells_and_shares_that_do_not_exist() -> None:
    matrix = confusion_matrix(TABLE)
    with pytest.raises(ValueError, match=r"predicted must be within 0 to 3 \(the background\), got 4"):
        matrix.cell(0, 4)
    with pytest.raises(ValueError, match="unknown by 'rows'; choose from truth, prediction"):
        matrix.normalized("rows")  # type: ignore[arg-type]
