"""Parsers of the texts of options; the protocol checks the values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.cli._errors import bad_value

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from ioukit.datasets import Categories

__all__ = ["chosen_classes", "parse_areas", "parse_classes", "parse_max_dets", "parse_thresholds"]

# Upper end of COCO's range "all". Larger objects are ignored in every range, so infinity is replaced by this.
_LARGEST_AREA = 1e10


def _items(values: Iterable[str]) -> list[str]:
    """Splits the values of a repeated option at commas."""
    return [item.strip() for value in values for item in value.split(",")]


def _number(text: str, meaning: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{meaning} must be a number, got {text!r}") from None


def parse_thresholds(values: Iterable[str]) -> list[float]:
    """IoU thresholds from `0.5,0.75` or `start:stop:step`, in ascending order.

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
    return sorted(thresholds)


def parse_max_dets(values: Iterable[str]) -> list[int]:
    """Caps on the detections of a class in an image from `1,10,100`."""
    caps = _items(values)
    for cap in caps:
        if not (cap.isascii() and cap.isdecimal()):
            raise ValueError(f"a cap must be a whole number, got {cap!r}")
    return [int(cap) for cap in caps]


def parse_areas(values: Iterable[str]) -> list[tuple[str, float, float]]:
    """Area ranges from `name:low:high`; `all`, which the main numbers need, comes first if it is not among them."""
    ranges = []
    for item in _items(values):
        name, *ends = item.split(":")
        if len(ends) != 2 or not name:
            raise ValueError(f"expected name:low:high, got {item!r}")
        low, high = (min(_number(end, f"an end of the area {name!r}"), _LARGEST_AREA) for end in ends)
        ranges.append((name, low, high))
    return ranges if any(name == "all" for name, _, _ in ranges) else [("all", 0.0, _LARGEST_AREA), *ranges]


def parse_classes(values: Iterable[str], names: Collection[str]) -> list[int | str]:
    """Classes from `person,3`: a name in `names`, otherwise an id. A name with a comma must be a value of its own."""
    known = set(names)
    items = [item for value in values for item in ([value] if value in known else _items([value]))]
    return [int(item) if item not in known and item.lstrip("-").isdecimal() else item for item in items]


def chosen_classes(values: Iterable[str] | None, categories: Categories) -> list[int | str] | None:
    """The classes of ``--classes``; ``None`` for all of them.

    Raises:
        typer.BadParameter: If a class is unknown, or several have its name.
    """
    if values is None:
        return None
    with bad_value("--classes"):
        chosen = parse_classes(values, categories.names)
        categories.positions(chosen)
    return chosen
