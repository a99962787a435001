"""Which categories are evaluated: those that were given, or those that were seen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories
from ioukit.datasets.columns.images import listed_categories
from ioukit.datasets.formats.text_files import abbreviate, refuse
from ioukit.evaluation.evaluator.values import place_of

_LARGEST_TABLE = 1 << 16


def given_categories(given: Any) -> Categories | None:
    """The categories that an evaluator was given; ``None`` if it takes those that it sees.

    Args:
        given: Names, which labels are positions of; ids; names by id; or the categories of a data set.

    Raises:
        TypeError: If it is something else.
        ValueError: If there is none, or one of them twice.
    """
    if given is None:
        return None
    if isinstance(given, str | int):
        raise TypeError(f"categories must be a list of names or ids, or a mapping of names by id, got {given!r}")
    if isinstance(given, Sequence) and given and all(isinstance(name, str) for name in given):
        if len(set(given)) < len(given):
            raise ValueError(f"categories must have names that differ, got {list(given)}")
        given = dict(enumerate(given))
    listed = listed_categories(np.zeros(0, np.int64), given, None)
    ids = listed.ids
    if not len(ids):
        raise ValueError("categories must hold at least one category, got none")
    if len(np.unique(ids)) < len(ids):
        raise ValueError(f"categories must have ids that differ, got {ids.tolist()}")
    return listed.take(np.argsort(ids, kind="stable"))


class KnownCategories:
    """Whether labels are ids of categories that were given."""

    def __init__(self, categories: Categories) -> None:
        self.categories = categories
        ids = categories.ids
        self._table: npt.NDArray[np.bool_] | None = None
        if ids[0] >= 0 and ids[-1] < _LARGEST_TABLE:
            self._table = np.zeros(int(ids[-1]) + 3, np.bool_)  # label k in place k + 1; the ends stay false
            self._table[ids + 1] = True

    def check(self, labels: npt.NDArray[np.int64], counts: Sequence[int], side: str) -> None:
        """Raises :class:`~ioukit.DatasetError` for the first label that is not the id of a category."""
        if self._table is not None:
            known = self._table.take(labels + 1, mode="clip")
        else:
            ids = self.categories.ids
            known = ids[np.minimum(np.searchsorted(ids, labels), len(ids) - 1)] == labels
        if known.all():
            return
        row = int(np.argmin(known))
        image, at = place_of(row, counts)
        known_ids = self.categories.ids
        from_one = known_ids[0] == 0 and labels[row] == len(known_ids) == known_ids[-1] + 1
        hint = f"; for labels from 1, give categories={{1: {self.categories.names[0]!r}, ...}}" if from_one else ""
        refuse(f"{side}[{image}]: labels: row {at}", f"the id of a category: {self._ids()}", f"{labels[row]}{hint}")

    def id_of(self, name: str, where: str) -> int:
        """The id of the category with a name."""
        try:
            return int(self.categories.ids[self.categories.positions([name])[0]])
        except ValueError as error:
            refuse(where, "the name of a category", f"{abbreviate(name)}: {error}")

    def _ids(self) -> str:
        ids = self.categories.ids.tolist()
        if ids == list(range(ids[0], ids[-1] + 1)):
            return f"{ids[0]} to {ids[-1]}"
        return ", ".join(map(str, ids[:5])) + (", ..." if len(ids) > 5 else "")
