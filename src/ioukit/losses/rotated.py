"""Losses of rotated boxes: of the exact IoU, and of Gaussians in place of the boxes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from ioukit._arrays import namespace_of, one_library
from ioukit._checks import check_choice
from ioukit.losses._help import documented_rotated
from ioukit.losses._pairs import IoUMode, Reduction, broadcast, by_mode, reduced, weighted
from ioukit.overlap.rotated import rotated_pairs, rows_of

if TYPE_CHECKING:
    from ioukit.overlap.rotated import RotatedPairs
    from ioukit.regions.rotated import RotatedBoxes
    from ioukit.typing import AngleSense, AngleUnit, Array


@documented_rotated
def rotated_iou_loss(
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
    *,
    mode: IoUMode = "linear",
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``1 - IoU`` of rotated boxes, exact, with an exact gradient in all five numbers; none for boxes apart.

    Options:
        mode: ``"linear"``, ``"log"``, which raises IoU to at least 1e-6, or ``"square"``.

    Reference: Zhou et al., IoU Loss for 2D/3D Object Detection, 3DV 2019, arXiv:1908.03851.
    """
    loss_of = by_mode(mode)

    def formula(pairs: RotatedPairs) -> Array:
        return loss_of(pairs.xp, pairs.iou())

    return _loss(formula, pred, target, unit, sense, reduction, weight, avg_factor)


@documented_rotated
def probiou_loss(
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
    *,
    mode: Literal["l1", "l2"] = "l1",
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``1 - ProbIoU``, the Hellinger distance of the Gaussians of the boxes; or their Bhattacharyya distance.

    The rotation of a square does not change it.

    Options:
        mode: ``"l1"`` for the Hellinger distance, within [0, 1]. Or ``"l2"`` for the Bhattacharyya distance, at least
            0, which has a useful gradient for boxes far apart, too; it is 0 for boxes without area.

    Reference: Llerena et al., Gaussian Bounding Boxes and ProbIoU, 2021, arXiv:2106.06072.
    """
    check_choice("mode", mode, ("l1", "l2"))

    def formula(pairs: RotatedPairs) -> Array:
        if mode == "l1":
            return 1 - pairs.probiou()
        return pairs.xp.where(pairs.empty, 0.0, pairs.bhattacharyya())

    return _loss(formula, pred, target, unit, sense, reduction, weight, avg_factor)


@documented_rotated
def kfiou_loss(
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
    *,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``1 - KFIoU``, within [2/3, 1]. It compares sizes and angles, but not positions: add a loss of the centres.

    The rotation of a square does not change it.

    Reference: Yang et al., The KFIoU Loss for Rotated Object Detection, ICLR 2023, arXiv:2201.12558.
    """

    def formula(pairs: RotatedPairs) -> Array:
        # Positions do not count, except that NaN among them is NaN.
        return (1 - pairs.kfiou()) + 0 * ((pairs.a.x - pairs.b.x) + (pairs.a.y - pairs.b.y))

    return _loss(formula, pred, target, unit, sense, reduction, weight, avg_factor)


@documented_rotated
def gwd_loss(
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
    *,
    function: Literal["log", "sqrt"] = "log",
    tau: float = 1.0,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``1 - 1 / (tau + f(W^2))``, with W the Wasserstein distance of the Gaussians of the boxes.

    The Gaussians have standard deviations of half the sides. Boxes far apart have a gradient, too. W is a length, so
    the loss depends on the unit of the boxes. The rotation of a square does not change it.

    Options:
        function: f: ``"log"`` is ``log(1 + x)``, and ``"sqrt"`` is the square root, by which the loss is that of W.
        tau: At least 1. The loss of equal boxes is ``1 - 1 / tau``.

    Reference: Yang et al., Rethinking Rotated Object Detection with Gaussian Wasserstein Distance Loss, ICML 2021,
    arXiv:2101.11952.
    """
    damped = _damped(function, tau)
    return _loss(
        lambda pairs: damped(pairs, pairs.wasserstein()), pred, target, unit, sense, reduction, weight, avg_factor
    )


@documented_rotated
def kld_loss(
    pred: RotatedBoxes | Array,
    target: RotatedBoxes | Array,
    *,
    function: Literal["log", "sqrt"] = "log",
    tau: float = 1.0,
    unit: AngleUnit = "radians",
    sense: AngleSense = "clockwise",
    reduction: Reduction = "none",
    weight: Array | None = None,
    avg_factor: float | Array | None = None,
) -> Array:
    """``1 - 1 / (tau + f(KL))``, with the Kullback-Leibler divergence ``KL(pred || target)`` of the Gaussians.

    It does not depend on the unit of the boxes, and angles count more for longer boxes. It is not symmetric:
    ``kld_loss(target, pred)`` is that of ``KL(target || pred)``. The rotation of a square does not change it.

    Options:
        function: f: ``"log"`` is ``log(1 + x)``, and ``"sqrt"`` is the square root.
        tau: At least 1. The loss of equal boxes is ``1 - 1 / tau``.

    Reference: Yang et al., Learning High-Precision Bounding Box for Rotated Object Detection via Kullback-Leibler
    Divergence, NeurIPS 2021, arXiv:2106.01883.
    """
    damped = _damped(function, tau)
    return _loss(
        lambda pairs: damped(pairs, pairs.divergence()), pred, target, unit, sense, reduction, weight, avg_factor
    )


def _damped(function: Literal["log", "sqrt"], tau: float) -> Callable[[RotatedPairs, Array], Array]:
    """From pairs and their distances, which have no upper bound, to losses of at most 1."""
    check_choice("function", function, ("log", "sqrt"))
    if not 1 <= tau < math.inf:
        raise ValueError(f"tau must be finite and at least 1, got {tau}")

    def loss_of(pairs: RotatedPairs, distance: Array) -> Array:
        away = pairs.xp.log1p(distance) if function == "log" else pairs.root(distance)
        return pairs.xp.where(pairs.empty, 1.0, ((tau - 1) + away) / (tau + away))

    return loss_of


def _loss(
    formula: Callable[[RotatedPairs], Array],
    pred: Any,
    target: Any,
    unit: AngleUnit,
    sense: AngleSense,
    reduction: Reduction,
    weight: Array | None,
    avg_factor: float | Array | None,
) -> Array:
    names = ("pred", "target")
    first, second = (rows_of(name, boxes, unit, sense) for name, boxes in zip(names, (pred, target), strict=True))
    one_library(pred=first, target=second)
    if first.shape[-1:] == second.shape[-1:]:
        second = broadcast(namespace_of(first), second, first.shape, "target must broadcast to pred")
    pairs, factors = rotated_pairs(first, second, unit, sense, names=names), None
    if weight is not None:
        factors, first, second = weighted(pairs.xp, weight, pairs.a.x.shape, pairs.a.x.dtype, first, second)
        pairs = rotated_pairs(first, second, unit, sense, names=names)
    return reduced(pairs.xp, formula(pairs), reduction, factors, avg_factor)
