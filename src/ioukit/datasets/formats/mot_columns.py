"""MOTChallenge's files as columns, if all their lines are valid: benchmarks have millions of lines.

Owns: the numbers of all lines at once, and whether they are what the reader expects. Does not own the words of refusals
and the lines that are left out: wherever a line may be invalid, the answer here is ``None``, and `mot.py` reads line by
line, which takes 20 times as long. `tests/datasets/test_mot_columns.py` compares the two.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._checks import check_threads
from ioukit.datasets.formats.recognising import first_lines
from ioukit.datasets.formats.text_files import FARTHEST

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ioukit._array_types import Counts, Flags, Floats, Positions

_FEWEST, _MOST = 7, 10


class Lines(NamedTuple):
    """The lines of several files, in order."""

    values: Floats
    """(N, 9) the numbers, NaN where a line has fewer. A tenth one is not kept."""
    counts: Counts
    """(N,) how many each line has."""
    files: Positions
    """(N,) the position of the file."""

    @property
    def frames(self) -> Positions:
        """(N,) the numbers of the frames."""
        return self.values[:, 0].astype(np.int64)

    def boxes(self, first_pixel: int) -> Floats:
        """(N, 4) ``[x, y, width, height]``."""
        return np.ascontiguousarray(self.values[:, 2:6] - np.array([first_pixel, first_pixel, 0, 0]))


def valid_lines(files: Sequence[Path], threads: int | None) -> Lines | None:
    """The lines of files whose numbers, frames and boxes are all valid; ``None`` if one is not, or there is none."""
    if not all(file.is_file() for file in files):
        return None
    commas = any("," in word for file in files[:1] for line in first_lines(file)[:1] for word in line)
    raw = _core.read_number_lines([os.fspath(file) for file in files], commas, check_threads(threads))
    counts = np.diff(raw["ends"], prepend=0)
    if raw["problems"][0] or not len(counts) or (raw["states"] == 0).any():
        return None
    if not ((counts >= _FEWEST) & (counts <= _MOST)).all():
        return None
    values = np.full((len(counts), 9), np.nan)
    different, starts = np.unique(counts).tolist(), raw["ends"] - counts
    if len(different) == 1:  # as in nearly all files
        values[:, : different[0]] = raw["numbers"].reshape(-1, different[0])[:, :9]
    else:
        for count in different:
            rows, kept = np.flatnonzero(counts == count), min(count, 9)
            values[rows, :kept] = raw["numbers"][starts[rows, np.newaxis] + np.arange(kept)]
    if (np.abs(raw["numbers"]) > FARTHEST).any() or (values[:, 4:6] < 0).any():
        return None
    return Lines(values, counts, raw["files"]) if are_whole(values[:, 0], 1, FARTHEST) else None


def are_whole(values: Floats, lowest: float, highest: float | Floats) -> bool:
    """Whether all are whole numbers within limits."""
    return bool(((values == np.trunc(values)) & (values >= lowest) & (values <= highest)).all())


def first_seen(values: Positions) -> Positions:
    """The different values in the order in which they come."""
    found, places = np.unique(values, return_index=True)
    return found[np.argsort(places)]


def places_among(values: Positions, listed: Positions) -> tuple[Positions, Flags]:
    """(N,) the place of each value in a list without repetitions, and whether it is there."""
    order = np.argsort(listed)
    found = np.minimum(np.searchsorted(listed, values, sorter=order), max(len(listed) - 1, 0))
    if not len(listed):
        return np.zeros(len(values), np.int64), np.zeros(len(values), np.bool_)
    places = order[found]
    return places, listed[places] == values
