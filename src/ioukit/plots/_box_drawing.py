"""How boxes are drawn on an image: the frame, an outline, and a label that has room."""

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
    """What its outline is called; its label is ``"label of <gid>"``."""
    colour: str
    """That of the label."""
    wordings: Sequence[str]
    """What the label says, and what it says where there is less room; empty for no label."""
    style: dict[str, Any]
    """The style of the outline, see `outline_style`."""
    zorder: float = 3.0


def shape_of_figure(size: tuple[float, float]) -> tuple[float, float]:
    """Width and height in inches of axes for an image of this size."""
    return WIDE, WIDE * float(np.clip(size[1] / size[0], 0.3, 1.8))


def outline_style(colour: str, dashes: Any, width: float, *, on_image: bool, thin: float = 1.0) -> dict[str, Any]:
    """The style of an outline. On an image a dark edge keeps every colour apart from what is below.

    Args:
        colour: That of the line.
        dashes: A line style of matplotlib.
        width: In points.
        on_image: Whether the box is on an image.
        thin: How many times as wide as usual lines are.
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
    """Draws boxes, each over those before it."""
    for entry in outlined:
        rings(ax, [entry.box], gid=entry.gid, zorder=entry.zorder, **entry.style)


def draw_labels(
    ax: Axes, outlined: Iterable[Outlined], size: tuple[float, float], *, covered: float = 0.4, fontsize: float = 8
) -> None:
    """Draws the labels of boxes, those that matter most first: none covers another or leaves the image.

    Args:
        ax: Where to draw.
        outlined: The boxes; the first gets its place first.
        size: Width and height of the image, in the unit of the boxes.
        covered: The part of the image that labels may cover.
        fontsize: In points.
    """
    # Its file imports matplotlib at the top, which by now is known to be there.
    from ioukit.plots._labels import Labels  # noqa: PLC0415

    texts = Labels(ax, np.array([0, 0, *size]), covered=covered)
    for entry in outlined:
        if entry.wordings:
            plate: dict[str, Any] = {"fill": entry.colour, "edge": "#000000", "size": fontsize}
            texts.add(entry.box, entry.wordings, gid=f"label of {entry.gid}", **plate)


def score_text(name: str, score: float | None, mark: str = "") -> list[str]:
    """What a label says of a class and a score, the longest wording first.

    Args:
        name: The class; empty for none.
        score: The score; None for none.
        mark: What the label begins with.
    """
    names = [shorten(name, 22), shorten(name, 10)] if name else []
    if score is None:
        return [*(f"{mark}{one}" for one in names), *([mark.strip()] if mark else [])]
    number = f"{score:.2f}" if abs(score) < 100 else f"{score:.3g}"
    return [*(f"{mark}{one} {number}" for one in names), f"{mark}{number}"]
