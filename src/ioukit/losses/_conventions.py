"""The overlaps as other libraries compute them, with their epsilons, gates, clamps and defects.

They are written from the formulas. The gradient is that of the library too, also where it is NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, TypeAlias

from ioukit._arrays import constant

if TYPE_CHECKING:
    from ioukit.losses._pairs import TrainingPairs
    from ioukit.typing import Array


Convention: TypeAlias = Literal["torchvision", "mmdet", "ultralytics"]

_TORCHVISION_EPS = 1e-7
_MMDET_EPS = 1e-6  # the default of its loss classes; its functions have 1e-7, except that of IoU
_ULTRALYTICS_EPS = 1e-7


def convention(library: str, name: str) -> Callable[..., Array]:
    """The overlap as a library computes it; its loss is 1 minus the overlap.

    Raises:
        ValueError: If the library is not known, or has no such loss.
    """
    if library not in _LIBRARIES:
        raise ValueError(f"unknown compat={library!r}; choose from {', '.join(_LIBRARIES)}")
    known = _LIBRARIES[library]
    if name not in known:
        raise ValueError(f"{library} has no {name} loss; with compat={library!r} there are {', '.join(known)}")
    return known[name]


def _aspect(pairs: TrainingPairs, eps: float) -> Array:
    """The aspect term v of CIoU, from the ratios of the sides."""
    xp, a, b = pairs.xp, pairs.a, pairs.b
    turn = xp.atan(b.width / (b.height + eps)) - xp.atan(a.width / (a.height + eps))
    return 4 / math.pi**2 * turn**2


def _clipped(pairs: TrainingPairs) -> Array:
    """The intersection by ``clip``, which where boxes touch has the slope of the array library."""
    xp, a, b = pairs.xp, pairs.a, pairs.b
    width = xp.clip(xp.minimum(a.x2, b.x2) - xp.maximum(a.x1, b.x1), 0.0, None)
    return width * xp.clip(xp.minimum(a.y2, b.y2) - xp.maximum(a.y1, b.y1), 0.0, None)


def _areas(pairs: TrainingPairs) -> Array:
    return pairs.a.width * pairs.a.height + pairs.b.width * pairs.b.height


def _enclosing(pairs: TrainingPairs) -> tuple[Array, Array]:
    xp, a, b = pairs.xp, pairs.a, pairs.b
    return xp.maximum(a.x2, b.x2) - xp.minimum(a.x1, b.x1), xp.maximum(a.y2, b.y2) - xp.minimum(a.y1, b.y1)


def _distance(pairs: TrainingPairs, eps: float) -> Array:
    (width, height), (dx, dy) = _enclosing(pairs), pairs.apart()
    return (dx**2 + dy**2) / (width**2 + height**2 + eps)


def _torchvision_union(pairs: TrainingPairs) -> tuple[Array, Array]:
    xp, a, b = pairs.xp, pairs.a, pairs.b
    width = xp.minimum(a.x2, b.x2) - xp.maximum(a.x1, b.x1)
    height = xp.minimum(a.y2, b.y2) - xp.maximum(a.y1, b.y1)
    intersection = xp.where((width > 0) & (height > 0), width * height, 0.0)
    union = _areas(pairs) - intersection
    return intersection / (union + _TORCHVISION_EPS), union


def _torchvision_giou(pairs: TrainingPairs) -> Array:
    iou, union = _torchvision_union(pairs)
    width, height = _enclosing(pairs)
    return iou - (width * height - union) / (width * height + _TORCHVISION_EPS)


def _torchvision_diou(pairs: TrainingPairs) -> Array:
    return _torchvision_union(pairs)[0] - _distance(pairs, _TORCHVISION_EPS)


def _torchvision_ciou(pairs: TrainingPairs) -> Array:
    aspect = _aspect(pairs, 0.0)
    iou, _ = _torchvision_union(pairs)
    return _torchvision_diou(pairs) - constant(aspect / (1 - iou + aspect + _TORCHVISION_EPS)) * aspect


def _mmdet_iou(pairs: TrainingPairs) -> Array:
    intersection = _clipped(pairs)
    union = _areas(pairs) - intersection
    return intersection / pairs.xp.clip(union, _MMDET_EPS, None)


def _mmdet_raised_iou(pairs: TrainingPairs) -> Array:
    """The IoU of its class `IoULoss`, in all modes of at least epsilon, where the gradient ends."""
    return pairs.xp.clip(_mmdet_iou(pairs), _MMDET_EPS, None)


def _mmdet_giou(pairs: TrainingPairs) -> Array:
    xp, (width, height) = pairs.xp, _enclosing(pairs)
    union = xp.clip(_areas(pairs) - _clipped(pairs), _MMDET_EPS, None)
    hull = xp.clip(width * height, _MMDET_EPS, None)
    return _mmdet_iou(pairs) - (hull - union) / hull


def _mmdet_sum_iou(pairs: TrainingPairs) -> Array:
    """The IoU in mmdetection's DIoU and CIoU. They add the epsilon, which its IoU uses as a lower bound."""
    intersection = _clipped(pairs)
    return intersection / (_areas(pairs) - intersection + _MMDET_EPS)


