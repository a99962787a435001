"""The timeline of a sequence shows the events of CLEAR, frame by frame."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ioukit import evaluate_tracks, plots
from support.random_tracks import random_track_set

pytest.importorskip("matplotlib", reason="the figures need matplotlib: pip install 'ioukit[plots]'")


def frames_of(ax: Any, gid: str) -> set[tuple[int, int]]:
    """The rows and frames that lines of a kind cover."""
    lines = next(one for one in ax.collections if one.get_gid() == gid)
    covered = set()
    for (first, row), (last, _) in (segment.tolist() for segment in lines.get_segments()):
        covered |= {(int(row), frame) for frame in range(round(first + 0.5), round(last + 0.5))}
    return covered


@pytest.mark.parametrize("seed", range(1, 9))
def test_lines_and_marks_are_the_events(seed: int) -> None:
    given = random_track_set(seed)
    evaluation = evaluate_tracks(given.ground_truth(), given.detections())
    events = evaluation.events
    for place, name in enumerate(evaluation.sequence_names):
        rows = events[(events.sequence == place) & (events.object >= 0)]
        if not len(rows):
            with pytest.raises(ValueError, match=f"the sequence '{name}' has no object"):
                plots.timeline_figure(evaluation, name)
            continue
        ax = plots.timeline_figure(evaluation, name, most=1000)
        titles = [label.get_text() for label in ax.get_yticklabels()]
        expected: dict[str, set[tuple[int, int]]] = {"followed": set(), "missed": set(), "switches": set()}
        kinds = {0: ("followed",), 1: ("followed", "switches"), 2: ("missed",)}
        mistakes = np.zeros(len(titles))
        for kind, category, track, frame in zip(
            rows.kind.tolist(), rows.category.tolist(), rows.object_track.tolist(), rows.frame.tolist(), strict=True
        ):
            row = titles.index(f"{evaluation.categories.names[category]} {track}")
            mistakes[row] += kind > 0
            for gid in kinds[kind]:
                expected[gid].add((row, frame))
        (marks,) = (line for line in ax.lines if line.get_gid() == "switches")
        found = {gid: frames_of(ax, gid) for gid in ("followed", "missed")}
        found["switches"] = set(
            zip(*(np.asarray(data).tolist() for data in (marks.get_ydata(), marks.get_xdata())), strict=True)
        )
        assert found == expected
        assert mistakes.tolist() == sorted(mistakes.tolist(), reverse=True)


def test_the_worst_sequence_and_few_objects() -> None:
    given = random_track_set(7)
    evaluation = evaluate_tracks(given.ground_truth(), given.detections())
    worst = min(evaluation.sequence_names, key=lambda name: evaluation.sequences[name]["HOTA"])
    ax = plots.timeline_figure(evaluation, most=2, theme="dark")
    objects = evaluation.events[evaluation.events.sequence == evaluation.sequence_names.index(worst)]
    count = len(
        {*zip(objects.category.tolist(), objects.object_track.tolist(), strict=True)} - {(0, -1), (1, -1), (2, -1)}
    )
    assert len(ax.get_yticklabels()) == 2
    assert ax.get_xlabel() == f"frame of {worst}, without {count - 2} objects with fewer mistakes"
    with pytest.raises(ValueError, match="unknown sequence 'walk'"):
        plots.timeline_figure(evaluation, "walk")
    with pytest.raises(ValueError, match="most must be"):
        plots.timeline_figure(evaluation, most=0)
