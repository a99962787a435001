"""Structures from numbers, or from structures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ioukit.compat.docsaidkit.structures.box_and_polygon import Box, Polygon
from ioukit.compat.docsaidkit.structures.boxes_and_polygons import Boxes, Polygons
from ioukit.compat.docsaidkit.structures.modes import BoxMode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

__all__ = ["prepare_box", "prepare_boxes", "prepare_polygon", "prepare_polygons"]

Mode = int | str | BoxMode


def prepare_box(
    box: Box | ArrayLike, ind: int | None = None, src_mode: Mode = BoxMode.XYXY, dst_mode: Mode = BoxMode.XYXY
) -> Box:
    """A `Box` in ``dst_mode``. Numbers are in ``src_mode``; an error message names ``ind``."""
    return (box if isinstance(box, Box) else _named("box", ind, Box, box, src_mode)).convert(dst_mode)


def prepare_boxes(
    boxes: Boxes | Sequence[Any] | ArrayLike, src_mode: Mode = BoxMode.XYXY, dst_mode: Mode = BoxMode.XYXY
) -> Boxes:
    """`Boxes` in ``dst_mode``. Numbers are in ``src_mode``."""
    return (boxes if isinstance(boxes, Boxes) else Boxes(boxes, src_mode)).convert(dst_mode)


def prepare_polygon(polygon: Polygon | ArrayLike, ind: int | None = None) -> Polygon:
    """A `Polygon`; an error message names ``ind``."""
    return polygon if isinstance(polygon, Polygon) else _named("polygon", ind, Polygon, polygon)


def prepare_polygons(polygons: Polygons | Sequence[Polygon | ArrayLike]) -> Polygons:
    """`Polygons` from a list of polygons, or of their points."""
    if isinstance(polygons, Polygons):
        return polygons
    return Polygons([prepare_polygon(polygon, ind) for ind, polygon in enumerate(polygons)])


def _named(name: str, ind: int | None, make: Any, *arguments: Any) -> Any:
    try:
        return make(*arguments)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}{'' if ind is None else f'[{ind}]'}: {error}") from None
