"""Numbers of drawn sequences are those of a data set in which the sequences stand so often."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ioukit import Masks, TrackEvaluation, evaluate_tracks
from ioukit.tracks import TRACK_PROTOCOLS, TubeRules
from ioukit.tracks.draws import drawn_keys, drawn_numbers, parts_of
from ioukit.tracks.measures import CURVES, KEYS, together
from support.random_tracks import Rows, TrackSet, random_track_set
from support.trackeval_runs import painted

OF_ALL = replace(TRACK_PROTOCOLS["davis"], tubes=TubeRules())


@pytest.mark.parametrize("seed", range(8))
def test_drawn_sequences_are_combined_as_written_out_ones(seed: int) -> None:
    given = random_track_set(seed)
    found = evaluate_tracks(given.ground_truth(), given.detections())
    sequences = [together(column) for column in zip(*found.values, strict=True)]
    weights = np.random.default_rng(seed).integers(0, 4, (6, len(sequences)))
    weights[weights.sum(axis=1) == 0, 0] = 1
    drawn = drawn_numbers(sequences, weights.astype(np.float64), KEYS)
    for row, times in zip(drawn, weights.tolist(), strict=True):
        written = together([one for one, count in zip(sequences, times, strict=True) for _ in range(count)])
        expected = [np.mean(written[key]) if key in CURVES else written[key] for key in KEYS]
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-9)
    whole = drawn_numbers(sequences, np.ones((1, len(sequences))), KEYS)[0]
    np.testing.assert_allclose(whole, [found.summary[key] for key in KEYS], rtol=0, atol=1e-9)


def repeated(given: TrackSet, scores: np.ndarray, times: list[int]) -> TrackEvaluation:
    """The evaluation of a set in which each sequence stands so many times, with J and F and AP of whole tracks."""
    copies = [(place, copy) for place, count in enumerate(times) for copy in range(count)]
    names = list(given.lengths)
    lengths = {f"{names[place]}{copy}": given.lengths[names[place]] for place, copy in copies}
    chosen = [[np.flatnonzero(side.sequences == place) for place, _ in copies] for side in (given.objects, given.found)]
    rows = [np.concatenate(parts) for parts in chosen]
    numbers = [np.repeat(np.arange(len(copies)), [len(part) for part in parts]) for parts in chosen]
    sides = [
        Rows(number, *(column[row] for column in side[1:]))
        for side, row, number in zip((given.objects, given.found), rows, numbers, strict=True)
    ]
    made = TrackSet(lengths, given.names, sides[0], sides[1])
    regions = [{"Masks": Masks.from_arrays(painted(side.boxes))} for side in sides]
    gt = replace(made.ground_truth(), regions=regions[0])
    dt = replace(made.detections(), regions=regions[1], scores=scores[rows[1]])
    return evaluate_tracks(gt, dt, protocol=OF_ALL, categories=list(given.names))


@pytest.mark.parametrize("seed", [1, 2, 4, 13])
def test_so_are_j_and_f_and_whole_tracks(seed: int) -> None:
    given, rng = random_track_set(seed), np.random.default_rng(seed)
    scores = rng.random(len(given.found.boxes))
    found = repeated(given, scores, [1] * len(given.lengths))
    order = [list(given.lengths).index(name[:-1]) for name in found.sequence_names]
    keys = drawn_keys(found)
    assert {"J&F", "F-Decay", "AP_all", "AR_all"} < {*keys} <= {*found.summary}
    weights = np.vstack([np.ones(len(order)), rng.integers(0, 3, (2, len(order)))])
    weights[weights.sum(axis=1) == 0, 0] = 1
    drawn = drawn_numbers(parts_of(found), weights[:, order], keys)
    for row, times in zip(drawn, weights.astype(np.int64).tolist(), strict=True):
        written = repeated(given, scores, times).summary
        np.testing.assert_allclose(row, np.nan_to_num([written[key] for key in keys]), rtol=0, atol=1e-9)
