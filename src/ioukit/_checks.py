"""Is an argument what it should be? Each check raises an error with its own message."""

from __future__ import annotations

import itertools
import math
import operator
import os
from typing import TYPE_CHECKING, Any, TypeVar, get_args

import numpy as np

from ioukit import _core
from ioukit.typing import BoxFormat, FloatArray

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray


Result = TypeVar("Result")

FORMATS: tuple[BoxFormat, ...] = get_args(BoxFormat)


_FORMATS_OF_TOOLS: dict[str, tuple[BoxFormat, bool]] = {
    "coco": ("xywh", False), "ltwh": ("xywh", False), "tlwh": ("xywh", False),
    "voc": ("xyxy", False), "pascal_voc": ("xyxy", False), "ltrb": ("xyxy", False), "tlbr": ("xyxy", False),
    "xcycwh": ("cxcywh", False), "yolo": ("cxcywh", True), "xywhn": ("cxcywh", True), "cxcywhn": ("cxcywh", True),
    "xyxyn": ("xyxy", True), "albumentations": ("xyxy", True),
}  # fmt: skip
"""What the box formats of other tools are here, and whether their numbers are fractions of the image. Ultralytics'
``xywh`` and ``xywhn`` have the centre."""


def pluralize(number: int, noun: str) -> str:
    """A number and its noun for a message: ``"1 class"``, ``"2 classes"``, ``"1,000 images"``."""
    if number == 1:
        return f"1 {noun}"
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}es" if noun.endswith(("s", "x")) else f"{noun}s"
    return f"{number:,} {many}"


def agree(number: int, words: str) -> str:
    """The words after a number, which begin with a plural verb: ``agree(1, "have no box")`` is ``"has no box"``."""
    verb, space, rest = words.partition(" ")
    singular = {verb: f"{verb}s" for verb in ("repeat", "hold", "lie", "cover", "run", "fit", "seem")}
    singular |= {"have": "has", "are": "is", "reach": "reaches"}
    return f"{singular.get(verb, verb) if number == 1 else verb}{space}{rest}"


def duration(seconds: float) -> str:
    """A time for a message, in the unit that suits it: ``"45 s"``, ``"12 min"``, ``"3.5 h"``."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raises `ValueError` if the value is not one of the choices."""
    if value not in choices:
        from ioukit._near_names import suggest  # noqa: PLC0415 - only for a message

        near = suggest(value, choices, most=1) if isinstance(value, str) else ""
        raise ValueError(f"unknown {name} {value!r}; choose from {', '.join(choices)}{near}")


def check_result(given: Result, has: str, made_by: str) -> Result:
    """The argument. Raises `TypeError` for a result of another kind, such as an evaluation in place of what it makes.

    Args:
        given: The argument.
        has: An attribute that results of the right kind have, and others have not.
        made_by: The call that makes such a result.
    """
    if not hasattr(given, has):
        raise TypeError(f"expected what {made_by} returns, got {type(given).__name__}")
    return given


def check_format(fmt: str) -> None:
    """Raises `ValueError` for an unknown box format."""
    if fmt in _FORMATS_OF_TOOLS:
        ours, fractions = _FORMATS_OF_TOOLS[fmt]
        unit = ", and normalized=True for Boxes" if fractions else ""
        raise ValueError(f"unknown format {fmt!r}; choose from {', '.join(FORMATS)}; write {ours!r}{unit}")
    check_choice("format", fmt, FORMATS)


def check_boxes(boxes: FloatArray, fmt: BoxFormat, name: str) -> None:
    """Raises `ValueError` for the first box that is not finite, too large, inverted or of negative size.

    Args:
        boxes: (..., 4), C-contiguous and aligned, float32 or float64.
        fmt: Their format.
        name: The name of the array in the message.
    """
    bad = _core.first_invalid(boxes, fmt == "xyxy")
    if bad is None:
        return
    where = ", ".join(map(str, np.unravel_index(bad, boxes.shape[:-1])))
    index = f"[{where}]" if where else ""
    row = boxes.reshape(-1, 4)[bad]
    raise ValueError(f"{name}{index} is {row.tolist()}: {_complaint(row, fmt)}")


def _complaint(row: FloatArray, fmt: BoxFormat) -> str:
    a, b, c, d = row.tolist()
    if not np.isfinite(row).all():
        return "every coordinate must be finite: leave such rows out, as boxes[np.isfinite(boxes).all(axis=1)] does"
    if fmt == "xyxy" and (c < a or d < b):
        axis = "x" if c < a else "y"
        return f"inverted, {axis}2 < {axis}1 (format 'xyxy'); ioukit.diagnose tells whether they fit another format"
    if fmt != "xyxy" and min(c, d) < 0:
        return f"negative {'width' if c < 0 else 'height'} (format {fmt!r})"
    return too_large(row.dtype)


def largest_coordinate(dtype: np.dtype[Any]) -> float:
    """The largest coordinate of boxes in float32 or float64: up to it, no size and no area overflows in float64."""
    return 2.0**126 if dtype == np.float32 else 2.0**500


def too_large(dtype: np.dtype[Any]) -> str:
    """The complaint about a box with a coordinate beyond `largest_coordinate`."""
    limit = "2**126 in float32" if dtype == np.float32 else "2**500 in float64"
    return f"a coordinate is beyond {limit}, where sizes and areas overflow"


