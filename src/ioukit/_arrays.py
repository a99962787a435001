"""Which kind of array is this, and in which dtype is it computed?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["as_floats", "computing_dtype"]

_FLOATS = {np.dtype(kind): np.dtype(kind) for kind in (np.float16, np.float32, np.float64)}
_LARGEST_INTEGER = 2**53  # up to here every integer is a float64


def as_floats(data: object, name: str) -> FloatArray:
    """An array of float16, float32 or float64 as it is; integers, bools and nested lists as float64.

    Args:
        data: A NumPy array, list or tuple.
        name: What messages call it.

    Raises:
        TypeError: If it is another kind of object, or does not hold real numbers.
        ValueError: If a list is ragged, or an integer has no exact float64.
    """
    if type(data) is np.ndarray and data.dtype in _FLOATS:  # the common case, at the cost of one look-up
        return data
    if not isinstance(data, (np.ndarray, list, tuple)) or isinstance(data, np.ma.MaskedArray):
        raise TypeError(f"{name} must be Boxes, a NumPy array or nested lists, got {type(data).__name__}")
    try:
        array: NDArray[Any] = np.asarray(data)
    except ValueError as error:
        raise ValueError(f"{name} must be a regular array of numbers: {error}") from None
    native = array.dtype.newbyteorder("=")
    if native in _FLOATS:
        return array.astype(np.float64 if isinstance(data, (list, tuple)) else native, copy=False)
    if native.kind not in "iub":
        raise TypeError(f"{name} must hold float16, float32, float64, integers or bools, got dtype {array.dtype}")
    if native.itemsize == 8 and array.size and max(int(array.max()), -int(array.min())) > _LARGEST_INTEGER:
        raise ValueError(f"{name} holds an integer beyond 2**53, which has no exact float64: subtract an offset first")
    return array.astype(np.float64)


def computing_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Float32 for float16, whose squares end at 65504; the others compute in themselves."""
    return np.dtype(np.float32) if dtype == np.float16 else dtype
