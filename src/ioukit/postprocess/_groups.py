"""Boxes that cannot remove each other: one number per label and image."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._arrays import as_numpy, library_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray

__all__ = ["best_of_images", "groups", "integers"]

_LARGEST = np.iinfo(np.int64).max


def groups(labels: NDArray[np.int64] | None, batch: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """A number per box, equal where label and image are; None where nothing tells boxes apart."""
    if labels is None or batch is None or not len(labels):
        return batch if labels is None else labels
    first, last = int(labels.min()), int(labels.max())
    low, high = int(batch.min()), int(batch.max())
    if (last - first + 1) * (high - low + 1) > _LARGEST:
        labels, batch = (np.unique(array, return_inverse=True)[1] for array in (labels, batch))
        first, last, low = 0, int(labels.max()), 0
    return (batch - low) * (last - first + 1) + (labels - first)


def best_of_images(images: NDArray[np.int64], scores: FloatArray, most: int) -> NDArray[np.intp]:
    """The positions of the ``most`` best of every image, by image and falling score, equal ones as they come."""
    order = np.lexsort((-scores, images))
    starts = np.searchsorted(images[order], images[order])
    best: NDArray[np.intp] = order[np.arange(len(order)) - starts < most]
    return best


def integers(name: str, array: Any, count: int) -> NDArray[np.int64]:
    """(N,) on the host.

    Raises:
        ValueError: If it is not one number per box, or holds one beyond 2**63 - 1.
        TypeError: If it does not hold integers.
    """
    numbers = np.asarray(array) if library_of(array) == "numpy" else as_numpy(array)
    if numbers is None:
        raise TypeError(f"{name} have no values in a traced program: use nms_padded")
    if numbers.shape == (0,) and numbers.dtype == np.float64 and not isinstance(array, np.ndarray):
        numbers = numbers.astype(np.int64)  # an empty list has no dtype of its own
    if numbers.dtype.kind not in "iub":
        raise TypeError(f"{name} must be integers, got dtype {numbers.dtype}")
    if numbers.shape != (count,):
        raise ValueError(f"{name} must have shape ({count},), one per box, got {numbers.shape}")
    if numbers.dtype == np.uint64 and count and int(numbers.max()) > _LARGEST:
        raise ValueError(f"{name} hold {int(numbers.max())}, beyond 2**63 - 1")
    return np.ascontiguousarray(numbers, np.int64)
