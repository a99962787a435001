"""Plain NumPy arrays go to native code in one step, and have the answers and errors of the way with all questions."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ioukit
from ioukit import _core

if TYPE_CHECKING:
    from collections.abc import Callable

SIZES = st.tuples(st.integers(0, 9), st.just(4))
COORDINATES = st.one_of(st.integers(-3, 9).map(float), st.floats(width=32))
THRESHOLDS = [0.0, -0.0, 1e-46, 0.1, 0.5, 1 / 3, 1.0, 1, True, np.float32(0.7), float("nan"), -0.5, 1.5, "0.5", None]
THREADS = [None, 1, 2, 1 << 40, 0, -1, True, np.int64(2), 1.0, "1"]
KINDS = [np.float16, np.float32, np.float64, np.int64, ">f8"]


def answer(call: Callable[[], Any]) -> Any:
    """What a call returns, as bytes with their types, or the error that it raises."""
    try:
        found = call()
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    parts = found if isinstance(found, tuple) else (found,)
    return [(type(part), part.dtype, part.shape, part.tobytes()) for part in parts]


@given(
    hnp.arrays(np.float64, SIZES, elements=COORDINATES),
    hnp.arrays(np.float64, SIZES, elements=COORDINATES),
    st.sampled_from(THRESHOLDS),
    st.sampled_from(KINDS),
    st.sampled_from(KINDS),
    st.booleans(),
    st.sampled_from(THREADS),
)
def test_the_short_way_is_the_long_way(
    first: Any, second: Any, threshold: Any, kind1: Any, kind2: Any, sort: bool, threads: Any
) -> None:
    if sort:  # most drawn boxes are inverted
        for boxes in (first, second):
            boxes[:, 2:] = np.maximum(boxes[:, :2], boxes[:, 2:])
    with np.errstate(all="ignore"):
        first, second = first.astype(kind1), second.astype(kind2)
    scores = np.arange(len(first), dtype=kind2)[::-1] % 3
    calls: list[Callable[..., Any]] = [
        partial(ioukit.pairwise_iou, first, second, threads=threads),
        partial(ioukit.nms, first, scores, threshold, threads=threads),
        partial(ioukit.match_boxes, first, second, min_iou=threshold, threads=threads),
    ]
    for call in calls:
        long_way = partial(call, format="xyxy")  # the short way has no answer to this
        assert answer(call) == answer(long_way)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_plain_arrays_take_it(kind: Any) -> None:
    boxes, scores = np.array([[0, 0, 4, 4], [0, 0, 4, 3], [6, 6, 8, 8]], kind), np.array([0.8, 0.9, 0.7], kind)
    keep = _core.plain_nms(boxes, scores, 0.5, None)
    table = _core.plain_pairwise("iou", (), boxes, boxes[:2], 1)
    matches = _core.plain_matches(boxes, boxes[::-1].copy(), 0.5, None)
    assert keep is not None
    assert keep.tolist() == [1, 2]
    assert table is not None
    assert (table.dtype, table.tolist()) == (kind, [[1, 0.75], [0.75, 1], [0, 0]])
    assert matches is not None
    assert [part.tolist() for part in matches] == [[0, 1, 2], [2, 1, 0], [1, 1, 1]]


class Own(np.ndarray):
    """A class that inherits from NumPy's."""


@pytest.mark.parametrize(
    "boxes",
    [
        np.zeros((3, 4)).view(Own),
        np.ma.masked_array(np.zeros((3, 4)), mask=True),
        np.zeros((3, 8))[:, ::2],
        np.zeros((4, 3)).T,
        np.zeros((3, 4), ">f8"),
        np.zeros((3, 4), np.float16),
        np.zeros((3, 4), int),
        np.zeros((3, 5)),
        np.zeros((1, 3, 4)),
        np.zeros(0),
        np.array([[0, 0, np.nan, 0]] * 3),
        np.array([[0, 0, -1.0, 0]] * 3),
        [[0.0, 0.0, 0.0, 0.0]] * 3,
        None,
    ],
)
def test_all_else_is_left_to_python(boxes: Any) -> None:
    good, scores = np.array([[0, 0, 4, 4.0]] * 3), np.zeros(3)
    assert _core.plain_nms(boxes, scores, 0.5, None) is None
    assert _core.plain_pairwise("iou", (), boxes, good, None) is None
    assert _core.plain_pairwise("iou", (), good, boxes, None) is None
    assert _core.plain_matches(good, boxes, 0.5, None) is None


@pytest.mark.parametrize(
    ("scores", "threshold"),
    [
        (np.array([0, np.nan, 0]), 0.5),
        (np.zeros(2), 0.5),
        (np.zeros(3, np.float16), 0.5),
        (np.zeros((3, 1)), 0.5),
        (np.zeros(3), 1.5),
        (np.zeros(3), float("nan")),
        (np.zeros(3), 1),
        (np.zeros(3), np.float64(0.5)),
        (np.zeros(3), None),
    ],
)
def test_scores_and_thresholds_that_are_not_plain(scores: Any, threshold: Any) -> None:
    assert _core.plain_nms(np.array([[0, 0, 4, 4.0]] * 3), scores, threshold, None) is None
