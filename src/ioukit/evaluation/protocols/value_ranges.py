"""Ranges of values of boxes, by which a protocol chooses what counts."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

__all__ = ["ValueRange", "checked_ranges"]


class ValueRange(NamedTuple):
    """A range of a value of boxes: from ``low`` to ``high``, both included; infinity for no limit."""

    value: str
    """``left``, ``top``, ``right``, ``bottom``, ``width`` or ``height`` of the box in pixels, or the name of an
    attribute, ``visibility`` for example."""
    low: float = -math.inf
    high: float = math.inf

    def words(self) -> str:
        """What lies outside, in words."""
        parts = [f"below {self.low:g}"] if math.isfinite(self.low) else []
        parts += [f"above {self.high:g}"] if math.isfinite(self.high) else []
        return f"{self.value} {' or '.join(parts) or 'of no range'}"

    def to_list(self) -> list[str | float | None]:
        """Its name and its limits, ``None`` for infinity: JSON has none."""
        return [self.value, *(None if math.isinf(limit) else limit for limit in (self.low, self.high))]


def checked_ranges(ranges: Iterable[Any], name: str) -> tuple[ValueRange, ...]:
    """The ranges with numbers as floats.

    Args:
        ranges: Names of values with a lowest and a highest number, ``None`` for no limit.
        name: The name of the field, for messages.

    Raises:
        ValueError: If one is invalid.
    """
    made = []
    for value, low, high in (ValueRange(*given) for given in ranges):
        lowest, highest = -math.inf if low is None else float(low), math.inf if high is None else float(high)
        if not isinstance(value, str) or not lowest <= highest:
            raise ValueError(
                f"{name} must hold the name of a value, a lower and a higher number, got {[value, low, high]}"
            )
        made.append(ValueRange(value, lowest, highest))
    return tuple(made)
