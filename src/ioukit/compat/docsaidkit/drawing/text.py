"""Text in an image, drawn by Pillow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.compat.docsaidkit.drawing._canvas import canvas
from ioukit.compat.docsaidkit.drawing.arguments import prepare_color, prepare_point

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import ArrayLike, NDArray

    from ioukit.compat.docsaidkit.drawing._canvas import Image
    from ioukit.compat.docsaidkit.drawing.arguments import Color

__all__ = ["draw_text", "font_of", "from_pillow", "pillow_drawing"]


def draw_text(
    img: Image,
    text: str,
    location: ArrayLike,
    color: Color | int = (0, 0, 0),
    text_size: int = 12,
    font_path: str | Path | None = None,
    **kwargs: Any,
) -> Image:
    """(H, W, 3) the image with text; needs Pillow (extra ``plots``).

    Args:
        img: (H, W), (H, W, 1) or (H, W, 3) uint8; it does not change.
        text: The text.
        location: x and y of its upper left corner.
        color: Three integers, one for each channel, or one for all.
        text_size: Size of the font in pixels.
        font_path: A TrueType or OpenType font; by default the font of Pillow.
        kwargs: More arguments of ``PIL.ImageDraw.ImageDraw.text``.

    Raises:
        ValueError: If Pillow cannot read the font.
    """
    (x, y), shown = prepare_point(location), prepare_color(color)
    font = font_of(font_path, text_size)
    pillow, draw = pillow_drawing(canvas(img))
    draw.text((x, y - int(font.getbbox(text)[1])), text, font=font, **{**kwargs, "fill": shown[::-1]})
    return from_pillow(pillow)


def font_of(font_path: str | Path | None, text_size: int) -> Any:
    """The font at a path, or the font of Pillow, in a size."""
    fonts = import_extra("PIL.ImageFont", extra="plots", needed_by="text in images")
    if font_path is None:
        return fonts.load_default(size=int(text_size))
    try:
        return fonts.truetype(str(font_path), size=int(text_size))
    except OSError as error:
        raise ValueError(f"font_path {str(font_path)!r} is not a font that Pillow can read: {error}") from None


def pillow_drawing(image: NDArray[np.uint8]) -> tuple[Any, Any]:
    """An image of Pillow whose red is the last channel of ours, and what draws in it, translucent colours included."""
    images = import_extra("PIL.Image", extra="plots", needed_by="text in images")
    drawing = import_extra("PIL.ImageDraw", extra="plots", needed_by="text in images")
    pillow = images.fromarray(np.ascontiguousarray(image[..., ::-1]))
    return pillow, drawing.Draw(pillow, "RGBA")


def from_pillow(pillow: Any) -> NDArray[np.uint8]:
    """The image as an array, with the order of channels that `pillow_drawing` got."""
    return np.ascontiguousarray(np.asarray(pillow)[..., ::-1])
