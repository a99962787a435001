"""The table that `summarize` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

__all__ = ["box_numbers", "keypoint_numbers", "mean_of"]

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
