"""`overlap_join` of regions other than upright boxes, compared with the dense table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ioukit import Boxes3D, RotatedBoxes, overlap_join
from ioukit.overlap import join
from support.dense_pairs import assert_same_as_dense

if TYPE_CHECKING:
    pass

OVERLAPS: list[dict[str, Any]] = [
    {"metric": "iou"},
    {"metric": "ioa"},
    {"metric": "ioa", "of": "first"},
    {"metric": "iom"},
]


def rotated(rng: np.random.Generator, count: int, extent: float = 100) -> RotatedBoxes:
    numbers = np.column_stack(
        [rng.uniform(0, extent, (count, 2)), 10 ** rng.uniform(-1, 1.5, (count, 2)), rng.uniform(-180, 180, count)]
    )
    numbers[::7, 4] = 90 * rng.integers(0, 4, len(numbers[::7]))
    numbers[::11, 2] = 0
    return RotatedBoxes(numbers, unit="degrees", sense="clockwise")


def in_space(rng: np.random.Generator, count: int) -> Boxes3D:
    flat = rotated(rng, count, 60).numpy()
    numbers = np.insert(flat, [2, 4], rng.uniform(1, 5, (count, 2)), axis=1)
    return Boxes3D(numbers, z="bottom", unit="degrees", sense="clockwise")


@pytest.mark.parametrize("overlap", OVERLAPS, ids=lambda overlap: "-".join(overlap.values()))
@pytest.mark.parametrize("make", [rotated, in_space])
def test_the_pairs_of_the_dense_table(make: Any, overlap: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    a, b = make(rng, 150), make(rng, 130)
    found = [len(assert_same_as_dense(a, b, min_iou, **overlap)) for min_iou in (1e-300, 0.1, 0.5, 1.0)]
    assert found[0] > found[1] > found[2]
    assert assert_same_as_dense(a, None, 0.1, **overlap)
    labels = rng.integers(-1, 2, 150), rng.integers(-1, 2, 130)
    assert assert_same_as_dense(a, b, 0.1, labels, **overlap)
    assert assert_same_as_dense(a, None, 0.1, labels, **overlap)


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    a, b = rotated(rng, 700), rotated(rng, 400)
    whole = overlap_join(a, b, min_iou=0.2), overlap_join(a, min_iou=0.2)
    monkeypatch.setattr(join, "_FIRST_ROWS", 5)
    monkeypatch.setattr(join, "_CANDIDATES", 300)
    for threads in (1, 2):
        blocks = overlap_join(a, b, min_iou=0.2, threads=threads), overlap_join(a, min_iou=0.2, threads=threads)
        for one, other in zip(whole, blocks, strict=True):
            assert_array_equal(one.to_pairs(), other.to_pairs())
            assert_array_equal(one.values, other.values)


@given(st.integers(-60, 60), st.sampled_from([0, 0.25, 45, 90]), st.sampled_from([np.float32, np.float64]))
def test_any_scale_and_place(power: int, turn: float, dtype: Any) -> None:
    """No pair is lost where the boxes around regions are rounded, or areas do not fit in float32."""
    rng = np.random.default_rng(power + 60)
    numbers = rotated(rng, 40, 20).numpy()
    numbers[:, :2] += rng.choice([0, 1e6])
    numbers[:, :4] *= 2.0**power
    numbers[:, 4] = turn
    boxes = RotatedBoxes(numbers, unit="degrees", sense="clockwise", dtype=dtype)
    assert assert_same_as_dense(boxes, None, 1e-300, metric="iou")
    assert_same_as_dense(boxes, None, 0.5, metric="ioa")


def test_nothing_to_join() -> None:
    none, some = rotated(np.random.default_rng(0), 0), rotated(np.random.default_rng(0), 3)
    for a, b in ((none, some), (some, none), (none, None)):
        pairs = overlap_join(a, b, min_iou=0.5)
        assert (len(pairs), str(pairs.values.dtype)) == (0, "float64")


def test_bad_arguments() -> None:
    boxes = rotated(np.random.default_rng(0), 3)
    with pytest.raises(TypeError, match="giou is defined for upright boxes; for RotatedBoxes there are"):
        overlap_join(boxes, min_iou=0.5, metric="giou")
    with pytest.raises(ValueError, match="format is for upright boxes, not for RotatedBoxes"):
        overlap_join(boxes, min_iou=0.5, format="xyxy")
    with pytest.raises(TypeError, match="both sets must be of one kind, got RotatedBoxes and Boxes: convert one"):
        overlap_join(boxes, boxes.to_boxes(), min_iou=0.5)
    with pytest.raises(ValueError, match=r"labels1 must have shape \(3,\), one label per box, got \(2,\)"):
        overlap_join(boxes, min_iou=0.5, labels1=[1, 2])
    with pytest.raises(ValueError, match="min_iou must be above 0"):
        overlap_join(boxes, min_iou=0)
