"""Further values of images and objects: columns of the user's, and attributes of the file."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ioukit._columns import Frozen, record
from ioukit.viewer.answers.bins import bins_of, even_edges

MOST_TEXTS = 500
"""The most different texts of a column that is shown: the page has a box for each, and every answer counts each."""

_NAMED = 8  # in a message


class LeftOutError(Exception):
    """Why a column cannot be shown."""


@record(frozen=True, eq=False, repr=False)
class Value(Frozen):
    """One column: a number or a text for each image, or for each object of the table."""

    name: str
    """What it is called in filters and on the page."""
    of: Literal["image", "object"]
    """What it has a value for: images in the order of the table, or objects in the order of the table."""
    values: npt.NDArray[Any]
    """(I,) or (G,) float64 numbers, NaN for none; or int32 positions in :attr:`texts`, -1 for none."""
    texts: tuple[str, ...] | None = None
    """The texts that occur; ``None`` if the values are numbers."""

    @classmethod
    def of_numbers(cls, name: str, of: Literal["image", "object"], numbers: npt.ArrayLike) -> Value:
        """A column of numbers; NaN for none. Infinity counts as none, too."""
        values: npt.NDArray[np.float64] = np.array(numbers, np.float64)
        values[np.isinf(values)] = math.nan
        return cls(name, of, values)

    @classmethod
    def of_texts(cls, name: str, of: Literal["image", "object"], texts: Sequence[str | None]) -> Value:
        """A column of texts; ``None`` or an empty text for none.

        Raises:
            LeftOutError: If there are more than :data:`MOST_TEXTS` different ones.
        """
        known = sorted({text for text in texts if text})
        if len(known) > MOST_TEXTS:
            raise LeftOutError(f"it has {len(known):,} different texts, and at most {MOST_TEXTS} can be chosen from")
        place = {text: at for at, text in enumerate(known)}
        return cls(name, of, np.array([place.get(text or "", -1) for text in texts], np.int32), tuple(known))

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.texts is None

    @cached_property
    def edges(self) -> npt.NDArray[np.float64]:
        """The edges of the histogram of numbers; of texts, one edge more than there are texts."""
        return even_edges(*self.ends()) if self.texts is None else np.arange(len(self.texts) + 1.0)

    @cached_property
    def codes(self) -> npt.NDArray[Any]:
        """The bin of each number, or the position of each text; the number of bins or texts for none."""
        if self.texts is None:
            return bins_of(self.values, self.edges)
        return np.where(self.values < 0, len(self.texts), self.values)

    def ends(self) -> tuple[float, float]:
        """The lowest and the highest number; NaN if there is none."""
        defined = self.values[~np.isnan(self.values)] if self.numeric else self.values[:0]
        return (float(defined.min()), float(defined.max())) if len(defined) else (math.nan, math.nan)


def finite_or_none(value: Any) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    number = float(value)
    return number if math.isfinite(number) else None


def some_of(names: Sequence[str], first: Sequence[str] = ()) -> str:
    """Names for a message: some, and how many more there are; those that fit best may be given."""
    listed = list(dict.fromkeys(first or names))[:_NAMED]
    left = len(set(names)) - len(listed)
    return ", ".join(map(repr, listed)) + (f" and {left:,} more" if left else "") or "none"
