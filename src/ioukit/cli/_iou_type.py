"""What `ioukit eval` compares if no option says it: the files decide where they leave no doubt."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.datasets.columns._regions import bounding_boxes, region_sets
from ioukit.datasets.columns.lazy import ValuesOfFiles
from ioukit.evaluation.kinds import REGION_KINDS
from ioukit.evaluation.protocols import PROTOCOLS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ioukit.datasets import Detections, GroundTruth

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


def chosen_iou_type(gt: GroundTruth, dt: Detections, protocol: str | None) -> tuple[str, str]:
    """The kind of region to compare, and a line that says why; the line is empty if only boxes can be compared.

    Args:
        gt: The ground truth.
        dt: The detections.
        protocol: The name that was given as ``--protocol``; ``None`` if none was given.
    """
    words = dict.fromkeys(_KINDS[column][1] for column in dt.regions if column in _KINDS)
    both = _columns(gt.regions) & _columns(dt.regions)
    possible = {kind: word for column, (kind, word) in _KINDS.items() if column in both and kind}
    fixed = _kind_of(protocol)
    if fixed in possible:
        return fixed, f"iou type: {fixed} (the protocol {protocol} compares {fixed})"
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


def _kind_of(protocol: str | None) -> str:
    """The kind that a protocol is the default of; empty if there is none, or more than one."""
    if protocol is None or protocol.lower() not in PROTOCOLS:
        return ""
    rules = PROTOCOLS[protocol.lower()]
    kinds = [kind.name for kind in REGION_KINDS.values() if kind.protocol is rules]
    return kinds[0] if len(kinds) == 1 else ""


def _lacks_boxes(dt: Detections) -> bool:
    """Whether the boxes are those around the regions, because the records have none.

    Readers take boxes and areas from the regions together.
    """
    if dt.areas is None:
        return False
    return not region_sets(dt.regions) or np.array_equal(dt.boxes, bounding_boxes(dt.regions, dt.source))
