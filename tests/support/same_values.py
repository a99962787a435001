"""Whether nested values are equal in kind and in every bit."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["difference"]

_NUMBERS = (int, float, np.number)


def difference(ours: Any, theirs: Any, where: str = "") -> str | None:
    """Where two values differ, in kind or in any bit; ``None`` if they do not. A number may be of another type."""
    if isinstance(ours, np.ndarray) and isinstance(theirs, np.ndarray):
        return _of_arrays(ours, theirs, where)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        return _of_dicts(ours, theirs, where)
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        if type(ours) is not type(theirs) or len(ours) != len(theirs):
            return f"{where}: {type(ours).__name__} of {len(ours)}, expected {type(theirs).__name__} of {len(theirs)}"
        pairs = enumerate(zip(ours, theirs, strict=True))
        return next(filter(None, (difference(*pair, f"{where}[{place}]") for place, pair in pairs)), None)
    alike = type(ours) is type(theirs) or (isinstance(ours, _NUMBERS) and isinstance(theirs, _NUMBERS))
    same = alike and (ours == theirs or (_is_nan(ours) and _is_nan(theirs)))
    return None if same else f"{where}: {ours!r}, expected {theirs!r}"


def _of_arrays(ours: np.ndarray[Any, Any], theirs: np.ndarray[Any, Any], where: str) -> str | None:
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{where}: {ours.dtype} {ours.shape}, expected {theirs.dtype} {theirs.shape}"
    if ours.dtype == object:
        return difference(ours.tolist(), theirs.tolist(), where)
    same = ours.tobytes() == theirs.tobytes() or np.array_equal(ours, theirs, equal_nan=True)
    return None if same else f"{where}: {ours}, expected {theirs}"


def _of_dicts(ours: dict[Any, Any], theirs: dict[Any, Any], where: str) -> str | None:
    if ours.keys() != theirs.keys():
        return f"{where}: keys {list(ours)[:20]}, expected {list(theirs)[:20]}"
    return next(filter(None, (difference(ours[key], theirs[key], f"{where}[{key!r}]") for key in theirs)), None)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float | np.floating) and bool(np.isnan(value))
