"""Sets of regions: polygons, rotated boxes, boxes in space, masks, and kinds from outside."""

from __future__ import annotations

import numpy as np

from ioukit.evaluation.outlines.masks import traced_masks
from ioukit.evaluation.outlines.outline import Outline, Outlines, corner_outlines
from ioukit.regions.boxes import Boxes
from ioukit.regions.boxes3d import Boxes3D
from ioukit.regions.masks import Masks
from ioukit.regions.polygons import Polygons
from ioukit.regions.regions import Regions
from ioukit.regions.rotated import RotatedBoxes

_HEADING = 0.15  # how far the line of the heading reaches beyond the front, as a part of the length


def region_outlines(regions: Regions) -> Outlines:
    """The outlines of a set of regions.

    Rotated boxes and polygons are drawn as they are, masks along the sides of their pixels, and boxes in space from
    above, with a line from the centre to the front. Other kinds of regions are drawn as the upright boxes around them.
    """
    if isinstance(regions, Masks):
        return traced_masks(regions)
    if isinstance(regions, Boxes3D):
        return _from_above(regions)
    if isinstance(regions, RotatedBoxes):
        return Outlines(tuple(Outline((ring,)) for ring in regions.corners()))
    if isinstance(regions, Polygons):
        return Outlines(tuple(Outline((np.asarray(ring, np.float64),)) for ring in regions.points()))
    boxes = regions if isinstance(regions, Boxes) else regions.to_boxes()
    return corner_outlines(np.asarray(Boxes(boxes, "xyxy").numpy(), np.float64))


def _from_above(boxes: Boxes3D) -> Outlines:
    """Rectangles on the ground, in the plane of x and y, with a line from the centre to just beyond the front."""
    rows = boxes.convert(unit="radians", sense="counterclockwise").numpy().astype(np.float64)
    centre, length, yaw = rows[:, :2], rows[:, 3], rows[:, 6]
    forward = np.stack([np.cos(yaw), np.sin(yaw)], axis=1) * length[:, None]
    headings = np.stack([centre, centre + (0.5 + _HEADING) * forward], axis=1)
    rings = zip(boxes.to_bird_eye().corners(), headings, strict=True)
    return Outlines(tuple(Outline((ring,), heading[None]) for ring, heading in rings), view="ground")
