"""Losses of upright boxes for all arrays, and a loss with its gradient for NumPy arrays, which record none.

A loss is 1 minus an overlap, or an overlap that is weighted, raised, stretched or combined.
Each function has its full signature, with the arguments that all losses share. Editors and the reference of the API
read signatures without running the code.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit import _core
from ioukit._arrays import as_floats, computing_dtype, constant
from ioukit._checks import check_boxes, check_choice, check_positive, check_threads
from ioukit.losses._conventions import Convention, convention
from ioukit.losses._help import documented
from ioukit.losses._pairs import Formula, IoUMode, PairLoss, Reduction, TrainingPairs, box_loss, by_mode, overlap_of
from ioukit.overlap import variants
from ioukit.overlap._array_formulas import FORMULAS
from ioukit.overlap.variants import Measure

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


NativeLoss: TypeAlias = Literal["iou", "giou", "diou", "ciou", "eiou", "siou"]
Base: TypeAlias = Literal["iou", "giou", "diou", "ciou", "eiou", "siou"]


@documented
def iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    mode: IoUMode = "linear",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - IoU``, ``-log IoU`` or ``1 - IoU^2``. Boxes without an intersection have no gradient.

    Options:
        mode: ``"linear"``, ``"log"`` (UnitBox), which raises IoU to at least 1e-6, or ``"square"`` (YOLOX).

    Reference: Yu et al., UnitBox, ACM MM 2016, arXiv:1608.01471; Ge et al., YOLOX, 2021, arXiv:2107.08430.
    """
    loss_of, overlap = by_mode(mode), _named("iou", compat)

    def formula(pairs: TrainingPairs) -> Array:
        return loss_of(pairs.xp, overlap(pairs))

    native = "iou" if mode == "linear" and compat is None else None
    return box_loss(PairLoss(formula, native), pred, target, format, reduction, weight, avg_factor, check)


@documented
def giou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - GIoU``, within [0, 2]. A predicted box apart from its target first grows towards it.

    Reference: Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630.
    """
    return box_loss(_one_minus_named("giou", compat), pred, target, format, reduction, weight, avg_factor, check)


@documented
def diou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - DIoU``, within [0, 2]. The centres move together.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return box_loss(_one_minus_named("diou", compat), pred, target, format, reduction, weight, avg_factor, check)


@documented
def ciou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - CIoU``, within [0, 2.5]. The centres move together, and the aspect ratios become equal.

    The gradient treats the weight of the aspect term as a constant. The weight applies at every IoU, also below 0.5.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return box_loss(_one_minus_named("ciou", compat), pred, target, format, reduction, weight, avg_factor, check)


@documented
def eiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - EIoU``, within [0, 3.25]. The centres move together; widths and heights become equal, each by its own term.

    Reference: Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158.
    """
    return box_loss(_one_minus_named("eiou"), pred, target, format, reduction, weight, avg_factor, check)


@documented
def siou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    neg_gamma: bool | None = None,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
    compat: Convention | None = None,
) -> Array:
    """``1 - SIoU``. A centre first moves to the nearer axis through the target, then along it; the sides become equal.

    Options:
        neg_gamma: The sign of the exponents of the distance term. True is the formula of the paper, of YOLOv6 and of
            this function. MMDetection's default is False, by which a distance lowers the loss; so it is the default
            with ``compat="mmdet"``, and only there it may be False.

    Reference: Gevorgyan, SIoU Loss, 2022, arXiv:2205.12740, with theta = 4.
    """
    if compat is not None:
        loss = _one_minus(functools.partial(convention(compat, "siou"), neg_gamma=bool(neg_gamma)))
    elif neg_gamma is False:
        raise ValueError(
            "neg_gamma=False is a rule of MMDetection, by which a distance lowers the loss: add compat='mmdet'"
        )
    else:
        loss = _one_minus_named("siou")
    return box_loss(loss, pred, target, format, reduction, weight, avg_factor, check)


