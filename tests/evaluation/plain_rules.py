"""All the rules that a protocol can name, in plain Python: slow, and in the order in which one would say them."""

from __future__ import annotations

import dataclasses
import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evaluation.plain_ultralytics import plain_trapezoid

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit import Detections, GroundTruth, Protocol
    from ioukit.evaluation.protocols import AreaRange, ValueRange

    Overlap = Callable[..., float]

__all__ = ["Found", "plain_ap", "plain_matching"]


class Found(NamedTuple):
    """What became of each detection at one threshold in one area range, by row of the data."""

    matched: dict[int, int]
    """The object of each detection that has one."""
    ignored: set[int]
    """Detections that count neither for nor against."""
    counted: list[int]
    """Detections within the cap that take part, whatever became of them."""


def _order(dt: Detections, gt: GroundTruth, row: int, *, agnostic: bool) -> tuple[float, ...]:
    """By this the detections of one curve are sorted: score, image, category if that is no curve of its own, row."""
    image = int(dt.image_ids_in(gt.images)[row])
    return (-dt.scores[row], image, *([dt.category_ids[row]] if agnostic else []), row)


def _within_cap(gt: GroundTruth, dt: Detections, protocol: Protocol, cap: int) -> set[int]:
    agnostic, scope = protocol.class_agnostic, protocol.cap_scope
    scopes: dict[tuple[int, ...], list[int]] = {}
    for row in range(len(dt)):
        if not _inside(dt.boxes[row].tolist(), protocol.detection_values):
            continue
        image, category = int(dt.image_ids[row]), 0 if agnostic else int(dt.category_ids[row])
        key = {"image": (image,), "category": (category,), "image_and_category": (image, category)}[scope]
        scopes.setdefault(key, []).append(row)
    kept: set[int] = set()
    for rows in scopes.values():
        if scope == "image":
            rows.sort(key=lambda row: (-dt.scores[row], row))
        else:
            rows.sort(key=lambda row: _order(dt, gt, row, agnostic=agnostic))
        kept.update(rows[:cap])
    return kept


def _box_iou(dt: Detections, gt: GroundTruth, row: int, place: int, *, crowd: bool, protocol: Protocol) -> float:
    sides = [(dt.boxes[row].tolist(), True), (gt.boxes[place].tolist(), not never_counts(gt, protocol, place))]
    width, height = gt.images.sizes[gt.images.ids.tolist().index(gt.image_ids[place])].tolist()
    pixel = 1.0 if protocol.inclusive_boxes else 0.0
    corners = []
    for (x, y, w, h), counts in sides:
        wider = h * protocol.box_aspect_ratio - w if protocol.box_aspect_ratio and counts else 0.0
        box = [x - wider / 2, y, x - wider / 2 + w + wider, y + h]
        if protocol.clipped_boxes:
            box = [
                max(min(box[0], width - 1), 0),
                max(min(box[1], height - 1), 0),
                min(box[2], width),
                min(box[3], height),
            ]
        corners.append([box[0], box[1], box[2] + pixel, box[3] + pixel])
    one, other = corners
    wide, high = min(one[2], other[2]) - max(one[0], other[0]), min(one[3], other[3]) - max(one[1], other[1])
    shared = wide * high if wide > 0 and high > 0 else 0.0
    areas = [(box[2] - box[0]) * (box[3] - box[1]) for box in corners]
    whole = (areas[0] if crowd else sum(areas) - shared) + protocol.overlap_epsilon
    return shared / whole if shared else 0.0


def _inside(box: list[float], ranges: tuple[ValueRange, ...]) -> bool:
    """Whether the values of a box lie within all ranges."""
    x, y, w, h = box
    values = {"left": x, "top": y, "right": x + w, "bottom": y + h, "width": w, "height": h}
    return all(low <= values[value] <= high for value, low, high in ranges)


