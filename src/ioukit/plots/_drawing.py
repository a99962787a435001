"""What the pictures share: axes, colours that all eyes tell apart, and boxes as paths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._optional import import_extra
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.legend import Legend
    from matplotlib.patches import PathPatch
    from matplotlib.text import Text

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "WHITE_EDGE",
    "Theme",
    "ThemeName",
    "as_boxes",
    "axes_for",
    "dress",
    "legend_beside",
    "letters",
    "literal",
    "rings",
    "shorten",
    "theme_of",
    "tint",
]

# Okabe and Ito, Color Universal Design (2008). Colour never stands alone: a hatch or a line style says the same.
BLACK, ORANGE, GREEN, BLUE, VERMILLION, PURPLE = "#000000", "#E69F00", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
SKY = "#56B4E9"

WHITE_EDGE = {"boxstyle": "round,pad=0.2", "facecolor": "white", "edgecolor": "none", "alpha": 0.9}
"""The plate behind a text that stands on a hatch."""


ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Theme:
    """The colours of a figure on light or on dark paper. Every pair that stands together has a contrast of 3:1."""

    paper: str
    ink: str
    """Text, and the line that matters most."""
    soft: str
    """Ticks, edges and what is said aside."""
    faint: str
    """The lines of the grid."""
    blue: str
    good: str = GREEN
    bad: str = VERMILLION
    many: str = "#8C8C8C"
    """Lines that are too many for names."""

    @property
    def styles(self) -> tuple[tuple[str, Any], ...]:
        """Colour and dashes of lines with names: each tells them apart without the other."""
        return (
            (self.blue, "--"),
            (VERMILLION, "-."),
            (GREEN, (0, (1, 1))),
            (PURPLE, (0, (6, 1.5, 1, 1.5, 1, 1.5))),
            (ORANGE, (0, (8, 2))),
            (self.soft, (0, (3, 3))),
        )


THEMES = {
    "light": Theme(paper="#FFFFFF", ink="#000000", soft="#555555", faint="#E4E4E4", blue=BLUE),
    "dark": Theme(paper="#15171C", ink="#F2F2F2", soft="#B4B8C0", faint="#30343C", blue=SKY),
}


def theme_of(name: ThemeName) -> Theme:
    """The colours that a name stands for."""
    if name not in THEMES:
        raise ValueError(f"unknown theme {name!r}; choose from {', '.join(THEMES)}")
    return THEMES[name]


def axes_for(ax: Axes | None, *, needed_by: str, figsize: tuple[float, float], paper: str | None = None) -> Axes:
    """The caller's axes, or those of a new figure (``figsize`` in inches), which pyplot knows nothing of."""
    if ax is not None:
        return ax
    figure = import_extra("matplotlib.figure", extra="plots", needed_by=needed_by)
    made = figure.Figure(figsize=figsize, layout="constrained", facecolor=paper)
    if paper is not None:
        made.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)  # inches; pages set dark figures without a margin
    new: Axes = made.subplots()
    return new


def dress(ax: Axes, theme: Theme, *, grid: Literal["x", "y", "both"] | None = None) -> None:
    """Gives axes the paper and the ink of a theme; the figure around the caller's axes stays the caller's."""
    ax.set_facecolor(theme.paper)
    ax.spines[:].set_color(theme.soft)
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", color=theme.soft, labelcolor=theme.ink)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(theme.ink)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(visible=True, axis=grid, color=theme.faint, lw=0.6)


def tint(colour: str, strength: float, paper: str = "#FFFFFF") -> str:
    """A colour thinned with that of the paper, opaque.

    A transparent one hides a hatch of the full colour in SVG: matplotlib (3.11) paints both opaque, then thins both.
    """
    parts = [(int(colour[k : k + 2], 16), int(paper[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(strength * one + (1 - strength) * other):02X}" for one, other in parts)


def shorten(name: str, longest: int = 28) -> str:
    """A name on one line, its middle left out where it is long: names that share a beginning still differ."""
    name = "".join(letter if letter.isprintable() else " " for letter in name)
    if len(name) <= longest:
        return name
    tail = longest // 3
    return f"{name[: longest - tail - 1].rstrip()}…{name[-tail:].lstrip()}"


# Fonts of the systems in use with letters that matplotlib's own lacks. Colour fonts of emoji are not among them:
# matplotlib draws outlines.
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo",
    "Arial Unicode MS", "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Emoji", "Segoe UI Emoji", "Symbola",
)  # fmt: skip


def letters() -> dict[str, Any]:
    """Options of a text whose letters are shown as they are: ``$5_a$`` is no formula.

    A letter that the caller's font lacks comes from another one, if one is installed that has it.
    """
    matplotlib = import_extra("matplotlib", extra="plots", needed_by="ioukit.plots")
    manager = import_extra("matplotlib.font_manager", extra="plots", needed_by="ioukit.plots").fontManager
    installed = {font.name for font in manager.ttflist}
    families = [*matplotlib.rcParams["font.family"], *(name for name in OTHER_FONTS if name in installed)]
    return {"parse_math": False, "usetex": False, "fontfamily": families}


def literal(text: Text) -> Text:
    """Shows the letters of a text as they are."""
    text.set(**letters())
    return text


def legend_beside(
    ax: Axes, handles: Sequence[Any], names: Sequence[str], theme: Theme, *, fontsize: float = 9, **options: Any
) -> Legend:
    """A legend to the right of the axes, where it covers nothing, with names shown as they are."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.3, "handlelength": 2.8, **options}
    # The names come in afterwards: matplotlib leaves out those that begin with an underscore.
    legend = ax.legend(list(handles), ["-"] * len(handles), frameon=False, fontsize=fontsize, **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        literal(text).set_text(name)
        text.set_color(theme.ink)
    return legend


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
