"""The parts of a protocol, and which values their fields can have.

Each part answers one question, and the functions that follow its rules take the part: ``region_columns`` in
``evaluation/kinds`` reads :class:`BoxRules`, ``rules_of`` in ``evaluation/matching.py`` reads :class:`MatchRules`,
``evaluation/counting.py`` reads :class:`CountRules`, ``evaluation/curves.py`` and ``evaluation/summary.py`` read
:class:`NumberRules`. So a rare rule stands at one place, and type checkers find a function that reads more than its
part.

The parts are bases of :class:`~ioukit.evaluation.Protocol` and not its attributes, so that all fields are keywords of
one constructor and of ``replace``, with their types. As attributes, they would need a second list of 30 names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_choice, check_number, rising_numbers
from ioukit.evaluation.protocols.measures import MR2, MissRateRule, checked_miss_rate

if TYPE_CHECKING:
    from ioukit.evaluation.protocols.object_choice import ObjectChoice


NO_CAP = 2**31 - 1
"""A cap that no number of detections exceeds."""

# Some of COCO's thresholds differ in the last bit from the numbers that people write.
_SAME_THRESHOLD = 1e-9

Choice: TypeAlias = Literal[
    "best_free", "best_of_all", "best_of_all_then_groups", "together", "best_pairs_first", "in_order"
]
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


_LISTS_LOOKED_FOR: dict[Verified, tuple[str, ...] | None] = {
    "all": None,
    "listed": ("neg_category_ids",),
    "labelled": ("positive_category_ids", "negative_category_ids"),
    "with_objects": (),
}


class AreaRange(NamedTuple):
    """A range of object areas: from ``low`` to ``high`` square pixels, both included; infinity for no limit."""

    label: str
    low: float
    high: float


class ValueRange(NamedTuple):
    """A range of a value of boxes: from ``low`` to ``high``, both included; infinity for no limit."""

    value: str
    """``left``, ``top``, ``right``, ``bottom``, ``width`` or ``height`` of the box in pixels, or the name of an
    attribute, ``visibility`` for example."""
    low: float = -math.inf
    high: float = math.inf

    def words(self) -> str:
        """What lies outside, in words."""
        parts = [f"below {self.low:g}"] if math.isfinite(self.low) else []
        parts += [f"above {self.high:g}"] if math.isfinite(self.high) else []
        return f"{self.value} {' or '.join(parts) or 'of no range'}"

    def to_list(self) -> list[str | float | None]:
        """Its name and its limits, ``None`` for infinity: JSON has none."""
        return [self.value, *(None if math.isinf(limit) else limit for limit in (self.low, self.high))]


EVERY_OBJECT = "every object"
"""The flag that all objects have."""


class IgnoreRule(NamedTuple):
    """Objects that are ignored: neither finding nor missing one counts."""

    flag: str
    """The flag of the ground truth that these objects have, ``"crowd"`` for example; ``"every object"`` for all."""
    over_detection: bool = False
    """Whether their overlap is the intersection over the area of the detection, instead of the IoU."""
    repeated: bool = False
    """Whether any number of detections may match one of them."""
    more_than: bool = False
    """Whether a match with one of them needs more than the IoU threshold, even if other objects do not."""
    counts_once: bool = False
    """Whether such an object counts nevertheless: the first detection that matches it finds it. Further ones, which
    need ``repeated``, are ignored."""


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class BoxRules:
    """How upright boxes are compared. Other kinds of regions are compared as they are."""

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

    def _check(self) -> None:
        for name in ("box_aspect_ratio", "overlap_epsilon"):
            check_number(**{name: getattr(self, name)})
            if not 0 <= getattr(self, name) < math.inf:
                raise ValueError(f"{name} must be a finite number of at least 0, got {getattr(self, name)}")
        _check_bools(self, "inclusive_boxes", "clipped_boxes")


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class MatchRules:
    """Who takes whom."""

    iou_thresholds: tuple[float, ...]
    """IoU thresholds of a match, in ascending order within (0, 1]."""
    class_agnostic: bool = False
    """Whether all categories count as one."""
    choice: Choice = "best_free"
    """Which object a detection takes; detections choose in the order of their scores. ``"best_free"``: the best object
    that no better detection has taken; an object that counts is preferred to an ignored one. ``"best_of_all"``: the
    best object; if a better detection has taken it, the detection has no match. ``"best_of_all_then_groups"``: the same
    among the objects that are compared by IoU; a detection without a match takes the best of the others, which are
    compared by :attr:`IgnoreRule.over_detection`. ``"together"``: no order and no score decides. At each threshold, the
    detections of an image and category get the most objects that count, and among such choices the highest sum of IoU;
    those without one then take the best free object that is ignored, in the order of the data.
    ``"best_pairs_first"``: the same, but pairs with objects that count are taken in descending order of their IoU; of
    pairs with the same IoU, that of the first detection, then that with its first object, in the order of the data.
    ``"in_order"``: at each threshold, a detection that reaches ignored objects takes the best of them that is free, and
    nothing else. Of the other detections, each object that counts takes the first free one, in the order of the data,
    or in that of the scores if the protocol ranks: ICDAR's way."""
    threshold: Threshold = "at_least"
    """Whether a match needs at least the IoU threshold, or more than that."""
    ties: Ties = "last"
    """Which of several objects with the same IoU is taken, in the order of the ground truth."""
    objects_choose: ObjectChoice | None = None
    """If given, objects choose among the detections, and these are the rules: KITTI's way. The area ranges are then
    ranges of heights. ``choice`` and ``ties`` apply to outcomes and other analyses of the match table alone."""

    @property
    def why_matches_vary(self) -> str:
        """Why matches depend on the score threshold, in words; empty if they do not, as with most protocols."""
        return "" if self.objects_choose is None else "its objects choose among the detections at every score threshold"

    @property
    def takes_best_or_none(self) -> bool:
        """Whether a detection takes its best object or none, even if that object is taken."""
        return self.choice in ("best_of_all", "best_of_all_then_groups")

    @property
    def chooses_as_group(self) -> bool:
        """Whether the detections of an image and category choose as one, and not one after another."""
        return self.choice in ("together", "best_pairs_first", "in_order")

    @property
    def main_iou(self) -> float:
        """The default IoU threshold of analyses: 0.5, or the lowest if 0.5 is not among them."""
        at = self.find_iou(0.5)
        return self.iou_thresholds[0 if at is None else at]

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
        if (found := self.find_iou(iou)) is None:
            known = ", ".join(str(round(threshold, 12)) for threshold in self.iou_thresholds)
            raise ValueError(f"no IoU threshold {iou}; there are {known}")
        return found

    def _check(self) -> None:
        _set(self, iou_thresholds=rising_numbers(self.iou_thresholds, "iou_thresholds", above=0.0))
        _check_bools(self, "class_agnostic")
        check_choice("choice", self.choice, get_args(Choice))
        check_choice("threshold", self.threshold, get_args(Threshold))
        check_choice("ties", self.ties, get_args(Ties))


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class CountRules:
    """Which objects and detections count."""

    max_dets: tuple[int, ...]
    """Caps, in ascending order: how many detections count within the scope of the cap."""
    cap_scope: CapScope = "image_and_category"
    """What a cap counts: the detections of one category on one image, those of one image, or those of one category."""
    area_ranges: tuple[AreaRange, ...]
    """Ranges of object areas to tell apart. Most measures use the one labelled ``all``."""
    ranges_by: RangesBy = "area"
    """What a range is about besides areas. With ``"flag"``, the range ``easy`` ignores the objects without the flag
    ``easy``."""
    ignored: tuple[IgnoreRule, ...] = (IgnoreRule("crowd", over_detection=True, repeated=True),)
    """Which objects are ignored. Objects outside an area range are ignored in that range, too."""
    counted_values: tuple[ValueRange, ...] = ()
    """Objects with a value outside of one of these ranges get the flag ``"outside"``, which :attr:`ignored` can name.
    NaN lies within every range."""
    detection_values: tuple[ValueRange, ...] = ()
    """Detections with a value outside of one of these ranges are left out before matching."""
    verified: Verified = "all"
    """Which categories were looked for on an image. ``"all"``: all of them. ``"listed"``: those that have an object
    there, and those that the image lists in its attribute ``neg_category_ids``. A detection of another category takes a
    place within the scope of the cap, and has no other part. Of the categories that the image lists in
    ``not_exhaustive_category_ids``, a detection that matches nothing is ignored. ``"labelled"``: those that have an
    object there, and those that the image lists in ``positive_category_ids`` or ``negative_category_ids``.
    ``"with_objects"``: those that have an object there."""
    without_area: WithoutArea = "counted"
    """Whether objects and detections with an area of 0 count like others, or are left out, or detections alone are."""

    @property
    def needs_lists_of_lvis(self) -> bool:
        """Whether images must list the categories that are absent, and those not annotated in full, as in LVIS."""
        return self.verified == "listed"

    @property
    def leaves_out_detections(self) -> bool:
        """Whether some detections take no part, because of their class or their area."""
        return self.verified != "all" or self.without_area != "counted"

    @property
    def matches_within_cap(self) -> bool:
        """Whether matching knows which detections are beyond the cap; a cap per category is a matter of the curves."""
        return self.cap_scope != "category"

    @property
    def lists_looked_for(self) -> tuple[str, ...] | None:
        """Attributes of the images that list categories that were looked for, besides those of the objects there.

        ``None`` if all categories were looked for on all images.
        """
        return _LISTS_LOOKED_FOR[self.verified]

    @property
    def area_labels(self) -> list[str]:
        """(A,) labels of the area ranges."""
        return [area_range.label for area_range in self.area_ranges]

    @property
    def main_area(self) -> str:
        """The default area range of analyses: ``all``, or the first if none has this label."""
        labels = self.area_labels
        return "all" if "all" in labels else labels[0]

    @property
    def main_max_dets(self) -> int:
        """The default cap of analyses: 100, or the last if 100 is not among them."""
        return 100 if 100 in self.max_dets else self.max_dets[-1]

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

    def _check(self) -> None:
        _set(self, max_dets=tuple(sorted(_caps(self.max_dets))), area_ranges=_areas(self.area_ranges))
        _set(self, ignored=tuple(IgnoreRule(*rule) for rule in self.ignored))
        for name in ("counted_values", "detection_values"):
            _set(self, **{name: _value_ranges(getattr(self, name), name)})
        check_choice("cap_scope", self.cap_scope, get_args(CapScope))
        check_choice("ranges_by", self.ranges_by, get_args(RangesBy))
        check_choice("verified", self.verified, get_args(Verified))
        check_choice("without_area", self.without_area, get_args(WithoutArea))


