"""Figures of data sets: objects by class and image, and their sizes, shapes, positions and nearest neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_count
from ioukit._optional import import_extra
from ioukit._words_and_colours import percent, shorten
from ioukit.plots._drawing import (
    add_scale,
    axes_for,
    dress,
    legend_above,
    name_rows,
    theme_of,
    tint,
    tinted,
    write_value,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.inspection import Inspection
    from ioukit.plots._drawing import ThemeName


def class_counts_figure(
    inspection: Inspection, *, most: int = 30, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draws the number of objects of each class on a logarithmic axis, the most frequent first.

    Args:
        inspection: The result of `ioukit.inspect`.
        most: How many classes to draw; the axis says how many others there are.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of classes.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` ``"class 0"``, ..., the position of the class. The number of
        objects is beside each bar.

    Raises:
        ValueError: If ``most`` is below 1.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = class_counts_figure(inspection, most=3)
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['person', 'book', 'chair']
    """
    look = theme_of(theme)
    check_count(most=most)
    counts, names = inspection.objects_per_class, inspection.ground_truth.categories.names
    rows = np.argsort(-counts, kind="stable")[:most].tolist()
    ax = axes_for(ax, look, (6.0, 1.0 + 0.21 * max(len(rows), 4)), needed_by="class_counts_figure")
    bars = ax.barh(range(len(rows)), counts[rows], 0.72, color=look.blue)
    for bar, row in zip(bars, rows, strict=True):
        bar.set_gid(f"class {row}")
    for place, count in enumerate(counts[rows].tolist()):
        write_value(ax, f"{count:,}", (count, place), look, gap=4, gid=f"count {place}")
    name_rows(ax, [shorten(names[row]) for row in rows], fontsize=8.5)
    dress(ax, look, grid="x")
    top = float(counts.max(initial=1))
    ax.set_xscale("symlog", linthresh=1)
    others = len(counts) - len(rows)
    more = f" ({others:,} more classes have {int(counts.sum() - counts[rows].sum()):,})" if others else ""
    ax.set(xlim=(0, max(top, 1.0) ** 1.12 + 1), xlabel=f"objects, log scale{more}")
    _whole_decades(ax, top)
    return ax


