"""Which score threshold, and what does a score mean? Operating points and calibration."""

from ioukit.operating.calibrating import CalibrationFit, calibrate
from ioukit.operating.calibration import CalibrationErrors, calibration_errors, d_ece_by_box
from ioukit.operating.choosing import ClassThreshold, PointNumbers, ThresholdChoice, choose_thresholds
from ioukit.operating.reliability import Reliability
from ioukit.operating.rules import (
    FalsePositivesPerImage,
    FBeta,
    LeastCost,
    PrecisionAtLeast,
    RecallAtLeast,
    Rule,
    find_rule,
)
from ioukit.operating.score_fits import fit_isotonic, fit_platt, fit_temperature

__all__ = [
    "CalibrationErrors",
    "CalibrationFit",
    "ClassThreshold",
    "FBeta",
    "FalsePositivesPerImage",
    "LeastCost",
    "PointNumbers",
    "PrecisionAtLeast",
    "RecallAtLeast",
    "Reliability",
    "Rule",
    "ThresholdChoice",
    "calibrate",
    "calibration_errors",
    "choose_thresholds",
    "d_ece_by_box",
    "find_rule",
    "fit_isotonic",
    "fit_platt",
    "fit_temperature",
]
