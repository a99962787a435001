"""Outlines of boxes and polygons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.drawing import _raster
from ioukit.compat.docsaidkit.drawing._canvas import canvas, in_pixels, truncated
from ioukit.compat.docsaidkit.drawing.arguments import (
    prepare_color,
    prepare_colors,
    prepare_thickness,
    prepare_thicknesses,
)
from ioukit.compat.docsaidkit.structures.modes import BoxMode
from ioukit.compat.docsaidkit.structures.prepare import prepare_box, prepare_boxes, prepare_polygon, prepare_polygons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Image
    from ioukit.compat.docsaidkit.drawing.arguments import Color
    from ioukit.compat.docsaidkit.structures.box_and_polygon import Box, Polygon
    from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Boxes, Polygons

__all__ = ["draw_box", "draw_boxes", "draw_polygon", "draw_polygons"]

GREEN: Color = (0, 255, 0)


def draw_box(img: Image, box: Box | ArrayLike, color: Color | int = GREEN, thickness: int = 2) -> Image:
    """The image with the outline of a box.

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8; it does not change.
        box: A `Box`, or 4 numbers as xyxy.
        color: Three integers, one for each channel, or one for all.
        thickness: Thickness of the lines in pixels; -1 fills the box.

    Returns:
        (H, W, 3) uint8.
    """
    painted = canvas(img)
    shown, width = prepare_color(color), prepare_thickness(thickness)
    x1, y1, x2, y2 = truncated(in_pixels(prepare_box(box), painted).convert(BoxMode.XYXY).numpy()).tolist()
    _outline(painted, np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]), shown, width, width < 0)
    return painted


def draw_boxes(
    img: Image,
    boxes: Boxes | Sequence[Any],
    colors: Color | int | Sequence[Color | int] = GREEN,
    thicknesses: int | Sequence[int] = 2,
    *,
    color: Color | int | Sequence[Color | int] | None = None,
    thickness: int | Sequence[int] | None = None,
) -> Image:
    """The image with the outlines of boxes; see `draw_box`.

    Args:
        img: The image; it does not change.
        boxes: `Boxes`, or a list of boxes.
        colors: One colour for all boxes, or one per box.
        thicknesses: One thickness for all boxes, or one per box.
        color: The name of ``colors`` in DocsaidKit.
        thickness: The name of ``thicknesses`` in DocsaidKit.
    """
    made = prepare_boxes(boxes)
    painted = canvas(img)
    for box, (one, width) in zip(made, _styles(colors, thicknesses, color, thickness, len(made)), strict=True):
        painted = draw_box(painted, box, one, width)
    return painted


def draw_polygon(
    img: Image, polygon: Polygon | ArrayLike, color: Color | int = GREEN, thickness: int = 2, fillup: bool = False
) -> Image:
    """The image with the outline of a polygon; with ``fillup``, the polygon is filled. See `draw_box`."""
    painted = canvas(img)
    shown, width = prepare_color(color), prepare_thickness(thickness)
    points = truncated(in_pixels(prepare_polygon(polygon), painted).numpy())
    _outline(painted, points, shown, width, fillup or width < 0)
    return painted


def draw_polygons(
    img: Image,
    polygons: Polygons | Sequence[Any],
    colors: Color | int | Sequence[Color | int] = GREEN,
    thicknesses: int | Sequence[int] = 2,
    fillup: bool = False,
    *,
    color: Color | int | Sequence[Color | int] | None = None,
    thickness: int | Sequence[int] | None = None,
) -> Image:
    """The image with many polygons; see `draw_polygon`, and `draw_boxes` for colours and thicknesses."""
    made = prepare_polygons(polygons)
    painted = canvas(img)
    for polygon, (one, width) in zip(made, _styles(colors, thicknesses, color, thickness, len(made)), strict=True):
        painted = draw_polygon(painted, polygon, one, width, fillup)
    return painted


def _styles(colors: Any, thicknesses: Any, color: Any, thickness: Any, count: int) -> list[tuple[Color, int]]:
    """Colour and thickness of each shape; DocsaidKit's names replace Capybara's."""
    each = prepare_colors(colors if color is None else color, count)
    return list(zip(each, prepare_thicknesses(thicknesses if thickness is None else thickness, count), strict=True))


def _outline(image: NDArray[Any], points: NDArray[Any], color: Color, thickness: int, filled: bool) -> None:
    if filled:
        _raster.fill(image, points, color)
    for start, end in zip(points.tolist(), np.roll(points, -1, axis=0).tolist(), strict=True):
        _raster.segment(image, start, end, color, 1 if filled else thickness)
