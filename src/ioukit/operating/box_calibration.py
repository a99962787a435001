"""D-ECE over scores, places and sizes of boxes: are scores right everywhere in the image, and for every size?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice, check_count
from ioukit.evaluation import Evaluation
from ioukit.operating.binned_errors import Judged, judged
from ioukit.operating.sweeps import scene_of, table_of

__all__ = ["d_ece_by_box"]

Floats: TypeAlias = npt.NDArray[np.float64]

DIMENSIONS = ("x", "y", "width", "height")


def d_ece_by_box(
    evaluation: Evaluation,
    dimensions: Sequence[str] = DIMENSIONS,
    *,
    bins: int = 5,
    least: int = 8,
    iou_threshold: float | None = None,
    area_range: str | None = None,
) -> float:
    """D-ECE over cells of scores and of properties of boxes.

    Each dimension is cut into ``bins`` ranges of equal width. A cell of all dimensions adds its share of the detections
    times the distance of mean score and precision. Scores that are right on average can be too high at the edges of
    images and too low in the middle: this error sees it, and D-ECE over scores alone does not.

    Args:
        evaluation: An evaluation that holds its data, with sizes of images.
        dimensions: Of ``"x"`` and ``"y"`` (the centre of the box) and ``"width"`` and ``"height"``, relative to the
            size of the image; the score is always one.
        bins: The number of ranges of each dimension. A range holds its upper end. Boxes beyond the image count in the
            last ranges.
        least: Cells with fewer detections add nothing.
        iou_threshold: One of the protocol's IoU thresholds; its main one if ``None``.
        area_range: Label of one of the protocol's area ranges; its main one if ``None``.

    Returns:
        Within [0, 1]; NaN if no cell has enough detections. It is too low if many cells have too few.

    Raises:
        ValueError: If the evaluation lacks its data or sizes of images, a dimension is unknown or stands twice, a score
            is outside of [0, 1], or a number is out of range.

    Source: Kueppers, Kronenberger, Shantia, Haselhoff, Multivariate Confidence Calibration for Object Detection, CVPR
    workshops 2020, arXiv:2004.13546, with its 5 ranges and 8 detections.
    """
    check_count(bins=bins, least=least)
    if isinstance(dimensions, str):
        raise TypeError(f"dimensions must be a list of names, got {dimensions!r}")
    for name in dimensions:
        check_choice("dimension", name, DIMENSIONS)
    if len(set(dimensions)) != len(dimensions):
        raise ValueError(f"dimensions must differ, got {list(dimensions)}")
    compared = judged(scene_of(table_of(evaluation), iou_threshold, area_range))
    values = _relative(evaluation, compared)
    edges = np.linspace(0, 1, bins + 1)
    cell = np.zeros(len(compared.score), np.int64)
    for column in (compared.score, *(values[:, DIMENSIONS.index(name)] for name in dimensions)):
        cell = cell * bins + np.clip(np.searchsorted(edges, column, side="left") - 1, 0, bins - 1)
    _, cell, counts = np.unique(cell, return_inverse=True, return_counts=True)
    apart = np.abs(np.bincount(cell, compared.score - compared.found))
    full = counts >= least
    return float(apart[full].sum() / len(cell)) if full.any() else math.nan


def _relative(evaluation: Evaluation, compared: Judged) -> Floats:
    """(n, 4) centre and size of the boxes, relative to the size of their image."""
    truth, detections = evaluation.ground_truth, evaluation.detections
    if truth is None or detections is None:
        raise ValueError("this evaluation holds a match table alone; boxes and sizes of images need its data")
    table = compared.scene.table
    rows = table.detections.row[compared.rows]
    sizes = truth.images.sizes[truth.images.positions(table.image_ids)][compared.image]
    if np.isnan(sizes).any():
        image = table.image_ids[compared.image[np.isnan(sizes).any(axis=1)][0]]
        raise ValueError(f"the size of image {image} is unknown; relative places and sizes of boxes need it")
    boxes = detections.boxes[rows]
    return np.concatenate([(boxes[:, :2] + boxes[:, 2:] / 2) / sizes, boxes[:, 2:] / sizes], axis=1)
