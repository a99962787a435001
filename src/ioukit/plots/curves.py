"""Lines: precision over recall and AP over the IoU threshold, one per class and one for their mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._optional import import_extra
from ioukit.plots._drawing import axes_for, dress, legend_beside, shorten, theme_of
from ioukit.plots._reading import average_precision, chosen, curves_of, mean_of_classes, number, operating_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from ioukit.evaluation import Curves, Evaluation, Protocol
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.typing import FloatArray


def precision_recall_figure(
    evaluation: Evaluation | Curves,
    *,
    iou_threshold: float | Literal["all"] | None = None,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws precision over recall, with AP in the legend.

    At one IoU threshold there is a line per class, and a thick one for their mean. Up to six classes have colours,
    dashes and a name with their AP. More classes are thin grey lines without names: choose some by ``classes``. With
    ``iou_threshold="all"`` there is a line per threshold: the mean over the classes.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its curves.
        iou_threshold: One of the protocol's IoU thresholds, its main one if ``None``; ``"all"`` for a line per
            threshold.
        classes: Ids or names of the classes to draw and to take the mean of; by default all.
        area_range: Label of an area range; the protocol's main one if ``None``.
        ax: Where to draw; by default axes of a new figure. The legend is to the right of the axes;
            ``layout="constrained"`` makes room for it.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"mean"``, ``"class 0"``, ... (by the position of the class) or
        ``"iou 0.5"``, ...; a class without objects has no line, and a dash for its AP.

    Raises:
        ValueError: If there is no such threshold, area range or class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = precision_recall_figure(evaluation, classes=["person", "car"])
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['mean of 2 classes: AP 0.631', 'person: AP 0.611', 'car: AP 0.652']
        >>> ax = precision_recall_figure(evaluation, iou_threshold="all")  # the mean of all classes at each threshold
    """
    curves, look = curves_of(evaluation), theme_of(theme)
    protocol, rows = curves.protocol, chosen(curves.categories, classes)
    everywhere = iou_threshold == "all"
    iou, area = operating_of(protocol, None if isinstance(iou_threshold, str) else iou_threshold, area_range)
    cap = protocol.position_of_max_dets(protocol.main_max_dets)
    precision = curves.precision[:, :, rows, protocol.position_of_area(area), cap]  # (T, R, K)
    found = average_precision(curves, rows, area)  # (T, K)
    recall = np.array(protocol.recall_thresholds)
    ax = axes_for(ax, needed_by="precision_recall_figure", figsize=(6.4, 4.0), paper=look.paper)
    if not everywhere:
        names = [curves.categories.names[row] for row in rows]
        at = protocol.position_of_iou(iou)
        _lines(ax, recall, precision[at], found[at], names, rows.tolist(), protocol, look)
        ax.set_ylabel(f"precision at IoU {iou:.2f}")
    else:
        means = mean_of_classes(precision, 2, protocol), mean_of_classes(found, 1, protocol)
        _by_threshold(ax, recall, *means, protocol.iou_thresholds, look)
        ax.set_ylabel("precision, mean of the classes")
    dress(ax, look, grid="both")
    ax.set(xlabel=_of("recall", area, protocol), xlim=(0, 1), ylim=(0, 1.02))
    return ax


