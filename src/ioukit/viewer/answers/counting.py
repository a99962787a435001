"""What is counted of the marks that a filter chooses: facets and histograms.

A facet counts the marks that pass all conditions but its own, so that a reader sees what another value would add. One
pass over the marks gives all of them: a mark that passes all conditions counts for every key, a mark that fails one
condition counts for the key of this condition alone. Keys with few values are counted as one joint number, and the
marks in parts that stay in the cache of a processor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Counts
from ioukit.viewer.answers.conditions import Key, keys_of_marks
from ioukit.viewer.answers.selecting import Failures, Selection

_ROWS = 1 << 16  # at once, so that what is computed of them stays in the cache
_MOST_VALUES = 2048  # of keys that are counted as one number: 16 kB of counts. A choice, not a measurement

_FACETS = ("outcome", "error", "class", "area", "change", "flag", "issue")


class Histogram(NamedTuple):
    """How many values lie between two edges; a bin holds its lower edge, the last bin holds both."""

    edges: npt.NDArray[np.float64]
    """(B + 1,)"""
    counts: Counts
    """(B,)"""


def facets_and_histograms(selection: Selection) -> tuple[dict[str, Any], dict[str, Histogram]]:
    """For each key, how many marks have each value and pass all conditions but those of the key.

    Returns:
        By key the counts by names (``class``: in the order of classes), and the histograms by key.
    """
    keys = keys_of_marks(selection.collection, selection.filter)
    objects, detections = selection.failures()
    counted = _tally(objects, keys)
    for name, counts in _tally(detections, [key for key in keys if not key.of_objects]).items():
        counted[name] += counts
    facets: dict[str, Any] = dict.fromkeys(_FACETS)
    histograms = {}
    for key in keys:
        counts = counted[key.name]
        if key.edges is not None:
            histograms[key.name] = Histogram(key.edges, counts[:-1])
        elif key.name == "class":
            facets["class"] = counts[:-1].tolist()
        else:
            if key.are_bits:
                numbers = np.arange(len(counts))
                counts = np.array([counts[numbers >> at & 1 == 1].sum() for at in range(len(key.names))], np.int64)
            facets[key.name] = dict(zip(key.names, counts.tolist(), strict=False))
    return facets, histograms


def _tally(failed: Failures, keys: Sequence[Key]) -> dict[str, Counts]:
    """For each key, how many marks have each value and pass all conditions but those of the key."""
    codes = [key.codes(failed.side) for key in keys]
    groups = _groups(keys)
    sums = [np.zeros(math.prod(keys[at].size for at in group), np.int64) for group in groups]
    own = {at: np.zeros(key.size, np.int64) for at, key in enumerate(keys) if failed.bit(key.name)}
    for start in range(0, len(failed.side), _ROWS):
        part = slice(start, start + _ROWS)
        bits = None if failed.bits is None else failed.bits[part]
        passed = None if bits is None else bits == 0
        count = _ROWS if passed is None else np.count_nonzero(passed)
        chosen: Any = slice(None) if passed is None else passed if count > _ROWS // 8 else np.flatnonzero(passed)
        if count:
            for place, group in enumerate(groups):
                joint = codes[group[0]][part][chosen].astype(np.intp)
                for at in group[1:]:
                    joint *= keys[at].size
                    joint += codes[at][part][chosen]
                sums[place] += np.bincount(joint, minlength=len(sums[place]))
        for at in own:
            alone = np.flatnonzero(bits == failed.bit(keys[at].name))
            if len(alone):
                own[at] += np.bincount(codes[at][part][alone], minlength=keys[at].size)
    found = {}
    for group, total in zip(groups, sums, strict=True):
        table = total.reshape([keys[at].size for at in group])
        for axis, at in enumerate(group):
            others = tuple(other for other in range(len(group)) if other != axis)
            found[keys[at].name] = table.sum(axis=others) + own.get(at, 0)
    return found


def _groups(keys: Sequence[Key]) -> list[list[int]]:
    """Keys that are counted as one number, because together they have few values."""
    groups: list[list[int]] = []
    size = _MOST_VALUES + 1
    for at, key in enumerate(keys):
        if size * key.size <= _MOST_VALUES:
            groups[-1].append(at)
            size *= key.size
        else:
            groups.append([at])
            size = key.size
    return groups
