"""A variant with its parameters, as both engines take it: the native module and the array formulas."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from ioukit._checks import check_positive

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Measure", "alpha_iou", "inner_iou", "ioa", "mpdiou", "nwd"]

_IMAGE_SIDES = (2.0**-60, 2.0**501)  # squares stay within what float32 and float64 hold
_LARGEST_RATIO = 4.0  # areas of the scaled boxes stay within what the unscaled ones may be


class Measure(NamedTuple):
    """What is computed of two boxes.

    Attributes:
        variant: The engines' name: that of the row, but for IoA, which they have twice.
        parameters: What the row's options come to, in the order of the engines.
    """

    variant: str
    parameters: tuple[float, ...] = ()


def ioa(of: str) -> Measure:
    """IoA of one of the two areas."""
    if of not in ("second", "first"):
        raise ValueError(f"unknown of={of!r}; choose from second, first")
    return Measure(f"ioa_{of}")


def mpdiou(image_size: Sequence[float]) -> Measure:
    """MPDIoU in an image of (width, height)."""
    sides = tuple(map(float, image_size))
    low, high = _IMAGE_SIDES
    if len(sides) != 2 or not all(low <= side <= high for side in sides):
        raise ValueError(f"image_size must be (width, height), each from 2**-60 to 2**501, got {image_size!r}")
    return Measure("mpdiou", sides)


def alpha_iou(alpha: float) -> Measure:
    """IoU to a power."""
    check_positive(alpha=alpha)
    return Measure("alpha_iou", (float(alpha),))


def inner_iou(ratio: float) -> Measure:
    """IoU of the scaled boxes."""
    if not 0 < ratio <= _LARGEST_RATIO:  # false for NaN
        raise ValueError(f"ratio must be above 0 and at most {_LARGEST_RATIO:g}, got {ratio}")
    return Measure("inner_iou", (float(ratio),))


def nwd(constant: float) -> Measure:
    """The normalized Wasserstein distance, falling to 1/e at ``constant``."""
    if not (math.isfinite(constant) and constant >= _IMAGE_SIDES[0]):
        raise ValueError(f"constant must be a length of at least 2**-60, got {constant}")
    return Measure("nwd", (float(constant),))
