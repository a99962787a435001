"""Slow definitions to compare with, one pair at a time: obviously right."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ioukit.typing import FloatArray


def exact_overlap(variant: str, a: FloatArray, b: FloatArray, *parameters: float) -> float:
    """The overlap of two xyxy boxes in rational arithmetic, rounded once; only angles, roots and powers are floats."""
    ax1, ay1, ax2, ay2 = (Fraction(float(x)) for x in a)
    bx1, by1, bx2, by2 = (Fraction(float(x)) for x in b)
    area_a, area_b = (ax2 - ax1) * (ay2 - ay1), (bx2 - bx1) * (by2 - by1)
    intersection = max(min(ax2, bx2) - max(ax1, bx1), Fraction(0)) * max(min(ay2, by2) - max(ay1, by1), Fraction(0))
    union = area_a + area_b - intersection
    width, height = max(ax2, bx2) - min(ax1, bx1), max(ay2, by2) - min(ay1, by1)
    distance = ((ax1 + ax2 - bx1 - bx2) ** 2 + (ay1 + ay2 - by1 - by2) ** 2) / 4

    iou = _over(intersection, union)
    diou = iou - _over(distance, width**2 + height**2)
    turn = math.atan2(ax2 - ax1, ay2 - ay1) - math.atan2(bx2 - bx1, by2 - by1)
    aspect = Fraction(4 / math.pi**2 * turn**2)
    width_a, height_a, width_b, height_b = ax2 - ax1, ay2 - ay1, bx2 - bx1, by2 - by1
    apart_x, apart_y = abs(ax1 + ax2 - bx1 - bx2) / 2, abs(ay1 + ay2 - by1 - by2) / 2
    given = [Fraction(parameter) for parameter in parameters]

    def siou() -> Fraction:
        sine = math.sqrt(min(apart_x, apart_y) ** 2 / distance) if distance else 0.0
        gamma = 2 - math.sin(2 * math.asin(min(sine, 1.0)))
        toward = [_over(apart_x**2, width**2), _over(apart_y**2, height**2)]
        unlike = [_over(abs(one - other), max(one, other)) for one, other in ((width_a, width_b), (height_a, height_b))]
        distances = sum(1 - math.exp(-gamma * r) for r in toward)
        shapes = sum((1 - math.exp(-r)) ** 4 for r in unlike)
        return iou - Fraction((distances + shapes) / 2)

    def inner_iou() -> Fraction:
        (scale,) = given
        shared = [
            max(Fraction(0), min(scale * one, scale * other, scale * (one + other) / 2 - apart))
            for one, other, apart in ((width_a, width_b, apart_x), (height_a, height_b, apart_y))
        ]
        both = shared[0] * shared[1]
        return _over(both, scale**2 * (area_a + area_b) - both)

    if variant == "siou":
        return float(siou())
    if variant == "mpdiou":
        corners = (ax1 - bx1) ** 2 + (ay1 - by1) ** 2 + (ax2 - bx2) ** 2 + (ay2 - by2) ** 2
        return float(iou - corners / (given[0] ** 2 + given[1] ** 2))
    if variant == "alpha_iou":
        return math.pow(iou, parameters[0])
    if variant == "inner_iou":
        return float(inner_iou())
    if variant == "nwd":
        sides = ((width_a - width_b) ** 2 + (height_a - height_b) ** 2) / 4
        return math.exp(-math.sqrt(distance + sides) / parameters[0])
    sides = _over((width_a - width_b) ** 2, width**2) + _over((height_a - height_b) ** 2, height**2)
    exact: dict[str, Fraction | float] = {
        "intersection": intersection,
        "iou": iou,
        "ioa_first": _over(intersection, area_a),
        "ioa_second": _over(intersection, area_b),
        "iom": _over(intersection, min(area_a, area_b)),
        "giou": iou - _over(width * height - union, width * height),
        "diou": diou,
        "ciou": diou - _over(aspect**2, 1 - iou + aspect),
        "eiou": diou - sides,
        "centre_distance": math.sqrt(distance),
        "jaccard_distance": 1 - iou,
        "tiou": iou * _over(intersection, area_a),
    }
    return float(exact[variant])


def _over(part: Fraction, whole: Fraction) -> Fraction:
    return part / whole if whole else Fraction(0)


def rounded_overlap(variant: str, a: FloatArray, b: FloatArray, *parameters: float) -> Any:
    """The same in the dtype of the boxes, with every operation rounded, in the documented order.

    Those with angles, exponentials and powers are missing: NumPy's differ in the last bit between platforms.
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
    half, (wide_a, high_a, wide_b, high_b) = a.dtype.type(0.5), (ax2 - ax1, ay2 - ay1, bx2 - bx1, by2 - by1)
    iou = over(intersection, union)
    diou = iou - over((dx * dx + dy * dy) * quarter, diagonal)
    if variant == "mpdiou":
        low_x, low_y, high_x, high_y = ax1 - bx1, ay1 - by1, ax2 - bx2, ay2 - by2
        squared = a.dtype.type(parameters[0] * parameters[0] + parameters[1] * parameters[1])
        return iou - ((low_x * low_x + low_y * low_y) + (high_x * high_x + high_y * high_y)) / squared
    if variant == "inner_iou":
        scale = a.dtype.type(parameters[0])
        wide_a, high_a, wide_b, high_b = (side * scale for side in (wide_a, high_a, wide_b, high_b))
        both = max(min(wide_a, wide_b, ((wide_a + wide_b) - abs(dx)) * half), zero)
        both = both * max(min(high_a, high_b, ((high_a + high_b) - abs(dy)) * half), zero)
        return over(both, (wide_a * high_a + wide_b * high_b) - both)
    dw, dh = wide_a - wide_b, high_a - high_b
    return {
        "intersection": intersection,
        "iou": iou,
        "ioa_first": over(intersection, area_a),
        "ioa_second": over(intersection, area_b),
        "iom": over(intersection, min(area_a, area_b)),
        "giou": iou - over(max(hull - union, zero), hull),
        "diou": diou,
        "eiou": diou - (over(dw * dw, width * width) + over(dh * dh, height * height)),
        "centre_distance": np.sqrt(dx * dx + dy * dy) * half,
        "jaccard_distance": a.dtype.type(1) - iou,
        "tiou": iou * over(intersection, area_a),
    }[variant]


def table(overlap: Any, variant: str, boxes1: FloatArray, boxes2: FloatArray, *parameters: float) -> FloatArray:
    """(N, M) values of one of the functions above."""
    rows = [[overlap(variant, a, b, *parameters) for b in boxes2] for a in boxes1]
    return np.array(rows, boxes1.dtype).reshape(len(boxes1), len(boxes2))
