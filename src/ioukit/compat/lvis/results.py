"""`lvis.results`: detections on the images of a file of LVIS, as dictionaries."""

from __future__ import annotations

import copy
import logging
import os
from typing import Any

from ioukit.compat._originals import keep
from ioukit.compat.lvis.lvis import LVIS
from ioukit.compat.pycocotools import mask as mask_utils
from ioukit.compat.pycocotools._dictionaries import complete_masks

__all__ = ["LVISResults"]

Record = dict[str, Any]


class LVISResults(LVIS):
    """Detections, of which each image keeps the best ones over all categories.

    The first record tells what all of them are. The records of a list are completed in place: with ``id``, ``area`` and
    ``segmentation`` or ``bbox``.

    Args:
        lvis_gt: The ground truth, or the path of its file.
        results: A list of records, or the path of a file that holds one.
        max_dets: How many detections an image keeps; all if it is negative.

    Raises:
        AssertionError: If the results are no list, or some are of an image that the ground truth does not have.
        IndexError: If there are no results.
    """

    def __init__(self, lvis_gt: LVIS | str | os.PathLike[str], results: Any, max_dets: int = 300) -> None:
        if isinstance(lvis_gt, LVIS):
            self.dataset = copy.deepcopy(lvis_gt.dataset)
        elif isinstance(lvis_gt, str | os.PathLike):
            self.dataset = self._load_json(lvis_gt)
        else:
            raise TypeError(f"Unsupported type {lvis_gt} of lvis_gt.")
        self.logger = logging.getLogger("lvis.results")
        self.logger.info("Loading and preparing results.")
        if isinstance(results, str | os.PathLike):
            records = self._load_json(results)
        else:
            self.logger.warning("Assuming user provided the results in correct format.")
            records = results
        assert isinstance(records, list), "results is not a list."
        if max_dets >= 0:
            records = self.limit_dets_per_image(records, max_dets)
        if "bbox" in records[0]:
            _complete_boxes(records)
        elif "segmentation" in records[0]:
            complete_masks(records, mask_utils)
        self.dataset["annotations"] = records
        self._create_index()
        unknown = {record["image_id"] for record in records} - set(self.get_img_ids())
        assert not unknown, (
            "Results do not correspond to current LVIS set. "
            f"They have {len(unknown):,} images that it lacks, such as {next(iter(unknown))!r}"
        )

    def limit_dets_per_image(self, anns: list[Record], max_dets: int) -> list[Record]:
        """The best detections of each image, over all categories.

        The records of an image are together. They keep their order where the image has no more than `max_dets`, else
        they are sorted by score; among equal scores, the first ones are kept.
        """
        of_images: dict[Any, list[Record]] = {}
        for ann in anns:
            of_images.setdefault(ann["image_id"], []).append(ann)
        kept: list[Record] = []
        for records in of_images.values():
            many = len(records) > max_dets
            kept += sorted(records, key=lambda ann: ann["score"], reverse=True)[:max_dets] if many else records
        return kept

    def get_top_results(self, img_id: Any, score_thrs: float) -> list[Record]:
        """The detections of an image with a score above a threshold."""
        return [ann for ann in self.load_anns(self.get_ann_ids(img_ids=[img_id])) if ann["score"] > score_thrs]


def _complete_boxes(records: list[Record]) -> None:
    for number, record in enumerate(records, 1):
        x, y, width, height = record["bbox"]
        right, bottom = x + width, y + height
        if "segmentation" not in record:
            record["segmentation"] = [[x, y, x, bottom, right, bottom, right, y]]
        record["area"] = width * height
        record["id"] = number


keep(LVISResults)
