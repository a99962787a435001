"""The result: what every detection, object or image adds to a number."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from ioukit._array_types import Floats
from ioukit._checks import check_count, pluralize
from ioukit._columns import Frozen, record
from ioukit.evaluation import MatchTable, Measure

Unit: TypeAlias = Literal["detection", "object", "image"]


class Influential(NamedTuple):
    """One detection, object or image, and what it adds."""

    position: int
    """Its position in :class:`Influence`, which is its row in the match table."""
    image_id: int | str
    """Its image."""
    row: int | None
    """Its row in the detections or in the ground truth that were matched; ``None`` for an image."""
    category: str | None
    """The name of its category; ``None`` for an image."""
    score: float | None
    """Its score; ``None`` unless it is a detection."""
    adds: float
    """The number with it minus the number without it."""
    without: float
    """The number without it."""


@record(frozen=True, eq=False, repr=False)
class Influence(Frozen):
    """What every detection, object or image of a match table adds to a number such as AP.

    All numbers are in units of AP, which is within [0, 1]: 0.01 is one point of AP.
    """

    of: Unit
    """What is left out: ``"detection"``, ``"object"`` or ``"image"``."""
    measure: Measure
    """The number, AP for example."""
    value: float
    """The number of everything."""
    adds: Floats
    """(N,) the number with each row minus the number without it. Below 0, the row costs AP: AP is higher without it. Of
    numbers that are better if they are lower, as a miss rate and LRP are, values above 0 cost. NaN where one of the two
    numbers is undefined."""
    without: Floats
    """(N,) the number without each row; NaN where it is undefined."""
    class_adds: Floats | None
    """(N,) the same for the number of the category of the row alone; ``None`` for images."""
    class_without: Floats | None
    """(N,) the number of the category of the row without the row; ``None`` for images."""
    matches: MatchTable
    """The match table. Rows of detections, objects and images are its rows. If the evaluation had no near pairs, this
    is a new table with near pairs, which also lists the detections beyond the cap."""

    @property
    def key(self) -> str:
        """The key of the number, ``"AP"`` for example."""
        return self.measure.key

    def __len__(self) -> int:
        return len(self.adds)

    def __repr__(self) -> str:
        return f"Influence({self.key}={self.value:.4f}, {pluralize(len(self), self.of)})"

    def worst(self, count: int = 20) -> tuple[Influential, ...]:
        """The rows that cost most: the number is better without one of them.

        Args:
            count: How many at most. Rows that cost nothing are not listed.

        Returns:
            The rows from the most costly one on; equal ones in the order of the table.
        """
        return self._first(count, self.adds * self._sign)

    def best(self, count: int = 20) -> tuple[Influential, ...]:
        """The rows that add most, in the same way as :meth:`worst`."""
        return self._first(count, -self.adds * self._sign)

    @property
    def _sign(self) -> int:
        return -1 if self.measure.lower_is_better else 1

    def _first(self, count: int, costs: Floats) -> tuple[Influential, ...]:
        check_count(count=count)
        rows = np.flatnonzero(costs < 0)
        order = rows[np.argsort(costs[rows], kind="stable")][:count]
        return tuple(self[position] for position in order.tolist())

    def __getitem__(self, position: int) -> Influential:
        """One row.

        Raises:
            IndexError: If there is no such row.
        """
        if not -len(self) <= position < len(self):
            raise IndexError(f"there are {pluralize(len(self), self.of)}, got position {position}")
        position %= len(self)
        table = self.matches
        adds, without = float(self.adds[position]), float(self.without[position])
        if self.of == "image":
            image_id = table.image_ids[position].item()
            return Influential(position, image_id, None, None, None, adds, without)
        rows = table.detections if self.of == "detection" else table.objects
        return Influential(
            position,
            table.image_ids[rows.image[position]].item(),
            int(rows.row[position]),
            table.categories.names[rows.category[position]],
            float(table.detections.score[position]) if self.of == "detection" else None,
            adds,
            without,
        )
