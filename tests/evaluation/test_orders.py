"""The range of AP over all orders of equal scores, beside plain Python that tries every order."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evaluation.plain_orders import all_orders, ap
from evaluation.plain_unranked import Object
from evaluation.test_unranked import AREAS, columns, found_of, truth_of
from ioukit import COCO, Detections, evaluate
from ioukit.evaluation import Evaluation
from ioukit.evaluation.protocols import IgnoreRule

THRESHOLDS = (0.5, 0.6, 0.75)
RULES = COCO.replace(iou_thresholds=THRESHOLDS)


def scene(rng: np.random.Generator, *, most: int) -> tuple[list[Object], list[Object]]:
    """Few objects that lie close, of one or two classes on one or two images, and detections near most of them."""
    images, classes, grid = int(rng.integers(1, 3)), int(rng.integers(1, 3)), rng.random() < 0.5

    def somewhere() -> Any:
        if grid:  # overlaps tie
            return tuple(map(float, (*rng.integers(0, 3, 2) * 4, *rng.integers(4, 7, 2) * 4)))
        return tuple(map(float, (*rng.uniform(0, 15, 2), *rng.uniform(22, 44, 2))))

    def near(box: Any) -> Any:
        x, y, width, height = box
        if grid:
            return (x + 4.0 * rng.integers(-1, 2), y + 4.0 * rng.integers(-1, 2), width, height)
        return (*rng.normal((x, y), 4), *(rng.uniform(0.8, 1.25, 2) * (width, height)))

    def one_of(box: Any, *, crowd: bool = False) -> Object:
        return Object(int(rng.integers(1, images + 1)), int(rng.integers(1, classes + 1)), box, crowd)

    objects = [one_of(somewhere(), crowd=bool(rng.random() < 0.15)) for _ in range(int(rng.integers(1, 6)))]
    found = []
    for _ in range(int(rng.integers(2, most + 1))):
        one = objects[int(rng.integers(len(objects)))]
        is_near = rng.random() < 0.8
        found.append(one._replace(box=near(one.box), crowd=False) if is_near else one_of(somewhere()))
    return objects, found


def equal(detections: list[Object]) -> Detections:
    return found_of(detections).with_equal_scores(1.0)


@pytest.mark.parametrize("seed", range(6))
def test_ranges_hold_the_numbers_of_all_orders(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    for _ in range(12):
        objects, detections = scene(rng, most=5)
        ranges = evaluate(truth_of(objects), equal(detections), RULES).order_ranges()
        for size in ("", "s", "m"):
            keys = [key for key in (f"AP{size}", "AP50" * (not size), "AP75" * (not size)) if key in ranges]
            every = np.array(all_orders(objects, detections, THRESHOLDS, AREAS[size])) if keys else np.zeros((0, 3))
            for key in keys:
                numbers = {"AP50": every[:, 0], "AP75": every[:, 2]}.get(key, every.mean(axis=1))
                found = ranges[key]
                assert found.low <= found.value <= found.high
                assert found.low - 1e-9 <= numbers.min()
                assert numbers.max() <= found.high + 1e-9
                if found.exact:
                    assert (found.low, found.high) == pytest.approx((numbers.min(), numbers.max()), abs=1e-9), key
                if key in ("AP50", "AP75"):
                    assert found.high == pytest.approx(numbers.max(), abs=1e-9)


def test_the_plain_numbers_are_those_of_scores_that_fall() -> None:
    rng = np.random.default_rng(42)
    for _ in range(40):
        objects, detections = scene(rng, most=7)
        scores = np.linspace(1, 0.5, len(detections))
        falling = Detections.from_arrays(**columns(detections), scores=scores)
        summary = evaluate(truth_of(objects), falling, RULES).summary
        for key, size in (("AP", ""), ("APs", "s"), ("APm", "m")):
            plain = float(np.mean([ap(objects, detections, one, AREAS[size]) for one in THRESHOLDS]))
            assert summary[key] == pytest.approx(plain, abs=1e-9, nan_ok=True), key


@pytest.mark.parametrize("cap", [1, 2])
def test_a_cap_leaves_bounds(cap: int) -> None:
    rng = np.random.default_rng([43, cap])
    for _ in range(20):
        objects, detections = scene(rng, most=5)
        ranges = evaluate(truth_of(objects), equal(detections), RULES.replace(max_dets=(cap,))).order_ranges()
        if "AP50" in ranges:
            numbers = np.array(all_orders(objects, detections, THRESHOLDS[:1], AREAS[""], cap))
            assert ranges["AP50"].low - 1e-9 <= numbers.min()
            assert ranges["AP50"].high == pytest.approx(numbers.max(), abs=1e-9)
            reached = ranges["AP50"].low == pytest.approx(numbers.min(), abs=1e-9)
            assert reached or not ranges["AP50"].exact


def test_many_that_compete_have_a_bound() -> None:
    # A row of objects, and detections between each two of them, which all overlap two objects.
    objects = [Object(1, 1, (4.0 * k, 0, 12, 10)) for k in range(12)]
    detections = [Object(1, 1, (4.0 * k + 2 + (-0.3) ** (k % 3), 0, 12, 10)) for k in range(11)]
    found = evaluate(truth_of(objects), equal(detections), RULES).order_ranges()["AP50"]
    assert not found.exact
    rng = np.random.default_rng(44)
    numbers = []
    for _ in range(200):
        order = [detections[k] for k in rng.permutation(len(detections))]
        numbers.append(ap(objects, order, 0.5, AREAS[""]))
    assert found.low <= min(numbers) < max(numbers) <= found.high
    assert "(bounds; the true ends may be closer)" in found.sentence()


def test_duplicates_and_detections_of_nothing() -> None:
    # Two of the same object: the second is wrong, whichever that is. The one elsewhere may stand first or last.
    objects = [Object(1, 1, (0, 0, 10, 10))]
    same, elsewhere = Object(1, 1, (0, 0, 10, 10)), Object(2, 1, (50, 50, 9, 9))
    found = evaluate(truth_of(objects), equal([same, same])).order_ranges()["AP50"]
    assert (found.low, found.high, found.exact) == (found.value, found.value, True)
    assert found.sentence() == "AP50 1.000, whatever the order"
    found = evaluate(truth_of(objects), equal([same, same, elsewhere])).order_ranges()["AP50"]
    assert (found.low, found.value, found.high) == pytest.approx((0.5, 1, 1))
    assert found.exact
    assert found.sentence() == (
        "AP50 1.000 with the order of the data; any order gives 0.500 to 1.000 (both ends are reached)"
    )


def test_means_over_thresholds_are_bounds_unless_nothing_moves() -> None:
    objects, detections = scene(np.random.default_rng(5), most=5)
    ranges = evaluate(truth_of(objects), equal(detections), RULES).order_ranges()
    assert {key for key, one in ranges.items() if one.exact and one.low < one.high} <= {"AP50", "AP75"}
    none = evaluate(truth_of(objects), equal(detections)[:0], RULES).order_ranges()
    assert {(one.value, one.low, one.high, one.exact) for one in none.values()} == {(0, 0, 0, True)}
    assert not any(math.isnan(one.value) for one in ranges.values())


def test_classes_count_as_one_where_the_rules_say_so() -> None:
    objects = [Object(1, 1, (0, 0, 10, 10)), Object(1, 2, (30, 0, 10, 10))]
    found = equal([objects[0], Object(1, 3, (60, 0, 5, 5))])
    low, high = (
        (one.low, one.high)
        for one in (
            evaluate(truth_of(objects), found, RULES).order_ranges()["AP50"],
            evaluate(truth_of(objects), found, RULES.replace(class_agnostic=True)).order_ranges()["AP50"],
        )
    )
    assert low == pytest.approx((0.5, 0.5))
    assert high == pytest.approx((51 / 101 / 2, 51 / 101))


def test_who_has_no_range() -> None:
    objects = [Object(1, 1, (0, 0, 10, 10)), Object(1, 1, (30, 0, 10, 10))]
    truth, found = truth_of(objects), equal(objects)
    scored = Detections.from_arrays(**columns(objects), scores=[0.5, 0.75])
    with pytest.raises(ValueError, match=r"one of equal scores, and these differ: they go from 0\.5 to 0\.75"):
        evaluate(truth, scored).order_ranges()
    with pytest.raises(ValueError, match="this evaluation holds a match table alone"):
        Evaluation.from_table(evaluate(truth, found).matches).order_ranges()
    with pytest.raises(ValueError, match="known for rules like COCO's, and Unranked does not rank"):
        evaluate(truth, found_of(objects)).order_ranges()
    with pytest.raises(ValueError, match="and VOC2012 has choice='best_of_all' instead of 'best_free'"):
        evaluate(truth, found, "voc2012").order_ranges()
    once = COCO.replace(ignored=[IgnoreRule("crowd", counts_once=True)])
    with pytest.raises(ValueError, match="and COCO has ignored objects that count once or need more"):
        evaluate(truth, found, once).order_ranges()


def test_scores_are_given_where_there_are_none() -> None:
    objects = [Object(1, 1, (0, 0, 10, 10))]
    found = found_of(objects).with_equal_scores(0.5)
    assert found.scored
    assert found.scores.tolist() == [0.5]
    assert not found.scores.flags.writeable
    assert found.notes == ("detections: the detections have no scores; all count as 0.5, so their order decides AP",)
    with pytest.raises(ValueError, match="detections: the detections have scores, so none are missing"):
        found.with_equal_scores(1.0)
    with pytest.raises(ValueError, match="score must be finite, got nan"):
        found_of(objects).with_equal_scores(math.nan)
