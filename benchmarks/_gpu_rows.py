"""Rows of the table of `gpu.py`: what a part yields, how it is printed and compared."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

import numpy as np

__all__ = [
    "ENGINES",
    "MARK",
    "Measured",
    "Row",
    "Works",
    "host",
    "print_rows",
    "random_boxes",
    "roundings",
    "row",
    "verdict",
]

MARK = "row: "
ENGINES = ("plain", "compiled", "torchvision")
ROUNDINGS = 8
"""The largest difference between CPU and GPU, in roundings of the value, or of 1 if the value is smaller."""

Row: TypeAlias = "dict[str, Any]"
Measured: TypeAlias = "tuple[str, Mapping[str, float]]"
"""A result in words, FAILED first if it is wrong, and milliseconds by engine."""
Works: TypeAlias = "Iterator[tuple[str, Callable[[], Measured]]]"
"""The rows of a part: what is done, and the function that does it."""


def row(part: str, work: str, result: str, ms: Mapping[str, float] | None = None, *, failed: bool = False) -> Row:
    """A row of the table."""
    return {"part": part, "work": work, "result": result, "ms": dict(ms or {}), "failed": failed}


def print_rows(part: str, works: Works) -> None:
    """Prints each row of a part as a line of JSON as soon as it is there."""
    for work, measure in works:
        try:
            result, ms = measure()
            made = row(part, work, result, ms, failed=result.startswith("FAILED"))
        except Exception as error:  # the other rows still count
            traceback.print_exc()
            first = (str(error).strip().splitlines() or [""])[0]
            made = row(part, work, f"FAILED: {type(error).__name__}: {first}", failed=True)
        print(MARK + json.dumps(made), flush=True)


def random_boxes(count: int, seed: int, extent: float = 1000.0, dtype: Any = np.float32) -> Any:
    """(count, 4) xyxy with sides from 1 to 100."""
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, extent, (count, 2))
    return np.concatenate([low, low + rng.uniform(1, 100, (count, 2))], axis=1).astype(dtype)


def host(array: Any) -> Any:
    """The values as a NumPy array."""
    return array.detach().cpu().numpy() if hasattr(array, "detach") else np.asarray(array)


def roundings(found: Any, expected: Any) -> float:
    """The largest difference, in roundings; infinite for other shapes and for NaN."""
    found, expected = host(found), host(expected)
    if found.shape != expected.shape:
        return float("inf")
    size = np.maximum(np.abs(expected), 1) * np.finfo(expected.dtype).eps
    return float(np.nan_to_num(np.abs(found - expected) / size, nan=np.inf).max(initial=0))


def verdict(off: float, where: str) -> str:
    """What a difference in roundings means."""
    words = f"within {off:.1f} roundings ({where})"
    return f"agrees {words}" if off <= ROUNDINGS else f"FAILED: not {words}; at most {ROUNDINGS} are expected"
