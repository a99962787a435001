"""Whether a collection has what a filter names. Nothing is counted for that."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.viewer.answers.conditions import column_called, in_column, kinds_of_issues, position_of
from ioukit.viewer.answers.filters import BACKGROUND, Filter

if TYPE_CHECKING:
    from ioukit.viewer.answers.collection import Collection

__all__ = ["check_filter"]

_OF_DETECTIONS = ("outcome", "error", "score", "iou", "true", "predicted", "change")


def check_filter(collection: Collection, chosen: Filter) -> None:
    """Refuse a filter that the collection cannot answer, or that leaves out everything because there is no model.

    Raises:
        ValueError: If there is no such class, model, column, text, flag, issue, area range or IoU threshold, or if the
            filter needs detections, two models or checked labels that are not there.
    """
    if not collection.models:
        needing = [key for key, text in chosen.items() if key in _OF_DETECTIONS and (key, text) not in _WITHOUT_MODELS]
        if needing:
            raise ValueError(f"{needing[0]} needs detections: there is ground truth alone")
    for name in (*chosen.classes, *chosen.true, *chosen.predicted):
        if name != BACKGROUND or name in chosen.classes:
            collection.classes_called(name)
    if chosen.change and len(collection.models) < 2:
        raise ValueError("change needs two models")
    for model in (chosen.model, *(chosen.models or ())):
        collection.model_at(model)
    if chosen.at_iou is not None:
        collection.protocol.position_of_iou(chosen.at_iou)
    labels = [label for label, _, _ in collection.area_ranges]
    known = [
        *(("area range", labels, name) for name in chosen.area),
        *(("flag", collection.flags, name) for name in chosen.flag),
        *(("issue", kinds_of_issues(collection), name) for name in chosen.issue),
    ]
    for what, names, name in known:
        position_of(names, name, what)
    for name, wanted in chosen.columns.items():
        in_column(column_called(collection, name), wanted)
    if chosen.sort is not None and chosen.sort.startswith("column."):
        column_called(collection, chosen.sort.removeprefix("column."))


_WITHOUT_MODELS = (("outcome", "detected"), ("outcome", "ignored"))
