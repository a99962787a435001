"""What looks wrong with boxes in space: rules of their sides and angles, and of their overlap with a reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.diagnosis import _common_rules as common
from ioukit.checks.diagnosis.findings import Collector

if TYPE_CHECKING:
    from ioukit.checks.diagnosis.findings import Diagnosis
    from ioukit.regions.boxes3d import Boxes3D
    from ioukit.typing import FloatArray

__all__ = ["diagnose_boxes3d"]


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
    common.check_reference(boxes, reference)
    found = Collector(len(boxes), "box")
    hint = "drop them: IoU with them is 0 (Boxes3D.drop_empty)"
    found.add("zero_size", "warning", boxes.is_empty, "have a side of 0", hint)
    common.angles(found, boxes)
    if reference is not None and len(boxes) and len(reference):
        # Seen from above, the sense can be checked first, because heights do not matter.
        likely = common.senses(found, boxes, reference, _best_from_above)
        _other_z(found, likely, reference)
    common.duplicates(found, common.repeated_rows(boxes.numpy(), np.ones(len(boxes), np.bool_)))
    return found.diagnosis()


def _other_z(found: Collector, boxes: Boxes3D, reference: Boxes3D) -> None:
    other = "bottom" if boxes.z == "centre" else "centre"
    moved = boxes._with(boxes.numpy(), z=other)
    as_given, as_moved = common.best_overlaps(boxes, reference), common.best_overlaps(moved, reference)
    if as_moved.mean() < as_given.mean() + common.BETTER_IOU:
        return
    says = (
        f"the mean of the best IoU with the reference is {as_given.mean():.2f}, "
        f"and {as_moved.mean():.2f} if z is that of the {other}"
    )
    hint = f"one of the two sets may have the wrong z: pass z={other!r} for it"
    found.state("other_z", "warning", as_moved > as_given, says, hint)


def _best_from_above(boxes: Boxes3D, reference: Boxes3D) -> FloatArray:
    return common.best_overlaps(boxes.to_bird_eye(), reference.to_bird_eye())
