"""The numbers people quote, read off the curves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ioukit.evaluation.curves import Curves
from ioukit.evaluation.protocols.protocol import Protocol

__all__ = ["Measure", "is_asked_for", "measures", "summarise"]

SIZES = {"small": "s", "medium": "m", "large": "l"}
"""The suffixes that COCO's area ranges have in AP and AR."""


@dataclass(frozen=True)
class Measure:
    """A number of the summary: a mean over a part of the curves."""

    key: str
    kind: str
    """``"AP"``, a mean over precision, or ``"AR"``, a mean over recall."""
    iou: float | None
    """The IoU threshold, or ``None`` for the mean over all."""
    area: str
    """Label of the area range."""
    max_dets: int
    """Cap on the detections of a category on an image."""


def measures(protocol: Protocol) -> Iterator[Measure]:
    """The numbers that a protocol leads to, in the order of COCO's table.

    The twelve of COCO are always among them, whether or not the protocol has what they need. Every other cap adds an
    ``AR<cap>``, every other area range ``AP<label>`` and ``AR<label>``.
    """
    last = protocol.max_dets[-1]
    # The headline is at 100 detections where 100 is a cap, as in pycocotools; the others are at the last cap.
    yield Measure("AP", "AP", None, "all", 100 if 100 in protocol.max_dets else last)
    yield Measure("AP50", "AP", 0.5, "all", last)
    yield Measure("AP75", "AP", 0.75, "all", last)
    labels = list(dict.fromkeys([*SIZES, *(area.label for area in protocol.area_ranges if area.label != "all")]))
    for label in labels:
        yield Measure(f"AP{SIZES.get(label, label)}", "AP", None, label, last)
    for cap in sorted({1, 10, 100, *protocol.max_dets}):
        yield Measure(f"AR{cap}", "AR", None, "all", cap)
    for label in labels:
        yield Measure(f"AR{SIZES.get(label, label)}", "AR", None, label, last)


def summarise(curves: Curves) -> dict[str, float]:
    """The mean of each measure over the categories that have something to find; NaN where none has.

    Sums are NumPy's over the same numbers in the same order as in pycocotools, so that the last bit agrees.
    """
    return {measure.key: _mean(select(curves, measure)) for measure in measures(curves.protocol)}


def summarise_classes(curves: Curves) -> list[dict[str, float]]:
    """The same numbers for each category alone; NaN where it has nothing to find."""
    columns = {}
    for measure in measures(curves.protocol):
        chosen = select(curves, measure)  # (T, R, K) or (T, K)
        count = chosen.shape[-1]
        rows = np.moveaxis(chosen, -1, 0).reshape(count, chosen[..., :1].size)  # (K, T * R)
        columns[measure.key] = rows.mean(axis=1).tolist() if rows.shape[1] else [float("nan")] * count
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def select(curves: Curves, measure: Measure) -> npt.NDArray[np.float64]:
    """The part of the curves that a measure is the mean of: (T, R, K) or (T, K), empty if there is no such part."""
    protocol = curves.protocol
    labels = [area.label for area in protocol.area_ranges]
    array = curves.precision if measure.kind == "AP" else curves.recall
    if measure.area not in labels or measure.max_dets not in protocol.max_dets:
        return array[:0, ..., 0, 0]
    array = array[..., labels.index(measure.area), protocol.max_dets.index(measure.max_dets)]
    if measure.iou is None:
        return array
    if measure.iou not in protocol.iou_thresholds:
        return array[:0]
    at = protocol.iou_thresholds.index(measure.iou)
    return array[at : at + 1]


def _mean(values: npt.NDArray[np.float64]) -> float:
    defined = values[~np.isnan(values)]
    return float(np.mean(defined)) if defined.size else float("nan")


def table(protocol: Protocol, summary: Mapping[str, float]) -> str:
    """The lines that pycocotools prints, -1.000 where a number is undefined."""
    lines = []
    for measure in measures(protocol):
        if np.isnan(summary[measure.key]) and not is_asked_for(protocol, measure):
            continue
        first, last = protocol.iou_thresholds[0], protocol.iou_thresholds[-1]
        iou = f"{first:0.2f}:{last:0.2f}" if measure.iou is None else f"{measure.iou:0.2f}"
        title = "Average Precision" if measure.kind == "AP" else "Average Recall"
        value = summary[measure.key]
        lines.append(
            f" {title:<18} ({measure.kind}) @[ IoU={iou:<9} | area={measure.area:>6s} | "
            f"maxDets={measure.max_dets:>3d} ] = {-1.0 if np.isnan(value) else value:0.3f}"
        )
    return "\n".join(lines)


def is_asked_for(protocol: Protocol, measure: Measure) -> bool:
    """Whether the protocol has the threshold, cap and area range that the measure needs."""
    return (
        (measure.iou is None or measure.iou in protocol.iou_thresholds)
        and measure.max_dets in protocol.max_dets
        and measure.area in {area.label for area in protocol.area_ranges}
    )
