"""Outlines of boxes and polygons, and discs of keypoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.drawing import _raster
from ioukit.compat.docsaidkit.drawing._canvas import (
    GREEN,
    canvas,
    colors_of,
    in_image,
    in_pixels,
    thicknesses_of,
    truncated,
)
from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.structures.modes import BoxMode
from ioukit.compat.docsaidkit.structures.prepare import prepare_box, prepare_boxes, prepare_polygon, prepare_polygons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Color, Image
    from ioukit.compat.docsaidkit.structures.box_and_polygon import Box, Polygon
    from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Boxes, Polygons

__all__ = ["draw_box", "draw_boxes", "draw_keypoints", "draw_keypoints_list", "draw_polygon", "draw_polygons"]


def draw_box(img: Image, box: Box | ArrayLike, color: Color = GREEN, thickness: int = 2) -> Image:
    """The image with the outline of a box; a thickness of -1 fills the box.

    Args:
        img: (H, W) or (H, W, C) uint8; it does not change.
        box: A `Box`, or 4 numbers as xyxy.
        color: One number for each channel.
        thickness: Thickness of the lines in pixels.
    """
    painted = canvas(img)
    made = prepare_box(box)
    x1, y1, x2, y2 = truncated(in_pixels(made, painted).convert(BoxMode.XYXY).numpy()).tolist()
    _outline(painted, np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]), color, thickness, thickness < 0)
    return painted


def draw_boxes(
    img: Image, boxes: Boxes | Sequence[Any], color: Color | Sequence[Color] = GREEN, thickness: int | Sequence[int] = 2
) -> Image:
    """The image with the outlines of boxes; see `draw_box`. Colour and thickness are one for all, or one per box."""
    made = prepare_boxes(boxes)
    painted = canvas(img)
    for box, one, width in zip(made, colors_of(color, len(made)), thicknesses_of(thickness, len(made)), strict=True):
        painted = draw_box(painted, box, one, width)
    return painted


def draw_polygon(
    img: Image, polygon: Polygon | ArrayLike, color: Color = GREEN, thickness: int = 2, fillup: bool = False
) -> Image:
    """The image with the outline of a polygon; with ``fillup``, the polygon is filled. See `draw_box`."""
    painted = canvas(img)
    points = truncated(in_pixels(prepare_polygon(polygon), painted).numpy())
    _outline(painted, points, color, thickness, fillup or thickness < 0)
    return painted


def draw_polygons(
    img: Image,
    polygons: Polygons | Sequence[Any],
    color: Color | Sequence[Color] = GREEN,
    thickness: int | Sequence[int] = 2,
    fillup: bool = False,
) -> Image:
    """The image with many polygons; see `draw_polygon`. Colour and thickness are one for all, or one per polygon."""
    made = prepare_polygons(polygons)
    painted = canvas(img)
    for polygon, one, width in zip(
        made, colors_of(color, len(made)), thicknesses_of(thickness, len(made)), strict=True
    ):
        painted = draw_polygon(painted, polygon, one, width, fillup)
    return painted


def draw_keypoints(img: Image, keypoints: Keypoints | ArrayLike, scale: float = 1.0, thickness: int = -1) -> Image:
    """The image with a coloured disc at every point whose visibility is not 0.

    Args:
        img: (H, W, 3) uint8; it does not change.
        keypoints: `Keypoints`, or numbers (K, 2) or (K, 3). Their colours are (red, green, blue); they are drawn in the
            order blue, green, red.
        scale: A factor of the radius, which is a hundredth of the shorter side of the image and at least 2 pixels.
        thickness: -1 draws discs; any other number draws rings of this thickness.
    """
    painted = canvas(img)
    made = keypoints if isinstance(keypoints, Keypoints) else Keypoints(keypoints)
    radius = max(min(painted.shape[:2]) / 100, 2.0) * scale
    for point, color in zip(in_pixels(made, painted).numpy(), made.point_colors, strict=True):
        if len(point) == 3 and point[2] == 0:
            continue
        x, y = truncated(point[:2]).tolist()
        shown = color[::-1] if painted.ndim == 3 else int(sum(color) / 3)
        if thickness < 0:
            _raster.disc(painted, (x, y), radius, shown)
        else:
            turn = np.linspace(0, 2 * np.pi, 24, endpoint=False)
            ring = np.stack([x + radius * np.cos(turn), y + radius * np.sin(turn)], axis=1)
            _outline(painted, ring, shown, thickness, False)
    return painted


def draw_keypoints_list(
    img: Image, keypoints_list: KeypointsList | Sequence[Any], scale: float = 1.0, thickness: int = -1
) -> Image:
    """The image with the keypoints of many objects; see `draw_keypoints`."""
    made = keypoints_list if isinstance(keypoints_list, KeypointsList) else KeypointsList(keypoints_list)
    painted = canvas(img)
    for keypoints in made:
        painted = draw_keypoints(painted, keypoints, scale, thickness)
    return painted


def _outline(image: NDArray[Any], points: NDArray[Any], color: Color, thickness: int, filled: bool) -> None:
    shown = in_image(color, image)
    if filled:
        _raster.fill(image, points, shown)
    for start, end in zip(points.tolist(), np.roll(points, -1, axis=0).tolist(), strict=True):
        _raster.segment(image, start, end, shown, 1 if filled else thickness)
