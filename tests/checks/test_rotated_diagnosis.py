"""What `diagnose` finds about the angles of rotated boxes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit import RotatedBoxes, diagnose
from ioukit.checks import Finding


def rotated(rows: Any, unit: Any = "degrees", sense: Any = "clockwise") -> RotatedBoxes:
    return RotatedBoxes(rows, unit=unit, sense=sense)


def found(boxes: RotatedBoxes, image_size: Any = None, **options: Any) -> dict[str, Finding]:
    return {finding.code: finding for finding in diagnose(boxes, image_size=image_size, **options)}


ROWS = np.array([[50, 60, 40, 8, 30], [150, 90, 60, 12, -50], [90, 200, 30, 6, 75.5], [20, 30, 9, 4, 400]])


def test_sound_boxes() -> None:
    assert diagnose(rotated(ROWS), image_size=(300, 300)).ok
    assert diagnose(rotated(ROWS).convert(unit="radians").canonical(), image_size=(300, 300)).ok


def test_degrees_said_to_be_radians() -> None:
    finding = found(rotated(ROWS, unit="radians"))["degrees"]
    assert finding.rows == (0, 1, 2, 3)
    assert "degrees" not in found(rotated(ROWS))


def test_radians_said_to_be_degrees() -> None:
    numbers = rotated(ROWS).canonical().convert(unit="radians").numpy()
    finding = found(rotated(numbers))["radians"]
    assert "no angle of 4 boxes is beyond 2 pi degrees" in finding.message
    assert finding.hint == "pass unit='radians' if these are radians"
    numbers[:, 4] = [0, 1, 2, 3]
    assert "radians" not in found(rotated(numbers)), "whole degrees may be small"
    assert "radians" not in found(rotated(numbers[:2] + 0.1)), "two boxes tell too little"


def test_the_other_sense_shows_beside_a_reference() -> None:
    truth = rotated(ROWS)
    detections = rotated(ROWS + np.array([1, -1, 0.5, 0.5, 2]))
    assert "other_sense" not in found(detections, reference=truth)
    mistaken = rotated(detections.numpy(), sense="counterclockwise")
    finding = found(mistaken, reference=truth)["other_sense"]
    assert finding.rows == (0, 1, 2, 3)
    assert "if the angles are clockwise" in finding.message
    assert "other_sense" not in found(mistaken)
    assert "other_sense" not in found(mistaken, reference=truth[:0])


def test_what_any_boxes_are_asked() -> None:
    rows = [[50, 60, 0, 8, 30], [50, 60, 0, 8, 30], [500, 60, 10, 8, 30], [299, 100, 10, 8, 45]]
    codes = found(rotated(rows), (300, 300))
    assert codes["zero_size"].rows == (0, 1)
    assert codes["duplicate"].rows == (1,)
    assert codes["wholly_outside"].rows == (2,)
    assert codes["partly_outside"].rows == (3,)
