"""Losses that are 1 minus an overlap of upright boxes.

Each function has its full signature, with the arguments that all losses share. Editors and the reference of the API
read signatures without running the code.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ioukit.losses._conventions import Convention, convention
from ioukit.losses._help import documented
from ioukit.losses._pairs import Formula, IoUMode, PairLoss, Reduction, TrainingPairs, box_loss, by_mode, overlap_of
from ioukit.overlap import variants
from ioukit.overlap.variants import Measure

if TYPE_CHECKING:
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat

__all__ = [
    "ciou_loss",
    "diou_loss",
    "eiou_loss",
    "giou_loss",
    "iou_loss",
    "mpdiou_loss",
    "nwd_loss",
    "siou_loss",
]


def _named(name: str, compat: Convention | None) -> Formula:
    """The overlap of this name, by our definition or as another library computes it."""
    return overlap_of(Measure(name)) if compat is None else convention(compat, name)


def _one_minus(overlap: Formula, native: str | None = None) -> PairLoss:
    return PairLoss(lambda pairs: 1 - overlap(pairs), native)


def _one_minus_named(name: str, compat: Convention | None = None) -> PairLoss:
    """1 minus an overlap that native code has too, if the definition is ours."""
    return _one_minus(_named(name, compat), name if compat is None else None)


@documented
def iou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    mode: IoUMode = "linear",
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
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
    return box_loss(PairLoss(formula, native), pred, target, format, reduction, weight, check)


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
    """``1 - GIoU``, within [0, 2]. A predicted box apart from its target first grows towards it.

    Reference: Rezatofighi et al., Generalized Intersection over Union, CVPR 2019, arXiv:1902.09630.
    """
    return box_loss(_one_minus_named("giou", compat), pred, target, format, reduction, weight, check)


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
    """``1 - DIoU``, within [0, 2]. The centres move together.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return box_loss(_one_minus_named("diou", compat), pred, target, format, reduction, weight, check)


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
    """``1 - CIoU``, within [0, 2.5]. The centres move together, and the aspect ratios become equal.

    The gradient treats the weight of the aspect term as a constant. The weight applies at every IoU, also below 0.5.

    Reference: Zheng et al., Distance-IoU Loss, AAAI 2020, arXiv:1911.08287.
    """
    return box_loss(_one_minus_named("ciou", compat), pred, target, format, reduction, weight, check)


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
    """``1 - EIoU``, within [0, 3.25]. The centres move together; widths and heights become equal, each by its own term.

    Reference: Zhang et al., Focal and Efficient IOU Loss, Neurocomputing 2022, arXiv:2101.08158.
    """
    return box_loss(_one_minus_named("eiou"), pred, target, format, reduction, weight, check)


@documented
def siou_loss(
    pred: BoxesLike,
    target: BoxesLike,
    *,
    neg_gamma: bool | None = None,
    format: BoxFormat = "xyxy",
    reduction: Reduction = "none",
    weight: Array | None = None,
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
        overlap: Formula = functools.partial(convention(compat, "siou"), neg_gamma=bool(neg_gamma))
    elif neg_gamma is False:
        raise ValueError(
            "neg_gamma=False is a rule of MMDetection, by which a distance lowers the loss: add compat='mmdet'"
        )
    else:
        overlap = overlap_of(Measure("siou"))
    return box_loss(_one_minus(overlap), pred, target, format, reduction, weight, check)


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
    """``1 - MPDIoU``. Each corner moves to its counterpart; distances are relative to the diagonal of the image.

    Options:
        image_size: (width, height) of the image in the unit of the boxes. Implementations that divide by another
            diagonal give other numbers.

    Reference: Ma and Xu, MPDIoU, 2023, arXiv:2307.07662.
    """
    return box_loss(_one_minus(overlap_of(variants.mpdiou(image_size))), pred, target, format, reduction, weight, check)


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
    """1 minus the normalized Wasserstein distance as a similarity, within [0, 1], for small objects.

    Options:
        constant: The Wasserstein distance at which the similarity is 1/e, in the unit of the boxes. The authors take
            the mean size of the objects in the data set: 12.8 pixels in AI-TOD.

    Reference: Wang et al., A Normalized Gaussian Wasserstein Distance, 2021, arXiv:2110.13389.
    """
    return box_loss(_one_minus(overlap_of(variants.nwd(constant))), pred, target, format, reduction, weight, check)