@documented
def mpdiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    image_size: Sequence[float],
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - MPDIoU``. Each corner moves to its counterpart; distances are relative to the diagonal of the image.

    Options:
        image_size: (width, height) of the image in the unit of the boxes. Implementations that divide by another
            diagonal give other numbers.

    Reference: Ma and Xu, MPDIoU, 2023, arXiv:2307.07662.
    """
    measure = variants.mpdiou(image_size)
    loss = _one_minus(overlap_of(measure), "mpdiou", measure.parameters)
    return box_loss(loss, pred, target, format, reduction, weight, avg_factor, check)


@documented
def nwd_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    constant: float = 12.8,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """1 minus the normalized Wasserstein distance as a similarity, within [0, 1], for small objects.

    Options:
        constant: The Wasserstein distance at which the similarity is 1/e, in the unit of the boxes. The authors take
            the mean size of the objects in the data set: 12.8 pixels in AI-TOD.

    Reference: Wang et al., A Normalized Gaussian Wasserstein Distance, 2021, arXiv:2110.13389.
    """
    return box_loss(
        _one_minus(overlap_of(variants.nwd(constant))), pred, target, format, reduction, weight, avg_factor, check
    )


@documented
def focal_eiou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    gamma: float = 0.5,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``IoU^gamma (1 - EIoU)``. Good predictions count more, and predictions without an intersection do not count.

    The gradient treats the weight ``IoU^gamma`` as a constant. Otherwise it could lower the loss by lowering IoU.

    Options:
        gamma: The power, positive.

    Reference: Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158.
    """
    check_positive(gamma=gamma)

    def formula(pairs: TrainingPairs) -> Array:
        return constant(pairs.power(pairs.iou(), gamma)) * (1 - FORMULAS["eiou"](pairs))

    return box_loss(PairLoss(formula), pred, target, format, reduction, weight, avg_factor, check)


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
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - IoU^alpha + penalty^alpha``: the power of each term of a loss.

    Options:
        alpha: The power, positive. Below 1 the slope grows without bound towards 0; at 0 it counts as 0.
        base: The overlap whose penalty is added: ``"iou"`` has none, ``"giou"`` has ``(|C| - |A or B|) / |C|``,
            ``"diou"`` has ``d^2 / c^2``, and ``"ciou"`` has that of DIoU and ``weight * v``.

    Reference: He et al., Alpha-IoU, NeurIPS 2021, arXiv:2110.13675.
    """
    check_positive(alpha=alpha)
    check_choice("base", base, ("iou", "giou", "diou", "ciou"))

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
            aspect = pairs.aspect()
            share = constant(pairs.ratio(aspect, (1 - pairs.iou()) + aspect))
            loss = loss + pairs.power(share * aspect, alpha)
        return loss

    return box_loss(
        PairLoss(formula, f"alpha_{base}", (alpha,)), pred, target, format, reduction, weight, avg_factor, check
    )


@documented
def inner_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    ratio: float,
    base: Base = "iou",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``L + IoU - IoU'``, with ``IoU'`` the IoU of both boxes scaled about their centres. The penalties of L stay.

    Options:
        ratio: The scale, above 0 and at most 4. Above 1 also boxes apart have a gradient; below 1 it is steeper.
        base: The overlap of the loss ``L = 1 - overlap``.

    Reference: Zhang et al., Inner-IoU, 2023, arXiv:2311.02877.
    """
    check_choice("base", base, get_args(Base))
    inner, outer = overlap_of(variants.inner_iou(ratio)), overlap_of(Measure(base))

    def formula(pairs: TrainingPairs) -> Array:
        return (1 - outer(pairs)) + (pairs.iou() - inner(pairs))

    return box_loss(PairLoss(formula), pred, target, format, reduction, weight, avg_factor, check)


