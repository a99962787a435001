"""From the text of an option to the value it means. A `ValueError` says what was expected and what came."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["choose_classes", "parse_areas", "parse_max_dets", "parse_thresholds"]

# Upper end of COCO's range "all": larger objects are ignored everywhere, so infinity means no more than this.
_LARGEST_AREA = 1e10


def _items(values: Iterable[str]) -> list[str]:
    """Splits what came from a repeated option at its commas."""
    return [item.strip() for value in values for item in value.split(",")]


def _number(text: str, meaning: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{meaning} must be a number, got {text!r}") from None


def parse_thresholds(values: Iterable[str]) -> list[float]:
    """IoU thresholds from `0.5,0.75` or `start:stop:step`.

    `0.5:0.95:0.05` gives exactly the ten doubles of COCO: those of `numpy.linspace`, which are not multiples of 0.05.
    """
    thresholds: list[float] = []
    for item in _items(values):
        parts = [_number(part, "an IoU threshold") for part in item.split(":")]
        if len(parts) == 1:
            thresholds += parts
            continue
        if len(parts) != 3:
            raise ValueError(f"expected one threshold or start:stop:step, got {item!r}")
        start, stop, step = parts
        steps = (stop - start) / step if step > 0 else -1.0
        if not 0 <= steps <= 10_000 or abs(steps - round(steps)) > 1e-6:
            raise ValueError(f"start:stop:step must lead from start to stop in whole steps, got {item!r}")
        thresholds += np.linspace(start, stop, round(steps) + 1).tolist()
    for threshold in thresholds:
        if not 0 < threshold <= 1:
            raise ValueError(f"an IoU threshold must be above 0 and at most 1, got {threshold!r}")
    return thresholds


def parse_max_dets(values: Iterable[str]) -> list[int]:
    """Caps of detections per image and class from `1,10,100`."""
    caps = []
    for item in _items(values):
        if not item.isdecimal() or int(item) < 1:
            raise ValueError(f"a cap must be a whole number from 1 up, got {item!r}")
        caps.append(int(item))
    return caps


def parse_areas(values: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Area ranges from `name:low:high`; `all`, which the main numbers need, comes first if it is not among them."""
    ranges: dict[str, tuple[float, float]] = {}
    for item in _items(values):
        name, *ends = item.split(":")
        if len(ends) != 2 or not name:
            raise ValueError(f"expected name:low:high, got {item!r}")
        low, high = (min(_number(end, f"an end of the area {name!r}"), _LARGEST_AREA) for end in ends)
        if not 0 <= low <= high:
            raise ValueError(f"an area must reach from low to high, both from 0 up, got {item!r}")
        if name in ranges:
            raise ValueError(f"the area {name!r} is given twice")
        ranges[name] = (low, high)
    return ranges if "all" in ranges else {"all": (0.0, _LARGEST_AREA), **ranges}


def choose_classes(values: Iterable[str], names: Sequence[str], ids: Sequence[int]) -> list[int]:
    """Ids of the classes that `values` name, by name or id, in the order given.

    Args:
        values: A name that itself holds a comma must be a value of its own.
        names: Names of all classes; two may share one, and it then stands for both.
        ids: Their ids, in the same order.
    """
    chosen: list[int] = []
    known = set(names)
    for item in [part for value in values for part in ([value] if value in known else _items([value]))]:
        by_name = [i for name, i in zip(names, ids, strict=True) if name == item]
        by_id = [i for i in ids if str(i) == item]
        if by_name and by_id and by_name != by_id:
            raise ValueError(f"{item!r} is the name of class {by_name[0]} and the id of another")
        found = by_name or by_id
        if not found:
            raise ValueError(_unknown_class(item, names))
        chosen += [i for i in found if i not in chosen]
    return chosen


def _unknown_class(item: str, names: Sequence[str]) -> str:
    lowered = {name.lower(): name for name in names}
    close = [lowered[match] for match in difflib.get_close_matches(item.lower(), lowered, n=3)]
    if close:
        return f"unknown class {item!r}; did you mean {' or '.join(map(repr, close))}?"
    return f"unknown class {item!r}; the ground truth has {len(names)}, such as {', '.join(map(repr, names[:5]))}"
