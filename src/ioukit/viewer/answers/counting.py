"""What is counted of the marks that a filter chooses: facets and histograms."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.answers.bins import IOU_EDGES
from ioukit.viewer.answers.conditions import change_codes, flag_bits, issue_bits
from ioukit.viewer.answers.filters import CHANGES, OUTCOMES
from ioukit.viewer.answers.marks import Side
from ioukit.viewer.answers.selecting import Failures, Selection

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection
    from ioukit.viewer.answers.values import Value

__all__ = ["Histogram", "facets_and_histograms"]

_ROWS = 1 << 16  # at once, so that what is computed of them stays in the cache

Codes = npt.NDArray[Any]
Counts = npt.NDArray[np.int64]


class Histogram(NamedTuple):
    """How many values lie between two edges; a bin holds its lower edge, the last bin holds both."""

    edges: npt.NDArray[np.float64]
    """(B + 1,)"""
    counts: Counts
    """(B,)"""


class _Key(NamedTuple):
    """Something that marks are counted by."""

    name: str
    """The key of the filter."""
    size: int
    """Number of values, with one for none."""
    codes: Callable[[Side], Codes]
    """The value of each mark, below ``size``."""


def facets_and_histograms(selection: Selection) -> tuple[dict[str, Any], dict[str, Histogram]]:
    """For each key, how many marks have each value and pass all conditions but those of the key.

    Returns:
        By key the counts by names (``class``: in the order of classes), and the histograms by key.
    """
    collection = selection.collection
    counted: dict[str, Counts] = {}
    for failed in selection.failures():
        keys = _common_keys(collection, selection)
        if failed.side.is_object:
            keys += _keys_of_objects(collection, selection)
        for name, counts in _tally(failed, keys).items():
            counted[name] = counted[name] + counts if name in counted else counts
    facets: dict[str, Any] = {
        "outcome": _named(OUTCOMES, counted["outcome"]),
        "error": _named(ERROR_KINDS, counted["error"]),
        "class": counted["class"][:-1].tolist(),
        "area": _named([label for label, _, _ in collection.area_ranges], counted["area"]),
        "change": _named(CHANGES, counted["change"]) if "change" in counted else None,
        "flag": _of_bits(collection.flags, counted["flag"]),
        "issue": None if collection.issues is None else _of_bits(collection.issues.kinds, counted["issue"]),
    }
    histograms = {
        "score": Histogram(collection.score_edges, counted["score"][:-1]),
        "iou": Histogram(IOU_EDGES, counted["iou"][:-1]),
        "size": Histogram(collection.size_edges, counted["size"][:-1]),
    }
    for value in collection.values.values():
        key = f"column.{value.name}"
        if value.of != "object":
            continue
        if value.texts is None:
            histograms[key] = Histogram(value.edges, counted[key][:-1])
        else:
            facets[key] = _named(value.texts, counted[key])
    return facets, histograms


def _common_keys(collection: Collection, selection: Selection) -> list[_Key]:
    """What both objects and detections are counted by."""
    keys = [
        _Key("outcome", len(OUTCOMES) + 1, lambda side: side.outcome),
        _Key("error", len(ERROR_KINDS) + 1, lambda side: side.error),
        _Key("area", len(collection.area_ranges) + 1, lambda side: side.area_range),
        _Key("score", len(collection.score_edges), lambda side: side.score_bin),
        _Key("iou", len(IOU_EDGES), lambda side: side.iou_bin),
        _Key("size", len(collection.size_edges), lambda side: side.size_bin),
        _Key("class", len(collection.categories) + 1, lambda side: side.category),
    ]
    if collection.issues is not None:
        keys.append(_Key("issue", 256, lambda side: issue_bits(collection, selection.of_model, side)))
    return keys


def _keys_of_objects(collection: Collection, selection: Selection) -> list[_Key]:
    """What objects alone are counted by."""
    keys = [_Key("flag", 256, lambda side: flag_bits(collection, side))]
    if len(collection.models) > 1:
        keys.append(_Key("change", len(CHANGES) + 1, lambda side: change_codes(collection, selection.filter, side)))
    for value in collection.values.values():
        name = f"column.{value.name}"
        if value.of == "object":
            keys.append(_Key(name, len(value.edges), functools.partial(_codes_of_value, value)))
    return keys


def _codes_of_value(value: Value, _: Side) -> Codes:
    return value.codes


def _tally(failed: Failures, keys: Sequence[_Key]) -> dict[str, Counts]:
    """For each key, how many marks have each value and pass all conditions but those of the key."""
    codes = [key.codes(failed.side) for key in keys]
    groups = _groups(keys)
    sums = [np.zeros(int(np.prod([keys[at].size for at in group])), np.int64) for group in groups]
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


def _groups(keys: Sequence[_Key]) -> list[list[int]]:
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


_MOST_VALUES = 2048


def _named(names: Sequence[str], counts: Counts) -> dict[str, int]:
    return dict(zip(names, counts.tolist(), strict=False))


def _of_bits(names: Sequence[str], counts: Counts) -> dict[str, int]:
    """How many marks have each bit, of the counts of all 256 numbers."""
    numbers = np.arange(len(counts))
    return {name: int(counts[(numbers >> at & 1).astype(np.bool_)].sum()) for at, name in enumerate(names)}
