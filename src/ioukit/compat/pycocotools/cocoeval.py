"""`pycocotools.cocoeval` with the same names, results and printed lines: change the import, nothing else.

    from ioukit.compat.pycocotools.cocoeval import COCOeval

`evaluate` matches all images at once. `evalImgs`, `ious`, `_gts` and `_dts` are made when someone asks for them, in the
order and with the types of pycocotools; `accumulate` reads `evalImgs` if someone has asked for it or has set it. Data
and parameters that the engine does not evaluate to pycocotools' last bit (boxes with negative sides, scores that are
NaN) are evaluated image by image as in pycocotools, and so are those of a subclass that changes a step.
`docs/pycocotools.md` lists the differences from pycocotools 2.0.11.
"""

from __future__ import annotations

import copy
import datetime
import time
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from ioukit.compat._on_demand import OnDemand
from ioukit.compat._originals import functions_are_original, keep, methods_are_original
from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._curves import curves_of_entries, curves_of_match
from ioukit.compat.pycocotools._dictionaries import mark_ignored, mark_outside
from ioukit.compat.pycocotools._evaluating import Chosen, Evaluated, evaluate_at_once
from ioukit.compat.pycocotools._files import AnnotationFile, columns_of
from ioukit.compat.pycocotools._one_image import by_group, by_score, match_group, record_overlaps, record_similarities
from ioukit.compat.pycocotools._sides import IrregularError, distinct
from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS
from ioukit.evaluation.protocols.coco import COCO, COCO_KEYPOINTS

__all__ = ["COCOeval", "Params", "box_numbers", "keypoint_numbers", "mean_of"]


maskUtils = mask_utils  # noqa: N816 - programs import it from here

_STEPS = ("_prepare", "computeIoU", "computeOks", "evaluateImg")


