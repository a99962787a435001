"""Points, keypoints and lines."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.drawing import _raster
from ioukit.compat.docsaidkit.drawing._canvas import canvas, in_pixels, truncated
from ioukit.compat.docsaidkit.drawing.arguments import (
    prepare_color,
    prepare_colors,
    prepare_point,
    prepare_points,
    prepare_scale,
    prepare_scales,
    prepare_thickness,
    prepare_thicknesses,
)
from ioukit.compat.docsaidkit.drawing.shapes import GREEN
from ioukit.compat.docsaidkit.structures.prepare import prepare_keypoints, prepare_keypoints_list

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ioukit.compat.docsaidkit.drawing._canvas import Image
    from ioukit.compat.docsaidkit.drawing.arguments import Color
    from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList

__all__ = ["draw_keypoints", "draw_keypoints_list", "draw_line", "draw_point", "draw_points"]


def draw_point(
    img: Image, point: ArrayLike, scale: float = 1.0, color: Color | int = GREEN, thickness: int = -1
) -> Image:
    """The image with a disc at a point.

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8; it does not change.
        point: x and y in pixels.
        scale: A factor of the radius, which is 1 pixel and 0.002 of the square root of the number of pixels.
        color: Three integers, one for each channel, or one for all.
        thickness: -1 draws a disc; any other number draws a ring of this thickness.

    Returns:
        (H, W) for a grey image of two dimensions, else (H, W, 3).
    """
    painted = canvas(img)
    height, width = painted.shape[:2]
    radius = 1 + round(math.sqrt(height * width) * 0.002 * prepare_scale(scale))
    centre, shown, wide = prepare_point(point), prepare_color(color), prepare_thickness(thickness)
    if wide < 0:
        _raster.disc(painted, centre, radius, shown)
    else:
        _raster.ring(painted, centre, radius, shown, wide)
    return painted[..., 0] if img.ndim == 2 else painted


def draw_points(
    img: Image,
    points: Sequence[Any] | ArrayLike,
    scales: float | Sequence[float] = 1.0,
    colors: Color | int | Sequence[Color | int] = GREEN,
    thicknesses: int | Sequence[int] = -1,
) -> Image:
    """(H, W, 3) the image with many points; see `draw_point`. All options are one for all points, or one per point."""
    painted = canvas(img)
    places = prepare_points(points)
    styles = prepare_scales(scales, len(places)), prepare_colors(colors, len(places))
    for place, scale, color, wide in zip(places, *styles, prepare_thicknesses(thicknesses, len(places)), strict=True):
        painted = draw_point(painted, place, scale, color, wide)
    return painted


def draw_keypoints(img: Image, keypoints: Keypoints | ArrayLike, scale: float = 1.0, thickness: int = -1) -> Image:
    """(H, W, 3) the image with a coloured disc at every point whose visibility is not 0.

    Args:
        img: The image; it does not change.
        keypoints: `Keypoints`, or numbers (K, 2) or (K, 3). As upstream, ``point_colors`` are drawn in the order of the
            channels of the image, so red is blue in an image that OpenCV read.
        scale: A factor of the radius, as in `draw_point`.
        thickness: As in `draw_point`.
    """
    painted = canvas(img)
    made = prepare_keypoints(keypoints)
    for point, color in zip(in_pixels(made, painted).numpy(), made.point_colors, strict=True):
        if len(point) == 2 or point[2] != 0:
            painted = draw_point(painted, truncated(point[:2]), scale, color, thickness)
    return painted


def draw_keypoints_list(
    img: Image,
    keypoints_list: KeypointsList | Sequence[Any],
    scales: float | Sequence[float] = 1.0,
    thicknesses: int | Sequence[int] = -1,
) -> Image:
    """(H, W, 3) the image with the keypoints of many objects; see `draw_keypoints`.

    Scales and thicknesses are one for all objects, or one per object.
    """
    painted = canvas(img)
    made = prepare_keypoints_list(keypoints_list)
    styles = prepare_scales(scales, len(made)), prepare_thicknesses(thicknesses, len(made))
    for keypoints, scale, thickness in zip(made, *styles, strict=True):
        painted = draw_keypoints(painted, keypoints, scale, thickness)
    return painted


def draw_line(
    img: Image,
    pt1: ArrayLike,
    pt2: ArrayLike,
    color: Color | int = GREEN,
    thickness: int = 1,
    style: str = "dotted",
    gap: int = 20,
    inplace: bool = False,
) -> Image:
    """The image with a dotted or dashed line.

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8.
        pt1: x and y of the first end.
        pt2: x and y of the other end.
        color: Three integers, one for each channel, or one for all.
        thickness: The radius of the dots, or the thickness of the dashes, in pixels.
        style: ``"dotted"``, or ``"line"`` for dashes.
        gap: Pixels from dot to dot, and the length of a dash and of the space behind it.
        inplace: Whether the line is drawn into ``img`` itself, which must be (H, W, 3).

    Raises:
        ValueError: If the style is unknown, the gap is not positive, or ``inplace`` is set for a grey image.
    """
    painted = canvas(img)
    if style not in ("dotted", "line"):
        raise ValueError(f"Unknown style: {style!r}; choose from dotted, line")
    if int(gap) <= 0:
        raise ValueError(f"gap must be at least 1, got {gap}")
    if inplace and img.shape != painted.shape:
        raise ValueError(f"only an image of shape (H, W, 3) can be drawn in place, got {img.shape}")
    (x1, y1), (x2, y2) = prepare_point(pt1), prepare_point(pt2)
    shown, wide = prepare_color(color), prepare_thickness(thickness)
    length = math.hypot(x2 - x1, y2 - y1)
    shares = np.arange(0, length, int(gap)) / length if length else np.zeros(1)
    places = [(int(x1 + (x2 - x1) * share + 0.5), int(y1 + (y2 - y1) * share + 0.5)) for share in shares.tolist()]
    if style == "dotted" or not length:
        for place in places:
            _raster.disc(painted, place, abs(wide), shown)
    else:
        for start, end in zip(places[::2], places[1::2], strict=False):
            _raster.segment(painted, start, end, shown, wide)
    if not inplace:
        return painted
    img[...] = painted
    return img
