"""What a match table alone does not tell: areas of detections, and categories that are verified without an object."""

from __future__ import annotations

import numpy as np

from ioukit._array_types import Flags
from ioukit.datasets import IdLists
from ioukit.evaluation import Evaluation, MatchTable

_LARGEST_AREA = 1e10  # the end of COCO's range of all areas


def outside_range(table: MatchTable, evaluation: Evaluation | None, area_range: str) -> Flags:
    """(N,) whether the area of each detection is outside of an area range: it is ignored there if it has no match.

    If the data is not at hand, the detections without a match tell it themselves. Others are taken to be within a range
    from 0 to 1e10 square pixels or more.

    Raises:
        ValueError: If the areas are needed and not at hand.
    """
    protocol, rows = table.protocol, table.detections
    at = protocol.position_of_area(area_range)
    _, low, high = protocol.area_ranges[at]
    if low <= 0 and high == np.inf:
        return np.zeros(len(rows), np.bool_)
    if evaluation is not None and evaluation.detections is not None:
        areas = evaluation.detections.areas_or_those_of_boxes()[rows.row]
        return np.asarray((areas < low) | (areas > high))
    thresholds = len(protocol.iou_thresholds)
    matched, ignored = (
        np.unpackbits(sets[:, at], axis=1, count=thresholds, bitorder="little").astype(np.bool_)
        for sets in (rows.matched, rows.ignored)
    )
    paired = np.zeros((len(rows), thresholds), np.bool_)
    pairs = np.unpackbits(table.pairs.matched[:, at], axis=1, count=thresholds, bitorder="little").astype(np.bool_)
    np.logical_or.at(paired, table.pairs.detection, pairs)
    tells = ~(matched | paired)
    if protocol.matches_within_cap:
        tells &= (rows.rank < protocol.max_dets[-1])[:, None]  # those beyond are ignored, whatever their area
    known = tells.any(axis=1)
    if (low > 0 or high < _LARGEST_AREA) and not known.all():
        raise ValueError(
            f"the table does not tell which detections are outside of the area range {area_range!r}: evaluate with the "
            "data, and pass the evaluation"
        )
    return np.asarray((tells & ignored).any(axis=1))


def unverified_without(table: MatchTable, evaluation: Evaluation | None) -> Flags | None:
    """(G,) whether the category of each object is not verified on its image if the object is left out.

    ``None`` if all categories are verified on all images.

    Raises:
        ValueError: If the lists of the images are needed and not at hand.
    """
    lists_looked_for, objects = table.protocol.lists_looked_for, table.objects
    if lists_looked_for is None:
        return None
    count = len(table.categories)
    group = objects.image.astype(np.int64) * count + objects.category
    _, inverse, sizes = np.unique(group, return_inverse=True, return_counts=True)
    single = np.asarray(sizes[inverse] == 1)
    if not lists_looked_for:
        return single
    if evaluation is None or evaluation.ground_truth is None:
        raise ValueError(
            f"with the protocol {table.protocol.name}, the influence of objects needs the ground truth: it says which "
            "categories are verified on each image; evaluate with the data, and pass the evaluation"
        )
    truth = evaluation.ground_truth
    places = np.full(len(truth.images), -1)
    places[truth.images.positions(table.image_ids)] = np.arange(len(table.image_ids))
    for name in lists_looked_for:
        lists = truth.images.attributes[name]
        if not isinstance(lists, IdLists):
            raise TypeError(f"the attribute {name!r} of the images must hold lists of ids")
        image = np.repeat(places, np.diff(lists.ends, prepend=0))
        category = np.minimum(np.searchsorted(table.categories.ids, lists.ids), count - 1)
        known = (image >= 0) & (table.categories.ids[category] == lists.ids)
        single &= ~np.isin(group, image[known] * count + category[known])
    return single
