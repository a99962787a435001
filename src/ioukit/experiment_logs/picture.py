"""A figure as the pixels and the file that trackers take."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["Picture", "picture_of"]

_DPI = 150


@dataclass(frozen=True)
class Picture:
    """A drawn figure."""

    png: bytes = field(repr=False)
    """The figure as a PNG file, 150 dots per inch."""

    @cached_property
    def pixels(self) -> NDArray[np.uint8]:
        """(H, W, 3) the same as RGB, within [0, 255]."""
        image = import_extra("PIL.Image", extra="plots", needed_by="Picture.pixels")  # matplotlib needs it, too
        with image.open(io.BytesIO(self.png)) as opened:
            return np.asarray(opened.convert("RGB"))


def picture_of(figure: Any) -> Picture:
    """A figure of matplotlib as a picture.

    A letter that the font lacks is drawn as a box without a warning: it would come again for every figure and epoch.
    """
    buffer = io.BytesIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="png", dpi=_DPI, facecolor=figure.get_facecolor())
    return Picture(buffer.getvalue())
