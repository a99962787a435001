"""Uniform matching (YOLOF): every object gets as many predictions, whatever its size."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from ioukit.assign._inputs import finished, pair_of_sets
from ioukit.assign._pairs import best_of_each, keepers, object_blocks
from ioukit.assign.assignment import Candidates, Outcome
from ioukit.overlap import elementwise_iou, pairwise_iou
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.assign.assignment import Assignment
    from ioukit.regions import BoxesLike
    from ioukit.typing import BoxFormat, FloatArray

__all__ = ["assign_uniform"]


def assign_uniform(
    predictions: BoxesLike,
    anchors: BoxesLike,
    objects: BoxesLike,
    *,
    top_k: int = 4,
    positive: float = 0.15,
    ignore_iou: float = 0.7,
    format: BoxFormat | None = None,
    check: bool = True,
) -> Assignment:
    """Assigns to each object the nearest predictions and the predictions of its nearest anchors, by YOLOF's rule.

    Near is L1 of centre and size. Each object takes the ``top_k`` nearest predictions and the ``top_k`` nearest
    anchors. Of these, an anchor whose IoU with the object is **at or above** ``positive`` is positive, and another is
    ignored; so is every prediction that nobody takes and whose IoU with some object is **above** ``ignore_iou``.

    A prediction that several objects take goes to the highest IoU of its anchor, of equal ones to the first object: the
    original writes one of them, in no particular order.

    Args:
        predictions: (P, 4) decoded boxes.
        anchors: (P, 4) the anchor of each prediction.
        objects: (G, 4) in the same unit; G may be 0.
        top_k: How many predictions, and how many anchors, each object takes.
        positive: The least IoU of an anchor that learns, within [0, 1].
        ignore_iou: Within [0, 1].
        format: What plain numbers hold, ``"xyxy"`` by default. `Boxes` know their own.
        check: Whether plain numbers are checked.

    Returns:
        The assignment, its ``overlap`` that of the anchors.

    Raises:
        ValueError: If there are not as many anchors as predictions, or a threshold is not within [0, 1].

    Examples:
        >>> from ioukit.assign import assign_uniform
        >>> anchors = [[0, 0, 10, 10], [10, 0, 20, 10], [40, 40, 50, 50]]
        >>> assign_uniform([[0, 0, 9, 9], [2, 0, 12, 10], [0, 0, 9, 10]], anchors, [[0, 0, 10, 9]], top_k=1).target
        array([ 0, -1, -1])

    Reference: Chen et al., You Only Look One-level Feature, CVPR 2021, arXiv:2103.09460.
    """
    most = operator.index(top_k)
    if most < 1:
        raise ValueError(f"top_k must be at least 1, got {top_k}")
    for name, value in (("positive", positive), ("ignore_iou", ignore_iou)):
        if not 0 <= value <= 1:
            raise ValueError(f"{name} must be within [0, 1], got {value}")
    first, second = pair_of_sets(predictions, objects, format, check, ("predictions", "objects"))
    priors, _ = pair_of_sets(anchors, objects, format, check, ("anchors", "objects"))
    if len(priors) != len(first):
        raise ValueError(f"anchors must have shape ({len(first)}, 4), one per prediction, got {priors.shape}")
    dtype, number, count = np.promote_types(first.dtype, priors.dtype), len(first), len(second)
    first, second, priors = (boxes.astype(dtype, copy=False) for boxes in (first, second, priors))

    keys = np.unique(np.concatenate([_nearest(boxes, second, most) for boxes in (first, priors)]))
    rows, columns = np.divmod(keys, max(number, 1))
    overlap = elementwise_iou(priors[columns], second[rows], check=False)
    claims = np.flatnonzero(overlap >= positive)
    wins = claims[keepers(rows[claims], columns[claims], overlap[claims])]
    target = np.full(number, -1, np.int64)
    target[columns[wins]] = rows[wins]
    own = np.full(number, np.nan, dtype)
    own[columns[wins]] = overlap[wins]

    ignore = np.zeros(number, bool)
    for block in object_blocks(count, number):
        ignore |= (pairwise_iou(second[block], first, check=False) > ignore_iou).any(axis=0)
    ignore[columns] = True  # those taken that are not positive
    ignore &= target < 0

    outcome = np.full(len(rows), Outcome.BELOW, np.uint8)
    outcome[claims] = Outcome.STOLEN
    outcome[wins] = Outcome.ASSIGNED
    best = np.zeros(count, dtype)
    np.maximum.at(best, rows, overlap)
    return finished(
        predictions, rule="assign_uniform", objects=count, target=target, overlap=own, ignore=ignore,
        candidates=Candidates(rows, columns, overlap, overlap.copy(), outcome),
        facts={"best": best, "threshold": np.full(count, positive)},
    )  # fmt: skip


def _nearest(boxes: FloatArray, objects: FloatArray, most: int) -> NDArray[np.int64]:
    """Object times the number of boxes plus box, of the pairs of least L1."""
    one, other = (convert(corners, "xyxy", "cxcywh") for corners in (boxes, objects))
    found = [np.empty(0, np.int64)]
    for block in object_blocks(len(objects), len(boxes)):
        distance = np.zeros((block.stop - block.start, len(boxes)), boxes.dtype)
        for k in range(4):
            distance += np.abs(one[:, k] - other[block, k, None])
        rows, columns = (axis.ravel() for axis in np.indices(distance.shape))
        chosen = best_of_each(rows, columns, -distance.ravel(), most)
        found.append((rows[chosen] + block.start) * len(boxes) + columns[chosen])
    return np.concatenate(found)
