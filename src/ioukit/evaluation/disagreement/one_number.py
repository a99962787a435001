"""The rules of a single number: what is left of a protocol if only one of its measures is wanted."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

from ioukit.evaluation.protocols import AreaRange, Measure, Protocol


def measure_of(protocol: Protocol, key: str | None) -> Measure:
    """The measure of a protocol with a key; the main one if ``None``.

    Raises:
        ValueError: If the protocol has no measure with this key, or lacks what the measure needs.
    """
    found = [measure for measure in protocol.measures if key in (None, measure.key)][:1]
    if not found:
        keys = ", ".join(measure.key for measure in protocol.measures)
        raise ValueError(f"the protocol {protocol.name} has no measure {key!r}; choose from {keys}")
    if not protocol.defines(found[0]):
        raise ValueError(
            f"the measure {found[0].key} of the protocol {protocol.name} is undefined: the protocol lacks its IoU "
            "threshold, cap, area range or groups of categories"
        )
    return found[0]


def rules_of_number(protocol: Protocol, key: str | None = None) -> Protocol:
    """A protocol whose main measure is one of those of another, with the same number to the last bit.

    It has only the IoU thresholds, the cap and the area range that the measure reads. So each of its fields is a rule
    that this number depends on, and two numbers differ only by these fields. Of the other measures, it keeps those of
    other groups of categories, because they say which groups there are. If the other fields of the protocol need all
    thresholds, caps and area ranges, it keeps them.

    Args:
        protocol: The rules.
        key: The key of the measure; the main one if ``None``.

    Raises:
        ValueError: As :func:`measure_of`.
    """
    measure = measure_of(protocol, key)
    label = protocol.area_of(measure)
    area = protocol.area_ranges[protocol.position_of_area(label)]
    thresholds = protocol.iou_thresholds
    if measure.iou_threshold is not None:
        at = protocol.position_of_iou(measure.iou_threshold)
        thresholds = thresholds[at : at + 1]
    others = _of_other_groups(protocol, measure)
    measure = dataclasses.replace(measure, area_range=None if label == protocol.main_area else label, line="", words="")
    rules = protocol.replace(
        category_groups="" if measure.group is None else protocol.category_groups, summary=(measure, *others)
    )
    # A flag has the name of its range.
    kept = area if protocol.ranges_by == "flag" else AreaRange("all", area.low, area.high)
    cap = protocol.cap_of(measure)
    narrowed: list[tuple[str, tuple[Any, ...], str]] = [
        ("iou_thresholds", thresholds, "iou_threshold"),
        ("area_ranges", (kept,), "area_range"),
    ]
    if not _needs_last_cap(protocol, cap):
        narrowed.append(("max_dets", (cap,), "max_dets"))
    for field, value, reads in narrowed:
        all_there_is: dict[str, Any] = {reads: None}
        narrow = dataclasses.replace(measure, **all_there_is)
        with contextlib.suppress(ValueError):  # other fields need all of the values
            rules = rules.replace(**{field: value}, summary=(narrow, *others))
            measure = narrow
    return rules


def _needs_last_cap(protocol: Protocol, cap: int) -> bool:
    """Whether the last cap decides about the detections within a smaller one, too.

    A cap of an image takes equal scores in the order of the file, as lvis does. If all categories count as one,
    matching takes them by category. So the last cap says which detections are matched before those within a smaller
    cap.
    """
    return protocol.caps_one_class_by_image and cap != protocol.max_dets[-1]


def _of_other_groups(protocol: Protocol, measure: Measure) -> list[Measure]:
    """One measure for each other group of categories; none if the measure is not of a group."""
    if measure.group is None:
        return []
    groups = dict.fromkeys(other.group for other in protocol.measures if other.group not in (None, measure.group))
    return [Measure(f"group {group}", group=group) for group in groups]
