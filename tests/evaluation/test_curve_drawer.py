"""Curves of one category from detections that arrive in parts have the bits of those from all detections at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ioukit import _core
from ioukit._boundary import DrawingColumns, OutcomeColumns
from ioukit.evaluation.curves import CurveSteps

Flags = NDArray[np.bool_]
SETS = 300


class Case(NamedTuple):
    """Outcomes of random detections, at T IoU thresholds in A area ranges."""

    outcomes: OutcomeColumns
    drawing: DrawingColumns
    matched: Flags
    """(N, A, T)"""
    ignored: Flags
    """(N, A, T)"""


def _packed(sets: Flags) -> NDArray[np.uint8]:
    return np.packbits(sets, axis=2, bitorder="little")


def _case(rng: np.random.Generator) -> Case:
    """Many equal scores, categories without objects or detections, ranks beyond every cap."""
    categories, ranges, thresholds = (int(rng.integers(1, most)) for most in (5, 5, 71))
    count = int(rng.integers(0, rng.choice([3, 40, 300])))
    shape = count, ranges, thresholds
    matched, ignored = rng.random(shape) < rng.random(), rng.random(shape) < rng.random() / 2
    ignored[rng.random(shape[:2]) < rng.choice([0.0, 0.4])] = True  # as the detections outside of an area range
    scores = rng.random(count)
    if rng.random() < 0.6:
        scores = rng.choice([-2.0, -0.0, 0.0, 0.1, 0.5, 0.9], count)
    recalls = np.linspace(0, 1, int(rng.integers(2, 102)))
    if rng.random() < 0.5:
        recalls = np.sort(rng.choice([-1.0, 0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0, 2.0], int(rng.integers(2, 9))))
    outcomes = OutcomeColumns(
        category=rng.integers(0, categories, count).astype(np.uint32),
        rank=rng.integers(0, 12, count).astype(np.uint32),
        score=scores,
        matched=_packed(matched),
        ignored=_packed(ignored),
        num_objects=rng.integers(0, rng.choice([2, 90]), (categories, ranges)).astype(np.uint64),
    )
    drawing = DrawingColumns(
        num_thresholds=thresholds,
        recall_thresholds=recalls,
        caps=np.sort(rng.integers(0, rng.choice([14, 200]), int(rng.integers(1, 4)))).astype(np.uint32),
        caps_over_all_images=bool(rng.random() < 0.5),
        plain_precision=bool(rng.random() < 0.5),
        integral=str(rng.choice(["recalls", "area", "trapezoid", "sloping_trapezoid"])),
    )
    return Case(outcomes, drawing, matched, ignored)


def _assert_same_bits(found: dict[str, Any], expected: dict[str, Any]) -> None:
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        assert found[name].shape == array.shape, name
        assert found[name].tobytes() == np.ascontiguousarray(array).tobytes(), name


def _in_parts(case: Case, category: int, rng: np.random.Generator) -> dict[str, Any]:
    """The curves of a category whose detections arrive in up to seven calls, each with its rows in any order."""
    rows = np.flatnonzero(case.outcomes.category == category)
    rows = rows[np.argsort(-case.outcomes.score[rows], kind="stable")]
    drawer = _core.CurveDrawer(case.outcomes.num_objects[category], case.drawing)
    for part in np.split(rows, np.sort(rng.integers(0, len(rows) + 1, int(rng.integers(0, 7))))):
        shuffled = np.sort(part) if rng.random() < 0.5 else part  # either keeps the order of equal scores
        outcomes = case.outcomes
        drawer.feed(
            outcomes.rank[shuffled], outcomes.score[shuffled], outcomes.matched[shuffled], outcomes.ignored[shuffled]
        )
    return drawer.finish()


def _written_out(curves: dict[str, Any], drawing: DrawingColumns) -> dict[str, Any]:
    """Curves with their points in the place of their steps."""
    recall, size = curves["recall"], len(drawing.recall_thresholds)
    places = np.arange(recall.size).reshape(recall.shape)
    steps = CurveSteps.joined([curves])
    points = {name: steps.points(name, recall, places, size) for name in ("precision", "scores")}
    return {**points, **{name: curves[name] for name in ("recall", "area") if name in curves}}


def test_parts_have_the_bits_of_the_whole() -> None:
    for seed in range(SETS):
        rng = np.random.default_rng(seed)
        case = _case(rng)
        whole = _written_out(_core.accumulate(case.outcomes, case.drawing, 1), case.drawing)
        for category in range(len(case.outcomes.num_objects)):
            expected = {name: array[category] for name, array in whole.items()}
            _assert_same_bits(_written_out(_in_parts(case, category, rng), case.drawing), expected)


def _plain_curve(hits: Flags, scores: NDArray[Any], objects: int, best: float, drawing: DrawingColumns) -> list[Any]:
    """Precision and scores at the recalls, and recall, of a curve whose detections all count, as pycocotools does."""
    found = np.cumsum(hits)
    denominator = found + np.cumsum(~hits) + (0.0 if drawing.plain_precision else 2.0**-52)
    precision = np.maximum.accumulate((found / denominator)[::-1])[::-1]
    places = np.searchsorted(found / objects, drawing.recall_thresholds)
    reached = places < len(hits)
    at = np.minimum(places, max(len(hits) - 1, 0))
    precisions = np.where(reached, precision[at], 0.0) if len(hits) else np.zeros(len(places))
    points = np.where(reached, scores[at], 0.0) if len(hits) else np.zeros(len(places))
    points[drawing.recall_thresholds <= 0] = best
    return [precisions, points, (found[-1] if len(found) else 0) / objects]


def test_curves_are_those_of_a_plain_definition() -> None:
    for seed in range(SETS, SETS + 60):
        case = _case(np.random.default_rng(seed))
        outcomes, drawing = case.outcomes, case.drawing
        drawn = _written_out(_core.accumulate(outcomes, drawing, 1), drawing)
        for (category, area), objects in np.ndenumerate(outcomes.num_objects):
            rows = np.flatnonzero(outcomes.category == category)
            rows = rows[np.argsort(-outcomes.score[rows], kind="stable")]
            best = outcomes.score[rows[0]] if len(rows) else 0.0
            rank = np.arange(len(rows)) if drawing.caps_over_all_images else outcomes.rank[rows]
            for cap, threshold in np.ndindex(len(drawing.caps), drawing.num_thresholds):
                place = category, area, cap, threshold
                found = [drawn[name][place] for name in ("precision", "scores", "recall")]
                if not objects:
                    assert all(np.isnan(one).all() for one in found)
                    continue
                counted = rows[(rank < drawing.caps[cap]) & ~case.ignored[rows, area, threshold]]
                hits = case.matched[counted, area, threshold]
                expected = _plain_curve(hits, outcomes.score[counted], int(objects), best, drawing)
                # NumPy's own assertion would take most of the time of this test.
                for one, other in zip(found, expected, strict=True):
                    assert np.array_equal(one, other, equal_nan=True), (place, one, other)


def _drawer() -> _core.CurveDrawer:
    drawing = DrawingColumns(1, np.array([0.0, 0.5]), np.array([9], np.uint32), False, True, "recalls")
    return _core.CurveDrawer(np.array([2], np.uint64), drawing)


def _feed(drawer: _core.CurveDrawer, *scores: float, ranges: int = 1) -> None:
    sets = np.zeros((len(scores), ranges, 1), np.uint8)
    drawer.feed(np.zeros(len(scores), np.uint32), np.array(scores, float), sets, sets)


def test_a_higher_score_in_a_later_call_is_an_error() -> None:
    drawer = _drawer()
    _feed(drawer, 0.5, 0.75)
    _feed(drawer)
    _feed(drawer, 0.5)
    with pytest.raises(ValueError, match="higher score than one of an earlier call"):
        _feed(drawer, 0.1, 0.625)
    _feed(drawer, 0.5)  # nothing of the refused call has counted
    curves = drawer.finish()
    assert (curves["scores"].tolist(), curves["reached"].tolist()) == ([0.75], [1])


def test_columns_of_other_shapes_and_calls_after_the_end_are_errors() -> None:
    drawer = _drawer()
    with pytest.raises(ValueError, match=r"of shapes \[1\], \[1, 1, 1\]"):
        _feed(drawer, 0.5, ranges=2)
    assert drawer.finish()["recall"].tolist() == [[[0.0]]]
    for call in (drawer.finish, lambda: _feed(drawer, 0.5)):
        with pytest.raises(ValueError, match="finished"):
            call()


@pytest.mark.parametrize("threads", [0, 1, 3])
def test_rows_are_ordered_by_category_and_falling_score(threads: int) -> None:
    rng = np.random.default_rng(threads)
    for count in (0, 1, 7, 500, 3000):
        category = rng.integers(0, 6, count).astype(np.uint32)
        score = rng.choice([-1.0, -0.0, 0.0, 0.25, 0.5, *rng.random(20)], count)
        order, ends = _core.order_by_category(category, score, 7, threads)
        assert order.tolist() == np.lexsort((-score, category)).tolist()
        assert ends.tolist() == np.cumsum(np.bincount(category, minlength=7)).tolist()
