"""Columns of values that slices are made of."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Flags
from ioukit._near_names import suggest

Level: TypeAlias = Literal["image", "object"]

_KINDS = {"f": "number", "U": "text", "b": "flag"}


@dataclass(frozen=True)
class Values:
    """A value per row: numbers, texts or flags, some of them missing or not known."""

    data: npt.NDArray[Any]
    """(N,) float64, strings or booleans."""
    missing: Flags
    """(N,) whether the row has no value."""
    unknown: Flags
    """(N,) whether nobody knows the value, such as whether a detection is occluded."""

    @property
    def kind(self) -> str:
        """``"number"``, ``"text"`` or ``"flag"``."""
        return _KINDS[self.data.dtype.kind]

    @property
    def known(self) -> Flags:
        """(N,) whether the row has a value."""
        return ~(self.missing | self.unknown)

    def take(self, rows: npt.NDArray[np.intp]) -> Values:
        """The values of some rows; a row of -1 has a missing value."""
        if not len(self.data):
            return missing_values(len(rows), self.data.dtype)
        return Values(self.data[rows], self.missing[rows] | (rows < 0), self.unknown[rows])


def values_of(given: npt.NDArray[Any], name: str) -> Values:
    """The values of an array: NaN and empty text are missing.

    Raises:
        ValueError: If it has another shape than (N,), or holds something else than numbers, texts and booleans.
    """
    if given.ndim != 1:
        raise ValueError(f"column {name!r} must have the shape (N,), got {given.shape}")
    no = np.zeros(len(given), np.bool_)
    if given.dtype.kind in "iuf":
        data = given.astype(np.float64) + 0.0  # so that -0 is 0
        return Values(data, np.isnan(data), no)
    if given.dtype.kind == "b":
        return Values(given, no, no)
    if given.dtype.kind == "U":
        return Values(given, given == "", no)
    if given.dtype.kind in "OT" and all(isinstance(one, str) for one in given.tolist()):
        texts = np.array(given.tolist(), np.str_).reshape(len(given))
        return Values(texts, texts == "", no)
    raise ValueError(f"column {name!r} must hold numbers, texts or booleans, got {given.dtype}")


def missing_values(rows: int, dtype: npt.DTypeLike) -> Values:
    """Values of a kind that are all missing."""
    return Values(np.zeros(rows, dtype), np.ones(rows, np.bool_), np.zeros(rows, np.bool_))


def unknown_values(rows: int, dtype: npt.DTypeLike) -> Values:
    """Values of a kind that nobody knows."""
    return Values(np.zeros(rows, dtype), np.zeros(rows, np.bool_), np.ones(rows, np.bool_))


@dataclass(frozen=True)
class Column:
    """A column that is computed when it is asked for."""

    name: str
    """Its name in tables and expressions."""
    level: Level
    """Whether images or objects have a value."""
    origin: str
    """Where it comes from: ``"table"``, ``"data"`` or ``"computed"``."""
    compute: Callable[[], Values]
    """Gives a value per image or object of the ground truth."""
    compute_of_detections: Callable[[], Values] | None = None
    """Gives a value per detection; ``None`` if detections have none, or if the values belong to images."""
    bins: Mapping[str, tuple[float, float]] | None = None
    """The ranges in which a column of numbers is cut by default: lowest and highest value, both included."""
    meaning: str = ""
    """One sentence about it."""

    @cached_property
    def values(self) -> Values:
        """A value per image or object of the ground truth."""
        return self.compute()

    @cached_property
    def of_detections(self) -> Values | None:
        """A value per detection; ``None`` if they are not known."""
        return None if self.compute_of_detections is None else self.compute_of_detections()


def near_names(name: str, known: list[str]) -> str:
    """The end of a message about a name that is unknown: similar names, or all."""
    return suggest(name, known, f"there are {', '.join(sorted(known)) or 'none'}")
