"""Two boxes, their regions, and the values of the measures of overlap."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.overlap import (
    elementwise_ciou,
    elementwise_diou,
    elementwise_giou,
    elementwise_intersection,
    elementwise_ioa,
    elementwise_iou,
)
from ioukit.plots._drawing import as_boxes, axes_for, dress, rings, theme_of, tint

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes

    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.regions import Boxes, BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


MEASURES: dict[str, Callable[[Boxes, Boxes], Any]] = {
    "IoU": elementwise_iou,
    "IoA": elementwise_ioa,
    "GIoU": elementwise_giou,
    "DIoU": elementwise_diou,
    "CIoU": elementwise_ciou,
}
# Region: the name of its colour, the strength, hatch and meaning. In grey print, hatch and strength tell regions apart.
REGIONS = {
    "TP": ("tp", 0.6, "//", "both"),
    "FP": ("fp", 0.25, "..", "detection only"),
    "FN": ("fn", 0.25, "\\\\", "object only"),
}
ROOM = 0.12  # around the boxes, in parts of the box around both
LEAST_FOR_TEXT = 0.08  # a region narrower or lower than this part of the figure has its name only in the legend


def overlap_figure(
    ground_truth: BoxesLike,
    detection: BoxesLike,
    *,
    ax: Axes | None = None,
    format: BoxFormat = "xyxy",
    theme: ThemeName = "light",
) -> Axes:
    """Draws an object and a detection: where they agree, where they differ, and the value of each measure.

    Four regions have a hatch and a name: TP (in both), FP (in the detection only), FN (in the object only) and TN (the
    rest of the image, which no measure of overlap counts). The legend to the right has the areas and IoU, IoA (of the
    detection), GIoU, DIoU and CIoU, as the library computes them in float64.

    Args:
        ground_truth: One box, the object: `Boxes` of one, or 4 numbers.
        detection: One box, in the same unit.
        ax: Where to draw; by default axes of a new figure. The legend and the values are to the right of the axes;
            ``layout="constrained"`` makes room for them.
        format: The format of plain numbers. `Boxes` have their own.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes; y points down, as in images. The regions are patches with ``get_gid()`` ``"TP"``, ``"FP"``, ``"FN"``,
        the outlines ``"ground_truth"`` and ``"detection"``, the text of the values ``"values"``.

    Raises:
        ValueError: If one of them is not a single box, or their units differ.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = overlap_figure([2, 2, 8, 8], [4, 3, 10, 9])
        >>> ax.figure.savefig("overlap.png")  # doctest: +SKIP
    """
    boxes = {
        "ground_truth": as_boxes(ground_truth, format, "ground_truth"),
        "detection": as_boxes(detection, format, "detection"),
    }
    for name, given in boxes.items():
        if len(given) != 1:
            raise ValueError(f"{name} must be one box, got {len(given)}")
    pair = boxes["ground_truth"], boxes["detection"]
    values = {name: float(measure(*pair)[0]) for name, measure in MEASURES.items()}
    common = float(elementwise_intersection(*pair)[0])
    first, second = (given.numpy()[0] for given in pair)
    inner = _intersection(first, second) if common else None

    look = theme_of(theme)
    ax = axes_for(ax, look, (7.2, 4.2), needed_by="overlap_figure")
    dress(ax, look, framed=True)
    low, high = np.minimum(first, second)[:2], np.maximum(first, second)[2:]
    room = ROOM * (max(high - low) or 1.0)
    ax.update_datalim([low - room, high + room])
    ax.margins(0)
    ax.yaxis.set_inverted(True)
    ax.set_aspect("equal", adjustable="datalim")  # the axes keep their place, and show more of the surroundings
    unit = " (parts of the image)" if pair[0].normalized else ""
    ax.set(xlabel=f"x{unit}", ylabel=f"y{unit}")

    areas = {"FN": float(pair[0].area[0]) - common, "FP": float(pair[1].area[0]) - common, "TP": common}
    handles = [
        rings(ax, [box], gid=name, fill=False, lw=2.2, ls=line, ec=look.ink, zorder=3, label=f"{word}: {area:.4g}")
        for name, word, box, area, line in (
            ("ground_truth", "object", first, float(pair[0].area[0]), "-"),
            ("detection", "detection", second, float(pair[1].area[0]), (0, (4, 2))),
        )
    ]
    for name, outer in (("TP", inner), ("FP", second), ("FN", first)):
        if outer is None or not areas[name]:
            continue
        outlines = [outer] if name == "TP" or inner is None else [outer, inner]
        meaning, strength, hatch, words = REGIONS[name]
        colour = look.colour_of(meaning)
        label = f"{name} ({words}): {areas[name]:.4g}"
        # Regions have no outlines, because the boxes have them.
        style = {"fc": tint(colour, strength, look.paper), "ec": colour, "lw": 0, "hatch": hatch, "zorder": 1}
        handles.append(rings(ax, outlines, gid=name, label=label, **style))
        _name(ax, name, outer, None if name == "TP" else inner, look)
    ax.text(0.02, 0.98, "TN", transform=ax.transAxes, ha="left", va="top", fontsize=10, color=look.ink)
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="overlap_figure")
    handles.append(patches.Patch(fc=look.paper, ec=look.many, label="TN (the rest): not counted"))
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.02, 1.02)}
    ax.legend(handles=handles, frameon=False, handlelength=2.6, labelcolor=look.ink, **place)
    table = "\n".join(f"{name:<5}{value:>7.3f}" for name, value in values.items())
    ax.text(
        1.05, 0.0, table, transform=ax.transAxes, gid="values", family="monospace", ha="left", va="bottom",
        color=look.ink,
    )  # fmt: skip
    return ax


def _intersection(first: FloatArray, second: FloatArray) -> FloatArray:
    return np.concatenate([np.maximum(first[:2], second[:2]), np.minimum(first[2:], second[2:])])


def _name(ax: Axes, name: str, outer: FloatArray, hole: FloatArray | None, look: Theme) -> None:
    """Writes the name of a region into its largest rectangle, if it has room."""
    x1, y1, x2, y2 = outer
    rectangles = [outer]
    if hole is not None:
        a1, b1, a2, b2 = hole
        rectangles = [np.array(r) for r in ((x1, y1, a1, y2), (a2, y1, x2, y2), (x1, y1, x2, b1), (x1, b2, x2, y2))]
    largest = max(rectangles, key=lambda r: min(r[2] - r[0], r[3] - r[1]))
    picture = max(abs(np.subtract(*ax.get_xlim())), abs(np.subtract(*ax.get_ylim())))
    if min(largest[2] - largest[0], largest[3] - largest[1]) >= LEAST_FOR_TEXT * picture:
        x, y = (largest[:2] + largest[2:]) / 2
        ax.text(x, y, name, ha="center", va="center", fontsize=10, color=look.ink, bbox=look.plate, zorder=4)
