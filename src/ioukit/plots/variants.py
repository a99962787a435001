"""How the measures of overlap change as one box moves past another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

import ioukit.overlap
from ioukit.overlap.variants import VARIANTS
from ioukit.plots._drawing import BLACK, BLUE, GREEN, VERMILLION, axes_for, dress, legend_beside, theme_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.typing import FloatArray


Motion = Literal["shift", "scale"]

# Line styles, markers and the place of the first marker: lines differ without colour, and where they meet.
LINES: dict[str, dict[str, Any]] = {
    "IoU": {"color": BLACK, "ls": "-", "marker": "o", "markevery": (0, 20)},
    "GIoU": {"color": VERMILLION, "ls": "--", "marker": "s", "markevery": (5, 20)},
    "DIoU": {"color": BLUE, "ls": "-.", "marker": "^", "markevery": (10, 20)},
    "CIoU": {"color": GREEN, "ls": ":", "marker": "D", "markevery": (15, 20)},
}
LABEL_GAP = 0.06  # between labels at the ends of lines, in parts of the axis
SQUARE = np.array([0.0, 0.0, 4.0, 4.0])


def variants_figure(*, motion: Motion = "shift", ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
    """Draws IoU, GIoU, DIoU and CIoU while one box moves or grows and another stays.

    ``"shift"``: a box moves to the right, away from an equal one. IoU is 0 when the boxes no longer touch. The others
    continue to fall, so that a loss still has a gradient. ``"scale"``: a box half as high as a square, with its centre
    on the right edge of the square, grows in width. The measures weigh size, place and shape in different ways.

    Args:
        motion: ``"shift"`` or ``"scale"``.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes, with one line per measure, computed by the library in float64. The label of a line is its name.

    Raises:
        ValueError: If the motion is neither of these.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = variants_figure(motion="shift")
        >>> [line.get_label() for line in ax.get_lines()]
        ['IoU', 'GIoU', 'DIoU', 'CIoU']
    """
    if motion not in get_args(Motion):
        raise ValueError(f"unknown motion {motion!r}; choose from {', '.join(get_args(Motion))}")
    look = theme_of(theme)
    ax = axes_for(ax, look, (6.4, 4.0), needed_by="variants_figure")
    dress(ax, look)
    if motion == "shift":
        steps = np.linspace(0, 2.5, 101)
        boxes = SQUARE + 4 * steps[:, None] * [1, 0, 1, 0]
        ax.set(xlabel="shift, in widths of the box", ylabel="overlap")
    else:
        steps = np.linspace(0, 4, 101)
        boxes = np.stack([4 - 2 * steps, np.ones(101), 4 + 2 * steps, np.full(101, 3.0)], axis=1)
        ax.set(xlabel="width of the box, in widths of the square", ylabel="overlap")
    ends = {}
    for name, style in LINES.items():
        values = _values(name.lower(), boxes)
        own = {**style, "color": look.of(style["color"])}
        ax.plot(steps, values, label=name, ms=5, mfc=look.paper, lw=1.6, clip_on=False, **own)
        ends[name] = float(values[-1])
    _label_ends(ax, ends, float(steps[-1]), look)
    return ax


def variant_figure(name: str, *, ax: Axes | None = None, theme: ThemeName = "light", **options: Any) -> Axes:
    """Draws one measure of overlap while a square slides across another of twice its side.

    The smaller square starts to the left of the larger one, passes through its middle, and ends to its right. Dotted
    lines mark where the two begin to touch, and where the smaller one begins to lie inside. IoU is a grey line, for
    comparison, if the measure is another one whose values are within [-2, 2].

    Args:
        name: A row of the table of variants, as in ``pairwise_<name>``.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.
        options: Options of ``elementwise_<name>``.

    Returns:
        The axes. The first line has the values, computed by the library in float64; the one of IoU has ``get_gid()``
        ``"iou"``.

    Raises:
        ValueError: If no variant has this name.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> (line,) = variant_figure("iou").get_lines()[:1]
        >>> print(line.get_ydata().max())
        0.25
    """
    names = [row.name for row in VARIANTS]
    if name not in names:
        raise ValueError(f"unknown variant {name!r}; choose from {', '.join(names)}")
    look = theme_of(theme)
    ax = axes_for(ax, look, (6.4, 2.5), needed_by="variant_figure")
    dress(ax, look)
    shift = np.linspace(-1.5, 1.5, 121)  # of the centres, in sides of the larger square
    middle = np.array([1.0, 1.0, 3.0, 3.0])
    values = _values(name, middle + 4 * shift[:, None] * [1, 0, 1, 0], **options)
    handles = ax.plot(shift, values, color=look.blue, lw=2.0, label=name, zorder=3)
    names = [_title(name)]
    if name != "iou" and np.abs(values).max() <= 2:
        iou = _values("iou", middle + 4 * shift[:, None] * [1, 0, 1, 0])
        handles += ax.plot(shift, iou, color=look.soft, lw=1.2, ls="--", label="iou", zorder=2, gid="iou")
        names.append("IoU")
    legend_beside(ax, handles, names, look)
    for edge in (-0.75, -0.25, 0.25, 0.75):
        ax.axvline(edge, color=look.many, lw=0.8, ls=":", zorder=0)
    ax.axhline(0, color=look.many, lw=0.8, zorder=0)
    ax.set(xlabel="shift of the centre, in sides of the larger", ylabel=_title(name), xticks=[-1, -0.5, 0, 0.5, 1])
    return ax


def _title(name: str) -> str:
    """The name as papers write it: IoU, GIoU, IoA; other names as they are."""
    prefix, overlap, rest = name.partition("iou")
    if overlap and not rest:
        return f"{prefix.replace('_', '-') if '_' in prefix else prefix.upper()}IoU"
    return {"ioa": "IoA", "iom": "IoM", "nwd": "NWD"}.get(name, name.replace("_", " "))


def _values(name: str, boxes: FloatArray, **options: Any) -> FloatArray:
    values: FloatArray = getattr(ioukit.overlap, f"elementwise_{name}")(SQUARE, boxes, **options)
    return values


def _label_ends(ax: Axes, ends: dict[str, float], x: float, look: Theme) -> None:
    """Writes the names at the ends of their lines: joined where lines meet, moved apart where names would overlap."""
    names: dict[float, list[str]] = {}
    for name, end in ends.items():
        names.setdefault(round(end, 9), []).append(name)
    heights = sorted(names)
    low, high = ax.get_ylim()
    gap = LABEL_GAP * (high - low)
    up, down = list(heights), list(heights)
    for i in range(1, len(heights)):
        up[i] = max(up[i], up[i - 1] + gap)
        down[-i - 1] = min(down[-i - 1], down[-i] - gap)
    ax.set_xlim(right=x)
    for end, upper, lower in zip(heights, up, down, strict=True):
        together = names[end]
        colour = look.of(LINES[together[0]]["color"]) if len(together) == 1 else look.ink
        ax.annotate(
            " = ".join(together), (x, (upper + lower) / 2), xytext=(7, 0), textcoords="offset points",
            color=colour, va="center", ha="left", annotation_clip=False,
        )  # fmt: skip
