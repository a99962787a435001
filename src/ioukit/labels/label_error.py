"""One label that is likely wrong, with names and words."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LabelError"]


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
    iou: float | None
    """The IoU of the annotation with this detection, or with the other annotation."""
    reason: str
    """Why the label is suspicious, in words."""
