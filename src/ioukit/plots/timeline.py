"""Which object is followed when: a line per object of a sequence, with its misses and switches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_count, check_result, pluralize
from ioukit._near_names import unknown_name
from ioukit._words_and_colours import shorten
from ioukit.plots._drawing import axes_for, dress, legend_above, name_rows, theme_of
from ioukit.tracks.events import EVENT_KINDS, named_tracks, runs_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ioukit.plots._drawing import ThemeName
    from ioukit.tracks import TrackEvaluation

_SWITCH, _MISS = EVENT_KINDS.index("switch"), EVENT_KINDS.index("miss")


def timeline_figure(
    evaluation: TrackEvaluation,
    sequence: str | None = None,
    *,
    most: int = 30,
    ax: Axes | None = None,
    theme: ThemeName = "light",
) -> Axes:
    """Draws the objects of a sequence over its frames: where each is followed, where it is missed, where ids switch.

    Objects with the most misses and switches come first. The events are those of CLEAR, with an overlap of at least
    0.5, see :attr:`ioukit.TrackEvaluation.events`.

    Args:
        evaluation: The result of :func:`ioukit.evaluate_tracks`.
        sequence: The name of the sequence; the one with the lowest HOTA if ``None``.
        most: How many objects to draw at most.
        ax: Where to draw; by default axes of a new figure, whose height grows with the number of objects.
        theme: Colours for a light or a dark background; the figure around your own axes keeps its colour.

    Returns:
        The axes. Lines have ``get_gid()`` ``"followed"`` and ``"missed"``, and the marks ``"switches"``.

    Raises:
        ValueError: If there is no such sequence, or it has no object.
        ModuleNotFoundError: If matplotlib is not installed.

    Examples:
        >>> import ioukit
        >>> columns = {"image_ids": ["walk/1", "walk/2"], "category_ids": [1, 1], "boxes": [[0, 0, 10, 10]] * 2}
        >>> objects = ioukit.GroundTruth.from_arrays(**columns, attributes={"track_id": [3, 3]})
        >>> found = ioukit.Detections.from_arrays(**columns, scores=[1, 1], attributes={"track_id": [7, 8]})
        >>> ax = timeline_figure(ioukit.evaluate_tracks(objects, found))
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['1 3']
    """
    check_result(evaluation, "sequence_names", "evaluate_tracks(...)")
    check_count(most=most)
    names = evaluation.sequence_names
    if sequence is None:
        sequence = min(names, key=lambda name: evaluation.sequences[name]["HOTA"])
    elif sequence not in names:
        raise ValueError(unknown_name("sequence", sequence, names))
    events = evaluation.events
    events = events[(events.sequence == names.index(sequence)) & (events.object >= 0)]
    if not len(events):
        raise ValueError(f"the sequence {sequence!r} has no object")
    number, titles = named_tracks(events, events.object_track)
    costs = np.bincount(number, weights=(events.kind == _SWITCH) | (events.kind == _MISS))
    order = np.argsort(-costs, kind="stable")[:most]
    row = np.full(len(titles), -1)
    row[order] = np.arange(len(order))
    shown = row[number] >= 0
    events, place = events[shown], row[number[shown]]

    look = theme_of(theme)
    ax = axes_for(ax, look, (9.0, 1.3 + 0.24 * len(order)), needed_by="timeline_figure", rows=True)
    missed = events.kind == _MISS
    handles = []
    for gid, colour, width, chosen in (
        ("followed", look.colour_of("tp"), 5.0, ~missed),
        ("missed", look.colour_of("fn"), 1.4, missed),
    ):
        rows, first, last = runs_of(place[chosen], events.frame[chosen])
        style: dict[str, Any] = {"color": colour, "lw": width, "ls": "-" if gid == "followed" else (0, (2, 1))}
        ax.hlines(rows, first - 0.5, last + 0.5, **style, capstyle="butt", gid=gid, zorder=2)
        handles += ax.plot([], [], **style, solid_capstyle="butt")
    switch = events.kind == _SWITCH
    marks: dict[str, Any] = {"ls": "", "marker": "X", "ms": 7, "color": look.colour_of("fp"), "mec": look.paper}
    handles += ax.plot(events.frame[switch], place[switch], **marks, gid="switches", zorder=3, clip_on=False)
    name_rows(ax, [shorten(titles[at]) for at in order.tolist()], fontsize=8)
    left_out = len(titles) - len(order)
    more = f", without {pluralize(left_out, 'object')} with fewer mistakes" if left_out else ""
    ax.set_xlabel(f"frame of {shorten(sequence)}{more}")
    ax.set_xlim(events.frame.min() - 0.5, events.frame.max() + 0.5)
    ticks: Any = ax.xaxis.get_major_locator()
    ticks.set_params(integer=True)
    legend_above(ax, handles, ["followed", "missed", "switch of the id"], look)
    dress(ax, look, grid="x")
    return ax
