"""The rules that two numbers can differ by, in the order of the walk, and what their values mean in plain words."""

from __future__ import annotations

import dataclasses
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ioukit.evaluation.protocols import NO_CAP, Protocol


class Rule(NamedTuple):
    """A rule of the evaluation: one field of a protocol, or a few that mean something only together."""

    title: str
    """What it is about."""
    fields: tuple[str, ...]
    """The fields of :class:`~ioukit.evaluation.Protocol`."""
    said: Callable[[Protocol], str] | Mapping[str, str]
    """Says its value in a protocol in plain words, or the words for some values of its only field, by value as text."""
    rematches: bool = True
    """Whether it can change which detections match; if not, it only changes how the number is computed."""

    def words(self, protocol: Protocol) -> str:
        """Its value in a protocol, in plain words."""
        if not isinstance(self.said, Mapping):
            return self.said(protocol)
        value = getattr(protocol, self.fields[0])
        return self.said.get(str(value)) or _plain(value)

    def value(self, protocol: Protocol) -> Any:
        """Its value, for comparing protocols of one number."""
        return tuple(
            dataclasses.replace(protocol.main_measure, key="-", line="", headline=False, words="")
            if field == "summary"
            else getattr(protocol, field)
            for field in self.fields
        )


def _plain(value: Any) -> str:
    """The words for a value that nobody has put into words."""
    if value is None or value in ((), ""):
        return "none"
    if dataclasses.is_dataclass(value):
        return f"by {type(value).__name__}"
    return textwrap.shorten(str(value).replace("_", " "), _LONGEST, placeholder=" ...")


_LONGEST = 80


def _thresholds(protocol: Protocol) -> str:
    values = [f"{value:.10g}" for value in protocol.iou_thresholds]
    return ", ".join(values if len(values) <= 4 else [*values[:2], "...", values[-1]])


def _ignored(protocol: Protocol) -> str:
    said = []
    for rule in protocol.ignored:
        details = [
            _IGNORED.get(name, name.replace("_", " ")) for name, value in rule._asdict().items() if value is True
        ]
        said.append(f"{rule.flag} ({', '.join(details)})" if details else rule.flag)
    said += [f"those with {each.words()}" for each in protocol.counted_values]
    return "; ".join(said) or "none"


def _detection_values(protocol: Protocol) -> str:
    return "; ".join(f"none with {each.words()}" for each in protocol.detection_values) or "all"


def _miss_rate(protocol: Protocol) -> str:
    fppi, reading, floor = protocol.miss_rate
    at = {
        "last_at_most": "the last point with at most",
        "first_at_least": "the first point with at least",
        "interpolated": "straight lines at",
    }[reading]
    return f"{at} {fppi[0]:.4g} to {fppi[-1]:.4g} false positives per image, floor {floor:g}"


_IGNORED = {
    "over_detection": "overlap over the area of the detection",
    "repeated": "any number of matches",
    "more_than": "more than the threshold",
    "counts_once": "the first match counts",
}


def _area(protocol: Protocol) -> str:
    if protocol.ranges_by == "flag":
        return f"objects with the flag {', '.join(protocol.area_labels)}"
    area = protocol.area_ranges[0]
    if len(protocol.area_ranges) > 1:
        return ", ".join(f"{label} from {low:,.10g} to {high:,.10g}" for label, low, high in protocol.area_ranges)
    if area.low <= 0 and area.high == float("inf"):
        return "any area"
    upper = "no limit" if area.high == float("inf") else f"{area.high:,.10g}"
    return f"{area.low:,.10g} to {upper} square pixels"


def _cap(protocol: Protocol) -> str:
    counted, matched = protocol.main_measure.max_dets or protocol.max_dets[-1], protocol.max_dets[-1]
    scope = protocol.cap_scope.replace("image_and_category", "image and class").replace("category", "class")
    if counted < matched:
        return f"{counted:,} per {scope}, of {'all' if matched == NO_CAP else f'{matched:,}'} that are matched"
    return "none" if matched == NO_CAP else f"{matched:,} per {scope}"


