"""What the pictures share: axes, colours that all eyes tell apart, and boxes as paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.boxes import Boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

    from ioukit.boxes import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["BLACK", "BLUE", "GREEN", "ORANGE", "PURPLE", "VERMILLION", "WHITE_EDGE", "as_boxes", "axes_for", "rings"]

# Okabe and Ito, Color Universal Design (2008). Colour never stands alone: a hatch or a line style says the same.
BLACK, ORANGE, GREEN, BLUE, VERMILLION, PURPLE = "#000000", "#E69F00", "#009E73", "#0072B2", "#D55E00", "#CC79A7"

WHITE_EDGE = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
"""The plate behind a text that stands on a hatch."""


def axes_for(ax: Axes | None, *, needed_by: str, figsize: tuple[float, float]) -> Axes:
    """The caller's axes, or those of a new figure (``figsize`` in inches), which pyplot knows nothing of."""
    if ax is not None:
        return ax
    figure = import_extra("matplotlib.figure", extra="plots", needed_by=needed_by)
    new: Axes = figure.Figure(figsize=figsize, layout="constrained").subplots()
    return new


def as_boxes(data: BoxesLike, fmt: BoxFormat, name: str) -> Boxes:
    """`Boxes` in xyxy and float64; messages call them ``name``."""
    try:
        boxes = data if isinstance(data, Boxes) else Boxes(data, fmt, dtype=np.float64)
        return Boxes(boxes, "xyxy", dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def rings(ax: Axes, outlines: Sequence[FloatArray], **style: Any) -> PathPatch:
    """Adds one patch around xyxy boxes: the first, and holes in it."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="ioukit.plots")
    paths = import_extra("matplotlib.path", extra="plots", needed_by="ioukit.plots")
    parts = []
    for number, (x1, y1, x2, y2) in enumerate(outlines):
        corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
        turned = corners if number == 0 else corners[::-1]  # a ring turned the other way is a hole
        parts.append(paths.Path([*turned, turned[0]], closed=True))
    patch: PathPatch = patches.PathPatch(paths.Path.make_compound_path(*parts), **style)
    ax.add_patch(patch)
    return patch
