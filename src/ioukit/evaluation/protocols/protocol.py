"""The rules of an evaluation, as data."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ioukit._checks import check_number

__all__ = ["COCO", "AreaRange", "Protocol"]

# COCO's thresholds are not all the doubles that people write.
_SAME_THRESHOLD = 1e-9


class AreaRange(NamedTuple):
    """Objects of a size: square pixels from ``low`` to ``high``, both within."""

    label: str
    low: float
    high: float


@dataclass(frozen=True)
class Protocol:
    """What counts as found, and what is counted.

    Take one that is there and change it: ``COCO.replace(max_dets=[1, 10, 300])``. Values are checked and kept as
    tuples, so that a protocol never changes and can be a key.
    """

    name: str
    """What people call it."""
    iou_thresholds: tuple[float, ...]
    """IoU from which a detection can match an object, rising within (0, 1]; IoU equal to the threshold matches."""
    recall_thresholds: tuple[float, ...]
    """Recalls, rising, at which precision is read off; AP is the mean over them."""
    max_dets: tuple[int, ...]
    """Caps, rising: how many detections of one category count on one image."""
    area_ranges: tuple[AreaRange, ...]
    """Sizes of objects to tell apart. AP and AR come from the one labelled ``all``."""
    class_agnostic: bool = False
    """Whether all categories count as one."""

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        set_field = object.__setattr__  # the dataclass is frozen, but not before it is made
        set_field(self, "iou_thresholds", _numbers(self.iou_thresholds, "iou_thresholds", above=0.0))
        set_field(self, "recall_thresholds", _numbers(self.recall_thresholds, "recall_thresholds"))
        caps = tuple(sorted(_caps(self.max_dets)))
        set_field(self, "max_dets", caps)
        set_field(self, "area_ranges", _areas(self.area_ranges))
        if not isinstance(self.class_agnostic, bool):
            raise TypeError(f"class_agnostic must be True or False, got {self.class_agnostic!r}")

    @property
    def main_iou(self) -> float:
        """The IoU threshold to speak of where none is named: 0.5, or the lowest if it is not among them."""
        return next((iou for iou in self.iou_thresholds if abs(iou - 0.5) <= _SAME_THRESHOLD), self.iou_thresholds[0])

    @property
    def main_area(self) -> str:
        """The area range to speak of where none is named: ``all``, or the first if there is none."""
        labels = [area_range.label for area_range in self.area_ranges]
        return "all" if "all" in labels else labels[0]

    def position_of_iou(self, iou: float) -> int:
        """Which of the IoU thresholds is meant: 0.9 finds COCO's 0.8999999999999999.

        Raises:
            ValueError: If none is within 1e-9 of it.
        """
        check_number(iou=iou)
        apart = [abs(threshold - iou) for threshold in self.iou_thresholds]
        nearest = apart.index(min(apart))
        if apart[nearest] > _SAME_THRESHOLD:
            raise ValueError(f"no IoU threshold {iou}; there are {', '.join(map(str, self.iou_thresholds))}")
        return nearest

    def position_of_area(self, area: str) -> int:
        """Which of the area ranges has that label.

        Raises:
            ValueError: If none has.
        """
        labels = [area_range.label for area_range in self.area_ranges]
        if area not in labels:
            raise ValueError(f"no area range {area!r}; there are {', '.join(labels)}")
        return labels.index(area)

    def replace(self, **changes: Any) -> Protocol:
        """A protocol with some fields changed, all of them checked.

        Args:
            **changes: Fields by name. ``area_ranges`` may be a mapping of labels to (low, high), lists may stand for
                tuples.

        Raises:
            TypeError, ValueError: If a field does not exist or a value makes no sense.
        """
        unknown = changes.keys() - {field.name for field in dataclasses.fields(self)}
        if unknown:
            raise TypeError(f"a protocol has no field {', '.join(sorted(unknown))}")
        return dataclasses.replace(self, **changes)


def _numbers(values: Iterable[float], name: str, *, above: float | None = None) -> tuple[float, ...]:
    numbers = tuple(float(value) for value in values)
    for number in numbers:
        if not (number >= 0 if above is None else number > above) or not number <= 1:
            raise ValueError(f"{name} must lie within {'[0' if above is None else '(0'}, 1], got {number}")
    if not numbers:
        raise ValueError(f"{name} must hold at least one number")
    if any(low >= high for low, high in itertools.pairwise(numbers)):
        raise ValueError(f"{name} must rise, got {list(numbers)}")
    return numbers


def _caps(values: Iterable[int]) -> set[int]:
    caps = list(values)
    for cap in caps:
        if isinstance(cap, bool) or int(cap) != cap or not 1 <= cap < 2**31:
            raise ValueError(f"max_dets must be positive integers, got {cap!r}")
    if not caps:
        raise ValueError("max_dets must hold at least one number")
    if len(set(caps)) < len(caps):
        raise ValueError(f"max_dets must differ, got {caps}")
    return {int(cap) for cap in caps}


def _areas(ranges: Mapping[str, tuple[float, float]] | Iterable[tuple[str, float, float]]) -> tuple[AreaRange, ...]:
    rows = [(label, *limits) for label, limits in ranges.items()] if isinstance(ranges, Mapping) else list(ranges)
    areas = tuple(AreaRange(str(label), float(low), float(high)) for label, low, high in rows)
    for area in areas:
        if not area.low <= area.high or math.isinf(area.low):
            raise ValueError(
                f"area range {area.label!r} must go from a lower to a higher number, got {area.low}, {area.high}"
            )
    if not areas:
        raise ValueError("area_ranges must hold at least one range")
    labels = [area.label for area in areas]
    if len(set(labels)) < len(labels):
        raise ValueError(f"labels of area_ranges must differ, got {labels}")
    return areas


COCO = Protocol(
    name="COCO",
    # linspace, as the reference has it: .9 comes out as 0.8999999999999999, and a match at IoU 0.9 depends on it.
    iou_thresholds=tuple(np.linspace(0.5, 0.95, 10).tolist()),
    recall_thresholds=tuple(np.linspace(0.0, 1.0, 101).tolist()),
    max_dets=(1, 10, 100),
    area_ranges=(
        AreaRange("all", 0.0, 1e5**2),
        AreaRange("small", 0.0, 32.0**2),
        AreaRange("medium", 32.0**2, 96.0**2),
        AreaRange("large", 96.0**2, 1e5**2),
    ),
)
"""Common Objects in Context (Lin et al., ECCV 2014, arXiv:1405.0312), as pycocotools 2.0.11 evaluates boxes: AP is the
mean over ten IoU thresholds, 101 recalls and all categories that have an object."""
