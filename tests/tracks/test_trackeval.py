"""Every number has the bits of TrackEval, run beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from ioukit import evaluate_tracks
from support.random_tracks import random_track_set
from support.trackeval_runs import Run, named, trackeval

if TYPE_CHECKING:
    from ioukit.tracks import TrackNumbers

SETS = 60


def differences(ours: TrackNumbers, theirs: dict[str, Any]) -> list[str]:
    """The names of numbers that differ in a bit."""
    values: dict[str, Any] = {**ours, **ours.curves}
    expected = named(theirs)
    assert len(expected) > 30
    wrong = [name for name, value in expected.items() if name in values and not np.array_equal(values[name], value)]
    means = [name for name, value in ours.items() if name in ours.curves and value != np.mean(expected[name])]
    lacking = [name for name in ours if name not in expected and name != "Frames"]
    return [*wrong, *means, *lacking]


def compare(seed: int) -> list[str]:
    """What differs in a random set."""
    given = random_track_set(seed)
    if not len(given.objects.classes):
        return []
    classes = sorted({*given.objects.classes.tolist(), *given.found.classes.tolist()})
    run, ours = Run(given, classes), evaluate_tracks(given.ground_truth(), given.detections())
    assert list(ours.sequences) == run.sequences
    assert [one.id for one in ours.per_class] == classes
    found: list[str] = []
    for one in ours.per_class:
        found += differences(one.summary, run.classes[one.id])
        for name, numbers in one.sequences.items():
            found += differences(numbers, run.parts[one.id, name])
    for name, numbers in ours.sequences.items():
        found += differences(numbers, run.of_all_classes(name)) if len(classes) > 1 else []
    found += differences(ours.summary, run.det_average)
    return found + differences(ours.class_average, run.class_average)


@pytest.mark.parametrize("first", range(0, SETS, 10))
def test_numbers_have_the_bits_of_trackeval(first: int) -> None:
    trackeval()
    assert {seed: found for seed in range(first, first + 10) if (found := compare(seed))} == {}
