"""Boxes of detections with a label and a score."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.drawing._canvas import (
    canvas,
    colors_of,
    in_image,
    in_pixels,
    thicknesses_of,
    truncated,
)
from ioukit.compat.docsaidkit.drawing.shapes import draw_box
from ioukit.compat.docsaidkit.structures.prepare import prepare_box, prepare_boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Color, Image
    from ioukit.compat.docsaidkit.structures.box_and_polygon import Box
    from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Boxes

__all__ = ["draw_detection", "draw_detections"]


def draw_detection(
    img: Image,
    box: Box | ArrayLike,
    label: str,
    score: float | None = None,
    color: Color | None = None,
    thickness: int = 2,
) -> Image:
    """The image with a box, and above its upper left corner its label and score; needs Pillow.

    Args:
        img: (H, W) or (H, W, 3) uint8; it does not change.
        box: A `Box`, or 4 numbers as xyxy.
        label: The name of the class.
        score: The score, shown as a percentage; None shows no score.
        color: The colour of box and label; by default it depends on the label.
        thickness: Thickness of the lines in pixels.
    """
    chosen = _color_of(label) if color is None else color
    painted = draw_box(img, box, chosen, thickness)
    text = label if score is None else f"{label} {score:.0%}"
    made = in_pixels(prepare_box(box), painted)
    x, y = truncated(made.left_top).tolist()
    return _write(painted, text, x, y, chosen)


def draw_detections(
    img: Image,
    boxes: Boxes | Sequence[Any],
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    color: Color | Sequence[Color] | None = None,
    thickness: int | Sequence[int] = 2,
) -> Image:
    """The image with many boxes, each with its label and score; see `draw_detection`.

    Raises:
        ValueError: If there is not one label, score or colour for each box.
    """
    made = prepare_boxes(boxes)
    for name, values in (("labels", labels), ("scores", scores)):
        if values is not None and len(values) != len(made):
            raise ValueError(f"{name} must have one entry per box, got {len(values)} for {len(made)}")
    colors = [None] * len(made) if color is None else colors_of(color, len(made))
    painted = canvas(img)
    for row, box in enumerate(made):
        score = None if scores is None else scores[row]
        painted = draw_detection(
            painted, box, labels[row], score, colors[row], thicknesses_of(thickness, len(made))[row]
        )
    return painted


def _color_of(label: str) -> Color:
    """A colour that depends on the label alone, and is never dark."""
    code = zlib.crc32(label.encode())
    return tuple(80 + (code >> shift) % 176 for shift in (0, 8, 16))


def _write(image: NDArray[np.uint8], text: str, x: int, y: int, color: Color) -> NDArray[np.uint8]:
    """The image with text on a plate, whose lower left corner is (x, y); the plate is moved into the image."""
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
    part[...] = in_image(color, image)
    part[letters] = 0 if np.mean(color) > 127 else 255
    return image
