"""`dict_to_jsonable`: a dictionary with structures in it becomes one that ``json.dumps`` accepts."""

from __future__ import annotations

from datetime import date
from enum import Enum
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit.compat.docsaidkit.structures._four_numbers import FourNumbers
from ioukit.compat.docsaidkit.structures.box_and_polygon import Polygon
from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Polygons
from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.structures.modes import BoxMode

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["dict_to_jsonable"]

_PLAIN: list[tuple[Any, Callable[[Any], Any]]] = [
    (FourNumbers, lambda boxes: boxes.convert(BoxMode.XYXY).to_list()),
    ((Polygon, Polygons, Keypoints, KeypointsList), lambda points: points.to_list()),
    ((np.ndarray, np.generic), lambda array: array.tolist()),
    (Enum, lambda member: member.name),
    (PurePath, str),
    (date, lambda day: day.isoformat()),
    ((str, int, float, type(None)), lambda value: value),
]


def dict_to_jsonable(
    d: Mapping[Any, Any], jsonable_func: Mapping[Any, Callable[[Any], Any]] | None = None
) -> dict[Any, Any]:
    """A copy of a dictionary that holds, at any depth, only types that JSON has.

    Boxes become xyxy numbers, polygons and keypoints become their points, without rounding. Arrays become lists,
    members of enumerations become their names, paths and dates become strings.

    Args:
        d: The dictionary.
        jsonable_func: For some keys, a function that converts their values.

    Raises:
        TypeError: If a value has another type; the message says where it is.
    """
    own = jsonable_func or {}
    return {key: own[key](value) if key in own else _jsonable(value, f"d[{key!r}]", own) for key, value in d.items()}


def _jsonable(value: Any, where: str, own: Mapping[Any, Callable[[Any], Any]]) -> Any:
    if isinstance(value, dict):
        return {k: own[k](v) if k in own else _jsonable(v, f"{where}[{k!r}]", own) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item, f"{where}[{position}]", own) for position, item in enumerate(value)]
    for kinds, plain in _PLAIN:
        if isinstance(value, kinds):
            return plain(value)
    raise TypeError(f"{where} is a {type(value).__name__}, which JSON does not know: give jsonable_func its key")
