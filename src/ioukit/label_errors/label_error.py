"""The kinds of label errors, and one label that is likely wrong: names, boxes, and why, in words."""

from __future__ import annotations

import math
from typing import NamedTuple

from ioukit._words_and_colours import percent


class LabelErrorKind(NamedTuple):
    """A kind of label error."""

    key: str
    title: str
    change: str
    """What an annotator should do, in words."""


LABEL_ERROR_KINDS: tuple[LabelErrorKind, ...] = (
    LabelErrorKind("overlooked", "Overlooked object", "add the object"),
    LabelErrorKind("badly_drawn", "Badly drawn object", "draw the object again"),
    LabelErrorKind("swapped", "Wrong class", "change the class"),
    LabelErrorKind("doubled", "Doubled object", "remove one of the two"),
    LabelErrorKind("spurious", "Label of nothing", "remove the object"),
)
"""All kinds, in the order of :attr:`LabelErrors.kind`."""

OVERLOOKED, BADLY_DRAWN, SWAPPED, DOUBLED, SPURIOUS = range(len(LABEL_ERROR_KINDS))


class LabelError(NamedTuple):
    """A label that is likely wrong."""

    kind: str
    """``"overlooked"``, ``"badly_drawn"``, ``"swapped"``, ``"doubled"`` or ``"spurious"``."""
    score: float
    """The estimated probability that the label is wrong, within [0, 1]."""
    image_id: int | str
    """The id of the image."""
    file_name: str
    """The name of its file; empty if it is not known."""
    annotation_id: int | None
    """The id of the annotation; ``None`` for an overlooked object."""
    other_id: int | None
    """The id of the other annotation of a doubled object."""
    category: str | None
    """The class of the annotation; ``None`` for an overlooked object."""
    suggested_category: str | None
    """The class that the object should have; ``None`` if it should be removed."""
    box: tuple[float, float, float, float] | None
    """``x, y, width, height`` of the annotation in pixels; ``None`` if there is none, or if it is not known."""
    suggested_box: tuple[float, float, float, float] | None
    """The box that the object should have."""
    detection_score: float | None
    """The score of the detection that speaks against the label."""
    overlap: float | None
    """The overlap of the annotation with this detection, or with the other annotation, as :attr:`LabelErrors.overlap`
    has it."""
    reason: str
    """Why the label is suspicious, in words."""


def reason(row: LabelError, *, other_class: str | None, usual: float, is_bound: bool, measure: str) -> str:
    """Why a label is suspicious, in one or two sentences.

    What is usual is no count: it is estimated from all classes and sizes, and of rare ones mostly from the others.

    Args:
        row: The label.
        other_class: The class of the other object of a double.
        usual: :attr:`LabelErrors.expected`.
        is_bound: Whether the overlap of two objects is a lower bound, from a detection that overlaps both.
        measure: What an overlap is called, such as ``"IoU"``.
    """
    score = math.nan if row.detection_score is None else row.detection_score
    overlap = math.nan if row.overlap is None else row.overlap
    kind, category, suggested = row.kind, row.category, row.suggested_category
    if kind == "overlooked":
        return (
            f"A detection of {suggested} with score {score:.2f} matches no annotation. "
            f"An estimated {_share(usual)} of the detections like it match one."
        )
    if kind == "badly_drawn":
        return (
            f"The detection of {suggested} with score {score:.2f} overlaps the annotation with {measure} "
            f"{overlap:.2f}. Such detections usually reach about {usual:.2f}."
        )
    if kind == "swapped":
        rival = f"No detection of {category} has {measure} 0.10 or more with it."
        if not math.isnan(usual):
            rival = f"Score times {measure} of the strongest detection of {category} is {usual:.2f}."
        return (
            f"A detection of {suggested} with score {score:.2f} overlaps the annotation with {measure} {overlap:.2f}. "
            f"{rival}"
        )
    if kind == "doubled":
        other = f"Annotation {row.other_id} of {other_class}"
        # Only 1 - IoU is a distance: of other measures, two overlaps with one detection bound no third one.
        if is_bound and not measure.endswith("IoU"):
            return f"{other} and this one overlap one detection, with a mean {measure} of {(1 + overlap) / 2:.2f}."
        return f"{other} overlaps this one with {measure} {'at least ' if is_bound else ''}{overlap:.2f}."
    return (
        f"No reliable detection lies on the annotation. An estimated {_share(usual)} of the annotations of {category} "
        "of this size have one."
    )


def _share(value: float) -> str:
    """A share in per cent, never rounded up to all."""
    return percent(min(value, 0.999), 0 if value < 0.99 else 1)
