"""What the functions that draw accept: images, colours, thicknesses, scales and points, for one shape or for many."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

__all__ = [
    "Color",
    "is_numpy_img",
    "prepare_color",
    "prepare_colors",
    "prepare_img",
    "prepare_point",
    "prepare_points",
    "prepare_scale",
    "prepare_scales",
    "prepare_thickness",
    "prepare_thicknesses",
]

Color = tuple[int, int, int]
Made = TypeVar("Made")


def is_numpy_img(x: Any) -> bool:
    """Whether ``x`` is an array of shape (H, W), (H, W, 1) or (H, W, 3)."""
    return isinstance(x, np.ndarray) and (x.ndim == 2 or (x.ndim == 3 and x.shape[2] in (1, 3)))


def prepare_img(img: Any, ind: int | None = None) -> NDArray[Any]:
    """(H, W, 3) the image; the channel of a grey image is repeated. A colour image is returned as it is.

    Raises:
        ValueError: If `is_numpy_img` is false; the message names ``ind``.
    """
    if not is_numpy_img(img):
        got = f"shape {img.shape}" if isinstance(img, np.ndarray) else type(img).__name__
        raise ValueError(f"img{_row(ind)} must be an array of shape (H, W), (H, W, 1) or (H, W, 3), got {got}")
    image: NDArray[Any] = img if img.ndim == 3 else img[..., None]
    return image if image.shape[2] == 3 else image.repeat(3, axis=2)


def prepare_color(color: Any, ind: int | None = None) -> Color:
    """Three integers, one for each channel of the image, from three integers or from one for all channels.

    Raises:
        TypeError: If the colour is something else; the message names ``ind``, its row in a list.
    """
    place = f"the input color{'' if ind is None else 's'}{_row(ind)}"
    if isinstance(color, np.ndarray) and color.shape == (3,) and color.dtype.kind in "iuf":
        color = color.astype(np.int64).tolist()
    channels = color if isinstance(color, (tuple, list)) else [color] * 3
    try:
        first, second, third = (operator.index(channel) for channel in channels)
    except (TypeError, ValueError):
        raise TypeError(f"{place} is {color!r}, but a colour is an integer or three integers") from None
    return first, second, third


def prepare_colors(colors: Any, length: int | None = None) -> list[Color]:
    """One colour for each of ``length`` shapes, from one colour for all or a list of colours.

    Three integers are one colour for all.

    Raises:
        TypeError: If a colour is not valid.
        ValueError: If the list has another length.
    """
    try:
        color = prepare_color(colors, 0)
    except TypeError:
        if not isinstance(colors, (list, tuple, np.ndarray)):
            raise
        return _each(colors, length, "colors", prepare_color)
    return [color] * (1 if length is None else length)


def prepare_thickness(thickness: Any, ind: int | None = None) -> int:
    """The thickness of lines in whole pixels; -1 fills a shape.

    Raises:
        ValueError: If it is not a number of at least -1; the message names ``ind``.
    """
    return int(_at_least_minus_1(thickness, "thickness", ind))


def prepare_thicknesses(thicknesses: Any, length: int | None = None) -> list[int]:
    """One thickness for each of ``length`` shapes, from one for all or a list; see `prepare_thickness`."""
    if np.ndim(thicknesses) == 0:
        return [prepare_thickness(thicknesses, 0)] * (1 if length is None else length)
    return _each(thicknesses, length, "thicknesses", prepare_thickness)


def prepare_scale(scale: Any, ind: int | None = None) -> float:
    """The factor of the radius of a point.

    Raises:
        ValueError: If it is not a number of at least -1; the message names ``ind``.
    """
    return float(_at_least_minus_1(scale, "scale", ind))


def prepare_scales(scales: Any, length: int | None = None) -> list[float]:
    """One scale for each of ``length`` points, from one for all or a list; see `prepare_scale`."""
    if np.ndim(scales) == 0:
        return [prepare_scale(scales, 0)] * (1 if length is None else length)
    return _each(scales, length, "scales", prepare_scale)


def prepare_point(point: Any, ind: int | None = None) -> tuple[int, int]:
    """X and y of a point, truncated to whole pixels.

    Raises:
        TypeError: If the point does not have two numbers; the message names ``ind``.
    """
    numbers = np.asarray(point) if isinstance(point, (tuple, list, np.ndarray)) else np.empty(0)
    if numbers.shape != (2,) or numbers.dtype.kind not in "iuf" or not np.isfinite(numbers).all():
        raise TypeError(
            f"the input point{'' if ind is None else 's'}{_row(ind)} is {point!r}, but a point has two numbers"
        )
    x, y = numbers.astype(np.int64).tolist()
    return x, y


def prepare_points(points: Any) -> list[tuple[int, int]]:
    """`prepare_point` of each point."""
    return [prepare_point(point, ind) for ind, point in enumerate(points)]


def _row(ind: int | None) -> str:
    return "" if ind is None else f"[{ind}]"


def _at_least_minus_1(number: Any, name: str, ind: int | None) -> float:
    if not isinstance(number, (int, float, np.number)) or not number >= -1:
        raise ValueError(f"{name}{_row(ind)} must be a number of at least -1, got {number!r}")
    return float(number)


def _each(values: Any, length: int | None, name: str, prepare: Callable[[Any, int], Made]) -> list[Made]:
    if length is not None and len(values) != length:
        raise ValueError(f"{name} must be one for all or one each, got {len(values)} for {length}")
    return [prepare(value, ind) for ind, value in enumerate(values)]
