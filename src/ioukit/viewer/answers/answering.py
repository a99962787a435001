"""Which images does a filter show, and what is counted on them?"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit.viewer.answers.conditions import Tagged
from ioukit.viewer.answers.counting import Histogram, facets_and_histograms
from ioukit.viewer.answers.filters import Filter
from ioukit.viewer.answers.ratios import ratio
from ioukit.viewer.answers.selecting import Selection, select
from ioukit.viewer.answers.sorting import sorted_images
from ioukit.viewer.answers.values import finite_or_none

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection


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
    undefined: frozenset[str] = frozenset()
    """What the filter itself decides, so that it says nothing of the model: among ``fp``, ``fn``, ``precision``,
    ``recall`` and ``f1``; see :func:`ioukit.viewer.answers.ratios.undefined_under`."""

    @property
    def precision(self) -> float:
        """``tp / (tp + fp)``; NaN without detections, or if the filter decides it."""
        return self._ratio("precision")

    @property
    def recall(self) -> float:
        """``found / (found + fn)``; NaN without objects, or if the filter decides it."""
        return self._ratio("recall")

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall, see :mod:`ioukit.viewer.answers.ratios`; NaN as they are."""
        return self._ratio("f1")

    def to_json(self) -> dict[str, float | None]:
        """The counts and ratios; ``None`` where undefined. ``tp`` counts detected objects if no detection can pass."""
        counts: dict[str, float | None] = {name: getattr(self, name) for name in ("tp", "fp", "found", "fn", "ignored")}
        if "fn" in self.undefined:
            counts["fn"] = None
        if "fp" in self.undefined:
            counts |= {"tp": self.found, "fp": None}
        return counts | {name: finite_or_none(getattr(self, name)) for name in ("precision", "recall", "f1")}

    def _ratio(self, name: str) -> float:
        return math.nan if name in self.undefined else float(ratio(name, self.tp, self.fp, self.found, self.fn))


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
    selection = select(collection, chosen, tagged)
    order = sorted_images(selection, chosen)
    if selection.counted is None:  # set at once: other threads may ask for the same selection
        counts = tuple(_counts(selection, at) for at in range(len(collection.models)))
        selection.counted = facets_and_histograms(selection), counts
    of_marks, counts = selection.counted
    facets, histograms = (dict(one) for one in of_marks)
    _count_images(selection, tagged or Tagged(), facets, histograms)
    return Answer(
        order=order,
        marks=selection.marks_of_images[order],
        counts=counts,
        facets=facets,
        histograms=histograms,
        at_iou=selection.of_model.at_iou,
        at_scores=tuple(one.at_score for one in selection.marks) if collection.models else (),
    )


def _count_images(
    selection: Selection, tagged: Tagged, facets: dict[str, Any], histograms: dict[str, Histogram]
) -> None:
    """Add how many images have each tag, a note, and each value of a column of images."""

    def without(name: str) -> Flags:
        return selection.has_marks & selection.images_passing_all_but(name)

    of_tag, of_noted = without("tag"), without("noted")
    facets["tag"] = {tag: int(of_tag[rows].sum()) for tag, rows in sorted(tagged.tags.items())}
    yes = int(of_noted[tagged.noted].sum())
    facets["noted"] = {"yes": yes, "no": int(of_noted.sum()) - yes}
    for value in selection.collection.values.values():
        if value.of != "image":
            continue
        key = f"column.{value.name}"
        counts = np.bincount(value.codes[without(key)], minlength=len(value.edges))[:-1]
        if value.texts is None:
            histograms[key] = Histogram(value.edges, counts)
        else:
            facets[key] = dict(zip(value.texts, counts.tolist(), strict=True))


def _counts(selection: Selection, model: int) -> Counts:
    """What a model does on the marks that pass all conditions except those on outcome and kind of error."""
    detected, tp, fp, missed, *ignored, _ = selection.kinds(model, "outcome", "error").tolist()
    return Counts(tp, fp, detected, missed, sum(ignored), selection.undefined)
