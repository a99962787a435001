"""Do scores mean what they say? The share of detections that are right over the score."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.plots._drawing import axes_for, dress, legend_beside, literal, shorten, theme_of
from ioukit.plots._reading import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.operating import CalibrationErrors
    from ioukit.plots._drawing import ThemeName


_MARKS = ("o", "s", "^", "D", "v", "P")
_LEAST_AREA, _MORE_AREA = 12.0, 240.0  # of a mark, in square points


def reliability_figure(
    errors: CalibrationErrors | Mapping[str, CalibrationErrors],
    *,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the reliability diagram: precision over the mean score of each range of scores.

    The area of a mark grows with the share of the detections in its range. Below the diagonal, scores are too high.

    Args:
        errors: The result of `ioukit.operating.calibration`, or several by name, such as those before and after
            calibration. Up to six have colours, marks and dashes of their own.
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
    named = dict(errors) if isinstance(errors, Mapping) else {"": errors}
    if not 1 <= len(named) <= len(_MARKS):
        raise ValueError(f"expected one to {len(_MARKS)} results of calibration_errors, got {len(named)}")
    ax = axes_for(ax, needed_by="reliability_figure", figsize=(6.4, 4.4), paper=look.paper)
    ax.plot([0, 1], [0, 1], color=look.soft, lw=1.0, ls=":", gid="equal", zorder=1)
    handles, words = [], []
    for place, (name, one) in enumerate(named.items()):
        diagram = one.reliability
        colour, dashes = look.styles[place] if len(named) > 1 else (look.ink, "-")
        rows = np.flatnonzero(diagram.counts)
        x, y = diagram.mean_scores[rows], diagram.precision[rows]
        style: dict[str, Any] = {"color": colour, "ls": dashes, "lw": 1.4}
        handles += ax.plot(x, y, gid=f"curve {place}", zorder=3, marker=_MARKS[place], ms=0.1, **style)
        handles[-1].set_markersize(5)
        handles[-1].set_markevery([])  # the legend shows the mark, and the scatter draws it
        share = diagram.counts[rows] / max(one.num_detections, 1)
        ax.scatter(
            x, y, s=_LEAST_AREA + _MORE_AREA * share, marker=_MARKS[place], color=colour, edgecolors=look.paper,
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
        ax.text(0.5, 0.5, "no detections", transform=ax.transAxes, ha="center", va="center", color=look.soft)
    return ax