@documented
def focaler_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    low: float = 0.0,
    high: float = 0.95,
    base: Base = "iou",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``L + IoU - IoU'``, with ``IoU'`` the IoU stretched from [low, high] to [0, 1]. The penalties of L stay.

    Outside this interval, ``IoU'`` has no gradient.

    Options:
        low: The IoU that becomes 0.
        high: The IoU that becomes 1, above ``low``.
        base: The overlap of the loss ``L = 1 - overlap``. With ``"iou"`` the loss is ``1 - IoU'``.

    Reference: Zhang and Zhang, Focaler-IoU, 2024, arXiv:2401.10525.
    """
    check_choice("base", base, get_args(Base))
    if not 0 <= low < high <= 1:
        raise ValueError(f"low and high must satisfy 0 <= low < high <= 1, got {low} and {high}")
    outer = overlap_of(Measure(base))

    def formula(pairs: TrainingPairs) -> Array:
        iou = pairs.iou()
        stretched = pairs.positive((iou - low) / (high - low))
        return pairs.positive(1 - stretched) + (iou - outer(pairs))

    return box_loss(PairLoss(formula), pred, target, format, reduction, weight, avg_factor, check)


@documented
def shape_iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    scale: float = 0.0,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """``1 - IoU`` plus the distances of centres and sides, weighted by the shape of the target.

    The term of the centres is ``(hh dx^2 + ww dy^2) / c^2``. The term of the sides is half the sum of
    ``(1 - exp(-hh |dw| / max w))^4`` and ``(1 - exp(-ww |dh| / max h))^4``. The weights follow from the width w and the
    height h of the target and the scale s: ``ww = 2 w^s / (w^s + h^s)`` and ``hh = 2 - ww``. So a shift across a long
    target costs more than a shift along it.

    Options:
        scale: How much the shape counts, at least 0; 0 ignores the shape. The paper chooses it by the sizes of the
            objects in a data set.

    Reference: Zhang and Zhang, Shape-IoU, 2023, arXiv:2312.17663.
    """
    if not 0 <= scale < math.inf:
        raise ValueError(f"scale must be finite and at least 0, got {scale}")

    def formula(pairs: TrainingPairs) -> Array:
        xp, (width, height), (dx, dy), (dw, dh) = pairs.xp, pairs.hull(), pairs.apart(), pairs.unlike()
        w, h = pairs.positive(pairs.b.width), pairs.positive(pairs.b.height)
        # Relative to the larger side, because powers of the sides themselves overflow.
        larger = xp.maximum(w, h)
        w, h = (pairs.power(pairs.ratio(side, larger), scale) if scale else xp.ones_like(side) for side in (w, h))
        across = 2 * pairs.ratio(w, w + h)
        along = 2 * pairs.ratio(h, w + h)
        distance = pairs.ratio(along * (dx * dx) + across * (dy * dy), width * width + height * height)
        wide = along * pairs.ratio(pairs.magnitude(dw), xp.maximum(pairs.a.width, pairs.b.width))
        high = across * pairs.ratio(pairs.magnitude(dh), xp.maximum(pairs.a.height, pairs.b.height))
        shape = (1 - xp.exp(-wide)) ** 4 + (1 - xp.exp(-high)) ** 4
        return (1 - pairs.iou()) + (distance + 0.5 * shape)

    return box_loss(PairLoss(formula), pred, target, format, reduction, weight, avg_factor, check)


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
    avg_factor: float | Array | None = None,
    check: bool = False,
) -> Array:
    """Wise-IoU: ``1 - IoU`` times a weight that follows from the distance, and in versions 2 and 3 from the loss.

    Version 1 is ``exp(d^2 / c^2) (1 - IoU)``. Versions 2 and 3 multiply it by a weight of the outlier degree
    ``b = (1 - IoU) / mean``. In version 2 the weight is ``b^gamma``. In version 3 it is
    ``b / (delta alpha^(b - delta))``, which is largest for a medium b, so neither easy boxes nor outliers count much.
    The gradient treats c and b as constants. `ioukit.torch.losses.WIoULoss` keeps the mean.

    Options:
        version: 1, 2 or 3.
        mean: The running mean of ``1 - IoU``, for versions 2 and 3: a number or an array without dimensions.
        gamma: The power of version 2.
        alpha: The base of version 3, above 1.
        delta: The outlier degree to which version 3 gives the weight 1.

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
        outlier_degree = constant(pairs.ratio(loss, mean + pairs.xp.zeros_like(loss)))
        if version == 2:
            return pairs.power(outlier_degree, gamma) * near
        return outlier_degree * pairs.xp.exp((delta - outlier_degree) * math.log(alpha)) / delta * near

    parameters: dict[int, tuple[Any, ...]] = {1: (), 2: (mean, gamma), 3: (mean, alpha, delta)}
    # Native code has one falling weight, and one mean. A compiler knows numbers by their types, not by what they lack.
    one_mean = mean is None or isinstance(mean, (int, float)) or mean.ndim == 0
    native = f"wiou_{version}" if alpha >= 1 and one_mean else None
    return box_loss(
        PairLoss(formula, native, parameters[version]), pred, target, format, reduction, weight, avg_factor, check
    )


