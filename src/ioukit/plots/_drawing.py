"""What the figures share: axes, colours that colour-blind readers can tell apart, and boxes as paths."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._checks import check_positive
from ioukit._optional import import_extra
from ioukit._words_and_colours import COLOURS
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path
    from matplotlib.text import Text

    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray


# Okabe and Ito, Color Universal Design (2008). Colour is never the only sign: a hatch or a line style says the same.
BLACK, ORANGE, GREEN, BLUE, VERMILLION, PURPLE = "#000000", "#E69F00", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
SKY = "#56B4E9"


ThemeName = Literal["light", "dark"]


@dataclass(frozen=True)
class Theme:
    """The colours of a figure on a light or a dark background. Neighbouring colours have a contrast of 3:1 or more."""

    paper: str
    ink: str
    """Text, and the most important line."""
    soft: str
    """Ticks, edges and secondary text."""
    faint: str
    """The lines of the grid."""
    blue: str
    good: str = GREEN
    bad: str = VERMILLION
    many: str = "#8C8C8C"
    """Lines that are too many to have names."""
    dark: bool = False

    @property
    def plate(self) -> dict[str, Any]:
        """The plate behind a text on a hatch."""
        return {"boxstyle": "round,pad=0.2", "facecolor": self.paper, "edgecolor": "none", "alpha": 0.9}

    def colour_of(self, meaning: str) -> str:
        """The colour of an outcome or of a number, by its name in `COLOURS`."""
        return COLOURS[meaning].dark if self.dark else COLOURS[meaning].light

    def of(self, colour: str) -> str:
        """A colour of the light theme, as this theme has it."""
        return {BLACK: self.ink, BLUE: self.blue}.get(colour, colour)

    @property
    def styles(self) -> tuple[tuple[str, Any], ...]:
        """Colour and dashes of lines with names: either of the two is enough to tell the lines apart."""
        return (
            (self.blue, "--"),
            (VERMILLION, "-."),
            (GREEN, (0, (1, 1))),
            (PURPLE, (0, (6, 1.5, 1, 1.5, 1, 1.5))),
            (ORANGE, (0, (8, 2))),
            (self.soft, (0, (3, 3))),
        )

    @property
    def styles_of_models(self) -> tuple[tuple[str, Any], ...]:
        """Those of models: the first one, the base of the others, has a whole line in the colour of text."""
        return ((self.ink, "-"), *self.styles[:-1])


THEMES = {
    "light": Theme(paper="#FFFFFF", ink="#000000", soft="#555555", faint="#E4E4E4", blue=BLUE),
    "dark": Theme(paper="#15171C", ink="#F2F2F2", soft="#B4B8C0", faint="#30343C", blue=SKY, dark=True),
}


def theme_of(name: ThemeName) -> Theme:
    """The theme with a name."""
    if name not in THEMES:
        raise ValueError(f"unknown theme {name!r}; choose from {', '.join(THEMES)}")
    return THEMES[name]


def new_figure(theme: Theme, size: tuple[float, float], *, needed_by: str) -> Figure:
    """A figure (``size`` in inches) that shows itself in a notebook."""
    import_extra("matplotlib.figure", extra="plots", needed_by=needed_by)
    from ioukit.plots._shown import shown_figure  # noqa: PLC0415 - needs matplotlib

    return shown_figure(figsize=size, layout="constrained", facecolor=theme.paper)


_WIDTH: ContextVar[float | None] = ContextVar("width", default=None)
_LEAST_HEIGHT = 2.6  # inches


@contextlib.contextmanager
def as_wide_as(width: float) -> Iterator[None]:
    """New figures of the block are so wide, in inches: they are laid out for this width, and need no enlarging."""
    token = _WIDTH.set(width)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def axes_for(ax: Axes | None, theme: Theme, size: tuple[float, float], *, needed_by: str, rows: bool = False) -> Axes:
    """The caller's axes, or the axes of a new figure.

    Args:
        ax: The caller's axes.
        theme: The colours.
        size: Width and height in inches. Inside of `as_wide_as`, they are those of a figure without it.
        needed_by: The function, for the message without matplotlib.
        rows: Whether the height is that of rows of text, which a narrow figure has as many of.
    """
    if ax is not None:
        return ax
    width = _WIDTH.get()
    if width is not None:
        size = width, size[1] if rows else min(size[1], max(size[1] * width / size[0], _LEAST_HEIGHT))
    figure = new_figure(theme, size, needed_by=needed_by)
    figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.08)  # inches; pages set dark figures without a margin
    from ioukit.plots._shown import Axes as ShownAxes  # noqa: PLC0415 - as above

    return figure.subplots(subplot_kw={"axes_class": ShownAxes})


def dress(ax: Axes, theme: Theme, *, grid: Literal["x", "y", "both"] | None = None, framed: bool = False) -> None:
    """Gives axes the colours of a theme; the figure around the caller's axes keeps its colours.

    Args:
        ax: The axes.
        theme: The colours.
        grid: Which lines of the grid to draw.
        framed: Whether the axes show an image or a plane: then they have a line on all four sides.
    """
    ax.set_facecolor(theme.paper)
    ax.spines[:].set_color(theme.soft)
    if not framed:
        ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(which="both", color=theme.soft, labelcolor=theme.ink)
    for text in (ax.xaxis.label, ax.yaxis.label, ax.title):
        text.set_color(theme.ink)
    ax.set_axisbelow(True)
    if grid is not None:
        ax.grid(visible=True, axis=grid, color=theme.faint, lw=0.6)


def tint(colour: str, strength: float, paper: str = "#FFFFFF") -> str:
    """A colour mixed with that of the background, opaque.

    A transparent colour hides a hatch of the full colour in SVG: matplotlib (3.11) draws both opaque, then makes both
    transparent.
    """
    parts = [(int(colour[k : k + 2], 16), int(paper[k : k + 2], 16)) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(strength * one + (1 - strength) * other):02X}" for one, other in parts)


def tinted(colour: str, hatch: str, theme: Theme) -> dict[str, Any]:
    """The style of a filled shape: a line in a colour, and a lighter fill."""
    return {"fc": tint(colour, 0.55, theme.paper), "ec": colour, "hatch": hatch, "fill": True, "lw": 1.0}


# Fonts of common systems, with letters that matplotlib's own font lacks. There are no colour fonts of emoji, because
# matplotlib draws outlines only.
OTHER_FONTS = (
    "Noto Sans CJK SC", "Noto Sans CJK JP", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Micro Hei",
    "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans", "Apple SD Gothic Neo",
    "Arial Unicode MS", "Noto Sans Arabic", "Noto Sans Devanagari", "Noto Emoji", "Segoe UI Emoji", "Symbola",
)  # fmt: skip


def letters() -> dict[str, Any]:
    """Options of a text whose letters are shown as they are: ``$5_a$`` is not a formula.

    A letter that the caller's font lacks is taken from another installed font that has it.
    """
    matplotlib = import_extra("matplotlib", extra="plots", needed_by="ioukit.plots")
    manager = import_extra("matplotlib.font_manager", extra="plots", needed_by="ioukit.plots").fontManager
    installed = {font.name for font in manager.ttflist}
    families = [*matplotlib.rcParams["font.family"], *(name for name in OTHER_FONTS if name in installed)]
    return {"parse_math": False, "usetex": False, "fontfamily": families}


def literal(text: Text) -> Text:
    """Makes a text show its letters as they are."""
    text.set(**letters())
    return text


_NARROW, _SHORT = 3.0, 20  # inches: axes in a column of a paper; letters: two names fit side by side there


def is_narrow(ax: Axes) -> bool:
    """Whether axes have the width of a column of a paper."""
    return bool(ax.get_window_extent().width < _NARROW * ax.figure.dpi)


def legend_beside(
    ax: Axes, handles: Sequence[Any], names: Sequence[str], theme: Theme, *, fontsize: float = 9, **options: Any
) -> Legend:
    """A legend to the right of the axes, where it covers nothing; above narrow ones, which it would leave no room.

    Names are shown as they are.
    """
    if not options and is_narrow(ax):
        return legend_above(ax, handles, names, theme)
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.02), "borderaxespad": 0.3, "handlelength": 2.8, **options}
    # The names are set afterwards, because matplotlib leaves out names that begin with an underscore.
    legend = ax.legend(list(handles), ["-"] * len(handles), frameon=False, fontsize=fontsize, **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        literal(text).set_text(name)
        text.set_color(theme.ink)
    return legend


def legend_above(ax: Axes, handles: Sequence[Any], names: Sequence[str], theme: Theme, *, columns: int = 3) -> Legend:
    """A legend above the axes, from the left edge on; in small letters, and rather in rows, above narrow ones."""
    place: dict[str, Any] = {"loc": "lower left", "bbox_to_anchor": (0, 1), "borderaxespad": 0.1, "ncols": columns}
    if is_narrow(ax):
        columns = min(columns, 1 + (max(map(len, names), default=0) <= _SHORT))
        place |= {"ncols": columns, "fontsize": 7, "handlelength": 2.2, "columnspacing": 0.8, "labelspacing": 0.3}
    return legend_beside(ax, handles, names, theme, **place)


def write_value(
    ax: Axes, text: str, end: tuple[float, float], theme: Theme, *, gap: float, upwards: bool = False, **options: Any
) -> None:
    """Writes the value of a bar at its end: to the right of it, or above a bar that goes upwards.

    Args:
        ax: Where to draw.
        text: The value.
        end: Where the bar ends, in the units of the data.
        theme: The colours.
        gap: The distance from the end, in points.
        upwards: Whether the bar is vertical.
        options: Options of the text.
    """
    place = {"xytext": (0, gap), "ha": "center", "va": "bottom"} if upwards else {"xytext": (gap, 0), "va": "center"}
    ax.annotate(text, end, textcoords="offset points", color=theme.ink, **{"fontsize": 8, **place, **options})


def name_rows(ax: Axes, names: Sequence[str], *, fontsize: float) -> None:
    """Writes the names of horizontal bars at 0, 1, ..., from top to bottom."""
    ax.set_yticks(range(len(names)), names, fontsize=fontsize, **letters())
    ax.set_ylim(max(len(names), 1) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0, pad=6)


def write_in_middle(ax: Axes, text: str, colour: str) -> None:
    """Writes a text in the middle of axes that have nothing to show."""
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=colour)


ABOVE = (0, 1.02)
"""Where the line of text above the axes begins, in parts of the axes."""


def write_above(ax: Axes, text: str, theme: Theme, **options: Any) -> None:
    """Writes a line of text above the axes, from the left edge on."""
    ax.text(*ABOVE, text, transform=ax.transAxes, va="bottom", fontsize=9, color=theme.ink, **options)


def add_scale(ax: Axes, mapped: Any, label: str, theme: Theme, **options: Any) -> None:
    """Adds the scale of colours of a heat map."""
    figure: Any = ax.get_figure()
    bar = figure.colorbar(mapped, ax=ax, **options)
    bar.set_label(label, color=theme.ink)
    bar.ax.tick_params(color=theme.soft, labelcolor=theme.ink)
    bar.outline.set_edgecolor(theme.soft)


def as_pixels(data: BoxesLike, fmt: BoxFormat, name: str, image_size: tuple[float, float]) -> Boxes:
    """`Boxes` in xyxy, float64 and pixels of an image of (width, height); ``name`` is their name in messages."""
    check_positive(width=image_size[0], height=image_size[1])
    boxes = as_boxes(data, fmt, name)
    return boxes.denormalize(*image_size) if boxes.normalized else boxes


def as_boxes(data: BoxesLike, fmt: BoxFormat, name: str) -> Boxes:
    """`Boxes` in xyxy and float64; ``name`` is their name in messages."""
    try:
        boxes = data if isinstance(data, Boxes) else Boxes(data, fmt, dtype=np.float64)
        return Boxes(boxes, "xyxy", dtype=np.float64)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None


def rings(ax: Axes, outlines: Sequence[FloatArray], **style: Any) -> PathPatch:
    """Adds one patch around xyxy boxes: the first, and holes in it."""
    patches = import_extra("matplotlib.patches", extra="plots", needed_by="ioukit.plots")
    parts = []
    for number, (x1, y1, x2, y2) in enumerate(outlines):
        corners = [(x1, y1), (x2, y1), (x2, y2), (x1, y2)]
        parts.append(corners if number == 0 else corners[::-1])  # a ring in the opposite direction is a hole
    patch: PathPatch = patches.PathPatch(closed_path(parts), **style)
    ax.add_patch(patch)
    return patch


def closed_path(parts: Sequence[Any]) -> Path:
    """One path of closed rings, each (P, 2) without the first point at its end."""
    paths = import_extra("matplotlib.path", extra="plots", needed_by="ioukit.plots")
    made: Path = paths.Path.make_compound_path(*(paths.Path([*ring, ring[0]], closed=True) for ring in parts))
    return made
