"""Boxes in many constellations, and rooms so small that a join of few boxes has many cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from ioukit.scale.boxes.box_room import Room

__all__ = ["box_sets", "chunked", "rooms"]


_Rng = np.random.Generator

# Low corners and sides.
FAMILIES: dict[str, Callable[[_Rng, int], tuple[Any, Any]]] = {
    "spread": lambda rng, n: (rng.uniform(0, 30 * (n + 1) ** 0.5, (n, 2)), rng.uniform(10, 50, (n, 2))),
    "borders of cells, and no area": lambda rng, n: (
        rng.integers(0, 6, (n, 2)) * 1.0,
        rng.integers(0, 4, (n, 2)) * 1.0,
    ),
    "huge and tiny": lambda rng, n: (rng.uniform(-5, 5, (n, 2)), np.exp(rng.uniform(-7, 7, (n, 2)))),
    "one place": lambda _, n: (np.zeros((n, 2)), np.ones((n, 2))),
    "nearly one place": lambda rng, n: (rng.normal(0, 1e-3, (n, 2)), 1 + rng.normal(0, 1e-3, (n, 2))),
    "areas underflow": lambda rng, n: (rng.uniform(0, 10, (n, 2)) * 1e-22, rng.uniform(0, 4, (n, 2)) * 1e-22),
    "chain": lambda _, n: (np.stack([np.arange(n) * 0.4, np.zeros(n)], axis=1), np.ones((n, 2))),
}


@st.composite
def box_sets(draw: st.DrawFn, most: int = 200) -> NDArray[Any]:
    """(N, 4) valid xyxy boxes in float32 or float64."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    low, sides = FAMILIES[draw(st.sampled_from(sorted(FAMILIES)))](rng, draw(st.integers(0, most)))
    return np.concatenate([low, low + sides], axis=1).astype(draw(st.sampled_from([np.float32, np.float64])))


def rooms() -> st.SearchStrategy[Room]:
    """Room for few boxes."""
    return st.builds(
        Room,
        boxes=st.integers(8, 150),
        chunk=st.integers(8, 60),
        pairs=st.integers(40, 500),
        sample=st.integers(20, 400),
    )


def chunked(columns: tuple[Any, ...], size: int) -> Iterator[Any]:
    """The columns in chunks of ``size`` rows, and an empty chunk before and behind."""
    for part in [slice(0, 0), *(slice(k, k + size) for k in range(0, len(columns[0]), size)), slice(0, 0)]:
        chunk = tuple(column[part] for column in columns)
        yield chunk if len(chunk) > 1 else chunk[0]
