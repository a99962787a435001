"""Boxes of detections with a label and a score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.drawing._canvas import canvas, in_pixels, truncated
from ioukit.compat.docsaidkit.drawing.arguments import (
    prepare_color,
    prepare_colors,
    prepare_thickness,
    prepare_thicknesses,
)
from ioukit.compat.docsaidkit.drawing.colors import color_of_label
from ioukit.compat.docsaidkit.drawing.shapes import draw_box
from ioukit.compat.docsaidkit.drawing.text import font_of, from_pillow, pillow_drawing
from ioukit.compat.docsaidkit.structures.prepare import prepare_box, prepare_boxes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Image
    from ioukit.compat.docsaidkit.drawing.arguments import Color
    from ioukit.compat.docsaidkit.structures.box_and_polygon import Box
    from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Boxes

__all__ = ["draw_detection", "draw_detections"]

WHITE: Color = (255, 255, 255)


def draw_detection(
    img: Image,
    box: Box | ArrayLike,
    label: str,
    score: float | None = None,
    color: Color | int | None = None,
    thickness: int | None = None,
    text_color: Color | int = WHITE,
    font_path: str | Path | None = None,
    text_size: int | None = None,
    box_alpha: float = 1.0,
    text_bg_alpha: float = 0.6,
) -> Image:
    """(H, W, 3) the image with a box, and above its upper left corner its label and score; needs Pillow.

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8; it does not change.
        box: A `Box`, or 4 numbers as xyxy.
        label: The name of the class.
        score: The score within [0, 1], shown as a percentage; None shows no score.
        color: The colour of the box and of the plate behind the text; by default it depends on the label.
        thickness: Thickness of the lines in pixels; by default 0.002 of the diagonal of the image.
        text_color: The colour of the text.
        font_path: A TrueType or OpenType font; by default the font of Pillow.
        text_size: Size of the font in pixels; by default a tenth of the height of the box, and at least 12.
        box_alpha: The opacity of the box, within [0, 1].
        text_bg_alpha: The opacity of the plate behind the text, within [0, 1].

    Raises:
        ValueError: If an opacity is not within [0, 1].
    """
    for name, alpha in (("box_alpha", box_alpha), ("text_bg_alpha", text_bg_alpha)):
        if not 0 <= alpha <= 1:
            raise ValueError(f"{name} must be within [0, 1], got {alpha}")
    painted = canvas(img)
    height, width = painted.shape[:2]
    shown = color_of_label(str(label)) if color is None else prepare_color(color)
    lines = max(1, int(math.hypot(height, width) * 0.002 + 0.5)) if thickness is None else prepare_thickness(thickness)
    corners = in_pixels(prepare_box(box), painted)
    x1, y1, _, y2 = truncated(corners.numpy()).tolist()
    painted = _mixed(draw_box(painted, corners, shown, lines), painted, box_alpha)
    text = str(label) if score is None else f"{label} {score * 100:.1f}%"
    font = font_of(font_path, max(12, int((y2 - y1) * 0.1)) if text_size is None else text_size)
    pillow, draw = pillow_drawing(painted)
    left, top, right, bottom = draw.textbbox((0, 0), text, font=font)
    pad = max(1, lines // 2)
    across = sorted([max(0, x1), min(width, x1 + int(right - left) + 2 * pad)])
    down = sorted([max(0, y1 - int(bottom - top) - 2 * pad), min(height, y1)])
    plate = [(across[0], down[0]), (across[1], down[1])]
    draw.rectangle(plate, fill=(*shown[::-1], int(text_bg_alpha * 255)))
    draw.text((plate[0][0] + pad, plate[0][1] + pad), text, font=font, fill=prepare_color(text_color)[::-1])
    return from_pillow(pillow)


def draw_detections(
    img: Image,
    boxes: Boxes | Sequence[Any],
    labels: Sequence[str],
    scores: Sequence[float] | None = None,
    colors: Color | int | Sequence[Color | int] | None = None,
    thicknesses: int | Sequence[int] | None = None,
    text_colors: Color | int | Sequence[Color | int] = WHITE,
    font_path: str | Path | None = None,
    text_sizes: Sequence[int] | None = None,
    box_alpha: float = 1.0,
    text_bg_alpha: float = 0.6,
) -> Image:
    """(H, W, 3) the image with many boxes, each with its label and score; see `draw_detection`.

    Colours and thicknesses are one for all boxes, or one per box; labels, scores and sizes of the text are one per box.

    Raises:
        ValueError: If the number of labels, scores, sizes, colours or thicknesses is not the number of boxes.
    """
    made = prepare_boxes(boxes)
    count = len(made)
    if len(labels) != count:
        raise ValueError(f"Number of boxes must match number of labels, got {count} and {len(labels)}")
    for name, values in (("scores", scores), ("text_sizes", text_sizes)):
        if values is not None and len(values) != count:
            raise ValueError(f"Number of {name} must match number of boxes, got {len(values)} and {count}")
    none = [None] * count
    each = zip(
        made,
        labels,
        none if scores is None else scores,
        none if colors is None else prepare_colors(colors, count),
        none if thicknesses is None else prepare_thicknesses(thicknesses, count),
        prepare_colors(text_colors, count),
        none if text_sizes is None else text_sizes,
        strict=True,
    )
    painted = canvas(img)
    for box, label, score, color, thickness, text_color, text_size in each:
        painted = draw_detection(
            painted, box, label, score, color, thickness, text_color, font_path, text_size, box_alpha, text_bg_alpha
        )
    return painted


def _mixed(above: NDArray[np.uint8], below: NDArray[np.uint8], alpha: float) -> NDArray[np.uint8]:
    """The upper image over the lower one, with an opacity."""
    if alpha == 1:
        return above
    return np.rint(above * float(alpha) + below * (1 - float(alpha))).astype(np.uint8)
