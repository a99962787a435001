"""Answers to keyword arguments that a function does not take: the near one, or where the rule belongs.

Python names only what it did not expect. A decorator and not a further parameter, so that signatures stay what editors
and type checkers complete.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Function = TypeVar("Function", bound="Callable[..., Any]")

_RULES = (
    "iou_threshold",
    "iou_thresholds",
    "iou_thrs",
    "max_dets",
    "max_detection_thresholds",
    "max_detections",
    "area_ranges",
    "recall_thresholds",
    "rec_thresholds",
)
_PER_IMAGE = ("preds", "pred", "predictions", "target", "targets")
_NAMES = {
    "gt": "ground_truth", "truth": "ground_truth", "annotations": "ground_truth", "dt": "detections",
    "results": "detections", "rules": "protocol", "metric": "protocol", "type": "iou_type", "classes": "categories",
    "class_names": "categories", "labels": "category_ids", "class_ids": "category_ids",
    "image_ids": "images", "workers": "threads", "format": "box_format",
}  # fmt: skip
"""The names of other packages, and what they are here, if the function has it."""


def answers_keywords(function: Function) -> Function:
    """The function; for a keyword argument that it does not take, it says what there is instead."""

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        try:
            return function(*arguments, **options)
        except TypeError as error:
            import re  # noqa: PLC0415 - only for messages

            # Without a further frame, the call itself has failed, and nothing inside of it.
            unknown = re.search(r"unexpected keyword argument '(\w+)'", str(error))
            if unknown is None or error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise
            raise TypeError(f"{error}{_instead(function, unknown[1])}") from None

    return cast("Function", call)


REQUIRED: Any = ...
"""The default of an argument that a call must have, in a function that answers a call without it by `wrong_call`.

For functions that other libraries trace, for which `answers_keywords` would be one more function to trace.
"""


def wrong_call(function: Callable[..., Any], unknown: Mapping[str, Any], example: str) -> TypeError:
    """The error for a call with keyword arguments that the function does not take, or without one that it needs."""
    for name in unknown:
        return TypeError(f"{function.__name__}() got an unexpected keyword argument {name!r}{_instead(function, name)}")
    return TypeError(f"{function.__name__}() lacks an argument: write {example}")


def _instead(function: Callable[..., Any], name: str) -> str:
    import inspect  # noqa: PLC0415 - only for messages
    import re  # noqa: PLC0415

    from ioukit._near_names import did_you_mean, near_names  # noqa: PLC0415

    given = inspect.signature(function).parameters.values()
    known = [one.name for one in given if one.name not in ("self", "cls") and one.kind is not one.VAR_KEYWORD]
    plain = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    if plain in known:
        return did_you_mean([plain])
    if plain in _RULES and "protocol" in known:
        return (
            ": rules belong to the protocol: protocol=ioukit.COCO.replace(iou_thresholds=[0.5], max_dets=(1, 10, 100))"
        )
    if plain in _PER_IMAGE and "ground_truth" in known:
        return (
            ": evaluate(ground_truth, detections) takes data sets; lists of predictions and targets, with a dict per "
            "image, go to ioukit.Evaluator().update(predictions, targets)"
        )
    if plain in ("repair", "repairs") and "ground_truth" in known:
        return ": ioukit.checks.repaired(ground_truth, detections, ['boxes=xyxy']) returns repaired data"
    if _NAMES.get(plain) in known:
        return did_you_mean([_NAMES[plain]])
    return did_you_mean(near_names(plain, known)) or f"; it takes {', '.join(known)}"
