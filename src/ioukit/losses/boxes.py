"""Losses of upright boxes: 1 less an overlap, and what has been made of that."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from ioukit._arrays import constant
from ioukit._checks import check_positive
from ioukit.losses._conventions import Convention, convention
from ioukit.losses._help import documented
from ioukit.losses._pairs import Reduction, TrainingPairs, box_loss
from ioukit.overlap import _measure
from ioukit.overlap._agnostic import FORMULAS
from ioukit.overlap._measure import Measure

if TYPE_CHECKING:
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = [
    "alpha_iou_loss",
    "ciou_loss",
    "diou_loss",
    "eiou_loss",
    "focal_eiou_loss",
    "focaler_iou_loss",
    "giou_loss",
    "inner_iou_loss",
    "iou_loss",
    "mpdiou_loss",
    "nwd_loss",
    "shape_iou_loss",
    "siou_loss",
    "wiou_loss",
]

Formula: TypeAlias = Callable[[TrainingPairs], "Array"]
Mode: TypeAlias = Literal["linear", "log", "square"]

_FLOOR = 1e-6  # of log IoU, mmdetection's: a loss of 13.8


def _overlap(measure: Measure) -> Formula:
    formula = FORMULAS[measure.variant]
    return lambda pairs: formula(pairs, *measure.parameters)


def _one_less(overlap: Formula) -> Formula:
    return lambda pairs: 1 - overlap(pairs)


def _named(name: str, compat: Convention | None) -> Formula:
    return _overlap(Measure(name)) if compat is None else convention(compat, name)


@documented
def iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    mode: Mode = "linear",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - IoU``, ``-log IoU`` or ``1 - IoU^2``; no gradient for boxes that lie apart.

    Options:
        mode: ``"linear"``, ``"log"`` (UnitBox), where IoU counts as 1e-6 at least, or ``"square"`` (YOLOX).

    Reference: Yu et al., UnitBox, ACM MM 2016, arXiv:1608.01471; Ge et al., YOLOX, 2021, arXiv:2107.08430.
    """
    if mode not in ("linear", "log", "square"):
        raise ValueError(f"unknown mode {mode!r}; choose from linear, log, square")
    overlap = _named("iou", compat)

    def formula(pairs: TrainingPairs) -> Array:
        iou = overlap(pairs)
        if mode == "log":
            return -pairs.xp.log(pairs.xp.where(iou > _FLOOR, iou, _FLOOR))
        return 1 - (iou if mode == "linear" else iou * iou)

    fused = "iou" if mode == "linear" and compat is None else None
    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check, fused=fused)


@documented
def giou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - GIoU``, within [0, 2]: boxes that lie apart grow towards each other first.

    Reference: Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630.
    """
    return _simple("giou", pred, target, format, reduction, weight, check, compat)


@documented
def diou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - DIoU``, within [0, 2]: the centres move together.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return _simple("diou", pred, target, format, reduction, weight, check, compat)


@documented
def ciou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - CIoU``, within [0, 2.5]: the centres move together, and the aspect ratios too.

    The weight of the aspect term is a constant for the gradient, and there is no gate at IoU 0.5.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return _simple("ciou", pred, target, format, reduction, weight, check, compat)


@documented
def eiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - EIoU``, within [0, 3.25]: the centres move together, widths and heights become equal, each by itself.

    Reference: Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158.
    """
    return _simple("eiou", pred, target, format, reduction, weight, check, None)


