"""Calibration errors and fits are those of their definitions, of netcal and of scikit-learn."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import COCO, Outcome, outcomes
from ioukit.operating import (
    CalibrationErrors,
    calibrate,
    calibration_errors,
    choose_thresholds,
    fit_isotonic,
    fit_platt,
    fit_temperature,
)
from ioukit.operating.score_fits import FITS
from ioukit.operating.splitting import parts
from ioukit.postprocess import IsotonicMap, OperatingPoints, PlattMap, TemperatureMap
from ioukit.statistics import bootstrap_weights, repeat_images
from ioukit.statistics.drawing import image_groups
from operating.plain_choice import random_scene
from support import strategies as _strategies  # noqa: F401 - loads the profile

seeds = st.integers(0, 10_000)
KEYS = ("D-ECE", "LaECE", "LaECE0", "Brier")
Row = tuple[float, int, float]  # score, class, IoU of the match or 0


def rows_of(evaluation: Evaluation, iou_threshold: float | None = None) -> list[Row]:
    """The true and false positives."""
    table = evaluation.matches
    found = outcomes(table, iou_threshold=iou_threshold)
    return [
        (float(table.detections.score[at]), int(table.detections.category[at]), iou if right else 0.0)
        for at, (right, kept, iou) in enumerate(
            zip(
                found.detections == Outcome.TRUE_POSITIVE,
                found.detections != Outcome.IGNORED,
                found.match_iou.tolist(),
                strict=True,
            )
        )
        if kept
    ]


def binned(rows: list[Row], bins: int, *, iou: bool) -> float:
    """The mean distance of score and target over ranges, in plain Python."""
    if not rows:
        return math.nan
    edges = np.linspace(0, 1, bins + 1).tolist()
    error = 0.0
    for at in range(bins):
        low, high = edges[at], edges[at + 1]
        mine = [row for row in rows if low < row[0] <= high or (at == 0 and row[0] == 0)]
        if mine:
            score = sum(row[0] for row in mine) / len(mine)
            right = [row for row in mine if row[2] > 0]
            precision = len(right) / len(mine)
            mean_iou = sum(row[2] for row in right) / len(right) if right else 0.0
            error += len(mine) / len(rows) * abs(score - precision * (mean_iou if iou else 1.0))
    return error


def of_classes(evaluation: Evaluation, rows: list[Row], bins: int) -> float:
    table = evaluation.matches
    with_objects = np.flatnonzero(table.num_objects[:, 0])
    errors = [binned([row for row in rows if row[1] == label], bins, iou=True) for label in with_objects]
    defined = [error for error in errors if not math.isnan(error)]
    return sum(defined) / len(defined) if defined else math.nan


def expected_errors(evaluation: Evaluation, bins: int) -> list[float]:
    rows = rows_of(evaluation)
    again = evaluate(evaluation.ground_truth, evaluation.detections, COCO.replace(iou_thresholds=(1e-9,)))  # type: ignore[arg-type]
    brier = sum((score - (iou > 0)) ** 2 for score, _, iou in rows) / len(rows) if rows else math.nan
    laece0 = of_classes(again, rows_of(again), bins)
    return [binned(rows, bins, iou=False), of_classes(evaluation, rows, bins), laece0, brier]


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


class TestFits:
    @given(seeds, st.integers(2, 200), st.floats(0.2, 5), st.booleans())
    def test_temperature_has_the_least_cross_entropy(self, seed: int, count: int, scale: float, soft: bool) -> None:
        x, t = drawn_scores(seed, count, scale, soft=soft)
        best = fit_temperature(x, t)
        least = cross_entropy(best(x), t)
        for other in (0.9, 0.99, 1.01, 1.1):
            temperature = min(max(best.temperature * other, 0.01), 100)
            assert least <= cross_entropy(TemperatureMap(temperature)(x), t) + 1e-9 * count

    @given(seeds, st.integers(2, 200), st.floats(0.2, 5), st.booleans())
    def test_platt_has_the_least_cross_entropy(self, seed: int, count: int, scale: float, soft: bool) -> None:
        x, t = drawn_scores(seed, count, scale, soft=soft)
        right = t.sum()
        softened = t * (right + 1) / (right + 2) + (1 - t) / (count - right + 2)
        best = fit_platt(x, t)
        least = cross_entropy(best(x), softened)
        for slope in (-0.02, 0.0, 0.02):
            for offset in (-0.02, 0.0, 0.02):
                other = PlattMap(max(best.slope + slope, 0), best.offset + offset)
                assert least <= cross_entropy(other(x), softened) + 1e-9 * count

    @pytest.mark.parametrize("seed", range(8))
    def test_platt_is_that_of_scikit_learn(self, seed: int) -> None:
        calibration = pytest.importorskip("sklearn.calibration", reason="the comparison needs scikit-learn")
        x, t = drawn_scores(seed, 500, 0.5 + seed / 4)
        odds = np.log(x / (1 - x))
        slope, offset = calibration._sigmoid_calibration(odds, t)  # 1 / (1 + exp(slope * x + offset))
        mine = fit_platt(x, t)
        assert (mine.slope, mine.offset) == pytest.approx((-slope, -offset), rel=1e-4, abs=1e-5)

    @pytest.mark.filterwarnings("ignore:.*:DeprecationWarning", "ignore:.*:FutureWarning", "ignore:.*:UserWarning")
    @pytest.mark.parametrize("seed", range(4))
    def test_platt_and_temperature_are_those_of_netcal(self, seed: int) -> None:
        scaling = pytest.importorskip("netcal.scaling", reason="the comparison needs netcal")
        x, t = drawn_scores(seed, 4000, 0.6 + seed / 4)
        logistic = scaling.LogisticCalibration(detection=True)
        logistic.fit(x, t.astype(int))
        assert_allclose(fit_platt(x, t)(x), np.asarray(logistic.transform(x)).ravel(), atol=3e-3)
        temperature = scaling.TemperatureScaling(detection=True)
        temperature.fit(x, t.astype(int))
        assert_allclose(fit_temperature(x, t)(x), np.asarray(temperature.transform(x)).ravel(), atol=3e-3)

    @given(seeds, st.integers(1, 60), st.integers(1, 3), st.booleans())
    def test_isotonic_has_the_least_squares(self, seed: int, count: int, digits: int, soft: bool) -> None:
        x, t = drawn_scores(seed, count, 1.0, soft=soft)
        x = np.round(x, digits)
        best = fit_isotonic(x, t)
        assert (np.diff(best.values) >= 0).all()
        # The minimum over rising values is max over beginnings of min over ends of the mean in between.
        points = np.unique(x)
        expected = [
            max(
                min(float(t[(x >= first) & (x <= last)].mean()) for last in points if last >= point)
                for first in points
                if first <= point
            )
            for point in points
        ]
        assert_allclose(best(points), expected, atol=1e-12)

    @pytest.mark.parametrize("seed", range(10))
    def test_isotonic_is_that_of_scikit_learn(self, seed: int) -> None:
        isotonic = pytest.importorskip("sklearn.isotonic", reason="the comparison needs scikit-learn")
        x, t = drawn_scores(seed, 300, 1.0, soft=seed % 2 == 0)
        x = np.round(x, 3)
        theirs = isotonic.IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(x, t)
        at = np.linspace(0, 1, 501)
        assert_allclose(fit_isotonic(x, t)(at), theirs.predict(at), atol=1e-9)

    def test_few_and_special_scores(self) -> None:
        none = np.zeros(0)
        assert fit_temperature(none, none) == TemperatureMap(1.0)
        assert fit_platt(none, none) == PlattMap(1.0, 0.0)
        assert fit_isotonic(none, none)([0.0, 0.3, 1.0]).tolist() == [0.0, 0.3, 1.0]
        assert fit_temperature([0.5, 0.5], [1, 0]).temperature == 1
        assert fit_platt([0.7] * 4, [1, 1, 0, 0])([0.7])[0] == pytest.approx(0.5)
        assert fit_platt([0.7], [1])([0.7])[0] == pytest.approx(2 / 3), "(P + 1) / (P + 2)"
        assert fit_isotonic([0.7], [1])([0.1, 0.9]).tolist() == [1.0, 1.0]
        for fit in (fit_temperature, fit_platt, fit_isotonic):
            for t in ([1, 1, 1], [0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, 0]):
                found = fit([0.0, 0.5, 1.0], t)([0.0, 0.25, 0.5, 1.0])
                assert np.isfinite(found).all()
                assert (np.diff(found) >= 0).all()
        assert fit_temperature([0.9, 0.1], [1, 0]).temperature == 0.01
        assert fit_temperature([0.9, 0.1], [0, 1]).temperature == 100
        assert fit_platt([0.9, 0.1] * 50, [0, 1] * 50).slope == 0

    @pytest.mark.parametrize("fit", [fit_temperature, fit_platt, fit_isotonic])
    def test_wrong_arguments(self, fit: Any) -> None:
        with pytest.raises(ValueError, match=r"scores must be within \[0, 1\], got 2"):
            fit([2.0], [1])
        with pytest.raises(ValueError, match=r"targets must be within \[0, 1\], got -1"):
            fit([0.5], [-1])
        with pytest.raises(ValueError, match=r"scores must be within \[0, 1\], got nan"):
            fit([math.nan], [1])
        with pytest.raises(ValueError, match=r"must have one shape \(N,\), got \(1,\) and \(2,\)"):
            fit([0.5], [1, 0])


def drawn_scores(seed: int, count: int, scale: float, *, soft: bool = False) -> tuple[Any, Any]:
    """Scores, and targets whose probability has other log odds than the score."""
    rng = np.random.default_rng(seed)
    x = rng.beta(1, 2, count).clip(1e-4, 1 - 1e-4)
    p = 1 / (1 + np.exp(-(scale * np.log(x / (1 - x)) + 0.3)))
    return x, (p * rng.uniform(0.5, 1, count) if soft else (rng.random(count) < p).astype(float))


def cross_entropy(p: Any, t: Any) -> float:
    p = np.clip(p, 1e-300, 1 - 1e-16)
    return float(-np.sum(t * np.log(p) + (1 - t) * np.log1p(-p)))


class TestCalibrate:
    @pytest.mark.parametrize("method", ["temperature", "platt", "isotonic"])
    @pytest.mark.parametrize("per_class", [False, True])
    @pytest.mark.parametrize("target", ["match", "iou"])
    def test_errors_after_are_of_maps_that_did_not_see_the_image(
        self, method: Any, per_class: bool, target: Any
    ) -> None:
        evaluation = random_scene(6, images=24, digits=4, busy=5, bare=False)
        clusters = [k // 2 for k in range(24)]
        options: dict[str, Any] = {"per_class": per_class, "target": target, "least": 3, "folds": 4, "seed": 5}
        fit = calibrate(evaluation, method, clusters=clusters, replicates=0, **options)
        table, dt = evaluation.matches, evaluation.detections
        assert dt is not None
        part = parts(image_groups(table.image_ids, None, clusters), 4, 5)
        scores = dt.scores.copy()
        for number in range(4):
            rest = evaluate(evaluation.ground_truth, dt, images=table.image_ids[part != number])  # type: ignore[arg-type]
            maps = fitted(rest, method, per_class=per_class, target=target)
            mine = np.isin(dt.image_ids, table.image_ids[part == number])
            points = OperatingPoints.of(["a", "b", "c"], 0.0, maps=maps)
            scores[mine] = points.apply(dt.scores, dt.category_ids).scores[mine]
        # Matching goes by the order of scores, so the outcomes are those of the scores as they were.
        rows = rows_of(evaluation)
        moved = dict(zip(zip(dt.category_ids.tolist(), dt.scores.tolist(), strict=True), scores, strict=True))
        unique = len(moved) == len(scores)
        assert unique
        after = [(moved[label, score], label, iou) for score, label, iou in rows]
        assert fit.after.d_ece == pytest.approx(binned(after, 25, iou=False), abs=1e-9)
        assert fit.after.laece == pytest.approx(of_classes(evaluation, after, 25), abs=1e-9)
        assert fit.before.to_dict() == calibration_errors(evaluation, replicates=0).to_dict()
        assert len(fit.maps) == (3 if per_class else 1)
        for one, other in zip(fit.maps, fitted(evaluation, method, per_class=per_class, target=target), strict=True):
            assert_allclose(one(np.linspace(0, 1, 50)), other(np.linspace(0, 1, 50)), atol=1e-12)
        assert fit.folds == 4
        json.dumps(fit.to_dict(), allow_nan=False)

    def test_calibration_helps_scores_that_are_too_high(self) -> None:
        gt, dt = crooked(np.random.default_rng(0), 150)
        for method in ("temperature", "platt", "isotonic"):
            fit = calibrate(evaluate(gt, dt), method, replicates=200)
            assert fit.differences["D-ECE"].high < 0, method
            assert fit.differences["Brier"].high < 0, method
            # A temperature leaves 0.5 where it is, so it cannot lower all scores.
            assert fit.after.d_ece < (0.75 if method == "temperature" else 0.3) * fit.before.d_ece
            assert fit.differences["D-ECE"].value == fit.after.d_ece - fit.before.d_ece
        assert repr(fit).startswith("CalibrationFit(isotonic, 1 map: D-ECE 0.")

    def test_few_detections_get_the_map_of_all(self) -> None:
        evaluation = random_scene(1, images=10)
        fit = calibrate(evaluation, "platt", per_class=True, least=1000, replicates=0)
        assert fit.shared == evaluation.matches.categories.names
        assert fit.maps == calibrate(evaluation, "platt", replicates=0).maps * 3
        alone = calibrate(evaluation.matches, "platt", replicates=0)
        assert math.isnan(alone.after.laece0)
        assert alone.maps == fit.maps[:1]

    def test_class_agnostic_protocols_have_one_map(self) -> None:
        scene = random_scene(4, images=8)
        evaluation = evaluate(scene.ground_truth, scene.detections, COCO.replace(class_agnostic=True))  # type: ignore[arg-type]
        fit = calibrate(evaluation, "isotonic", per_class=True, least=1, replicates=2)
        assert len(fit.maps) == 1
        points = choose_thresholds(evaluation, replicates=0).operating_points(fit)
        assert points.maps == fit.maps

    def test_maps_keep_the_order_and_ap(self) -> None:
        """Strictly rising maps keep AP, and isotonic maps make ties."""
        gt, dt = crooked(np.random.default_rng(1), 40)
        evaluation = evaluate(gt, dt)
        for method in ("temperature", "platt", "isotonic"):
            points = choose_thresholds(evaluation, replicates=0).operating_points(
                calibrate(evaluation, method, replicates=0)
            )
            scores = points.apply(dt.scores, dt.category_ids).scores.astype(np.float64)
            moved = dataclasses.replace(dt, scores=scores)
            again = evaluate(gt, moved)
            if method == "isotonic":
                assert len(np.unique(moved.scores)) < len(np.unique(dt.scores)) / 3
            else:
                assert_array_equal(list(again.summary.values()), list(evaluation.summary.values()))

    @pytest.mark.parametrize(
        ("options", "error", "message"),
        [
            ({"method": "beta"}, ValueError, "unknown method 'beta'; choose from temperature, platt, isotonic"),
            ({"target": "area"}, ValueError, "unknown target 'area'; choose from match, iou"),
            ({"folds": 1}, ValueError, "folds must be at least 2, got 1"),
            ({"folds": "2"}, TypeError, "folds must be an integer"),
            ({"bins": 0}, ValueError, "bins must be at least 1, got 0"),
            ({"least": 0}, ValueError, "least must be at least 1, got 0"),
            ({"level": 0}, ValueError, "level must be above 0"),
            ({"clusters": [0] * 6}, ValueError, "cross-fitting needs at least two images or clusters, got 1"),
        ],
    )  # fmt: skip
    def test_wrong_arguments(self, options: dict[str, Any], error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            calibrate(random_scene(1), **options)

    def test_scores_that_are_no_probabilities_are_refused(self) -> None:
        box = [0, 0, 9, 9]
        gt = GroundTruth.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[box, box])
        dt = Detections.from_arrays(image_ids=[1, 2], category_ids=[1, 1], boxes=[box, box], scores=[3.5, 0.2])
        for call in (calibrate, calibration_errors):
            with pytest.raises(ValueError, match=r"calibration takes probabilities: .* got 3.5"):
                call(evaluate(gt, dt))
        assert choose_thresholds(evaluate(gt, dt), replicates=0).overall.threshold == 0.2


def fitted(evaluation: Evaluation, method: str, *, per_class: bool, target: str) -> list[Any]:
    """The maps for the rows of an evaluation."""
    fit = FITS[method]
    rows = rows_of(evaluation)

    def made(mine: list[Row]) -> TemperatureMap | PlattMap | IsotonicMap:
        iou = np.array([row[2] for row in mine])
        return fit(np.array([row[0] for row in mine]), (iou > 0).astype(float) if target == "match" else iou)

    if not per_class:
        return [made(rows)]
    maps = []
    for label in range(3):
        mine = [row for row in rows if row[1] == label]
        right = sum(row[2] > 0 for row in mine)
        maps.append(made(mine if min(right, len(mine) - right) >= 3 else rows))
    return maps


def crooked(rng: np.random.Generator, images: int) -> tuple[GroundTruth, Detections]:
    """Detections whose scores are higher than their share of right ones."""
    found: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": [], "scores": []}
    truth: dict[str, Any] = {"image_ids": [], "category_ids": [], "boxes": []}
    for image in range(images):
        for at in range(8):
            box = [30.0 * at, 0.0, 20.0, 20.0]
            p = float(rng.beta(1, 1))
            found["image_ids"].append(image)
            found["category_ids"].append(1)
            found["boxes"].append(box)
            found["scores"].append(p**0.3)
            if rng.random() < p:
                truth["image_ids"].append(image)
                truth["category_ids"].append(1)
                truth["boxes"].append(box)
    return GroundTruth.from_arrays(**truth, images=list(range(images))), Detections.from_arrays(**found)
