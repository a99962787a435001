"""A measure of overlap with its parameters, as the native module and the array formulas take it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from ioukit._checks import check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["METRICS", "Measure", "OverlapMetric", "alpha_iou", "inner_iou", "ioa", "measure_of", "mpdiou", "nwd"]

OverlapMetric: TypeAlias = Literal["iou", "ioa", "iom", "giou", "diou", "ciou"]
"""The measures that can be compared with a threshold: what ``metric`` of `overlap_join` and of `nms` may be."""

METRICS: tuple[OverlapMetric, ...] = get_args(OverlapMetric)

_IMAGE_SIDES = (2.0**-60, 2.0**501)  # squares of these fit in float32 and float64
_LARGEST_RATIO = 4.0  # areas of the scaled boxes fit in the dtype of the boxes


class Measure(NamedTuple):
    """What is computed of two boxes."""

    variant: str
    """The name of the formula: that of the row in `VARIANTS`, except for the two IoA, ``ioa_first``, ``ioa_second``."""
    parameters: tuple[float, ...] = ()
    """The values of the row's options, in the order of the formula's parameters."""


def ioa(of: str) -> Measure:
    """Intersection over the area of the ``"second"`` or the ``"first"`` box."""
    if of not in ("second", "first"):
        raise ValueError(f"unknown of={of!r}; choose from second, first")
    return Measure(f"ioa_{of}")


def measure_of(metric: str, of: str | None) -> Measure:
    """The measure of a ``metric`` and of ``of``, which only IoA has.

    Raises:
        ValueError: If the metric is unknown, or ``of`` is unknown or does not belong to it.
    """
    if metric not in METRICS:
        raise ValueError(f"unknown metric {metric!r}; choose from {', '.join(METRICS)}")
    if metric == "ioa":
        return ioa(of or "second")
    if of is not None:
        raise ValueError(f"of={of!r} is for metric='ioa' alone, got metric={metric!r}")
    return Measure(metric)


def mpdiou(image_size: Sequence[float]) -> Measure:
    """MPDIoU in an image of size (width, height)."""
    sides = tuple(map(float, image_size))
    low, high = _IMAGE_SIDES
    if len(sides) != 2 or not all(low <= side <= high for side in sides):
        raise ValueError(f"image_size must be (width, height), each from 2**-60 to 2**501, got {image_size!r}")
    return Measure("mpdiou", sides)


def alpha_iou(alpha: float) -> Measure:
    """IoU to the power of alpha."""
    check_positive(alpha=alpha)
    return Measure("alpha_iou", (float(alpha),))


def inner_iou(ratio: float) -> Measure:
    """IoU of the boxes scaled by a ratio."""
    if not 0 < ratio <= _LARGEST_RATIO:  # false for NaN
        raise ValueError(f"ratio must be above 0 and at most {_LARGEST_RATIO:g}, got {ratio}")
    return Measure("inner_iou", (float(ratio),))


def nwd(constant: float) -> Measure:
    """Normalized Wasserstein distance, which is 1/e where the distance is ``constant``."""
    if not _IMAGE_SIDES[0] <= constant < math.inf:
        raise ValueError(f"constant must be a length of at least 2**-60, got {constant}")
    return Measure("nwd", (float(constant),))
