"""What looks wrong with rotated boxes: what may be wrong with any boxes, and what their angles tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import _core
from ioukit.diagnosis import _shared as shared
from ioukit.diagnosis.boxes import collect

if TYPE_CHECKING:
    from ioukit.diagnosis.findings import Diagnosis
    from ioukit.regions.rotated import RotatedBoxes
    from ioukit.typing import FloatArray

__all__ = ["best_rotated", "diagnose_rotated"]


def diagnose_rotated(
    boxes: RotatedBoxes, *, image_size: tuple[float, float] | None = None, reference: RotatedBoxes | None = None
) -> Diagnosis:
    """Findings about rotated boxes: those about upright boxes, and what their angles tell.

    Sizes, units, places (by the upright boxes around them) and duplicates are judged as those of upright boxes.

    - ``degrees``: declared as radians, and an angle is beyond 2 pi in magnitude.
    - ``radians``: declared as degrees, of 3 boxes or more, no angle is beyond 2 pi, and one has a fraction.
    - ``other_sense``: with the other sense, the mean over these boxes of the best IoU with a box of the reference is
      better by 0.1 or more. One set alone does not tell its sense.

    Args:
        boxes: The boxes.
        image_size: (width, height) in pixels, if all are of images of one size.
        reference: Boxes that these should overlap, such as the ground truth of their image.

    Raises:
        TypeError: If the reference is no `RotatedBoxes`.
    """
    shared.check_reference(boxes, reference)
    # In degrees an angle may have any number of turns; what is said to be radians should not.
    same = boxes.canonical("half") if boxes.unit == "degrees" else boxes
    found = collect(same.convert(unit="radians", sense="clockwise").numpy(), "cxcywh", image_size=image_size)
    shared.angles(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        shared.senses(found, boxes, reference, best_rotated)
    return found.diagnosis()


def best_rotated(boxes: RotatedBoxes, reference: RotatedBoxes) -> FloatArray:
    """(N,) the IoU of each with the best of the reference."""
    return shared.best_overlaps(
        boxes, reference, lambda some, others: _core.rotated_pairwise("iou", some._native(), others._native(), 0)
    )
