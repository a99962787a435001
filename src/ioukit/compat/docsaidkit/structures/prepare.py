"""Structures from numbers, or from structures."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, TypeVar

from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Box, Boxes, Polygon, Polygons
from ioukit.compat.docsaidkit.structures.keypoints import Keypoints, KeypointsList
from ioukit.compat.docsaidkit.structures.modes import BoxMode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike

__all__ = [
    "prepare_box",
    "prepare_boxes",
    "prepare_keypoints",
    "prepare_keypoints_list",
    "prepare_polygon",
    "prepare_polygons",
]

Mode = int | str | BoxMode
Made = TypeVar("Made")


def prepare_box(
    box: Box | ArrayLike, ind: int | None = None, src_mode: Mode = BoxMode.XYXY, dst_mode: Mode = BoxMode.XYXY
) -> Box:
    """A `Box` in ``dst_mode``.

    Args:
        box: A `Box`, or 4 numbers.
        ind: The row of the box in a list, for the message of the error.
        src_mode: The mode of the numbers; a `Box` has its own.
        dst_mode: The mode of the result.

    Raises:
        ValueError: If the box or a mode is not valid.
    """
    if isinstance(box, Box):
        return box.convert(dst_mode)
    return _made(lambda: Box(box, src_mode), box, _place("box", "boxes", ind), ValueError).convert(dst_mode)


def prepare_boxes(
    boxes: Boxes | Sequence[Any] | ArrayLike, src_mode: Mode = BoxMode.XYXY, dst_mode: Mode = BoxMode.XYXY
) -> Boxes:
    """`Boxes` in ``dst_mode``, from `Boxes` or from a list of what `prepare_box` takes; ValueError names a bad row."""
    if isinstance(boxes, Boxes):
        return boxes.convert(dst_mode)
    rows: Any = boxes
    return Boxes([prepare_box(box, ind, src_mode, dst_mode) for ind, box in enumerate(rows)], dst_mode)


def prepare_keypoints(keypoints: Keypoints | ArrayLike, ind: int | None = None) -> Keypoints:
    """`Keypoints` from numbers; TypeError names ``ind``, their row in a list, if they are not valid."""
    if isinstance(keypoints, Keypoints):
        return keypoints
    return _made(lambda: Keypoints(keypoints), keypoints, _place("keypoints", "keypoints_list", ind), TypeError)


def prepare_keypoints_list(keypoints_list: KeypointsList | Sequence[Any] | ArrayLike) -> KeypointsList:
    """`KeypointsList` from a list of what `prepare_keypoints` takes; TypeError names a bad row."""
    if isinstance(keypoints_list, KeypointsList):
        return keypoints_list
    rows: Any = keypoints_list
    return KeypointsList([prepare_keypoints(keypoints, ind) for ind, keypoints in enumerate(rows)])


def prepare_polygon(polygon: Polygon | ArrayLike, ind: int | None = None) -> Polygon:
    """A `Polygon` from points; TypeError names ``ind``, its row in a list, if they are not valid."""
    if isinstance(polygon, Polygon):
        return polygon
    return _made(lambda: Polygon(polygon), polygon, _place("polygon", "polygons", ind), TypeError)


def prepare_polygons(polygons: Polygons | Sequence[Polygon | ArrayLike]) -> Polygons:
    """`Polygons` from a list of what `prepare_polygon` takes; TypeError names a bad row."""
    if isinstance(polygons, Polygons):
        return polygons
    return Polygons([prepare_polygon(polygon, ind) for ind, polygon in enumerate(polygons)])


def _place(one: str, many: str, ind: int | None) -> str:
    return one if ind is None else f"{many}[{ind}]"


def _made(make: Callable[[], Made], given: object, place: str, kind: type[Exception]) -> Made:
    """What ``make`` returns; its errors get one type, and say which value is wrong."""
    try:
        return make()
    except (TypeError, ValueError) as error:
        raise kind(f"the input {place} is {reprlib.repr(given)}, but {error}") from None
