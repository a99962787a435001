"""What looks wrong with boxes in space: what their sides and angles tell, and what a reference does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit.diagnosis import _shared as shared
from ioukit.diagnosis.findings import Collector
from ioukit.diagnosis.rotated import best_rotated

if TYPE_CHECKING:
    from ioukit.diagnosis.findings import Diagnosis
    from ioukit.regions.boxes3d import Boxes3D
    from ioukit.typing import FloatArray

__all__ = ["diagnose_boxes3d"]


def diagnose_boxes3d(boxes: Boxes3D, *, reference: Boxes3D | None = None) -> Diagnosis:
    """Findings about boxes in space.

    - ``zero_size``: a side of 0, so no volume. ``duplicate``: all numbers equal those of an earlier row.
    - ``degrees``: declared as radians, and an angle is beyond 2 pi in magnitude.
    - ``radians``: declared as degrees, of 3 boxes or more, no angle is beyond 2 pi, and one has a fraction.
    - ``other_sense``: with the other sense, the mean over these boxes of the best IoU with a box of the reference, seen
      from above, is better by 0.1 or more.
    - ``other_z``: with the other meaning of z, the mean of the best IoU in space is better by 0.1 or more. Boxes whose
      sense is found to be another are compared with that sense.

    One set alone tells neither its sense nor its z.

    Args:
        boxes: The boxes.
        reference: Boxes that these should overlap, such as the ground truth of their scene.

    Raises:
        TypeError: If the reference is no `Boxes3D`.
    """
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
