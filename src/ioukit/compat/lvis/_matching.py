"""Matching of all images at once, by the rules of LVIS."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit._array_types import Floats
from ioukit.compat.pycocotools._curves import curves_of_entries, curves_of_match
from ioukit.compat.pycocotools._dictionaries import mark_outside
from ioukit.compat.pycocotools._evaluating import bits_of, image_overlaps, image_results
from ioukit.compat.pycocotools._matching import Matched, Rules, match
from ioukit.compat.pycocotools._sides import Groups, detections_of_records, objects_of_records

__all__ = ["LvisMatched", "arrays_of_entries", "as_lvis", "as_pycocotools", "match_at_once", "pointers_of_entries"]


Record = dict[str, Any]

_NO_CAP = 2**31 - 1


def match_at_once(records: dict[str, Any], params: Any, unlisted: Mapping[Any, Any]) -> LvisMatched:
    """Matches the detections that take part to the objects.

    Args:
        records: `_gts`, the objects, and `_dts`, the detections of categories that annotators looked for.
        params: The parameters of lvis.
        unlisted: The ids of categories that some objects of each image are not annotated for.

    Raises:
        IrregularError: If data or parameters need the plain way of lvis.
    """
    gts, dts = ([one for group in records[name].values() for one in group] for name in ("_gts", "_dts"))
    named = _named(params)
    rules = Rules.of(named)
    groups = Groups.of(params.img_ids, params.cat_ids, by_category=bool(params.use_cats))
    ignored = [{**gt, "iscrowd": 1 if gt["ignore"] else 0} for gt in gts]  # lvis does not read `iscrowd`
    objects = objects_of_records(ignored, groups, params.iou_type)
    objects = replace(objects, crowd=np.zeros(len(objects), np.bool_))
    detections = detections_of_records(dts, groups, params.iou_type)
    matched = match(objects, detections, groups, rules)
    _ignore_unlisted(matched, [dt["id"] for dt in dts if dt["category_id"] in unlisted[dt["image_id"]]])
    mark_outside(gts, params.area_rng[-1])
    return LvisMatched(matched, named, list(params.area_rng), records)


def _ignore_unlisted(matched: Matched, ids: list[int]) -> None:
    """Ignores the detections with these ids where they have no match."""
    rows = matched.detection_rows
    chosen = np.isin(matched.detections.ids[rows["row"]], np.array(ids, np.int64))
    sets = rows["matched"][chosen]
    every = np.packbits(np.arange(sets.shape[-1] * 8) <= matched.order.max(), bitorder="little")
    rows["ignored"][chosen] |= ~sets & every


def _named(params: Any) -> SimpleNamespace:
    """The parameters, copied, with the names of pycocotools."""
    return SimpleNamespace(
        iouType=params.iou_type,
        iouThrs=np.array(params.iou_thrs),
        recThrs=params.rec_thrs,
        maxDets=[_NO_CAP],
        areaRng=[tuple(ends) for ends in params.area_rng],
        imgIds=list(params.img_ids),
        catIds=list(params.cat_ids),
        useCats=params.use_cats,
    )


@dataclass
class LvisMatched:
    """What `evaluate` found."""

    matched: Matched
    params: SimpleNamespace
    """The parameters that it followed."""
    area_ranges: list[Any]
    """Those of the parameters themselves, as `eval_imgs` lists them."""
    records: dict[str, Any]
    """`_gts` and `_dts`: the records of each image and category."""

    @property
    def categories(self) -> list[Any]:
        """The categories that have results of their own."""
        return self.params.catIds if self.params.useCats else [-1]

    def has_rules_of(self, params: Any) -> bool:
        """Whether parameters choose what was matched. Recalls may differ."""
        ours, theirs = self.params, _named(params)
        names = ("iouThrs", "areaRng", "imgIds", "catIds")
        return bool(ours.useCats) == bool(theirs.useCats) and all(
            np.array_equal(np.array(getattr(ours, name)), np.array(getattr(theirs, name))) for name in names
        )

    def made(self, name: str) -> dict[str, Any]:
        """The attribute of `LVISEval` with a name."""
        if name in self.records:
            for key in itertools.product(self.params.imgIds, self.params.catIds):
                _ = self.records[name][key]  # as lvis looks them up
            return {name: self.records[name]}
        if name == "ious":
            return {name: image_overlaps(self.matched, self.params.imgIds, self.categories)}
        shown = SimpleNamespace(areaRng=self.area_ranges, maxDets=self.params.maxDets)
        entries = image_results(self.matched, self.params.imgIds, self.categories, shown)
        return {name: [None if entry is None else as_lvis(entry) for entry in entries]}

    def arrays(self, recalls: Any) -> tuple[Floats, Floats]:
        """(T, R, K, A) precision and (T, K, A) recall; -1 where there is nothing to find."""
        named = SimpleNamespace(iouThrs=self.params.iouThrs, recThrs=recalls, maxDets=self.params.maxDets)
        arrays = curves_of_match(self.matched, named)
        return np.ascontiguousarray(arrays.precision[..., 0]), np.ascontiguousarray(arrays.recall[..., 0])

    def pointers(self) -> dict[int, dict[int, Record]]:
        """`dt_pointers`: for each category and area range, the outcomes of its detections, best first."""
        rows, objects, count = self.matched.detection_rows, self.matched.object_rows, self.matched.group_count
        order = np.lexsort((rows["image"], -rows["score"], rows["category"]))
        ends = np.cumsum(np.bincount(rows["category"], minlength=count))
        starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
        ids = self.matched.detections.ids[rows["row"][order]]
        # As of np.concatenate, where an image has objects and no detections.
        keys = [each["category"].astype(np.int64) * len(self.params.imgIds) + each["image"] for each in (objects, rows)]
        floats = set((np.setdiff1d(*keys) // len(self.params.imgIds)).tolist())
        ranges = range(len(self.area_ranges))
        found: dict[int, dict[int, Record]] = {category: {place: {} for place in ranges} for category in range(count)}
        for place in ranges:
            matches, ignored = (
                bits_of(rows[name][order][:, place], self.matched.order) for name in ("matched", "ignored")
            )
            counted = objects["category"][(objects["ignored"][:, place // 8] >> (place % 8) & 1) == 0]
            has_objects = np.bincount(counted, minlength=count) > 0
            hits, others = (matches & ~ignored).T, (~matches & ~ignored).T
            for category, start, end in zip(range(count), starts.tolist(), ends.tolist(), strict=True):
                if has_objects[category]:
                    found[category][place] = {
                        "dt_ids": ids[start:end].astype(np.float64 if category in floats else np.int64),
                        "tps": np.asfortranarray(hits[:, start:end]),
                        "fps": np.asfortranarray(others[:, start:end]),
                    }
        return found


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
    """An entry of lvis with the keys of pycocotools.

    Raises:
        TypeError: If it is no dictionary, as before the first `evaluate`.
    """
    if isinstance(entry, list):
        raise TypeError("eval_imgs must have a dictionary per image, found a list: call evaluate() first")
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
