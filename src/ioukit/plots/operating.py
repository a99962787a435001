"""Which score threshold is best? Precision, recall and F1 over the score threshold."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ioukit.plots._drawing import axes_for, dress, legend_beside, literal, shorten, theme_of
from ioukit.plots._reading import number, score_limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.evaluation import ScoreCurves
    from ioukit.plots._drawing import ThemeName


def score_curves_figure(
    curves: ScoreCurves,
    *,
    category: int | str | None = None,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws precision, recall and F1 over the score threshold, and marks the threshold with the best F1.

    Args:
        curves: The result of `ioukit.evaluation.score_curves`.
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
    look = theme_of(theme)
    at = None if category is None else curves.categories.positions([category])[0]
    curve = curves.overall if at is None else curves.per_class[at]
    ax = axes_for(ax, needed_by="score_curves_figure", figsize=(6.4, 3.8), paper=look.paper)
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
        ax.text(0, 1.02, words, transform=ax.transAxes, va="bottom", fontsize=9, color=look.ink, gid="best in words")
    dress(ax, look, grid="both")
    what = "all classes" if at is None else shorten(curves.categories.names[at])
    ax.set(xlim=(low, high), ylim=(0, 1.02), xlabel=f"score threshold ({what})")
    literal(ax.xaxis.label)
    words = f"precision, recall, F1 at IoU {curves.iou_threshold:g}"
    ax.set_ylabel(words if curves.area_range == "all" else f"{words}, {curves.area_range} objects")
    literal(ax.yaxis.label)
    if not len(curve.scores):
        ax.text(0.5, 0.5, "no detections", transform=ax.transAxes, ha="center", va="center", color=look.soft)
    return ax
