"""Which classes occur on the same images."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


MOST_CLASSES = 100
"""The number of classes that are compared: those on the most images."""

_IMAGES_AT_A_TIME = 1 << 16


def classes_together(
    images: NDArray[np.int64], classes: NDArray[np.int64], on_images: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """On how many images two classes occur together.

    Args:
        images: (P,) the image of each pair of an image and a class that occurs on it, each pair once, in ascending
            order of the images.
        classes: (P,) the class of each pair.
        on_images: (K,) the number of images that each class occurs on.

    Returns:
        (C,) the classes that are compared: those with images, at most :data:`MOST_CLASSES`, most images first. (C, C)
        the number of images on which both occur; on the diagonal, those of the class alone.
    """
    chosen = np.argsort(-on_images, kind="stable")[:MOST_CLASSES]
    chosen = chosen[on_images[chosen] > 0]
    places = np.full(len(on_images), -1)
    places[chosen] = np.arange(len(chosen))
    kept = places[classes] >= 0
    _, rows = np.unique(images[kept], return_inverse=True)
    columns = places[classes[kept]]
    counts = np.zeros((len(chosen), len(chosen)), np.int64)
    for start in range(0, int(rows[-1]) + 1 if len(rows) else 0, _IMAGES_AT_A_TIME):
        low, high = np.searchsorted(rows, [start, start + _IMAGES_AT_A_TIME])
        # float32 counts exactly up to 2**24, and its matrix product is a hundred times as fast as that of integers.
        occurs = np.zeros((int(rows[high - 1]) - start + 1, len(chosen)), np.float32)
        occurs[rows[low:high] - start, columns[low:high]] = 1
        counts += (occurs.T @ occurs).astype(np.int64)
    return chosen, counts
