"""MMDetection's and MMRotate's ``DetDataSample``, also as a dict."""

from __future__ import annotations

import operator
from typing import Any

from ioukit.datasets.formats.text_files import refuse
from ioukit.datasets.predictions.prediction import Prediction, array_of, column_of, member_of, numbers_of

__all__ = ["is_prediction", "read"]


def is_prediction(value: Any) -> bool:
    """Whether the value has ``pred_instances`` with ``bboxes``."""
    return member_of(member_of(value, "pred_instances"), "bboxes") is not None


def read(value: Any, where: str) -> Prediction:
    """``pred_instances`` with ``bboxes``, ``scores``, ``labels`` and perhaps ``masks``; the image by ``img_id``.

    Boxes of five numbers are MMRotate's: ``cx, cy, width, height``, and an angle in radians, clockwise on the screen.
    Without ``img_id``, the image is that of ``img_path``.
    """
    found, place = member_of(value, "pred_instances"), f"{where}.pred_instances"
    boxes = rotated = None
    columns = array_of(member_of(found, "bboxes"), f"{place}.bboxes").shape[-1]
    if columns == 8:
        refuse(f"{place}.bboxes", "4 or 5 numbers per box", "8: quadrilaterals, which are no rotated boxes")
    if columns == 5:
        rotated = numbers_of(member_of(found, "bboxes"), f"{place}.bboxes", 5)
        count = len(rotated)
    else:
        boxes = numbers_of(member_of(found, "bboxes"), f"{place}.bboxes", 4)
        count = len(boxes)
    return Prediction(
        scores=column_of(member_of(found, "scores"), f"{place}.scores", count),
        labels=column_of(member_of(found, "labels"), f"{place}.labels", count),
        boxes=boxes,
        rotated=rotated,
        masks=member_of(found, "masks"),
        image=_image(value),
    )


def _image(value: Any) -> int | str | None:
    number = member_of(value, "img_id")
    if number is None:
        path = member_of(value, "img_path")
        return path if isinstance(path, str) else None
    return number if isinstance(number, str) else operator.index(number)
