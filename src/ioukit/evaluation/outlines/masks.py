"""Masks: the polygons that a data set has, or the sides of the pixels of RLE."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._regions import SEGMENTATIONS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.evaluation.outlines.outline import Outline, Outlines
from ioukit.evaluation.outlines.tracing import traced
from ioukit.regions.masks import Masks

__all__ = ["mask_outlines", "traced_masks"]

Floats = npt.NDArray[np.float64]


def mask_outlines(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:  # noqa: ARG001
    """The outlines of masks: polygons as they are given, RLE along the sides of the pixels."""
    masks = rows.regions.get("Masks")
    if masks is not None:
        return traced_masks(masks)
    return Outlines(tuple(map(_of_segmentation, rows.regions[SEGMENTATIONS])), filled=True)


def traced_masks(masks: Masks) -> Outlines:
    """The outlines of masks along the sides of their pixels."""
    return Outlines(tuple(_of_mask(masks[row]) for row in range(len(masks))), filled=True)


def _of_segmentation(value: Any) -> Outline:
    if isinstance(value, Sequence):
        return Outline(tuple(_clockwise(np.array(polygon, np.float64).reshape(-1, 2)) for polygon in value))
    return _of_mask(Masks.from_coco([value], height=0, width=0))


def _clockwise(ring: Floats) -> Floats:
    """The ring in the direction of all others: no polygon of COCO is a hole in another one."""
    x, y = ring.T
    return ring[::-1] if (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() < 0 else ring


def _of_mask(mask: Masks) -> Outline:
    """The outline of one mask. Only the pixels inside its box are looked at."""
    x1, y1, x2, y2 = mask.to_boxes().numpy()[0].astype(int).tolist()
    pixels = mask.to_arrays()[0, y1:y2, x1:x2]
    return Outline(tuple(ring + np.array([x1, y1], np.float64) for ring in traced(pixels)))
