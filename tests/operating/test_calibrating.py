"""Errors after calibration are of maps that did not see the image."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.evaluation import COCO
from ioukit.operating import (
    calibrate,
    calibration_errors,
    choose_thresholds,
)
from ioukit.operating.score_fits import FITS
from ioukit.operating.splitting import parts
from ioukit.postprocess import IsotonicMap, OperatingPoints, PlattMap, TemperatureMap
from ioukit.statistics.resampling import image_groups
from operating.plain_calibration import Row, binned, of_classes, rows_of
from operating.plain_choice import random_scene
from support import strategies as _strategies  # noqa: F401 - loads the profile


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