@dataclass(frozen=True, kw_only=True, init=False, eq=False, repr=False)
class NumberRules:
    """How matches become a number: by curves of detections that are ranked by their scores, or by counts of all."""

    recall_thresholds: tuple[float, ...]
    """Recalls at which precision is read, in ascending order. Without any, the protocol does not rank: scores are not
    read, detections choose in the order of their source, no curves are drawn, and measures are those of counts."""
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

    @property
    def counts_undefined(self) -> bool:
        """Whether a category without a number counts 0 in a mean, instead of being left out."""
        return self.mean_over == "all"

    @property
    def zero_if_detected(self) -> bool:
        """Whether the numbers of a category without objects are 0 where a detection counts, instead of undefined."""
        return self.mean_over == "with_objects_or_detections"

    @property
    def ranks(self) -> bool:
        """Whether detections are ranked by their scores, and curves drawn."""
        return bool(self.recall_thresholds)

    def _check(self) -> None:
        recalls = tuple(self.recall_thresholds)
        _set(self, recall_thresholds=rising_numbers(recalls, "recall_thresholds") if recalls else ())
        _set(self, miss_rate=checked_miss_rate(self.miss_rate))
        _check_bools(self, "precision_epsilon")
        check_choice("integral", self.integral, get_args(Integral))
        check_choice("mean_over", self.mean_over, get_args(MeanOver))


def _set(part: Any, **values: Any) -> None:
    """Sets fields of a frozen record, which its own constructor may do."""
    for name, value in values.items():
        object.__setattr__(part, name, value)


def _check_bools(part: Any, *names: str) -> None:
    for name in names:
        if not isinstance(getattr(part, name), bool):
            raise TypeError(f"{name} must be True or False, got {getattr(part, name)!r}")


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


def _value_ranges(ranges: Iterable[Any], name: str) -> tuple[ValueRange, ...]:
    """The ranges with numbers as floats; ``None`` is no limit."""
    made = []
    for value, low, high in (ValueRange(*given) for given in ranges):
        lowest, highest = -math.inf if low is None else float(low), math.inf if high is None else float(high)
        if not isinstance(value, str) or not lowest <= highest:
            raise ValueError(
                f"{name} must hold the name of a value, a lower and a higher number, got {[value, low, high]}"
            )
        made.append(ValueRange(value, lowest, highest))
    return tuple(made)
