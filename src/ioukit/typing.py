"""The types that public signatures share."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["AngleSense", "AngleUnit", "Array", "BoxFormat", "FloatArray"]

AngleUnit: TypeAlias = Literal["radians", "degrees"]
"""In what an angle is counted."""

AngleSense: TypeAlias = Literal["clockwise", "counterclockwise"]
"""Which way a positive angle turns a box, as seen on the screen: x points right and y down."""

BoxFormat: TypeAlias = Literal["xyxy", "xywh", "cxcywh"]
"""What the four numbers of a box are: two corners, corner and size, or centre and size."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
"""A NumPy array of float16, float32 or float64."""

Array: TypeAlias = Any
"""An array of the caller's library: NumPy, PyTorch, JAX, CuPy, or another of the array API."""
