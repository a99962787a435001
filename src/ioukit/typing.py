"""The types in the signatures of public functions."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

AngleUnit: TypeAlias = Literal["radians", "degrees"]
"""The unit of an angle."""

AngleSense: TypeAlias = Literal["clockwise", "counterclockwise"]
"""The way a positive angle turns a box, as seen on the screen, where x points right and y down."""

BoxFormat: TypeAlias = Literal["xyxy", "xywh", "cxcywh"]
"""What the four numbers of a box are: two corners, a corner and the size, or the centre and the size."""

FloatArray: TypeAlias = NDArray[np.floating[Any]]
"""A NumPy array of float16, float32 or float64."""

Array: TypeAlias = Any
"""An array of the caller's library: NumPy, PyTorch, JAX, CuPy, or another of the array API."""
