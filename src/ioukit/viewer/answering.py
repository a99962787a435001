"""Which images does a filter show, and what is counted on them?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit.viewer.counting import Histogram, facets, histogram_of, histograms, value_edges
from ioukit.viewer.filters import Filter
from ioukit.viewer.levels import NOT_COUNTED
from ioukit.viewer.selecting import (
    Failures,
    Tagged,
    failures,
    image_conditions,
    image_failures,
    marks_of,
    passing,
)
from ioukit.viewer.sorting import sorted_images

if TYPE_CHECKING:
    from ioukit.viewer.collection import Collection

__all__ = ["Answer", "Counts", "answer"]

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Counts:
    """What one model does on the marks that pass all conditions except those on outcome and kind of error."""

    tp: int
    """Detections that match an object."""
    fp: int
    """Detections that match no object."""
    found: int
    """Objects that a detection finds; equal to ``tp`` unless the filter separates an object and its detection."""
    fn: int
    """Objects that no detection finds."""
    ignored: int
    """Ignored objects and detections."""

    @property
    def precision(self) -> float:
        """``tp / (tp + fp)``; NaN without detections."""
        return self.tp / (self.tp + self.fp) if self.tp + self.fp else math.nan

    @property
    def recall(self) -> float:
        """``found / (found + fn)``; NaN without objects."""
        return self.found / (self.found + self.fn) if self.found + self.fn else math.nan

    @property
    def f1(self) -> float:
        """``2 tp / (2 tp + fp + fn)``, the harmonic mean of precision and recall."""
        if self.tp == self.found:
            total = 2 * self.tp + self.fp + self.fn
            return 2 * self.tp / total if total else math.nan
        both = self.precision + self.recall
        return 2 * self.precision * self.recall / both if both > 0 else both

    def to_json(self) -> dict[str, float | None]:
        """The counts and ratios; ``None`` where undefined."""
        counts: dict[str, float | None] = {name: getattr(self, name) for name in ("tp", "fp", "found", "fn", "ignored")}
        return counts | {name: _defined(getattr(self, name)) for name in ("precision", "recall", "f1")}


@dataclass(frozen=True)
class Answer:
    """What the page shows for a filter."""

    order: npt.NDArray[np.int64] = field(repr=False)
    """The positions of the images that are shown, in their order."""
    marks: npt.NDArray[np.int64] = field(repr=False)
    """How many marks are chosen on each image of :attr:`order`."""
    counts: tuple[Counts, ...]
    """What each model does."""
    facets: Mapping[str, Any] = field(repr=False)
    """For each key with few values, how many marks have each value; images for ``tag`` and ``noted``."""
    histograms: Mapping[str, Histogram] = field(repr=False)
    """How values are distributed; those of columns of images count images."""
    at_iou: float
    """The IoU threshold."""
    at_scores: tuple[float, ...]
    """The score threshold of each model."""

    def to_json(self) -> dict[str, Any]:
        """The answer as lists, mappings and numbers; ``None`` where a number is undefined."""
        return {
            "total": len(self.order),
            "order": self.order.tolist(),
            "marks": self.marks.tolist(),
            "counts": [one.to_json() for one in self.counts],
            "facets": dict(self.facets),
            "histograms": {
                key: {"edges": one.edges.tolist(), "counts": one.counts.tolist()}
                for key, one in self.histograms.items()
            },
            "at_iou": self.at_iou,
            "at_scores": list(self.at_scores),
        }


def answer(collection: Collection, chosen: Filter, tagged: Tagged | None = None) -> Answer:
    """The images that a filter shows, in their order, and what is counted of their marks.

    A facet or histogram counts the marks that pass all conditions except its own.

    Args:
        collection: What is shown.
        chosen: The filter.
        tagged: Tags and notes.

    Raises:
        ValueError: If the filter names what is not in the collection, a class for example.
    """
    tagged = tagged or Tagged()
    all_marks = marks_of(collection, chosen)
    of_model = all_marks[collection.model_at(chosen.model)]
    failed = image_failures(collection, chosen, tagged)
    passed = passing(failed)
    sides = [failures(collection, chosen, of_model, side) for side in (of_model.objects, of_model.detections)]
    images = len(passed)
    selected = [np.flatnonzero(one.chosen() & passed[one.side.image]) for one in sides]
    marks = sum(
        (np.bincount(one.side.image[rows], minlength=images) for one, rows in zip(sides, selected, strict=True)),
        np.zeros(images, np.int64),
    )
    filters_marks = bool(sides[0].names)
    shown = passed & (marks > 0) if filters_marks else passed
    order = sorted_images(collection, chosen, sides, shown)

    counts = []
    for one in all_marks if collection.models else ():
        both = (
            sides
            if one is of_model
            else [failures(collection, chosen, one, side) for side in (one.objects, one.detections)]
        )
        counts.append(_counts(both, passed))

    with_marks = np.ones(images, np.bool_)
    if filters_marks:
        with_marks[:] = False
        for failed_by in sides:
            with_marks[failed_by.side.image[failed_by.chosen()]] = True
    found_facets = facets(collection, chosen, of_model, sides, passed)
    found_histograms = histograms(collection, sides, passed)
    names = image_conditions(collection, chosen)

    def without(name: str) -> Flags:
        others = [row for row, other in enumerate(names) if other != name]
        return with_marks & passing(failed[others])

    of_tag = without("tag")
    found_facets["tag"] = {tag: int(of_tag[rows].sum()) for tag, rows in sorted(tagged.tags.items())}
    of_noted = without("noted")
    yes = int(of_noted[tagged.noted].sum())
    found_facets["noted"] = {"yes": yes, "no": int(of_noted.sum()) - yes}
    for value in collection.values.values():
        key = f"column.{value.name}"
        if value.of == "image" and value.numeric:
            found_histograms[key] = histogram_of(value.values[without(key)], value_edges(collection, key))
        elif value.texts is not None and value.of == "image":
            rows = value.values[without(key)]
            listed = np.bincount(rows[rows >= 0], minlength=len(value.texts)).tolist()
            found_facets[key] = dict(zip(value.texts, listed, strict=True))
    return Answer(
        order=order,
        marks=marks[order],
        counts=tuple(counts),
        facets=found_facets,
        histograms=found_histograms,
        at_iou=of_model.at_iou,
        at_scores=tuple(one.at_score for one in all_marks) if collection.models else (),
    )


def _counts(sides: list[Failures], images: Flags) -> Counts:
    of = np.zeros(NOT_COUNTED + 1, np.int64)
    for one in sides:
        of += np.bincount(one.side.kind[one.chosen("outcome", "error") & images[one.side.image]], minlength=len(of))
    detected, tp, fp, missed, *ignored, _ = of.tolist()
    return Counts(tp, fp, detected, missed, sum(ignored))


def _defined(value: float) -> float | None:
    return None if math.isnan(value) else value
