"""What calibration errors give: the numbers, their intervals, and the reliability diagram."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._columns import Frozen, record
from ioukit.statistics import Interval

__all__ = ["KEYS", "CalibrationErrors", "Reliability"]

Floats: TypeAlias = npt.NDArray[np.float64]

KEYS = ("D-ECE", "LaECE", "LaECE0", "Brier")
"""The names of the errors."""


@record(frozen=True, eq=False, repr=False)
class Reliability(Frozen):
    """The reliability diagram: for each range of scores, the mean score and the share of detections that are right."""

    edges: Floats
    """(B + 1,) ends of the ranges. A range holds its upper end, and the first one also 0."""
    counts: npt.NDArray[np.int64]
    """(B,) detections in each range."""
    mean_scores: Floats
    """(B,) mean score; NaN without detections."""
    precision: Floats
    """(B,) share of the detections that match an object; NaN without detections."""
    low: Floats
    """(B,) lower limit of the precision; NaN if no intervals were asked for."""
    high: Floats
    """(B,) upper limit of the precision."""
    level: float
    """The probability that such an interval holds the true precision."""


@dataclass(frozen=True, repr=False)
class CalibrationErrors:
    """The result of :func:`calibration_errors`. All errors are within [0, 1], and 0 is best."""

    d_ece: float
    """D-ECE: the mean distance of score and precision over ranges of scores, weighted by detections. All classes are
    pooled (Kueppers et al., Multivariate Confidence Calibration for Object Detection, CVPR workshops 2020,
    arXiv:2004.13546, with the score as the only dimension). NaN without detections."""
    laece: float
    """LaECE: the same with precision times mean IoU of the matches in the place of precision, for each class; then the
    mean over the classes with objects and detections (Oksuz et al., Towards Building Self-Aware Object Detectors via
    Reliable Uncertainty Quantification and Calibration, CVPR 2023, arXiv:2307.00934)."""
    laece0: float
    """LaECE0: LaECE in which every detection that overlaps an object can match, so that the target is the IoU (Kuzucu
    et al., On Calibration of Object Detectors: Pitfalls, Evaluation and Baselines, ECCV 2024, arXiv:2405.20459). NaN if
    the data, which has to be matched again, is not at hand."""
    brier: float
    """The mean squared distance of score and 1 (a match) or 0 (none), over all detections."""
    per_class: Mapping[int, Mapping[str, float]]
    """For each class with objects and detections, by category id: ``D-ECE``, ``LaECE``, ``LaECE0`` and ``Brier``."""
    intervals: Mapping[str, Interval]
    """For each of these keys, the interval by the bootstrap over images: the basic one, ``2 value - quantile``, not
    below 0. It corrects the bias of binned errors, which are too high on few detections. Empty if not asked for."""
    reliability: Reliability
    """The reliability diagram of all classes pooled."""
    num_detections: int
    """Detections that were compared: true and false positives."""
    bins: int
    """The number of ranges of scores."""
    iou_threshold: float
    """The lowest IoU of a match, for all but LaECE0."""

    def __getitem__(self, key: str) -> float:
        """The error of a key: ``"D-ECE"``, ``"LaECE"``, ``"LaECE0"`` or ``"Brier"``."""
        return {"D-ECE": self.d_ece, "LaECE": self.laece, "LaECE0": self.laece0, "Brier": self.brier}[key]

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        diagram = self.reliability
        return {
            **{key: _defined(self[key]) for key in KEYS},
            "intervals": {key: one.to_dict() for key, one in self.intervals.items()},
            "per_class": {
                str(number): {key: _defined(value) for key, value in errors.items()}
                for number, errors in self.per_class.items()
            },
            "reliability": {
                name: [_defined(value) for value in getattr(diagram, name).tolist()]
                for name in ("edges", "counts", "mean_scores", "precision", "low", "high")
            },
            "num_detections": self.num_detections,
            "bins": self.bins,
            "iou_threshold": self.iou_threshold,
        }

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={self[key]:.4f}" for key in KEYS if not math.isnan(self[key]))
        return f"CalibrationErrors({shown})"


def _defined(value: float) -> float | None:
    return None if isinstance(value, float) and math.isnan(value) else value
