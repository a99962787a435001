"""Objects over the grid of a detector: which cell predicts which object."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from ioukit.plots._drawing import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    as_pixels,
    axes_for,
    dress,
    rings,
    theme_of,
    tint,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


STYLES = [
    (BLUE, "-"),
    (VERMILLION, "--"),
    (BLACK, "-."),
    (PURPLE, (0, (1, 1))),
    (GREEN, (0, (8, 2))),
]


def grid_figure(
    boxes: BoxesLike,
    *,
    grid: int = 13,
    image_size: tuple[float, float],
    labels: Sequence[str] | None = None,
    ax: Axes | None = None,
    format: BoxFormat = "xyxy",
    theme: ThemeName = "light",
) -> Axes:
    """Draws boxes over an S x S grid and marks the cell that contains the centre of each, as in YOLO.

    Cells are half-open: a centre on a line belongs to the cell right of it or below it. A centre on the right or lower
    edge of the image, or outside, belongs to no cell. A cell with several centres has another hatch: a head that
    predicts one object per cell finds only one of them.

    Args:
        boxes: (N, 4) in pixels or, as `Boxes`, in parts of the image; N may be 0.
        grid: Number of cells per side, such as 13, 26 and 52 for strides of 32, 16 and 8 in an image of 416 pixels.
        image_size: (width, height) in pixels.
        labels: The name of each box.
        ax: Where to draw; by default axes of a new figure.
        format: The format of plain numbers. `Boxes` have their own.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes, in pixels, y pointing down. Boxes are patches with ``get_gid()`` ``"box 0"``, ``"box 1"``, ...; cells
        have ``"cell ROW COLUMN"``.

    Raises:
        ValueError: If the grid has no cells, the image has no area, or the labels are not one per box.
        TypeError: If the grid is not an integer.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = grid_figure([[96, 96, 224, 160]], grid=13, image_size=(416, 416), labels=["dog"])
        >>> [patch.get_gid() for patch in ax.patches]
        ['cell 4 5', 'box 0']
    """
    side = operator.index(grid)
    if side < 1:
        raise ValueError(f"grid must be at least 1, got {grid}")
    width, height = image_size
    given = as_pixels(boxes, format, "boxes", image_size)
    if labels is not None and len(labels) != len(given):
        raise ValueError(f"labels must hold one label per box, got {len(labels)} for {len(given)} boxes")

    look = theme_of(theme)
    size = (6.0, 6.0 * min(max(height / width, 0.5), 1.6))
    ax = axes_for(ax, look, size, needed_by="grid_figure")
    ax.set(xlim=(0, width), ylim=(height, 0), aspect="equal", xlabel="x (pixels)", ylabel="y (pixels)")
    for k in range(1, side):
        ax.axvline(k * width / side, color=look.faint, lw=0.6, zorder=0)
        ax.axhline(k * height / side, color=look.faint, lw=0.6, zorder=0)

    cell = np.array([width, height]) / side
    index = np.floor(given.center / cell).astype(int)  # (N, 2) column and row
    inside = np.logical_and.reduce((given.center >= 0) & (index < side), axis=1)
    cells, count = np.unique(index[inside], axis=0, return_counts=True)
    for (column, row), centres in zip(cells.tolist(), count.tolist(), strict=True):
        outline = np.array([column, row, column + 1, row + 1]) * np.tile(cell, 2)
        shared = centres > 1
        rings(
            ax, [outline], gid=f"cell {row} {column}", fc=tint(ORANGE, 0.55, look.paper), ec=look.soft, lw=0.8,
            zorder=1, hatch="xxx" if shared else None, label=f"cell of {'several centres' if shared else 'one centre'}",
        )  # fmt: skip
    for number, (corners, centre) in enumerate(zip(given.numpy(), given.center, strict=True)):
        colour, line = STYLES[number % len(STYLES)]
        rings(ax, [corners], gid=f"box {number}", fill=False, ec=look.of(colour), ls=line, lw=2, zorder=3)
        mark = "o" if inside[number] else "x"
        ax.plot(*centre, marker=mark, ms=5, color=look.of(colour), mec=look.ink, zorder=4, ls="none")
        if labels is not None:
            _label(ax, labels[number], np.clip(corners[:2], 0, (width, height)), look, above=corners[1] > 0.05 * height)
    shown = dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if shown:
        # Below the axis label; its distance from the axes is in points, not in parts of the axes.
        below = {"bbox_to_anchor": (0, 0), "borderaxespad": 4}
        ax.legend(shown.values(), shown.keys(), loc="upper left", ncols=2, frameon=False, labelcolor=look.ink, **below)
    dress(ax, look, framed=True)
    return ax


def _label(ax: Axes, text: str, corner: FloatArray, look: Theme, *, above: bool) -> None:
    """Writes a text above the upper left corner of a box, or below the corner if the image ends there."""
    x, y = corner.tolist()
    offset, side = ((0, 4), "bottom") if above else ((4, -5), "top")
    ax.annotate(
        text, (x, y), xytext=offset, textcoords="offset points", ha="left", va=side,
        fontsize=9, color=look.ink, bbox=look.plate, zorder=5,
    )  # fmt: skip
