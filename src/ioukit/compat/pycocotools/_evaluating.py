"""An evaluation of all images at once, and what is made of it later."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ioukit.compat.pycocotools._files import AnnotationFile, ResultFile, ResultRecords
from ioukit.compat.pycocotools._image_results import image_overlaps, image_results
from ioukit.compat.pycocotools._marks import Marks, mark_ignored, mark_outside, masks_of_records
from ioukit.compat.pycocotools._matching import Matched, Rules, match
from ioukit.compat.pycocotools._sides import (
    Groups,
    IrregularError,
    Side,
    detections_of_file,
    detections_of_records,
    objects_of_file,
    objects_of_records,
)
from ioukit.errors import DatasetError

__all__ = ["Evaluated", "evaluate_at_once"]

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
    sources: tuple[Any, Any]
    """The ground truth and the results."""
    records: tuple[list[Record] | None, list[Record] | None]
    """Their records that take part; ``None`` of a file."""

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

    def made(self, name: str) -> Any:
        """The attribute of `COCOeval` with a name."""
        images = list(self.params.imgIds)
        if name == "evalImgs":
            shown = copy.copy(self.params)
            shown.areaRng = self.area_ranges
            return image_results(self.matched, images, self.categories, shown)
        if name == "ious":
            return image_overlaps(self.matched, images, self.categories)
        side = int(name == "_dts")
        records = self.records[side]
        if records is None:
            records = chosen_records(self.sources[side], self.params)
        groups: Any = defaultdict(list)
        for record in records:
            groups[record["image_id"], record["category_id"]].append(record)
        for image in images:  # as pycocotools looks them up
            for category in self.params.catIds:
                _ = groups[image, category]
        return groups


def chosen_records(coco: Any, params: Any) -> list[Record]:
    """The records of the images, and of the categories if they count."""
    filters = {"imgIds": params.imgIds, "catIds": params.catIds} if params.useCats else {"imgIds": params.imgIds}
    records: list[Record] = coco.loadAnns(coco.getAnnIds(**filters))
    return records


def evaluate_at_once(truth: Any, results: Any, params: Any) -> Evaluated:
    """Evaluates, and writes into the records what pycocotools writes into them.

    Raises:
        IrregularError: If data or parameters need the plain way of pycocotools. Only masks may be written then.
    """
    rules, groups = Rules.of(params), _groups(params)
    iou_type = rules.iou_type
    gt_records, objects = _side(truth, params, groups, iou_type, AnnotationFile, objects_of_file, objects_of_records)
    dt_records, detections = _side(
        results, params, groups, iou_type, ResultFile, detections_of_file, detections_of_records
    )
    if gt_records is None and truth._columns() is None:  # the records of the results needed those of the ground truth
        gt_records = chosen_records(truth, params)
        if iou_type == "segm":
            masks_of_records(gt_records, truth)
    matched = match(objects, detections, groups, rules)
    evaluated = Evaluated(
        matched, _copied(params), _copied(params), list(params.areaRng), (truth, results), (gt_records, dt_records)
    )
    seen = list(params.catIds)
    marks = Marks(
        iou_type,
        list(params.imgIds),
        list(params.catIds) if params.useCats else None,
        seen,
        tuple(params.areaRng[-1]),
    )
    for source, records in ((truth, gt_records), (results, dt_records)):
        if records is None:
            source._file.mark(marks)
    if gt_records is not None:
        mark_ignored(gt_records, iou_type)
        known, wanted = set(params.imgIds), set(seen)
        mark_outside(
            (one for one in gt_records if one["image_id"] in known and one["category_id"] in wanted), marks.area_range
        )
    return evaluated


def _copied(params: Any) -> Any:
    """A deep copy. The ids are integers, so copies of their lists are enough."""
    known = {id(ids): list(ids) for ids in (params.imgIds, params.catIds) if isinstance(ids, list)}
    return copy.deepcopy(params, dict(known))


def _groups(params: Any) -> Groups:
    images, categories = np.array(params.imgIds), np.array(params.catIds)
    for ids in (images, categories):
        if ids.ndim != 1 or not len(ids) or ids.dtype.kind != "i":
            raise IrregularError("ids")
    if len(set(categories.tolist())) < len(categories) or (params.iouType == "keypoints" and not params.useCats):
        raise IrregularError("categories")
    return Groups(images.astype(np.int64), categories.astype(np.int64), bool(params.useCats))


def _side(
    coco: Any,
    params: Any,
    groups: Groups,
    iou_type: str,
    kind: type,
    of_file: Callable[[Any, Groups, str], Side],
    of_records: Callable[[Any, Groups, str], Side],
) -> tuple[list[Record] | None, Side]:
    """The records of a side, ``None`` of a file, and its columns."""
    file = getattr(coco, "_columns", lambda: None)()
    if isinstance(file, ResultRecords) and iou_type != "segm":
        return None, of_records(file.records, groups, iou_type)
    if isinstance(file, kind):
        try:
            return None, of_file(file, groups, iou_type)
        except (IrregularError, DatasetError):
            pass  # then the dictionaries tell
    try:
        records = chosen_records(coco, params)
        if iou_type == "segm":
            masks_of_records(records, coco)
        return records, of_records(records, groups, iou_type)
    except (KeyError, TypeError, ValueError, AttributeError, AssertionError) as error:
        raise IrregularError("records") from error
