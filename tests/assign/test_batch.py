"""A batch with padded ground truth against a loop over its images."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import assign
from ioukit.anchors import anchor_points
from ioukit.assign import assign_batch, assign_dual, assign_max_iou, assign_overlaps, assign_task_aligned

if TYPE_CHECKING:
    from collections.abc import Callable

SIDE, MOST, IMAGES = 64, 6, 5
POINTS, STRIDES, LEVELS = anchor_points((SIDE, SIDE), [8, 16, 32], dtype=np.float32)
COUNT = len(POINTS)
YOLO: dict[str, Any] = {
    "anchors": [np.array([[10.0, 12.0], [20, 16]])] * 3, "strides": [8, 16, 32], "image_size": (SIDE, SIDE),
}  # fmt: skip
Array = Any


def boxes(rng: np.random.Generator, *shape: int) -> Array:
    corner = rng.integers(0, SIDE - 16, (*shape, 2))
    return np.concatenate([corner, corner + rng.integers(4, 16, (*shape, 2))], axis=-1).astype(np.float32)


RNG = np.random.default_rng(6)
MASK = RNG.random((IMAGES, MOST)) < 0.6  # with holes
MASK[1] = False
OBJECTS, LABELS = boxes(RNG, IMAGES, MOST), RNG.integers(0, 3, (IMAGES, MOST))
OBJECTS[~MASK], LABELS[~MASK] = np.nan, -7
PREDICTIONS, SCORES = boxes(RNG, IMAGES, COUNT), RNG.random((IMAGES, COUNT, 3), np.float32)
RESPONSIBLE = RNG.random((IMAGES, COUNT)) < 0.5
ANCHORS = np.concatenate([POINTS - 8, POINTS + 8], axis=1)
CASES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "assign_atss": ((ANCHORS, OBJECTS), {"levels": LEVELS, "top_k": 3}),
    "assign_grid": ((ANCHORS, OBJECTS, RESPONSIBLE), {}),
    "assign_hungarian": ((PREDICTIONS, SCORES, OBJECTS, LABELS), {}),
    "assign_max_iou": ((ANCHORS, OBJECTS), {"low_quality": "mmdet", "ignore_regions": [[0, 0, 20, 20]]}),
    "assign_simota": (
        (PREDICTIONS, SCORES, OBJECTS, LABELS),
        {"points": POINTS, "strides": STRIDES, "rule": "yolox", "objectness": SCORES[..., 0]},
    ),
    "assign_task_aligned": ((PREDICTIONS, SCORES, OBJECTS, LABELS), {"points": POINTS, "strides": [8, 16, 32]}),
    "assign_uniform": ((PREDICTIONS, ANCHORS, OBJECTS), {}),
    "assign_yolov3": ((OBJECTS,), YOLO),
    "assign_yolov5": ((OBJECTS,), YOLO),
}
BY_IMAGE = [PREDICTIONS, SCORES, OBJECTS, LABELS, RESPONSIBLE]


def of_image(value: Any, number: int) -> Any:
    """The part of an argument that is of one image."""
    if any(value is one for one in (OBJECTS, LABELS)):
        return value[number][MASK[number]]
    return (
        value[number]
        if any(np.shares_memory(value, one) for one in BY_IMAGE if isinstance(value, np.ndarray))
        else value
    )


def test_all_rules_are_here() -> None:
    assert {*CASES, "assign_dual", "assign_overlaps", "assign_batch"} == {
        name for name in assign.__all__ if name.startswith("assign_")
    }


@pytest.mark.parametrize("library", ["numpy", "torch"])
@pytest.mark.parametrize("name", CASES)
def test_a_batch_has_the_bits_of_a_loop(name: str, library: str) -> None:
    rule: Callable[..., Any] = getattr(assign, name)
    arguments, options = CASES[name]
    torch = pytest.importorskip("torch", reason="torch is not installed") if library == "torch" else None

    def convert(value: Any) -> Any:
        return torch.from_numpy(value) if torch is not None and isinstance(value, np.ndarray) else value

    given = [convert(value) for value in arguments]
    found = assign_batch(rule, *given, mask=convert(MASK), **{key: convert(one) for key, one in options.items()})
    fields = (found.target, found.ignore, found.overlap, found.pairs)
    assert all(type(array) is type(given[0]) for array in fields)
    target, ignore, overlap, pairs = map(np.asarray, fields)
    assert target.shape == ignore.shape == overlap.shape
    for number in range(IMAGES):
        wanted = rule(
            *(of_image(one, number) for one in arguments), **{k: of_image(one, number) for k, one in options.items()}
        )
        rows = np.flatnonzero(MASK[number])
        assert_array_equal(target[number], [-1 if one < 0 else rows[one] for one in wanted.target])
        assert_array_equal(ignore[number], wanted.ignore)
        assert_array_equal(overlap[number], wanted.overlap)
        own = pairs[pairs[:, 0] == number]
        assert_array_equal(own[:, 1:], np.stack([rows[wanted.pairs[:, 0]], wanted.pairs[:, 1]], axis=1))
        if wanted.scores is None:
            assert found.scores is None
        else:
            assert_array_equal(np.asarray(found.scores)[number], wanted.scores)
        assert found.images[number].objects == len(rows)
    assert (target >= 0).any()


def test_without_a_mask_all_objects_exist() -> None:
    objects = boxes(np.random.default_rng(1), 2, 3)
    found = assign_batch(functools.partial(assign_max_iou, positive=0.4), ANCHORS, objects)
    for number in range(2):
        assert_array_equal(found.target[number], assign_max_iou(ANCHORS, objects[number], positive=0.4).target)


def test_wrong_use() -> None:
    with pytest.raises(ValueError, match=r"objects must have shape \(B, G, 4\), got \(6, 4\)"):
        assign_batch(assign_max_iou, ANCHORS, OBJECTS[0])
    with pytest.raises(ValueError, match="objects must be of at least one image, got none"):
        assign_batch(assign_max_iou, ANCHORS, OBJECTS[:0])
    with pytest.raises(ValueError, match=r"mask must have shape \(5, 6\), one per object of each image, got \(5, 5\)"):
        assign_batch(assign_max_iou, ANCHORS, OBJECTS, mask=MASK[:, 1:])
    with pytest.raises(TypeError, match="mask must be bools, got int64"):
        assign_batch(assign_max_iou, ANCHORS, OBJECTS, mask=MASK.astype(np.int64))
    scene: dict[str, Any] = {"points": POINTS, "mask": MASK}
    with pytest.raises(ValueError, match=r"labels must have shape \(5, 6\), one per object of each image, got \(6,\)"):
        assign_batch(assign_task_aligned, PREDICTIONS, SCORES, OBJECTS, LABELS[0], **scene)
    with pytest.raises(ValueError, match="scores must be of 5 images, as objects are, got 4"):
        assign_batch(assign_task_aligned, PREDICTIONS, SCORES[1:], OBJECTS, LABELS, **scene)
    with pytest.raises(TypeError, match="takes a rule that returns an Assignment, got DualAssignment"):
        assign_batch(assign_dual, PREDICTIONS, SCORES, OBJECTS, LABELS, **scene)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="takes a rule with objects, such as assign_max_iou"):
        assign_batch(assign_overlaps, np.zeros((2, 3)))
