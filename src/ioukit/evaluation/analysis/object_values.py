"""Values of the objects of a ground truth, for evaluation by bins: aspect ratios and crowding."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_number
from ioukit.datasets import GroundTruth
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.overlap.join import OverlapPairs, overlap_join

_ANY_OVERLAP = 1e-300


def aspect_ratios(ground_truth: GroundTruth) -> npt.NDArray[np.float64]:
    """(G,) width / height of the box of each object; NaN where the height is 0."""
    return quotient(ground_truth.boxes[:, 2], ground_truth.boxes[:, 3])


def largest_overlaps(ground_truth: GroundTruth, *, same_category: bool = False) -> npt.NDArray[np.float64]:
    """The crowding of each object: the largest IoU of its box with the box of another object of its image.

    Objects with the flag ``crowd`` do not count as neighbours.

    Args:
        ground_truth: The objects.
        same_category: Whether only objects of the same category are neighbours.

    Returns:
        (G,) within [0, 1], in the order of the ground truth; 0 without a neighbour that overlaps.

    Examples:
        >>> from ioukit import GroundTruth
        >>> boxes = [[0, 0, 10, 10], [5, 0, 10, 10], [50, 0, 10, 10]]
        >>> objects = GroundTruth.from_arrays(image_ids=[1, 1, 1], category_ids=[1, 1, 1], boxes=boxes)
        >>> largest_overlaps(objects).round(3).tolist()
        [0.333, 0.333, 0.0]
    """
    pairs, of, neighbour = _neighbours(ground_truth, _ANY_OVERLAP, same_category=same_category)
    found = np.zeros(len(ground_truth))
    np.maximum.at(found, of, np.append(pairs.values, pairs.values)[neighbour])
    return found


def num_neighbours(
    ground_truth: GroundTruth, iou_threshold: float = 0.5, *, same_category: bool = False
) -> npt.NDArray[np.int64]:
    """The number of other objects of its image whose boxes overlap that of each object with at least this IoU.

    Objects with the flag ``crowd`` do not count as neighbours.

    Args:
        ground_truth: The objects.
        iou_threshold: The least IoU of a neighbour, within (0, 1].
        same_category: Whether only objects of the same category are neighbours.

    Returns:
        (G,) counts, in the order of the ground truth.

    Raises:
        ValueError: If the threshold is not within (0, 1].
    """
    check_number(iou_threshold=iou_threshold)
    if not 0 < iou_threshold <= 1:
        raise ValueError(f"iou_threshold must be above 0 and at most 1, got {iou_threshold}")
    _, of, _ = _neighbours(ground_truth, iou_threshold, same_category=same_category)
    return np.bincount(of, minlength=len(ground_truth)).astype(np.int64)


def _neighbours(
    ground_truth: GroundTruth, least: float, *, same_category: bool
) -> tuple[OverlapPairs, npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Pairs of objects in both directions whose neighbour is not a crowd: the object, and the position of the pair."""
    labels = np.unique(ground_truth.image_ids, return_inverse=True)[1].astype(np.int64)
    if same_category:
        categories = np.unique(ground_truth.category_ids, return_inverse=True)[1]
        labels = labels * (int(categories.max(initial=0)) + 1) + categories
    pairs = overlap_join(ground_truth.boxes, min_iou=least, labels1=labels, format="xywh")
    of, other = np.append(pairs.rows, pairs.columns), np.append(pairs.columns, pairs.rows)
    kept = np.flatnonzero(~ground_truth.flag("crowd")[other])
    return pairs, of[kept], kept
