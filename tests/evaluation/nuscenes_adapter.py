"""The functions of nuScenes' algo.py by names and arguments, computed by ioukit: its own tests run with them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.evaluation.distances import ERRORS, DistanceCurve, DistanceRules, _curves, _Side

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = dict(zip(("trans_err", "scale_err", "orient_err", "vel_err", "attr_err"), ERRORS, strict=True))


def _yaw(rotation: Any) -> float:
    """The yaw of a quaternion; of one that is 0, which some tests have, 0."""
    w, x, y, z = (float(part) for part in rotation)
    return math.atan2(2 * (w * z + x * y), w * w + x * x - y * y - z * z)


def _side(boxes: Any, name: str) -> _Side:
    """The boxes of a class."""
    samples = {token: at for at, token in enumerate(sorted(boxes.sample_tokens))}
    listed = [box for box in boxes.all if box.detection_name == name]
    rows = [
        (*box.translation, box.size[1], box.size[0], box.size[2], _yaw(box.rotation)) for box in listed
    ]  # length, width
    return _Side(
        np.array([samples[box.sample_token] for box in listed], np.int64),
        np.zeros(len(listed), np.int64),
        np.array(rows, np.float64).reshape(-1, 7),
        np.array([box.velocity for box in listed], np.float64).reshape(-1, 2),
        np.array([box.attribute_name for box in listed], np.str_),
        np.array([box.detection_score for box in listed], np.float64),
        np.zeros(len(listed)),
        {},
    )


def accumulate(
    gt_boxes: Any, pred_boxes: Any, class_name: str, dist_fcn: Callable[..., float], dist_th: float
) -> DistanceCurve:
    """The curve of a class; the distance is always that of centres."""
    assert dist_fcn.__name__ == "center_distance"
    rules = DistanceRules(thresholds=(dist_th,), error_threshold=dist_th)
    (curve,) = _curves(
        _side(gt_boxes, class_name), _side(pred_boxes, class_name), rules, half_turn=class_name == "barrier"
    )
    return curve


def _rules(**given: float) -> DistanceRules:
    try:
        return DistanceRules(**given)  # type: ignore[arg-type]
    except ValueError as error:
        raise AssertionError from error  # what the tests expect


def calc_ap(md: Any, min_recall: float, min_precision: float) -> float:
    """The average precision of a curve."""
    rules = _rules(min_recall=min_recall, min_precision=min_precision)
    return DistanceCurve(md.precision, np.zeros(101), np.zeros((5, 101))).ap(rules)


def calc_tp(md: Any, min_recall: float, metric_name: str) -> float:
    """One error along a curve."""
    rules, at = _rules(min_recall=min_recall), list(METRICS).index(metric_name)
    if isinstance(md, DistanceCurve):
        return md.mean_errors(rules)[at]
    errors = np.stack([getattr(md, name) for name in METRICS])  # random numbers of a test
    return DistanceCurve(md.precision, md.confidence, errors).mean_errors(rules)[at]