class COCOeval(OnDemand):
    """An evaluation of detections.

    Set ``params``, then call `evaluate`, `accumulate` and `summarize`. ``evalImgs`` has a dictionary for each category,
    area range and image, in this order, or ``None``; ``ious`` the overlaps of each image and category; ``eval`` the
    arrays ``precision``, ``recall`` and ``scores``; ``stats`` the numbers of the table.

    Args:
        cocoGt: The ground truth.
        cocoDt: The results, from `COCO.loadRes`.
        iouType: ``"segm"``, ``"bbox"`` or ``"keypoints"``.
    """

    evalImgs: Any
    ious: Any
    _gts: Any
    _dts: Any

    _waiting = frozenset({"evalImgs", "ious", "_gts", "_dts"})
    _source: Evaluated | None = None

    def __init__(self, cocoGt: Any = None, cocoDt: Any = None, iouType: str = "segm") -> None:
        if not iouType:
            print("iouType not specified. use default iouType segm")
        self.cocoGt = cocoGt
        self.cocoDt = cocoDt
        self.evalImgs = defaultdict(list)
        self.eval: dict[str, Any] = {}
        self._gts = defaultdict(list)
        self._dts = defaultdict(list)
        self.params = Params(iouType=iouType)
        self._paramsEval: Any = {}
        self.stats: Any = []
        self.ious = {}
        if cocoGt is not None:
            self.params.imgIds, self.params.catIds = _sorted_ids(cocoGt)

    def _prepare(self) -> None:
        """Choose the records that take part into ``_gts`` and ``_dts``, and write ``ignore`` and masks into them."""
        self._group(Chosen(self.cocoGt, self.cocoDt, self.params))

    def _group(self, chosen: Chosen) -> None:
        chosen.load([0, 1])
        mark_ignored(chosen.records_of(0), self.params.iouType)
        self._gts, self._dts = (by_group(chosen.records_of(side)) for side in (0, 1))
        self.evalImgs = defaultdict(list)
        self.eval = {}

    def evaluate(self) -> None:
        """Match the detections of every image; ``params`` are sorted in place, as in pycocotools."""
        start = time.time()
        print("Running per image evaluation...")
        p = self.params
        if p.useSegm is not None:
            p.iouType = "segm" if p.useSegm == 1 else "bbox"
            print(f"useSegm (deprecated) is not None. Running {p.iouType} evaluation")
        print(f"Evaluate annotation type *{p.iouType}*")
        p.imgIds = list(distinct(p.imgIds))
        if p.useCats:
            p.catIds = list(distinct(p.catIds))
        p.maxDets = sorted(p.maxDets)
        self.params = p
        if self._is_original():
            self._evaluate_at_once()
        else:
            self._prepare()
            self._evaluate_one_by_one()
        print(f"DONE (t={time.time() - start:0.2f}s).")

    def _is_original(self) -> bool:
        """Whether no program has replaced a step, or the function that measures overlaps."""
        return methods_are_original(self, "COCOeval", _STEPS, self._waiting) and functions_are_original(
            maskUtils, mask_utils.ORIGINAL, ("iou",)
        )

    def _evaluate_at_once(self) -> None:
        """Match by the engine; one by one if the data need every step."""
        chosen = Chosen(self.cocoGt, self.cocoDt, self.params)
        try:
            evaluated = evaluate_at_once(chosen, self.params)
        except IrregularError:
            evaluated = None
        if evaluated is None:
            self._group(chosen)
            self._evaluate_one_by_one()
            return
        self.eval = {}
        self._leave_to(evaluated)
        self._paramsEval = evaluated.shown

    def _evaluate_one_by_one(self) -> None:
        """Call every step as pycocotools does, because a program may have replaced it."""
        p = self.params
        categories = p.catIds if p.useCats else [-1]
        overlaps = self.computeOks if p.iouType == "keypoints" else self.computeIoU
        self.ious = {(image, category): overlaps(image, category) for image in p.imgIds for category in categories}
        evaluate_image, cap = self.evaluateImg, p.maxDets[-1]
        self.evalImgs = [
            evaluate_image(image, category, area_range, cap)
            for category in categories
            for area_range in p.areaRng
            for image in p.imgIds
        ]
        self._paramsEval = copy.deepcopy(self.params)

    def _records_of(self, imgId: Any, catId: Any) -> tuple[list[Any], list[Any]]:
        """The objects and the detections of a group."""
        keys = [(imgId, category) for category in ([catId] if self.params.useCats else self.params.catIds)]
        return [one for key in keys for one in self._gts[key]], [one for key in keys for one in self._dts[key]]

    def computeIoU(self, imgId: Any, catId: Any) -> Any:
        """(D, G) overlaps of an image and a category, the best detections first; ``[]`` if a side is empty."""
        p = self.params
        objects, detections = self._records_of(imgId, catId)
        if not objects and not detections:
            return []
        detections = [detections[row] for row in by_score(detections)[: p.maxDets[-1]]]
        if p.iouType not in ("segm", "bbox"):
            raise Exception("unknown iouType for iou computation")
        return record_overlaps(detections, objects, "segmentation" if p.iouType == "segm" else "bbox", maskUtils.iou)

    def computeOks(self, imgId: Any, catId: Any) -> Any:
        """(D, G) object keypoint similarities of an image and a category; ``[]`` if a side is empty."""
        p = self.params
        objects, detections = self._gts[imgId, catId], self._dts[imgId, catId]
        detections = [detections[row] for row in by_score(detections)[: p.maxDets[-1]]]
        if not objects or not detections:
            return []
        return record_similarities(detections, objects, p.kpt_oks_sigmas)

    def evaluateImg(self, imgId: Any, catId: Any, aRng: Any, maxDet: int) -> dict[str, Any] | None:
        """The matches of an image and a category within an area range; ``None`` if there is nothing."""
        objects, detections = self._records_of(imgId, catId)
        if not objects and not detections:
            return None
        mark_outside(objects, aRng)  # before a detection can end it
        best = [detections[row] for row in by_score(detections)[0:maxDet]]
        found = match_group(objects, best, self.ious[imgId, catId], aRng, self.params.iouThrs)
        return {"image_id": imgId, "category_id": catId, "aRng": aRng, "maxDet": maxDet, **found}

    def accumulate(self, p: Any = None) -> None:
        """Compute ``eval`` from the matches.

        Args:
            p: Parameters in the place of ``params``. Categories, area ranges and images should be those of `evaluate`;
                a warning tells if the results are not those that `p` asks for.
        """
        print("Accumulating evaluation results...")
        start = time.time()
        evaluated = self._source
        at_once = evaluated is not None and "evalImgs" not in vars(self) and self._paramsEval is evaluated.shown
        if not (at_once and evaluated is not None and evaluated.count) and not len(self.evalImgs):
            print("Please run evaluate() first")
        p = self.params if p is None else p
        p.catIds = p.catIds if p.useCats == 1 else [-1]
        if at_once and evaluated is not None and evaluated.has_rules_of(p):
            arrays = curves_of_match(evaluated.matched, p)
        else:
            arrays = curves_of_entries(self.evalImgs, p, self._paramsEval)
        self.eval = {
            "params": p,
            "counts": arrays.counts,
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": arrays.precision,
            "recall": arrays.recall,
            "scores": arrays.scores,
        }
        print(f"DONE (t={time.time() - start:0.2f}s).")

    def summarize(self) -> None:
        """Print the table, and set ``stats``: 12 numbers, or 10 for keypoints."""
        if not self.eval:
            raise Exception("Please run accumulate() first")
        kind = self.params.iouType
        numbers = keypoint_numbers() if kind == "keypoints" else box_numbers(self.params.maxDets)
        stats = np.zeros((10 if kind == "keypoints" else 12,))
        for place, number in enumerate(numbers):
            line, stats[place] = mean_of(self.eval, self.params, number)
            print(line)
        self.stats = stats

    def __str__(self) -> str:
        """Print the table; the string is empty."""
        self.summarize()
        return ""