def objects_per_image_figure(inspection: Inspection, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
    """Draws how many images have how many objects: none, 1, 2, 3 to 4, 5 to 8, and so on.

    Args:
        inspection: The result of `ioukit.inspect`.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` such as ``"0"`` or ``"5-8"``; the bar of images without objects is
        hatched. The number of images is above each bar.

    Raises:
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = objects_per_image_figure(inspection)
        >>> [bar.get_gid() for bar in ax.patches]
        ['0', '1', '2', '3-4', '5-8', '9-16', '17-32', '33-64']
    """
    from ioukit.inspection.histograms import (  # noqa: PLC0415 - keeps `import ioukit.plots` fast
        per_image_histogram,
        range_names,
    )

    look, found = theme_of(theme), per_image_histogram(inspection)
    counts = found.counts[0]
    names = range_names(found.edges)
    ax = axes_for(ax, look, (6.0, 3.2), needed_by="objects_per_image_figure")
    for place, (name, count) in enumerate(zip(names, counts.tolist(), strict=True)):
        style: dict[str, Any] = {"fc": look.blue} if place else {"fc": look.paper, "ec": look.blue, "hatch": "////"}
        ax.bar(place, count, 0.8, **style)[0].set_gid(name)
        write_value(ax, f"{count:,}", (place, count), look, gap=3, upwards=True, gid=f"count {place}")
    ax.set_xticks(range(len(names)), names)
    dress(ax, look, grid="y")
    ax.set(ylim=(0, 1.12 * max(float(counts.max()), 1.0)), xlabel="objects on an image", ylabel="images")
    return ax


def _whole_decades(ax: Axes, top: float) -> None:
    """Ticks at 0, 1, 10, 100 and so on, as numbers without an exponent."""
    ticks = [0, *(10**k for k in range(int(np.log10(max(top, 1.0))) + 1))]
    ax.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    ax.set_xticks([], minor=True)


def object_sizes_figure(
    inspection: Inspection,
    *,
    classes: Sequence[int | str] | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws a histogram of the sides of the objects, the square roots of their areas, on a logarithmic axis.

    Small, medium and large objects, by COCO's bounds of 32 and 96 pixels, have a colour and a hatch each.

    Args:
        inspection: The result of `ioukit.inspect`.
        classes: Ids or names of the classes to count; by default all.
        ax: Where to draw; by default axes of a new figure, with the legend above.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The parts are patches with ``get_gid()`` ``"small"``, ``"medium"`` and ``"large"``; the legend has
        their numbers of objects.

    Raises:
        ValueError: If there is no such class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = object_sizes_figure(inspection, classes=["person"])
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['small: 63', 'medium: 65', 'large: 93']
    """
    from ioukit.inspection.histograms import side_histogram  # noqa: PLC0415 - keeps `import ioukit.plots` fast
    from ioukit.inspection.inspection import SIZES  # noqa: PLC0415 - as above

    look, found = theme_of(theme), side_histogram(inspection)
    counts, edges = _of_classes(inspection, found.counts, classes), found.edges
    ax = axes_for(ax, look, (6.4, 3.2), needed_by="object_sizes_figure")
    handles, words = [], []
    styles = zip(SIZES.items(), (look.bad, look.blue, look.good), ("..", "", "//"), strict=True)
    for (name, (low, high)), colour, hatch in styles:
        inside = (edges[:-1] >= np.sqrt(low) * (1 - 1e-9)) & (edges[:-1] < np.sqrt(high) * (1 - 1e-9))
        shown = np.flatnonzero(inside)
        bounds = edges[shown[0] : shown[-1] + 2]
        handles.append(ax.stairs(counts[inside], bounds, gid=name, **tinted(colour, hatch, look)))
        words.append(f"{name}: {int(counts[inside].sum()):,}")
    legend_above(ax, handles, words, look)
    dress(ax, look, grid="y")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="side, the square root of the area, in pixels", ylabel="objects")
    _limits(ax, counts, edges)
    ax.set_xticks([1, 2, 4, 8, 16, 32, 64, 96, 128, 256, 512, 1024, 2048, 4096])
    ax.set_xticks([], minor=True)
    ax.xaxis.set_major_formatter(lambda x, _: "" if x in (64, 128) else f"{x:g}")  # beside 96, which is a bound
    _limits(ax, counts, edges)
    return ax


def object_shapes_figure(
    inspection: Inspection,
    *,
    classes: Sequence[int | str] | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws a histogram of width over height on a logarithmic axis: tall boxes on the left, wide ones on the right.

    Args:
        inspection: The result of `ioukit.inspect`.
        classes: Ids or names of the classes to count; by default all.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The histogram is a patch with ``get_gid()`` ``"shapes"``, the dashed line ``"median"`` the median.
        Boxes without an area are left out.

    Raises:
        ValueError: If there is no such class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = object_shapes_figure(inspection)
        >>> ax.get_legend().get_texts()[0].get_text()
        'median 0.81'
    """
    from ioukit.inspection.histograms import ratio_histogram  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    look, found = theme_of(theme), ratio_histogram(inspection)
    counts, edges = _of_classes(inspection, found.counts, classes), found.edges
    ax = axes_for(ax, look, (6.4, 3.2), needed_by="object_shapes_figure")
    ax.stairs(counts, edges, gid="shapes", **tinted(look.blue, "", look))
    ratios = inspection.aspect_ratios[_rows(inspection, classes)]
    ratios = ratios[~np.isnan(ratios)]
    if len(ratios):
        middle = float(np.median(ratios))
        line = ax.axvline(middle, color=look.ink, ls="--", lw=1.2, gid="median")
        legend_above(ax, [line], [f"median {middle:.2f}"], look)
    dress(ax, look, grid="y")
    ax.set_xscale("log", base=2)
    ax.set(xlabel="width / height", ylabel="objects")
    powers = range(-5, 6)
    ax.set_xticks([2.0**k for k in powers], [f"{2**k}" if k >= 0 else f"1/{2**-k}" for k in powers])
    ax.set_xticks([], minor=True)
    _limits(ax, counts, edges)
    return ax


def object_positions_figure(
    inspection: Inspection, *, cells: int = 32, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draws where the centres of the objects lie on the images, as a heat map. All images are stretched to one square.

    Args:
        inspection: The result of `ioukit.inspect`.
        cells: Cells along each side: 1, 2, 4, 8, 16 or 32. Take fewer for small data sets.
        ax: Where to draw; by default axes of a new figure, with a scale.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The heat map is an image with ``get_gid()`` ``"positions"``. Objects on images of unknown size, and
        centres outside of the image, are left out.

    Raises:
        ValueError: If ``cells`` is none of these numbers.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = object_positions_figure(inspection, cells=8)
        >>> int(ax.images[0].get_array().sum())
        745
    """
    look, whole = theme_of(theme), inspection.positions
    if cells < 1 or len(whole) % cells:
        raise ValueError(f"cells must divide {len(whole)}, got {cells}")
    size = len(whole) // cells
    counts = whole.reshape(cells, size, cells, size).sum(axis=(1, 3))
    colors = import_extra("matplotlib.colors", extra="plots", needed_by="object_positions_figure")
    steps = [tint(look.blue, strength, look.paper) for strength in np.linspace(0.0, 1.0, 9)]
    steps.append(tint(look.ink, 0.35, look.blue))
    map_ = colors.LinearSegmentedColormap.from_list("ioukit", steps)
    ax = axes_for(ax, look, (4.6, 3.7), needed_by="object_positions_figure")
    top = max(int(counts.max(initial=0)), 1)
    image = ax.imshow(
        counts, cmap=map_, vmin=0, vmax=top, extent=(0, 1, 1, 0), interpolation="nearest", gid="positions"
    )
    add_scale(ax, image, "centres in a cell", look, shrink=0.9, ticks=sorted({0, top // 2, top}))
    dress(ax, look, framed=True)
    ax.set(xlabel="x / width of the image", ylabel="y / height of the image")
    ax.set_xticks([0, 0.5, 1], ["0", "0.5", "1"])
    ax.set_yticks([0, 0.5, 1], ["0", "0.5", "1"])
    return ax


def neighbour_overlaps_figure(
    inspection: Inspection,
    *,
    classes: Sequence[int | str] | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws how many objects overlap their nearest neighbour by at least some IoU.

    NMS with a threshold below the IoU removes one of two neighbours, even if both are found: if both are of one class,
    or NMS compares all classes.

    Args:
        inspection: The result of `ioukit.inspect`.
        classes: Ids or names of the classes to count; by default all.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The lines have ``get_gid()`` ``"any class"`` and ``"same class"``. Crowds are left out. The scale of
        the shares is logarithmic below 100 %, and linear near 0.

    Raises:
        ValueError: If there is no such class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = neighbour_overlaps_figure(inspection)
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['any class: 4.4 % at IoU 0.5', 'same class: 1.1 % at IoU 0.5']
    """
    from ioukit.inspection.histograms import overlap_histogram  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    look = theme_of(theme)
    ax = axes_for(ax, look, (6.4, 3.2), needed_by="neighbour_overlaps_figure")
    handles, words = [], []
    for same, name, style in ((False, "any class", "-"), (True, "same class", "--")):
        found = overlap_histogram(inspection, same_class=same)
        counts = _of_classes(inspection, found.counts, classes)
        reached = counts[::-1].cumsum()[::-1][1:]  # at least 0 are all
        shares = 100 * reached / max(int(counts.sum()), 1)
        colour = look.ink if not same else look.blue
        handles += ax.plot(found.edges[1:-1], shares, style, color=colour, lw=1.8, gid=name)
        half = shares[int(np.searchsorted(found.edges[1:-1], 0.5 - 1e-9))]
        words.append(f"{name}: {percent(half / 100, 1)} at IoU 0.5")
    legend_above(ax, handles, words, look)
    dress(ax, look, grid="both")
    ax.set_yscale("symlog", linthresh=0.1, linscale=0.4)
    ax.set(xlim=(0, 1), ylim=(0, 110), xlabel="IoU with the nearest neighbour, at least", ylabel="% of the objects")
    ax.set_yticks([0, 0.1, 1, 10, 100], ["0", "0.1", "1", "10", "100"])
    ax.set_yticks([], minor=True)
    return ax


def _rows(inspection: Inspection, classes: Sequence[int | str] | None) -> Any:
    """The objects of the chosen classes: a slice of all, or (N,) bools."""
    if classes is None:
        return slice(None)
    return np.isin(inspection.classes, inspection.ground_truth.categories.positions(classes))


def _of_classes(
    inspection: Inspection, counts: NDArray[np.int64], classes: Sequence[int | str] | None
) -> NDArray[np.int64]:
    """(B,) the counts of the chosen classes together."""
    chosen = None if classes is None else sorted(set(inspection.ground_truth.categories.positions(classes)))
    found: NDArray[np.int64] = counts[0] if chosen is None else counts[1:][chosen].sum(axis=0)
    return found


def _limits(ax: Axes, counts: NDArray[np.int64], edges: Any) -> None:
    """Leaves out the empty bins at both ends."""
    filled = np.flatnonzero(counts)
    low, high = (filled[0], filled[-1] + 1) if len(filled) else (0, len(counts))
    ax.set_xlim(edges[max(low - 1, 0)], edges[min(high + 1, len(counts))])
    ax.set_ylim(0, 1.06 * max(float(counts.max(initial=0)), 1.0))
