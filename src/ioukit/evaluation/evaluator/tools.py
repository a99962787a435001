"""What detectors return, as the dicts that `update` reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ioukit.datasets.formats.text_files import refuse
from ioukit.datasets.predictions.prediction import Prediction
from ioukit.datasets.predictions.reading import TOOLS, tool_of
from ioukit.evaluation.evaluator.categories import KnownCategories
from ioukit.regions.boxes import Boxes
from ioukit.regions.rotated import RotatedBoxes


def are_of_tools(predictions: Sequence[Any]) -> bool:
    """Whether the first prediction is an object of a tool, and not a dict that `update` reads itself."""
    first = predictions[0]
    if isinstance(first, Mapping) and ("boxes" in first or not any(tool.recognises(first) for tool in TOOLS)):
        return False
    return isinstance(first, Mapping) or any(tool.recognises(first) for tool in TOOLS)


def dicts_of_tools(predictions: Sequence[Any], known: KnownCategories | None, *, rotated: bool) -> list[dict[str, Any]]:
    """The predictions as dicts, with boxes ``x1, y1, x2, y2``.

    Args:
        predictions: (I,) objects, one per image.
        known: The categories that were given; classes are then found by name where both sides have names.
        rotated: Whether rotated boxes are compared. If not, they become the boxes around them.

    Raises:
        TypeError: If an object is of no known tool.
        DatasetError: If a value is invalid.
    """
    made = []
    for at, value in enumerate(predictions):
        where = f"predictions[{at}]"
        found = tool_of(value, where).read(value, where)
        labels = _labels(found, known, where)
        try:
            made.append(_dict_of(found, labels, rotated=rotated))
        except ValueError as error:
            refuse(f"{where}: boxes", "valid boxes", str(error))
    return made


def _dict_of(found: Prediction, labels: Any, *, rotated: bool) -> dict[str, Any]:
    boxes: Any = None if found.boxes is None else Boxes(found.boxes, "xyxy")
    if found.rotated is not None and (rotated or boxes is None):
        turned = RotatedBoxes(found.rotated, unit="radians", sense="clockwise")
        boxes = turned if rotated else turned.to_boxes()
    record = {"boxes": boxes, "scores": found.scores, "labels": labels}
    for name in ("masks", "keypoints"):
        if getattr(found, name) is not None:
            record[name] = getattr(found, name)
    tracks = found.attributes.get("track_id")
    if tracks is not None:
        whole = tracks.dtype.kind != "f" or (tracks == np.trunc(tracks)).all()
        record["track_ids"] = tracks.astype(np.int64) if whole else tracks
    return record


def _labels(found: Prediction, known: KnownCategories | None, where: str) -> Any:
    names = found.names
    if names is not None and known is not None and any(not name.isdigit() for name in known.categories.names):
        return [known.id_of(name, f"{where}: class {row}") for row, name in enumerate(names)]
    if found.labels is None:
        refuse(f"{where}: labels", "numbers, or names and Evaluator(categories=[names])", "names alone")
    whole = found.labels == np.trunc(found.labels)
    if not whole.all():
        row = int(np.argmin(whole))
        refuse(f"{where}: labels: row {row}", "a whole number", str(found.labels[row]))
    return found.labels.astype(np.int64)
