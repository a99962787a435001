"""`Suppression`: what a suppression kept, and why it did not keep the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["Suppression"]


@dataclass(frozen=True, eq=False, repr=False)
class Suppression:
    """Which boxes survived, and for each of the others why it did not.

    The arrays are NumPy's, wherever the boxes came from, and read-only.
    """

    keep: NDArray[np.int64]
    """(K,) what `nms` returns: positions of the boxes that survived, by falling score."""
    suppressed_by: NDArray[np.int64]
    """(N,) the first of `keep` that removes the box, the one with the best score; -1 where none does."""
    overlap: FloatArray
    """(N,) the overlap with `suppressed_by`, as `pairwise_<metric>` computes it; NaN where there is none."""
    reason: NDArray[np.str_]
    """(N,) ``"kept"``, or what removed the box: ``"score"`` (below ``score_threshold``), ``"overlap"``, or
    ``"max_keep"`` (no box that was kept overlaps it, but so many better ones were kept already)."""
    scores: FloatArray
    """(N,) the scores that decided."""
    rule: str
    """The metric and its threshold, in words."""

    def __post_init__(self) -> None:
        for array in (self.keep, self.suppressed_by, self.overlap, self.reason, self.scores):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        counts = {reason: int((self.reason == reason).sum()) for reason in ("score", "overlap", "max_keep")}
        removed = ", ".join(f"{count:,} by {reason}" for reason, count in counts.items() if count)
        return f"<Suppression: {len(self.keep):,} of {len(self):,} kept; removed {removed or 'none'}>"

    def explain(self, box: int) -> str:
        """What became of one box, in words.

        Raises:
            IndexError: If there is no such box.

        Examples:
            >>> from ioukit import nms
            >>> result = nms([[0, 0, 4, 4], [0, 0, 4, 3]], [0.9, 0.8], iou_threshold=0.5, explain=True)
            >>> result.explain(1)
            'box 1 (score 0.8) was removed by box 0 (score 0.9): iou 0.75 is above 0.5'
        """
        if not -len(self) <= box < len(self):
            raise IndexError(f"box {box} of {len(self)} boxes")
        box %= len(self)
        name, reason = f"box {box} (score {self.scores[box]:.6g})", str(self.reason[box])
        if reason == "overlap":
            by = int(self.suppressed_by[box])
            metric, _, threshold = self.rule.partition(" ")
            return (
                f"{name} was removed by box {by} (score {self.scores[by]:.6g}): "
                f"{metric} {self.overlap[box]:.6g} is {threshold}"
            )
        words = {
            "kept": "was kept",
            "score": "was removed: its score is below score_threshold",
            "max_keep": "was removed: max_keep better boxes were kept, none of which overlaps it",
        }
        return f"{name} {words[reason]}"
