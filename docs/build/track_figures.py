"""The timeline of a drawn sequence: walkers who are hidden now and then, and a tracker that mixes up some of them."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from ioukit import Detections, GroundTruth, TrackEvaluation, evaluate_tracks, plots

__all__ = ["timeline", "walkers"]

FRAMES, WALKERS = 120, 12


def walkers() -> TrackEvaluation:
    """Twelve walkers in 120 frames."""
    rng = np.random.default_rng(3)
    objects, found, last_track = [], [], 100
    for walker in range(1, 1 + WALKERS):
        first = int(rng.integers(0, FRAMES - 40))
        last = int(rng.integers(first + 40, FRAMES + 1))
        track, hidden = walker, int(rng.integers(first, last))
        for frame in range(first, last):
            box = [40 * walker + frame / 2, 0, 20, 40]
            objects.append((frame, walker, *box))
            if rng.random() < 0.015:
                track = last_track = last_track + 1
            if rng.random() < 0.97 and not hidden <= frame < hidden + 12:
                found.append((frame, track, *box))
    sides = []
    for kind, rows in ((GroundTruth, objects), (Detections, found)):
        columns = np.array(rows)
        sides.append(
            kind.from_arrays(
                image_ids=[f"walk/{int(frame) + 1}" for frame in columns[:, 0]],
                category_ids=np.ones(len(columns), int),
                boxes=columns[:, 2:],
                attributes={"track_id": columns[:, 1].astype(int)},
                **({"scores": np.ones(len(columns))} if kind is Detections else {"categories": {1: "person"}}),
            )
        )
    return evaluate_tracks(*sides)


def timeline() -> Figure:
    """Their timeline."""
    ax = plots.timeline_figure(walkers())
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    return figure