@documented
def focal_eiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    gamma: float = 0.5,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``IoU^gamma (1 - EIoU)``: good predictions count more, and those that miss not at all.

    The weight is a constant for the gradient, which would otherwise lower the loss by lowering IoU.

    Options:
        gamma: The power, positive.

    Reference: Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158.
    """
    check_positive(gamma=gamma)

    def formula(pairs: TrainingPairs) -> Array:
        return constant(pairs.power(pairs.iou(), gamma)) * (1 - FORMULAS["eiou"](pairs))

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def siou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - SIoU``: towards the nearer axis first, then along it, and to equal sides.

    Reference: Gevorgyan, SIoU Loss, 2022, arXiv:2205.12740, with theta = 4.
    """
    formula = _one_less(_overlap(Measure("siou")))
    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def mpdiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    image_size: Sequence[float],
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - MPDIoU``: each corner moves to its counterpart, by the measure of the image.

    Options:
        image_size: (width, height) of the image in the unit of the boxes. Copies that divide by another diagonal give
            other numbers.

    Reference: Ma and Xu, MPDIoU, 2023, arXiv:2307.07662.
    """
    formula = _one_less(_overlap(_measure.mpdiou(image_size)))
    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def nwd_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    constant: float = 12.8,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """1 less the normalized Wasserstein distance as a similarity, within [0, 1], for small objects.

    Options:
        constant: The length at which the similarity is 1/e: the mean size of an object in the data set, in the unit of
            the boxes. 12.8 pixels is that of AI-TOD.

    Reference: Wang et al., A Normalized Gaussian Wasserstein Distance, 2021, arXiv:2110.13389.
    """
    formula = _one_less(_overlap(_measure.nwd(constant)))
    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def alpha_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    alpha: float = 3.0,
    base: Literal["iou", "giou", "diou", "ciou"] = "iou",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - IoU^alpha + penalty^alpha``, term by term the power of a loss.

    Options:
        alpha: The power, positive. Below 1 the slope grows beyond bounds towards 0, where it counts as 0.
        base: Whose penalty: none, ``(|C| - |A or B|) / |C|``, ``d^2 / c^2``, or that and ``weight * v``.

    Reference: He et al., Alpha-IoU, NeurIPS 2021, arXiv:2110.13675.
    """
    check_positive(alpha=alpha)
    if base not in ("iou", "giou", "diou", "ciou"):
        raise ValueError(f"unknown base {base!r}; choose from iou, giou, diou, ciou")

    def formula(pairs: TrainingPairs) -> Array:
        loss = 1 - pairs.power(pairs.iou(), alpha)
        if base == "giou":
            width, height = pairs.hull()
            hull = width * height
            union = (pairs.a.area + pairs.b.area) - pairs.intersection()
            loss = loss + pairs.power(pairs.ratio(hull - union, hull), alpha)
        if base in ("diou", "ciou"):
            loss = loss + pairs.power(pairs.centre_penalty(), alpha)
        if base == "ciou":
            aspect = _aspect(pairs)
            share = constant(pairs.ratio(aspect, (1 - pairs.iou()) + aspect))
            loss = loss + pairs.power(share * aspect, alpha)
        return loss

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def inner_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    ratio: float,
    base: Literal["iou", "giou", "diou", "ciou", "eiou", "siou"] = "iou",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``L + IoU - IoU'``, IoU' that of both boxes scaled about their own centres: the penalties of L stay as they are.

    Options:
        ratio: The scale, above 0 and at most 4; above 1 it reaches boxes that lie apart, below 1 it sharpens.
        base: What the loss L is 1 less of.

    Reference: Zhang et al., Inner-IoU, 2023, arXiv:2311.02877.
    """
    if base not in ("iou", "giou", "diou", "ciou", "eiou", "siou"):
        raise ValueError(f"unknown base {base!r}; choose from iou, giou, diou, ciou, eiou, siou")
    inner, outer = _overlap(_measure.inner_iou(ratio)), _overlap(Measure(base))

    def formula(pairs: TrainingPairs) -> Array:
        return (1 - outer(pairs)) + (pairs.iou() - inner(pairs))

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def focaler_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    low: float = 0.0,
    high: float = 0.95,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """1 less IoU stretched from [low, high] to [0, 1], beyond which there is no gradient.

    Options:
        low: The IoU that counts as 0.
        high: The IoU that counts as 1, above ``low``.

    Reference: Zhang and Zhang, Focaler-IoU, 2024, arXiv:2401.10525.
    """
    if not 0 <= low < high <= 1:
        raise ValueError(f"low and high must satisfy 0 <= low < high <= 1, got {low} and {high}")

    def formula(pairs: TrainingPairs) -> Array:
        iou = pairs.iou()
        stretched = pairs.positive((iou - low) / (high - low))
        return pairs.positive(1 - stretched)

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def shape_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    scale: float = 0.0,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - IoU`` and distances of centres and sides, weighted by the shape of the target.

    Across a long target the centres count more than along it: ``(hh dx^2 + ww dy^2) / c^2`` and half the sum of
    ``(1 - exp(-hh |dw| / max w))^4`` and ``(1 - exp(-ww |dh| / max h))^4``, with ``ww = 2 w^s / (w^s + h^s)`` and
    ``hh = 2 - ww`` of the target's w and h, s the scale.

    Options:
        scale: How much the shape counts, from 0 (not at all) on; the paper ties it to the sizes of a data set.

    Reference: Zhang and Zhang, Shape-IoU, 2023, arXiv:2312.17663.
    """
    if not (math.isfinite(scale) and scale >= 0):
        raise ValueError(f"scale must be finite and at least 0, got {scale}")

    def formula(pairs: TrainingPairs) -> Array:
        xp, (width, height), (dx, dy), (dw, dh) = pairs.xp, pairs.hull(), pairs.apart(), pairs.unlike()
        w, h = pairs.positive(pairs.b.width), pairs.positive(pairs.b.height)
        # By the larger side: powers of the sides themselves overflow.
        larger = xp.maximum(w, h)
        w, h = (pairs.power(pairs.ratio(side, larger), scale) if scale else xp.ones_like(side) for side in (w, h))
        across = 2 * pairs.ratio(w, w + h)
        along = 2 * pairs.ratio(h, w + h)
        distance = pairs.ratio(along * (dx * dx) + across * (dy * dy), width * width + height * height)
        wide = along * pairs.ratio(pairs.magnitude(dw), xp.maximum(pairs.a.width, pairs.b.width))
        high = across * pairs.ratio(pairs.magnitude(dh), xp.maximum(pairs.a.height, pairs.b.height))
        shape = (1 - xp.exp(-wide)) ** 4 + (1 - xp.exp(-high)) ** 4
        return (1 - pairs.iou()) + (distance + 0.5 * shape)

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


