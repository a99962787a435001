"""A number of a summary: what it is the mean of, its name, and how tables and pages show it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["Measure"]

Quantity: TypeAlias = Literal["AP", "AR"]


@dataclass(frozen=True)
class Measure:
    """A number of the summary: a mean over a part of the curves."""

    key: str
    """Its name in the summary, in JSON and in tables per class."""
    quantity: Quantity = "AP"
    """``"AP"``, the mean of precisions, or ``"AR"``, the mean of the recalls after the last detection."""
    iou_threshold: float | None = None
    """The IoU threshold; ``None`` for the mean over all."""
    area_range: str | None = None
    """Label of the area range; ``None`` for the protocol's main one."""
    max_dets: int | None = None
    """Cap on the detections; ``None`` for the protocol's main one."""
    group: str | None = None
    """The categories with this value in :attr:`Protocol.category_groups`; ``None`` for all."""
    line: str = ""
    """Its line in the table, with ``{value}`` for the number, or ``{value:.4f}`` for another number of digits; the key
    and the number if empty."""
    headline: bool = False
    """Whether short summaries, and tables per class on the terminal, show it."""
    words: str = ""
    """Its meaning, in one or two sentences. ``{classes}`` and ``{thresholds}`` stand for what the mean is over."""

    def __post_init__(self) -> None:
        """Refuse an empty key and an unknown quantity."""
        if not self.key:
            raise ValueError("a measure must have a key")
        if self.quantity not in ("AP", "AR"):
            raise ValueError(f"unknown quantity {self.quantity!r}; choose from AP, AR")

    def text(self, value: float) -> str:
        """The line of the table; an undefined number is -1, as COCO's tools print it."""
        number = -1.0 if value != value else value  # noqa: PLR0124 - NaN
        line = self.line or f"{self.key:<8} {{value}}"
        return re.sub(r"\{value(?::([^{}]*))?\}", lambda found: format(number, found[1] or "0.3f"), line)