def _mmdet_ciou(pairs: TrainingPairs) -> Array:
    xp, iou, aspect = pairs.xp, _mmdet_sum_iou(pairs), _aspect(pairs, _MMDET_EPS)
    # The gate in the code of the paper: shapes count only where IoU is above 0.5.
    alpha = constant(xp.where(iou > 0.5, aspect / (1 - iou + aspect), 0.0))
    return xp.clip(iou - (_distance(pairs, _MMDET_EPS) + alpha * aspect), -1.0, 1.0)


def _mmdet_siou(pairs: TrainingPairs, neg_gamma: bool = False) -> Array:
    """Without ``neg_gamma`` the exponents of the distance are positive, so a distance raises the overlap."""
    xp, a, b, eps = pairs.xp, pairs.a, pairs.b, _MMDET_EPS
    width, height = (xp.clip(side, eps, None) for side in _enclosing(pairs))
    dx, dy = ((b.x1 + b.x2 - a.x1 - a.x2) * 0.5 + eps, (b.y1 + b.y2 - a.y1 - a.y2) * 0.5 + eps)
    apart = (dx**2 + dy**2) ** 0.5
    along, across = xp.abs(dx) / apart, xp.abs(dy) / apart
    sine = xp.where(along > math.sqrt(2) / 2, across, along)
    angle = xp.cos(xp.asin(sine) * 2 - math.pi / 2)
    gamma = angle - 2 if neg_gamma else 2 - angle
    distance = 2 - xp.exp(gamma * (dx / width) ** 2) - xp.exp(gamma * (dy / height) ** 2)
    shape = 0.0
    for one, other in ((a.width, b.width), (a.height + eps, b.height + eps)):
        shape = shape + (1 - xp.exp(-(xp.abs(one - other) / xp.maximum(one, other)))) ** 4
    return xp.clip(_mmdet_sum_iou(pairs) - 0.5 * (distance + shape), -1.0, 1.0)


def _ultralytics_iou(pairs: TrainingPairs) -> Array:
    return _clipped(pairs) / _ultralytics_union(pairs)


def _ultralytics_union(pairs: TrainingPairs) -> Array:
    a, b, eps = pairs.a, pairs.b, _ULTRALYTICS_EPS
    # Only the heights have an epsilon. Measured values confirm it: 0.090893 for equal squares of side 1e-4.
    return a.width * (a.height + eps) + b.width * (b.height + eps) - _clipped(pairs) + eps


def _ultralytics_giou(pairs: TrainingPairs) -> Array:
    width, height = _enclosing(pairs)
    hull = width * height + _ULTRALYTICS_EPS
    return _ultralytics_iou(pairs) - (hull - _ultralytics_union(pairs)) / hull


def _ultralytics_ciou(pairs: TrainingPairs) -> Array:
    iou, aspect = _ultralytics_iou(pairs), _aspect(pairs, _ULTRALYTICS_EPS)
    alpha = constant(aspect / (aspect - iou + (1 + _ULTRALYTICS_EPS)))
    return iou - (_distance(pairs, _ULTRALYTICS_EPS) + alpha * aspect)


_LIBRARIES: dict[str, dict[str, Callable[..., Array]]] = {
    "torchvision": {"giou": _torchvision_giou, "diou": _torchvision_diou, "ciou": _torchvision_ciou},
    "mmdet": {
        "iou": _mmdet_raised_iou,
        "giou": _mmdet_giou,
        "diou": lambda pairs: _mmdet_sum_iou(pairs) - _distance(pairs, _MMDET_EPS),
        "ciou": _mmdet_ciou,
        "siou": _mmdet_siou,
    },
    "ultralytics": {
        "iou": _ultralytics_iou,
        "giou": _ultralytics_giou,
        "diou": lambda pairs: _ultralytics_iou(pairs) - _distance(pairs, _ULTRALYTICS_EPS),
        "ciou": _ultralytics_ciou,
    },
}
