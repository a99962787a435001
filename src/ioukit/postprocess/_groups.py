"""Groups of boxes: one number per label and image, and the best boxes of each image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._array_types import Ids

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.typing import FloatArray


def groups(labels: Ids | None, batch: Ids | None) -> Ids | None:
    """(N,) a number per box that is equal for boxes of one label and one image; None without labels and images.

    Boxes of different groups never remove each other.
    """
    if labels is None or batch is None or not len(labels):
        return batch if labels is None else labels
    first, last = int(labels.min()), int(labels.max())
    low, high = int(batch.min()), int(batch.max())
    if (last - first + 1) * (high - low + 1) > np.iinfo(np.int64).max:
        labels, batch = (np.unique(column, return_inverse=True)[1] for column in (labels, batch))
        first, last, low = 0, int(labels.max()), 0
    return (batch - low) * (last - first + 1) + (labels - first)


def best_of_images(images: Ids, scores: FloatArray, most: int) -> NDArray[np.intp]:
    """The positions of the ``most`` best boxes of every image, sorted by image and then by descending score.

    Boxes with equal scores stay in their order.
    """
    order = np.lexsort((-scores, images))
    starts = np.searchsorted(images[order], images[order])
    best: NDArray[np.intp] = order[np.arange(len(order)) - starts < most]
    return best


def limited(keep: Ids, batch: Ids | None, most: int) -> Ids:
    """The first ``most`` positions of every image, in their order.

    Args:
        keep: (K,) positions of boxes.
        batch: (N,) the image of each box; None if all are of one image.
        most: How many.
    """
    if len(keep) <= most:
        return keep
    if batch is None:
        return keep[:most]
    images = batch[keep]
    order = np.argsort(images, kind="stable")
    sorted_images = images[order]
    place = np.arange(len(keep)) - np.searchsorted(sorted_images, sorted_images)
    within = np.empty(len(keep), bool)
    within[order] = place < most
    return keep[within]
