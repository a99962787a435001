"""The record of two models."""

from __future__ import annotations

from ioukit._columns import Frozen, record
from ioukit.comparison.change_records import Changes
from ioukit.comparison.part_records import Parts
from ioukit.evaluation import Evaluation

__all__ = ["ModelPair"]


@record(frozen=True, eq=False, repr=False)
class ModelPair(Frozen):
    """Two models: what changed, and the parts of the difference of the main number."""

    name_a: str
    """The name of A."""
    name_b: str
    """The name of B."""
    a: Evaluation
    """The evaluation of A."""
    b: Evaluation
    """The evaluation of B."""
    changes: Changes
    """What became of each object and of each false positive."""
    parts: Parts | None
    """The parts of the main difference; ``None`` if it cannot be split."""
    without_parts: str = ""
    """Why it cannot be split; empty if it is."""

    def __repr__(self) -> str:
        key = self.a.protocol.main_measure.key
        return f"ModelPair({key}: {self.name_a} {self.a.summary[key]:.4f}, {self.name_b} {self.b.summary[key]:.4f})"
