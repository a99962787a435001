"""Figures of what a data set holds, those of docs/inspect.md."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from ioukit import inspect, plots

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ioukit import Inspection

__all__ = ["INSPECTIONS", "drawn"]


@cache
def coco() -> Inspection:
    """A hundred images of COCO."""
    return inspect(Path(__file__).parents[2] / "examples" / "coco_val2017_100" / "ground_truth.json")


# The figures of docs/inspect.md, as it says.
INSPECTIONS: dict[str, Callable[[Inspection], Axes]] = {
    "classes": lambda held: plots.class_counts_figure(held, most=20),
    "sizes": plots.object_sizes_figure,
    "shapes": plots.object_shapes_figure,
    "positions": lambda held: plots.object_positions_figure(held, cells=16),
    "per_image": plots.objects_per_image_figure,
    "overlaps": plots.neighbour_overlaps_figure,
    "sizes_dark": lambda held: plots.object_sizes_figure(held, theme="dark"),
}


def drawn(name: str) -> Figure:
    """The figure of that name in :data:`INSPECTIONS`, of a hundred images of COCO."""
    return INSPECTIONS[name](coco()).figure
