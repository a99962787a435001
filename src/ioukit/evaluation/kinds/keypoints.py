"""Keypoints, compared by COCO's object keypoint similarity (OKS) instead of an IoU."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._array_types import Floats, Rows
from ioukit._boundary import PairColumns
from ioukit.datasets.columns._regions import KEYPOINTS as COLUMN
from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth
from ioukit.datasets.columns.keypoints import decode_keypoints
from ioukit.errors import DatasetError
from ioukit.evaluation.kinds.kind import Comparison, Kind, column_of, image_pairs
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.coco import COCO_KEYPOINTS

COCO_SIGMAS = tuple(
    tenths / 10.0
    for tenths in (0.26, 0.25, 0.25, 0.35, 0.35, 0.79, 0.79, 0.72, 0.72, 0.62, 0.62, 1.07, 1.07, 0.87, 0.87, 0.89, 0.89)
)
"""Standard deviations of the positions of COCO's 17 keypoints of a person, relative to the size of the object."""

# The number of pairs in one step: its terms of 17 points are 2 MB.
_AT_ONCE = 1 << 14


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
    from ioukit.evaluation.outlines.keypoints import keypoint_outlines  # noqa: PLC0415 - matching does not draw

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
        _decode(side, name, array, len(spread), compared.threads or None)
        if len(side)
        else np.zeros((0, len(spread), 3))
        for side, array in sides
    )
    gt = compared.ground_truth
    areas = gt.areas if area_of_box is None else gt.boxes[:, 3] * gt.boxes[:, 2] * area_of_box
    rows, places = _comparable(compared, objects, detections)
    measured = _contiguous(detections, objects, gt.boxes, areas, spread)
    # The pairs that may reach the similarity that is needed, by a bound that is cheaper than the similarity.
    kept = _core.keypoints_may_reach(measured, rows, places, compared.least, compared.threads)
    rows, places = rows[kept], places[kept]
    overlap = _similarity(measured, rows, places, compared.threads)
    found = overlap > 0
    return PairColumns(rows[found], places[found], overlap[found])


def _decode(side: GroundTruth | Detections, name: str, array: str, points: int, threads: int | None) -> Floats:
    """(N, P, 3) the keypoints of one side.

    Raises:
        DatasetError: If a record has another number of them; it says so if all records have the same other number.
    """
    column = column_of(side, name, COLUMN, array)
    try:
        return decode_keypoints(column, source=side.source, array=array, points=points, threads=threads)
    except DatasetError as error:
        try:
            found = decode_keypoints(column, source=side.source, array=array, threads=threads).shape[1]
        except DatasetError:
            raise error from None  # the records differ
        if found in (0, points):
            raise
        set_of = "COCO" if name == "keypoints" else name
        raise DatasetError(
            f"{side.source}: {array}: expected {points} keypoints per record, which {set_of} has, found {found}; "
            "--sigmas NAME|FILE (find_keypoint_set) is for other sets"
        ) from None


def _comparable(compared: Comparison, objects: Floats, detections: Floats) -> tuple[Rows, Rows]:
    """The pairs of one image. Rows without keypoints are refused in a category whose keypoints are compared."""
    rows, places = image_pairs(compared)
    gt, dt = compared.ground_truth, compared.detections
    lacks, missing = _without_points(objects), _without_points(detections)
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise DatasetError(f"{dt.source}: detections[{row}].keypoints: expected numbers, found none")
    if lacks.any():
        alike = dt.category_ids[rows] == gt.category_ids[places]
        if len(wrong := places[alike & lacks[places]]):
            raise DatasetError(f"{gt.source}: annotations[{wrong.min()}].keypoints: expected numbers, found none")
        rows, places = rows[~lacks[places]], places[~lacks[places]]
    return rows, places


def _without_points(points: Floats) -> npt.NDArray[np.bool_]:
    """(N,) whether a row of (N, P, 3) has a number that is NaN. Few data sets have any, and that is quick to see."""
    if not points.size or not np.isnan(points.min()):
        return np.zeros(len(points), np.bool_)
    return np.asarray(np.isnan(points).any(axis=(1, 2)))


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
    measured = _contiguous(detections, objects, boxes, areas, sigmas)
    rows, places = (np.ascontiguousarray(side, np.int64) for side in pairs)
    return _similarity(measured, rows, places, threads=0)


def _contiguous(*columns: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    detections, objects, boxes, areas, sigmas = (np.ascontiguousarray(column, np.float64) for column in columns)
    return detections, objects, boxes, areas, sigmas


def _similarity(
    measured: tuple[Floats, Floats, Floats, Floats, Floats], rows: Rows, places: Rows, threads: int
) -> Floats:
    similarity = np.empty(len(rows))
    for first in range(0, len(rows), _AT_ONCE):
        step = slice(first, first + _AT_ONCE)
        terms = _core.keypoint_exponents(measured, rows[step], places[step], threads)
        # Here and not in the core: pycocotools' last bit is that of NumPy's function, which differs between machines.
        np.exp(terms, out=terms)
        similarity[step] = _core.keypoint_means(measured, places[step], terms, threads)
    return similarity
