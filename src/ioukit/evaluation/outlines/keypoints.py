"""Keypoints: points, and the edges of a skeleton between them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ioukit._array_types import Floats
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.datasets.columns.skeletons import SKELETON
from ioukit.evaluation.outlines.outline import Outline, Outlines

Edges = npt.NDArray[np.int64]

COCO_SKELETON = (
    (16, 14), (14, 12), (17, 15), (15, 13), (12, 13), (6, 12), (7, 13), (6, 7), (6, 8), (7, 9), (8, 10), (9, 11),
    (2, 3), (1, 2), (1, 3), (2, 4), (3, 5), (4, 6), (5, 7),
)  # fmt: skip
"""The edges between COCO's 17 keypoints of a person. As in COCO's files, the first keypoint has the number 1."""

_OF_PERSONS = 17
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
    column = rows.regions[KEYPOINTS]
    # Only these rows are read; the decoder would read the whole file for each image.
    given = column if isinstance(column, np.ndarray) else list(column)
    points = decode_keypoints(given, source=rows.source, array=array)
    shown = points[..., 2] > 0
    if not of_objects:
        shown |= ~shown.any(axis=1, keepdims=True)
    hollow = (points[..., 2] == _HIDDEN) & of_objects
    edges = _edges_by_category(ground_truth, points.shape[1])
    return _outlines(points, shown, hollow, [edges[category] for category in rows.category_ids.tolist()])


def point_outlines(points: Floats, skeleton: Sequence[tuple[int, int]] | None = None) -> Outlines:
    """The outlines of (N, P, 3) keypoints: x, y and a visibility as that of objects.

    Args:
        points: The keypoints.
        skeleton: The edges, as in COCO's files; the usual ones if ``None``.

    Raises:
        ValueError: If an edge has no two such keypoints.
    """
    count = points.shape[1]
    edges: Edges = np.array(_usual(count) if skeleton is None else skeleton, np.int64).reshape(-1, 2)
    if len(edges) and not 1 <= edges.min() <= edges.max() <= count:
        raise ValueError(f"skeleton must have numbers of keypoints from 1 to {count}, got {edges.tolist()}")
    return _outlines(points, points[..., 2] > 0, points[..., 2] == _HIDDEN, [edges - 1] * len(points))


def _outlines(
    points: Floats, shown: npt.NDArray[np.bool_], hollow: npt.NDArray[np.bool_], edges: Sequence[Edges]
) -> Outlines:
    """The points that are shown, and the edges between two of them.

    Args:
        points: (N, P, 3) keypoints.
        shown: (N, P) which points are drawn, if they are finite.
        hollow: (N, P) which of them are drawn as small rings.
        edges: (N,) positions of points, (E, 2) each.
    """
    shown = shown & np.isfinite(points[..., :2]).all(axis=2)
    found = []
    for row, pairs in enumerate(edges):
        places, seen = points[row, :, :2], shown[row]
        drawn = pairs[seen[pairs].all(axis=1)]
        found.append(Outline(lines=places[drawn], points=places[seen], hollow=hollow[row, seen]))
    return Outlines(tuple(found))


def _usual(count: int) -> Edges:
    """(E, 2) the edges of so many keypoints if nothing else is known; the first keypoint has the number 1."""
    return np.array(COCO_SKELETON if count == _OF_PERSONS else np.zeros((0, 2)), np.int64)


def _edges_by_category(ground_truth: GroundTruth, count: int) -> dict[int, Edges]:
    """For the id of each category, (E, 2) positions of the keypoints at the ends of its edges."""
    usual = _usual(count)
    categories = ground_truth.categories
    column = categories.attributes.get(SKELETON)
    found = {}
    for position, number in enumerate(categories.ids.tolist()):
        own = usual if column is None else np.asarray(column[position], np.int64).reshape(-1, 2)
        valid = ((own >= 1) & (own <= count)).all(axis=1)
        found[number] = (own[valid] if valid.any() else usual) - 1
    return found