def loss_and_gradient(
    name: NativeLoss, pred: ArrayLike, target: ArrayLike, *, check: bool = False, threads: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """The loss of each pair and its gradient in the predicted box, in one pass of native code.

    Args:
        name: ``"iou"``, ``"giou"``, ``"diou"``, ``"ciou"``, ``"eiou"`` or ``"siou"``, for the loss of ``<name>_loss``.
        pred: (N, 4) xyxy predicted boxes, an array or lists. An inverted side counts as a negative length.
        target: (N, 4) xyxy.
        check: Whether boxes that are inverted or not finite are errors.
        threads: How many threads may work; by default one per core. It does not change a bit of the result.

    Returns:
        The losses, (N,), and their gradients, (N, 4), in the dtype that both arguments promote to; float32 for half
        precision.

    Raises:
        ValueError: If the name is not known, a shape is not (N, 4), or the lengths differ.
        TypeError: If an argument is not an array of real numbers.

    Examples:
        >>> from ioukit.losses import loss_and_gradient
        >>> loss_and_gradient("diou", [[0, 0, 2, 2]], [[2, 0, 4, 2]])
        (array([1.2]), array([[-0.02,  0.02, -0.1 , -0.02]]))

    Where two coordinates are equal, each gets half of the gradient. The intersection of boxes that only touch has no
    gradient. The weight in CIoU is a constant.
    """
    check_choice("loss", name, get_args(NativeLoss))
    sets = [as_floats(boxes, label) for label, boxes in (("pred", pred), ("target", target))]
    for label, boxes in zip(("pred", "target"), sets, strict=True):
        if boxes.ndim != 2 or boxes.shape[1] != 4:
            raise ValueError(f"{label} must have shape (N, 4), got {boxes.shape}")
    first, second = sets
    if len(first) != len(second):
        raise ValueError(f"pred and target must have one length, got {len(first)} and {len(second)}")
    dtype = computing_dtype(np.promote_types(first.dtype, second.dtype))
    first, second = (np.require(boxes, dtype, ["C", "A"]) for boxes in sets)
    if check:
        check_boxes(first, "xyxy", "pred")
        check_boxes(second, "xyxy", "target")
    values, gradient = np.empty(len(first), dtype), np.empty_like(first)
    _core.loss_gradient(name, (), first, second, values, gradient, check_threads(threads))
    return values, gradient


def _named(name: str, compat: Convention | None) -> Formula:
    """The overlap of this name, by our definition or as another library computes it."""
    return overlap_of(Measure(name)) if compat is None else convention(compat, name)


def _one_minus(overlap: Formula, native: str | None = None, parameters: tuple[float, ...] = ()) -> PairLoss:
    return PairLoss(lambda pairs: 1 - overlap(pairs), native, parameters)


def _one_minus_named(name: str, compat: Convention | None = None) -> PairLoss:
    """1 minus an overlap that native code has too, if the definition is ours."""
    return _one_minus(_named(name, compat), name if compat is None else None)
