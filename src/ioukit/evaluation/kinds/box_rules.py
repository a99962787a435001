"""What some protocols do to upright boxes before they are compared."""

from __future__ import annotations

import numpy as np

from ioukit._array_types import Floats
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import Comparison

_IMAGE_SIZE = "image_size"
"""The attribute of detections with the width and height of the image of each."""


def with_aspect_ratio(compared: Comparison) -> tuple[Floats, Floats]:
    """(G, 4) and (N, 4) boxes of objects and detections, with a fixed width over height if they count."""
    ratio = compared.protocol.box_aspect_ratio
    sides = []
    for boxes, chosen in ((compared.ground_truth.boxes, compared.counted), (compared.detections.boxes, None)):
        changed = boxes.copy()
        rows = np.arange(len(boxes)) if chosen is None else np.flatnonzero(chosen)
        wider = boxes[rows, 3] * ratio - boxes[rows, 2]
        changed[rows, 0] -= wider / 2
        changed[rows, 2] += wider
        sides.append(changed)
    return sides[0], sides[1]


def image_sizes(compared: Comparison) -> tuple[Floats, Floats]:
    """(G, 2) and (N, 2) width and height of the image of each object and of each detection.

    The size of an image is that of the ground truth, or the attribute ``image_size`` of its detections.

    Raises:
        DatasetError: If an image with objects and detections has no size, or two.
    """
    gt, dt = compared.ground_truth, compared.detections
    images = gt.images
    sizes = images.sizes.copy()
    if not len(images):
        return np.zeros((len(gt), 2)), np.zeros((len(dt), 2))
    # An id that the images lack is an error that matching finds.
    found, true = (
        np.minimum(np.searchsorted(images.ids, ids), len(images) - 1)
        for ids in (compared.detection_images, gt.image_ids)
    )
    unknown = np.isnan(sizes).any(axis=1)
    if unknown.any() and len(dt) and _IMAGE_SIZE in dt.attributes:
        stated = np.asarray(dt.attributes[_IMAGE_SIZE], np.float64).reshape(len(dt), 2)
        rows = np.flatnonzero(unknown[found] & ~np.isnan(stated).any(axis=1))
        sizes[found[rows]] = stated[rows]
        if len(differ := rows[(sizes[found[rows]] != stated[rows]).any(axis=1)]):
            row = differ[0]
            raise DatasetError(
                f"{dt.source}: detections[{row}].{_IMAGE_SIZE}: expected {sizes[found[row]].tolist()}, as for another "
                f"detection of image {images.labels[found[row]]}, found {stated[row].tolist()}"
            )
    unknown = np.isnan(sizes).any(axis=1)
    if len(lacking := np.intersect1d(found[unknown[found]], true[unknown[true]])):
        raise DatasetError(
            f"{gt.source}: image {images.labels[lacking[0]]}: expected a width and a height, found none: the protocol "
            f"{compared.protocol.name} cuts boxes at the borders of the image. Give the ground truth sizes, or the "
            f"detections an attribute {_IMAGE_SIZE!r} with a width and a height for each detection"
        )
    sizes[unknown] = np.inf  # nothing is compared there
    return sizes[true], sizes[found]
