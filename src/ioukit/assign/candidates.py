"""`Candidates`: the pairs of an object and a prediction that a rule looked at, and what became of each."""

from __future__ import annotations

import dataclasses
import enum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["Candidates", "Outcome"]


class Outcome(enum.IntEnum):
    """What became of a candidate."""

    ASSIGNED = 0
    """The prediction is assigned to the object."""
    STOLEN = 1
    """The object claimed the prediction, but another object won it by the rule for conflicts."""
    BELOW = 2
    """The overlap does not reach the threshold."""
    OUTSIDE = 3
    """The centre of the prediction is outside the object, or too close to its edge. In `assign_grid`: the cell of the
    prediction is not responsible."""
    WORTHLESS = 4
    """The metric of the pair is 0."""
    RANK = 5
    """The object takes a limited number of predictions, and better ones filled its places."""
    OVERWRITTEN = 6
    """A later object was assigned to the same cell and anchor."""
    IGNORED = 7
    """A region of ``ignore_regions`` covers the prediction, so no object may have it."""


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Candidates:
    """The pairs of an object and a prediction that a rule examined, ordered by object.

    The list is short: a rule that ranks pairs keeps the best of them, not the table of all pairs. The arrays are NumPy
    arrays and read-only, whatever library the boxes came from.
    """

    objects: NDArray[np.int64]
    """(K,) positions of the objects, ascending."""
    predictions: NDArray[np.int64]
    """(K,) positions of the predictions."""
    overlap: FloatArray
    """(K,) IoU of each pair, or the other overlap that the rule compares."""
    value: FloatArray
    """(K,) what the rule ranks or compares by: a cost, a metric, or the overlap."""
    outcome: NDArray[np.uint8]
    """(K,) the `Outcome` of each pair."""

    def __post_init__(self) -> None:
        for array in (self.objects, self.predictions, self.overlap, self.value, self.outcome):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.objects)

    def __repr__(self) -> str:
        counts = np.bincount(self.outcome, minlength=len(Outcome)).tolist()
        kinds = ", ".join(f"{count} {Outcome(code).name.lower()}" for code, count in enumerate(counts) if count)
        return f"<Candidates: {len(self)} pairs{': ' if kinds else ''}{kinds}>"

    def of(self, gt: int) -> Candidates:
        """The candidates of one object, by its position."""
        low, high = np.searchsorted(self.objects, [gt, gt + 1])
        fields = (getattr(self, field.name)[low:high] for field in dataclasses.fields(self))
        return Candidates(*fields)

    def and_taken_out(
        self, objects: NDArray[np.int64], predictions: NDArray[np.int64], overlap: FloatArray
    ) -> Candidates:
        """These candidates and further pairs, of predictions that are ignored."""
        outcome = np.full(len(objects), Outcome.IGNORED, np.uint8)
        more: tuple[NDArray[Any], ...] = (objects, predictions, overlap, overlap, outcome)
        order = np.argsort(np.concatenate([self.objects, objects]), kind="stable")
        fields = (getattr(self, field.name) for field in dataclasses.fields(self))
        return Candidates(*(np.concatenate(pair)[order] for pair in zip(fields, more, strict=True)))