def _integral(protocol: Protocol) -> str:
    if protocol.integral in _AREAS:
        return _AREAS[protocol.integral]
    count = len(protocol.recall_thresholds)
    if protocol.integral in ("recalls", "points"):
        return f"mean at {count} recalls" + (", divided before adding" if protocol.integral == "points" else "")
    end = {"trapezoid": "", "sloping_trapezoid": ", sloping to recall 1"}[protocol.integral]
    return f"area under lines between {count} recalls{end}"


_AREAS = {
    "area": "area under the curve",
    "trapezoid_from_first": "area under the curve as it is, from the first detection on",
    "score_steps": "area under the curve read at 1,000 scores",
}


def _measure(protocol: Protocol) -> str:
    measure = protocol.main_measure
    of = "all classes" if measure.group is None else f"the classes with {protocol.category_groups} {measure.group!r}"
    within = "" if measure.area_range is None else f", area range {measure.area_range}"
    return f"{measure.quantity} of {of}{within}"


_MATCHING = (
    Rule("IoU thresholds", ("iou_thresholds",), _thresholds),
    Rule("classes", ("class_agnostic",), {"False": "each class by itself", "True": "all classes as one"}),
    Rule(
        "which object a detection takes",
        ("choice",),
        {
            "best_free": "the best free object",
            "best_of_all": "the best object, taken or free",
            "best_of_all_then_groups": "the best object, taken or free; without one the best group",
            "together": "what gives all detections together the most objects, and then the highest sum of IoU",
            "best_pairs_first": "that of the pair with the highest IoU of all that are left",
            "in_order": "an ignored one if it reaches any; else the first object that is left with it as the first",
        },
    ),
    Rule("IoU equal to the threshold", ("threshold",), {"at_least": "a match", "more_than": "no match"}),
    Rule("objects with the same IoU", ("ties",), {"last": "the last one is taken", "first": "the first one is taken"}),
    Rule("pixels of a box", ("inclusive_boxes",), {"False": "width x height", "True": "(width + 1) x (height + 1)"}),
    Rule(
        "borders of the image", ("clipped_boxes",), {"False": "boxes go on beyond them", "True": "boxes are cut there"}
    ),
    Rule("width over height", ("box_aspect_ratio",), {"0.0": "as it is"}),
    Rule("added to the area of the union", ("overlap_epsilon",), {"0.0": "nothing"}),
    Rule("ignored objects", ("ignored", "counted_values"), _ignored),
    Rule("detections that take part", ("detection_values",), _detection_values),
    Rule(
        "classes that were looked for",
        ("verified",),
        {
            "all": "all on every image",
            "listed": "those that are listed for the image",
            "with_objects": "those with an object there",
            "labelled": "those with a label on the image",
        },
    ),
    Rule(
        "areas of 0",
        ("without_area",),
        {
            "counted": "count like others",
            "left_out": "are left out",
            "detections_left_out": "are left out, if they are those of detections",
        },
    ),
    Rule("area range", ("area_ranges", "ranges_by"), _area),
    Rule("cap on detections", ("cap_scope", "max_dets"), _cap),
)

_CURVES = (
    Rule("integral", ("integral", "recall_thresholds"), _integral, rematches=False),
    Rule(
        "denominator of precision",
        ("precision_epsilon",),
        {"True": "tp + fp + 2**-52", "False": "tp + fp"},
        rematches=False,
    ),
    Rule(
        "mean over",
        ("mean_over",),
        {
            "with_objects": "classes with objects",
            "with_objects_or_detections": "classes with objects or detections",
            "all": "all classes",
        },
        rematches=False,
    ),
    Rule("reading of the miss rate", ("miss_rate",), _miss_rate, rematches=False),
    Rule("measure", ("summary", "category_groups"), _measure),  # the groups that it names are checked by matching
)

_NO_RULES = ("name", "reference", "meant_for")
_SAID = {field for rule in (*_MATCHING, *_CURVES) for field in rule.fields}

RULES: tuple[Rule, ...] = (
    *_MATCHING,
    # A field that has no words yet is a rule like the others, under its own name.
    *(
        Rule(field.name.replace("_", " "), (field.name,), {})
        for field in dataclasses.fields(Protocol)
        if field.name not in _SAID and field.name not in _NO_RULES
    ),
    *_CURVES,
)
"""All rules, in the order in which a walk changes them."""
