"""Overlaps of Gaussians in place of rotated boxes: ProbIoU and KFIoU."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ioukit._arrays import as_floats, computing_dtype_in, library_of, namespace_of
from ioukit.overlap._rotated_formulas import RotatedPairs
from ioukit.regions._turned import check_angle
from ioukit.regions.regions import Regions
from ioukit.regions.rotated import RotatedBoxes

if TYPE_CHECKING:
    from ioukit.typing import AngleSense, AngleUnit, Array

__all__ = ["elementwise_kfiou", "elementwise_probiou", "pairwise_kfiou", "pairwise_probiou", "rotated_pairs"]


def pairwise_probiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """ProbIoU of every rotated box of one set with every rotated box of another.

    1 minus the Hellinger distance of two Gaussians. Each has the centre of its box, and the covariance of uniformly
    distributed points in it, ``R diag(w^2, h^2) R^T / 12``. ProbIoU does not depend on the rotation of a square: a
    square and itself turned by 45 degrees have ProbIoU 1, and IoU 0.707.

    Args:
        boxes1: (N, 5) centre x and y, width, height, angle: `RotatedBoxes`, which have their own unit and sense, or an
            array of any library, or lists. A box with a side that is 0 or negative has no area, and ProbIoU 0.
        boxes2: (M, 5), from the same library.
        unit: The unit of the angles in arrays: ``"radians"`` or ``"degrees"``.
        sense: The way a positive angle turns, as seen on a screen: ``"clockwise"`` or ``"counterclockwise"``.

    Returns:
        (N, M), within [0, 1]. Each side counts as at least 1/10,000 of the largest side of the pair. The array is of
        the library of the boxes, and a gradient flows through it.

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.

    Reference: Llerena et al., Gaussian Bounding Boxes and ProbIoU, 2021, arXiv:2106.06072.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).probiou()


def elementwise_probiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """ProbIoU of each rotated box with its counterpart; `pairwise_probiou` has the definition.

    Args:
        boxes1: (..., 5), as in `pairwise_probiou`.
        boxes2: The same shape, from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (...), within [0, 1].

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense).probiou()


def pairwise_kfiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """KFIoU of every rotated box of one set with every rotated box of another.

    A Kalman filter joins the Gaussians of both boxes into a third one. KFIoU is the area of its box over the areas of
    the two boxes minus this area. It compares sizes and angles only: it depends neither on the distance of the
    centres, nor on the rotation of a square.

    Args:
        boxes1: (N, 5), as in `pairwise_probiou`.
        boxes2: (M, 5), from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (N, M), within [0, 1/3]; 0 for a box without an area.

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.

    Reference: Yang et al., The KFIoU Loss for Rotated Object Detection, ICLR 2023, arXiv:2201.12558.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense, pairwise=True).kfiou()


def elementwise_kfiou(
    boxes1: RotatedBoxes | Array,
    boxes2: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
) -> Array:
    """KFIoU of each rotated box with its counterpart; `pairwise_kfiou` has the definition.

    Args:
        boxes1: (..., 5), as in `pairwise_probiou`.
        boxes2: The same shape, from the same library.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.

    Returns:
        (...), within [0, 1/3].

    Raises:
        ValueError: If a shape does not fit, or the unit or the sense is unknown.
        TypeError: If the arrays come from different libraries, or do not hold floating point numbers.
    """
    return rotated_pairs(boxes1, boxes2, unit, sense).kfiou()


def rotated_pairs(
    first: RotatedBoxes | Array,
    second: RotatedBoxes | Array,
    unit: AngleUnit,
    sense: AngleSense,
    *,
    pairwise: bool = False,
    names: tuple[str, str] = ("boxes1", "boxes2"),
) -> RotatedPairs:
    """Checked pairs of rotated boxes, which are computed in float32 or float64.

    Args:
        first: (..., 5), or `RotatedBoxes`.
        second: The same.
        unit: The unit of the angles in arrays.
        sense: The way a positive angle turns.
        pairwise: Whether every box meets every box of the other set, rather than its counterpart.
        names: What messages call the two sets.
    """
    check_angle(unit, sense)
    sets = [_rows(name, boxes, unit, sense) for name, boxes in zip(names, (first, second), strict=True)]
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
    computed = computing_dtype_in(xp, dtype)
    one, other = (xp.astype(boxes, computed, copy=False) for boxes in sets)
    to_radians = math.pi / 180 if unit == "degrees" else 1.0
    angle = to_radians if sense == "clockwise" else -to_radians
    return RotatedPairs(xp, one, other, angle=angle, pairwise=pairwise)


def _rows(name: str, boxes: RotatedBoxes | Array, unit: AngleUnit, sense: AngleSense) -> Array:
    """(..., 5) rows whose angles have this unit and sense."""
    if isinstance(boxes, RotatedBoxes):
        return boxes.convert(unit=unit, sense=sense).numpy()
    if isinstance(boxes, Regions):
        raise TypeError(f"{name} must be rotated boxes, got {type(boxes).__name__}")
    return as_floats(boxes, name) if library_of(boxes) == "numpy" else boxes