def with_outside(gt: GroundTruth, protocol: Protocol) -> GroundTruth:
    """The ground truth with the flag of objects that a protocol does not count because of their values."""
    if not protocol.counted_values:
        return gt
    outside = [not _inside(box, protocol.counted_values) for box in gt.boxes.tolist()]
    return dataclasses.replace(gt, flags={**gt.flags, "outside": np.array(outside, bool)})


def never_counts(gt: GroundTruth, protocol: Protocol, row: int) -> bool:
    """Whether an object is ignored whatever its area."""
    return any(gt.flags[rule.flag][row] and not rule.counts_once for rule in protocol.ignored if rule.flag in gt.flags)


def _federated(gt: GroundTruth, dt: Detections, protocol: Protocol, row: int, exist: list[int]) -> str:
    """What is known of the category of a detection on its image."""
    if protocol.verified == "all":
        return "known"
    category, image = int(dt.category_ids[row]), int(dt.image_ids_in(gt.images)[row])
    at = gt.images.ids.tolist().index(image)
    listed = {name for name, lists in gt.images.attributes.items() if category in lists[at]}
    if protocol.verified == "with_objects":
        negative, not_exhaustive = False, False
    elif protocol.verified == "labelled":
        negative, not_exhaustive = bool(listed & {"positive_category_ids", "negative_category_ids"}), False
    else:
        negative, not_exhaustive = "neg_category_ids" in listed, "not_exhaustive_category_ids" in listed
    present = any(gt.image_ids[place] == image and gt.category_ids[place] == category for place in exist)
    if not present and not negative:
        return "unknown"
    return "not exhaustive" if not_exhaustive else "known"


def _choice(
    options: list[tuple[int, float, bool]],
    protocol: Protocol,
    taken: set[int],
    ignored: list[bool],
    rule_holds: Callable[[str, int], bool],
) -> int | None:
    """The object that a detection takes. An option is an object, its overlap, and whether that is enough to match."""
    if protocol.choice == "best_free" and any(not ignored[place] for place, *_ in options):
        options = [option for option in options if not ignored[option[0]]]
    if protocol.ties == "last":
        options = options[::-1]
    tiers = [options]
    if protocol.choice == "best_of_all_then_groups":
        groups = [option for option in options if rule_holds("over_detection", option[0])]
        tiers = [[option for option in options if option not in groups], groups]
    for tier in tiers:
        place, overlap, meets = max(tier, key=lambda option: option[1], default=(-1, 0.0, False))  # the first
        if meets and overlap > 0 and (place not in taken or ignored[place] or rule_holds("repeated", place)):
            return place
    return None