def check_one_unit(first: bool, second: bool) -> None:
    """Raises `ValueError` if one set of boxes is normalized and the other is not."""
    if first != second:
        raise ValueError(
            "normalized and absolute boxes do not mix; bring both to one unit first: "
            "boxes.denormalize(width, height) or boxes.normalize(width, height)"
        )


def check_number(**values: float) -> None:
    """Raises an error for an argument that is NaN, or not a number."""
    for name, value in values.items():
        try:
            undefined = math.isnan(value)
        except TypeError:
            raise TypeError(f"{name} must be a number, got {value!r}") from None
        if undefined:
            raise ValueError(f"{name} must be a number, got nan")


def check_score_threshold(threshold: float, scores: NDArray[Any]) -> None:
    """Raises an error for a threshold that is no number, or above 1 although no score is: is it meant in percent?"""
    check_number(score_threshold=threshold)
    if threshold > 1 >= scores.max(initial=-np.inf):
        meant = f"did you mean {threshold / 100:g}?"
        raise ValueError(f"score_threshold: all scores are at most 1, got {threshold:g}; {meant}")


def check_finite(**values: float) -> None:
    """Raises `ValueError` for an argument that is NaN or infinite."""
    for name, value in values.items():
        if not math.isfinite(value):
            raise ValueError(f"{name} must be finite, got {value}")


def check_positive(**values: float) -> None:
    """Raises `ValueError` for an argument that is not finite, or not above 0."""
    for name, value in values.items():
        if not 0 < value < math.inf:  # comparisons alone: torch.compile cannot trace math.isfinite of a variable
            raise ValueError(f"{name} must be positive and finite, got {value}")


def check_count(**values: int) -> None:
    """Raises an error for an argument that is not an integer, or below 1."""
    for name, value in values.items():
        if not hasattr(value, "__index__"):
            raise TypeError(f"{name} must be an integer, got {value!r}")
        if operator.index(value) < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")


def check_factors(fx: float, fy: float | None) -> tuple[float, float]:
    """The factors of a scale along x and y; if ``fy`` is None, it is ``fx``. Neither may be negative or infinite."""
    fy = fx if fy is None else fy
    if not (fx >= 0 and fy >= 0):
        raise ValueError(f"factors must not be negative, got {(fx, fy)}")
    check_finite(fx=fx, fy=fy)
    return fx, fy


def check_window(xmin: float, ymin: float, xmax: float, ymax: float) -> tuple[float, float, float, float]:
    """The window as floats. Its sides may be infinite; an inverted window raises `ValueError`."""
    if not (xmin <= xmax and ymin <= ymax):
        raise ValueError(f"the window must have xmin <= xmax and ymin <= ymax, got {(xmin, ymin, xmax, ymax)}")
    return float(xmin), float(ymin), float(xmax), float(ymax)


_MOST_THREADS = max(256, os.cpu_count() or 1)
"""More only take their time to start."""


def check_threads(threads: int | None) -> int:
    """The number of threads for the native module, which takes 0 for all cores."""
    if threads is None:
        return 0
    count = operator.index(threads)
    if count < 1:
        raise ValueError(f"threads must be at least 1, or None for all cores, got {threads}")
    return count if count < _MOST_THREADS else _MOST_THREADS  # without a call, which small ones would notice


def integer_column(
    name: str, values: object, count: int | None = None, *, each: str = "one per box"
) -> NDArray[np.int64]:
    """(N,) a column of integers as a contiguous int64 array.

    Args:
        name: The name of the column in messages.
        values: A NumPy array or a list of integers or bools.
        count: The length that the column must have; None for any length.
        each: What the message about a wrong length says after the expected shape.

    Raises:
        ValueError: If the shape does not fit, or a number is above 2**63 - 1.
        TypeError: If the values are not integers.
    """
    column = np.asarray(values)
    if column.shape == (0,) and column.dtype == np.float64 and not isinstance(values, np.ndarray):
        column = column.astype(np.int64)  # NumPy makes float64 of an empty list
    if column.dtype.kind not in "iub":
        raise TypeError(f"{name} must be integers, got dtype {column.dtype}")
    if column.ndim != 1 or count not in (None, len(column)):
        wanted = "(N,)" if count is None else f"({count},)"
        raise ValueError(f"{name} must have shape {wanted}, {each}, got {column.shape}")
    if column.dtype == np.uint64 and len(column) and int(column.max()) > np.iinfo(np.int64).max:
        raise ValueError(f"{name} hold {int(column.max())}, beyond 2**63 - 1")
    return np.ascontiguousarray(column, np.int64)


def rising_numbers(values: Iterable[float], name: str, *, above: float | None = None) -> tuple[float, ...]:
    """Numbers that rise and lie within [0, 1]; above ``above`` if it is given.

    Raises:
        ValueError: If there is none, one is outside, or they do not rise.
    """
    if isinstance(values, str):
        raise TypeError(f"{name} must be a list of numbers, got {values!r}: write [{values}]")
    numbers = tuple(float(value) for value in values)
    for number in numbers:
        if not (number >= 0 if above is None else number > above) or not number <= 1:
            percent = f"; did you mean {number / 100:g}?" if 1 < number <= 100 else ""
            raise ValueError(f"{name} must lie within {'[0' if above is None else '(0'}, 1], got {number}{percent}")
    if not numbers:
        raise ValueError(f"{name} must hold at least one number")
    if any(low >= high for low, high in itertools.pairwise(numbers)):
        raise ValueError(f"{name} must rise, got {list(numbers)}")
    return numbers
