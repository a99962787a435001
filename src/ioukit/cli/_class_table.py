"""The table of AP per class."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

from ioukit._output import aligned, printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ioukit.evaluation import ClassResult, Protocol

__all__ = ["class_table", "shortened"]

Result = TypeVar("Result")

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
    shown = shortened(ranked, [math.isnan(c.summary[main]) for c in ranked], every=every)
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
    return aligned(rows)


def shortened(ranked: Sequence[Result], undefined: Sequence[bool], *, every: bool) -> list[Result | None]:
    """The best and the worst few of the results that are defined, with ``None`` for those between; or all of them."""
    if every:
        return list(ranked)
    shown: list[Result | None] = [c for c, without in zip(ranked, undefined, strict=True) if not without]
    if len(shown) > 2 * _SHOWN + 1:
        shown[_SHOWN:-_SHOWN] = [None]
    return shown
