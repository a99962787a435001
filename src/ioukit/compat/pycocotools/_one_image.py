"""Overlaps and matches of the records of one image, step by step as pycocotools takes them.

Owns the order of choosing, ties, ids of 0, NaN, and masks of different sizes, exactly as in pycocotools. It is the slow
way, for data that the engine refuses (`IrregularError`) and for subclasses that change a step; `COCOeval` and
`LVISEval` share it. Does not own the fast way (``_matching.py``), nor curves.
Cut here because every step is a method of `COCOeval` that programs call or replace one by one. Loops stay loops over
lists of Python: a detection depends on those before it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.evaluation.table import NEARLY_ONE

__all__ = ["by_group", "by_score", "match_group", "record_overlaps", "record_similarities"]

Record = dict[str, Any]


def by_score(records: Sequence[Record]) -> NDArray[np.int64]:
    """Positions of detections, best first; those with equal scores stay in order, those with NaN come last."""
    return np.argsort([-record["score"] for record in records], kind="mergesort").astype(np.int64)


def record_overlaps(detections: Sequence[Record], objects: Sequence[Record], key: str, iou: Any) -> Any:
    """(D, G) overlaps of the boxes or masks under a key, by the function `iou`; ``[]`` if a side is empty."""
    of, to = ([record[key] for record in side] for side in (detections, objects))
    crowd = [int(record["iscrowd"]) for record in objects]
    if key == "segmentation" and of and to and iou is mask_utils.ORIGINAL.iou:
        sizes = [[tuple(mask["size"]) for mask in side] for side in (of, to)]
        if len({*sizes[0], *sizes[1]}) > 1:
            return _of_one_size(of, to, crowd, sizes)
    return iou(of, to, crowd)


def _of_one_size(of: list[Any], to: list[Any], crowd: list[int], sizes: list[list[Any]]) -> Any:
    """(D, G) overlaps of masks; -1 for two of different sizes whose boxes overlap, which pycocotools looks at first."""
    boxes = (mask_utils.ORIGINAL.toBbox(side) for side in (of, to))
    found = np.asfortranarray(np.where(mask_utils.ORIGINAL.iou(*boxes, crowd) > 0, -1.0, 0.0))
    for size in set(sizes[0]) & set(sizes[1]):
        rows, places = ([place for place, one in enumerate(side) if one == size] for side in sizes)
        found[np.ix_(rows, places)] = mask_utils.ORIGINAL.iou(
            [of[row] for row in rows], [to[place] for place in places], [crowd[place] for place in places]
        )
    return found


def record_similarities(detections: Sequence[Record], objects: Sequence[Record], sigmas: Any) -> Any:
    """(D, G) object keypoint similarities, see :func:`ioukit.evaluation.keypoint_similarity`."""
    found = np.zeros((len(detections), len(objects)))
    variances = (sigmas * 2) ** 2
    none = np.zeros(len(sigmas))
    points = [np.array(record["keypoints"]) for record in detections]
    for column, record in enumerate(objects):
        truth = np.array(record["keypoints"])
        labelled = truth[2::3] > 0
        x, y, width, height = record["bbox"][:4]
        for row, given in enumerate(points):
            if labelled.any():
                apart = given[0::3] - truth[0::3], given[1::3] - truth[1::3]
            else:
                apart = (
                    _beyond(given[0::3], x - width, x + width * 2, none),
                    _beyond(given[1::3], y - height, y + height * 2, none),
                )
            exponents = (apart[0] ** 2 + apart[1] ** 2) / variances / (record["area"] + np.spacing(1)) / 2
            if labelled.any():
                exponents = exponents[labelled]
            found[row, column] = np.sum(np.exp(-exponents)) / exponents.shape[0]
    return found


def _beyond(places: Any, low: Any, high: Any, none: Any) -> Any:
    """How far places lie outside of a range."""
    return np.max((none, low - places), axis=0) + np.max((none, places - high), axis=0)


def by_group(records: Iterable[Record]) -> defaultdict[Any, list[Record]]:
    """The records of each image and category."""
    groups: defaultdict[Any, list[Record]] = defaultdict(list)
    for record in records:
        groups[record["image_id"], record["category_id"]].append(record)
    return groups


def match_group(
    objects: list[Record], detections: list[Record], overlaps: Any, area_range: Any, thresholds: Any
) -> Record:
    """The matches of the objects of a group and of its detections, best first.

    Args:
        objects: The objects, which have `_ignore`, in the order of the columns of ``overlaps``.
        detections: The detections within the cap.
        overlaps: (D, G), or ``[]``.
        area_range: Lowest and highest area.
        thresholds: Of overlaps.
    """
    order = np.argsort([record["_ignore"] for record in objects], kind="mergesort").astype(np.int64)
    ranked = [objects[place] for place in order]
    return match_records(
        detections, ranked, overlaps[:, order] if len(overlaps) > 0 else overlaps, area_range, thresholds
    )


def match_records(
    detections: Sequence[Record], objects: Sequence[Record], overlaps: Any, area_range: Any, thresholds: Any
) -> Record:
    """The matches of detections, best first, and objects that have `_ignore`, those that count first.

    Args:
        detections: The detections within the cap.
        objects: The objects.
        overlaps: (D, G), or ``[]``.
        area_range: Lowest and highest area.
        thresholds: Of overlaps.
    """
    crowd = [int(record["iscrowd"]) for record in objects]
    ignored = np.array([record["_ignore"] for record in objects])
    matches, taken = np.zeros((len(thresholds), len(detections))), np.zeros((len(thresholds), len(objects)))
    ignores = np.zeros((len(thresholds), len(detections)))
    if len(overlaps):
        flags = ignored.tolist()
        # A replaced step may return numbers of another precision, which NumPy compares by rules of its own.
        exact = isinstance(overlaps, np.ndarray) and overlaps.dtype == np.float64
        table = overlaps.tolist() if exact else [list(row) for row in overlaps]
        for place, threshold in enumerate(thresholds):
            holders = [0.0] * len(objects)
            for row, detection in enumerate(detections):
                found = _best_free(table[row], min([threshold, NEARLY_ONE]), holders, crowd, flags)
                if found >= 0:
                    ignores[place, row] = flags[found]
                    matches[place, row] = objects[found]["id"]
                    taken[place, found] = detection["id"]
                    holders[found] = taken[place, found]
    low, high = area_range
    outside = np.array([record["area"] < low or record["area"] > high for record in detections], np.bool_)
    return {
        "dtIds": [record["id"] for record in detections],
        "gtIds": [record["id"] for record in objects],
        "dtMatches": matches,
        "gtMatches": taken,
        "dtScores": [record["score"] for record in detections],
        "gtIgnore": ignored,
        "dtIgnore": (ignores != 0) | ((matches == 0) & outside[None]),
    }


def _best_free(overlaps: list[float], least: float, holders: list[float], crowd: list[int], ignored: list[int]) -> int:
    """The position of the best object that is free, -1 for none; the last of equally good ones.

    An object is free if no detection with an id above 0 holds it, or if it is a crowd. Objects that count come first,
    and one of them is taken before any that is ignored.
    """
    found = -1
    for place, overlap in enumerate(overlaps):
        if holders[place] > 0 and not crowd[place]:
            continue
        if found > -1 and ignored[found] == 0 and ignored[place] == 1:
            break
        # Not `overlap >= least`: NaN passes, as in pycocotools.
        if overlap < least:
            continue
        found, least = place, overlap
    return found
