"""Names from the data and numbers, as pages show them. The scripts of the pages write numbers in the same way."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit._output import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    import numpy.typing as npt

    from ioukit.datasets import Categories


UNDEFINED = "\N{EN DASH}"

_LONGEST = 200  # longer than usual names; a matrix repeats each name hundreds of times


def abbreviate(name: str, otherwise: str = "") -> str:
    """The name with escapes for invisible characters, cut if it is very long; ``otherwise`` if it is empty."""
    text = printable(name[: _LONGEST + 1])
    return (text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "\N{HORIZONTAL ELLIPSIS}") or otherwise


def class_name(name: str, number: int) -> str:
    """The name of a class; its id if it has none."""
    return abbreviate(name, f"class {number}")


def class_names(categories: Categories) -> list[str]:
    """The name of each class."""
    return [class_name(name, number) for name, number in zip(categories.names, categories.ids.tolist(), strict=True)]


def fact_list(*facts: tuple[str, str, int]) -> tuple[tuple[str, str], ...]:
    """Counts with their names, for the head of a page: the word for one, the word for several, and the count."""
    return tuple((one if count == 1 else many, f"{count:,}") for one, many, count in facts)


def text(value: float, digits: int = 3) -> str:
    """The number, or a dash if it is undefined."""
    return UNDEFINED if math.isnan(value) else f"{value:.{digits}f}"


def value_text(value: float) -> str:
    """The number, or a word if it is undefined."""
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def score_text(value: float) -> str:
    """A score as the script of the page writes it."""
    size = abs(value)
    if not size:
        return "0"
    if size < 1e-3 or size >= 1e6:
        return f"{value:.2e}"
    return f"{value:.{1 if size >= 100 else 2 if size >= 10 else 4}f}"


def iou_text(value: float) -> str:
    """An IoU threshold with two digits, or with as many as it has: 0.50, 0.125."""
    short = f"{value:.2f}"
    return short if abs(float(short) - value) < 1e-9 else f"{value:.6g}"


def rounded(values: Iterable[float] | npt.NDArray[np.float64], digits: int = 5) -> list[float | None]:
    """Numbers for the script of a page, ``None`` where undefined."""
    return [None if math.isnan(value) else round(float(value), digits) for value in values]
