"""Tables as text."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

_LEAST = 5e-5  # with four digits, a smaller difference would look like 0


def number(value: float) -> str:
    """A number of a table, ``-`` where it is undefined."""
    return "-" if math.isnan(value) else f"{value:.4f}"


def signed(value: float) -> str:
    """A difference, with its sign; 0 only if it is exactly 0."""
    if math.isnan(value):
        return "-"
    return "0" if value == 0 else f"{value:+.4f}" if abs(value) >= _LEAST else f"{value:+.0e}"


def lines_of(rows: Sequence[Sequence[str]], *, left: Collection[int]) -> str:
    """The rows as lines, with some columns to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = zip(row, widths, strict=True)
        aligned = (cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in enumerate(cells))
        lines.append("  ".join(aligned).rstrip())
    return "\n".join(lines)
