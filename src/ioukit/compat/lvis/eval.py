"""`lvis.eval`: the evaluation of LVIS, with the attributes, numbers and printed lines of lvis 0.5.3.

`evaluate` matches all images at once. ``eval_imgs`` and ``ious`` are made when they are asked for, and `accumulate`
reads ``eval_imgs`` if someone has asked for it or has set it. What the engine does not evaluate to the last bit of lvis
(boxes with negative sides, ids of 0, and so on) is evaluated image by image, and so is a subclass that changes a step.
"""

from __future__ import annotations

import datetime
import logging
import os
from collections import OrderedDict, defaultdict
from typing import Any

import numpy as np

from ioukit.compat._on_demand import OnDemand
from ioukit.compat._originals import functions_are_original, keep, methods_are_original
from ioukit.compat.lvis._matching import (
    LvisMatched,
    arrays_of_entries,
    as_lvis,
    as_pycocotools,
    match_at_once,
    pointers_of_entries,
)
from ioukit.compat.lvis.lvis import LVIS
from ioukit.compat.lvis.results import LVISResults
from ioukit.compat.pycocotools import mask
from ioukit.compat.pycocotools._dictionaries import mark_outside
from ioukit.compat.pycocotools._one_image import by_group, by_score, match_group
from ioukit.compat.pycocotools._sides import IrregularError
from ioukit.errors import DatasetError

__all__ = ["LVISEval", "Params"]

Record = dict[str, Any]

mask_utils = mask  # programs replace it here

_STEPS = ("_prepare", "_prepare_freq_group", "_to_mask", "_get_gt_dt", "compute_iou", "evaluate_img")


class Params:
    """The parameters of an evaluation, which programs change before it.

    ``max_dets`` is only printed: `LVISResults` keeps the best detections of an image.
    """

    def __init__(self, iou_type: str) -> None:
        self.img_ids: Any = []
        self.cat_ids: Any = []
        self.iou_thrs: Any = np.linspace(0.5, 0.95, 10)
        self.rec_thrs: Any = np.linspace(0.0, 1.0, 101)
        self.max_dets = 300
        self.area_rng: Any = [[0, 1e10], [0, 32**2], [32**2, 96**2], [96**2, 1e10]]
        self.area_rng_lbl = ["all", "small", "medium", "large"]
        self.use_cats = 1
        self.img_count_lbl = ["r", "c", "f"]
        self.iou_type = iou_type


