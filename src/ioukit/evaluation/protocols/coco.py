"""COCO: Common Objects in Context."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol, register_measure_rule

if TYPE_CHECKING:
    from collections.abc import Iterator


_SIZES = {"small": "s", "medium": "m", "large": "l"}
"""The suffixes that COCO's area ranges have in AP and AR."""

_WORDS = {
    "AP": "Average precision, the mean over {classes} and {thresholds}. 1 is perfect.",
    "AP50": "AP at IoU 0.50: are objects found at all, even if their place is not exact?",
    "AP75": "AP at IoU 0.75: is their place exact?",
}


def coco_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """The numbers of COCO's table, in its order.

    The twelve numbers of COCO are always among them, even if the protocol lacks the threshold, cap or area range that
    one needs. Every other cap adds an ``AR<cap>``, every other area range an ``AP<label>`` and an ``AR<label>``. All
    but the ``AR<cap>`` use one cap: 100 detections if 100 is a cap, the last cap otherwise.
    """
    return tuple(_measures(protocol))


def _measures(protocol: Protocol) -> Iterator[Measure]:
    area, cap = protocol.main_area, protocol.main_max_dets
    measure = partial(_measure, protocol)
    yield measure("AP", "AP", None, area, cap, headline=True)
    yield measure("AP50", "AP", 0.5, area, cap, headline=True)
    yield measure("AP75", "AP", 0.75, area, cap, headline=True)
    labels = list(dict.fromkeys([*_SIZES, *protocol.area_labels]))
    labels = [label for label in labels if label != area]
    for label in labels:
        yield measure(f"AP{_SIZES.get(label, label)}", "AP", None, label, cap, headline=False)
    for one in sorted({1, 10, 100, *protocol.max_dets}):
        yield measure(f"AR{one}", "AR", None, area, one, headline=one == protocol.max_dets[-1])
    for label in labels:
        yield measure(f"AR{_SIZES.get(label, label)}", "AR", None, label, cap, headline=False)


def keypoint_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """The numbers of COCO's table for keypoints, in its order: ten with its own area ranges."""
    cap = protocol.main_max_dets
    areas = [(_SIZES.get(label, label), label) for label in protocol.area_labels if label != protocol.main_area]
    return tuple(
        _measure(protocol, f"{quantity}{suffix}", quantity, iou, area, cap, headline=not suffix)
        for quantity in ("AP", "AR")
        for suffix, iou, area in (
            ("", None, protocol.main_area),
            ("50", 0.5, protocol.main_area),
            ("75", 0.75, protocol.main_area),
            *((suffix, None, label) for suffix, label in areas),
        )
    )


def _measure(
    protocol: Protocol, key: str, quantity: str, iou: float | None, area: str, cap: int, *, headline: bool
) -> Measure:
    first, last = protocol.iou_thresholds[0], protocol.iou_thresholds[-1]
    span = f"{first:0.2f}:{last:0.2f}" if iou is None else f"{iou:0.2f}"
    title = "Average Precision" if quantity == "AP" else "Average Recall"
    line = f" {title:<18} ({quantity}) @[ IoU={span:<9} | area={area:>6s} | maxDets={cap:>3d} ] = {{value}}"
    words = _WORDS.get(key, "")
    if quantity == "AR" and headline:
        within = "detection" if cap == 1 else "detections"
        words = f"Average recall with {cap:,} {within} per class and image: how much could be found?"
    return Measure(key, quantity, iou, area, cap, line=line, headline=headline, words=words)  # type: ignore[arg-type]


register_measure_rule("coco", coco_measures)
register_measure_rule("coco-keypoints", keypoint_measures)

COCO = Protocol(
    name="COCO",
    # linspace, as in pycocotools: its 0.9 is 0.8999999999999999, and a match at IoU 0.9 depends on it.
    iou_thresholds=tuple(np.linspace(0.5, 0.95, 10).tolist()),
    recall_thresholds=tuple(np.linspace(0.0, 1.0, 101).tolist()),
    max_dets=(1, 10, 100),
    area_ranges=(
        AreaRange("all", 0.0, 1e5**2),
        AreaRange("small", 0.0, 32.0**2),
        AreaRange("medium", 32.0**2, 96.0**2),
        AreaRange("large", 96.0**2, 1e5**2),
    ),
    summary="coco",
    reference="Lin et al., ECCV 2014, arXiv:1405.0312; pycocotools 2.0.11",
    meant_for=("bbox", "segm", "boundary"),
)
"""Common Objects in Context (Lin et al., ECCV 2014, arXiv:1405.0312), as pycocotools 2.0.11 evaluates: AP is the mean
over ten IoU thresholds, 101 recalls and all categories that have an object."""

COCO_KEYPOINTS = COCO.replace(
    name="COCO keypoints",
    max_dets=(20,),
    area_ranges=tuple(area for area in COCO.area_ranges if area.label != "small"),
    ignored=(IgnoreRule("crowd", repeated=True), IgnoreRule("without_keypoints")),
    summary="coco-keypoints",
    meant_for=("keypoints", "keypoints-wholebody", "keypoints-ap10k"),
)
"""COCO's evaluation of keypoints, as pycocotools 2.0.11: 20 detections per image, no small objects, and objects without
a labelled keypoint are ignored. The overlap is the object keypoint similarity, see ``iou_type="keypoints"``."""
