"""Boxes, polygons, keypoints and detections drawn into images.

Every function returns a new image. Colours are as the image has its channels (BGR where OpenCV read it). Coordinates
are truncated to whole pixels, as upstream; structures in the unit of the image are brought to its size first. Lines are
NumPy's and not OpenCV's, so that single pixels at their borders differ; labels need Pillow (extra ``plots``).
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat.docsaidkit import _raster
from ioukit.compat.docsaidkit.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.modes import BoxMode
from ioukit.compat.docsaidkit.prepare import prepare_box, prepare_boxes, prepare_polygon, prepare_polygons

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.box import Box
    from ioukit.compat.docsaidkit.boxes import Boxes
    from ioukit.compat.docsaidkit.polygon import Polygon
    from ioukit.compat.docsaidkit.polygons import Polygons

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

Image = Any  # NDArray[np.uint8], (H, W) or (H, W, C)
Color = tuple[int, ...] | list[int] | int
GREEN: Color = (0, 255, 0)


def draw_box(img: Image, box: Box | ArrayLike, color: Color = GREEN, thickness: int = 2) -> Image:
    """The outline of a box; filled if the thickness is -1.

    Args:
        img: (H, W) or (H, W, C) uint8; it stays as it is.
        box: A `Box`, or 4 numbers xyxy.
        color: One number for each channel.
        thickness: Of the lines, in pixels.
    """
    painted = _canvas(img)
    made = prepare_box(box)
    x1, y1, x2, y2 = _truncated(_in_pixels(made, painted).convert(BoxMode.XYXY).numpy()).tolist()
    _outline(painted, np.array([[x1, y1], [x2, y1], [x2, y2], [x1, y2]]), color, thickness, thickness < 0)
    return painted


def draw_boxes(
    img: Image, boxes: Boxes | Sequence[Any], color: Color | Sequence[Color] = GREEN, thickness: int | Sequence[int] = 2
) -> Image:
    """The outlines of boxes: as `draw_box`, with one colour and thickness for all or a list of them, one each."""
    made = prepare_boxes(boxes)
    painted = _canvas(img)
    for box, one, width in zip(made, _colors(color, len(made)), _thicknesses(thickness, len(made)), strict=True):
        painted = draw_box(painted, box, one, width)
    return painted


def draw_polygon(
    img: Image, polygon: Polygon | ArrayLike, color: Color = GREEN, thickness: int = 2, fillup: bool = False
) -> Image:
    """The outline of a polygon, or what it encloses if ``fillup``; otherwise as `draw_box`."""
    painted = _canvas(img)
    points = _truncated(_in_pixels(prepare_polygon(polygon), painted).numpy())
    _outline(painted, points, color, thickness, fillup or thickness < 0)
    return painted


def draw_polygons(
    img: Image,
    polygons: Polygons | Sequence[Any],
    color: Color | Sequence[Color] = GREEN,
    thickness: int | Sequence[int] = 2,
    fillup: bool = False,
) -> Image:
    """As `draw_polygon`, with one colour and thickness for all or a list of them, one each."""
    made = prepare_polygons(polygons)
    painted = _canvas(img)
    for polygon, one, width in zip(made, _colors(color, len(made)), _thicknesses(thickness, len(made)), strict=True):
        painted = draw_polygon(painted, polygon, one, width, fillup)
    return painted


def draw_keypoints(img: Image, keypoints: Keypoints | ArrayLike, scale: float = 1.0, thickness: int = -1) -> Image:
    """A disc in its own colour at every point whose visibility is not 0.

    Args:
        img: (H, W, 3) uint8; it stays as it is.
        keypoints: `Keypoints` or (K, 2 or 3) numbers. Their colours are red, green, blue; here they are blue first.
        scale: Of the discs, whose radius is a hundredth of the shorter side of the image, 2 pixels at least.
        thickness: Of a ring instead of a disc, if it is not -1.
    """
    painted = _canvas(img)
    made = keypoints if isinstance(keypoints, Keypoints) else Keypoints(keypoints)
    radius = max(min(painted.shape[:2]) / 100, 2.0) * scale
    for point, color in zip(_in_pixels(made, painted).numpy(), made.point_colors, strict=True):
        if len(point) == 3 and point[2] == 0:
            continue
        x, y = _truncated(point[:2]).tolist()
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
    """As `draw_keypoints`, of many objects."""
    made = keypoints_list if isinstance(keypoints_list, KeypointsList) else KeypointsList(keypoints_list)
    painted = _canvas(img)
    for keypoints in made:
        painted = draw_keypoints(painted, keypoints, scale, thickness)
    return painted


def draw_detection(
    img: Image,
    box: Box | ArrayLike,
    label: str,
    score: float | None = None,
    color: Color | None = None,
    thickness: int = 2,
) -> Image:
    """A box with its label, and its score if there is one, above its upper left corner; needs Pillow.

    Args:
        img: (H, W) or (H, W, 3) uint8; it stays as it is.
        box: A `Box`, or 4 numbers xyxy.
        label: The class.
        score: Shown as a percentage.
        color: By default one that belongs to the label.
        thickness: Of the lines, in pixels.
    """
    chosen = _color_of(label) if color is None else color
    painted = draw_box(img, box, chosen, thickness)
    text = label if score is None else f"{label} {score:.0%}"
    made = _in_pixels(prepare_box(box), painted)
    x, y = _truncated(made.left_top).tolist()
    return _write(painted, text, x, y, chosen)


def draw_detections(
    img: Image,
    boxes: Boxes | Sequence[Any],
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    color: Color | Sequence[Color] | None = None,
    thickness: int | Sequence[int] = 2,
) -> Image:
    """As `draw_detection`, of many.

    Raises:
        ValueError: If there are not as many labels, scores or colours as boxes.
    """
    made = prepare_boxes(boxes)
    for name, values in (("labels", labels), ("scores", scores)):
        if values is not None and len(values) != len(made):
            raise ValueError(f"{name} must be as many as boxes, got {len(values)} for {len(made)}")
    colors = [None] * len(made) if color is None else _colors(color, len(made))
    painted = _canvas(img)
    for row, box in enumerate(made):
        score = None if scores is None else scores[row]
        painted = draw_detection(painted, box, labels[row], score, colors[row], _thicknesses(thickness, len(made))[row])
    return painted


def _canvas(img: Image) -> NDArray[np.uint8]:
    """A copy to paint in."""
    if not isinstance(img, np.ndarray) or img.dtype != np.uint8 or img.ndim not in (2, 3):
        what = f"{img.dtype} of shape {img.shape}" if isinstance(img, np.ndarray) else type(img).__name__
        raise TypeError(f"img must be a uint8 array of shape (H, W) or (H, W, C), got {what}")
    return np.array(img)


def _in_pixels(structure: Any, image: NDArray[Any]) -> Any:
    height, width = image.shape[:2]
    return structure.denormalize(width, height) if structure.is_normalized else structure


def _truncated(numbers: NDArray[Any]) -> NDArray[np.int64]:
    """Whole pixels; what rounding leaves just below one counts as that one."""
    return np.asarray(np.round(numbers, 3).astype(np.int64))


def _colors(color: Any, count: int) -> list[Any]:
    one = np.isscalar(color) or all(np.isscalar(item) for item in color)
    return _each(color, count, "color", one=bool(one))


def _thicknesses(thickness: Any, count: int) -> list[Any]:
    return _each(thickness, count, "thickness", one=bool(np.isscalar(thickness)))


def _each(value: Any, count: int, name: str, *, one: bool) -> list[Any]:
    """One value for all, or a list of them, one each."""
    values = [value] * count if one else list(value)
    if len(values) != count:
        raise ValueError(f"{name} must be one for all or one each, got {len(values)} for {count}")
    return values


def _outline(image: NDArray[Any], points: NDArray[Any], color: Color, thickness: int, filled: bool) -> None:
    shown = color if image.ndim == 3 or isinstance(color, int) else int(np.mean(color))
    if filled:
        _raster.fill(image, points, shown)
    for start, end in zip(points.tolist(), np.roll(points, -1, axis=0).tolist(), strict=True):
        _raster.segment(image, start, end, shown, 1 if filled else thickness)


def _color_of(label: str) -> Color:
    """Always the same of a label, none of them dark."""
    code = zlib.crc32(label.encode())
    return tuple(80 + (code >> shift) % 176 for shift in (0, 8, 16))


def _write(image: NDArray[np.uint8], text: str, x: int, y: int, color: Color) -> NDArray[np.uint8]:
    """Text on a plate whose lower left corner is given, moved into the image."""
    image_draw = import_extra("PIL.ImageDraw", extra="plots", needed_by="draw_detection")
    pillow = import_extra("PIL.Image", extra="plots", needed_by="draw_detection")
    font = import_extra("PIL.ImageFont", extra="plots", needed_by="draw_detection").load_default()
    left, top, right, bottom = (round(side) for side in font.getbbox(text))
    plate = pillow.new("L", (right - left + 4, bottom - top + 4), 0)
    image_draw.Draw(plate).text((2 - left, 2 - top), text, fill=255, font=font)
    letters = np.asarray(plate) > 127
    height, width = image.shape[:2]
    x, y = max(min(x, width - letters.shape[1]), 0), max(min(y - letters.shape[0], height - letters.shape[0]), 0)
    part = image[y : y + letters.shape[0], x : x + letters.shape[1]]
    letters = letters[: part.shape[0], : part.shape[1]]
    plain = color if image.ndim == 3 or isinstance(color, int) else int(np.mean(color))
    part[...] = plain
    part[letters] = 0 if np.mean(color) > 127 else 255
    return image
