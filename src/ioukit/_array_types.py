"""The types of NumPy arrays that the rooms pass to each other, by what the numbers mean."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
"""Numbers: boxes, scores, overlaps, AP."""

Rows: TypeAlias = NDArray[np.int64]
"""Positions of rows in columns, such as the detections of a match table."""

Positions: TypeAlias = NDArray[np.int64]
"""Positions in a list, such as those of images or classes."""

Ids: TypeAlias = NDArray[np.int64]
"""Ids as the files have them."""

Counts: TypeAlias = NDArray[np.int64]
"""How many."""

Flags: TypeAlias = NDArray[np.bool_]
"""True or false, one per row."""

Bytes: TypeAlias = NDArray[np.uint8]
"""Bytes, also sets of bits."""
