"""How boxes are drawn on an image: the frame, the outlines, and the labels that have room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots._drawing import dress, rings, shorten

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.plots._drawing import Theme
    from ioukit.typing import FloatArray

__all__ = ["Outlined", "draw_frame", "draw_labels", "draw_outlines", "outline_style", "score_text", "shape_of_figure"]

WIDE = 6.4  # inches


@dataclass(frozen=True)
class Outlined:
    """A box as it is drawn."""

    box: FloatArray
    """(4,) xyxy."""
    gid: str
    """The gid of its outline; the gid of its label is ``"label of <gid>"``."""
    colour: str
    """The colour of the label."""
    wordings: Sequence[str]
    """The text of the label, and shorter ones for less room; empty for no label."""
    style: dict[str, Any]
    """The style of the outline, see `outline_style`."""
    zorder: float = 3.0


def shape_of_figure(size: tuple[float, float]) -> tuple[float, float]:
    """Width and height in inches of axes for an image of this size."""
    return WIDE, WIDE * float(np.clip(size[1] / size[0], 0.3, 1.8))


def outline_style(colour: str, dashes: Any, width: float, *, on_image: bool, thin: float = 1.0) -> dict[str, Any]:
    """The style of an outline. On an image, a dark edge separates every colour from the pixels below.

    Args:
        colour: The colour of the line.
        dashes: A line style of matplotlib.
        width: The width in points.
        on_image: Whether the box is on an image.
        thin: A factor on the usual widths of lines.
    """
    line = thin * width
    style: dict[str, Any] = {"fill": False, "ec": colour, "ls": dashes, "lw": line}
    if on_image:
        effects = import_extra("matplotlib.patheffects", extra="plots", needed_by="ioukit.plots")
        style["path_effects"] = [effects.withStroke(linewidth=line + 1.6 * thin, foreground="#000000", alpha=0.8)]
    return style


def draw_frame(ax: Axes, size: tuple[float, float], pixels: NDArray[Any] | None, look: Theme) -> None:
    """Draws an image, or an empty frame, in the unit of its boxes; y points down.

    Args:
        ax: Where to draw.
        size: Width and height of the image, in the unit of the boxes.
        pixels: The image; ``None`` for an empty frame.
        look: The theme.
    """
    width, height = size
    if pixels is not None:
        ax.imshow(pixels, extent=(0, width, height, 0), interpolation="antialiased", zorder=0, gid="image")
    dress(ax, look)
    ax.spines[:].set_visible(True)
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xticks=[], yticks=[])


def draw_outlines(ax: Axes, outlined: Iterable[Outlined]) -> None:
    """Draws boxes; later ones cover earlier ones."""
    for entry in outlined:
        rings(ax, [entry.box], gid=entry.gid, zorder=entry.zorder, **entry.style)


def draw_labels(
    ax: Axes, outlined: Iterable[Outlined], size: tuple[float, float], *, covered: float = 0.4, fontsize: float = 8
) -> None:
    """Draws the labels of boxes, the most important first. No label covers another or leaves the image.

    Args:
        ax: Where to draw.
        outlined: The boxes; the first box chooses its place first.
        size: Width and height of the image, in the unit of the boxes.
        covered: The part of the image that labels may cover.
        fontsize: The size of the letters in points.
    """
    # This file imports matplotlib at the top. Here matplotlib is known to be installed.
    from ioukit.plots._labels import Labels  # noqa: PLC0415

    texts = Labels(ax, np.array([0, 0, *size]), covered=covered)
    for entry in outlined:
        if entry.wordings:
            plate: dict[str, Any] = {"fill": entry.colour, "edge": "#000000", "size": fontsize}
            texts.add(entry.box, entry.wordings, gid=f"label of {entry.gid}", **plate)


def score_text(name: str, score: float | None, mark: str = "") -> list[str]:
    """The texts of a label with a class and a score, the longest first.

    Args:
        name: The class; empty for no class.
        score: The score; None for no score.
        mark: The first letters of the label.
    """
    names = [shorten(name, 22), shorten(name, 10)] if name else []
    if score is None:
        return [*(f"{mark}{one}" for one in names), *([mark.strip()] if mark else [])]
    number = f"{score:.2f}" if abs(score) < 100 else f"{score:.3g}"
    return [*(f"{mark}{one} {number}" for one in names), f"{mark}{number}"]
