"""Detections without scores: counts of what is found, instead of curves over a ranking."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ioukit.evaluation.protocols.coco import COCO
from ioukit.evaluation.protocols.measures import Measure
from ioukit.evaluation.protocols.parts import NO_CAP

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.evaluation.protocols.protocol import Protocol


_COUNTS: dict[str, tuple[Literal["precision", "AR", "F1"], str, str]] = {
    "F": ("F1", "F1", "the harmonic mean of precision and recall"),
    "P": ("precision", "Precision", "the share of the detections that match an object"),
    "R": ("AR", "Recall", "the share of the objects that a detection matches"),
}
"""The quantity, the title and the meaning of each letter of a key."""


def unranked_measures(protocol: Protocol) -> tuple[Measure, ...]:
    """F1, precision and recall at IoU 0.50, at 0.75 and as the mean over all IoU thresholds, IoU and LRP at 0.50.

    Those over all categories come first, as means over the categories; those of sizes follow, and then those that pool
    the categories.
    """
    return tuple(_measures(protocol))


def _measures(protocol: Protocol) -> Iterator[Measure]:
    area = protocol.main_area
    thresholds = {"50": 0.5, "75": 0.75, "": None}
    for suffix, iou in thresholds.items():
        yield from (_count(protocol, letter, suffix, iou, area) for letter in _COUNTS)
    yield Measure(
        "IoU", "IoU", 0.5, area, line=_line("Mean IoU of matches", "0.50", area), headline=True,
        words="Mean IoU of the detections that match an object at IoU 0.50, over {classes}. 1 is perfect.",
    )  # fmt: skip
    yield Measure(
        "LRP", "LRP", 0.5, area, line=_line("LRP error", "0.50", area), headline=True,
        words="Localisation, recall and precision in one error at IoU 0.50, over {classes}. 0 is perfect.",
    )  # fmt: skip
    for label in protocol.area_labels:
        if label != area:
            short = {"small": "s", "medium": "m", "large": "l"}.get(label, label)
            yield from (_count(protocol, letter, short, None, label) for letter in _COUNTS)
    for suffix, iou in thresholds.items():
        yield from (_count(protocol, letter, suffix, iou, area, pooled=True) for letter in _COUNTS)


def _count(
    protocol: Protocol, letter: str, suffix: str, iou: float | None, area: str, *, pooled: bool = False
) -> Measure:
    quantity, title, meaning = _COUNTS[letter]
    first, last = protocol.iou_thresholds[0], protocol.iou_thresholds[-1]
    span = f"{first:0.2f}:{last:0.2f}" if iou is None else f"{iou:0.2f}"
    over = "the regions of all classes together" if pooled else "the mean over {classes}"
    return Measure(
        f"{letter}{suffix}{'_micro' if pooled else ''}",
        quantity,
        iou,
        area,
        pooled=pooled,
        line=_line(title, span, area, "pooled" if pooled else "mean"),
        headline=area == protocol.main_area and not pooled,
        words=f"{title}: {meaning}, at {'{thresholds}' if iou is None else f'IoU {iou:0.2f}'}, {over}. 1 is perfect.",
    )


def _line(title: str, span: str, area: str, classes: str = "mean") -> str:
    return f" {title:<19} @[ IoU={span:<9} | area={area:>6s} | classes={classes:<6} ] = {{value}}"


UNRANKED = COCO.replace(
    name="Unranked",
    choice="together",
    max_dets=(NO_CAP,),
    recall_thresholds=(),
    summary="unranked",
    reference="",
    meant_for=(),
)
"""For detections without scores, such as the answers of language models and what people draw: COCO's overlaps, crowds
and sizes; one-to-one matches, the most of them at each IoU threshold; precision, recall, F1, mean IoU and LRP. With
scores that say nothing, AP depends on the order of the data; these numbers do not."""

UNRANKED_GREEDY = UNRANKED.replace(name="Unranked, greedy", choice="best_pairs_first")
"""The rules of :data:`UNRANKED`, but pairs are taken in descending order of their IoU, as many tools pair boxes. There
may be fewer pairs than the most, and where pairs have the same IoU, the order of the data decides."""
