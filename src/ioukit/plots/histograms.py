"""Histograms of scores and of IoUs: do scores separate true from false positives, and how tight are the boxes?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_count
from ioukit._optional import import_extra
from ioukit.plots._drawing import axes_for, dress, legend_beside, theme_of, tinted, write_above
from ioukit.plots._reading import chosen, operating_of, score_limits, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from numpy.typing import NDArray

    from ioukit.evaluation import Evaluation, MatchTable
    from ioukit.plots._drawing import ThemeName


def score_histogram_figure(
    evaluation: Evaluation | MatchTable,
    *,
    iou_threshold: float | None = None,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    bins: int = 40,
    log: bool = True,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws a histogram of the scores: true positives upwards, false positives downwards.

    With good scores, the upper part is on the right and the lower part on the left.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its match table.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        classes: Ids or names of the classes to count; by default all.
        area_range: Label of an area range; the protocol's main one if ``None``.
        bins: How many bins, of equal width from 0 to 1, or over the scores if these lie elsewhere.
        log: Whether heights are ``log10(1 + n)``, which shows ten next to thousands; otherwise the counts ``n``.
        ax: Where to draw; by default axes of a new figure, with the legend to the right.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The two parts are patches with ``get_gid()`` ``"TP"`` and ``"FP"``. Ignored detections (matched to a
        crowd, or outside the area range) are left out.

    Raises:
        ValueError: If there is no such threshold, area range or class, or ``bins`` is below 1.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = score_histogram_figure(evaluation, classes=["person"])
        >>> [text.get_text() for text in ax.get_legend().get_texts()]
        ['true positives: 171', 'false positives: 672']
    """
    table, look = table_of(evaluation), theme_of(theme)
    check_count(bins=bins)
    iou, area = operating_of(table.protocol, iou_threshold, area_range)
    right = table.is_true_positive(iou, area)
    wrong = ~right & ~table.is_ignored(iou, area)
    wanted = _of_classes(table, classes)
    edges = np.linspace(*score_limits(table.detections.score[wanted]), bins + 1)
    ax = axes_for(ax, look, (6.4, 3.6), needed_by="score_histogram_figure")
    handles, words, tallest = [], [], {}
    for name, mask, sign, hatch in (("TP", right, 1, "//"), ("FP", wrong, -1, "..")):
        scores = table.detections.score[mask & wanted]
        counts, _ = np.histogram(np.clip(scores, edges[0], edges[-1]), edges)
        heights = np.log10(1 + counts) if log else counts.astype(np.float64)
        tallest[name] = float(heights.max(initial=0))
        handles.append(ax.stairs(sign * heights, edges, gid=name, **tinted(look.colour_of(name.lower()), hatch, look)))
        words.append(f"{'true' if sign > 0 else 'false'} positives: {len(scores):,}")
    ax.axhline(0, color=look.soft, lw=0.9)
    legend_beside(ax, handles, words, look)
    dress(ax, look, grid="y")
    above, below = (max(height, 0.1 * max(tallest.values()), 0.3) for height in (tallest["TP"], tallest["FP"]))
    ax.set_xlabel(f"score (true positive: IoU of at least {iou:g})")
    ax.set_ylabel("detections (log)" if log else "detections")
    if log:
        _log_ticks(ax, max(above, below))
    else:
        _whole_numbers(ax)
        ax.yaxis.set_major_formatter(lambda y, _: f"{abs(y):,.0f}")  # both parts count upwards
    ax.set(xlim=(edges[0], edges[-1]), ylim=(-1.06 * below, 1.06 * above))
    return ax


def iou_histogram_figure(
    evaluation: Evaluation | MatchTable,
    *,
    iou_threshold: float | None = None,
    classes: Sequence[int | str] | None = None,
    area_range: str | None = None,
    bins: int = 25,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws a histogram of the IoUs of the true positives with their objects, and the median.

    Args:
        evaluation: The result of `ioukit.evaluate`, or its match table.
        iou_threshold: One of the protocol's IoU thresholds, its main one if ``None``; the bins begin there.
        classes: Ids or names of the classes to count; by default all.
        area_range: Label of an area range; the protocol's main one if ``None``.
        bins: How many bins, of equal width from the threshold to 1.
        ax: Where to draw; by default axes of a new figure.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. The bins are a patch with ``get_gid()`` ``"matches"``, the dashed line is ``"median"``.

    Raises:
        ValueError: If there is no such threshold, area range or class, or ``bins`` is below 1.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> ax = iou_histogram_figure(evaluation, iou_threshold=0.75)
        >>> ax.texts[0].get_text()
        '308 true positives, median IoU 0.866'
    """
    table, look = table_of(evaluation), theme_of(theme)
    check_count(bins=bins)
    iou, area = operating_of(table.protocol, iou_threshold, area_range)
    values = table.matched_iou(iou, area)[table.is_true_positive(iou, area) & _of_classes(table, classes)]
    edges = np.linspace(min(iou, 1 - 1e-6), 1, bins + 1)
    counts, _ = np.histogram(np.clip(values, edges[0], 1), edges)
    ax = axes_for(ax, look, (5.2, 3.4), needed_by="iou_histogram_figure")
    ax.stairs(counts, edges, gid="matches", **tinted(look.colour_of("tp"), "//", look))
    words = f"{len(values):,} true positives"
    if len(values):
        median = float(np.median(values))
        ax.axvline(median, color=look.ink, ls="--", lw=1.4, gid="median")
        words += f", median IoU {median:.3f}"
    write_above(ax, words, look)
    dress(ax, look, grid="y")
    ax.set(xlim=(edges[0], 1), ylim=(0, 1.06 * max(counts.max(), 1)), ylabel="true positives")
    ax.set_xlabel(f"IoU with the object (at least {iou:g})")
    _whole_numbers(ax)
    return ax


def _log_ticks(ax: Axes, tallest: float) -> None:
    """Ticks at 0, 1, 3, 10, 30, ... detections in both directions; if there are many, only at the powers of ten."""
    steps = (1, 3) if tallest < 3 else (1,)
    counts = [step * 10**power for power in range(tallest > 2.5, int(tallest) + 1) for step in steps]
    heights = [float(np.log10(1 + count)) for count in counts]
    ax.set_yticks(
        [-height for height in heights[::-1]] + [0.0, *heights],
        [f"{count:,}" for count in [*counts[::-1], 0, *counts]],
    )


def _whole_numbers(ax: Axes) -> None:
    ticker = import_extra("matplotlib.ticker", extra="plots", needed_by="ioukit.plots")
    ax.yaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def _of_classes(table: MatchTable, classes: Sequence[int | str] | None) -> NDArray[np.bool_]:
    category = table.evaluated_category(table.detections.category)
    return np.isin(category, chosen(table.evaluated, classes))