@documented
def wiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    version: Literal[1, 2, 3] = 1,
    mean: float | Array | None = None,
    gamma: float = 0.5,
    alpha: float = 1.7,
    delta: float = 2.7,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    check: bool = False,
) -> Array:
    """Wise-IoU: ``1 - IoU`` times a weight of the distance and, from version 2 on, of how odd the loss is.

    Version 1 is ``exp(d^2 / c^2) (1 - IoU)``, c being a constant for the gradient. With ``b = (1 - IoU) / mean``, a
    constant too, version 2 multiplies it by ``b^gamma``, and version 3 by ``b / (delta alpha^(b - delta))``, which is
    largest in the middle: neither easy nor hopeless boxes count much. `ioukit.torch.losses.WIoULoss` keeps the mean.

    Options:
        version: 1, 2 or 3.
        mean: The running mean of ``1 - IoU`` so far, for versions 2 and 3: a number or an array without dimensions.
        gamma: The power of version 2.
        alpha: The base of version 3, above 1.
        delta: The b to which version 3 gives the weight 1.

    Reference: Tong et al., Wise-IoU, 2023, arXiv:2301.10051.
    """
    if version not in (1, 2, 3):
        raise ValueError(f"unknown version {version!r}; choose from 1, 2, 3")
    if version > 1 and mean is None:
        raise ValueError(
            f"version {version} needs mean, the running mean of 1 - IoU; WIoULoss of ioukit.torch keeps it"
        )
    check_positive(gamma=gamma, alpha=alpha, delta=delta)

    def formula(pairs: TrainingPairs) -> Array:
        (width, height), (dx, dy) = pairs.hull(), pairs.apart()
        away = pairs.ratio(dx * dx + dy * dy, constant(width * width + height * height))
        loss = 1 - pairs.iou()
        near = pairs.xp.exp(away) * loss
        if version == 1:
            return near
        oddness = constant(pairs.ratio(loss, mean + pairs.xp.zeros_like(loss)))
        if version == 2:
            return pairs.power(oddness, gamma) * near
        return oddness * pairs.xp.exp((delta - oddness) * math.log(alpha)) / delta * near

    return box_loss(formula, pred, target, fmt=format, reduction=reduction, weight=weight, check=check)


def _aspect(pairs: TrainingPairs) -> Array:
    """CIoU's v."""
    turn = pairs.a.angle - pairs.b.angle
    return 4 / math.pi**2 * (turn * turn)


def _simple(
    name: str,
    pred: BoxesLike,
    target: BoxesLike,
    fmt: BoxFormat,
    reduction: Reduction,
    weight: Array | None,
    check: bool,
    compat: Convention | None,
) -> Array:
    loss = partial(box_loss, _one_less(_named(name, compat)), pred, target)
    return loss(fmt=fmt, reduction=reduction, weight=weight, check=check, fused=name if compat is None else None)
