"""IoU of masks as COCO defines it, with crowds, and IoU of their boundaries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_threads
from ioukit.overlap.engines import masks as engine
from ioukit.regions import Masks

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ioukit.typing import FloatArray


def pairwise_mask_iou(
    masks1: Masks,
    masks2: Masks,
    *,
    crowd: ArrayLike | None = None,
    boundary: bool = False,
    dilation_ratio: float = 0.02,
    threads: int | None = None,
) -> FloatArray:
    """IoU of every mask of one set with every mask of another, which may contain crowds.

    ``IoU = |A and B| / |A or B|``. Where B is a crowd, it is ``|A and B| / |A|``, because a detection inside a crowd is
    right, whatever part of the crowd it covers. Without crowds the result is ``pairwise_iou(masks1, masks2)``. The
    values equal those of ``pycocotools.mask.iou(detections, ground_truth, crowd)`` to the last bit.

    Args:
        masks1: N masks, the detections.
        masks2: M masks of the same size, the ground truth.
        crowd: (M,) bools, or 0 and 1: which of ``masks2`` are crowds. None means no crowds.
        boundary: Whether to return the smaller of this IoU and `boundary_iou`, which Boundary AP uses. (The boundary
            alone cannot tell a disc from a ring.)
        dilation_ratio: With ``boundary``, as in `boundary_iou`.
        threads: How many threads work; by default one per core. It does not change a bit of the result.

    Returns:
        (N, M) float64 within [0, 1]; 0 for an empty mask, also with itself.

    Raises:
        ValueError: If the masks have different sizes, or ``crowd`` is not (M,).
        TypeError: If a set is not `Masks`.

    Examples:
        >>> from ioukit import Boxes, Masks, pairwise_mask_iou
        >>> masks = Masks.from_boxes(Boxes([[0, 0, 4, 4], [2, 0, 6, 4]]), height=4, width=8)
        >>> pairwise_mask_iou(masks[:1], masks).round(3)
        array([[1.   , 0.333]])
        >>> pairwise_mask_iou(masks[:1], masks, crowd=[False, True])
        array([[1. , 0.5]])

    Reference: Lin et al., Microsoft COCO, ECCV 2014, arXiv:1405.0312; crowds as in its evaluation tools.
    """
    flags = _crowd(masks1, masks2, crowd)
    iou = engine.pairwise("iou", masks1, masks2, check_threads(threads), flags)
    if not boundary:
        return iou
    of_boundaries = boundary_iou(masks1, masks2, crowd=crowd, dilation_ratio=dilation_ratio, threads=threads)
    smaller: FloatArray = np.minimum(iou, of_boundaries)
    return smaller


def boundary_iou(
    masks1: Masks,
    masks2: Masks,
    *,
    crowd: ArrayLike | None = None,
    dilation_ratio: float = 0.02,
    threads: int | None = None,
) -> FloatArray:
    """IoU of the boundary regions of every mask of one set and every mask of another.

    The boundary region is the part of a mask that is near its outside (`Masks.boundary`). So the outline of a large
    object counts as much as the outline of a small one.

    Args:
        masks1: N masks, the detections.
        masks2: M masks of the same size, the ground truth.
        crowd: (M,) as in `pairwise_mask_iou`; the areas are those of the boundary regions.
        dilation_ratio: How near is near, as a fraction of the diagonal of the image; at least one pixel.
        threads: How many threads work; by default one per core. It does not change a bit of the result.

    Returns:
        (N, M) float64 within [0, 1].

    Raises:
        ValueError: If the masks have different sizes, ``crowd`` is not (M,), or ``dilation_ratio`` is negative.
        TypeError: If a set is not `Masks`.

    Examples:
        >>> from ioukit import Boxes, Masks, boundary_iou, pairwise_iou
        >>> masks = Masks.from_boxes(Boxes([[0, 0, 40, 40], [2, 0, 42, 40]]), height=50, width=50)
        >>> pairwise_iou(masks[:1], masks[1:]).round(3), boundary_iou(masks[:1], masks[1:]).round(3)
        (array([[0.905]]), array([[0.322]]))

    Reference: Cheng et al., Boundary IoU, CVPR 2021, arXiv:2103.16562.
    """
    flags = _crowd(masks1, masks2, crowd)
    engine.check_same_sizes(masks1, masks2)
    first = masks1.boundary(dilation_ratio, threads=threads)
    second = first if masks2 is masks1 else masks2.boundary(dilation_ratio, threads=threads)
    return engine.pairwise("iou", first, second, check_threads(threads), flags)


def _crowd(masks1: Masks, masks2: Masks, crowd: ArrayLike | None) -> NDArray[np.bool_] | None:
    for name, masks in (("masks1", masks1), ("masks2", masks2)):
        if not isinstance(masks, Masks):
            raise TypeError(f"{name} must be Masks, got {type(masks).__name__}")
    if crowd is None:
        return None
    flags = np.asarray(crowd)
    if flags.shape != (len(masks2),):
        raise ValueError(f"crowd must have shape ({len(masks2)},), one flag for each of masks2, got {flags.shape}")
    return np.ascontiguousarray(flags != 0)