class LVISEval(OnDemand):
    """An evaluation of detections on images that are annotated for some of the categories.

    Call `run`, then `print_results` or `get_results`. ``eval_imgs`` has a dictionary for each category, area range and
    image, in this order, or ``None``; ``ious`` the overlaps of each image and category; ``eval`` the arrays
    ``precision`` (thresholds, recalls, categories, area ranges) and ``recall``, and ``dt_pointers`` with the outcomes
    of all detections; ``results`` the numbers.

    Args:
        lvis_gt: The ground truth, or the path of its file.
        lvis_dt: The results, the path of their file, or a list of records.
        iou_type: ``"segm"`` or ``"bbox"``.

    Raises:
        ValueError: If the kind of region is unknown.
        TypeError: If the ground truth or the results are of another type.
    """

    eval_imgs: Any
    ious: Any

    _waiting = frozenset({"eval_imgs", "ious", "_gts", "_dts"})
    _source: LvisMatched | None = None

    def __init__(self, lvis_gt: Any, lvis_dt: Any, iou_type: str = "segm") -> None:
        self.logger = logging.getLogger("lvis.eval")
        if iou_type not in ("bbox", "segm"):
            raise ValueError(f"iou_type: {iou_type} is not supported.")
        if not isinstance(lvis_gt, LVIS | str | os.PathLike):
            raise TypeError(f"Unsupported type {lvis_gt} of lvis_gt.")
        self.lvis_gt: LVIS = lvis_gt if isinstance(lvis_gt, LVIS) else LVIS(lvis_gt)
        if not isinstance(lvis_dt, LVISResults | str | os.PathLike | list):
            raise TypeError(f"Unsupported type {lvis_dt} of lvis_dt.")
        self.lvis_dt = lvis_dt if isinstance(lvis_dt, LVISResults) else LVISResults(self.lvis_gt, lvis_dt)
        self.eval_imgs = defaultdict(list)
        self.eval: dict[str, Any] = {}
        self._gts: Any = defaultdict(list)
        self._dts: Any = defaultdict(list)
        self.params = Params(iou_type)
        self.results: OrderedDict[str, Any] = OrderedDict()
        self.ious = {}
        self.params.img_ids = sorted(self.lvis_gt.get_img_ids())
        self.params.cat_ids = sorted(self.lvis_gt.get_cat_ids())

    def _to_mask(self, anns: list[Record], lvis: Any) -> None:
        """Write compressed masks into records."""
        for ann in anns:
            ann["segmentation"] = lvis.ann_to_rle(ann)

    def _prepare(self) -> None:
        """Choose the objects and detections that take part into ``_gts`` and ``_dts``, and write into the records."""
        p = self.params
        categories = p.cat_ids or None
        gts, dts = (
            side.load_anns(side.get_ann_ids(img_ids=p.img_ids, cat_ids=categories))
            for side in (self.lvis_gt, self.lvis_dt)
        )
        if p.iou_type == "segm":
            for side, records in ((self.lvis_gt, gts), (self.lvis_dt, dts)):
                self._to_mask(records, side)
        for gt in gts:
            gt.setdefault("ignore", 0)
        _refill(self._gts, gts)
        images = self.lvis_gt.load_imgs(ids=p.img_ids)
        looked_for = {image["id"]: set(_listed(image, "neg_category_ids")) for image in images}
        self.img_nel = {image["id"]: _listed(image, "not_exhaustive_category_ids") for image in images}
        for gt in gts:
            looked_for[gt["image_id"]].add(gt["category_id"])
        dts = [dt for dt in dts if dt["category_id"] in looked_for[dt["image_id"]]]
        _refill(self._dts, dts)
        self.freq_groups = self._prepare_freq_group()

    def _prepare_freq_group(self) -> list[list[int]]:
        """The positions of the categories of each frequency."""
        groups: list[list[int]] = [[] for _ in self.params.img_count_lbl]
        for place, category in enumerate(self.lvis_gt.load_cats(self.params.cat_ids)):
            groups[self.params.img_count_lbl.index(category["frequency"])].append(place)
        return groups

    def evaluate(self) -> None:
        """Match the detections of every image; ``params.img_ids`` are sorted in place, as in lvis."""
        p = self.params
        self.logger.info("Running per image evaluation.")
        self.logger.info("Evaluate annotation type *%s*", p.iou_type)
        p.img_ids = list(np.unique(p.img_ids))
        self._prepare()
        try:
            matched = self._matched_at_once()
        except IrregularError:
            self._evaluate_one_by_one()
        else:
            self._leave_to(matched)

    def _matched_at_once(self) -> LvisMatched:
        original = functions_are_original(mask_utils, mask.ORIGINAL, ("iou",))
        if not original or not methods_are_original(self, "LVISEval", _STEPS, self._waiting):
            raise IrregularError("a step is replaced")
        return match_at_once({"_gts": self._gts, "_dts": self._dts}, self.params, self.img_nel)

    def _evaluate_one_by_one(self) -> None:
        """Call every step as lvis does, because a program may have replaced it."""
        p = self.params
        categories = p.cat_ids if p.use_cats else [-1]
        self.ious = {
            (image, category): self.compute_iou(image, category) for image in p.img_ids for category in categories
        }
        self.eval_imgs = [
            self.evaluate_img(image, category, area_range)
            for category in categories
            for area_range in p.area_rng
            for image in p.img_ids
        ]

    def _get_gt_dt(self, img_id: Any, cat_id: Any) -> tuple[list[Record], list[Record]]:
        """The objects and the detections of an image and a category; of all categories unless they count."""
        keys = [(img_id, category) for category in ([cat_id] if self.params.use_cats else self.params.cat_ids)]
        return [one for key in keys for one in self._gts[key]], [one for key in keys for one in self._dts[key]]

    def compute_iou(self, img_id: Any, cat_id: Any) -> Any:
        """(D, G) overlaps of an image and a category, the best detections first; ``[]`` if a side is empty."""
        gt, dt = self._get_gt_dt(img_id, cat_id)
        if not gt and not dt:
            return []
        key = {"segm": "segmentation", "bbox": "bbox"}.get(self.params.iou_type)
        if key is None:
            raise ValueError("Unknown iou_type for iou computation.")
        return mask_utils.iou([dt[row][key] for row in by_score(dt)], [one[key] for one in gt], [0] * len(gt))

    def evaluate_img(self, img_id: Any, cat_id: Any, area_rng: Any) -> Record | None:
        """The matches of an image and a category within an area range; ``None`` if there is nothing."""
        gt, dt = self._get_gt_dt(img_id, cat_id)
        if not gt and not dt:
            return None
        mark_outside(gt, area_rng)  # before a detection can end it
        dt = [dt[row] for row in by_score(dt)]
        plain = [{**one, "iscrowd": 0} for one in gt]  # lvis does not read `iscrowd`
        found = match_group(plain, dt, self.ious[img_id, cat_id], area_rng, self.params.iou_thrs)
        unlisted = np.array([one["category_id"] in self.img_nel[one["image_id"]] for one in dt], np.bool_)
        found["dtIgnore"] |= (found["dtMatches"] == 0) & unlisted[None]
        return as_lvis({"image_id": img_id, "category_id": cat_id, "aRng": area_rng, **found})

    def accumulate(self) -> None:
        """Compute ``eval`` from the matches."""
        self.logger.info("Accumulating evaluation results.")
        p, matched = self.params, self._source
        at_once = matched is not None and "eval_imgs" not in vars(self)
        if not at_once and not len(self.eval_imgs):
            self.logger.warning("Please run evaluate first.")
        categories = p.cat_ids if p.use_cats else [-1]
        if at_once and matched is not None and matched.has_rules_of(p):
            precision, recall = matched.arrays(p.rec_thrs)
            pointers = matched.pointers()
        else:
            entries, images = [], len(p.img_ids)
            for start in range(0, len(categories) * len(p.area_rng) * images, images):
                found = [self.eval_imgs[start + image] for image in range(images)]
                entries += [None if entry is None else as_pycocotools(entry) for entry in found]
            precision, recall = arrays_of_entries(entries, p, len(categories))
            pointers = pointers_of_entries(entries, p, len(categories))
        self.eval = {
            "params": p,
            "counts": [len(p.iou_thrs), len(p.rec_thrs), len(categories), len(p.area_rng)],
            "date": datetime.datetime.now().strftime("%Y-%m-%d %H:%M:%S"),
            "precision": precision,
            "recall": recall,
            "dt_pointers": pointers,
        }

    def _summarize(
        self, summary_type: str, iou_thr: float | None = None, area_rng: str = "all", freq_group_idx: int | None = None
    ) -> Any:
        """The mean of the defined values of ``precision`` or ``recall``; -1 if there are none."""
        ranges = [place for place, label in enumerate(self.params.area_rng_lbl) if label == area_rng]
        found = self.eval["precision" if summary_type == "ap" else "recall"]
        if freq_group_idx is not None and not self.params.use_cats:
            return -1  # no category has numbers of its own
        if iou_thr is not None:
            found = found[np.where(iou_thr == self.params.iou_thrs)[0]]
        if summary_type != "ap":
            found = found[:, :, ranges]
        elif freq_group_idx is not None:
            found = found[:, :, self.freq_groups[freq_group_idx], ranges]
        else:
            found = found[:, :, :, ranges]
        defined = found[found > -1]
        return np.mean(defined) if len(defined) else -1

    def summarize(self) -> None:
        """Compute ``results``: thirteen numbers.

        Raises:
            RuntimeError: If `accumulate` was not called.
        """
        if not self.eval:
            raise RuntimeError("Please run accumulate() first.")
        found, cap = self.results, self.params.max_dets
        found["AP"] = self._summarize("ap")
        found["AP50"] = self._summarize("ap", iou_thr=0.50)
        found["AP75"] = self._summarize("ap", iou_thr=0.75)
        sizes = ("small", "medium", "large")
        for area in sizes:
            found[f"AP{area[0]}"] = self._summarize("ap", area_rng=area)
        for place, group in enumerate("rcf"):
            found[f"AP{group}"] = self._summarize("ap", freq_group_idx=place)
        found[f"AR@{cap}"] = self._summarize("ar")
        for area in sizes:
            found[f"AR{area[0]}@{cap}"] = self._summarize("ar", area_rng=area)

    def run(self) -> None:
        """`evaluate`, `accumulate` and `summarize`."""
        self.evaluate()
        self.accumulate()
        self.summarize()

    def print_results(self) -> None:
        """Print a line per number."""
        p = self.params
        for key, value in self.results.items():
            title, kind = ("Average Precision", "(AP)") if "AP" in key else ("Average Recall", "(AR)")
            iou, group, area = f"{p.iou_thrs[0]:0.2f}:{p.iou_thrs[-1]:0.2f}", "all", "all"
            if len(key) > 2 and key[2].isdigit():
                iou = f"{float(key[2:]) / 100:0.2f}"
            elif len(key) > 2 and key[2] in "rcf":
                group = key[2]
            elif len(key) > 2 and key[2] in "sml":
                area = key[2]
            print(
                f" {title:<18} {kind} @[ IoU={iou:<9} | area={area:>6s} | maxDets={p.max_dets:>3d} "
                f"catIds={group:>3s}] = {value:0.3f}"
            )

    def get_results(self) -> OrderedDict[str, Any]:
        """``results``, which `run` fills."""
        if not self.results:
            self.logger.warning("results is empty. Call run().")
        return self.results


def _refill(groups: defaultdict[Any, list[Record]], records: list[Record]) -> None:
    """Put records into a dictionary in place: a shallow copy of an evaluation shares it, as in lvis."""
    groups.clear()
    groups.update(by_group(records))


def _listed(image: Record, key: str) -> Any:
    if key not in image:
        raise DatasetError(
            f"image {image['id']!r}: LVIS needs {key!r}, a list of ids of categories, found no such key: this is not a "
            "file of LVIS"
        )
    return image[key]


keep(LVISEval, Params)
