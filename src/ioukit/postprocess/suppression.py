"""`Suppression`: which boxes a suppression kept, and why it removed the others."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._array_types import Ids
from ioukit._notebook import MOST_ROWS, Shown
from ioukit.postprocess._options import Suppress, condition

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ioukit.postprocess._options import Rule
    from ioukit.typing import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class Suppression(Shown):
    """Which boxes survived, and for each of the others why it did not.

    The arrays are NumPy arrays and read-only, whatever library the boxes came from.
    """

    keep: NDArray[np.int64]
    """(K,) the positions of the boxes that survived, by descending score: what `nms` returns."""
    suppressed_by: NDArray[np.int64]
    """(N,) the box of `keep` that removes the box; of several, the one with the best score. -1 without one."""
    overlap: FloatArray
    """(N,) the overlap with `suppressed_by`, as `pairwise_<metric>` computes it; NaN without one."""
    reason: NDArray[np.str_]
    """(N,) ``"kept"``, or why the box was removed: ``"score"`` (its score is below ``score_threshold``), ``"overlap"``,
    or ``"max_keep"`` (no kept box overlaps it, but ``max_keep`` better boxes were kept)."""
    scores: FloatArray
    """(N,) the scores."""
    metric: str
    """The overlap that decided, such as ``"iou"``."""
    iou_threshold: float
    """The threshold of the overlap."""
    suppress: Suppress
    """Whether an overlap ``"above"`` or ``"at_or_above"`` the threshold removes a box."""

    def __post_init__(self) -> None:
        for array in (self.keep, self.suppressed_by, self.overlap, self.reason, self.scores):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        counts = {reason: int((self.reason == reason).sum()) for reason in ("score", "overlap", "max_keep")}
        removed = ", ".join(f"{count:,} by {reason}" for reason, count in counts.items() if count)
        return f"<Suppression: {len(self.keep):,} of {len(self):,} kept; removed {removed or 'none'}>"

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """One row per box: why it was kept or removed."""
        rows = [
            {
                "box": box,
                "score": float(self.scores[box]),
                "why": str(self.reason[box]),
                "removed by": None if self.suppressed_by[box] < 0 else int(self.suppressed_by[box]),
                self.metric: None if self.suppressed_by[box] < 0 else float(self.overlap[box]),
            }
            for box in range(min(len(self), MOST_ROWS))
        ]
        return rows, len(self)

    @property
    def rule(self) -> str:
        """The metric and its threshold in words, such as ``"iou above 0.5"``."""
        return f"{self.metric} {condition(self.iou_threshold, self.suppress)}"

    def explain(self, box: int) -> str:
        """Explains in words why one box was kept or removed.

        Args:
            box: The position of the box; negative positions count from the end.

        Raises:
            IndexError: If there is no such box.

        Examples:
            >>> from ioukit import nms
            >>> result = nms([[0, 0, 4, 4], [0, 0, 4, 3]], [0.9, 0.8], 0.5, explain=True)
            >>> result.explain(1)
            'box 1 (score 0.8) was removed by box 0 (score 0.9): iou 0.75 is above 0.5'
        """
        if not -len(self) <= box < len(self):
            raise IndexError(f"box {box} of {len(self)} boxes")
        box %= len(self)
        name, reason = f"box {box} (score {self.scores[box]:.6g})", str(self.reason[box])
        if reason == "overlap":
            by = int(self.suppressed_by[box])
            return (
                f"{name} was removed by box {by} (score {self.scores[by]:.6g}): "
                f"{self.metric} {self.overlap[box]:.6g} is {condition(self.iou_threshold, self.suppress)}"
            )
        words = {
            "kept": "was kept",
            "score": "was removed: its score is below score_threshold",
            "max_keep": "was removed: max_keep better boxes were kept, none of which overlaps it",
        }
        return f"{name} {words[reason]}"


def suppression_of(scores: FloatArray, rule: Rule, keep: Ids, rows: Ids, first: Ids, values: FloatArray) -> Suppression:
    """The record of a suppression.

    Args:
        scores: (N,) of all boxes.
        rule: What removes a box.
        keep: (K,) positions of the boxes that survived.
        rows: (M,) positions of the boxes that did not, apart from those with a low score.
        first: (M,) for each of them the first box that removes it, as a position in ``keep``; -1 for none.
        values: (M,) the overlaps with these.
    """
    count = len(scores)
    by, overlap = np.full(count, -1), np.full(count, math.nan, values.dtype)
    reason = np.full(count, "score", "<U8")
    found = first >= 0
    by[rows[found]] = keep[first[found]]
    overlap[rows] = values
    reason[rows] = np.where(found, "overlap", "max_keep")
    reason[keep] = "kept"
    return Suppression(
        keep, by, overlap, reason, scores.copy(), rule.metric, rule.threshold, "above" if rule.strict else "at_or_above"
    )
