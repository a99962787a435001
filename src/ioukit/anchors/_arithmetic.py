"""The arithmetic that the codings share, over the array API."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ioukit._arrays import as_floats, as_numpy, library_of, namespace_of
from ioukit.typing import Array

# exp(80) is a float32. Beyond it exp overflows and its gradient is NaN; a sigmoid is 0 or 1 in float32 long before.
_SATURATED = 80.0


def floats(name: str, data: Array, last: int | None = 4) -> tuple[Any, Array]:
    """The functions of the array's library, and the array in a floating dtype.

    Lists and NumPy integers become float64, and integers of other libraries float32.

    Args:
        name: What messages call the array.
        data: (..., last).
        last: The length of the last axis; None for any.
    """
    array = as_floats(data, name) if library_of(data) == "numpy" else data
    xp = namespace_of(array)
    if last is not None and tuple(array.shape[-1:]) != (last,):
        raise ValueError(f"{name} must have shape (..., {last}), got {tuple(array.shape)}")
    if not xp.isdtype(array.dtype, "real floating"):
        array = xp.astype(array, xp.float32)
    return xp, array


def all_like(xp: Any, array: Array, **others: Any) -> list[Array]:
    """Numbers, lists and arrays as arrays in the library, the dtype and on the device of ``array``."""
    device = {"device": array.device} if library_of(array) in {"torch", "cupy"} else {}
    converted = []
    for name, data in others.items():
        library = library_of(data)
        if library == "numpy":
            converted.append(xp.asarray(np.asarray(data, np.float64), dtype=array.dtype, **device))
        elif library != library_of(array):
            raise TypeError(f"all arrays must come from one library, but {name} is of {library}")
        else:
            converted.append(xp.astype(data, array.dtype))
    return converted


def joined(xp: Any, first: Array, second: Array) -> Array:
    """(..., 4) from the first two and the last two numbers of each box, which are broadcast to one shape."""
    if first.shape != second.shape:
        first, second = xp.broadcast_arrays(first, second)
    return xp.concat([first, second], axis=-1)


def sigmoid(xp: Any, x: Array) -> Array:
    """``1 / (1 + exp(-x))``, with a finite gradient for every ``x``."""
    return 1 / (1 + xp.exp(-xp.clip(x, -_SATURATED, _SATURATED)))


def logit(xp: Any, probability: Array, margin: float) -> Array:
    """The inverse of the sigmoid, of a probability that is first kept ``margin`` away from 0 and 1."""
    # 1 - margin must not round to 1.
    margin = max(margin, float(xp.finfo(probability.dtype).eps))
    inside = xp.clip(probability, margin, 1 - margin)
    return xp.log(inside) - xp.log(1 - inside)


def check_codable(
    values: Array,
    given: Array,
    complaint: str,
    low: float = 0.0,
    high: float = 1.0,
    *,
    open_low: bool = False,
    name: str = "boxes",
) -> None:
    """Raises `ValueError` for the first box that the coding cannot express.

    A finite range is widened by 1e-4 for the rounding of the caller. A traced program is not checked.

    Args:
        values: (..., K) what must lie between ``low`` and ``high``.
        given: (..., 4) the boxes, for the message.
        complaint: The message, after the box.
        low: The lower end of the range.
        high: The upper end of the range.
        open_low: Whether the lower end is excluded.
        name: What the message calls the boxes.
    """
    host, boxes = as_numpy(values), as_numpy(given)
    if host is None or boxes is None:
        return
    slack = 0.0 if math.isinf(high) else 1e-4
    bad = ~((host > low if open_low else host >= low - slack) & (host <= high + slack))
    if bad.any():
        flat = int(np.argmax(bad.reshape(-1, host.shape[-1]).any(axis=1)))
        index = ", ".join(map(str, np.unravel_index(flat, host.shape[:-1]))) if host.ndim > 1 else ""
        rows = np.broadcast_to(boxes, (*host.shape[:-1], boxes.shape[-1])).reshape(-1, boxes.shape[-1])
        raise ValueError(f"{name}[{index}] is {rows[flat].tolist()}: {complaint}")
