"""Calibration errors are those of their definitions, of netcal and of scikit-learn."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import Outcome, outcomes
from ioukit.operating import (
    CalibrationErrors,
    calibration_errors,
    choose_thresholds,
    d_ece_by_box,
)
from ioukit.statistics import bootstrap_weights, repeat_images
from operating.plain_calibration import KEYS, binned, expected_errors, rows_of
from operating.plain_choice import random_scene
from support import strategies as _strategies  # noqa: F401 - loads the profile
from support.evaluated_scenes import made

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
    low, high = np.nanquantile(precision, [0.025, 0.975], axis=0)
    none = low == high
    assert none.any(), "where all detections are wrong, no image changes the precision"
    assert_allclose(errors.reliability.low, np.where(none, np.nan, low), atol=1e-12)
    assert_allclose(errors.reliability.high, np.where(none, np.nan, high), atol=1e-12)


def test_what_no_image_changes_has_no_interval() -> None:
    one = calibration_errors(random_scene(5, images=1, busy=9), replicates=20)
    assert one.num_detections > 3
    assert {(math.isnan(each.low), each.warnings) for each in one.intervals.values()} == {
        (True, ("no image changes the number",))
    }
    assert np.isnan(one.reliability.low).all()


def test_only_what_operating_points_keep_is_compared() -> None:
    evaluation = random_scene(8, images=20, digits=3)
    points = choose_thresholds(evaluation, "f1", per_class=True, replicates=0, splits=0).operating_points()
    errors = calibration_errors(evaluation, points=points, replicates=0)
    dt = evaluation.detections
    assert dt is not None
    kept = evaluate(evaluation.ground_truth, dt[points.apply(dt.scores, dt.category_ids).keep])  # type: ignore[arg-type]
    assert_allclose([errors[key] for key in KEYS], [calibration_errors(kept, replicates=0)[key] for key in KEYS])
    assert errors.num_detections < calibration_errors(evaluation, replicates=0).num_detections


class TestByBox:
    """D-ECE over places and sizes."""

    @pytest.mark.parametrize("seed", range(6))
    @pytest.mark.parametrize("dimensions", [(), ("x",), ("y", "height"), ("x", "y", "width", "height")])
    @pytest.mark.parametrize("least", [1, 4])
    def test_is_a_plain_sum_over_cells(self, seed: int, dimensions: tuple[str, ...], least: int) -> None:
        scene = made(seed=seed, images=12)
        cells: dict[tuple[int, ...], list[tuple[float, bool]]] = {}
        rows = judged_boxes(scene)
        for score, right, *values in rows:
            named = dict(zip(("x", "y", "width", "height"), values, strict=True))
            numbers = [score, *(named[name] for name in dimensions)]
            cell = tuple(next((k for k in range(3) if value <= (k + 1) / 3), 2) for value in numbers)
            cells.setdefault(cell, []).append((score, right))
        expected = sum(
            abs(sum(score - right for score, right in cell)) for cell in cells.values() if len(cell) >= least
        ) / len(rows)
        found = d_ece_by_box(scene, dimensions, bins=3, least=least)
        if max(map(len, cells.values())) < least:
            assert math.isnan(found)
            return
        assert found == pytest.approx(expected, abs=1e-12)
        if not dimensions and least == 1:
            assert found == pytest.approx(calibration_errors(scene, bins=3, replicates=0).d_ece, abs=1e-12)

    @pytest.mark.parametrize("seed", range(6))
    def test_is_that_of_netcal(self, seed: int) -> None:
        netcal = pytest.importorskip("netcal.metrics", reason="the comparison needs netcal")
        scene = made(seed=seed, images=60)
        rows = np.array(judged_boxes(scene), float)
        theirs = netcal.ECE([3] * 5, detection=True, sample_threshold=2)
        x = rows[:, [0, 2, 3, 4, 5]]
        mine = d_ece_by_box(scene, bins=3, least=2)
        assert mine == pytest.approx(theirs.measure(x, rows[:, 1]), abs=1e-9)
        assert mine > 0.01

    def test_wrong_arguments(self) -> None:
        scene = made()
        assert math.isnan(d_ece_by_box(made(detections=False)))
        assert math.isnan(d_ece_by_box(made(images=2))), "no cell has 8 detections"
        cases: tuple[tuple[Any, type[Exception], str], ...] = (
            (lambda: d_ece_by_box(scene, ["z"]), ValueError, "unknown dimension 'z'; choose from x, y, width, height"),
            (lambda: d_ece_by_box(scene, "x"), TypeError, "dimensions must be a list of names, got 'x'"),
            (lambda: d_ece_by_box(scene, ["x", "x"]), ValueError, "dimensions must differ"),
            (lambda: d_ece_by_box(scene, least=0), ValueError, "least must be at least 1"),
            (lambda: d_ece_by_box(Evaluation.from_table(scene.matches)), ValueError, "holds a match table alone"),
            (lambda: d_ece_by_box(random_scene(1)), ValueError, "the size of image 0 is unknown"),
        )
        for call, error, message in cases:
            with pytest.raises(error, match=message):
                call()


def judged_boxes(scene: Evaluation) -> list[tuple[float, bool, float, float, float, float]]:
    """Score, whether it matches, and the relative centre and size of each true or false positive."""
    table, dt, gt = scene.matches, scene.detections, scene.ground_truth
    assert dt is not None
    assert gt is not None
    sizes = dict(zip(gt.images.ids.tolist(), gt.images.sizes.tolist(), strict=True))
    found = outcomes(table)
    rows = []
    for at, kind in enumerate(found.detections.tolist()):
        if kind == Outcome.IGNORED:
            continue
        row = int(table.detections.row[at])
        x, y, w, h = dt.boxes[row].tolist()
        width, height = sizes[int(dt.image_ids[row])]
        values = ((x + w / 2) / width, (y + h / 2) / height, w / width, h / height)
        rows.append((float(dt.scores[row]), kind == Outcome.TRUE_POSITIVE, *values))
    return rows
