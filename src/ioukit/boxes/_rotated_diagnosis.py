"""What looks wrong with rotated boxes: what `diagnose` finds in any boxes, and what their angles tell."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.boxes.diagnosis import Diagnosis, Finding, Severity, diagnose

if TYPE_CHECKING:
    from ioukit.boxes.rotated import RotatedBoxes

__all__ = ["rotated_diagnosis"]

# The numbers of the heuristics; the docstring of `RotatedBoxes.diagnose` says what they are for.
RADIANS_ROWS = 3
BETTER_IOU = 0.1


def rotated_diagnosis(
    boxes: RotatedBoxes, image_size: tuple[float, float] | None, reference: RotatedBoxes | None
) -> Diagnosis:
    """See `RotatedBoxes.diagnose`."""
    # In degrees an angle may have any number of turns; what is said to be radians should not.
    same = boxes.canonical("half") if boxes.unit == "degrees" else boxes
    numbers = same.convert(unit="radians", sense="clockwise").numpy()
    found = list(diagnose(numbers, "cxcywh", image_size=image_size).findings)
    found += [finding for finding in (_radians(boxes), _other_sense(boxes, reference)) if finding is not None]
    order: list[Severity] = ["error", "warning", "note"]
    return Diagnosis(tuple(sorted(found, key=lambda finding: order.index(finding.severity))), len(boxes))


def _radians(boxes: RotatedBoxes) -> Finding | None:
    angles = boxes.angle
    small = bool((np.abs(angles) <= 2 * math.pi).all())
    if boxes.unit != "degrees" or len(boxes) < RADIANS_ROWS or not small or bool((angles % 1 == 0).all()):
        return None
    rows = tuple(np.flatnonzero(angles).tolist())
    says = f"no angle of {len(boxes):,} boxes is beyond 2 pi degrees, and some are no whole degrees"
    return Finding("radians", "warning", says, "say unit='radians', if that is what they are", rows)


def _other_sense(boxes: RotatedBoxes, reference: RotatedBoxes | None) -> Finding | None:
    if reference is None or not len(boxes) or not len(reference):
        return None
    other = "clockwise" if boxes.sense == "counterclockwise" else "counterclockwise"
    flipped = type(boxes)(boxes.numpy(), unit=boxes.unit, sense=other)  # type: ignore[arg-type]
    as_said, as_flipped = (
        _core.rotated_pairwise("iou", one._native(), reference._native(), 0).max(axis=1) for one in (boxes, flipped)
    )
    if as_flipped.mean() < as_said.mean() + BETTER_IOU:
        return None
    rows = tuple(np.flatnonzero(as_flipped > as_said).tolist())
    says = (
        f"the mean IoU with the best of the reference is {as_said.mean():.2f}, "
        f"and {as_flipped.mean():.2f} if the angles are {other}"
    )
    return Finding("other_sense", "warning", says, f"one of the two may be wrong: say sense={other!r} of one", rows)
