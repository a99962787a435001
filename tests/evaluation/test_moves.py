"""The classes and images that move most in a walk, against plain Python."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given

import support.strategies  # noqa: F401 - the profile
from evaluation.plain_rules import never_counts, plain_ap, plain_matching, with_outside
from evaluation.test_disagreement import Scene
from evaluation.test_rules import protocols, scenes
from ioukit import Protocol
from ioukit.evaluation import Outcome, explain_difference
from ioukit.evaluation.disagreement.one_number import rules_of_number


def plain_numbers(data: Scene, protocol: Protocol) -> dict[int, float]:
    """AP of each class: the mean over the IoU thresholds."""
    gt, dt = data
    columns = [
        plain_ap(gt, dt, protocol, threshold, protocol.area_ranges[0], protocol.max_dets[0])
        for threshold in protocol.iou_thresholds
    ]
    return {number: float(np.mean([column[number] for column in columns])) for number in columns[0]}


@given(scenes(), protocols(), protocols())
def test_classes_move_as_in_plain_python(data: Scene, start: Protocol, end: Protocol) -> None:
    walk = explain_difference(*data, start, end)
    before = rules_of_number(start)
    new: dict[int, float] = {}  # of the step before, if there are any
    for step in walk.steps:
        if {before.mean_over, step.protocol.mean_over} & {"with_objects_or_detections"}:  # of parts of thresholds
            new = {}
        else:
            old, new = new or plain_numbers(data, before), plain_numbers(data, step.protocol)
            for move in step.classes:
                for value, wanted in ((move.before, old), (move.after, new)):
                    assert value == pytest.approx(wanted.get(move.id, math.nan), abs=1e-12, nan_ok=True)
            moved = {move.id for move in step.classes}
            defined = [sum(not math.isnan(value) for value in each.values()) for each in (old, new)]
            if defined[0] == defined[1] and old.keys() == new.keys():
                for number in old.keys() - moved:
                    assert new[number] == pytest.approx(old[number], abs=1e-12, nan_ok=True)
        before = step.protocol


def plain_outcomes(data: Scene, protocol: Protocol) -> dict[tuple[str, int], Counter[Outcome]]:
    """How often each detection and object has each outcome, over the IoU thresholds."""
    gt, dt = data
    counted = with_outside(gt, protocol)
    area, cap = protocol.area_ranges[0], protocol.max_dets[0]
    result: dict[tuple[str, int], Counter[Outcome]] = {}
    for threshold in protocol.iou_thresholds:
        found = plain_matching(gt, dt, protocol, threshold, area, cap)
        hits = {place for row, place in found.matched.items() if row not in found.ignored}
        for row in range(len(dt)):
            outcome = Outcome.NOT_COUNTED
            if row in found.counted:
                matched = Outcome.TRUE_POSITIVE if row in found.matched else Outcome.FALSE_POSITIVE
                outcome = Outcome.IGNORED if row in found.ignored else matched
            result.setdefault(("detection", row), Counter())[outcome] += 1
        for row in range(len(gt)):
            if protocol.without_area == "left_out" and not gt.areas[row] > 0:
                outcome = Outcome.NOT_COUNTED
            elif never_counts(counted, protocol, row) or not area.low <= gt.areas[row] <= area.high:
                outcome = Outcome.IGNORED
            else:
                outcome = Outcome.TRUE_POSITIVE if row in hits else Outcome.FALSE_NEGATIVE
            result.setdefault(("object", row), Counter())[outcome] += 1
    return result


@given(scenes(), protocols(), protocols())
def test_images_move_as_in_plain_python(data: Scene, start: Protocol, end: Protocol) -> None:
    gt, dt = data
    walk = explain_difference(*data, start, end)
    before = rules_of_number(start)
    new = plain_outcomes(data, before)
    for step in walk.steps:
        counts = [len(before.iou_thresholds), len(step.protocol.iou_thresholds)]
        old, new = new, plain_outcomes(data, step.protocol)
        changed: Counter[int] = Counter()
        net: dict[Outcome, Counter[int]] = {outcome: Counter() for outcome in Outcome}
        for kind, row in old:
            image = int(dt.image_ids_in(gt.images)[row] if kind == "detection" else gt.image_ids[row])
            for outcome in Outcome:
                part = new[kind, row][outcome] / counts[1] - old[kind, row][outcome] / counts[0]
                changed[image] += abs(part) / 2  # type: ignore[assignment]
                if (kind == "object") == (outcome == Outcome.FALSE_NEGATIVE):
                    net[outcome][image] += part  # type: ignore[assignment]
        moves = {int(move.image_id): move for move in step.images}
        assert len(moves) == len(step.images)
        for image in gt.images.ids.tolist():
            assert (image in moves) == (changed[image] > 1e-9)
        for image, move in moves.items():
            assert move.changed == pytest.approx(changed[image])
            assert move.true_positives == pytest.approx(net[Outcome.TRUE_POSITIVE][image], abs=1e-9)
            assert move.false_positives == pytest.approx(net[Outcome.FALSE_POSITIVE][image], abs=1e-9)
            assert move.false_negatives == pytest.approx(net[Outcome.FALSE_NEGATIVE][image], abs=1e-9)
        sizes = [move.changed for move in step.images]
        assert sizes == sorted(sizes, reverse=True)
        before = step.protocol
