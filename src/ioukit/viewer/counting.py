"""What is counted of the marks that a filter chooses: facets and histograms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.analysis.tide import ERROR_KINDS
from ioukit.viewer.filters import CHANGES, OUTCOMES, Filter
from ioukit.viewer.selecting import (
    OUTCOME_OF_KIND,
    Failures,
    area_codes,
    change_codes,
    error_codes,
    flag_bits,
    issue_bits,
)

if TYPE_CHECKING:
    from ioukit.viewer.collection import Collection
    from ioukit.viewer.marks import Marks

__all__ = ["Histogram", "facets", "histogram_of", "histograms", "value_edges"]

_BINS = 40
_IOU_BINS = 20

Flags = npt.NDArray[np.bool_]


class Histogram(NamedTuple):
    """How many values lie between two edges; the last edge belongs to the last bin."""

    edges: npt.NDArray[np.float64]
    """(B + 1,)"""
    counts: npt.NDArray[np.int64]
    """(B,)"""


def facets(
    collection: Collection, chosen: Filter, of_model: Marks, sides: Sequence[Failures], images: Flags
) -> dict[str, Any]:
    """For each key with few values, how many marks have each value and pass all other conditions."""
    found: dict[str, Any] = {}
    codes: dict[str, Any] = {
        "outcome": (OUTCOMES, lambda side: OUTCOME_OF_KIND[side.kind]),
        "error": (ERROR_KINDS, error_codes),
        "class": (collection.class_keys, lambda side: side.category),
    }
    if ranges := collection.area_ranges:
        codes["area"] = ([label for label, _, _ in ranges], lambda side: area_codes(collection, side)[0])
    if len(collection.models) > 1:
        codes["change"] = (CHANGES, lambda side: change_codes(collection, chosen, side))
    for key, (names, code) in codes.items():
        counts = np.zeros(len(names) + 1, np.int64)
        for failed in sides:
            passed = failed.chosen(key) & images[failed.side.image]
            counts += np.bincount(code(failed.side)[passed], minlength=len(names) + 1)
        listed = counts[: len(names)].tolist()
        found[key] = listed if key == "class" else dict(zip(names, listed, strict=True))
    bits: dict[str, Any] = {"flag": (collection.flags, lambda side: flag_bits(collection, side))}
    if collection.issues is not None:
        bits["issue"] = (collection.issues.kinds, lambda side: issue_bits(collection, of_model, side))
    for key, (names, code) in bits.items():
        counts = np.zeros(len(names), np.int64)
        for failed in sides:
            passed = code(failed.side)[failed.chosen(key) & images[failed.side.image]]
            counts += [np.count_nonzero(passed & np.uint8(1 << at)) for at in range(len(names))]
        found[key] = dict(zip(names, counts.tolist(), strict=True))
    found.setdefault("change", None)
    found.setdefault("issue", None)
    return found


def histograms(collection: Collection, sides: Sequence[Failures], images: Flags) -> dict[str, Histogram]:
    """How the scores, IoUs, sizes and the values of columns of objects are distributed."""
    found = {}
    columns = [value for value in collection.values.values() if value.of == "object" and value.numeric]
    for key in ("score", "iou", "size", *(f"column.{value.name}" for value in columns)):
        parts = []
        for failed in sides:
            side = failed.side
            passed = failed.chosen(key) & images[side.image]
            if key.startswith("column."):
                if side.is_object:
                    parts.append(collection.values[key.removeprefix("column.")].values[passed])
                continue
            values = side.score if key == "score" else side.iou if key == "iou" else np.sqrt(side.area)
            parts.append(values[passed].astype(np.float64))
        found[key] = histogram_of(np.concatenate(parts), value_edges(collection, key))
    return found


def value_edges(collection: Collection, key: str) -> npt.NDArray[np.float64]:
    """The edges of the histogram of a key, which do not depend on the filter."""
    if key == "iou":
        return np.linspace(0.0, 1.0, _IOU_BINS + 1)
    if key == "score":
        return _even(*collection.score_range)
    if key == "size":
        return _size_edges(collection)
    return _even(*collection.values[key.removeprefix("column.")].ends())


def _even(low: float, high: float) -> npt.NDArray[np.float64]:
    if math.isnan(low):
        return np.array([0.0, 1.0])
    return np.linspace(low, high if high > low else low + 1.0, _BINS + 1)


def _size_edges(collection: Collection) -> npt.NDArray[np.float64]:
    """Powers of the square root of 2: 0, 1, 1.4, 2, 2.8, ... to the largest size."""
    largest = max(
        (
            float(np.nanmax(areas))
            for areas in (collection.areas, *(one.areas for one in collection.models))
            if len(areas)
        ),
        default=1.0,
    )
    steps = max(1, math.ceil(math.log2(max(math.sqrt(largest), 1.0)) * 2 + 1e-9))
    return np.concatenate([[0.0], 2.0 ** (np.arange(steps + 1) / 2)])


def histogram_of(values: npt.NDArray[Any], edges: npt.NDArray[np.float64]) -> Histogram:
    """How many of the values are within each bin; NaN and values beyond the edges are not counted."""
    return Histogram(edges, np.histogram(values[~np.isnan(values)], edges)[0].astype(np.int64))
