"""What a protocol is: all the rules of an evaluation, as data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ioukit._checks import check_choice
from ioukit._near_names import suggest
from ioukit._notebook import Shown
from ioukit._register import Register
from ioukit.evaluation.protocols.measures import OF_CURVES, Measure, MissRateRule, checked_measures
from ioukit.evaluation.protocols.parts import (
    NO_CAP,
    AreaRange,
    BoxRules,
    CountRules,
    IgnoreRule,
    MatchRules,
    NumberRules,
)

_OF_ALL_POINTS = ("trapezoid_from_first", "score_steps")
"""Integrals that read all points of a curve, as they are."""
_ORDERS_NEED = {
    "choice": "best_free",
    "objects_choose": None,
    "cap_scope": "image_and_category",
    "verified": "all",
    "without_area": "counted",
    "integral": "recalls",
    "mean_over": "with_objects",
}
"""Rules of COCO without which it is not known how far an order can move AP."""
_PARTS = (MatchRules, CountRules, NumberRules, BoxRules)


@dataclass(frozen=True, kw_only=True)
class Protocol(BoxRules, NumberRules, CountRules, MatchRules, Shown):
    """The rules of an evaluation: what matches, what is counted, and which numbers are computed.

    To make one, change one that exists: ``COCO.replace(max_dets=[1, 10, 300])``. Values are checked and kept as tuples,
    so a protocol never changes and can be a key of a dictionary.
    """

    name: str
    """Its name in tables and pages."""
    summary: str | tuple[Measure, ...] = "coco"
    """The measures, or the name of the rule in :data:`MEASURE_RULES` that makes them from the other fields."""
    category_groups: str = ""
    """The attribute of the categories by which :attr:`Measure.group` chooses them, such as LVIS's ``frequency``;
    ``"name"`` for their names."""
    reference: str = ""
    """Where the rules come from."""
    meant_for: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    """The kinds of region that the reference evaluates, such as ``"bbox"``; empty if any. This is information alone: it
    changes no number, and every protocol evaluates every kind."""

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        for part in _PARTS:
            part._check(self)
        if isinstance(self.meant_for, str) or not all(isinstance(kind, str) for kind in self.meant_for):
            raise TypeError(f"meant_for must be a list of kinds of region, got {self.meant_for!r}")
        object.__setattr__(self, "meant_for", tuple(self.meant_for))
        if not isinstance(self.category_groups, str):
            raise TypeError(f"category_groups must be the name of an attribute, got {self.category_groups!r}")
        if isinstance(self.summary, str):
            check_choice("summary", self.summary, tuple(MEASURE_RULES))
        else:
            object.__setattr__(self, "summary", checked_measures(self.summary))
        if not self.ranks and (curve := [one.key for one in self.measures if one.quantity in OF_CURVES]):
            raise ValueError(f"without recall_thresholds, no measure can be one of curves, got {', '.join(curve)}")
        as_group = self.choice in ("together", "best_pairs_first")  # then the order of the data decides nothing
        if as_group and not self.ranks and self.max_dets != (NO_CAP,):
            raise ValueError(
                f"max_dets cannot cap detections where nothing ranks them, got {', '.join(map(str, self.max_dets))}"
            )
        if self.objects_choose is not None:  # its rules exclude some of every part
            self.objects_choose.check(vars(self))
        turned = self.objects_choose is not None and self.objects_choose.orientation
        if not turned and (lacks := [one.key for one in self.measures if one.quantity == "AOS"]):
            raise ValueError(f"measures of AOS need objects_choose with an orientation, got {', '.join(lacks)} without")

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The numbers of the summary in the order of its table, the main one first.

        Some may be undefined, see :meth:`defines`.
        """
        return MEASURE_RULES[self.summary](self) if isinstance(self.summary, str) else self.summary

    def defines(self, measure: Measure) -> bool:
        """Whether the protocol has the threshold, cap, area range and groups that a measure needs."""
        return (
            (measure.iou_threshold is None or self.find_iou(measure.iou_threshold) is not None)
            and (measure.max_dets is None or measure.max_dets in self.max_dets)
            and (measure.area_range is None or measure.area_range in self.area_labels)
            and (measure.group is None or bool(self.category_groups))
        )

    @property
    def headline_keys(self) -> list[str]:
        """The keys of the numbers that short summaries show, the main one first."""
        keys = [measure.key for measure in self.measures if measure.headline and self.defines(measure)]
        return list(dict.fromkeys([self.main_measure.key, *keys]))

    def area_of(self, measure: Measure) -> str:
        """The label of the area range of a measure."""
        return self.main_area if measure.area_range is None else measure.area_range

    def cap_of(self, measure: Measure) -> int:
        """The cap of a measure."""
        return self.main_max_dets if measure.max_dets is None else measure.max_dets

    def iou_positions_of(self, measure: Measure) -> list[int]:
        """Positions of the IoU thresholds that a measure is the mean over."""
        every = list(range(len(self.iou_thresholds)))
        return every if measure.iou_threshold is None else [self.position_of_iou(measure.iou_threshold)]

    @property
    def size_ranges(self) -> tuple[AreaRange, ...]:
        """The area ranges if they are ranges of areas; none if they are about flags or heights."""
        return self.area_ranges if self.ranges_by == "area" and self.objects_choose is None else ()

    @property
    def draws_in_parts(self) -> bool:
        """Whether curves can be drawn from sorted runs; other protocols need the rows of all images at once."""
        return (
            self.ranks
            and self.objects_choose is None
            and not self.needs_whole_curves
            and not self.zero_if_detected
            and self.matches_within_cap
        )

    @property
    def leaves_out_first_strip(self) -> bool:
        """Whether AP lacks the part of the curve before the first recall, which is 1 / objects wide."""
        return self.integral == "trapezoid_from_first"

    @property
    def reads_scores(self) -> bool:
        """Whether a number depends on the scores themselves: it reads them at thresholds, and not their order alone."""
        return self.integral == "score_steps" or any(measure.quantity == "JI" for measure in self.measures)

    @property
    def caps_one_class_by_image(self) -> bool:
        """Whether all categories count as one, and the cap those of an image: ranks are by score, not by category."""
        return self.class_agnostic and self.cap_scope == "image"

    @property
    def needs_boxes_alone(self) -> bool:
        """Whether ids, boxes, scores and flags of crowds are enough: no attribute, no list, and no size of an image."""
        others = (self.detection_values, self.counted_values, self.category_groups, self.clipped_boxes)
        return self.verified == "all" and self.ranges_by == "area" and self.objects_choose is None and not any(others)

    @property
    def why_no_order_range(self) -> str:
        """Why the range of AP over all orders of equal scores is not known, as a sentence; empty if it is."""
        what = f"the range of AP over all orders of equal scores is known for rules like COCO's, and {self.name}"
        if not self.ranks:
            return f"{what} does not rank"
        for name, value in _ORDERS_NEED.items():
            if getattr(self, name) != value:
                return f"{what} has {name}={getattr(self, name)!r} instead of {value!r}"
        if any(rule.more_than or rule.counts_once for rule in self.ignored):
            return f"{what} has ignored objects that count once or need more than the threshold"
        return ""

    def why_no_sum(self, measure: Measure) -> str:
        """Why a measure is no sum over the true positives along its curves, in words; empty if it is one."""
        if measure.quantity not in ("AP", "AR"):
            return "is no AP and no AR"
        if measure.pooled or self.chooses_as_group:
            return "is not made from detections one by one"
        if self.objects_choose is not None:
            return "depends on score thresholds of the whole data set"
        if measure.quantity == "AP" and self.integral in _OF_ALL_POINTS:
            return "depends on all points of the curve"
        return ""

    def sums_with_weights(self, measures: Iterable[Measure]) -> bool:
        """Whether image weights can be added up along curves that are sorted once, for all of the measures."""
        listed = list(measures)
        only_with_objects = self.mean_over == "with_objects" or (
            self.zero_if_detected and all(measure.quantity == "AP" for measure in listed)
        )
        steps = self.integral in ("recalls", "points", "area")
        return only_with_objects and steps and self.matches_within_cap and not any(map(self.why_no_sum, listed))

    @property
    def needs_whole_curves(self) -> bool:
        """Whether a number needs all rows of a table, instead of precision at the recall thresholds."""
        return self.integral in _OF_ALL_POINTS or any(
            measure.quantity not in ("AP", "AR") or measure.pooled for measure in self.measures
        )

    @property
    def main_measure(self) -> Measure:
        """The main number of the summary: the first one."""
        return self.measures[0]

    def check_ranks(self, what: str) -> None:
        """Refuse the protocol for something that needs scores, in words such as ``"thresholds of the score"``.

        Raises:
            ValueError: If the protocol does not rank.
        """
        if not self.ranks:
            raise ValueError(f"{what} need scores, and the protocol {self.name} does not read them")

    def replace(self, **changes: Any) -> Protocol:
        """A copy with some fields changed and checked.

        Args:
            **changes: Fields by name. ``area_ranges`` may be a mapping of labels to (low, high). Lists are accepted in
                place of tuples.

        Raises:
            TypeError, ValueError: If a field does not exist or a value is invalid.
        """
        self._check_names(changes)
        return dataclasses.replace(self, **changes)

    @classmethod
    def _check_names(cls, given: Iterable[str]) -> None:
        known = [field.name for field in dataclasses.fields(cls)]
        if unknown := sorted({*given} - {*known}):
            raise TypeError(f"a protocol has no field {', '.join(unknown)}{suggest(unknown[0], known)}")

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The fields, one per row."""
        return [{"": name, "value": str(value)[:120]} for name, value in self.to_dict().items()], 0

    def to_dict(self) -> dict[str, Any]:
        """The fields in plain Python values, as :meth:`from_dict` takes them."""
        fields = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        # JSON has no infinity.
        fields["area_ranges"] = {
            area.label: [area.low, None if math.isinf(area.high) else area.high] for area in self.area_ranges
        }
        fields["ignored"] = [rule._asdict() for rule in self.ignored]
        for name in ("counted_values", "detection_values"):
            fields[name] = [each.to_list() for each in getattr(self, name)]
        fields["miss_rate"] = {**self.miss_rate._asdict(), "fppi": list(self.miss_rate.fppi)}
        if not isinstance(self.summary, str):
            fields["summary"] = [dataclasses.asdict(measure) for measure in self.summary]
        if self.objects_choose is None:
            del fields["objects_choose"]
        else:
            fields["objects_choose"] = self.objects_choose.to_dict()
        return {"name": self.name} | {
            name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Protocol:
        """The protocol that :meth:`to_dict` described.

        Raises:
            TypeError, ValueError: If a field is unknown or missing, or a value is invalid.
        """
        given = dict(fields)
        cls._check_names(given)
        if "ignored" in given:
            given["ignored"] = tuple(IgnoreRule(**rule) for rule in given["ignored"])
        if isinstance(given.get("miss_rate"), Mapping):
            given["miss_rate"] = MissRateRule(**given["miss_rate"])
        if not isinstance(given.get("summary", ""), str):
            given["summary"] = tuple(Measure(**measure) for measure in given["summary"])
        if given.get("objects_choose") is not None:
            from ioukit.evaluation.protocols.object_choice import ObjectChoice  # noqa: PLC0415 - COCO has none

            given["objects_choose"] = ObjectChoice(**given["objects_choose"])
        return cls(**given)


MEASURE_RULES: Register[Callable[[Protocol], tuple[Measure, ...]]] = Register("rule of measures")
"""Rules that make the measures of a protocol from its thresholds, caps and area ranges, by name."""


def register_measure_rule(name: str, rule: Callable[[Protocol], tuple[Measure, ...]]) -> None:
    """Add a rule, so that a protocol can name it as its ``summary``.

    Raises:
        ValueError: If a rule of that name exists already.
    """
    MEASURE_RULES.add(name, rule)
