"""The benchmark of planted label errors: its areas are those of a plain definition, and its table has all lines."""

from __future__ import annotations

import numpy as np
import pytest

from support.paths import ROOT, program
from support.planted_labels import KINDS, plant, street
from support.planted_scenes import drawn

BENCHMARK = program(ROOT / "benchmarks" / "planted_label_errors.py")


def plain_area(scores: list[float], right: list[bool], total: int) -> float:
    """The sum of the rises of recall times the precision, over all thresholds."""
    area = before = 0.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = [hit for score, hit in zip(scores, right, strict=True) if score >= threshold]
        recall, precision = sum(chosen) / total, sum(chosen) / len(chosen)
        area, before = area + (recall - before) * precision, recall
    return area


@pytest.mark.parametrize("seed", range(5))
def test_the_area_is_the_plain_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, right = rng.integers(0, 8, 30) / 8, rng.random(30) < 0.3
    total = int(right.sum()) + 2
    expected = plain_area(scores.tolist(), right.tolist(), total)
    assert BENCHMARK.average_precision(scores, right, total) == pytest.approx(expected)


def test_the_errors_are_found_far_better_than_by_chance() -> None:
    truth, found = street(100, seed=8)
    planted = plant(truth, dict.fromkeys(KINDS, 0.03), 1)
    scores = BENCHMARK.own_scores(planted.ground_truth, found)
    areas = BENCHMARK.measure(planted, found, scores)
    assert set(areas) == set(BENCHMARK.NUMBERS)
    for number in (*KINDS, "objects"):
        assert areas[number][0] > 4 * 0.03, number  # a random order has the share of the planted errors
    rows = [
        BENCHMARK.Row("drawn", "mixed", 0.15, 1, number, "ioukit", value, count)
        for number, (value, count) in areas.items()
    ]
    assert "| mixed | Wrong class |" in BENCHMARK.table(rows)


def test_the_ten_lines_find_what_is_planted() -> None:
    truth, found = street(100, seed=8)
    for kind in KINDS:
        planted = plant(truth, {kind: 0.03}, 1)
        areas = BENCHMARK.measure(planted, found, BENCHMARK.ten_lines(planted.ground_truth, found))
        assert areas[kind][0] > 2 * 0.03, kind


def test_missing_objects_of_crowds_are_found_as_well_as_by_the_score_alone() -> None:
    """Few images: what is fitted to them must not cost more than it tells."""
    behind = []
    for seed in (0, 3, 4):
        truth, found = drawn("crowd", seed)
        planted = plant(truth, {"overlooked": 0.1}, seed)
        own, ten = (
            BENCHMARK.measure(planted, found, engine(planted.ground_truth, found))["overlooked"][0]
            for engine in (BENCHMARK.own_scores, BENCHMARK.ten_lines)
        )
        behind.append(ten - own)
    assert np.mean(behind) < 0.01
