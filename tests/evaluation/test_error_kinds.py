"""The kinds of errors of TIDE."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from evaluation.small_scene import DT, GT
from ioukit import COCO, evaluate
from ioukit.evaluation import KINDS, error_kinds, match


def test_every_kind() -> None:
    errors = evaluate(GT, DT).error_kinds()
    named = [KINDS[kind] if kind >= 0 else "-" for kind in errors.detection_kind]
    place, background = "localisation", "background"
    assert named == ["-", "duplicate", place, place, "classification", "both", background, "-", "-", background]
    assert errors.detection_ground_truth.tolist() == [-1, 0, 1, 1, 2, 2, -1, -1, -1, -1]
    assert errors.missed.tolist() == [False, False, False, True, False, False]
    assert errors.counts == dict(zip(KINDS, [1, 2, 1, 1, 2, 1], strict=True))
    # Cats: right, right, then all wrong, of 3 objects: recall 2/3 with precision 1, 67 of 101 recalls. Dogs: nothing.
    assert errors.ap == pytest.approx(67 / 101 / 2)
    # The third cat is found by the better of two detections, the fourth of all; the other is left out.
    assert errors.delta_ap["localisation"] == pytest.approx((67 + 34 * 3 / 4) / 101 / 2 - errors.ap)
    assert errors.delta_ap["classification"] == pytest.approx(51 / 101 / 2)  # one of two dogs is found
    assert errors.delta_ap["background"] == errors.delta_ap["both"] == errors.delta_ap["duplicate"] == 0
    assert errors.delta_ap["missed"] == 0  # one dog is left, and no dog is detected
    assert errors.delta_ap["false_positive"] == 0
    # Without what nobody found the two cats are all; of dogs there is nothing left.
    assert errors.delta_ap["false_negative"] == pytest.approx(1 - errors.ap)


def test_it_pickles() -> None:
    evaluation = evaluate(GT, DT)
    assert evaluation.summary["AP50"] == evaluation.error_kinds().ap
    for value in (evaluation, pickle.loads(pickle.dumps(evaluation))):
        errors = value.error_kinds()
        again = pickle.loads(pickle.dumps(errors))
        assert again.delta_ap == errors.delta_ap
        assert again.counts == errors.counts
        assert repr(again) == repr(errors)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"iou_threshold": 0.4}, "no IoU threshold 0.4; there are 0.5, "),
        ({"background_threshold": 0.0}, "above 0 and at most iou_threshold 0.5, got 0.0"),
        ({"background_threshold": 0.6}, "above 0 and at most iou_threshold 0.5, got 0.6"),
        ({"background_threshold": math.nan}, "above 0 and at most iou_threshold 0.5, got nan"),
        ({"max_dets_per_image": 0}, "max_dets_per_image must be at least 1, or None for all, got 0"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        error_kinds(match(GT, DT), GT, DT, **arguments)


def test_a_protocol_needs_the_range_of_all_sizes() -> None:
    table = match(GT, DT, COCO.replace(area_ranges={"small": (0, 1024)}))
    with pytest.raises(ValueError, match="no area range 'all'; there are small"):
        error_kinds(table, GT, DT)
