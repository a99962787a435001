"""The outcomes of single images, `eval_imgs` of lvis and `evalImgs` of pycocotools, and what is computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.compat.pycocotools._curves import curves_of_entries

__all__ = ["arrays_of_entries", "as_lvis", "as_pycocotools", "pointers_of_entries"]

Record = dict[str, Any]

_NAMES = {
    "image_id": "image_id",
    "category_id": "category_id",
    "aRng": "area_rng",
    "dtIds": "dt_ids",
    "gtIds": "gt_ids",
    "dtMatches": "dt_matches",
    "gtMatches": "gt_matches",
    "dtScores": "dt_scores",
    "gtIgnore": "gt_ignore",
    "dtIgnore": "dt_ignore",
}
"""The keys of pycocotools, and those of lvis in their order."""


def as_lvis(entry: Record) -> Record:
    """An entry of pycocotools with the keys of lvis."""
    return {theirs: entry[ours] for ours, theirs in _NAMES.items()}


def as_pycocotools(entry: Record) -> Record:
    """An entry of lvis with the keys of pycocotools."""
    return {ours: entry[theirs] for ours, theirs in _NAMES.items()}


def arrays_of_entries(
    entries: Sequence[Any], params: Any, categories: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(T, R, K, A) precision and (T, K, A) recall; -1 where there is nothing to find.

    Args:
        entries: The entries by category, area range and image, in this order.
        params: The parameters of lvis.
        categories: The number of categories that are evaluated.
    """
    if not entries:
        raise IndexError("eval_imgs is empty: call evaluate() first")
    ids = list(range(len(params.img_ids)))
    named = SimpleNamespace(
        iouThrs=params.iou_thrs,
        recThrs=params.rec_thrs,
        maxDets=[2**31 - 1],
        areaRng=[(place,) for place in range(len(params.area_rng))],  # by position, as in lvis
        catIds=list(range(categories)),
        imgIds=ids,
        useCats=1,
    )
    arrays = curves_of_entries(entries, named, named)
    return np.ascontiguousarray(arrays.precision[..., 0]), np.ascontiguousarray(arrays.recall[..., 0])


def pointers_of_entries(entries: Sequence[Any], params: Any, categories: int) -> dict[int, dict[int, Record]]:
    """`dt_pointers`: for each category and area range, the outcomes of its detections, best first."""
    ranges, images = len(params.area_rng), len(params.img_ids)
    found: dict[int, dict[int, Record]] = {}
    for category in range(categories):
        found[category] = {place: {} for place in range(ranges)}
        for place in range(ranges):
            start = (category * ranges + place) * images
            group = [entry for entry in entries[start : start + images] if entry is not None]
            if not group or not (np.concatenate([entry["gtIgnore"] for entry in group]) == 0).any():
                continue
            scores = np.concatenate([entry["dtScores"] for entry in group])
            order = np.argsort(-scores, kind="mergesort")
            matches, ignored = (
                np.concatenate([entry[key] for entry in group], axis=1)[:, order] for key in ("dtMatches", "dtIgnore")
            )
            found[category][place] = {
                "dt_ids": np.concatenate([entry["dtIds"] for entry in group])[order],
                "tps": np.logical_and(matches, np.logical_not(ignored)),
                "fps": np.logical_and(np.logical_not(matches), np.logical_not(ignored)),
            }
    return found
