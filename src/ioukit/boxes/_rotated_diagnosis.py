"""What looks wrong with rotated boxes: what may be wrong with any boxes, and what their angles tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit import _core
from ioukit.boxes import _shared_diagnosis as shared
from ioukit.boxes._box_diagnosis import collect

if TYPE_CHECKING:
    from ioukit.boxes.findings import Diagnosis
    from ioukit.boxes.rotated import RotatedBoxes
    from ioukit.typing import FloatArray

__all__ = ["best_rotated", "diagnose_rotated"]


def diagnose_rotated(
    boxes: RotatedBoxes, image_size: tuple[float, float] | None, reference: RotatedBoxes | None
) -> Diagnosis:
    """See `RotatedBoxes.diagnose`."""
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
