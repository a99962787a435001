"""What a choice of thresholds gives: the thresholds, and their numbers on the same and on other images."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import pluralize
from ioukit.datasets import Categories
from ioukit.operating.rules import Rule
from ioukit.postprocess import OperatingPoints, ScoreMap
from ioukit.statistics import Interval

if TYPE_CHECKING:
    from ioukit.operating.calibrating import CalibrationFit

__all__ = ["ClassThreshold", "PointNumbers", "ThresholdChoice"]


@dataclass(frozen=True)
class PointNumbers:
    """The numbers of a detector at a threshold.

    On the other halves, each image is counted at thresholds that were chosen without it. Counts are then means over the
    splits, and ratios are taken of these means.
    """

    true_positives: float
    """Detections that match an object."""
    false_positives: float
    """Detections that match no object."""
    false_negatives: float
    """Objects that no detection matches."""
    precision: float
    """TP / (TP + FP); NaN if no detection counts."""
    recall: float
    """TP / objects; NaN without objects."""
    f_beta: float
    """F-beta with the ``beta`` of the rule, or F1; NaN without objects and detections."""
    false_positives_per_image: float
    """FP / images."""
    cost_per_image: float
    """The costs of a rule with costs, divided by the number of images; NaN for other rules."""
    intervals: Mapping[str, Interval] = field(default_factory=dict)
    """The intervals of ``precision``, ``recall``, ``f_beta``, ``false_positives_per_image`` and ``cost_per_image``, by
    the bootstrap over images, with the thresholds as they are. Those on the images of the choice are for exactly these
    thresholds; those on other images do not hold how much the thresholds of the halves differ from them."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        numbers = {name: _defined(value) for name, value in vars(self).items() if name != "intervals"}
        return {**numbers, "intervals": {name: one.to_dict() for name, one in self.intervals.items()}}


@dataclass(frozen=True)
class ClassThreshold:
    """The threshold of one class, or of all classes."""

    id: int | None
    """The category id; ``None`` for all classes."""
    name: str
    """The name of the class, ``"all classes"`` for all."""
    threshold: float
    """Detections with this score or a higher one count; NaN if no detection counts, and for all classes if each class
    has a threshold of its own."""
    interval: Interval
    """The interval of the threshold: what the rule chooses on other images. Its ``undefined`` is the share of
    replicates in which no detection counts."""
    how: str
    """``"chosen"``; ``"not reached"``: no threshold gives what the rule asks for, see the rule for what is taken
    instead; or ``"no objects"``: the class has no objects, so it has the threshold of all classes."""
    num_ground_truth: int
    """Objects to find."""
    chosen: PointNumbers
    """The numbers on the images of the choice. They are optimistic."""
    held_out: PointNumbers
    """The numbers on images that the choice did not see, each half by the choice of the other half."""

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, ``None`` where a number is undefined."""
        return {
            "id": self.id,
            "name": self.name,
            "threshold": _defined(self.threshold),
            "threshold_interval": self.interval.to_dict(),
            "how": self.how,
            "num_ground_truth": self.num_ground_truth,
            "chosen": self.chosen.to_dict(),
            "held_out": self.held_out.to_dict(),
        }


@dataclass(frozen=True, repr=False)
class ThresholdChoice:
    """The result of :func:`choose_thresholds`."""

    rule: Rule
    """What the thresholds were chosen for."""
    per_class: bool
    """Whether each class has a threshold of its own."""
    overall: ClassThreshold
    """All classes together."""
    classes: tuple[ClassThreshold, ...]
    """(K,) each class."""
    categories: Categories
    """The categories of the data; of a class-agnostic protocol, all of them have the one threshold."""
    settings: Mapping[str, str | float | int | bool | None]
    """On what and how they were chosen: protocol, IoU threshold, numbers of images and objects, seed, and so on."""

    @property
    def not_reached(self) -> tuple[ClassThreshold, ...]:
        """The classes, or all classes as one, for which no threshold gives what the rule asks for."""
        return tuple(one for one in (self.classes if self.per_class else (self.overall,)) if one.how == "not reached")

    def operating_points(self, calibration: CalibrationFit | Sequence[ScoreMap] = ()) -> OperatingPoints:
        """The thresholds as a record that ``ioukit predict``, ``ioukit nms`` and ``filter_detections`` apply.

        Args:
            calibration: The result of :func:`calibrate` on the same data, or its maps.

        Raises:
            ValueError: If there is neither one map nor one for each category.
        """
        maps = calibration if isinstance(calibration, Sequence) else calibration.maps
        thresholds = [one.threshold for one in (self.classes if self.per_class else (self.overall,))]
        if len(thresholds) == 1:  # also that of a class-agnostic protocol
            thresholds *= len(self.categories)
        held_out = self.overall.held_out
        shown = {
            f"{name} on other images": None if math.isnan(value) else round(value, 6)
            for name, value in (("precision", held_out.precision), ("recall", held_out.recall))
        }
        return OperatingPoints.of(
            self.categories.names,
            np.array(thresholds, np.float64),
            category_ids=self.categories.ids,
            maps=maps,
            rule=self.rule.text,
            chosen_on={**self.settings, **shown},
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain Python values, ``None`` where a number is undefined."""
        return {
            "rule": self.rule.text,
            "per_class": self.per_class,
            "settings": dict(self.settings),
            "overall": self.overall.to_dict(),
            "classes": [one.to_dict() for one in self.classes],
        }

    def __repr__(self) -> str:
        point = self.overall
        at = pluralize(len(self.classes), "threshold") if self.per_class else f"threshold {point.threshold:.4g}"
        return (
            f"ThresholdChoice({self.rule.text}, {at}: precision {point.held_out.precision:.3f}, recall "
            f"{point.held_out.recall:.3f} on other images)"
        )


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
