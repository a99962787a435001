"""Slow, plain definitions to compare with: written to be obviously right, one pair at a time."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ioukit.typing import FloatArray


def exact_overlap(variant: str, a: FloatArray, b: FloatArray) -> float:
    """The overlap of two xyxy boxes in rational arithmetic, rounded once; only CIoU's angles are floats."""
    ax1, ay1, ax2, ay2 = (Fraction(float(x)) for x in a)
    bx1, by1, bx2, by2 = (Fraction(float(x)) for x in b)
    area_a, area_b = (ax2 - ax1) * (ay2 - ay1), (bx2 - bx1) * (by2 - by1)
    intersection = max(min(ax2, bx2) - max(ax1, bx1), Fraction(0)) * max(min(ay2, by2) - max(ay1, by1), Fraction(0))
    union = area_a + area_b - intersection
    width, height = max(ax2, bx2) - min(ax1, bx1), max(ay2, by2) - min(ay1, by1)
    distance = ((ax1 + ax2 - bx1 - bx2) ** 2 + (ay1 + ay2 - by1 - by2) ** 2) / 4

    iou = _over(intersection, union)
    diou = iou - _over(distance, width**2 + height**2)
    turn = math.atan2(ax2 - ax1 + 0.0, ay2 - ay1 + 0.0) - math.atan2(bx2 - bx1 + 0.0, by2 - by1 + 0.0)  # no -0
    aspect = Fraction(4 / math.pi**2 * turn**2)
    exact = {
        "intersection": intersection,
        "iou": iou,
        "ioa_first": _over(intersection, area_a),
        "ioa_second": _over(intersection, area_b),
        "iom": _over(intersection, min(area_a, area_b)),
        "giou": iou - _over(width * height - union, width * height),
        "diou": diou,
        "ciou": diou - _over(aspect**2, 1 - iou + aspect),
    }
    return float(exact[variant])


def _over(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole if whole else Fraction(0)


def rounded_overlap(variant: str, a: FloatArray, b: FloatArray) -> Any:
    """The same in the dtype of the boxes, every operation rounded, in the order that the library promises.

    CIoU is missing: NumPy's arctan2 differs in the last bit from one platform to the next.
    """
    zero, quarter = a.dtype.type(0), a.dtype.type(0.25)
    ax1, ay1, ax2, ay2 = a
    bx1, by1, bx2, by2 = b
    area_a, area_b = (ax2 - ax1) * (ay2 - ay1), (bx2 - bx1) * (by2 - by1)
    intersection = max(min(ax2, bx2) - max(ax1, bx1), zero) * max(min(ay2, by2) - max(ay1, by1), zero)
    union = (area_a + area_b) - intersection
    width, height = max(ax2, bx2) - min(ax1, bx1), max(ay2, by2) - min(ay1, by1)
    dx, dy = (ax1 - bx1) + (ax2 - bx2), (ay1 - by1) + (ay2 - by2)

    def over(part: Any, whole: Any) -> Any:
        return part / whole if whole > 0 else zero

    hull, diagonal = width * height, width * width + height * height
    return {
        "intersection": intersection,
        "iou": over(intersection, union),
        "ioa_first": over(intersection, area_a),
        "ioa_second": over(intersection, area_b),
        "iom": over(intersection, min(area_a, area_b)),
        "giou": over(intersection, union) - over(max(hull - union, zero), hull),
        "diou": over(intersection, union) - over((dx * dx + dy * dy) * quarter, diagonal),
    }[variant]


def table(overlap: Any, variant: str, boxes1: FloatArray, boxes2: FloatArray) -> FloatArray:
    """(N, M) values of one of the functions above."""
    rows = [[overlap(variant, a, b) for b in boxes2] for a in boxes1]
    return np.array(rows, boxes1.dtype).reshape(len(boxes1), len(boxes2))
