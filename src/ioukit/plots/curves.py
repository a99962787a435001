"""Lines: precision over recall, AP over IoU, miss rates, FROC, F1 over the score, reliability, trainings."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ioukit._optional import import_extra
from ioukit._words_and_colours import shorten
from ioukit.evaluation import COCO
from ioukit.plots._drawing import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILLION,
    axes_for,
    dress,
    legend_above,
    legend_beside,
    literal,
    new_figure,
    theme_of,
    tint,
    write_above,
    write_in_middle,
)
from ioukit.plots._reading import (
    MARKS,
    average_precision,
    chosen,
    made_of,
    mean_of_classes,
    models_of,
    number,
    operating_of,
    score_limits,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ioukit.evaluation import Curves, Evaluation, MissRateCurve, MissRateCurves, Protocol, ScoreCurves
    from ioukit.operating import CalibrationErrors
    from ioukit.plots._drawing import Theme, ThemeName
    from ioukit.typing import FloatArray


def precision_recall_figure(
    evaluation: Evaluation | Curves | Mapping[str, Evaluation | Curves],
    *,
    iou_threshold: float | Literal["all"] | None = None,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws precision over recall, with AP in the legend.

    At one IoU threshold there is a line per class, and a thick one for their mean. Up to six classes have colours,
    dashes and a name with their AP. Of more classes, a band shows where the middle half lies: choose some by
    ``classes``. With ``iou_threshold="all"`` there is a line per threshold: the mean over the classes. Of several
    models, there is a line per model: the mean over its classes.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its curves; or those of up to six models, by their names.
        iou_threshold: One of the protocol's IoU thresholds, its main one if ``None``; ``"all"`` for a line per
            threshold.
        classes: Ids or names of the classes to draw and to take the mean of; by default all.
        area_range: Label of an area range; the protocol's main one if ``None``.
        ax: Where to draw; by default axes of a new figure. The legend is to the right of the axes;
            ``layout="constrained"`` makes room for it.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"mean"``, ``"class 0"``, ... (by the position of the class),
        ``"iou 0.5"``, ... or ``"model 0"``, ...; a class without objects has no line, and a dash for its AP.

    Raises:
        ValueError: If there is no such threshold, area range or class, or the models were evaluated by different rules.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = precision_recall_figure(evaluation, classes=["person", "car"])
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['mean of 2 classes: AP50 0.631', 'person: AP50 0.611', 'car: AP50 0.652']
        >>> ax = precision_recall_figure(evaluation, iou_threshold="all")  # the mean of all classes at each threshold
    """
    models, look = models_of(evaluation), theme_of(theme)
    curves = next(iter(models.values()))
    protocol, rows = curves.protocol, chosen(curves.categories, classes)
    everywhere = iou_threshold == "all"
    if everywhere and len(models) > 1:
        raise ValueError('several models need one IoU threshold: expected a number for iou_threshold, got "all"')
    iou, area = operating_of(protocol, None if isinstance(iou_threshold, str) else iou_threshold, area_range)
    place = protocol.position_of_area(area), protocol.position_of_max_dets(protocol.main_max_dets)
    precision = curves.at("precision", *place)[:, :, rows]  # (T, R, K)
    found = average_precision(curves, rows, area)  # (T, K)
    recall = np.array(protocol.recall_thresholds)
    ax = axes_for(ax, look, (6.4, 4.0), needed_by="precision_recall_figure")
    at = protocol.position_of_iou(iou)
    if len(models) > 1:
        each = [one.at("precision", *place)[at][:, rows] for one in models.values()]
        numbers = [average_precision(one, rows, area)[at] for one in models.values()]
        _lines_of_models(ax, recall, each, numbers, list(models), protocol, look, of=_ap_at(iou, protocol))
        ax.set_ylabel(f"mean precision at IoU {iou:.2f}")
    elif not everywhere:
        names = [curves.categories.names[row] for row in rows]
        _lines(ax, recall, precision[at], found[at], names, rows.tolist(), protocol, look, of=_ap_at(iou, protocol))
        ax.set_ylabel(f"precision at IoU {iou:.2f}")
    else:
        means = mean_of_classes(precision, 2, protocol), mean_of_classes(found, 1, protocol)
        _by_threshold(ax, recall, *means, protocol.iou_thresholds, look)
        ax.set_ylabel("mean precision")
    dress(ax, look, grid="both")
    ax.set(xlabel=_of("recall", area, protocol), xlim=(0, 1), ylim=(0, 1.02))
    return ax


