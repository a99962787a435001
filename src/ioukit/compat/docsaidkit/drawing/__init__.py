"""Boxes, polygons, keypoints and detections drawn into images.

Every function returns a new image. Colours have the channel order of the image, which is BGR if OpenCV read it.
Coordinates are truncated to whole pixels, as upstream. Structures in the unit of the image are first brought to its
size. NumPy draws the lines, and OpenCV does upstream, so single pixels at their borders differ. Labels need Pillow
(extra ``plots``).
"""

from ioukit.compat.docsaidkit.drawing.detections import draw_detection, draw_detections
from ioukit.compat.docsaidkit.drawing.shapes import (
    draw_box,
    draw_boxes,
    draw_keypoints,
    draw_keypoints_list,
    draw_polygon,
    draw_polygons,
)

__all__ = [
    "draw_box",
    "draw_boxes",
    "draw_detection",
    "draw_detections",
    "draw_keypoints",
    "draw_keypoints_list",
    "draw_polygon",
    "draw_polygons",
]
