"""What a protocol is: all the rules of an evaluation, as data."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_choice, check_number, rising_numbers
from ioukit._register import Register
from ioukit.evaluation.protocols.measures import MR2, Measure, MissRateRule, checked_measures, checked_miss_rate

if TYPE_CHECKING:
    from ioukit.evaluation.protocols.object_choice import ObjectChoice
    from ioukit.evaluation.protocols.value_ranges import ValueRange

__all__ = ["MEASURE_RULES", "NO_CAP", "AreaRange", "IgnoreRule", "Protocol", "register_measure_rule"]

NO_CAP = 2**31 - 1
"""A cap that no number of detections exceeds."""

# Some of COCO's thresholds differ in the last bit from the numbers that people write.
_SAME_THRESHOLD = 1e-9

Choice: TypeAlias = Literal["best_free", "best_of_all", "best_of_all_then_groups"]
Threshold: TypeAlias = Literal["at_least", "more_than"]
Ties: TypeAlias = Literal["last", "first"]
CapScope: TypeAlias = Literal["image_and_category", "image", "category"]
Integral: TypeAlias = Literal[
    "recalls", "points", "area", "trapezoid", "sloping_trapezoid", "trapezoid_from_first", "score_steps"
]
MeanOver: TypeAlias = Literal["with_objects", "with_objects_or_detections", "all"]
Verified: TypeAlias = Literal["all", "listed", "labelled", "with_objects"]
RangesBy: TypeAlias = Literal["area", "flag"]
WithoutArea: TypeAlias = Literal["counted", "left_out", "detections_left_out"]

_CHOICES: dict[str, tuple[str, ...]] = {
    "choice": get_args(Choice),
    "threshold": get_args(Threshold),
    "ties": get_args(Ties),
    "cap_scope": get_args(CapScope),
    "integral": get_args(Integral),
    "mean_over": get_args(MeanOver),
    "verified": get_args(Verified),
    "ranges_by": get_args(RangesBy),
    "without_area": get_args(WithoutArea),
}


class AreaRange(NamedTuple):
    """A range of object areas: from ``low`` to ``high`` square pixels, both included; infinity for no limit."""

    label: str
    low: float
    high: float


class IgnoreRule(NamedTuple):
    """Objects that are ignored: neither finding nor missing one counts."""

    flag: str
    """The flag of the ground truth that these objects have, ``"crowd"`` for example."""
    over_detection: bool = False
    """Whether their overlap is the intersection over the area of the detection, instead of the IoU."""
    repeated: bool = False
    """Whether any number of detections may match one of them."""
    more_than: bool = False
    """Whether a match with one of them needs more than the IoU threshold, even if other objects do not."""
    counts_once: bool = False
    """Whether such an object counts nevertheless: the first detection that matches it finds it. Further ones, which
    need ``repeated``, are ignored."""


@dataclass(frozen=True)
class Protocol:
    """The rules of an evaluation: what matches, what is counted, and which numbers are computed.

    To make one, change one that exists: ``COCO.replace(max_dets=[1, 10, 300])``. Values are checked and kept as tuples,
    so a protocol never changes and can be a key of a dictionary.
    """

    name: str
    """Its name in tables and pages."""
    iou_thresholds: tuple[float, ...]
    """IoU thresholds of a match, in ascending order within (0, 1]."""
    recall_thresholds: tuple[float, ...]
    """Recalls at which precision is read, in ascending order."""
    max_dets: tuple[int, ...]
    """Caps, in ascending order: how many detections count within the scope of the cap."""
    area_ranges: tuple[AreaRange, ...]
    """Ranges of object areas to tell apart. Most measures use the one labelled ``all``."""
    ranges_by: RangesBy = "area"
    """What a range is about besides areas. With ``"flag"``, the range ``easy`` ignores the objects without the flag
    ``easy``."""
    class_agnostic: bool = False
    """Whether all categories count as one."""
    choice: Choice = "best_free"
    """Which object a detection takes; detections choose in the order of their scores. ``"best_free"``: the best object
    that no better detection has taken; an object that counts is preferred to an ignored one. ``"best_of_all"``: the
    best object; if a better detection has taken it, the detection has no match. ``"best_of_all_then_groups"``: the same
    among the objects that are compared by IoU; a detection without a match takes the best of the others, which are
    compared by :attr:`IgnoreRule.over_detection`."""
    threshold: Threshold = "at_least"
    """Whether a match needs at least the IoU threshold, or more than that."""
    ties: Ties = "last"
    """Which of several objects with the same IoU is taken, in the order of the ground truth."""
    inclusive_boxes: bool = False
    """Whether an upright box ``[x, y, width, height]`` covers the pixels ``x`` to ``x + width``, both included, which
    are ``width + 1`` pixels: the convention of PASCAL VOC. Other kinds of regions are compared as they are."""
    clipped_boxes: bool = False
    """Whether upright boxes are cut at the borders of their image, as CrowdDet cuts them: the low corner to at most a
    pixel before the border. This needs the sizes of the images."""
    box_aspect_ratio: float = 0.0
    """If above 0, upright boxes of objects that count and of detections get this width over height. Height and centre
    stay."""
    overlap_epsilon: float = 0.0
    """What is added to the area that the overlap of upright boxes is divided by."""
    cap_scope: CapScope = "image_and_category"
    """What a cap counts: the detections of one category on one image, those of one image, or those of one category."""
    ignored: tuple[IgnoreRule, ...] = (IgnoreRule("crowd", over_detection=True, repeated=True),)
    """Which objects are ignored. Objects outside an area range are ignored in that range, too."""
    counted_values: tuple[ValueRange, ...] = ()
    """Objects with a value outside of one of these ranges get the flag ``"outside"``, which :attr:`ignored` can name.
    NaN lies within every range."""
    detection_values: tuple[ValueRange, ...] = ()
    """Detections with a value outside of one of these ranges are left out before matching."""
    integral: Integral = "recalls"
    """How AP is computed: as the mean of the precision at the recall thresholds, or as the area under the curve. The
    precision at a recall is the highest precision at that recall or a higher one. ``"recalls"`` and ``"points"`` are
    the same mean and differ in rounding: pycocotools adds, then divides by the number of recalls; VOC 2007 divides
    first. ``"area"`` is the area under the steps of the curve. ``"trapezoid"`` is the area under straight lines: the
    curve starts with precision 1 at recall 0, its points are joined by lines and read at the recall thresholds, and
    precision is 0 from the last recall on. With ``"sloping_trapezoid"``, it falls from the last point along a line to 0
    at recall 1. ``"trapezoid_from_first"`` is the area under the curve as it is, from the
    first detection on, as in CrowdDet; ``"score_steps"`` that under a curve read at 1,000 scores, as in WIDER FACE."""
    miss_rate: MissRateRule = MR2
    """How the log-average miss rate is computed, if a measure asks for it."""
    precision_epsilon: bool = True
    """Whether precision is ``tp / (tp + fp + 2**-52)``, as in pycocotools, instead of ``tp / (tp + fp)``."""
    mean_over: MeanOver = "with_objects"
    """Which categories a mean is over: those that have objects, those that have objects or detections, or all. A
    category without objects counts 0."""
    verified: Verified = "all"
    """Which categories were looked for on an image. ``"all"``: all of them. ``"listed"``: those that have an object
    there, and those that the image lists in its attribute ``neg_category_ids``. A detection of another category takes a
    place within the scope of the cap, and has no other part. Of the categories that the image lists in
    ``not_exhaustive_category_ids``, a detection that matches nothing is ignored. ``"labelled"``: those that have an
    object there, and those that the image lists in ``positive_category_ids`` or ``negative_category_ids``.
    ``"with_objects"``: those that have an object there."""
    without_area: WithoutArea = "counted"
    """Whether objects and detections with an area of 0 count like others, or are left out, or detections alone are."""
    category_groups: str = ""
    """The attribute of the categories by which :attr:`Measure.group` chooses them, such as LVIS's ``frequency``;
    ``"name"`` for their names."""
    objects_choose: ObjectChoice | None = None
    """If given, objects choose among the detections, and these are the rules: KITTI's way. The area ranges are then
    ranges of heights. ``choice`` and ``ties`` apply to outcomes and other analyses of the match table alone."""
    summary: str | tuple[Measure, ...] = "coco"
    """The measures, or the name of the rule in :data:`MEASURE_RULES` that makes them from the other fields."""
    reference: str = ""
    """Where the rules come from."""
    meant_for: tuple[str, ...] = dataclasses.field(default=(), compare=False)
    """The kinds of region that the reference evaluates, such as ``"bbox"``; empty if any. This is information alone: it
    changes no number, and every protocol evaluates every kind."""

    def __post_init__(self) -> None:
        """Check and freeze every field."""
        set_field = object.__setattr__  # the class is frozen; this is the way to set a field in __post_init__
        set_field(self, "iou_thresholds", rising_numbers(self.iou_thresholds, "iou_thresholds", above=0.0))
        set_field(self, "recall_thresholds", rising_numbers(self.recall_thresholds, "recall_thresholds"))
        set_field(self, "max_dets", tuple(sorted(_caps(self.max_dets))))
        set_field(self, "area_ranges", _areas(self.area_ranges))
        set_field(self, "ignored", tuple(IgnoreRule(*rule) for rule in self.ignored))
        for name in ("counted_values", "detection_values"):
            set_field(self, name, tuple(getattr(self, name)))
            if getattr(self, name):
                from ioukit.evaluation.protocols.value_ranges import checked_ranges  # noqa: PLC0415 - COCO has none

                set_field(self, name, checked_ranges(getattr(self, name), name))
        set_field(self, "miss_rate", checked_miss_rate(self.miss_rate))
        for name in ("box_aspect_ratio", "overlap_epsilon"):
            check_number(**{name: getattr(self, name)})
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number of at least 0, got {getattr(self, name)}")
        for name in ("class_agnostic", "inclusive_boxes", "clipped_boxes", "precision_epsilon"):
            if not isinstance(getattr(self, name), bool):
                raise TypeError(f"{name} must be True or False, got {getattr(self, name)!r}")
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        if isinstance(self.meant_for, str) or not all(isinstance(kind, str) for kind in self.meant_for):
            raise TypeError(f"meant_for must be a list of kinds of region, got {self.meant_for!r}")
        set_field(self, "meant_for", tuple(self.meant_for))
        if not isinstance(self.category_groups, str):
            raise TypeError(f"category_groups must be the name of an attribute, got {self.category_groups!r}")
        if isinstance(self.summary, str):
            check_choice("summary", self.summary, tuple(MEASURE_RULES))
        else:
            set_field(self, "summary", checked_measures(self.summary))
        if self.objects_choose is not None:
            self.objects_choose.check(vars(self))

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
    def needs_whole_curves(self) -> bool:
        """Whether a number needs all points of the curves, instead of precision at the recall thresholds."""
        points = self.integral in ("trapezoid_from_first", "score_steps")
        return points or any(measure.quantity in ("MR", "JI") for measure in self.measures)

    @property
    def area_labels(self) -> list[str]:
        """(A,) labels of the area ranges."""
        return [area_range.label for area_range in self.area_ranges]

    @property
    def main_iou(self) -> float:
        """The default IoU threshold of analyses: 0.5, or the lowest if 0.5 is not among them."""
        at = self.find_iou(0.5)
        return self.iou_thresholds[0 if at is None else at]

    @property
    def main_area(self) -> str:
        """The default area range of analyses: ``all``, or the first if none has this label."""
        labels = self.area_labels
        return "all" if "all" in labels else labels[0]

    @property
    def main_max_dets(self) -> int:
        """The default cap of analyses: 100, or the last if 100 is not among them."""
        return 100 if 100 in self.max_dets else self.max_dets[-1]

    @property
    def main_measure(self) -> Measure:
        """The main number of the summary: the first one."""
        return self.measures[0]

    def find_iou(self, iou: float) -> int | None:
        """The position of an IoU threshold, ``None`` if there is none: 0.9 finds COCO's 0.8999999999999999."""
        apart = [abs(threshold - iou) for threshold in self.iou_thresholds]
        nearest = apart.index(min(apart))
        return nearest if apart[nearest] <= _SAME_THRESHOLD else None

    def position_of_iou(self, iou: float) -> int:
        """The position of an IoU threshold.

        Raises:
            ValueError: If none is within 1e-9 of it.
        """
        check_number(iou=iou)
        found = self.find_iou(iou)
        if found is None:
            known = ", ".join(str(round(threshold, 12)) for threshold in self.iou_thresholds)
            raise ValueError(f"no IoU threshold {iou}; there are {known}")
        return found

    def position_of_area(self, area: str) -> int:
        """The position of the area range with a label.

        Raises:
            ValueError: If no area range has this label.
        """
        labels = self.area_labels
        if area not in labels:
            raise ValueError(f"no area range {area!r}; there are {', '.join(labels)}")
        return labels.index(area)

    def position_of_max_dets(self, max_dets: int) -> int:
        """The position of a cap.

        Raises:
            ValueError: If the protocol does not have this cap.
        """
        if max_dets not in self.max_dets:
            raise ValueError(f"no cap of {max_dets} detections; there are {', '.join(map(str, self.max_dets))}")
        return self.max_dets.index(max_dets)

    def replace(self, **changes: Any) -> Protocol:
        """A copy with some fields changed and checked.

        Args:
            **changes: Fields by name. ``area_ranges`` may be a mapping of labels to (low, high). Lists are accepted in
                place of tuples.

        Raises:
            TypeError, ValueError: If a field does not exist or a value is invalid.
        """
        unknown = changes.keys() - {field.name for field in dataclasses.fields(self)}
        if unknown:
            raise TypeError(f"a protocol has no field {', '.join(sorted(unknown))}")
        return dataclasses.replace(self, **changes)

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
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Protocol:
        """The protocol that :meth:`to_dict` described.

        Raises:
            TypeError, ValueError: If a field is unknown or missing, or a value is invalid.
        """
        given = dict(fields)
        known = {field.name for field in dataclasses.fields(cls)}
        if unknown := given.keys() - known:
            raise TypeError(f"a protocol has no field {', '.join(sorted(unknown))}")
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


def _areas(
    ranges: Mapping[str, tuple[float, float | None]] | Iterable[tuple[str, float, float | None]],
) -> tuple[AreaRange, ...]:
    rows = [(label, *limits) for label, limits in ranges.items()] if isinstance(ranges, Mapping) else list(ranges)
    areas = tuple(
        AreaRange(str(label), float(low), math.inf if high is None else float(high)) for label, low, high in rows
    )
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