def _sorted_ids(coco: Any) -> tuple[list[Any], list[Any]]:
    """The ids of images and of categories."""
    columns = columns_of(coco)
    if isinstance(columns, AnnotationFile):
        return list(columns.image_ids), list(columns.category_ids)
    return sorted(coco.getImgIds()), sorted(coco.getCatIds())


class Params:
    """What is evaluated, and how; every attribute may be changed before `COCOeval.evaluate`.

    ``imgIds`` and ``catIds`` are the images and the categories; ``iouThrs`` (T,) and ``recThrs`` (R,) thresholds of
    overlap and of recall; ``maxDets`` (M,) caps on the detections of an image and a category; ``areaRng`` (A, 2) and
    ``areaRngLbl`` (A,) area ranges and their names; ``useCats`` is 0 if all categories count as one; ``kpt_oks_sigmas``
    the spread of each keypoint; ``useSegm`` an old way to choose ``iouType``.
    """

    def __init__(self, iouType: str = "segm") -> None:
        if iouType in ("segm", "bbox"):
            self.setDetParams()
        elif iouType == "keypoints":
            self.setKpParams()
        else:
            raise Exception("iouType not supported")
        self.iouType = iouType
        self.useSegm: Any = None

    def setDetParams(self) -> None:
        """Set the parameters of boxes and masks."""
        self._set(COCO)

    def setKpParams(self) -> None:
        """Set the parameters of keypoints."""
        self._set(COCO_KEYPOINTS)
        self.kpt_oks_sigmas: Any = np.array(COCO_SIGMAS)

    def _set(self, protocol: Any) -> None:
        self.imgIds: Any = []
        self.catIds: Any = []
        self.iouThrs: Any = np.array(protocol.iou_thresholds)
        self.recThrs: Any = np.array(protocol.recall_thresholds)
        self.maxDets: Any = list(protocol.max_dets)
        whole = [[area.low, area.high] for area in protocol.area_ranges]
        self.areaRng: Any = [[int(low), high if high == 1e5**2 else int(high)] for low, high in whole]
        self.areaRngLbl: Any = list(protocol.area_labels)
        self.useCats: Any = 1


_SIZES = ("small", "medium", "large")


def box_numbers(caps: Any) -> Iterator[tuple[bool, float | None, str, int]]:
    """The twelve numbers of boxes and masks: whether it is a precision, its threshold, its area range, its cap.

    Raises:
        IndexError: After the first number, if there are fewer than three caps.
    """
    yield True, None, "all", 100
    yield True, 0.5, "all", caps[2]
    yield True, 0.75, "all", caps[2]
    yield from ((True, None, size, caps[2]) for size in _SIZES)
    yield from ((False, None, "all", caps[place]) for place in range(3))
    yield from ((False, None, size, caps[2]) for size in _SIZES)


def keypoint_numbers() -> Iterator[tuple[bool, float | None, str, int]]:
    """The ten numbers of keypoints."""
    kinds = ((None, "all"), (0.5, "all"), (0.75, "all"), (None, "medium"), (None, "large"))
    yield from ((precise, threshold, area, 20) for precise in (True, False) for threshold, area in kinds)


def mean_of(found: dict[str, Any], params: Any, number: tuple[bool, float | None, str, int]) -> tuple[str, Any]:
    """The line of a number, and the number: a mean over all that is defined, -1 if nothing is."""
    precise, threshold, area, cap = number
    title, kind = ("Average Precision", "AP") if precise else ("Average Recall", "AR")
    thresholds = params.iouThrs
    span = f"{thresholds[0]:0.2f}:{thresholds[-1]:0.2f}" if threshold is None else f"{threshold:0.2f}"
    ranges = [place for place, label in enumerate(params.areaRngLbl) if label == area]
    caps = [place for place, one in enumerate(params.maxDets) if one == cap]
    values = found["precision" if precise else "recall"]
    if threshold is not None:
        values = values[np.where(threshold == thresholds)[0]]
    values = values[..., ranges, caps]
    defined = values[values > -1]
    mean = np.mean(defined) if len(defined) else -1
    return f" {title:<18} ({kind}) @[ IoU={span:<9} | area={area:>6s} | maxDets={cap:>3d} ] = {mean:0.3f}", mean


keep(COCOeval, Params)
