"""What looks wrong with rotated boxes and 3-D boxes: the rules of upright boxes, and rules of their angles."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ioukit.checks.diagnosis._common_rules import duplicates, repeated_rows
from ioukit.checks.diagnosis.boxes import collect
from ioukit.checks.diagnosis.findings import Code, Collector

if TYPE_CHECKING:
    from collections.abc import Callable

    from ioukit.checks.diagnosis.findings import Diagnosis, Mask
    from ioukit.regions._turned import TurnedBoxes
    from ioukit.regions.boxes3d import Boxes3D
    from ioukit.regions.regions import Regions
    from ioukit.regions.rotated import RotatedBoxes
    from ioukit.typing import AngleSense, AngleUnit, FloatArray

    Turned = TypeVar("Turned", bound=TurnedBoxes)


# Choices, which the docstrings of the two functions state; no measurement stands behind them.
RADIANS_ROWS = 3
BETTER_IOU = 0.1

PAIRS_AT_ONCE = 1 << 22  # float64: 32 MiB of overlaps


def diagnose_rotated(
    boxes: RotatedBoxes, *, image_size: tuple[float, float] | None = None, reference: RotatedBoxes | None = None
) -> Diagnosis:
    """Findings about rotated boxes: those of upright boxes, and findings about the angles.

    The rules for sizes, units, places and duplicates are those of upright boxes. The rules for places use the upright
    boxes around the rotated ones.

    - ``degrees``: the boxes are declared as radians, and an angle is beyond 2 pi in magnitude.
    - ``radians``: at least 3 boxes are declared as degrees, no angle is beyond 2 pi, and one is not a whole number.
    - ``other_sense``: with the other sense, the mean of the best IoU with a box of the reference is higher by at least
      0.1. Without a reference, the sense cannot be checked.

    Args:
        boxes: The boxes.
        image_size: (width, height) in pixels, if all boxes are from images of one size.
        reference: Boxes that these should overlap, such as the ground truth of the image.

    Raises:
        TypeError: If the reference is not `RotatedBoxes`.
    """
    _check_reference(boxes, reference)
    # Angles in degrees may be more than a whole turn. Such angles in radians are reported.
    same = boxes.canonical("half") if boxes.unit == "degrees" else boxes
    found = collect(same.convert(unit="radians", sense="clockwise").numpy(), "cxcywh", image_size=image_size)
    _find_angle_units(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        _find_sense(found, boxes, reference, _best_overlaps)
    return found.diagnosis()


def diagnose_boxes3d(boxes: Boxes3D, *, reference: Boxes3D | None = None) -> Diagnosis:
    """Findings about boxes in space.

    - ``zero_size``: a side is 0, so there is no volume.
    - ``duplicate``: all numbers equal those of an earlier row.
    - ``degrees``: the boxes are declared as radians, and an angle is beyond 2 pi in magnitude.
    - ``radians``: at least 3 boxes are declared as degrees, no angle is beyond 2 pi, and one is not a whole number.
    - ``other_sense``: with the other sense, the mean of the best IoU with a box of the reference, seen from above, is
      higher by at least 0.1.
    - ``other_z``: with the other meaning of z, the mean of the best IoU in space is higher by at least 0.1. If
      ``other_sense`` was found, the boxes are compared with the other sense.

    Without a reference, neither the sense nor z can be checked.

    Args:
        boxes: The boxes.
        reference: Boxes that these should overlap, such as the ground truth of the scene.

    Raises:
        TypeError: If the reference is not `Boxes3D`.
    """
    _check_reference(boxes, reference)
    found = Collector(len(boxes), "box")
    hint = "drop them: IoU with them is 0 (Boxes3D.drop_empty)"
    found.add("zero_size", "warning", boxes.is_empty, "have a side of 0", hint)
    _find_angle_units(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        # Seen from above, the sense can be checked first, because heights do not matter.
        _find_z(found, _find_sense(found, boxes, reference, _best_from_above), reference)
    duplicates(found, repeated_rows(boxes.numpy(), np.ones(len(boxes), np.bool_)))
    return found.diagnosis()


def _find_z(found: Collector, boxes: Boxes3D, reference: Boxes3D) -> None:
    """Adds ``other_z``."""
    other = "bottom" if boxes.z == "centre" else "centre"
    moved = boxes._with(boxes.numpy(), z=other)
    hint = f"one of the two sets may have the wrong z: pass z={other!r} for it"
    _fitting(found, "other_z", (boxes, moved), reference, _best_overlaps, f"z is that of the {other}", hint)


def _best_from_above(boxes: Boxes3D, reference: Boxes3D) -> FloatArray:
    return _best_overlaps(boxes.to_bird_eye(), reference.to_bird_eye())


def in_other_unit(boxes: Turned) -> tuple[Turned, Mask] | None:
    """The boxes with the numbers of their angles in the other unit, if they look so, and (N,) which angles show it."""
    small = np.abs(boxes.angle) <= 2 * math.pi
    other: AngleUnit
    if boxes.unit == "radians":
        other, rows = "degrees", ~small
    else:
        looks_so = len(boxes) >= RADIANS_ROWS and small.all() and (boxes.angle % 1 != 0).any()
        other, rows = "radians", (boxes.angle != 0) & looks_so
    return (boxes._with(boxes.numpy(), unit=other), rows) if rows.any() else None


def in_other_sense(boxes: Turned) -> Turned:
    """The boxes with the numbers of their angles in the other sense."""
    other: AngleSense = "clockwise" if boxes.sense == "counterclockwise" else "counterclockwise"
    return boxes._with(boxes.numpy(), sense=other)


def _find_angle_units(found: Collector, boxes: TurnedBoxes) -> None:
    """Adds ``degrees`` for degrees that are declared as radians, or ``radians`` for the opposite."""
    reading = in_other_unit(boxes)
    if reading is None:
        return
    other, rows = reading
    if other.unit == "degrees":
        found.add("degrees", "warning", rows, "have an angle beyond 2 pi", "pass unit='degrees' if these are degrees")
    else:
        says = f"no angle of {len(boxes):,} boxes is beyond 2 pi degrees, and some are not whole numbers"
        found.state("radians", "warning", rows, says, "pass unit='radians' if these are radians")


def _check_reference(boxes: Regions, reference: object) -> None:
    """Raises `TypeError` for a reference of another kind."""
    if reference is not None and not isinstance(reference, type(boxes)):
        raise TypeError(f"reference must be {type(boxes).__name__} like the boxes, got {type(reference).__name__}")


def _best_overlaps(regions: Regions, reference: Regions) -> FloatArray:
    """(N,) the IoU of each region with the best one of the reference, which is not empty."""
    from ioukit.overlap.pairwise import pairwise_iou  # noqa: PLC0415 - only needed with a reference

    step = max(1, PAIRS_AT_ONCE // len(reference))
    blocks = (regions[row : row + step] for row in range(0, len(regions), step))
    return np.concatenate([pairwise_iou(block, reference).max(axis=1) for block in blocks])


def _find_sense(
    found: Collector, boxes: Turned, reference: Turned, best: Callable[[Turned, Turned], FloatArray]
) -> Turned:
    """Adds ``other_sense``, and returns the boxes with the sense that fits the reference, which is not empty."""
    flipped = in_other_sense(boxes)
    hint = f"one of the two sets may have the wrong sense: pass sense={flipped.sense!r} for it"
    return _fitting(found, "other_sense", (boxes, flipped), reference, best, f"the angles are {flipped.sense}", hint)


def _fitting(
    found: Collector,
    code: Code,
    readings: tuple[Turned, Turned],
    reference: Turned,
    best: Callable[[Turned, Turned], FloatArray],
    condition: str,
    hint: str,
) -> Turned:
    """The second reading of the boxes if it overlaps the reference clearly better, which is a finding; else the first.

    Args:
        found: Where the finding is added.
        code: Its code.
        readings: The boxes as given, and read in another way.
        reference: Boxes of the same kind, not empty.
        best: From boxes and the reference to (N,) best overlaps.
        condition: The other way, in words behind "if".
        hint: How to fix it.
    """
    as_given, as_other = (best(boxes, reference) for boxes in readings)
    if as_other.mean() < as_given.mean() + BETTER_IOU:
        return readings[0]
    means = f"is {as_given.mean():.2f}, and {as_other.mean():.2f} if {condition}"
    found.state(code, "warning", as_other > as_given, f"the mean of the best IoU with the reference {means}", hint)
    return readings[1]
