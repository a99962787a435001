"""The tail of a detector, step by step as its help says."""

from __future__ import annotations

import doctest
import re
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import ioukit
from support import fusion_oracles as oracle


def head(seed: int, images: int = 3, boxes: int = 40, classes: int = 3) -> tuple[Any, Any, Any]:
    """Boxes (B, N, 4), class scores (B, N, C) and objectness (B, N), some of them equal."""
    rng = np.random.default_rng(seed)
    corners = np.stack([oracle.crowd(seed * 10 + k, boxes)[0] for k in range(images)])
    scores = np.round(rng.random((images, boxes, classes)), 2)
    return corners, scores, np.round(rng.random((images, boxes)), 1)


def plainly(
    boxes: Any,
    scores: Any,
    *,
    score_threshold: float = 0.05,
    top_k: int = 1000,
    max_detections: int = 100,
    class_agnostic: bool = False,
    multi_label: bool = True,
    iou_threshold: float = 0.5,
) -> list[tuple[float, int, int]]:
    """Score, box and class of what stays in one image."""
    rows = [(float(score), box, label) for box, row in enumerate(scores) for label, score in enumerate(row)]
    if not multi_label:
        rows = [max(rows[k : k + len(scores[0])], key=lambda row: row[0]) for k in range(0, len(rows), len(scores[0]))]
    rows = sorted((row for row in rows if row[0] >= score_threshold), key=lambda row: (-row[0], row[1], row[2]))[:top_k]
    labels = None if class_agnostic else [label for _, _, label in rows]
    keep = oracle.greedy(
        [boxes[box].tolist() for _, box, _ in rows], [score for score, _, _ in rows], iou_threshold, labels
    )
    return [rows[k] for k in keep][:max_detections]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"score_threshold": 0.4},
        {"top_k": 25},
        {"max_detections": 7},
        {"class_agnostic": True},
        {"multi_label": False},
        {"iou_threshold": 0.2, "top_k": 50, "class_agnostic": True, "multi_label": False},
    ],
    ids=lambda options: " ".join(options) or "defaults",
)
def test_each_image_is_the_plain_steps(seed: int, options: dict[str, Any]) -> None:
    boxes, class_scores, objectness = head(seed)
    for given in (None, objectness):
        found = ioukit.filter_detections(boxes, class_scores, objectness=given, **options)
        scores = class_scores if given is None else class_scores * given[:, :, None]
        for image in range(3):
            here = found.images == image
            expected = plainly(boxes[image], scores[image], **options)
            assert list(zip(found.scores[here], found.rows[here], found.labels[here], strict=True)) == expected
            assert_array_equal(found.boxes[here], boxes[image][found.rows[here]])
        assert (np.diff(found.images) >= 0).all()


def test_one_image_a_batch_and_a_list_are_the_same() -> None:
    boxes, scores, objectness = head(1)
    batch = ioukit.filter_detections(boxes, scores, objectness=objectness)
    ragged = ioukit.filter_detections(list(boxes), list(scores), objectness=list(objectness))
    for name in ("images", "labels", "boxes", "scores", "rows"):
        assert_array_equal(getattr(batch, name), getattr(ragged, name))
        alone = [getattr(ioukit.filter_detections(*one), name) for one in zip(boxes, scores, strict=True)]
        if name != "images":
            assert_array_equal(np.concatenate(alone), getattr(ioukit.filter_detections(boxes, scores), name))
    lists = ioukit.filter_detections(boxes[0].tolist(), scores[0].tolist())
    assert_array_equal(lists.rows, ioukit.filter_detections(boxes[0], scores[0]).rows)
    of_objects = ioukit.filter_detections([ioukit.Boxes(one, "xyxy") for one in boxes], list(scores))
    assert_array_equal(of_objects.rows, ioukit.filter_detections(boxes, scores).rows)
    uneven = ioukit.filter_detections(
        [boxes[0], np.zeros((0, 4)), boxes[1][:5]], [scores[0], np.zeros((0, 3)), scores[1][:5]]
    )
    assert set(uneven.images) == {0, 2}


