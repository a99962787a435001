"""`nms` and `nms_padded` of JAX arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ioukit import nms, nms_padded

jax = pytest.importorskip("jax", reason="JAX is not installed")


def sets(count: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(count)
    low = rng.integers(-20, 20, (count, 2))
    boxes = np.concatenate([low, low + rng.integers(0, 30, (count, 2))], axis=1).astype(np.float32)
    return boxes, (rng.integers(0, 40, count) / 40).astype(np.float32), rng.integers(0, 3, count).astype(np.int32)


def test_arrays_outside_of_a_program() -> None:
    boxes, scores, labels = sets(50)
    b, s = jax.numpy.asarray(boxes), jax.numpy.asarray(scores)
    keep = nms(b, s, iou_threshold=0.3, labels=labels)
    assert isinstance(keep, jax.Array)
    assert_array_equal(keep, nms(boxes, scores, iou_threshold=0.3, labels=labels))
    with pytest.raises(ValueError, match=r"scores\[0\] is NaN"):
        nms_padded(b[:1], s[:1] * np.nan, iou_threshold=0.3, max_keep=1)
    with pytest.raises(ValueError, match=r"boxes1\[0\] is .* inverted|boxes\[0\] is .* inverted"):
        nms_padded(b[:1, ::-1], s[:1], iou_threshold=0.3, max_keep=1)


@pytest.mark.parametrize("suppress", ["above", "at_or_above"])
def test_a_traced_program(suppress: Any) -> None:
    boxes, scores, labels = sets(50)

    def program(boxes: Any, scores: Any, labels: Any) -> Any:
        return nms_padded(
            boxes, scores, iou_threshold=0.3, labels=labels, score_threshold=0.1, suppress=suppress, max_keep=30
        )

    keep, valid = jax.jit(program)(boxes, scores, labels)
    wanted = nms(boxes, scores, iou_threshold=0.3, labels=labels, score_threshold=0.1, suppress=suppress, max_keep=30)
    assert keep.shape == (30,)
    assert_array_equal(keep[valid], wanted)
    assert (keep[~valid] == -1).all()


def test_a_mapped_program() -> None:
    images = [sets(count)[:2] for count in (40, 41, 42)]
    boxes, scores = np.stack([b[:40] for b, _ in images]), np.stack([s[:40] for _, s in images])
    keep, valid = jax.vmap(lambda b, s: nms_padded(b, s, iou_threshold=0.4, max_keep=40))(boxes, scores)
    for image in range(3):
        assert_array_equal(keep[image][valid[image]], nms(boxes[image], scores[image], iou_threshold=0.4))


def test_empty() -> None:
    keep, valid = nms_padded(jax.numpy.zeros((0, 4)), jax.numpy.zeros(0), iou_threshold=0.5, max_keep=2)
    assert keep.tolist() == [-1, -1]
    assert not valid.any()


def test_nms_in_a_traced_program_points_to_the_other() -> None:
    with pytest.raises(TypeError, match="a traced program cannot: use nms_padded"):
        jax.jit(lambda boxes, scores: nms(boxes, scores, iou_threshold=0.5))(*sets(3)[:2])
