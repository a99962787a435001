"""Keypoints: points, and the edges of a skeleton between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.skeletons import SKELETON
from ioukit.evaluation.outlines.outline import Outline, Outlines

__all__ = ["COCO_SKELETON", "keypoint_outlines", "outlines_of_keypoints"]

Floats = npt.NDArray[np.float64]
Edges = npt.NDArray[np.int64]

COCO_SKELETON = (
    (16, 14), (14, 12), (17, 15), (15, 13), (12, 13), (6, 12), (7, 13), (6, 7), (6, 8), (7, 9), (8, 10), (9, 11),
    (2, 3), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7),
)  # fmt: skip
"""The edges between COCO's 17 keypoints of a person. As in COCO's files, the first keypoint has the number 1."""

_HIDDEN = 1  # COCO's visibility of a keypoint that is labelled, but not visible


def keypoint_outlines(rows: GroundTruth | Detections, ground_truth: GroundTruth) -> Outlines:
    """The outlines of keypoints.

    Keypoints of objects with a visibility of 0 are not labelled, and are not drawn. Those with 1 are hidden, and are
    drawn hollow. All keypoints of a detection are drawn, except for those whose third number is 0 or less, if another
    one has more.

    The edges are those of the category: its attribute ``"skeleton"``, which COCO's files have. Without it, 17 keypoints
    have the edges of COCO's persons, and others have none.
    """
    of_objects = isinstance(rows, GroundTruth)
    array = "annotations" if of_objects else "detections"
    points = decode_keypoints(rows.regions[KEYPOINTS], source=rows.source, array=array)
    edges = _edges_by_category(ground_truth, points.shape[1])
    shown = points[..., 2] > 0
    if not of_objects:
        shown |= ~shown.any(axis=1, keepdims=True)
    shown &= np.isfinite(points[..., :2]).all(axis=2)
    hollow = shown & (points[..., 2] == _HIDDEN) & of_objects
    categories = rows.category_ids.tolist()
    return Outlines(
        tuple(
            outlines_of_keypoints(points[row, :, :2], edges[category], shown[row], hollow[row])
            for row, category in enumerate(categories)
        )
    )


def outlines_of_keypoints(
    points: Floats, edges: Edges, shown: npt.NDArray[np.bool_], hollow: npt.NDArray[np.bool_]
) -> Outline:
    """The outline of the keypoints of one object: the points that are shown, and the edges between two of them.

    Args:
        points: (P, 2) x and y.
        edges: (E, 2) positions of points.
        shown: (P,) which points are drawn.
        hollow: (P,) which of them are drawn as small rings.
    """
    drawn = edges[shown[edges].all(axis=1)]
    return Outline(lines=points[drawn], points=points[shown], hollow=hollow[shown])


def _edges_by_category(ground_truth: GroundTruth, count: int) -> dict[int, Edges]:
    """For the id of each category, (E, 2) positions of the keypoints at the ends of its edges."""
    usual = np.array(COCO_SKELETON if count == 17 else np.zeros((0, 2)), np.int64)
    categories = ground_truth.categories
    column = categories.attributes.get(SKELETON)
    found = {}
    for position, number in enumerate(categories.ids.tolist()):
        own = usual if column is None else np.asarray(column[position], np.int64).reshape(-1, 2)
        valid = ((own >= 1) & (own <= count)).all(axis=1)
        found[number] = (own[valid] if valid.any() else usual) - 1
    return found
