"""The records that `ioukit nms` writes: those that survive, as they are in the file, or new, fused ones."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import ioukit
from ioukit import _core
from ioukit.postprocess._groups import best_of_images, groups
from ioukit.postprocess._options import SymmetricMetric
from ioukit.postprocess.operating_points import OperatingPoints
from ioukit.postprocess.soft import SoftMethod

_SOFT_THRESHOLD = 0.001  # the default of soft_nms


class Suppressing(NamedTuple):
    """How boxes are removed, or their scores lowered."""

    iou_threshold: float | None
    """None for the default of the method."""
    metric: SymmetricMetric
    soft: SoftMethod | None
    """How scores are lowered; None removes boxes."""
    sigma: float
    score_threshold: float | None
    """None for the default of the method."""
    max_dets: int | None
    """The largest number of boxes per image."""
    points: OperatingPoints | None = None
    """Thresholds per class, instead of the score threshold; not with ``soft``."""


def surviving_rows(
    detections: ioukit.Detections, how: Suppressing, *, class_agnostic: bool, threads: int | None
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64] | None]:
    """The rows that survive, in the order of the file, and their new scores, or None if scores do not change.

    Raises:
        ValueError: If a category has no threshold in the operating points, or a score cannot be calibrated.
    """
    if how.points is not None:
        applied = how.points.apply(detections.scores, detections.category_ids)
        counts = np.flatnonzero(applied.keep)
        rest = how._replace(points=None)
        rows, _ = surviving_rows(detections[counts], rest, class_agnostic=class_agnostic, threads=threads)
        rows = counts[rows]
        return rows, applied.scores[rows].astype(np.float64) if how.points.maps else None
    boxes, image_ids = detections.boxes, detections.image_ids
    labels = None if class_agnostic else detections.category_ids
    if how.soft is None:
        keep = ioukit.nms(
            boxes,
            detections.scores,
            0.5 if how.iou_threshold is None else how.iou_threshold,
            labels=labels,
            batch=image_ids,
            metric=how.metric,
            score_threshold=how.score_threshold,
            max_keep=how.max_dets,
            format="xywh",
            threads=threads,
        )
        return np.sort(keep), None
    keep, scores = ioukit.soft_nms(
        boxes,
        detections.scores,
        0.3 if how.iou_threshold is None else how.iou_threshold,
        method=how.soft,
        sigma=how.sigma,
        score_threshold=_SOFT_THRESHOLD if how.score_threshold is None else how.score_threshold,
        labels=groups(labels, image_ids),
        metric=how.metric,
        format="xywh",
        threads=threads,
    )
    best = best_of_images(image_ids[keep], scores, len(keep) if how.max_dets is None else how.max_dets)
    best = best[np.argsort(keep[best])]
    return keep[best], scores[best]


def surviving_records(path: Path, rows: npt.NDArray[np.int64], scores: npt.NDArray[np.float64] | None) -> list[str]:
    """The text of the records at these rows, ascending, as it is in the file except for new scores."""
    text = _core.read_text(str(path)).decode("utf-8", "surrogatepass")
    wanted = iter(rows.tolist())
    row = next(wanted, None)
    lines: list[str] = []
    for number, record in enumerate(record_texts(text)):
        if number == row:
            lines.append(record if scores is None else with_score(record, float(scores[len(lines)])))
            row = next(wanted, None)
    return lines


def fused_records(
    sets: list[ioukit.Detections], *, max_dets: int | None, threads: int | None, **options: Any
) -> list[str]:
    """New records: by image, in the order of the files, and then by descending score.

    Args:
        sets: The detections of each file.
        max_dets: The largest number of boxes per image.
        threads: How many threads; all cores if ``None``.
        **options: Further arguments of `weighted_boxes_fusion`.
    """
    image_ids = np.concatenate([detections.image_ids for detections in sets])
    category_ids = np.concatenate([detections.category_ids for detections in sets])
    codes = groups(category_ids, image_ids)
    assert codes is not None
    ends = np.cumsum([len(detections) for detections in sets])[:-1]
    fused = ioukit.weighted_boxes_fusion(
        [detections.boxes for detections in sets],
        [detections.scores for detections in sets],
        np.split(codes, ends),
        format="xywh",
        threads=threads,
        **options,
    )
    known, first = np.unique(codes, return_index=True)
    source = first[np.searchsorted(known, fused.labels)]
    _, appears, image = np.unique(image_ids, return_index=True, return_inverse=True)
    place = appears[image][source]
    best = best_of_images(place, fused.scores, len(place) if max_dets is None else max_dets)
    return [
        json.dumps(
            {
                "image_id": int(image_ids[source[row]]),
                "category_id": int(category_ids[source[row]]),
                "bbox": fused.boxes[row].tolist(),
                "score": float(fused.scores[row]),
            }
        )
        for row in best
    ]


_SPACE = " \t\n\r"
_scan = json.JSONDecoder(strict=False).raw_decode


def _skip(text: str, place: int) -> int:
    while text[place] in _SPACE:
        place += 1
    return place


def record_texts(text: str) -> Iterator[str]:
    """The text of every element of an array. The array must be valid JSON, which reading the file has checked."""
    place = _skip(text, 0) + 1  # after the bracket
    while True:
        place = _skip(text, place)
        if text[place] == "]":
            return
        _, end = _scan(text, place)
        yield text[place:end]
        place = _skip(text, end)
        if text[place] == ",":
            place += 1


def with_score(record: str, score: float) -> str:
    """The text of an object with another value of its ``score``, otherwise unchanged."""
    place = _skip(record, 0) + 1
    while True:
        place = _skip(record, place)
        key, place = _scan(record, place)
        start = _skip(record, _skip(record, place) + 1)  # after the colon
        _, end = _scan(record, start)
        if key == "score":
            return f"{record[:start]}{score!r}{record[end:]}"
        place = _skip(record, end) + 1  # after the comma
