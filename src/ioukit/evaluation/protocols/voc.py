"""PASCAL VOC, and DOTA, whose rules are VOC's."""

from __future__ import annotations

import math

import numpy as np

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import mean_average_precision
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol

VOC2007 = Protocol(
    name="VOC2007",
    iou_thresholds=(0.5,),
    # arange, as in the reference: its 0.3 is 0.30000000000000004, and a recall of 3 in 10 is below that.
    recall_thresholds=tuple(np.arange(0.0, 1.1, 0.1).tolist()),
    max_dets=(NO_CAP,),
    area_ranges=(AreaRange("all", 0.0, math.inf),),
    choice="best_of_all",
    threshold="more_than",
    ties="first",
    inclusive_boxes=True,
    ignored=(IgnoreRule("difficult", repeated=True),),
    integral="points",
    precision_epsilon=False,
    summary=(mean_average_precision("Mean AP = {value:.4f}"),),
    reference="Everingham et al., IJCV 2010; voc_eval.py of py-faster-rcnn with use_07_metric=True",
    meant_for=("bbox",),
)
"""PASCAL VOC until 2009, as `voc_eval.py` of py-faster-rcnn evaluates: each detection looks only at its best object, a
match needs an IoU of more than 0.5 between boxes with inclusive pixels, difficult objects are ignored, and AP is the
mean of the precision at 11 recalls. The Matlab kit of the challenge accepts an IoU of 0.5, too: that is
``VOC2007.replace(threshold="at_least")``."""

VOC2012 = VOC2007.replace(
    name="VOC2012",
    recall_thresholds=COCO.recall_thresholds,  # only for drawn curves: AP does not need them
    integral="area",
    reference="Everingham et al., IJCV 2015; voc_eval.py of py-faster-rcnn with use_07_metric=False",
)
"""PASCAL VOC since 2010, as `voc_eval.py` of py-faster-rcnn evaluates: the rules of :data:`VOC2007`, but AP is the area
under the curve. The Matlab kit of the challenge accepts an IoU of 0.5, too: that is
``VOC2012.replace(threshold="at_least")``."""


_MEASURES = (mean_average_precision("map: {value:.4f}"),)

DOTA_TASK1 = VOC2007.replace(
    name="DOTA task 1",
    inclusive_boxes=False,
    summary=_MEASURES,
    reference="Xia et al., CVPR 2018, arXiv:1711.10398; dota_evaluation_task1.py of DOTA_devkit",
    meant_for=("polygon", "rotated"),
)
"""DOTA's task 1, oriented boxes, as DOTA_devkit evaluates: the rules of :data:`VOC2007` for polygons, which are
compared by their exact overlap. It is meant for ``iou_type="polygon"`` or ``"rotated"``."""

DOTA_TASK2 = VOC2007.replace(
    name="DOTA task 2",
    summary=_MEASURES,
    reference="Xia et al., CVPR 2018, arXiv:1711.10398; dota_evaluation_task2.py of DOTA_devkit",
)
"""DOTA's task 2, horizontal boxes, as DOTA_devkit evaluates: the rules of :data:`VOC2007`. The kit cuts the digits
after the point off the coordinates of objects, and leaves those of detections."""
