"""The table of AP per class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit.cli._output import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import ClassResult, Protocol

__all__ = ["class_table"]

_SHOWN = 5  # of the best and of the worst


def class_table(classes: Sequence[ClassResult], protocol: Protocol, *, every: bool) -> str:
    """The headline numbers of the classes, sorted by the first of them, best first and undefined last.

    Args:
        classes: Results of all classes, in any order.
        protocol: The protocol of the results.
        every: Show all classes; otherwise a few of the best and of the worst, without undefined ones.
    """
    main = protocol.main_measure.key
    ranked = sorted(classes, key=lambda c: (math.isnan(c.summary[main]), -c.summary[main], c.id))
    if every:
        shown: list[ClassResult | None] = list(ranked)
    else:
        defined = [c for c in ranked if not math.isnan(c.summary[main])]
        shown = list(defined)
        if len(defined) > 2 * _SHOWN + 1:
            shown[_SHOWN:-_SHOWN] = [None]
    # A number that is undefined for every class has no column.
    metrics = [
        measure.key
        for measure in protocol.measures
        if measure.key == main or (measure.headline and not all(math.isnan(c.summary[measure.key]) for c in classes))
    ]
    rows = [("class", *metrics, "objects", "detections")]
    for c in shown:
        if c is None:
            rows.append(("...", *[""] * (len(metrics) + 2)))
            continue
        numbers = ["-" if math.isnan(c.summary[metric]) else f"{c.summary[metric]:.3f}" for metric in metrics]
        rows.append((printable(c.name), *numbers, f"{c.num_ground_truth:,}", f"{c.num_detections:,}"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for name, *cells in rows:
        right = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))
        lines.append(f"{name.ljust(widths[0])}  {right}".rstrip())
    return "\n".join(lines)
