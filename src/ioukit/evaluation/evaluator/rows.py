"""The rows of a batch, which are read and checked, and the data sets that are made of them to be matched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.regions.formats import convert
from ioukit.typing import BoxFormat


@dataclass
class Rows:
    """The detections, or the objects, of the images of a batch. Values are checked."""

    counts: list[int]
    """(I,) the number of rows of each image."""
    labels: npt.NDArray[np.int64]
    """(N,) ids of categories."""
    boxes: npt.NDArray[Any] | None
    """(N, 4) float32 or float64; ``None`` if boxes are those around the regions."""
    format: BoxFormat
    """The format of the boxes."""
    scores: npt.NDArray[Any] | None = None
    """(N,) scores of detections."""
    crowd: npt.NDArray[np.bool_] | None = None
    """(N,) whether an object is a crowd; ``None`` if none is."""
    areas: npt.NDArray[Any] | None = None
    """(N,) areas, NaN where they are to be computed; ``None`` if all are."""
    regions: list[Any] = field(default_factory=list)
    """Sets of N regions of different kinds."""
    keypoints: npt.NDArray[np.float64] | None = None
    """(N, P, 3) x, y and visibility or score."""


def data_of(
    ids: Sequence[int] | Sequence[str],
    predictions: Rows,
    targets: Rows,
    categories: Categories | None,
    first_id: int,
) -> tuple[GroundTruth, Detections]:
    """The data sets of the rows of some images.

    Args:
        ids: (I,) ids of the images.
        predictions: The detections.
        targets: The objects.
        categories: Those that are evaluated; those of both sides if ``None``.
        first_id: The annotation id of the first object; the others are numbered on.
    """
    images = np.array(ids)
    if categories is None:
        categories_seen = np.union1d(predictions.labels, targets.labels)
        categories = Categories(categories_seen, tuple(map(str, categories_seen.tolist())))
    boxes = _boxes(targets)
    areas = targets.areas
    if areas is not None and np.isnan(areas).any():
        areas = np.where(np.isnan(areas), _areas(targets, boxes), areas)
    ground_truth = GroundTruth.from_arrays(
        image_ids=np.repeat(images, targets.counts),
        category_ids=targets.labels,
        boxes=boxes,
        areas=_areas(targets, boxes) if areas is None else areas,
        crowd=targets.crowd,
        ids=np.arange(first_id, first_id + len(targets.labels)),
        images=images,
        categories=categories,
        regions=targets.regions or None,
        keypoints=targets.keypoints,
        source="targets",
    )
    found = _boxes(predictions)
    return ground_truth, Detections.from_arrays(
        image_ids=np.repeat(images, predictions.counts),
        category_ids=predictions.labels,
        boxes=found,
        areas=predictions.areas,
        scores=predictions.scores if predictions.scores is not None else (),
        regions=predictions.regions or None,
        keypoints=predictions.keypoints,
        source="predictions",
    )


def _boxes(rows: Rows) -> npt.NDArray[np.float64]:
    """(N, 4) ``[x, y, width, height]``; those around the regions if there are none."""
    if rows.boxes is None:
        return np.asarray(rows.regions[0].to_boxes().convert("xywh").numpy(), np.float64)
    return np.asarray(convert(rows.boxes.astype(np.float64), rows.format, "xywh"), np.float64)


def _areas(rows: Rows, boxes: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(N,) the areas of the regions, or else those of the boxes."""
    if rows.regions:
        return np.asarray(rows.regions[0].area, np.float64)
    return boxes[:, 2] * boxes[:, 3]
