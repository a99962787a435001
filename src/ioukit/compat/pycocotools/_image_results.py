"""What pycocotools keeps per image: `evalImgs` and `ious`, made of the table of the engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.compat.pycocotools._distinct import distinct
from ioukit.compat.pycocotools._matching import Matched, overlaps_of

__all__ = ["bits_of", "image_overlaps", "image_results"]

Ids = NDArray[np.int64]


class _Ranges:
    """Where the rows of each group lie in the table: rows of one group follow each other."""

    def __init__(self, category: NDArray[Any], image: NDArray[Any], images: int) -> None:
        keys = category.astype(np.int64) * images + image
        changes = np.flatnonzero(keys[1:] != keys[:-1]) + 1
        starts = np.concatenate([np.zeros(min(len(keys), 1), np.int64), changes])
        self.keys = keys[starts]
        ends = np.concatenate([changes, np.full(min(len(keys), 1), len(keys))])
        self._places: dict[int, tuple[int, int]] = dict(
            zip(self.keys.tolist(), zip(starts.tolist(), ends.tolist(), strict=True), strict=True)
        )

    def of(self, key: int) -> tuple[int, int]:
        """The first row of a group and the row behind its last."""
        return self._places.get(key, (0, 0))


def _ranges(matched: Matched) -> tuple[_Ranges, _Ranges, list[int]]:
    """Where the detections and the objects of each group lie, and the groups that have any."""
    images = len(matched.groups.images)
    detections, objects = (
        _Ranges(rows["category"], rows["image"], images) for rows in (matched.detection_rows, matched.object_rows)
    )
    return detections, objects, distinct(np.concatenate([detections.keys, objects.keys])).tolist()


def image_results(matched: Matched, images: list[Any], categories: list[Any], params: Any) -> list[Any]:
    """`evalImgs`: a dictionary per category, area range and image, in this order; ``None`` where there is nothing.

    Args:
        matched: The outcome of matching.
        images: What the dictionaries have as `image_id`.
        categories: What they have as `category_id`.
        params: Their `aRng` are its area ranges, their `maxDet` is its last cap.
    """
    of_detections, of_objects, keys = _ranges(matched)
    found: list[Any] = [None] * (len(categories) * len(params.areaRng) * len(images))
    rows = matched.detection_rows["row"].tolist()
    ids = _listed(matched.detections.listed_ids, matched.detections.ids, rows)
    scores = _listed(matched.detections.listed_scores, matched.detections.scores, rows)
    max_det = params.maxDets[-1]
    for place, area_range in enumerate(params.areaRng):
        matches, taken, ignored, ignored_objects, order = _outcomes(matched, place)
        objects = matched.objects
        object_ids = _listed(objects.listed_ids, objects.ids, matched.object_rows["row"][order].tolist())
        for key in keys:
            category, image = divmod(key, len(images))
            (start, end), (first, last) = of_detections.of(key), of_objects.of(key)
            found[(category * len(params.areaRng) + place) * len(images) + image] = {
                "image_id": images[image],
                "category_id": categories[category],
                "aRng": area_range,
                "maxDet": max_det,
                "dtIds": ids[start:end],
                "gtIds": object_ids[first:last],
                "dtMatches": matches[:, start:end].copy(),
                "gtMatches": taken[:, first:last].copy(),
                "dtScores": scores[start:end],
                # As of np.array of no flags.
                "gtIgnore": ignored_objects[first:last].copy() if last > first else np.zeros(0),
                "dtIgnore": ignored[:, start:end].copy(),
            }
    return found


def _listed(listed: Sequence[Any] | None, values: NDArray[Any], rows: list[int]) -> list[Any]:
    """The values of rows, as the records have them."""
    return values[rows].tolist() if listed is None else [listed[row] for row in rows]


def _outcomes(matched: Matched, place: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], Ids, Ids]:
    """The outcomes within one area range.

    Returns:
        (T, N) ids of the objects that the detections match, (T, G) ids of the detections that match the objects, (T, N)
        whether detections are ignored, (G,) whether objects are, and (G,) the rows of the objects. Objects are in the
        order of these rows: of each group, those that are ignored come last.
    """
    detections, objects, pairs = matched.detection_rows, matched.object_rows, matched.pair_rows
    order, size = matched.order, len(matched.order)
    outside = (objects["ignored"][:, place // 8] >> (place % 8) & 1).astype(np.int64)
    key = objects["image"].astype(np.int64) * matched.group_count + objects["category"]
    ranked = np.lexsort((outside, key))
    ids = matched.objects.ids[objects["row"]], matched.detections.ids[detections["row"]]
    matches, taken = np.zeros((size, len(ids[1]))), np.zeros((size, len(ids[0])))
    reached = bits_of(pairs["matched"][:, place], order)
    pair, threshold = np.nonzero(reached)
    # Several detections may match a crowd: as in pycocotools, the last one stays.
    matches[threshold, pairs["detection"][pair]] = ids[0][pairs["object"][pair]]
    taken[threshold, pairs["object"][pair]] = ids[1][pairs["detection"][pair]]
    ignored = bits_of(detections["ignored"][:, place], order).T
    return matches, taken[:, ranked], np.ascontiguousarray(ignored), outside[ranked], ranked


def bits_of(sets: NDArray[np.uint8], order: Ids) -> NDArray[np.bool_]:
    """(N, T) whether sets (N, B) hold each threshold."""
    bits = np.unpackbits(sets, axis=1, bitorder="little")
    return bits[:, order].astype(np.bool_)


def image_overlaps(matched: Matched, images: list[Any], categories: list[Any]) -> dict[Any, Any]:
    """`ious`: the overlaps of each image and category."""
    of_detections, of_objects, keys = _ranges(matched)
    found: dict[Any, Any] = {(image, category): [] for image in images for category in categories}
    rows, places = matched.detection_rows["row"], matched.object_rows["row"]
    for key in keys:
        category, image = divmod(key, len(images))
        (start, end), (first, last) = of_detections.of(key), of_objects.of(key)
        found[images[image], categories[category]] = overlaps_of(matched, rows[start:end], places[first:last])
    return found