def ap_by_iou_figure(
    evaluation: Evaluation | Curves | Mapping[str, Evaluation | Curves],
    *,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws AP over the IoU threshold. A line that falls early belongs to a class with loose boxes.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its curves; or those of up to six models, by their names: then
            there is a line per model, the mean over its classes.
        classes: Ids or names of the classes to draw and to take the mean of; by default all. Up to six have names.
        area_range: Label of an area range; the protocol's main one if ``None``.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"mean"`` and ``"class 0"``, ... by the position of the class, or
        ``"model 0"``, .... The numbers in the legend are the means over the thresholds, which is COCO's AP.

    Raises:
        ValueError: If there is no such area range or class, or the models were evaluated by different rules.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = ap_by_iou_figure(evaluation, classes=["person"])
        >>> ax.get_lines()[0].get_ydata().round(2)[[0, 5, 9]]  # at IoU 0.50, 0.75 and 0.95
        array([0.61, 0.35, 0.01])
    """
    models, look = models_of(evaluation), theme_of(theme)
    curves = next(iter(models.values()))
    rows = chosen(curves.categories, classes)
    protocol = curves.protocol
    area = operating_of(protocol, None, area_range)[1]
    found = [average_precision(one, rows, area) for one in models.values()]  # each (T, K)
    means = [one.mean(axis=0) for one in found]
    thresholds = np.array(protocol.iou_thresholds)
    ax = axes_for(ax, look, (6.4, 4.0), needed_by="ap_by_iou_figure")
    if len(models) > 1:
        _lines_of_models(ax, thresholds, found, means, list(models), protocol, look, marker="o")
    else:
        names = [curves.categories.names[row] for row in rows]
        _lines(ax, thresholds, found[0], means[0], names, rows.tolist(), protocol, look, marker="o")
    dress(ax, look, grid="both")
    ax.set(xlabel="IoU threshold", ylabel=_of("AP", area, protocol), ylim=(0, 1.02))
    room = 0.05 * (thresholds[-1] - thresholds[0]) or 0.05
    ax.set_xlim(thresholds[0] - room, thresholds[-1] + room)
    ax.set_xticks(thresholds[:: max(-(-len(thresholds) // 5), 1)])
    ax.set_xticks(thresholds, minor=True)
    return ax


def _of(quantity: str, area: str, protocol: Protocol) -> str:
    return quantity if area == protocol.main_area else f"{quantity} ({area} objects)"


def _ap_at(iou: float, protocol: Protocol) -> str:
    """What AP at one IoU threshold is called: AP alone is the mean over all of them, if there are several."""
    return f"AP{100 * iou:g}" if len(protocol.iou_thresholds) > 1 else "AP"


def _mean_in_words(numbers: FloatArray, protocol: Protocol, of: str) -> str:
    count = len(numbers) if protocol.counts_undefined else int((~np.isnan(numbers)).sum())
    if not count:
        return "no class has objects"
    mean = float(mean_of_classes(numbers, 0, protocol))
    return f"mean of {count} class{'' if count == 1 else 'es'}: {of} {number(mean)}"


def _lines(
    ax: Axes,
    x: FloatArray,
    values: FloatArray,
    numbers: FloatArray,
    names: list[str],
    rows: list[int],
    protocol: Protocol,
    look: Theme,
    *,
    of: str = "AP",
    **style: Any,
) -> None:
    """Lines of (X, K) values and of their mean; the legend has (K,) numbers, the AP of each, which it calls ``of``."""
    mean = mean_of_classes(values, 1, protocol)
    size = {"ms": 3.5, **style}
    few = len(rows) <= len(look.styles)
    handles: list[Any] = []
    words = []
    if len(rows) != 1:  # the mean of one class is that class
        handles += ax.plot(x, mean, color=look.ink, lw=2.4, zorder=4, gid="mean", **size)
        words.append(_mean_in_words(numbers, protocol, of))
    for k, (row, name) in enumerate(zip(rows, names, strict=True) if few else ()):
        colour, dashes = look.styles[k]
        handles += ax.plot(x, values[:, k], color=colour, ls=dashes, lw=1.6, zorder=3, gid=f"class {row}", **size)
        words.append(f"{shorten(name)}: {of} {number(float(numbers[k]))}")
    known = values[:, ~np.isnan(values).all(axis=0)]
    if not few and known.size:
        low, high = np.nanquantile(known, (0.25, 0.75), axis=1)
        band: dict[str, Any] = {"color": tint(look.many, 0.35, look.paper), "lw": 0, "zorder": 1.5}
        handles.append(ax.fill_between(x, low, high, gid="middle half", **band))
        words.append("the middle half of the classes")
    (legend_beside if few else legend_above)(ax, handles, words, look)


def _lines_of_models(
    ax: Axes,
    x: FloatArray,
    values: Sequence[FloatArray],
    numbers: Sequence[FloatArray],
    names: Sequence[str],
    protocol: Protocol,
    look: Theme,
    *,
    of: str = "AP",
    **style: Any,
) -> None:
    """A line per model: the mean over the classes of its (X, K) values, with that of its (K,) numbers in the legend."""
    handles = []
    for m, ((colour, dashes), of_model) in enumerate(zip(look.styles_of_models, values, strict=False)):
        looks: dict[str, Any] = {"color": colour, "ls": dashes, "lw": 1.6, "ms": 3.5, "gid": f"model {m}", **style}
        handles += ax.plot(x, mean_of_classes(of_model, 1, protocol), **looks)
    means = [float(mean_of_classes(one, 0, protocol)) for one in numbers]
    legend_beside(ax, handles, [f"{shorten(n)}: {of} {number(m)}" for n, m in zip(names, means, strict=True)], look)


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


_LEAST = 1e-3
"""The lowest miss rate that is drawn."""


def miss_rate_figure(
    curves: MissRateCurves | Evaluation | Mapping[str, MissRateCurves | Evaluation],
    *,
    category: int | str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the miss rate over the false positives per image, both logarithmic, with the log-average in the legend.

    Dots mark where the log-average reads the curve. Lower and further to the left is better.

    Args:
        curves: The result of `ioukit.evaluation.miss_rate_curves`, or several by the name of their detector. Up to six
            have colours and dashes of their own. An evaluation is taken, too: its curves are then made.
        category: Id or name of a class; ``None`` for all classes pooled.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"curve 0"``, ``"curve 1"``, ..., and ``"read 0"``, ... for their dots. The
        line begins at miss rate 1 and ends at the last detection. A miss rate below 0.001, and FPPI below the axis, lie
        on the border. Without objects, there is no line.

    Raises:
        ValueError: If there is no such class, or there are more than six curves, or none.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.evaluation import miss_rate_curves
        >>> ax = miss_rate_figure(miss_rate_curves(evaluation.matches), category="person")
        >>> ax.get_legend().get_texts()[0].get_text()
        'person: MR 0.617'
    """
    look = theme_of(theme)
    detectors, found = _detectors(curves, category, look)
    ax = axes_for(ax, look, (6.4, 4.0), needed_by="miss_rate_figure")
    each = list(detectors.values())
    read = np.array(each[0].rule.fppi)
    left = read[0] / 3
    last = max((float(curve.fppi[-1]) for curve in each if len(curve.fppi)), default=0.0)
    right = max(read[-1] * 3, min(last, 10.0))
    handles, words = [], []
    for place, (name, curve) in enumerate(detectors.items()):
        colour, dashes = look.styles[place] if isinstance(curves, Mapping) else (look.ink, "-")
        style: dict[str, Any] = {"color": colour, "ls": dashes, "lw": 1.8, "drawstyle": "steps-post"}
        words.append(f"{shorten(name)}: MR {number(curve.log_average)}")
        handles += ax.plot(*_points(curve, left), gid=f"curve {place}", **style)
        at = np.maximum(curve.at(read), _LEAST)
        ax.plot(read, at, gid=f"read {place}", marker="o", ms=5, ls="none", color=colour, mec=look.paper, mew=0.6)
    legend_beside(ax, handles, words, look)
    dress(ax, look, grid="both")
    ax.set(xscale="log", yscale="log", xlim=(left, right))
    drawn = [curve.miss_rate[curve.fppi <= right] for curve in each if curve.num_ground_truth]
    _miss_rate_axis(ax, min((float(rates.min(initial=1.0)) for rates in drawn), default=1.0))
    _over_fppi(ax, "miss rate", category, found)
    return ax


def froc_figure(
    curves: MissRateCurves | Evaluation | Mapping[str, MissRateCurves | Evaluation],
    *,
    category: int | str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws FROC: the sensitivity over the false positives per image, which are logarithmic, with FROC in the legend.

    Dots mark where FROC reads the curve: at the FPPI of the protocol's rule, which are 1/8 to 8 in ``"froc"``. Higher
    and further to the left is better.

    Args:
        curves: An evaluation, or the result of `ioukit.evaluation.miss_rate_curves`; or several by the name of their
            detector. Up to six have colours and dashes of their own.
        category: Id or name of a class; ``None`` for all classes pooled.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"curve 0"``, ``"curve 1"``, ..., and ``"read 0"``, ... for their dots.
        Without objects, there is no line.

    Raises:
        ValueError: If there is no such class, or there are more than six curves, or none.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = froc_figure(evaluation, category="person")
        >>> ax.get_legend().get_texts()[0].get_text()
        'person: FROC 0.366'
    """
    look = theme_of(theme)
    detectors, found = _detectors(curves, category, look)
    ax = axes_for(ax, look, (6.4, 4.0), needed_by="froc_figure")
    read = np.array(next(iter(detectors.values())).rule.fppi)
    left, right = read[0] / 2, read[-1] * 2
    handles, words = [], []
    for place, (name, curve) in enumerate(detectors.items()):
        colour, dashes = look.styles[place] if isinstance(curves, Mapping) else (look.ink, "-")
        words.append(f"{shorten(name)}: FROC {number(curve.froc)}")
        # What is straight between two points is not where one axis is logarithmic. Steps need both their ends.
        bends = curve.fppi[(curve.fppi > left) & (curve.fppi < right)]
        across = np.unique(np.concatenate([np.geomspace(left, right, 400), bends, np.nextafter(bends, 0)]))
        across = across if curve.num_ground_truth else across[:0]
        handles += ax.plot(across, curve.sensitivity(across), gid=f"curve {place}", color=colour, ls=dashes, lw=1.8)
        dots: dict[str, Any] = {"marker": "o", "ms": 5, "ls": "none", "color": colour, "mec": look.paper, "mew": 0.6}
        ax.plot(read, curve.sensitivity(read), gid=f"read {place}", **dots)
    legend_beside(ax, handles, words, look)
    dress(ax, look, grid="both")
    ticker = import_extra("matplotlib.ticker", extra="plots", needed_by="froc_figure")
    ax.set(xscale="log", xlim=(left, right), ylim=(-0.02, 1.02))
    ax.xaxis.set_major_locator(ticker.FixedLocator(read))
    ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:.3g}"))
    ax.xaxis.set_minor_locator(ticker.NullLocator())
    _over_fppi(ax, "sensitivity", category, found)
    return ax


def _detectors(
    curves: MissRateCurves | Evaluation | Mapping[str, MissRateCurves | Evaluation],
    category: int | str | None,
    look: Theme,
) -> tuple[dict[str, MissRateCurve], list[MissRateCurves]]:
    """The curve of each detector, by its name or that of its class, and what they are of."""
    given = curves if isinstance(curves, Mapping) else {"": curves}
    found = [_miss_rates(one) for one in given.values()]
    if not 1 <= len(found) <= len(look.styles):
        raise ValueError(f"expected one to {len(look.styles)} results of miss_rate_curves, got {len(found)}")
    names = given if isinstance(curves, Mapping) else [_class_words(category, found[0])]
    return {name: _curve(one, category) for name, one in zip(names, found, strict=True)}, found


def _class_words(category: int | str | None, curves: MissRateCurves) -> str:
    return "all classes" if category is None else curves.categories.names[curves.categories.positions([category])[0]]


def _over_fppi(ax: Axes, what: str, category: int | str | None, drawn: Sequence[MissRateCurves]) -> None:
    """Labels of axes over FPPI: the class, and the IoU threshold and the area range if all curves share them."""
    first = drawn[0]
    ax.set_xlabel(f"false positives per image ({shorten(_class_words(category, first))})")
    thresholds, areas = ({getattr(each, of) for each in drawn} for of in ("iou_threshold", "area_range"))
    label = f"{what} at IoU {first.iou_threshold:g}" if len(thresholds) == 1 else what
    ax.set_ylabel(label if areas != {first.area_range} or "all" in areas else f"{label}, {first.area_range} objects")
    literal(ax.xaxis.label)
    literal(ax.yaxis.label)


def _miss_rates(given: MissRateCurves | Evaluation) -> MissRateCurves:
    from ioukit.evaluation import miss_rate_curves  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    return made_of(given, "overall", "miss_rate_curves(evaluation)", lambda one: miss_rate_curves(one.matches))


def _curve(curves: MissRateCurves, category: int | str | None) -> MissRateCurve:
    if category is None:
        return curves.overall
    return curves.per_class[curves.categories.positions([category])[0]]


def _points(curve: MissRateCurve, left: float) -> tuple[FloatArray, FloatArray]:
    """FPPI and miss rate, from miss rate 1 on, within the axes."""
    if not curve.num_ground_truth:
        return np.zeros(0), np.zeros(0)
    fppi = np.maximum(np.concatenate([[0.0], curve.fppi]), left)
    return fppi, np.maximum(np.concatenate([[1.0], curve.miss_rate]), _LEAST)


def _miss_rate_axis(ax: Axes, lowest: float) -> None:
    """Ticks as the benchmarks have them."""
    ticker = import_extra("matplotlib.ticker", extra="plots", needed_by="miss_rate_figure")
    ticks = [1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.64, 0.8, 1.0]
    bottom = min(max(lowest / 1.3, _LEAST), 0.8)
    ax.set_ylim(bottom, 1.04)
    ax.yaxis.set_major_locator(ticker.FixedLocator([tick for tick in ticks if tick >= bottom]))
    ax.yaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    ax.yaxis.set_minor_locator(ticker.NullLocator())


def score_curves_figure(
    curves: ScoreCurves | Evaluation,
    *,
    category: int | str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws precision, recall and F1 over the score threshold, and marks the threshold with the best F1.

    Args:
        curves: The result of `ioukit.evaluation.score_curves`, or an evaluation, whose curves are then made.
        category: Id or name of a class; ``None`` for all classes pooled.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"precision"``, ``"recall"``, ``"f1"``; ``"best"`` marks the best point, and
        its numbers are above the axes. Without detections or objects, there is no mark.

    Raises:
        ValueError: If there is no such class.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = score_curves_figure(evaluation.score_curves(), category="person")
        >>> ax.texts[0].get_text()
        'best F1 0.604 at score 0.223: precision 0.611, recall 0.597'
    """
    of_scores = made_of(curves, "overall", "evaluation.score_curves()", lambda given: given.score_curves())
    look = theme_of(theme)
    at = None if category is None else of_scores.categories.positions([category])[0]
    curve = of_scores.overall if at is None else of_scores.per_class[at]
    ax = axes_for(ax, look, (6.4, 3.8), needed_by="score_curves_figure")
    rising = slice(None, None, -1)
    handles = []
    lines = {
        "precision": (curve.precision, "--", 1.6),
        "recall": (curve.recall, "-.", 1.6),
        "f1": (curve.f1, "-", 2.2),
    }
    for name, (values, dashes, width) in lines.items():
        # For thresholds between a score and the next lower one, the same detections count.
        style: dict[str, Any] = {"color": look.colour_of(name), "ls": dashes, "lw": width, "drawstyle": "steps-pre"}
        handles += ax.plot(curve.scores[rising], values[rising], gid=name, **style)
    legend_beside(ax, handles, ["precision", "recall", "F1"], look)
    low, high = score_limits(curve.scores)
    best = curve.best
    if not (math.isnan(best.score) or math.isnan(best.f1)):
        ax.axvline(best.score, color=look.soft, lw=0.9, ls=":", zorder=1)
        mark: dict[str, Any] = {"marker": "o", "ms": 8, "mfc": look.colour_of("f1"), "mec": look.ink, "ls": "none"}
        ax.plot([best.score], [best.f1], zorder=5, gid="best", **mark)
        words = (
            f"best F1 {number(best.f1)} at score {best.score:.3g}: "
            f"precision {number(best.precision)}, recall {number(best.recall)}"
        )
        write_above(ax, words, look, gid="best in words")
    dress(ax, look, grid="both")
    what = "all classes" if at is None else shorten(of_scores.categories.names[at])
    ax.set(xlim=(low, high), ylim=(0, 1.02), xlabel=f"score threshold ({what})")
    literal(ax.xaxis.label)
    words = f"precision, recall, F1 at IoU {of_scores.iou_threshold:g}"
    ax.set_ylabel(words if of_scores.area_range == "all" else f"{words}, {of_scores.area_range} objects")
    literal(ax.yaxis.label)
    if not len(curve.scores):
        write_in_middle(ax, "no detections", look.soft)
    return ax


_LEAST_AREA, _MORE_AREA = 12.0, 240.0  # of a mark, in square points


def reliability_figure(
    errors: CalibrationErrors | Evaluation | Mapping[str, CalibrationErrors | Evaluation],
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the reliability diagram: precision over the mean score of each range of scores.

    The area of a mark grows with the share of the detections in its range. Below the diagonal, scores are too high.

    Args:
        errors: The result of `ioukit.operating.calibration_errors`, or several by name, such as those before and after
            calibration. Up to six have colours, marks and dashes of their own. An evaluation is taken, too: its errors
            are then found.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"curve 0"``, ``"curve 1"``, ..., and ``"equal"`` for the diagonal. The
        marks are ``"marks 0"``, and so on; the intervals, if there are any, ``"intervals 0"``. Ranges without
        detections have no mark.

    Raises:
        ValueError: If there are more than six results, or none.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> from ioukit.operating import calibration_errors
        >>> ax = reliability_figure(calibration_errors(evaluation, replicates=0))
        >>> ax.get_legend().get_texts()[0].get_text()
        'D-ECE 0.047'
    """
    look = theme_of(theme)
    from ioukit.operating import calibration_errors  # noqa: PLC0415 - keeps `import ioukit.plots` fast

    named = {
        name: made_of(one, "reliability", "calibration_errors(evaluation)", calibration_errors)
        for name, one in (errors if isinstance(errors, Mapping) else {"": errors}).items()
    }
    if not 1 <= len(named) <= len(MARKS):
        raise ValueError(f"expected one to {len(MARKS)} results of calibration_errors, got {len(named)}")
    ax = axes_for(ax, look, (6.4, 4.4), needed_by="reliability_figure")
    ax.plot([0, 1], [0, 1], color=look.soft, lw=1.0, ls=":", gid="equal", zorder=1)
    handles, words = [], []
    for place, (name, one) in enumerate(named.items()):
        diagram = one.reliability
        colour, dashes = look.styles[place] if len(named) > 1 else (look.ink, "-")
        rows = np.flatnonzero(diagram.counts)
        x, y = diagram.mean_scores[rows], diagram.precision[rows]
        style: dict[str, Any] = {"color": colour, "ls": dashes, "lw": 1.4}
        handles += ax.plot(x, y, gid=f"curve {place}", zorder=3, marker=MARKS[place], ms=0.1, **style)
        handles[-1].set_markersize(5)
        handles[-1].set_markevery([])  # the legend shows the mark, and the scatter draws it
        share = diagram.counts[rows] / max(one.num_detections, 1)
        ax.scatter(
            x, y, s=_LEAST_AREA + _MORE_AREA * share, marker=MARKS[place], color=colour, edgecolors=look.paper,
            linewidths=0.6, zorder=4, gid=f"marks {place}",
        )  # fmt: skip
        low, high = diagram.low[rows], diagram.high[rows]
        if not np.isnan(low).all():
            lines = ax.vlines(x, low, high, colors=colour, lw=0.9, alpha=0.7, zorder=2)
            lines.set_gid(f"intervals {place}")
        text = f"D-ECE {number(one.d_ece)}"
        words.append(f"{shorten(name)}: {text}" if name else text)
    legend_beside(ax, handles, words, look)
    dress(ax, look, grid="both")
    first = next(iter(named.values()))
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="mean score", ylabel=f"precision at IoU {first.iou_threshold:g}")
    literal(ax.yaxis.label)
    if not any(one.num_detections for one in named.values()):
        write_in_middle(ax, "no detections", look.soft)
    return ax


NOT_LOSSES = {"epoch", "seconds", "lr"}

HEADLINE_STYLES = ((BLACK, "-"), (BLUE, "--"), (GREEN, ":"))

LOSS_STYLES = ((VERMILLION, "--"), (ORANGE, "-."), (PURPLE, ":"), (BLUE, (0, (1, 1))))


def training_figure(
    log: Sequence[Mapping[str, float]], *, protocol: Protocol = COCO, theme: ThemeName = "light"
) -> Figure:
    """Draws losses and AP by epoch, side by side.

    Args:
        log: A mapping per epoch, as a line of ``log.csv``: ``epoch``, ``total`` and other losses, and numbers of the
            protocol's summary, which may be missing for epochs without an evaluation.
        protocol: The protocol whose numbers the log has; the first three headline numbers are drawn.
        theme: Colours for a light or a dark background.

    Returns:
        The figure; it is not registered in pyplot.

    Raises:
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> figure = training_figure([{"epoch": 1, "total": 3.0, "AP": 0.1}, {"epoch": 2, "total": 2.0, "AP": 0.2}])
        >>> [ax.get_ylabel() for ax in figure.axes]
        ['loss', 'AP']
    """
    look = theme_of(theme)
    figure = new_figure(look, (9, 3.4), needed_by="training_figure")
    left, right = figure.subplots(1, 2)
    epochs = [row["epoch"] for row in log]
    first = log[0] if log else {}
    numbers = {measure.key for measure in protocol.measures}
    names = [name for name in first if name not in NOT_LOSSES and name not in numbers]
    for place, name in enumerate(names):
        colour, line = (BLACK, "-") if name == "total" else LOSS_STYLES[(place - 1) % len(LOSS_STYLES)]
        values = [row.get(name, np.nan) for row in log]
        left.plot(epochs, values, color=look.of(colour), ls=line, lw=1.6, label=name, gid=name)
    left.set(xlabel="epoch", ylabel="loss", yscale="log")  # the first epoch would flatten all others
    headline = [measure.key for measure in protocol.measures if measure.headline]
    for name, (colour, line) in zip(headline, HEADLINE_STYLES, strict=False):
        evaluated = [(row["epoch"], row[name]) for row in log if name in row]
        if evaluated:
            right.plot(*np.transpose(evaluated), color=look.of(colour), ls=line, lw=1.6, label=name, gid=name)
    right.set(xlabel="epoch", ylabel=protocol.main_measure.quantity, ylim=(0, 1))
    for ax in (left, right):
        dress(ax, look, grid="both")
        if ax.lines:
            ax.legend(frameon=False, labelcolor=look.ink)
    return figure
