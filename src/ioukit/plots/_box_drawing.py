"""How regions are drawn on an image: the frame, the outlines, and the labels that have room."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit._words_and_colours import shorten
from ioukit.plots._drawing import closed_path, dress

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.evaluation import Outline
    from ioukit.plots._drawing import Theme


WIDE = 6.4  # inches
THIN = 0.6  # the width of lines around masks and vehicles, relative to those of boxes: they are small or have bends
FILL = 0.25  # the opacity of masks
POINT = 2.2  # the diameter of a keypoint, in widths of its line


@dataclass(frozen=True)
class Outlined:
    """A region as it is drawn."""

    outline: Outline
    """Its paths, lines and points."""
    gid: str
    """The gid of its outline; the gid of its label is ``"label of <gid>"``."""
    colour: str
    """The colour of the label."""
    wordings: Sequence[str]
    """The text of the label, and shorter ones for less room; empty for no label."""
    style: dict[str, Any]
    """The style of the outline, see `outline_style`."""
    zorder: float = 3.0
    filled: bool = False
    """Whether its paths are filled with a translucent colour."""


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


def draw_frame(
    ax: Axes,
    frame: tuple[float, float, float, float],
    pixels: NDArray[Any] | None,
    look: Theme,
    *,
    ground: bool = False,
) -> None:
    """Draws an image, or an empty frame, in the unit of its regions.

    Args:
        ax: Where to draw.
        frame: Left, top, right and bottom edge. On an image y points down; on the ground it points up.
        pixels: The image; ``None`` for an empty frame.
        look: The theme.
        ground: Whether the scene is seen from above; then there is a grid, and the axes have numbers.
    """
    left, top, right, bottom = frame
    if pixels is not None:
        ax.imshow(pixels, extent=(left, right, bottom, top), interpolation="antialiased", zorder=0, gid="image")
    dress(ax, look, grid="both" if ground else None)
    ax.spines[:].set_visible(True)
    ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    if not ground:
        ax.set(xticks=[], yticks=[])


def draw_outlines(ax: Axes, outlined: Iterable[Outlined]) -> None:
    """Draws regions; later ones cover earlier ones."""
    for entry in outlined:
        if entry.outline.rings:
            _draw_rings(ax, entry)
        if len(entry.outline.lines):
            _draw_lines(ax, entry)
        if len(entry.outline.points):
            _draw_points(ax, entry)


def _draw_rings(ax: Axes, entry: Outlined) -> None:
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="ioukit.plots")
    path = closed_path(entry.outline.rings)
    style = entry.style
    if entry.filled:
        # Apart from the line: a translucent patch would make its line and its hatch translucent, too.
        fill = {"fc": style["ec"], "alpha": FILL, "ec": "none", "gid": f"fill of {entry.gid}"}
        ax.add_patch(patches.PathPatch(path, zorder=entry.zorder - 0.05, **fill))
    ax.add_patch(patches.PathPatch(path, gid=entry.gid, zorder=entry.zorder, **style))


def _draw_lines(ax: Axes, entry: Outlined) -> None:
    collections = import_extra("matplotlib.collections", extra="plots", needed_by="ioukit.plots")
    style = {"colors": entry.style["ec"], "linewidths": entry.style["lw"], "linestyles": [entry.style["ls"]]}
    effects = {name: value for name, value in entry.style.items() if name == "path_effects"}
    ax.add_collection(
        collections.LineCollection(
            list(entry.outline.lines), gid=f"lines of {entry.gid}", zorder=entry.zorder, **style, **effects
        ),
        autolim=False,
    )


def _draw_points(ax: Axes, entry: Outlined) -> None:
    hollow = entry.outline.hollow
    hidden = np.zeros(len(entry.outline.points), np.bool_) if hollow is None else hollow
    colour, width = entry.style["ec"], entry.style["lw"]
    x, y = entry.outline.points.T
    style: dict[str, Any] = {"s": (POINT * width) ** 2, "linewidths": 0.45 * width, "zorder": entry.zorder + 0.02}
    style["edgecolors"] = np.where(hidden, colour, "#000000").tolist()
    ax.scatter(x, y, c=np.where(hidden, "#FFFFFF", colour), gid=f"points of {entry.gid}", **style)


def draw_labels(
    ax: Axes,
    outlined: Iterable[Outlined],
    frame: tuple[float, float, float, float],
    *,
    covered: float = 0.4,
    fontsize: float = 8,
) -> None:
    """Draws the labels of regions, the most important first. No label covers another or leaves the image.

    Args:
        ax: Where to draw.
        outlined: The regions; the first one chooses its place first.
        frame: Left, top, right and bottom edge of the image, in the unit of the regions.
        covered: The part of the image that labels may cover.
        fontsize: The size of the letters in points.
    """
    # This file imports matplotlib at the top. Here matplotlib is known to be installed.
    from ioukit.plots._labels import Labels  # noqa: PLC0415

    texts = Labels(ax, np.array(frame), covered=covered)
    for entry in outlined:
        if entry.wordings:
            plate: dict[str, Any] = {"fill": entry.colour, "edge": "#000000", "size": fontsize}
            texts.add(entry.outline.bounds, entry.wordings, gid=f"label of {entry.gid}", **plate)


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
    # With little room, the class is worth more than the score.
    return [*(f"{mark}{one} {number}" for one in names), f"{mark}{names[-1] if names else number}"]
