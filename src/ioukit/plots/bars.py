"""Bars: AP by size, AP of each class, the AP that each kind of error costs, and numbers of slices."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._checks import check_result, pluralize
from ioukit._words_and_colours import KIND_NAMES, shorten
from ioukit.plots._drawing import (
    axes_for,
    dress,
    is_narrow,
    legend_above,
    legend_beside,
    letters,
    name_rows,
    theme_of,
    write_value,
)
from ioukit.plots._reading import average_precision, chosen, made_of, mean_of_classes, models_of, number, operating_of
from ioukit.plots.models import draw_class_dots

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ioukit.evaluation import Curves, ErrorKinds, Evaluation
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.slices import SliceNumbers
    from ioukit.statistics import Interval
    from ioukit.typing import FloatArray


MOST_CLASSES = 40  # that are drawn by default: with more, the names are too small for a page
LARGEST = 1e5  # a side of this length or more stands for no limit: COCO's ranges end at 1e5 squared


def ap_by_size_figure(evaluation: Evaluation, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
    """Draws AP by the size of the objects: the mean over the IoU thresholds, and AP at the thresholds of the summary.

    Args:
        evaluation: The result of `ioukit.evaluate`.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` such as ``"AP small"`` or ``"AP50 all"``. The labels below have
        the limits of the sizes, as the side of a square in pixels, and the numbers of objects. A size without objects
        has a dash.

    Raises:
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = ap_by_size_figure(evaluation)
        >>> [f"{bar.get_height():.3f}" for bar in ax.patches[:4]]  # AP: all, small, medium, large
        ['0.400', '0.117', '0.371', '0.547']
    """
    curves, look = evaluation.curves, theme_of(theme)
    areas = curves.protocol.area_ranges
    series = _ap_by_size(curves)
    ax = axes_for(ax, look, (2.4 + 1.3 * len(areas), 3.6), needed_by="ap_by_size_figure")
    objects = evaluation.matches.num_objects.sum(axis=0).tolist()
    looks = [(look.blue, ""), (look.paper, ""), (look.paper, "////")]
    width = 0.8 / len(series)
    group = 72 * ax.bbox.width / ax.figure.dpi / max(len(areas), 1)  # points
    digits, letters_of_ticks = float(np.clip(group * width / 2.2, 4.5, 8)), float(np.clip(group / 8, 5, 9))
    handles = []
    for s, (name, values) in enumerate(series.items()):
        fill, hatch = looks[s]
        x = np.arange(len(areas)) + (s - (len(series) - 1) / 2) * width
        bars = ax.bar(x, np.nan_to_num(values), 0.92 * width, fc=fill, ec=look.blue, hatch=hatch, lw=1.2)
        handles.append(bars)
        for bar, label, value in zip(bars, areas, values.tolist(), strict=True):
            bar.set_gid(f"{name} {label.label}")
            top = (bar.get_x() + bar.get_width() / 2, bar.get_height())
            write_value(ax, number(value, 2), top, look, gap=2, upwards=True, fontsize=digits)
    ticks = [
        f"{shorten(area.label, 16)}\n{_limits(area.low, area.high)}\n{pluralize(n, 'object')}"
        for area, n in zip(areas, objects, strict=True)
    ]
    ax.set_xticks(range(len(areas)), ticks, fontsize=letters_of_ticks, **letters())
    legend_beside(ax, handles, list(series), look)
    dress(ax, look, grid="y")
    ax.set(ylabel="AP", ylim=(0, 1.08), yticks=np.linspace(0, 1, 6))
    ax.tick_params(axis="x", length=0)
    return ax


def _ap_by_size(curves: Curves) -> dict[str, FloatArray]:
    """(A,) AP by area range, under the names of at most three measures that differ by their IoU thresholds."""
    protocol = curves.protocol
    rows = np.arange(len(curves.categories))
    by_area = [average_precision(curves, rows, label) for label in protocol.area_labels]
    means = np.stack([mean_of_classes(values, 1, protocol) for values in by_area], axis=1)  # (T, A)
    series = {"AP": means.mean(axis=0)} if len(protocol.iou_thresholds) > 1 else {}
    for measure in protocol.measures:
        main = measure.area_range in (None, protocol.main_area) and measure.max_dets in (None, protocol.main_max_dets)
        at = None if measure.iou_threshold is None else protocol.find_iou(measure.iou_threshold)
        if main and at is not None and measure.quantity == "AP" and len(series) < 3:
            series[measure.key] = means[at]
    return series or {f"AP at IoU {protocol.iou_thresholds[0]:g}": means[0]}


def _limits(low: float, high: float) -> str:
    sides = math.sqrt(max(low, 0)), math.sqrt(max(high, 0))
    if sides[1] >= LARGEST:
        return "any side" if sides[0] == 0 else f"at least {sides[0]:.4g} px"
    return f"up to {sides[1]:.4g} px" if sides[0] == 0 else f"{sides[0]:.4g} to {sides[1]:.4g} px"


def class_ap_figure(
    evaluation: Evaluation | Mapping[str, Evaluation],
    *,
    iou_threshold: float | None = None,
    classes: Sequence[int | str] | Literal["all"] | None = None,
    area_range: str | None = None,
    sort: bool = True,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the AP of each class as a bar, the best at the top.

    Next to the bars are AP and the number of objects, because the AP of a class with three objects says little. Of
    several models, each class has a dot per model in place of a bar.

    Args:
        evaluation: The result of `ioukit.evaluate`; or those of up to six models, by their names.
        iou_threshold: One of the protocol's IoU thresholds; ``None`` for the mean over all, with a ring at the AP of
            the lowest.
        classes: Ids or names of the classes to draw; by default the forty with the most objects, and ``"all"`` for all.
        area_range: Label of an area range; the protocol's main one if ``None``.
        sort: Whether to sort by descending AP, classes without objects last; otherwise ``classes`` gives the order.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of classes.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` ``"class 0"``, ..., the position of the class. The dashed line
        ``"mean"`` is the mean of the classes that were asked for, by default of all. Dots are lines ``"model 0"``, ....

    Raises:
        ValueError: If there is no such threshold, area range or class, or the models were evaluated by different rules.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = class_ap_figure(evaluation, classes=["chair", "person", "car"], iou_threshold=0.5)
        >>> [label.get_text() for label in ax.get_yticklabels()]  # the best first
        ['car', 'person', 'chair']
    """
    models, look = models_of(evaluation), theme_of(theme)
    curves = next(iter(models.values()))
    protocol, rows = curves.protocol, chosen(curves.categories, classes)
    iou, area = operating_of(protocol, iou_threshold, area_range)
    what = "AP, mean over IoU thresholds" if iou_threshold is None else f"AP at IoU {iou:g}"
    what = what if area == protocol.main_area else f"{what} ({area})"
    first = next(iter(evaluation.values())) if isinstance(evaluation, Mapping) else evaluation
    objects = first.matches.num_objects[rows, protocol.position_of_area(area)]
    most = np.sort(np.argsort(-objects, kind="stable")[: MOST_CLASSES if classes is None else None])
    if len(most) < len(rows):
        what = f"{what}\nthe {len(most)} classes with the most objects"
    ax = axes_for(ax, look, (6.0, 1.3 + 0.19 * max(len(most), 4)), needed_by="class_ap_figure", rows=True)
    size = _font(ax, len(most))
    ax.set(xlim=(0, 1), xlabel=what)
    if isinstance(evaluation, Mapping):
        at = slice(None) if iou_threshold is None else protocol.position_of_iou(iou)
        draw_class_dots(ax, models, rows[most], at, area, look, sort=sort, fontsize=size)
        return ax
    by_threshold = average_precision(curves, rows, area)  # (T, K)
    found = by_threshold.mean(axis=0) if iou_threshold is None else by_threshold[protocol.position_of_iou(iou)]
    mean = float(mean_of_classes(found, 0, protocol))
    order = np.argsort(-np.nan_to_num(found, nan=-1.0), kind="stable") if sort else np.arange(len(rows))
    order = order[np.isin(order, most)]
    rows, found, loosest = rows[order], found[order], by_threshold[0][order]

    bars = ax.barh(range(len(rows)), np.nan_to_num(found), 0.72, color=look.blue)
    for bar, row in zip(bars, rows.tolist(), strict=True):
        bar.set_gid(f"class {row}")
    handles, words = [], []
    if not math.isnan(mean):
        handles.append(ax.axvline(mean, color=look.ink, ls="--", lw=1.2, gid="mean"))
        words.append(f"mean {mean:.3f}" + (f" of {len(objects):,} classes" if len(most) < len(objects) else ""))
    thresholds = protocol.iou_thresholds
    if iou_threshold is None and len(thresholds) > 1:
        style: dict[str, Any] = {"mfc": look.paper, "mec": look.ink, "ms": max(size / 2, 2), "ls": "none", "mew": 1.0}
        handles += ax.plot(loosest, range(len(rows)), "o", gid="loosest", clip_on=False, zorder=4, **style)
        words.append(f"AP at IoU {thresholds[0]:g}")
    counts = objects[order].tolist()
    _columns(ax, [(number(value), f"{n:,}") for value, n in zip(found.tolist(), counts, strict=True)], size, look)
    name_rows(ax, [shorten(curves.categories.names[row]) for row in rows], fontsize=size)
    legend_above(ax, handles, words, look, columns=2)
    dress(ax, look, grid="x")
    return ax


def _font(ax: Axes, rows: int) -> float:
    """The size of letters in points for a number of rows; at least 3, which is readable when enlarged."""
    height = 72 * ax.bbox.height / ax.get_figure(root=True).dpi  # type: ignore[union-attr]
    return float(np.clip(0.78 * height / max(rows, 1), 3.0, 9.0))


def _columns(ax: Axes, cells: Sequence[tuple[str, str]], size: float, look: Theme) -> None:
    """AP and the number of objects in columns to the right, with headings."""
    # A mark at 1 stands half over the edge of the axes, so the columns keep away from it.
    for column, (head, wide) in enumerate((("AP", 5.4), ("objects", 11.3))):
        place: dict[str, Any] = {
            "textcoords": "offset points",
            "ha": "right",
            "fontsize": size,
            "annotation_clip": False,
        }
        for row, cell in enumerate(cells):
            ax.annotate(
                cell[column], (1, row), xycoords=ax.get_yaxis_transform(), xytext=(wide * size * 0.8, 0),
                va="center", color=look.ink, gid=f"{head} {row}", **place,
            )  # fmt: skip
        ax.annotate(
            head, (1, 1), xycoords="axes fraction", xytext=(wide * size * 0.8, 2), va="bottom", color=look.soft,
            **place,
        )  # fmt: skip


def error_kinds_figure(errors: ErrorKinds | Evaluation, *, ax: Axes | None = None, theme: ThemeName = "light") -> Axes:
    """Draws the gain in AP if all errors of one kind were corrected, as in TIDE.

    Args:
        errors: The result of `ioukit.evaluation.error_kinds`, or an evaluation, whose kinds are then found.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` such as ``"missed"``. The bars of all false positives and of all
        false negatives are hatched and apart from the others, because they contain the others. Next to the bars are the
        values and, for the six kinds, the number of errors.

    Raises:
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = error_kinds_figure(evaluation.error_kinds())
        >>> [text.get_text() for text in ax.texts][:2]
        ['0.048  (166)', '0.091  (787)']

    Reference: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020,
    arXiv:2008.08115.
    """
    kinds = made_of(errors, "delta_ap", "evaluation.error_kinds()", lambda given: given.error_kinds())
    look = theme_of(theme)
    names = [name for name in KIND_NAMES if name in kinds.delta_ap]
    values: FloatArray = np.array([kinds.delta_ap[name] for name in names], np.float64)
    special = np.array([name.startswith("false_") for name in names], bool)
    places = np.arange(len(names)) + 0.5 * special
    ax = axes_for(ax, look, (7.2, 3.2), needed_by="error_kinds_figure")
    for name, value, place, apart in zip(names, values.tolist(), places.tolist(), special.tolist(), strict=True):
        fill: dict[str, Any] = {"fc": look.paper, "hatch": "////"} if apart else {"fc": look.bad}
        (bar,) = ax.barh(place, 0 if math.isnan(value) else value, 0.7, ec=look.bad, lw=1.2, **fill)
        bar.set_gid(name)
        count = kinds.counts.get(name)
        words = number(value) if count is None else f"{number(value)}  ({count:,})"
        edge = max(0 if math.isnan(value) else value, 0)
        write_value(ax, words, (edge, place), look, gap=4, fontsize=9, gid=f"value of {name}")
    ax.set_yticks(places, [KIND_NAMES[name] for name in names], fontsize=9)
    dress(ax, look, grid="x")
    top = float(np.nanmax(values, initial=0.0))
    low = min(float(np.nanmin(values, initial=0.0)), 0.0)
    ax.set(ylim=(max(places, default=0) + 0.6, -0.6), xlim=(1.1 * low, max(1.25 * top, 0.01)))
    gap = "\n" if is_narrow(ax) else " "
    ax.set_xlabel(f"gain in AP if corrected{gap}(AP at IoU {kinds.iou_threshold:g} is {number(kinds.ap)})")
    ax.tick_params(axis="y", length=0)
    return ax


def slices_figure(
    numbers: SliceNumbers, *, key: str | None = None, ax: Axes | None = None, theme: ThemeName = "light"
) -> Axes:
    """Draws a number of each slice as a bar, with its interval as a line.

    Args:
        numbers: The result of `ioukit.slices.slice_numbers`.
        key: The number to draw; the first one if ``None``.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of slices.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Bars are patches with ``get_gid()`` ``"slice 0"``, ..., and ``"slice 0 of b"``, ... if there is a
        second model. They are hatched where false positives count in every slice of a column. The dashed line
        ``"whole"`` is the number of the whole data set.

    Raises:
        ValueError: If there is no such number.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.slices import slice_numbers
        >>> ax = slices_figure(slice_numbers(evaluation, "size", keys=["AP"], replicates=20))
        >>> [f"{bar.get_width():.3f}" for bar in ax.patches]  # small, medium, large
        ['0.117', '0.371', '0.547']
    """
    check_result(numbers, "whole_of_b", "slice_numbers(...)")
    key = numbers.keys[0] if key is None else key
    if key not in numbers.keys:
        raise ValueError(f"no number {key!r}; there are {', '.join(numbers.keys)}")
    look, rows, two = theme_of(theme), list(numbers), bool(numbers.whole_of_b)
    height = 1.2 + (0.5 if two else 0.3) * max(len(rows), 3)
    ax = axes_for(ax, look, (7.2, height), needed_by="slices_figure")
    thick = 0.36 if two else 0.66
    handles: list[Any] = []
    words = []
    for at, one in enumerate(rows):
        hatch = "////" if one.shares_false_positives else ""
        _bar(ax, at - (thick / 2 if two else 0), thick, one.numbers[key], look, look.blue, hatch, f"slice {at}")
        if two:
            _bar(ax, at + thick / 2, thick, one.of_b[key], look, look.bad, hatch, f"slice {at} of b")
    if two:
        handles += [ax.plot([], [], color=colour, lw=6)[0] for colour in (look.blue, look.bad)]
        words += ["A", "B"]
    if not math.isnan(numbers.whole[key]):
        handles.append(ax.axvline(numbers.whole[key], color=look.ink, ls="--", lw=1.2, gid="whole"))
        words.append(f"whole data set{', A' if two else ''}: {numbers.whole[key]:.3f}")
    name_rows(ax, [f"{shorten(one.name, 44)}\n{pluralize(one.objects, 'object')}" for one in rows], fontsize=8)
    legend_above(ax, handles, words, look)
    dress(ax, look, grid="x")
    ax.set(xlim=(0, 1), xlabel=key, xticks=np.linspace(0, 1, 6))
    return ax


def _bar(
    ax: Axes, place: float, thick: float, number: Interval, look: Theme, colour: str, hatch: str, name: str
) -> None:
    value = 0.0 if math.isnan(number.value) else number.value
    (bar,) = ax.barh(place, value, thick, fc=look.paper if hatch else colour, ec=colour, hatch=hatch, lw=1.2)
    bar.set_gid(name)
    if not math.isnan(number.low):
        ax.plot(
            [number.low, number.high], [place, place], color=look.ink, lw=1.6, marker="|", ms=5, gid=f"{name} limits"
        )
    edge = max(value, 0.0 if math.isnan(number.high) else number.high)
    write_value(ax, "-" if math.isnan(number.value) else f"{number.value:.3f}", (edge, place), look, gap=5)
