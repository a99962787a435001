"""What looks wrong with rotated boxes: the rules of upright boxes, and rules of their angles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.checks.diagnosis import _common_rules as common
from ioukit.checks.diagnosis.boxes import collect

if TYPE_CHECKING:
    from ioukit.checks.diagnosis.findings import Diagnosis
    from ioukit.regions.rotated import RotatedBoxes

__all__ = ["diagnose_rotated"]


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
    common.check_reference(boxes, reference)
    # Angles in degrees may be more than a whole turn. Such angles in radians are reported.
    same = boxes.canonical("half") if boxes.unit == "degrees" else boxes
    found = collect(same.convert(unit="radians", sense="clockwise").numpy(), "cxcywh", image_size=image_size)
    common.angles(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        common.senses(found, boxes, reference, common.best_overlaps)
    return found.diagnosis()
