"""The course of a training: losses and AP by epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._optional import import_extra
from ioukit.evaluation import COCO
from ioukit.plots._drawing import BLACK, BLUE, GREEN, ORANGE, PURPLE, VERMILLION, dress, theme_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ioukit.evaluation import Protocol
    from ioukit.plots._drawing import ThemeName


NOT_LOSSES = {"epoch", "seconds", "lr"}
HEADLINE_STYLES = ((BLACK, "-"), (BLUE, "--"), (GREEN, ":"))
STYLES = ((VERMILLION, "--"), (ORANGE, "-."), (PURPLE, ":"), (BLUE, (0, (1, 1))))


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
    figures = import_extra("matplotlib.figure", extra="plots", needed_by="training_figure")
    look = theme_of(theme)
    figure: Figure = figures.Figure(figsize=(9, 3.4), layout="constrained", facecolor=look.paper)
    left, right = figure.subplots(1, 2)
    epochs = [row["epoch"] for row in log]
    first = log[0] if log else {}
    numbers = {measure.key for measure in protocol.measures}
    names = [name for name in first if name not in NOT_LOSSES and name not in numbers]
    for number, name in enumerate(names):
        colour, line = (BLACK, "-") if name == "total" else STYLES[(number - 1) % len(STYLES)]
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
