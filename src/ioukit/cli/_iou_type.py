"""What `ioukit eval` compares if no option says it: the files decide where they leave no doubt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns._regions import bounding_boxes, region_sets
from ioukit.datasets.columns.lazy import ValuesOfFiles

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation import Protocol

__all__ = ["chosen_iou_type"]

# The kind that compares a column of regions, and the word for them. 3-D boxes have two kinds, so they leave a doubt.
_KINDS = {
    "segmentations": ("segm", "masks"),
    "Masks": ("segm", "masks"),
    "keypoints": ("keypoints", "keypoints"),
    "RotatedBoxes": ("rotated", "rotated boxes"),
    "Polygons": ("polygon", "polygons"),
    "Boxes3D": ("", "3-D boxes"),
}


def chosen_iou_type(gt: GroundTruth, dt: Detections, protocol: Protocol) -> tuple[str, str]:
    """The kind of region to compare, and a line that says why; the line is empty if only boxes can be compared.

    Args:
        gt: The ground truth.
        dt: The detections.
        protocol: The rules if boxes are compared.
    """
    words = dict.fromkeys(_KINDS[column][1] for column in dt.regions if column in _KINDS)
    both = _columns(gt.regions) & _columns(dt.regions)
    possible = {kind: word for column, (kind, word) in _KINDS.items() if column in both and kind}
    meant = [] if "bbox" in protocol.meant_for else [kind for kind in possible if kind in protocol.meant_for]
    if len(meant) == 1:
        return meant[0], f"iou type: {meant[0]} (the protocol {protocol.name} compares {possible[meant[0]]})"
    there = " and ".join(words)
    if _lacks_boxes(dt):
        if len(possible) == 1 and len(words) == 1:
            (kind,) = possible
            return kind, f"iou type: {kind} (the detections have {there} and no boxes)"
        why = f"the boxes around the {there or 'regions'}; --iou-type chooses another kind"
        if there and not possible and "3-D boxes" not in words:
            why = f"the boxes around the {there}; the ground truth has no {there} that can be read"
    else:
        options = ", ".join(f"--iou-type {kind} compares the {word}" for kind, word in possible.items())
        why = f"the detections have boxes and {there}; {options}" if possible else ""
    return "bbox", why and f"iou type: bbox ({why})"


def _columns(regions: Mapping[str, Any]) -> set[str]:
    """The columns that can be compared; masks have two forms that fit together."""
    found = {name for name, column in regions.items() if _can_be_read(column)}
    return found | ({"segmentations", "Masks"} if found & {"segmentations", "Masks"} else set())


def _can_be_read(column: Any) -> bool:
    """Whether values are in memory, or in files: a pipe was empty as soon as the boxes were read from it."""
    return not isinstance(column, ValuesOfFiles) or all(os.path.isfile(path) for path, _, _ in column.files())


def _lacks_boxes(dt: Detections) -> bool:
    """Whether the boxes are those around the regions, because the records have none.

    Readers take boxes and areas from the regions together.
    """
    if dt.areas is None:
        return False
    return not region_sets(dt.regions) or np.array_equal(dt.boxes, bounding_boxes(dt.regions, dt.source))