def plain_matching(
    gt: GroundTruth,
    dt: Detections,
    protocol: Protocol,
    iou_threshold: float,
    area_range: AreaRange,
    cap: int,
    overlap: Overlap | None = None,
) -> Found:
    """Each detection chooses in turn, best first.

    ``overlap(row, place, crowd=...)`` compares a detection with an object; upright boxes if ``None``.
    """
    gt = with_outside(gt, protocol)
    rules = {rule.flag: rule for rule in protocol.ignored if rule.flag in gt.flags}

    def rule_holds(field: str, row: int) -> bool:
        return any(gt.flags[name][row] and (field == "flag" or getattr(rule, field)) for name, rule in rules.items())

    def outside(area: float) -> bool:
        return area < area_range.low or area > area_range.high

    ignored_object = [never_counts(gt, protocol, row) or outside(gt.areas[row]) for row in range(len(gt))]
    area_of = dt.boxes[:, 2] * dt.boxes[:, 3] if dt.areas is None else dt.areas
    exist = [row for row in range(len(gt)) if protocol.without_area != "left_out" or gt.areas[row] > 0]
    federated = {row: _federated(gt, dt, protocol, row, exist) for row in range(len(dt))}
    left_out = {row for row, is_known in federated.items() if is_known == "unknown"}
    if protocol.without_area != "counted":
        left_out |= {row for row in range(len(dt)) if not area_of[row] > 0}
    within = _within_cap(gt, dt, protocol, cap)
    agnostic = protocol.class_agnostic
    rows = sorted(within - left_out, key=lambda row: _order(dt, gt, row, agnostic=agnostic))
    places = sorted(exist, key=lambda row: (gt.category_ids[row], row)) if agnostic else exist
    images = dt.image_ids_in(gt.images)
    taken: set[int] = set()
    found = Found({}, set(), rows)
    for row in rows:
        options = []
        for place in places:
            same_class = agnostic or gt.category_ids[place] == dt.category_ids[row]
            if gt.image_ids[place] != images[row] or not same_class:
                continue
            crowd = rule_holds("over_detection", place)
            compare = overlap or partial(_box_iou, dt, gt, protocol=protocol)
            iou = compare(row, place, crowd=crowd)
            least = min(iou_threshold, 1 - 1e-10)
            exceed = protocol.threshold == "more_than" or rule_holds("more_than", place)
            meets = iou > iou_threshold if exceed else iou >= least
            if protocol.choice != "best_free" or (meets and (rule_holds("repeated", place) or place not in taken)):
                options.append((place, iou, meets))
        chosen = _choice(options, protocol, taken, ignored_object, rule_holds)
        if chosen is not None:
            found.matched[row] = chosen
            if ignored_object[chosen] or (chosen in taken and rule_holds("counts_once", chosen)):
                found.ignored.add(row)
            taken.add(chosen)
        elif outside(area_of[row]) or federated[row] == "not exhaustive":
            found.ignored.add(row)
    return found


def plain_ap(
    gt: GroundTruth,
    dt: Detections,
    protocol: Protocol,
    iou_threshold: float,
    area_range: AreaRange,
    cap: int,
    overlap: Overlap | None = None,
) -> dict[int, float]:
    """AP of each category; NaN where there is nothing to find."""
    gt = with_outside(gt, protocol)
    found = plain_matching(gt, dt, protocol, iou_threshold, area_range, cap, overlap)
    epsilon = 2.0**-52 if protocol.precision_epsilon else 0.0
    result: dict[int, float] = {}
    for category in [-1] if protocol.class_agnostic else gt.categories.ids.tolist():
        objects = sum(
            (category in (-1, gt.category_ids[row]))
            and area_range.low <= gt.areas[row] <= area_range.high
            and not never_counts(gt, protocol, row)
            and (protocol.without_area != "left_out" or gt.areas[row] > 0)
            for row in range(len(gt))
        )
        if not objects:
            counts = [row for row in found.counted if row not in found.ignored]
            detected = any(category in (-1, dt.category_ids[row]) for row in counts)
            zero = protocol.mean_over == "all" or (protocol.mean_over == "with_objects_or_detections" and detected)
            result[category] = 0.0 if zero else math.nan
            continue
        points = []
        true, false = 0, 0
        for row in found.counted:
            if category not in (-1, dt.category_ids[row]) or row in found.ignored:
                continue
            true, false = true + (row in found.matched), false + (row not in found.matched)
            points.append((true / objects, true / (true + false + epsilon)))
        if protocol.integral in ("trapezoid", "sloping_trapezoid"):
            slopes = protocol.integral == "sloping_trapezoid"
            result[category] = plain_trapezoid(points, protocol.recall_thresholds, slopes=slopes)
            continue
        best = [(recall, max(p for _, p in points[at:])) for at, (recall, _) in enumerate(points)]
        if protocol.integral == "area":
            area, before = 0.0, 0.0
            for recall, precision in best:
                area += (recall - before) * precision
                before = recall
            result[category] = area
        else:
            at = [next((p for r, p in best if r >= recall), 0.0) for recall in protocol.recall_thresholds]
            result[category] = sum(at) / len(at)
    return result
