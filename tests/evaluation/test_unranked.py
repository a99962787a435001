"""The protocol for detections without scores, beside plain Python that tries every choice of pairs."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any

import numpy as np
import pytest

from evaluation.plain_unranked import Counts, Object, best_pairs, best_pairs_first, counts, iou, numbers
from ioukit import COCO, Detections, GroundTruth, evaluate
from ioukit.errors import DatasetError
from ioukit.evaluation import Requirement, accumulate, check_requirements, load_table, save_table, summarise
from ioukit.evaluation.protocols import UNRANKED, UNRANKED_GREEDY, Measure, Protocol

AREAS = {"": (0.0, 1e10), "s": (0.0, 1024.0), "m": (1024.0, 9216.0), "l": (9216.0, 1e10)}


def scene(rng: np.random.Generator, *, grid: bool, crowds: bool) -> tuple[list[Object], list[Object]]:
    """Objects, and detections near them and elsewhere; on a grid, overlaps tie."""

    def box(around: Any = None) -> Any:
        if grid:
            place, size = rng.integers(0, 4, 2) * 4.0, rng.integers(1, 4, 2) * 4.0
        elif around is None:
            place, size = rng.uniform(0, 200, 2), rng.uniform(8, 140, 2)
        else:
            place = around[:2] + rng.normal(0, 0.15, 2) * around[2:]
            size = around[2:] * rng.uniform(0.7, 1.4, 2)
        return tuple(float(value) for value in (*place, *size))

    objects, found = [], []
    for image in range(1, int(rng.integers(2, 5))):
        for _ in range(int(rng.integers(0, 6))):
            one = Object(image, int(rng.integers(1, 4)), box(), bool(crowds and rng.random() < 0.2))
            objects.append(one)
            found += [one._replace(box=box(np.array(one.box)), crowd=False) for _ in range(int(rng.integers(0, 3)))]
        found += [Object(image, int(rng.integers(1, 4)), box()) for _ in range(int(rng.integers(0, 3)))]
    rng.shuffle(found)
    return objects, [Object(*one) for one in found]


def columns(rows: list[Object]) -> dict[str, Any]:
    return {
        "image_ids": np.array([one.image for one in rows], np.int64),
        "category_ids": np.array([one.category for one in rows], np.int64),
        "boxes": np.array([one.box for one in rows], np.float64).reshape(-1, 4),
    }


def truth_of(objects: list[Object]) -> GroundTruth:
    return GroundTruth.from_arrays(
        **columns(objects),
        flags={"crowd": [one.crowd for one in objects]},
        categories={1: "a", 2: "b", 3: "c"},
        images=[1, 2, 3, 4],
    )


def found_of(detections: list[Object]) -> Detections:
    return Detections.from_arrays(**columns(detections), scores=None)


def expected(objects: list[Object], detections: list[Object], pairs: Any = best_pairs) -> dict[str, float]:
    """The summary, as the plain counts give it."""
    result: dict[str, float] = {}

    def mean(values: list[float]) -> float:
        defined = [value for value in values if not math.isnan(value)]
        return sum(defined) / len(defined) if defined else math.nan

    for size, area in AREAS.items():
        of_each = {
            threshold: [counts(objects, detections, category, threshold, area, pairs) for category in (1, 2, 3)]
            for threshold in COCO.iou_thresholds
        }
        for suffix, chosen in (("50", [0.5]), ("75", [0.75]), ("", list(COCO.iou_thresholds))):
            if size and suffix:
                continue
            each = [numbers(one, t) for t in chosen for one in of_each[t] if one.objects]
            pooled = [numbers(sum(of_each[t], Counts(0, 0, 0, 0.0)), t) for t in chosen]
            for key in "PRF":
                result[f"{key}{suffix}{size}"] = mean([one[key] for one in each])
                if not size:
                    result[f"{key}{suffix}_micro"] = mean([one[key] for one in pooled])
            if suffix == "50":
                result |= {key: mean([one[key] for one in each]) for key in ("IoU", "LRP")}
    return result


def assert_same(found: Any, wanted: dict[str, float]) -> None:
    assert found.keys() == wanted.keys()
    for key, value in wanted.items():
        assert found[key] == pytest.approx(value, abs=1e-12, nan_ok=True), key


@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_those_of_the_best_choice_of_all(seed: int) -> None:
    rng = np.random.default_rng([38, seed])
    for _ in range(15):
        objects, detections = scene(rng, grid=False, crowds=True)
        if detections:
            evaluation = evaluate(truth_of(objects), found_of(detections))
            assert evaluation.protocol == UNRANKED
            assert_same(evaluation.summary, expected(objects, detections))


@pytest.mark.parametrize("seed", range(6))
def test_overlaps_that_tie_change_no_number(seed: int) -> None:
    rng = np.random.default_rng([39, seed])
    for _ in range(15):
        objects, detections = scene(rng, grid=True, crowds=False)
        if not detections:
            continue
        # Several choices may be the best: then the one that is taken decides which detections are left over, so only
        # numbers in which all detections weigh the same are alike.
        wanted = {key: value for key, value in expected(objects, detections).items() if key[-1] not in "sml"}
        summary = evaluate(truth_of(objects), found_of(detections)).summary
        assert_same({key: summary[key] for key in wanted}, wanted)


def test_the_order_of_the_data_changes_no_number() -> None:
    objects = [Object(1, 1, (0, 0, 10, 10)), Object(1, 1, (5, 0, 10, 10)), Object(1, 1, (30, 0, 10, 10))]
    boxes = [(2, 0, 10, 10), (0, 0, 10, 10), (5, 0, 10, 10), (31, 0, 10, 10)]
    found = [Object(1, 1, box) for box in boxes]
    rows = {tuple(evaluate(truth_of(objects), found_of(list(order))).summary.values()) for order in permutations(found)}
    assert len({tuple("nan" if value != value else value for value in row) for row in rows}) == 1  # noqa: PLR0124
    # Where the first of equal scores choose first, AP depends on it.
    scored = [Detections.from_arrays(**columns(list(order)), scores=[1.0] * 4) for order in permutations(found)]
    assert len({evaluate(truth_of(objects), one).summary["AP"] for one in scored}) > 1


def test_the_most_pairs_come_before_the_best_pairs() -> None:
    # The first detection alone would take the first object, at IoU 0.8, and leave none to the second.
    objects = [Object(1, 1, (0, 0, 10, 10)), Object(1, 1, (4, 0, 10, 10))]
    found = [Object(1, 1, (1, 0, 10, 10)), Object(1, 1, (0, 1, 8, 9))]
    evaluation = evaluate(truth_of(objects), found_of(found))
    assert (evaluation.summary["P50"], evaluation.summary["R50"]) == (1, 1)
    for rules in (UNRANKED.replace(choice="best_free"), UNRANKED_GREEDY):
        assert evaluate(truth_of(objects), found_of(found), rules).summary["R50"] == 0.5


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("grid", [False, True])
def test_the_best_pairs_first_is_the_plain_loop(seed: int, grid: bool) -> None:
    rng = np.random.default_rng([40, seed])
    for _ in range(15):
        objects, detections = scene(rng, grid=grid, crowds=not grid)
        if not detections:
            continue
        wanted = expected(objects, detections, best_pairs_first)
        if grid:  # ignored objects with equal overlaps: COCO's rule of ties, which the plain loop does not have
            wanted = {key: value for key, value in wanted.items() if key[-1] not in "sml"}
        summary = evaluate(truth_of(objects), found_of(detections), "unranked-greedy").summary
        assert_same({key: summary[key] for key in wanted}, wanted)


def confused(objects: list[Object], detections: list[Object], pairs: Any) -> np.ndarray:
    """The confusion matrix at IoU 0.5: pairs of any class; what is left over and lies on a crowd does not count."""
    matrix = np.zeros((4, 4), np.int64)
    for image in {one.image for one in (*objects, *detections)}:
        there = [one for one in objects if one.image == image and not one.crowd]
        crowds = [one for one in objects if one.image == image and one.crowd]
        found = [one for one in detections if one.image == image]
        _, _, chosen = pairs([[iou(one.box, other.box) for other in there] for one in found], 0.5)
        for one, column in zip(found, chosen, strict=True):
            if column >= 0:
                matrix[there[column].category - 1, one.category - 1] += 1
            elif all(iou(one.box, crowd.box, over_first=True) < 0.5 for crowd in crowds):
                matrix[3, one.category - 1] += 1
        for column, one in enumerate(there):
            matrix[one.category - 1, 3] += column not in chosen
    return matrix


@pytest.mark.parametrize("seed", range(6))
def test_confusions_are_of_pairs_made_together_regardless_of_class(seed: int) -> None:
    rng = np.random.default_rng([41, seed])
    for _ in range(15):
        objects, detections = scene(rng, grid=False, crowds=True)
        if detections:
            truth, found = truth_of(objects), found_of(detections)
            for protocol, pairs in ((UNRANKED, best_pairs), (UNRANKED_GREEDY, best_pairs_first)):
                matrix = evaluate(truth, found, protocol).confusion()
                assert matrix.counts.tolist() == confused(objects, detections, pairs).tolist()
                assert matrix.score_threshold == -math.inf


def test_the_first_of_equal_pairs_is_taken() -> None:
    # Both detections overlap the first object alike, and only the first one overlaps the second object.
    objects = [Object(1, 1, (0, 0, 10, 10)), Object(1, 1, (4, 0, 10, 10))]
    found = [Object(1, 1, (2, 0, 10, 10)), Object(1, 1, (-2, 0, 10, 10))]
    summaries = [
        evaluate(truth_of(objects), found_of(list(order)), UNRANKED_GREEDY).summary for order in permutations(found)
    ]
    assert [summary["R50"] for summary in summaries] == [0.5, 1]


def test_each_class_has_its_numbers_and_pooled_ones_weigh_regions() -> None:
    objects = [Object(1, 1, (0, 0, 10, 10)), *(Object(2, 2, (20.0 * k, 0, 10, 10)) for k in range(3))]
    evaluation = evaluate(truth_of(objects), found_of([objects[0], objects[1], Object(1, 3, (0, 0, 5, 5))]))
    rows = evaluation.per_class
    assert [row.summary["R50"] for row in rows][:2] == [1, pytest.approx(1 / 3)]
    assert [row.summary["R50_micro"] for row in rows][:2] == [1, pytest.approx(1 / 3)]
    assert evaluation.summary["R50"] == pytest.approx(2 / 3)
    assert evaluation.summary["R50_micro"] == 0.5
    # A class without objects has no part in the means; its detections count where all are pooled.
    assert evaluation.summary["P50"] == 1
    assert evaluation.summary["P50_micro"] == pytest.approx(2 / 3)


def test_parts_add_up_and_tables_keep_the_numbers(tmp_path: Any) -> None:
    rng = np.random.default_rng(4)
    objects, detections = scene(rng, grid=False, crowds=True)
    truth, found = truth_of(objects), found_of(detections)
    whole = evaluate(truth, found)
    save_table(whole.matches, tmp_path / "table.ioukit")
    again = summarise(accumulate(load_table(tmp_path / "table.ioukit")))
    np.testing.assert_array_equal(list(again.values()), list(whole.summary.values()))


def test_who_ranks_is_refused() -> None:
    with pytest.raises(DatasetError, match="have no scores, and COCO ranks by scores"):
        evaluate(truth_of([Object(1, 1, (0, 0, 10, 10))]), found_of([Object(1, 1, (0, 0, 10, 10))]), "coco")
    with pytest.raises(ValueError, match="only FROC or a number of counts over all categories can be pooled, got AP"):
        Measure("AP", pooled=True)
    with pytest.raises(ValueError, match="max_dets cannot cap detections where nothing ranks them, got 1, 10"):
        UNRANKED.replace(max_dets=(1, 10))
    found = evaluate(truth_of([Object(1, 1, (0, 0, 10, 10))]), found_of([Object(1, 1, (0, 0, 10, 10))]))
    with pytest.raises(ValueError, match="AP and AR need scores, and the protocol Unranked does not read them"):
        check_requirements(found, [Requirement("AP", 0.4)])
    assert Protocol.from_dict(UNRANKED.to_dict()) == UNRANKED
