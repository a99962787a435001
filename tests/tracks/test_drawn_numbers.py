"""Numbers of drawn sequences are those of a data set in which the sequences stand so often."""

from __future__ import annotations

import numpy as np
import pytest

from ioukit import evaluate_tracks
from ioukit.tracks.measures import CURVES, KEYS, drawn_numbers, together
from support.random_tracks import random_track_set


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
