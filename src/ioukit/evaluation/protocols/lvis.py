"""LVIS: Large Vocabulary Instance Segmentation. Each image is annotated for only some of the categories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import IgnoreRule
from ioukit.evaluation.protocols.protocol import Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator


_SIZES = {"small": "s", "medium": "m", "large": "l"}

_GROUPS = {
    "r": "AP of the rare categories, those on up to 10 images of the training set: the mean over {classes}.",
    "c": "AP of the common categories, those on 11 to 100 images of the training set: the mean over {classes}.",
    "f": "AP of the frequent categories, those on more than 100 images of the training set: the mean over {classes}.",
}

_WORDS = {
    "AP": "Average precision, the mean over {classes} and {thresholds}. 1 is perfect.",
    "AP50": "AP at IoU 0.50: are objects found at all, even if their regions are loose?",
    "AP75": "AP at IoU 0.75: are their regions tight?",
}


def lvis_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """The numbers of LVIS's table, in its order: thirteen with its own area ranges. All are at the last cap."""
    return tuple(_measures(protocol))


def _measures(protocol: Protocol) -> Iterator[Measure]:
    cap = protocol.max_dets[-1]
    sizes = [(_SIZES.get(label, label), label) for label in protocol.area_labels if label != protocol.main_area]
    for suffix, iou in (("", None), ("50", 0.5), ("75", 0.75)):
        yield _measure(protocol, f"AP{suffix}", "AP", iou=iou, headline=True)
    for suffix, label in sizes:
        yield _measure(protocol, f"AP{suffix}", "AP", area=(suffix, label))
    for group in _GROUPS:
        yield _measure(protocol, f"AP{group}", "AP", group=group)
    yield _measure(protocol, f"AR@{cap}", "AR", headline=True)
    for suffix, label in sizes:
        yield _measure(protocol, f"AR{suffix}@{cap}", "AR", area=(suffix, label))


def _measure(
    protocol: Protocol,
    key: str,
    quantity: str,
    *,
    iou: float | None = None,
    area: tuple[str, str] | None = None,
    group: str | None = None,
    headline: bool = False,
) -> Measure:
    """A measure; ``area`` is the name of the range in its line, and the label."""
    first, last = protocol.iou_thresholds[0], protocol.iou_thresholds[-1]
    shown, label = ("all", protocol.main_area) if area is None else area
    cap = protocol.max_dets[-1]
    span = f"{first:0.2f}:{last:0.2f}" if iou is None else f"{iou:0.2f}"
    title = "Average Precision" if quantity == "AP" else "Average Recall"
    line = (
        f" {title:<18} ({quantity}) @[ IoU={span:<9} | area={shown:>6s} | maxDets={cap:>3d} "
        f"catIds={group or 'all':>3s}] = {{value}}"
    )
    words = _WORDS.get(key, "" if group is None else _GROUPS[group])
    if quantity == "AR" and headline:
        scope = "category" if protocol.cap_scope == "category" else "image"
        words = f"Average recall with {cap:,} detections per {scope}: how much could be found?"
    return Measure(key, quantity, iou, label, cap, group=group, line=line, headline=headline, words=words)  # type: ignore[arg-type]


LVIS = COCO.replace(
    name="LVIS",
    max_dets=(300,),
    cap_scope="image",
    ignored=(IgnoreRule("ignore"),),
    verified="listed",
    without_area="left_out",
    category_groups="frequency",
    summary="lvis",
    reference="Gupta et al., CVPR 2019, arXiv:1908.03195; lvis 0.5.3",
)
"""Large Vocabulary Instance Segmentation (Gupta et al., CVPR 2019, arXiv:1908.03195), as lvis 0.5.3 evaluates: 300
detections per image over all categories; a detection counts only if annotators looked for its category on the image; AP
of rare, common and frequent categories."""

LVIS_FIXED = LVIS.replace(
    name="LVIS fixed AP",
    max_dets=(10_000,),
    cap_scope="category",
    reference="Dave et al., arXiv:2102.01066; matching and curves of lvis 0.5.3",
)
"""Fixed AP (Dave et al., Evaluating Large-Vocabulary Object Detectors: The Devil is in the Details, arXiv:2102.01066):
LVIS with 10,000 detections per category over the data set, and no cap per image. LVIS's own cap counts all categories
of an image, so there the AP of a category depends on the others."""
