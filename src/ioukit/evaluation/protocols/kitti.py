"""KITTI: objects on the road, in images and in space."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.object_choice import ObjectChoice, ObjectLimit
from ioukit.evaluation.protocols.parts import NO_CAP, AreaRange, IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


_LINE = " {title:<17} | {classes:<14} | {label:<8} = {{value:.4f}}"
_TITLES = {"AP": "Average Precision", "AOS": "Orientation (AOS)"}
_NAMES = {"AP": "Average precision", "AOS": "Average orientation similarity, at most AP"}
_WORDS = {
    "easy": "objects of at least 40 pixels in height that are fully visible and truncated by at most 15 %",
    "moderate": "objects of at least 25 pixels in height that are at most partly hidden and truncated by at most 30 %",
    "hard": "objects of at least 25 pixels in height that may be largely hidden and are truncated by at most 50 %",
}
_ORDER = ("easy", "moderate", "hard")


def kitti_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """The numbers of KITTI's table: AP of each class and difficulty. The means over the classes come first.

    If the protocol reads orientations, AOS is before AP.
    """
    turned = protocol.objects_choose is not None and protocol.objects_choose.orientation
    return (*(_measures(protocol, "AOS") if turned else ()), *_measures(protocol, "AP"))


def _measures(protocol: Protocol, quantity: Literal["AP", "AOS"]) -> Iterator[Measure]:
    labels = sorted(protocol.area_labels, key=lambda label: _ORDER.index(label) if label in _ORDER else len(_ORDER))
    for label in protocol.area_labels:
        line = _LINE.format(title=_TITLES[quantity], classes="mean", label=label)
        words = f"{_NAMES[quantity]}, the mean over {{classes}}: {_WORDS.get(label, label)}. 1 is perfect."
        yield Measure(f"{quantity}_{label}", quantity, None, label, line=line, headline=True, words=words)
    choice = protocol.objects_choose
    for name, threshold in () if choice is None else choice.iou_thresholds:
        for label in labels:
            line = _LINE.format(title=_TITLES[quantity], classes=name, label=label)
            words = f"{quantity} of {name} at IoU {threshold}: {_WORDS.get(label, label)}."
            key = f"{name}_{label}" if quantity == "AP" else f"{name}_{quantity}_{label}"
            yield Measure(key, quantity, None, label, group=name, line=line, words=words)


_CHOICE = ObjectChoice(
    iou_thresholds=(("Car", 0.7), ("Pedestrian", 0.5), ("Cyclist", 0.5)),
    neighbours=(("Car", "Van"), ("Pedestrian", "Person_sitting")),
    limits=(ObjectLimit("occluded", (1, 0, 2)), ObjectLimit("truncated", (0.3, 0.15, 0.5))),
)

KITTI = Protocol(
    name="KITTI",
    iou_thresholds=(0.5, 0.7),
    recall_thresholds=tuple(step / 40 for step in range(1, 41)),
    max_dets=(NO_CAP,),
    # The first range is the main one: KITTI ranks by it.
    area_ranges=(AreaRange("moderate", 25, math.inf), AreaRange("easy", 40, math.inf), AreaRange("hard", 25, math.inf)),
    threshold="more_than",
    ties="first",
    ignored=(IgnoreRule("dont_care", over_detection=True, repeated=True),),
    precision_epsilon=False,
    category_groups="name",
    objects_choose=_CHOICE,
    summary="kitti",
    reference="Geiger et al., CVPR 2012; evaluate_object.cpp of the development kit; R40: Simonelli et al., ICCV 2019",
    meant_for=("bbox", "bev", "box3d"),
)
"""KITTI's benchmark of objects (Geiger et al., CVPR 2012), as `evaluate_object.cpp` of its development kit evaluates
since 2019: each object chooses the detection with the highest overlap, again at each of up to 41 score thresholds; AP
is the mean of the precision at 40 recalls (R40; Simonelli et al., ICCV 2019), for easy, moderate and hard objects. It
is meant for ``iou_type="bbox"``, ``"bev"`` and ``"box3d"``."""

KITTI_R11 = KITTI.replace(
    name="KITTI R11",
    recall_thresholds=tuple(step / 40 for step in range(0, 41, 4)),
    reference="Geiger et al., CVPR 2012; evaluate_object.cpp of the development kit until 2019",
)
"""KITTI's benchmark as it was until 2019: :data:`KITTI` with the mean of the precision at 11 recalls, 0 among them."""

KITTI_AOS = KITTI.replace(
    name="KITTI AOS",
    objects_choose=replace(_CHOICE, orientation="alpha"),
    meant_for=("bbox",),
)
"""KITTI's average orientation similarity (AOS): :data:`KITTI` in which, besides AP, each true positive counts
``(1 + cos(difference of alpha)) / 2`` in the place of 1, and false positives 0. The development kit computes it for
boxes in the image alone. Each object and each detection of the three classes needs its ``alpha``."""
