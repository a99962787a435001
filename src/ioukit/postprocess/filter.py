"""All postprocessing of a detector in one call: from the scores of a head to detections."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit import _core
from ioukit._arrays import computing_dtype, on_host
from ioukit._checks import check_threads
from ioukit.postprocess._groups import best_of_images
from ioukit.postprocess._inputs import (
    FloatKind,
    check_one_library,
    common_kind,
    host_boxes,
    host_floats,
    restored,
)
from ioukit.postprocess._options import check_thresholds, count_limit
from ioukit.postprocess.greedy import nms
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.postprocess._options import SymmetricMetric
    from ioukit.postprocess.operating_points import OperatingPoints
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class FilteredDetections:
    """Detections as columns, sorted by image and then by descending score."""

    images: Array
    """(K,) int64, the image of each detection, as a position in the batch."""
    labels: Array
    """(K,) int64, the class of each detection, as a column of the scores."""
    boxes: Array
    """(K, 4) xyxy, in the unit and the dtype of the input."""
    scores: Array
    """(K,) the class scores, multiplied by objectness if it was given."""
    rows: Array
    """(K,) int64, the position of each detection among the boxes of its image."""

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<FilteredDetections: {len(self):,}>"

    def columns(
        self, image_ids: ArrayLike | None = None, category_ids: ArrayLike | None = None
    ) -> dict[str, NDArray[Any] | Boxes]:
        """The keyword arguments of `Detections.from_arrays`, with the ids of a data set. Boxes must be in pixels.

        Args:
            image_ids: (B,) the id of each image of the batch; by default its position.
            category_ids: (C,) the id of each class; by default its column.

        Returns:
            ``image_ids``, ``category_ids``, ``boxes`` and ``scores``.

        Examples:
            >>> from ioukit import Detections, filter_detections
            >>> found = filter_detections([[0, 0, 10, 10], [1, 0, 11, 10]], [[0.9, 0.1], [0.8, 0.0]])
            >>> Detections.from_arrays(**found.columns(image_ids=[42], category_ids=[1, 3])).category_ids
            array([1, 3])
        """
        images, labels, boxes, scores = (
            np.asarray(on_host(column, "a column", "has no values inside a traced program"))
            for column in (self.images, self.labels, self.boxes, self.scores)
        )
        return {
            "image_ids": images if image_ids is None else np.asarray(image_ids)[images],
            "category_ids": labels if category_ids is None else np.asarray(category_ids)[labels],
            "boxes": Boxes(boxes, "xyxy"),
            "scores": scores.astype(np.float64),
        }


def filter_detections(
    boxes: BoxesLike | Sequence[BoxesLike],
    class_scores: ArrayLike | Sequence[ArrayLike],
    *,
    objectness: ArrayLike | Sequence[ArrayLike] | None = None,
    score_threshold: float | None = None,
    operating_points: OperatingPoints | str | os.PathLike[str] | None = None,
    iou_threshold: float = 0.5,
    top_k: int | None = 1000,
    max_detections: int | None = 100,
    class_agnostic: bool = False,
    multi_label: bool = True,
    metric: SymmetricMetric = "iou",
    format: BoxFormat | None = None,
    check: bool = True,
    threads: int | None = None,
) -> FilteredDetections:
    """The detections of images: scores, score threshold, best candidates, NMS per class, and best detections.

    The steps, for each image:

    1. ``score = class_score * objectness``. Every class of a box is a candidate; with ``multi_label=False`` only its
       best class (of equal scores the first).
    2. Candidates with a score **below** ``score_threshold``, or below the threshold of their class in
       ``operating_points``, are left out.
    3. The ``top_k`` candidates with the best scores are kept, whatever their class.
    4. Greedy NMS among the candidates of one class, or with ``class_agnostic`` among all: an overlap **above**
       ``iou_threshold`` removes a candidate.
    5. The ``max_detections`` best candidates are kept.
    6. If ``operating_points`` have a calibration, the scores that are returned are calibrated. The detections are the
       same as without it.

    In every step, of equal scores the lower box and then the lower class comes first.

    Args:
        boxes: (N, 4) array of one image, xyxy by default, nested lists or `Boxes`. Or a batch: a (B, N, 4) array, or a
            list with the boxes of each image. In pixels or any other unit.
        class_scores: (N, C), or (B, N, C) or a list with one array per image. Finite probabilities, not logits.
        objectness: (N,), or (B, N) or a list. None counts as 1.
        score_threshold: At least 0; 0.05 if ``None``. It cannot be given together with ``operating_points``.
        operating_points: A score threshold for each class, or the file of them. Their classes are the columns of the
            scores, in the same order: ``points.for_classes(names)`` brings them into the order of a network.
        iou_threshold: Within [0, 1].
        top_k: The largest number of candidates per image that NMS gets; None for no limit.
        max_detections: The largest number of detections per image; None for no limit.
        class_agnostic: Whether boxes of different classes remove each other.
        multi_label: Whether a box may be detected as several classes.
        metric: The overlap.
        format: The format of plain arrays: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. The result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work; by default one per core. It does not change a bit.

    Returns:
        The detections, sorted by image and then by descending score, in arrays of the caller's library.

    Raises:
        ValueError: If a shape does not fit, a box or a score is not valid, an option is out of range, or the operating
            points have another number of classes than the scores. For a batch, the message names the image.
        DatasetError: If the file of the operating points is invalid.
        TypeError: If an argument has the wrong type, or the arrays come from different libraries.

    Examples:
        >>> from ioukit import filter_detections
        >>> boxes = [[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]]
        >>> found = filter_detections(boxes, [[0.9, 0.1], [0.8, 0.0], [0.2, 0.6]], score_threshold=0.3)
        >>> found.rows, found.labels, found.scores
        (array([0, 2]), array([0, 1]), array([0.9, 0.6]))
    """
    points = _points(operating_points, score_threshold)
    least = 0.05 if score_threshold is None else score_threshold
    check_thresholds(score_threshold=least, iou_threshold=iou_threshold)
    before, after = count_limit("top_k", top_k), count_limit("max_detections", max_detections)
    images = _images(boxes, class_scores, objectness, format, check)

    classes = images.scores[0].shape[1]
    if points is not None and len(images.boxes) and classes != len(points):
        raise ValueError(
            f"class_scores have {classes} classes, and the operating points {len(points)}: expected the "
            "same classes in the same order"
        )
    thresholds = least if points is None or not len(images.boxes) else points.thresholds
    box, label, scores, image = _candidates(images, thresholds, multi_label, before, check_threads(threads))
    kept = nms(
        images.boxes[box],
        scores,
        iou_threshold,
        labels=None if class_agnostic else label,
        batch=image,
        metric=metric,
        check=False,
        threads=threads,
    )
    kept = np.sort(kept)  # back to the order of the candidates: by image and descending score
    kept = kept[best_of_images(image[kept], scores[kept], after)]
    box, label, scores, image = box[kept], label[kept], scores[kept], image[kept]
    if points is not None and points.maps:
        scores = points.apply(scores, label, labels_are="positions").scores
        order = np.lexsort((-scores, image))  # stable: equal calibrated scores keep the order of the scores
        box, label, scores, image = box[order], label[order], scores[order], image[order]
    like = images.like
    return FilteredDetections(
        images=restored(image, like),
        labels=restored(label, like),
        boxes=restored(images.boxes[box], like, images.box_kind),
        scores=restored(scores, like, images.score_kind),
        rows=restored(box - images.starts[image], like),
    )


def _points(
    given: OperatingPoints | str | os.PathLike[str] | None, score_threshold: float | None
) -> OperatingPoints | None:
    if given is None:
        return None
    if score_threshold is not None:
        raise ValueError("score_threshold and operating_points are two thresholds: expected one of them")
    from ioukit.postprocess.operating_points import OperatingPoints  # noqa: PLC0415 - most calls have none

    if isinstance(given, OperatingPoints):
        return given
    if isinstance(given, str | os.PathLike):
        return OperatingPoints.load(given)
    raise TypeError(f"operating_points must be OperatingPoints or the path of their file, got {type(given).__name__}")


class _Images(NamedTuple):
    """The boxes of all images, one image after the other."""

    boxes: FloatArray
    """(T, 4) xyxy."""
    scores: list[FloatArray]
    """(N, C) of each image."""
    names: list[str]
    """What messages call the scores of each image."""
    starts: NDArray[np.int64]
    """(B,) the position of the first box of each image."""
    like: Any
    """The array whose library and device the results have."""
    box_kind: FloatKind
    score_kind: FloatKind


class _Image(NamedTuple):
    """The boxes of one image."""

    boxes: FloatArray
    scores: FloatArray
    name: str
    """What messages call the scores."""
    box_kind: FloatKind
    score_kind: FloatKind


def _images(boxes: Any, class_scores: Any, objectness: Any, fmt: BoxFormat | None, check: bool) -> _Images:
    like = boxes
    if _is_list_of_images(boxes):
        for name, given in (("class_scores", class_scores), ("objectness", objectness)):
            if given is not None and len(given) != len(boxes):
                raise ValueError(f"{name} must have one entry per image, {len(boxes)}, got {len(given)}")
        like = boxes[0]
        parts = _each_image(boxes, class_scores, objectness, fmt, check)
    else:
        scores, score_kind = host_floats(class_scores, "class_scores")
        if scores.ndim == 3:
            check_one_library(boxes=boxes, class_scores=class_scores, objectness=objectness)
            parts = _batch(boxes, scores, score_kind, objectness, fmt, check)
        else:
            parts = [_image(boxes, class_scores, objectness, fmt, check, "")]
    if isinstance(like, Boxes):
        like = class_scores[0] if _is_list_of_images(boxes) else class_scores
    return _joined(parts, like)


def _batch(
    boxes: Any, scores: FloatArray, score_kind: FloatKind, objectness: Any, fmt: BoxFormat | None, check: bool
) -> list[_Image]:
    """The images of a batch, whose arrays are moved to the host as a whole."""
    table, box_kind = host_floats(boxes, "boxes")
    if table.ndim != 3 or table.shape[::2] != (len(scores), 4):
        raise ValueError(f"boxes must have shape ({len(scores)}, N, 4), got {table.shape}")
    if objectness is not None:
        objectness, other_kind = host_floats(objectness, "objectness")
        score_kind = common_kind([score_kind, other_kind])
        if objectness.shape != scores.shape[:2]:
            raise ValueError(f"objectness must have shape {scores.shape[:2]}, got {objectness.shape}")
    parts = _each_image(table, scores, objectness, fmt, check)
    return [part._replace(box_kind=box_kind, score_kind=score_kind) for part in parts]


def _each_image(boxes: Any, class_scores: Any, objectness: Any, fmt: BoxFormat | None, check: bool) -> list[_Image]:
    return [
        _image(boxes[k], class_scores[k], None if objectness is None else objectness[k], fmt, check, f"[{k}]")
        for k in range(len(boxes))
    ]


def _joined(parts: list[_Image], like: Any) -> _Images:
    classes = {part.scores.shape[1] for part in parts}
    if len(classes) > 1:
        raise ValueError(f"class_scores must have as many classes in every image, got {sorted(classes)}")
    counts = np.array([len(part.boxes) for part in parts], np.int64)
    if not parts:
        single = np.dtype(np.float32)
        parts = [_Image(np.zeros((0, 4), single), np.zeros((0, 0), single), "class_scores", single, single)]
    return _Images(
        boxes=np.concatenate([part.boxes for part in parts]),
        scores=[part.scores for part in parts],
        names=[part.name for part in parts],
        starts=np.cumsum(counts) - counts,
        like=like,
        box_kind=common_kind([part.box_kind for part in parts]),
        score_kind=common_kind([part.score_kind for part in parts]),
    )


def _is_list_of_images(boxes: Any) -> bool:
    """Whether this is a list with the boxes of each image, not the nested lists of one image."""
    if not isinstance(boxes, (list, tuple)) or not boxes:
        return False
    first = boxes[0]
    if isinstance(first, (list, tuple)):
        return len(first) == 0 or hasattr(first[0], "__len__")
    return isinstance(first, Boxes) or getattr(first, "ndim", 0) == 2


def _image(boxes: Any, class_scores: Any, objectness: Any, fmt: BoxFormat | None, check: bool, at: str) -> _Image:
    """The checked boxes and scores of one image; ``at`` follows the names of the arguments in messages."""
    name, name_of_objectness = f"class_scores{at}", f"objectness{at}"
    check_one_library(**{f"boxes{at}": boxes, name: class_scores, name_of_objectness: objectness})
    corners, box_kind = host_boxes(boxes, fmt, check, f"boxes{at}")
    count = len(corners)
    scores, kind = host_floats(class_scores, name)
    if scores.shape == (0,) and count == 0:
        scores = scores.reshape(0, 0)
    if scores.ndim != 2 or len(scores) != count:
        raise ValueError(f"{name} must have shape ({count}, C), one row per box, got {scores.shape}")
    computed = computing_dtype(scores.dtype)
    if objectness is not None:
        given, other_kind = host_floats(objectness, name_of_objectness)
        if given.shape != (count,):
            raise ValueError(f"{name_of_objectness} must have shape ({count},), one number per box, got {given.shape}")
        kind = common_kind([kind, other_kind])
        computed = computing_dtype(np.result_type(scores.dtype, given.dtype))
        scores = scores.astype(computed) * given.astype(computed)[:, None]
    return _Image(corners, scores.astype(computed, copy=False), name, box_kind, kind)


def _candidates(
    images: _Images, score_threshold: float | NDArray[np.float64], multi_label: bool, most: int, threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray, NDArray[np.int64]]:
    """The box, the class, the score and the image of the ``most`` best candidates of each image.

    They reach the threshold, which is one number or (C,) one for each class. They are sorted by image and then by
    descending score.
    """
    dtype, classes = np.result_type(*images.scores), images.scores[0].shape[1]
    least = np.full(classes, score_threshold, dtype)
    tables = [np.require(scores, dtype, ["C", "A"]) for scores in images.scores]
    places, values = [], []
    for found, table, name in zip(
        _core.best_candidates(tables, least, not multi_label, most, threads), tables, images.names, strict=True
    ):
        if isinstance(found, int):  # native code finds it on its way
            row, column = divmod(found, classes)
            raise ValueError(f"{name}[{row}, {column}] is {table[row, column]}: every score must be finite")
        places.append(found)
        values.append(table.ravel()[found])
    image = np.repeat(np.arange(len(places)), [len(found) for found in places])
    box, label = np.divmod(np.concatenate(places), max(classes, 1))
    return box + images.starts[image] if len(box) else box, label, np.concatenate(values), image
