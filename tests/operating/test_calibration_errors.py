"""Calibration errors are those of their definitions, of netcal and of scikit-learn."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Detections, GroundTruth, evaluate
from ioukit.operating import (
    CalibrationErrors,
    calibration_errors,
    choose_thresholds,
)
from ioukit.statistics import bootstrap_weights, repeat_images
from operating.plain_calibration import KEYS, binned, expected_errors, rows_of
from operating.plain_choice import random_scene
from support import strategies as _strategies  # noqa: F401 - loads the profile

seeds = st.integers(0, 10_000)


@given(seeds, st.integers(1, 30), st.integers(1, 3))
def test_errors_are_those_of_their_definitions(seed: int, bins: int, digits: int) -> None:
    evaluation = random_scene(seed, digits=digits)
    errors = calibration_errors(evaluation, bins=bins, replicates=0)
    assert_allclose([errors[key] for key in KEYS], expected_errors(evaluation, bins), rtol=0, atol=1e-12)
    assert errors.num_detections == len(rows_of(evaluation))
    for number, each in errors.per_class.items():
        mine = [row for row in rows_of(evaluation) if row[1] == number]
        assert each["D-ECE"] == pytest.approx(binned(mine, bins, iou=False), abs=1e-12)
        assert each["LaECE"] == pytest.approx(binned(mine, bins, iou=True), abs=1e-12)
    diagram = errors.reliability
    assert diagram.counts.sum() == errors.num_detections
    filled = diagram.counts > 0
    apart = np.abs(diagram.mean_scores - diagram.precision)[filled]
    if errors.num_detections:
        assert errors.d_ece == pytest.approx((apart * diagram.counts[filled]).sum() / errors.num_detections)
    from_table = calibration_errors(evaluation.matches, bins=bins, replicates=0)
    assert math.isnan(from_table.laece0)
    without = [key for key in KEYS if key != "LaECE0"]
    assert_array_equal([from_table[key] for key in without], [errors[key] for key in without])


def test_scores_of_0_and_1_and_on_edges() -> None:
    boxes = np.array([[0, 0, 20, 20], [0, 0, 20, 20], [50, 0, 9, 9]])
    gt = GroundTruth.from_arrays(image_ids=[1, 2, 3], category_ids=[1] * 3, boxes=boxes[[0, 0, 0]])
    dt = Detections.from_arrays(image_ids=[1, 2, 3], category_ids=[1] * 3, boxes=boxes, scores=[1.0, 0.5, 0.0])
    errors = calibration_errors(evaluate(gt, dt), bins=2, replicates=0)
    assert errors.reliability.counts.tolist() == [2, 1], "0.5 is in the lower range"
    assert errors.d_ece == pytest.approx(0.5 / 3)
    assert errors.brier == pytest.approx(0.25 / 3)
    assert errors.reliability.precision.tolist() == [0.5, 1.0]


@pytest.mark.parametrize("seed", range(10))
def test_d_ece_and_brier_are_those_of_netcal_and_scikit_learn(seed: int) -> None:
    evaluation = random_scene(seed, images=30, digits=5)
    errors = calibration_errors(evaluation, bins=10, replicates=0)
    rows = rows_of(evaluation)
    scores, right = np.array([row[0] for row in rows]), np.array([row[2] > 0 for row in rows], float)
    sklearn = pytest.importorskip("sklearn.metrics", reason="the comparison needs scikit-learn")
    assert errors.brier == pytest.approx(sklearn.brier_score_loss(right, scores), abs=1e-12)
    netcal = pytest.importorskip("netcal.metrics", reason="the comparison needs netcal")
    assert errors.d_ece == pytest.approx(netcal.ECE(10, detection=True).measure(scores, right), abs=1e-12)


@pytest.mark.parametrize("name", ["no detections", "no objects", "neither", "one image", "no images", "no classes"])
def test_scenes_with_nothing_in_them(name: str) -> None:
    from support.evaluated_scenes import SCENES  # noqa: PLC0415 - reads a large example

    errors = calibration_errors(SCENES[name](), replicates=5)
    assert isinstance(errors, CalibrationErrors)
    json.dumps(errors.to_dict(), allow_nan=False)
    if name in ("no detections", "neither", "no images", "no classes"):
        assert all(math.isnan(errors[key]) for key in KEYS)
    repr(errors)


def test_intervals_are_the_bootstrap_written_out() -> None:
    evaluation = random_scene(3, images=15, digits=3)
    errors = calibration_errors(evaluation, bins=5, replicates=30, seed=2)
    weights = bootstrap_weights(evaluation.matches.image_ids, 30, seed=2)
    drawn = [calibration_errors(repeat_images(evaluation.matches, row), bins=5, replicates=0) for row in weights]
    for key in ("D-ECE", "LaECE", "Brier"):
        values = [each[key] for each in drawn]
        one = errors.intervals[key]
        assert one.low == pytest.approx(max(0, 2 * errors[key] - np.quantile(values, 0.975)), abs=1e-12)
        assert one.high == pytest.approx(2 * errors[key] - np.quantile(values, 0.025), abs=1e-12)
        assert one.method == "basic"
    precision = [each.reliability.precision for each in drawn]
    assert_allclose(errors.reliability.low, np.nanquantile(precision, 0.025, axis=0), atol=1e-12)
    assert_allclose(errors.reliability.high, np.nanquantile(precision, 0.975, axis=0), atol=1e-12)


def test_only_what_operating_points_keep_is_compared() -> None:
    evaluation = random_scene(8, images=20, digits=3)
    points = choose_thresholds(evaluation, "f1", per_class=True, replicates=0, splits=0).operating_points()
    errors = calibration_errors(evaluation, points=points, replicates=0)
    dt = evaluation.detections
    assert dt is not None
    kept = evaluate(evaluation.ground_truth, dt[points.apply(dt.scores, dt.category_ids).keep])  # type: ignore[arg-type]
    assert_allclose([errors[key] for key in KEYS], [calibration_errors(kept, replicates=0)[key] for key in KEYS])
    assert errors.num_detections < calibration_errors(evaluation, replicates=0).num_detections
