"""The parameters of an evaluation, with the names and defaults of pycocotools."""

from __future__ import annotations

from typing import Any

import numpy as np

from ioukit.evaluation.kinds.keypoints import COCO_SIGMAS
from ioukit.evaluation.protocols.coco import COCO, COCO_KEYPOINTS

__all__ = ["Params"]


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
