"""Boxes, polygons, points, keypoints, masks, text and detections drawn into images.

Every function returns a new image, of shape (H, W, 3). Colours have the channel order of the image, which is BGR if
OpenCV read it. Coordinates are truncated to whole pixels, as upstream. Structures in the unit of the image are first
brought to its size. NumPy draws the lines, and OpenCV does upstream, so single pixels at their borders differ. Text
needs Pillow (extra ``plots``), and `draw_mask` needs OpenCV (extra ``opencv``).
"""

from ioukit.compat.docsaidkit.drawing.arguments import (
    is_numpy_img,
    prepare_color,
    prepare_colors,
    prepare_img,
    prepare_point,
    prepare_points,
    prepare_scale,
    prepare_scales,
    prepare_thickness,
    prepare_thicknesses,
)
from ioukit.compat.docsaidkit.drawing.colors import generate_colors
from ioukit.compat.docsaidkit.drawing.detections import draw_detection, draw_detections
from ioukit.compat.docsaidkit.drawing.masks import draw_mask
from ioukit.compat.docsaidkit.drawing.points import (
    draw_keypoints,
    draw_keypoints_list,
    draw_line,
    draw_point,
    draw_points,
)
from ioukit.compat.docsaidkit.drawing.shapes import draw_box, draw_boxes, draw_polygon, draw_polygons
from ioukit.compat.docsaidkit.drawing.text import draw_text

__all__ = [
    "draw_box",
    "draw_boxes",
    "draw_detection",
    "draw_detections",
    "draw_keypoints",
    "draw_keypoints_list",
    "draw_line",
    "draw_mask",
    "draw_point",
    "draw_points",
    "draw_polygon",
    "draw_polygons",
    "draw_text",
    "generate_colors",
    "is_numpy_img",
    "prepare_color",
    "prepare_colors",
    "prepare_img",
    "prepare_point",
    "prepare_points",
    "prepare_scale",
    "prepare_scales",
    "prepare_thickness",
    "prepare_thicknesses",
]
