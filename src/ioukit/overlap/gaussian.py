"""Overlaps of the Gaussians that stand for rotated boxes: ProbIoU and KFIoU."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

from ioukit._arrays import as_floats, library_of, namespace_of
from ioukit.overlap._rotated_formulas import RotatedPairs
from ioukit.regions.regions import Regions

if TYPE_CHECKING:
    from ioukit.typing import Array

__all__ = ["elementwise_kfiou", "elementwise_probiou", "pairwise_kfiou", "pairwise_probiou", "rotated_pairs"]

_UNITS = {"radians": 1.0, "degrees": math.pi / 180}
_SENSES = {"clockwise": 1.0, "counterclockwise": -1.0}


def pairwise_probiou(
    boxes1: Any,
    boxes2: Any,
    *,
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
) -> Array:
    """ProbIoU of every rotated box of one set with every one of another, (N, M) within [0, 1].

    1 less the Hellinger distance of the Gaussians with the centres of the boxes and the covariances of uniform points
    in them, ``R diag(w^2, h^2) R^T / 12``. It does not see the rotation of a square: 1, where IoU falls to 0.707.

    Args:
        boxes1: (N, 5) centre, width, height, angle: an array of any library, lists, or a set of rotated boxes that
            knows the unit and sense of its angles. A side that is 0 or negative leaves no area, and the value 0.
        boxes2: (M, 5), of the same library.
        unit: Of the angles in plain arrays: ``"radians"`` or ``"degrees"``.
        sense: Which way a positive angle turns as seen on a screen: ``"clockwise"`` or ``"counterclockwise"``.

    Raises:
        ValueError: If a shape does not fit, or the unit or sense is not known.
        TypeError: If the arrays come from different libraries, or hold no floating point numbers.

    Sides count as 1/10,000 of the largest of the pair at least.

    Reference: Llerena et al., Gaussian Bounding Boxes and ProbIoU, 2021, arXiv:2106.06072.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).probiou()


def elementwise_probiou(
    boxes1: Any,
    boxes2: Any,
    *,
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
) -> Array:
    """ProbIoU of each rotated box with its counterpart, (N,): see `pairwise_probiou`."""
    return rotated_pairs(boxes1, boxes2, unit, sense).probiou()


def pairwise_kfiou(
    boxes1: Any,
    boxes2: Any,
    *,
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
) -> Array:
    """KFIoU of every rotated box of one set with every one of another, (N, M) within [0, 1/3].

    The area that a Kalman filter leaves of both Gaussians, over that of either but not both. It compares sizes and
    angles alone: it is blind to the distance of the centres, and to the rotation of a square.

    Arguments and errors are those of `pairwise_probiou`.

    Reference: Yang et al., The KFIoU Loss for Rotated Object Detection, ICLR 2023, arXiv:2201.12558.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).kfiou()


def elementwise_kfiou(
    boxes1: Any,
    boxes2: Any,
    *,
    unit: Literal["radians", "degrees"] = "radians",
    sense: Literal["clockwise", "counterclockwise"] = "clockwise",
) -> Array:
    """KFIoU of each rotated box with its counterpart, (N,): see `pairwise_kfiou`."""
    return rotated_pairs(boxes1, boxes2, unit, sense).kfiou()


def rotated_pairs(
    first: Any,
    second: Any,
    unit: str,
    sense: str,
    *,
    pairwise: bool = False,
    names: tuple[str, str] = ("boxes1", "boxes2"),
) -> RotatedPairs:
    """Checked pairs of rotated boxes, which compute in float32 at least.

    Args:
        first: (..., 5), or a set of rotated boxes.
        second: The same.
        unit: Of the angles in plain arrays.
        sense: Which way they turn.
        pairwise: Whether every box of one meets every box of the other, or its counterpart alone.
        names: What messages call the two.
    """
    for option, value, known in (("unit", unit, _UNITS), ("sense", sense, _SENSES)):
        if value not in known:
            raise ValueError(f"unknown {option} {value!r}; choose from {', '.join(known)}")
    scale = _UNITS[unit] * _SENSES[sense]
    sets = [_rows(name, boxes, scale) for name, boxes in zip(names, (first, second), strict=True)]
    one, other = sets
    both = " and ".join(names)
    if library_of(one) != library_of(other):
        raise TypeError(f"{both} must come from one library, got {library_of(one)} and {library_of(other)}")
    xp = namespace_of(one)
    for name, boxes in zip(names, sets, strict=True):
        if tuple(boxes.shape[-1:]) != (5,) or boxes.ndim < 1 + pairwise:
            raise ValueError(f"{name} must have shape ({'N' if pairwise else '...'}, 5), got {tuple(boxes.shape)}")
        if not xp.isdtype(boxes.dtype, "real floating"):
            raise TypeError(f"{name} must hold floating point numbers, got dtype {boxes.dtype}")
    if not pairwise and one.shape != other.shape:
        raise ValueError(f"{both} must have one shape (..., 5), got {tuple(one.shape)} and {tuple(other.shape)}")
    dtype = xp.result_type(one, other)
    computed = dtype if xp.finfo(dtype).bits >= 32 else xp.float32
    one, other = (xp.astype(boxes, computed, copy=False) for boxes in sets)
    return RotatedPairs(xp, one, other, angle=scale, pairwise=pairwise)


def _rows(name: str, boxes: Any, scale: float) -> Array:
    """Plain rows; those of rotated boxes in the unit and sense of the call."""
    if isinstance(boxes, Regions):
        unit = "degrees" if abs(scale) < 1 else "radians"
        sense = "clockwise" if scale > 0 else "counterclockwise"
        regions: Any = boxes
        try:
            return regions.convert(unit=unit, sense=sense).numpy()
        except TypeError:
            raise TypeError(f"{name} must be rotated boxes, got {type(boxes).__name__}") from None
    return as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes
