"""Centres of detections: a detection hits an object if its centre lies in the box, or in the mask, of the object."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit._boundary import PairColumns
from ioukit.evaluation.kinds.kind import Comparison, Kind, column_of, image_pairs
from ioukit.evaluation.protocols.froc import FROC_CENTRE


def _in_boxes(compared: Comparison) -> PairColumns:
    rows, places = image_pairs(compared)
    place, size = compared.ground_truth.boxes[places, :2], compared.ground_truth.boxes[places, 2:]
    centre = _centres(compared)[rows]
    hits = ((place <= centre) & (centre < place + size)).all(axis=1)
    return PairColumns(rows[hits], places[hits], np.ones(int(hits.sum())))


def _in_masks(compared: Comparison) -> PairColumns:
    """The pixel of a centre is a mask of its own, which lies in the mask of the object or not."""
    from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - comparing boxes should not load masks
    from ioukit.overlap.engines.engine import engine_of  # noqa: PLC0415 - as above
    from ioukit.regions.boxes import Boxes  # noqa: PLC0415 - as above
    from ioukit.regions.masks import Masks  # noqa: PLC0415 - as above

    gt = compared.ground_truth
    objects: Any = gt.regions.get("Masks")
    if objects is None:
        spelled = column_of(gt, "centre-in-mask", "segmentations", "annotations")
        sizes = gt.images.sizes[np.searchsorted(gt.images.ids, gt.image_ids)]
        objects = decode(spelled, sizes, source=gt.source, array="annotations", threads=compared.threads or None)
    rows, places = image_pairs(compared)
    if not len(rows):
        return PairColumns(rows, places, np.zeros(0))
    pixels = np.floor(_centres(compared)[rows])
    height, width = np.asarray(objects.sizes)[places].T
    points = Masks.from_boxes(Boxes(np.hstack([pixels, pixels + 1]), "xyxy"), height=height, width=width)
    every, engine = np.arange(len(rows)), engine_of(points, objects)
    assert engine is not None  # masks have one
    hits = engine.pairs("ioa_first", points, objects, every, places, compared.threads) > 0
    return PairColumns(rows[hits], places[hits], np.ones(int(hits.sum())))


def _centres(compared: Comparison) -> Any:
    boxes = compared.detections.boxes
    return boxes[:, :2] + boxes[:, 2:] / 2


CENTRE_IN_BOX = Kind("centre-in-box", "centres of detections, in the boxes of the objects", _in_boxes, FROC_CENTRE)
CENTRE_IN_MASK = Kind("centre-in-mask", "centres of detections, in the masks of the objects", _in_masks, FROC_CENTRE)
