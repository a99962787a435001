"""Keypoints, compared by COCO's object keypoint similarity (OKS) instead of an IoU."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats, Rows
from ioukit._boundary import PairColumns
from ioukit.datasets.columns._regions import KEYPOINTS as COLUMN
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import Comparison, Kind, column_of, image_pairs
from ioukit.evaluation.outlines.keypoints import keypoint_outlines
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.coco import COCO_KEYPOINTS

COCO_SIGMAS = tuple(
    tenths / 10.0
    for tenths in (0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87, 0.89, 0.89)
)
"""Standard deviations of the positions of COCO's 17 keypoints of a person, relative to the size of the object."""

# The number of pairs in one step: the arrays of a step fit into the cache.
_AT_ONCE = 2048


def keypoints_kind(
    name: str,
    sigmas: Sequence[float],
    title: str = "keypoints",
    *,
    area_of_box: float | None = None,
    protocol: Protocol = COCO_KEYPOINTS,
) -> Kind:
    """A kind of region whose overlap is the object keypoint similarity with the given standard deviations.

    Args:
        name: The value of ``iou_type`` for this kind, after :func:`ioukit.evaluation.register_kind` has added it.
        sigmas: (P,) the standard deviation of the position of each keypoint among annotators, relative to the square
            root of the area of the object.
        title: A one-line description.
        area_of_box: If given, the area of an object is this share of the area of its box, whatever area it has itself:
            0.53 in CrowdPose, whose objects have no areas.
        protocol: The default protocol of the kind.

    Raises:
        ValueError: If ``sigmas`` is empty, or one of them or ``area_of_box`` is not positive.

    Examples:
        >>> from ioukit.evaluation import keypoints_kind, register_kind
        >>> register_kind(keypoints_kind("hand", [0.03] * 21, "21 points of a hand"))  # doctest: +SKIP
    """
    spread = np.array(sigmas, np.float64)
    if spread.ndim != 1 or not len(spread) or not (spread > 0).all() or not np.isfinite(spread).all():
        raise ValueError(f"sigmas must be positive numbers, one per keypoint, got {list(sigmas)!r}")
    if area_of_box is not None and not 0 < area_of_box < math.inf:
        raise ValueError(f"area_of_box must be a positive number, got {area_of_box!r}")
    made = partial(columns, name=name, sigmas=tuple(sigmas), area_of_box=area_of_box)
    return Kind(name, title, made, protocol, keypoint_outlines, COLUMN)


def columns(
    compared: Comparison,
    name: str = "keypoints",
    sigmas: Sequence[float] = COCO_SIGMAS,
    area_of_box: float | None = None,
) -> PairColumns:
    """The similarities of all pairs of one image; the other arguments are those of :func:`keypoints_kind`."""
    spread: Floats = np.array(sigmas, np.float64)
    sides = ((compared.ground_truth, "annotations"), (compared.detections, "detections"))
    objects, detections = (
        decode_keypoints(
            column_of(side, name, COLUMN, array),
            source=side.source,
            array=array,
            points=len(spread),
            threads=compared.threads or None,
        )
        if len(side)
        else np.zeros((0, len(spread), 3))
        for side, array in sides
    )
    gt = compared.ground_truth
    areas = gt.areas if area_of_box is None else gt.boxes[:, 3] * gt.boxes[:, 2] * area_of_box
    rows, places = _comparable(compared, objects, detections)
    # The pairs that may reach the similarity that is needed, by a bound that is cheaper than the similarity.
    measured = (np.ascontiguousarray(detections), np.ascontiguousarray(objects), gt.boxes, areas, spread)
    kept = _core.keypoints_may_reach(measured, rows, places, compared.least, compared.threads)
    rows, places = rows[kept], places[kept]
    overlap = keypoint_similarity(detections, objects, gt.boxes, areas, (rows, places), spread)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])


def _comparable(compared: Comparison, objects: Floats, detections: Floats) -> tuple[Rows, Rows]:
    """The pairs of one image. Rows without keypoints are refused in a category whose keypoints are compared."""
    rows, places = image_pairs(compared)
    gt, dt = compared.ground_truth, compared.detections
    lacks: npt.NDArray[np.bool_] = np.asarray(np.isnan(objects).any(axis=(1, 2)))
    missing = np.isnan(detections).any(axis=(1, 2))
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise DatasetError(f"{dt.source}: detections[{row}].keypoints: expected numbers, found none")
    if lacks.any():
        alike = dt.category_ids[rows] == gt.category_ids[places]
        if len(wrong := places[alike & lacks[places]]):
            raise DatasetError(f"{gt.source}: annotations[{wrong.min()}].keypoints: expected numbers, found none")
        rows, places = rows[~lacks[places]], places[~lacks[places]]
    return rows, places


def keypoint_similarity(
    detections: Floats, objects: Floats, boxes: Floats, areas: Floats, pairs: tuple[Rows, Rows], sigmas: Floats
) -> Floats:
    """(M,) the object keypoint similarity of pairs, within [0, 1].

    It is the mean of ``exp(-d**2 / (2 * area * (2 * sigma)**2))`` over the labelled keypoints of the object, where
    ``d`` is the distance between the keypoint and the detected one. If no keypoint of the object is labelled, the mean
    is over all detected keypoints, and ``d`` is their distance from the box of the object, widened by its own width and
    height on every side.

    The operations and their order are those of pycocotools. So the results have the same bits with the same NumPy on
    the same machine. Elsewhere the last bits of NumPy's ``exp`` may differ.

    Args:
        detections: (N, P, 3) keypoints of the detections.
        objects: (G, P, 3) keypoints of the objects; a visibility above 0 means "labelled".
        boxes: (G, 4) ``[x, y, width, height]`` of the objects.
        areas: (G,) areas of the objects.
        pairs: (M,) rows of detections and (M,) rows of objects.
        sigmas: (P,), see :func:`keypoints_kind`.
    """
    labelled = objects[..., 2] > 0
    counts = labelled.sum(axis=1)
    # (G, P) positions of the keypoints of each object, the labelled ones first.
    order = np.argsort(~labelled, axis=1, kind="stable")
    variances = (sigmas * 2) ** 2
    similarity = np.empty(len(pairs[0]))
    # Rows of one length together: a sum along them adds in the same order as a sum of each row alone.
    by_count = np.argsort(counts[pairs[1]], kind="stable")
    ends = np.cumsum(np.bincount(counts[pairs[1]], minlength=len(sigmas) + 1)).tolist()
    for count, (start, end) in enumerate(itertools.pairwise([0, *ends])):
        for first in range(start, end, _AT_ONCE):
            alike = by_count[first : min(first + _AT_ONCE, end)]
            rows, places = (side[alike] for side in pairs)
            if count:
                chosen = order[places, :count]
                offsets = detections[rows[:, None], chosen, :2] - objects[places[:, None], chosen, :2]
            else:
                chosen = np.arange(len(sigmas))[None]
                offsets = _beyond(detections[rows, :, :2], boxes[places])
            squared = offsets[..., 0] ** 2 + offsets[..., 1] ** 2
            terms = np.exp(-(squared / variances[chosen] / (areas[places] + np.spacing(1))[:, None] / 2), order="C")
            similarity[alike] = np.sum(terms, axis=1) / terms.shape[1]
    return similarity


def _beyond(points: Floats, boxes: Floats) -> Floats:
    """(M, P, 2) distance along x and y of each point from a box that is widened by its own sides."""
    place, side = boxes[:, None, :2], boxes[:, None, 2:]
    low, high = place - side, place + side * 2
    return np.maximum(0.0, low - points) + np.maximum(0.0, points - high)
