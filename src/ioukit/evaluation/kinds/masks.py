"""Masks, as COCO's `segm` compares them, and their boundaries."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Rows
from ioukit._boundary import MaskColumns, PairColumns
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import Comparison, candidate_pairs, column_of, measured_pairs


def masks_of_both(compared: Comparison, name: str) -> tuple[Any, Any]:
    """The masks of the objects and of the detections; ``name`` is the name of the kind.

    Raises:
        DatasetError: If a side has no masks, or those of an image have different sizes.
    """
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


def pair_columns(compared: Comparison) -> PairColumns:
    """The IoU of the pairs of masks that may overlap, for who needs a list of pairs."""
    return measured_pairs(compared, *masks_of_both(compared, "segm"))


def boundary_columns(compared: Comparison) -> PairColumns:
    """The smaller of the IoU of two masks and the IoU of their boundaries, of the pairs that may overlap.

    Reference: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562, and the program of its authors.
    """
    from ioukit.overlap.engines import masks as engine  # noqa: PLC0415 - comparing boxes should not load this

    objects, detections = masks_of_both(compared, "boundary")
    rows, places = candidate_pairs(compared, objects, detections)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    overlap: npt.NDArray[np.float64] = np.zeros(len(rows))
    over = compared.over_detection[places]
    # As in the authors' program, the mask of a crowd is compared, not its boundary.
    of, to, threads = rows[over], places[over], compared.threads
    overlap[over] = engine.pairs("ioa_first", detections, objects, of, to, threads)
    of, to = rows[~over], places[~over]
    whole = engine.pairs("iou", detections, objects, of, to, threads)
    edges = detections.boundary(threads=threads or None), objects.boundary(threads=threads or None)
    overlap[~over] = np.minimum(whole, engine.pairs("iou", *edges, of, to, threads))
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])
