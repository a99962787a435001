"""What looks wrong with boxes in space: what their sides and angles tell, and what a reference does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.boxes import _shared_diagnosis as shared
from ioukit.boxes._rotated_diagnosis import best_rotated
from ioukit.boxes.findings import Collector

if TYPE_CHECKING:
    from ioukit.boxes.boxes3d import Boxes3D
    from ioukit.boxes.findings import Diagnosis
    from ioukit.typing import FloatArray

__all__ = ["diagnose_boxes3d"]


def diagnose_boxes3d(boxes: Boxes3D, reference: Boxes3D | None) -> Diagnosis:
    """See `Boxes3D.diagnose`."""
    shared.check_reference(boxes, reference)
    found = Collector(len(boxes), "box")
    hint = "drop them: IoU with them is 0 (Boxes3D.drop_empty)"
    found.add("zero_size", "warning", boxes.is_empty, "have a side of 0", hint)
    shared.angles(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        # Seen from above, the sense shows whatever the heights are.
        likely = shared.senses(found, boxes, reference, _best_from_above)
        _other_z(found, likely, reference)
    shared.duplicates(found, shared.repeated_rows(boxes.numpy(), np.ones(len(boxes), np.bool_)))
    return found.diagnosis()


def _other_z(found: Collector, boxes: Boxes3D, reference: Boxes3D) -> None:
    other = "bottom" if boxes.z == "centre" else "centre"
    moved = boxes._with(boxes.numpy(), z=other)
    as_said, as_moved = _best(boxes, reference), _best(moved, reference)
    if as_moved.mean() < as_said.mean() + shared.BETTER_IOU:
        return
    says = (
        f"the mean IoU with the best of the reference is {as_said.mean():.2f}, "
        f"and {as_moved.mean():.2f} if z is that of the {other}"
    )
    found.state("other_z", "warning", as_moved > as_said, says, f"one of the two may be wrong: say z={other!r} of one")


def _best(boxes: Boxes3D, reference: Boxes3D) -> FloatArray:
    """(N,) the IoU of each with the best of the reference."""
    return shared.best_overlaps(
        boxes, reference, lambda some, others: _core.boxes3d_pairwise("iou", some._native(), others._native(), 0)
    )


def _best_from_above(boxes: Boxes3D, reference: Boxes3D) -> FloatArray:
    return best_rotated(boxes.to_bird_eye(), reference.to_bird_eye())
