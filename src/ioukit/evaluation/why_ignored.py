"""Which rule of a protocol ignores an object or a detection, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ioukit._output import printable

if TYPE_CHECKING:
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.protocols import Protocol
    from ioukit.evaluation.protocols.parts import CountRules, MatchRules


_KNOWN = {
    "crowd": "it is a crowd",
    "difficult": "it is marked as difficult",
    "group_of": "it is a group",
    "dont_care": "it is an area in which nothing counts",
}
_TITLES = {"image_and_category": "per class and image", "image": "per image", "category": "per class"}
_SCOPES = {
    "image_and_category": "of each image and class",
    "image": "of each image",
    "category": "of each class",
}


def object_rule(truth: GroundTruth, protocol: Protocol, area_range: str, row: int) -> str:
    """Why an object is ignored in an area range, such as ``"it is a crowd"``; empty if no rule says so.

    Args:
        truth: The ground truth.
        protocol: The rules.
        area_range: Label of the area range.
        row: The row of the object in the ground truth.
    """
    for rule in protocol.ignored:
        if rule.flag == "outside" and protocol.counted_values:
            words = _outside_values(truth, protocol, row)
            if words and not rule.counts_once:
                return words
        elif rule.flag in truth.flags and truth.flags[rule.flag][row] and not rule.counts_once:
            return _KNOWN.get(rule.flag, f"it has the flag “{printable(rule.flag)}”")
    at = protocol.position_of_area(area_range)
    if protocol.ranges_by == "flag":
        flag = truth.flags.get(area_range)
        return "" if flag is not None and flag[row] else f"it does not have the flag “{printable(area_range)}”"
    low, high = protocol.area_ranges[at].low, protocol.area_ranges[at].high
    choice = protocol.objects_choose
    if choice is None:
        return _outside(float(truth.areas[row]), low, high, area_range, "its area", "square pixels")
    for limit in choice.limits:
        value = float(truth.attributes[limit.attribute][row])
        if value > limit.at_most[at]:
            return (
                f"its {limit.attribute} value {value:g} is more than {limit.at_most[at]:g}, the limit of “{area_range}”"
            )
    return _outside(float(truth.boxes[row, 3]), low, high, area_range, "its height", "pixels")


def detection_rule(detections: Detections, protocol: Protocol, area_range: str, row: int) -> str:
    """Why a detection without a match is ignored in an area range because of its own size; empty if it is not.

    Args:
        detections: The detections.
        protocol: The rules.
        area_range: Label of the area range.
        row: The row of the detection in its data.
    """
    limits = protocol.area_ranges[protocol.position_of_area(area_range)]
    if protocol.objects_choose is not None:
        return _outside(float(detections.boxes[row, 3]), limits.low, limits.high, area_range, "its height", "pixels")
    return _outside(_area(detections, row), limits.low, limits.high, area_range, "its area", "square pixels")


def left_out_rule(detections: Detections, rules: CountRules, row: int) -> str:
    """Why a detection takes no part, such as ``"it has no area"``."""
    if rules.without_area != "counted" and not _area(detections, row) > 0:
        return "it has no area"
    return "nobody looked for its class on this image"


def excuse(rules: MatchRules, own: str, other: str, *, is_area: bool) -> str:
    """Why a detection of a class need not match anything where it overlaps an object, such as "nothing counts there".

    Args:
        rules: The rules.
        own: The class of the detection.
        other: The class of the object.
        is_area: Whether the object is an area, see :attr:`~ioukit.evaluation.IgnoreRule.over_detection`.

    Returns:
        The reason; empty if it has to match.
    """
    if rules.objects_choose is None:
        return ""
    if is_area:
        return "nothing counts there"
    return f"a {other} is not counted against a {own}" if rules.objects_choose.neighbour_of(other) == own else ""


def cap_words(protocol: Protocol) -> str:
    """Which detections count, such as ``"the 100 best detections of each image and class count"``."""
    most = protocol.max_dets[-1]
    scope = (
        "of each image" if protocol.class_agnostic and protocol.cap_scope != "category" else _SCOPES[protocol.cap_scope]
    )
    return f"the best detection {scope} counts" if most == 1 else f"the {most:,} best detections {scope} count"


def cap_title(protocol: Protocol) -> str:
    """The title of the caps, such as ``"Detections per class and image"``."""
    return f"Detections {_TITLES[protocol.cap_scope]}"


def _area(detections: Detections, row: int) -> float:
    areas, (_, _, width, height) = detections.areas, detections.boxes[row]
    return float(width * height if areas is None else areas[row])  # as `Detections.areas_or_those_of_boxes` has it


def _outside_values(truth: GroundTruth, protocol: Protocol, row: int) -> str:
    """Which value of an object is outside of the protocol's ranges; empty if none is."""
    x, y, width, height = truth.boxes[row].tolist()
    values = {"left": x, "top": y, "right": x + width, "bottom": y + height, "width": width, "height": height}
    for name, low, high in protocol.counted_values:
        value = values[name] if name in values else float(truth.attributes[name][row])
        if value < low or value > high:
            return f"its {printable(name)} {value:g} is outside of {_range(low, high)}"
    return ""


def _outside(value: float, low: float, high: float, label: str, what: str, unit: str) -> str:
    if low <= value <= high:
        return ""
    shown = f"{value:,.0f}" if abs(value) >= 100 and np.round(value) not in (low, high) else f"{value:,.6g}"
    return f"{what} of {shown} {unit} is outside of the range “{printable(label)}” ({_range(low, high)})"


def _range(low: float, high: float) -> str:
    if math.isinf(high):
        return f"{low:,.6g} or more"
    return f"{high:,.6g} or less" if math.isinf(low) else f"{low:,.6g} to {high:,.6g}"
