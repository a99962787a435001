"""Which figures of an evaluation trackers get, and the pictures that they take."""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots.evaluation_figures import FIGURES

__all__ = ["FIGURES", "Picture", "chosen_figures", "picture_of"]

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def chosen_figures(figures: bool | Sequence[str], *, images: bool) -> list[str]:
    """The names of the figures to draw; ``worst_images`` only with a folder of photographs, or if it is asked for.

    Raises:
        ValueError: If there is no figure of a name.
    """
    if isinstance(figures, bool):
        return [name for name in FIGURES if figures and (images or name != "worst_images")]
    names = [figures] if isinstance(figures, str) else list(figures)
    for name in names:
        if name not in FIGURES:
            raise ValueError(f"unknown figure {name!r}; choose from {', '.join(FIGURES)}")
    return list(dict.fromkeys(names))


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
