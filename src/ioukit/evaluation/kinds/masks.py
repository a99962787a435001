"""Masks, as COCO's `segm` compares them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit._boundary import MaskColumns
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import Comparison, Rows, column_of

__all__ = ["columns", "masks_of_both"]


def masks_of_both(compared: Comparison, name: str) -> tuple[Any, Any]:
    """The masks of the objects and of the detections; ``name`` is the name of the kind."""
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - comparing boxes should not load masks

    gt, dt = compared.ground_truth, compared.detections
    sizes = gt.images.sizes
    sides = []
    for side, image_ids, array in ((gt, gt.image_ids, "annotations"), (dt, compared.detection_images, "detections")):
        given = side.regions.get("Masks")
        if given is None:
            spelled = column_of(side, name, "segmentations", array)
            image_sizes = sizes[np.searchsorted(gt.images.ids, image_ids)]
            given = decode(spelled, image_sizes, source=side.source, array=array, threads=compared.threads or None)
        sides.append((side, image_ids, array, given))
    _check_sizes(gt, sides)
    (*_, objects), (*_, detections) = sides
    return objects, detections


def _check_sizes(gt: GroundTruth, sides: list[tuple[GroundTruth | Detections, Rows, str, Any]]) -> None:
    """Refuses masks of different sizes on one image: their pixels cannot be compared."""
    first = np.zeros((len(gt.images), 2), np.int64)
    seen = np.zeros(len(gt.images), np.bool_)
    for side, image_ids, array, masks in sides:
        at = np.searchsorted(gt.images.ids, image_ids)
        sizes = np.array(masks._sizes, np.int64)
        new = np.flatnonzero(~seen[at])[::-1]  # the first mask of an image is written last
        first[at[new]] = sizes[new]
        seen[at] = True
        other = np.flatnonzero((sizes != first[at]).any(axis=1))
        if len(other):
            (height, width), (high, wide) = first[at[other[0]]], sizes[other[0]]
            raise DatasetError(
                f"{side.source}: {array}[{other[0]}].segmentation: expected a mask of {height} x {width} (height x "
                f"width) as others of image {gt.images.labels[at[other[0]]]} have, found {high} x {wide}"
            )


def columns(compared: Comparison) -> MaskColumns:
    """The masks of both sides."""
    return MaskColumns(*(masks._parts for masks in masks_of_both(compared, "segm")))