def test_the_result_is_a_data_set() -> None:
    boxes, scores, _ = head(2)
    found = ioukit.filter_detections(boxes, scores)
    columns: dict[str, Any] = {**found.columns(image_ids=[10, 20, 30], category_ids=[1, 5, 9])}
    detections = ioukit.Detections.from_arrays(**columns)
    assert len(detections) == len(found)
    assert repr(found) == f"<FilteredDetections: {len(found):,}>"
    assert_array_equal(detections.image_ids, np.array([10, 20, 30])[found.images])
    assert_array_equal(detections.category_ids, np.array([1, 5, 9])[found.labels])
    assert_array_equal(detections.boxes[:, :2] + detections.boxes[:, 2:], found.boxes[:, 2:])
    (example,) = doctest.DocTestFinder(recurse=False).find(type(found).columns, globs={})
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


def test_dtypes_and_nothing() -> None:
    boxes, scores, _ = head(3)
    found = ioukit.filter_detections(boxes[0].astype(np.float32), scores[0].astype(np.float16))
    assert (found.boxes.dtype, found.scores.dtype, found.labels.dtype) == (np.float32, np.float16, np.int64)
    for empty in (
        ioukit.filter_detections(boxes, scores, score_threshold=2),
        ioukit.filter_detections(np.zeros((0, 4)), np.zeros((0, 3))),
        ioukit.filter_detections(np.zeros((0, 5, 4)), np.zeros((0, 5, 3))),
        ioukit.filter_detections(np.zeros((2, 0, 4)), np.zeros((2, 0, 3))),
        ioukit.filter_detections(np.zeros((2, 4)), np.zeros((2, 0))),
    ):
        assert len(empty) == 0
        assert empty.boxes.shape == (0, 4)


@pytest.mark.parametrize(
    ("boxes", "scores", "options", "message"),
    [
        ([[0, 0, 1, 1]], [[0.5], [0.5]], {}, "class_scores must have shape (1, C), one row per box, got (2, 1)"),
        ([[0, 0, 1, 1]], [0.5], {}, "class_scores must have shape (1, C), one row per box, got (1,)"),
        ([[0, 0, 1, 1]], [[float("nan")]], {}, "class_scores[0, 0] is nan: every score must be finite"),
        ([[1, 0, 0, 1]], [[0.5]], {}, "boxes[0] is [1.0, 0.0, 0.0, 1.0]: inverted"),
        (
            [[0, 0, 1, 1]],
            [[0.5]],
            {"objectness": [1, 1]},
            "objectness must have shape (1,), one number per box, got (2,)",
        ),
        ([[0, 0, 1, 1]], [[0.5]], {"score_threshold": -1}, "score_threshold must be finite and at least 0, got -1"),
        ([[0, 0, 1, 1]], [[0.5]], {"top_k": -1}, "top_k must be at least 0, got -1"),
        ([np.zeros((1, 4))], [[[0.5]], [[0.5]]], {}, "class_scores must have one entry per image, 1, got 2"),
        ([np.zeros((1, 4))] * 2, [[[0.5]], [[0.5, 1]]], {}, "class_scores must have as many classes in every image"),
        ([np.zeros((1, 4)), np.zeros((2, 4))], [[[0.5]], [[0.5]]], {}, "class_scores[1] must have shape (2, C)"),
        (np.zeros((2, 3, 4)), np.zeros((1, 3, 2)), {}, "boxes must have shape (1, N, 4), got (2, 3, 4)"),
        (
            np.zeros((1, 3, 4)),
            np.zeros((1, 3, 2)),
            {"objectness": np.zeros((1, 2))},
            "objectness must have shape (1, 3), got (1, 2)",
        ),
    ],
)
def test_bad_values(boxes: Any, scores: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        ioukit.filter_detections(boxes, scores, **options)


def test_tensors_come_back_as_tensors() -> None:
    torch = pytest.importorskip("torch")
    boxes, scores, objectness = head(4)
    expected = ioukit.filter_detections(boxes, scores, objectness=objectness)
    found = ioukit.filter_detections(
        torch.tensor(boxes), torch.tensor(scores, requires_grad=True), objectness=torch.tensor(objectness)
    )
    assert isinstance(found.boxes, torch.Tensor)
    assert_array_equal(found.rows.numpy(), expected.rows)
    assert_array_equal(found.boxes.numpy(), expected.boxes)
    assert found.columns()["boxes"] == expected.columns()["boxes"]
