"""Polygons that several tests use, and random rings on a small grid."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

__all__ = ["ARROW", "BOW_TIE", "COMB", "LINE", "SQUARE", "TRIANGLE", "rings"]

SQUARE = [[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [0.0, 4.0]]
TRIANGLE = [[0.0, 0.0], [4.0, 0.0], [0.0, 3.0]]
ARROW = [[0.0, 0.0], [4.0, 2.0], [0.0, 4.0], [1.0, 2.0]]  # concave
BOW_TIE = [[0.0, 0.0], [4.0, 4.0], [4.0, 0.0], [0.0, 4.0]]
LINE = [[0.0, 0.0], [2.0, 2.0], [4.0, 4.0]]
COMB = [[0, 0], [6, 0], [6, 4], [4, 4], [4, 1], [2, 1], [2, 4], [0, 4]]  # two teeth down

rings = st.lists(st.tuples(*[st.integers(-4, 4)] * 2), min_size=3, max_size=8).map(lambda p: np.array(p, np.float64))
