"""Repairs of what ground truth says of its masks: areas and crowds."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.repairs.boxes import sizes_of_rows
from ioukit.datasets.columns.lazy import ValuesOfFiles, texts_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.repairs.repair import Data, Repair
    from ioukit.datasets import GroundTruth


def mask_areas(data: Data, rows: NDArray[np.intp] | None = None) -> NDArray[np.float64] | None:
    """(N,) the areas of the masks of some annotations in square pixels; ``None`` if there are no masks.

    Raises:
        DatasetError: If a mask cannot be read.
    """
    gt = data.ground_truth if rows is None else data.ground_truth.take(rows)
    given = gt.regions.get("Masks")
    if given is None:
        spelled = gt.segmentations
        if spelled is None:
            return None
        from ioukit.datasets.columns.masks import decode  # noqa: PLC0415 - for data with masks

        sizes = np.asarray(sizes_of_rows(data, gt), np.float64)
        given = decode(spelled, sizes, source=gt.source, array="annotations")
    areas: NDArray[np.float64] = np.asarray(given.area, np.float64)
    return areas


def written_as_rle(gt: GroundTruth) -> NDArray[np.bool_] | None:
    """(N,) whether the mask of an annotation is written as RLE and not as polygons; ``None`` without such masks."""
    spelled = gt.segmentations
    if spelled is None:
        return None
    if not isinstance(spelled, ValuesOfFiles):
        return np.array([isinstance(value, dict) for value in spelled], np.bool_)
    found = np.zeros(len(gt), np.bool_)
    for path, rows, spans in spelled.files():
        there = spans[:, 1] > spans[:, 0]
        if there.any():
            first = spans[there, :1] + np.array([0, 1], np.uint64)
            found[rows[there]] = [text == b"{" for text in texts_at(path, first)]
    return found


def with_other_areas(data: Data, repair: Repair) -> Data:
    """Gives annotations the areas of their masks or boxes."""
    gt = data.ground_truth
    if repair.value == "boxes":
        areas: NDArray[np.float64] | None = gt.boxes[:, 2] * gt.boxes[:, 3]
    elif repair.value == "masks":
        areas = mask_areas(data)
    else:
        raise repair.wrong_value()
    if areas is None:
        raise ValueError(f"repair {str(repair)!r} needs masks, and {gt.source} has none")
    return data._replace(ground_truth=dataclasses.replace(gt, areas=areas))


def with_crowds(data: Data, repair: Repair) -> Data:
    """Marks annotations as crowds: those whose mask is RLE, as COCO writes them, or those with some ids."""
    gt = data.ground_truth
    if repair.value == "rle":
        rle = written_as_rle(gt)
    else:
        try:
            rle = np.isin(gt.ids, [int(number) for number in repair.value.split(",")])
        except ValueError:
            raise repair.wrong_value() from None
    if rle is None:
        raise ValueError(f"repair {str(repair)!r} needs segmentations, and {gt.source} has none")
    return data._replace(ground_truth=dataclasses.replace(gt, flags={**gt.flags, "crowd": gt.crowd | rle}))