def ap_by_iou_figure(
    evaluation: Evaluation | Curves,
    *,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws AP over the IoU threshold. A line that falls early belongs to a class with loose boxes.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its curves.
        classes: Ids or names of the classes to draw and to take the mean of; by default all. Up to six have names.
        area_range: Label of an area range; the protocol's main one if ``None``.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"mean"`` and ``"class 0"``, ... by the position of the class. The numbers
        in the legend are the means over the thresholds, which is COCO's AP.

    Raises:
        ValueError: If there is no such area range or class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = ap_by_iou_figure(evaluation, classes=["person"])
        >>> ax.get_lines()[0].get_ydata().round(2)[[0, 5, 9]]  # at IoU 0.50, 0.75 and 0.95
        array([0.61, 0.35, 0.01])
    """
    curves, look = curves_of(evaluation), theme_of(theme)
    rows = chosen(curves.categories, classes)
    protocol = curves.protocol
    area = operating_of(protocol, None, area_range)[1]
    found = average_precision(curves, rows, area)  # (T, K)
    thresholds = np.array(protocol.iou_thresholds)
    ax = axes_for(ax, needed_by="ap_by_iou_figure", figsize=(6.4, 4.0), paper=look.paper)
    names = [curves.categories.names[row] for row in rows]
    _lines(ax, thresholds, found, found.mean(axis=0), names, rows.tolist(), protocol, look, marker="o")
    dress(ax, look, grid="both")
    ax.set(xlabel="IoU threshold", ylabel=_of("AP", area, protocol), ylim=(0, 1.02))
    room = 0.05 * (thresholds[-1] - thresholds[0]) or 0.05
    ax.set_xlim(thresholds[0] - room, thresholds[-1] + room)
    ax.set_xticks(thresholds[:: max(-(-len(thresholds) // 5), 1)])
    ax.set_xticks(thresholds, minor=True)
    return ax


def _of(quantity: str, area: str, protocol: Protocol) -> str:
    return quantity if area == protocol.main_area else f"{quantity} ({area} objects)"


def _mean_in_words(numbers: FloatArray, protocol: Protocol) -> str:
    count = len(numbers) if protocol.counts_undefined else int((~np.isnan(numbers)).sum())
    if not count:
        return "no class has objects"
    mean = float(mean_of_classes(numbers, 0, protocol))
    return f"mean of {count} class{'' if count == 1 else 'es'}: AP {number(mean)}"


def _lines(
    ax: Axes,
    x: FloatArray,
    values: FloatArray,
    numbers: FloatArray,
    names: list[str],
    rows: list[int],
    protocol: Protocol,
    look: Theme,
    **style: Any,
) -> None:
    """Lines of (X, K) values and of their mean, with (K,) numbers, the AP of each, in the legend."""
    mean = mean_of_classes(values, 1, protocol)
    size = {"ms": 3.5, **style}
    few = len(rows) <= len(look.styles)
    handles, words = [], []
    if len(rows) != 1:  # the mean of one class is that class
        handles += ax.plot(x, mean, color=look.ink, lw=2.4, zorder=4, gid="mean", **size)
        words.append(_mean_in_words(numbers, protocol))
    thin = []
    for k, (row, name) in enumerate(zip(rows, names, strict=True)):
        if few:
            colour, dashes = look.styles[k]
            handles += ax.plot(x, values[:, k], color=colour, ls=dashes, lw=1.6, zorder=3, gid=f"class {row}", **size)
            words.append(f"{shorten(name)}: AP {number(float(numbers[k]))}")
        elif not np.isnan(values[:, k]).all():
            thin += ax.plot(x, values[:, k], color=look.many, lw=0.7, alpha=0.55, zorder=2, gid=f"class {row}")
    if thin:
        handles.append(thin[0])
        words.append("a class")
    legend_beside(ax, handles, words, look)


def _by_threshold(
    ax: Axes, recall: FloatArray, precision: FloatArray, numbers: FloatArray, thresholds: tuple[float, ...], look: Theme
) -> None:
    """Lines of (T, R) values, with (T,) numbers, the AP of each, in the legend.

    Their colours go from that of the text, for the lowest threshold, to grey. The higher the threshold, the lower the
    line. So the order is visible in grey print.
    """
    colors = import_extra("matplotlib.colors", extra="plots", needed_by="precision_recall_figure")
    ramp = colors.LinearSegmentedColormap.from_list("thresholds", [look.ink, look.blue, look.many])
    lines = []
    for t, threshold in enumerate(thresholds):
        colour = ramp(t / max(len(thresholds) - 1, 1))
        lines += ax.plot(recall, precision[t], color=colour, lw=1.6, gid=f"iou {threshold:g}")
    words = [f"IoU {iou:.2f}: AP {number(float(ap))}" for iou, ap in zip(thresholds, numbers, strict=True)]
    legend_beside(ax, lines, words, look)
