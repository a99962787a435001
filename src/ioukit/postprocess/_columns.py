"""From what a caller passes to columns, and back to arrays of the caller's library."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ioukit._arrays import as_floats, as_numpy, as_tensor, library_of, namespace_of
from ioukit.overlap._arguments import single_set
from ioukit.postprocess._groups import integers
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["Columns", "as_columns", "check_least", "check_most", "check_threshold", "host", "refuse_nan", "restore"]


class Columns(NamedTuple):
    """Boxes with their scores and labels, as native code takes them, and what they came as."""

    boxes: FloatArray
    """(N, 4) xyxy, float32 or float64."""
    scores: NDArray[np.float64]
    """(N,)"""
    labels: NDArray[np.int64] | None
    """(N,)"""
    like: Array
    """The caller's boxes: of their library and on their device are the results."""
    box_dtype: np.dtype[Any]
    score_dtype: np.dtype[Any]

    def boxes_back(self, boxes: FloatArray, fmt: BoxFormat | None) -> Array:
        """Boxes (..., 4) xyxy in the caller's format, dtype and library."""
        if fmt not in (None, "xyxy"):
            boxes = convert(boxes, "xyxy", fmt)
        return restore(boxes.astype(self.box_dtype, copy=False), self.like)

    def score_limit(self, threshold: float) -> float:
        """A threshold of scores as NumPy compares with it: in their dtype."""
        return float(self.score_dtype.type(threshold))

    def scores_back(self, scores: NDArray[np.float64]) -> Array:
        """Scores in the caller's dtype and library."""
        return restore(scores.astype(self.score_dtype, copy=False), self.like)

    def positions_back(self, positions: NDArray[Any]) -> Array:
        """Integers in the caller's library."""
        return restore(positions, self.like)


def as_columns(
    boxes: BoxesLike,
    scores: ArrayLike,
    labels: ArrayLike | None,
    *,
    fmt: BoxFormat | None,
    check: bool = True,
    any_score: bool = False,
    names: tuple[str, str, str] = ("boxes", "scores", "labels"),
) -> Columns:
    """Checks and converts one set of boxes.

    Scores that are only compared may be any (``any_score``); what multiplies or averages them needs them finite and at
    least 0, or a lower score might rise.

    Raises:
        ValueError: If a shape does not fit, a box is not valid, or a score is NaN, or negative or infinite without
            ``any_score``.
        TypeError: If something is of the wrong kind, or a program is traced.
    """
    array, dtype = single_set(names[0], host(boxes, names[0]), fmt, check)
    if array.ndim != 2:
        raise ValueError(f"{names[0]} must have shape (N, 4), got {array.shape}")
    given = as_floats(host(scores, names[1]), names[1])
    if given.shape != array.shape[:1]:
        raise ValueError(f"{names[1]} must have shape ({len(array)},), one score per box, got {given.shape}")
    column = np.ascontiguousarray(given, np.float64)
    good = ~np.isnan(column) if any_score else np.isfinite(column) & (column >= 0)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        if any_score:
            refuse_nan(row, names[1])
        raise ValueError(f"{names[1]}[{row}] is {column[row]}: every score must be finite and at least 0")
    kinds = None if labels is None else integers(names[2], host(labels, names[2]), len(array))
    # A negative zero is a zero: its order among equal scores is that of the boxes.
    return Columns(array, column + 0.0, kinds, boxes, dtype, given.dtype)


def refuse_nan(row: int, name: str = "scores") -> NoReturn:
    """Says that a score is no number."""
    raise ValueError(f"{name}[{row}] is NaN, which is neither better nor worse than another: remove the row first")


def host(values: Any, name: str) -> Any:
    """The same values where NumPy can see them; what is NumPy's, or no array at all, as it is."""
    if library_of(values) == "numpy":
        return values
    seen = as_numpy(values)
    if seen is None:
        raise TypeError(f"{name} is traced (jax.jit, torch.compile) or mapped: how many boxes stay depends on values")
    return seen


def restore(array: NDArray[Any], like: Array) -> Array:
    """A NumPy array in the library and on the device of ``like``."""
    library = library_of(like)
    if library == "numpy":
        return array
    array = np.ascontiguousarray(array)
    if library == "torch":
        floats = array.dtype.kind == "f"
        return (as_tensor(array, like) if floats else sys.modules["torch"].from_numpy(array)).to(like.device)
    xp = namespace_of(like)
    return xp.asarray(array) if library == "jax" else xp.asarray(array, device=like.device)


def check_threshold(**values: float) -> None:
    """Refuses a threshold that is not finite or below 0, naming the argument."""
    for name, value in values.items():
        if not (np.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be finite and at least 0, got {value}")


def check_most(name: str, value: int | None) -> int:
    """How many may be kept, where ``None`` is no limit."""
    if value is None:
        return sys.maxsize
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number or None, got {type(value).__name__}")
    if value < 0:
        raise ValueError(f"{name} must be at least 0, got {value}")
    return int(value)


def check_least(threshold: float, dtype: np.dtype[Any]) -> float:
    """A threshold of the join: positive, in the dtype computed in; what overlaps less changes no score."""
    return max(float(threshold), float(np.finfo(dtype).tiny))
