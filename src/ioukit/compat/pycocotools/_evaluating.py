"""An evaluation of all images at once, and what pycocotools keeps of every image: `evalImgs`, `ious`, `_gts`, `_dts`.

The latter are made of the table of the engine when a program asks for them, in the order and with the types of
pycocotools.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit._array_types import Ids
from ioukit.compat.pycocotools._dictionaries import Marks, mark_ignored, mark_outside, masks_of_records
from ioukit.compat.pycocotools._files import AnnotationFile, ResultFile, columns_of
from ioukit.compat.pycocotools._matching import Matched, Rules, match, overlaps_of
from ioukit.compat.pycocotools._one_image import by_group
from ioukit.compat.pycocotools._records import Records, ResultArray
from ioukit.compat.pycocotools._sides import (
    Groups,
    IrregularError,
    Side,
    detections_of_array,
    detections_of_file,
    detections_of_records,
    distinct,
    objects_of_file,
    objects_of_records,
)
from ioukit.errors import DatasetError

__all__ = ["Chosen", "Evaluated", "bits_of", "evaluate_at_once", "image_overlaps", "image_results"]


Record = dict[str, Any]


@dataclass
class Evaluated:
    """What `evaluate` found."""

    matched: Matched
    params: Any
    """A copy of the parameters."""
    shown: Any
    """Another one, which becomes `_paramsEval`."""
    area_ranges: Any
    """Those of the parameters themselves, as `evalImgs` lists them."""
    chosen: Chosen
    """The records that take part."""

    @property
    def categories(self) -> list[Any]:
        """The categories that have results of their own."""
        return list(self.params.catIds) if self.matched.groups.by_category else [-1]

    @property
    def count(self) -> int:
        """The length of `evalImgs`."""
        return len(self.categories) * len(self.params.areaRng) * len(self.params.imgIds)

    def has_rules_of(self, params: Any) -> bool:
        """Whether parameters choose what was matched. Recalls may differ."""
        ours, theirs = self.params, params
        try:
            same = bool(ours.useCats) == bool(theirs.useCats) and ours.iouType == theirs.iouType
            same = same and (not ours.useCats or theirs.useCats == 1)
            for name in ("iouThrs", "maxDets", "areaRng", "imgIds", *(("catIds",) if ours.useCats else ())):
                same = same and np.array_equal(np.array(getattr(ours, name)), np.array(getattr(theirs, name)))
            wanted = np.asarray(theirs.recThrs, np.float64)
        except (ValueError, TypeError, AttributeError):
            return False
        return bool(same and wanted.ndim == 1)

    def made(self, name: str) -> dict[str, Any]:
        """The attribute of `COCOeval` with a name."""
        images = list(self.params.imgIds)
        if name == "evalImgs":
            shown = copy.copy(self.params)
            shown.areaRng = self.area_ranges
            return {name: image_results(self.matched, images, self.categories, shown)}
        if name == "ious":
            return {name: image_overlaps(self.matched, images, self.categories)}
        groups = self._records(int(name == "_dts"))
        for image in images:  # as pycocotools looks them up
            for category in self.params.catIds:
                _ = groups[image, category]
        return {name: groups}

    def _records(self, place: int) -> dict[Any, list[Record]]:
        """The records of each image and category as they were evaluated: a program may have changed them since."""
        groups: dict[Any, list[Record]]
        side = (self.matched.objects, self.matched.detections)[place]
        if self.chosen.has(place):
            records = self.chosen.records_of(place)
        else:
            made = self.chosen.files[place].dictionaries()
            if self.matched.groups.by_category:
                records = [made["anns"][one] for one in side.ids.tolist()]
            else:  # of all categories, those that are not evaluated, too
                index, groups = made["imgToAnns"], defaultdict(list)
                for image in self.params.imgIds:
                    for one in index.get(image, ()):
                        groups[image, one["category_id"]].append(one)
                return groups
        if not self.matched.groups.by_category or len(records) != len(side):
            return by_group(records)
        images, categories = (ids.tolist() for ids in self.matched.groups[:2])
        groups = defaultdict(list)
        order = np.argsort(side.image, kind="stable")  # as pycocotools lists them
        for row, image, category in zip(order, side.image[order], side.category[order], strict=True):
            groups[images[image], categories[category]].append(records[row])
        return groups


class Chosen:
    """The records that take part, of the ground truth and of the results.

    They are asked for once, in the order of pycocotools, because a program may see the calls. The records of a file
    whose columns are enough are not asked for.
    """

    def __init__(self, truth: Any, results: Any, params: Any) -> None:
        self.sources = truth, results
        # Kept here, because a source leaves its file when it is pickled.
        self.files: list[Any] = [getattr(source, "_source", None) for source in self.sources]
        self._filters = {"imgIds": list(params.imgIds), **({"catIds": list(params.catIds)} if params.useCats else {})}
        self._masks = params.iouType == "segm"
        self._records: list[list[Record] | None] = [None, None]

    def load(self, sides: Sequence[int]) -> None:
        """Ask for the records of sides: 0 is the ground truth."""
        wanted = [side for side in sides if self._records[side] is None]
        for side in wanted:
            source = self.sources[side]
            self._records[side] = source.loadAnns(source.getAnnIds(**self._filters))
        for side in wanted if self._masks else ():
            masks_of_records(self.records_of(side), self.sources[side])

    def has(self, side: int) -> bool:
        """Whether the records of a side were asked for."""
        return self._records[side] is not None

    def records_of(self, side: int) -> list[Record]:
        """The records of a side, which were asked for."""
        found = self._records[side]
        assert found is not None
        return found


def evaluate_at_once(chosen: Chosen, params: Any) -> Evaluated:
    """Evaluates, and writes into the records what pycocotools writes into them.

    Raises:
        IrregularError: If data or parameters need the plain way of pycocotools. Only masks may be written then.
    """
    try:
        rules = Rules.of(params)
    except AttributeError as error:  # a program has taken one away: the plain way ends where pycocotools does
        raise IrregularError("parameters") from error
    if rules.iou_type == "keypoints" and not params.useCats:
        raise IrregularError("categories")
    groups = Groups.of(params.imgIds, params.catIds, by_category=bool(params.useCats))
    sides = [_of_columns(place, source, groups, rules.iou_type) for place, source in enumerate(chosen.sources)]
    missing = [place for place, side in enumerate(sides) if side is None]
    chosen.load(missing)
    if (
        missing == [1] and columns_of(chosen.sources[0]) is None
    ):  # dictionaries of results need those of the ground truth
        missing = [0, 1]  # so its rows follow its records, too
        chosen.load(missing)
    try:
        for place in missing:
            sides[place] = _OF_RECORDS[place](chosen.records_of(place), groups, rules.iou_type)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
        raise IrregularError("records") from error
    matched = match(sides[0], sides[1], groups, rules)  # type: ignore[arg-type]  # none is missing
    evaluated = Evaluated(matched, _copied(params), _copied(params), list(params.areaRng), chosen)
    seen = list(params.catIds)
    categories = seen if params.useCats else None
    marks = Marks(rules.iou_type, list(params.imgIds), categories, seen, tuple(params.areaRng[-1]))
    for place, file in enumerate(chosen.files):
        if not chosen.has(place):
            file.mark(marks)
    objects = matched.objects
    if chosen.has(0):
        _mark_objects(chosen.records_of(0), _of_rows(chosen.records_of(0), objects), objects, marks)
    elif isinstance(chosen.files[0], Records):
        compared = _of_rows(chosen.files[0].records, objects)
        _mark_objects(compared, compared, objects, marks)
    return evaluated


def _of_rows(records: list[Record], side: Side) -> list[Record]:
    """The records of a side."""
    assert side.rows is not None
    every = len(side) == len(records) and bool((np.diff(side.rows) == 1).all())
    return records if every else [records[row] for row in side.rows.tolist()]


def _mark_objects(chosen: list[Record], compared: list[Record], objects: Side, marks: Marks) -> None:
    """Writes `ignore` into the records that were chosen, and `_ignore` into those that were compared."""
    if marks.iou_type == "keypoints" or objects.listed_ids is not None:  # values that are no whole numbers of Python
        mark_ignored(chosen, marks.iou_type)
        mark_outside(compared, marks.area_range)
        return
    if len(chosen) > len(compared):
        mark_ignored(chosen, marks.iou_type)
    low, high = marks.area_range
    ignored = objects.crowd | (objects.areas < low) | (objects.areas > high)
    for record, crowd, either in zip(
        compared, objects.crowd.astype(np.int64).tolist(), ignored.astype(np.int64).tolist(), strict=True
    ):
        record["ignore"], record["_ignore"] = crowd, either


_OF_FILE: Any = (AnnotationFile, objects_of_file), (ResultFile, detections_of_file)
_OF_RECORDS = objects_of_records, detections_of_records


def _of_columns(place: int, coco: Any, groups: Groups, iou_type: str) -> Side | None:
    """The columns of a side; ``None`` if its records tell."""
    file, (kind, of_file) = columns_of(coco), _OF_FILE[place]
    try:
        if isinstance(file, Records) and iou_type != "segm" and (place == 1 or groups.by_category):
            return _OF_RECORDS[place](file.records, groups, iou_type, file)
        if isinstance(file, ResultArray) and place == 1 and iou_type == "bbox":
            return detections_of_array(file, groups)
        return of_file(file, groups, iou_type) if isinstance(file, kind) else None
    except (IrregularError, DatasetError):
        return None


def _copied(params: Any) -> Any:
    """A deep copy. The ids are integers, so copies of their lists are enough."""
    known = {id(ids): list(ids) for ids in (params.imgIds, params.catIds) if isinstance(ids, list)}
    return copy.deepcopy(params, dict(known))


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
                "maxDet": params.maxDets[-1],
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


def _listed(listed: Sequence[Any] | NDArray[Any] | None, values: NDArray[Any], rows: list[int]) -> list[Any]:
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
    return np.unpackbits(sets, axis=1, bitorder="little")[:, order].astype(np.bool_)


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
