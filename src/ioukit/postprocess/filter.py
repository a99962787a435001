"""The whole tail of a detector in one call: from the scores of a head to the detections of a data set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit.overlap._arguments import single_set
from ioukit.postprocess._columns import check_most, check_threshold, host, restore
from ioukit.postprocess._groups import best_of_images
from ioukit.postprocess.greedy import nms
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from ioukit.postprocess.soft import SymmetricMetric
    from ioukit.regions import BoxesLike
    from ioukit.typing import Array, BoxFormat, FloatArray

__all__ = ["FilteredDetections", "filter_detections"]


@dataclass(frozen=True, eq=False, repr=False)
class FilteredDetections:
    """Detections as columns: by image, and within an image by falling score."""

    images: Array
    """(K,) int64, the image of each, as a position in the batch."""
    labels: Array
    """(K,) int64, the class of each, as a column of the scores."""
    boxes: Array
    """(K, 4) xyxy, in the unit and dtype they came in."""
    scores: Array
    """(K,) class score, times objectness where there is one."""
    rows: Array
    """(K,) int64, the position of each among the boxes of its image."""

    def __len__(self) -> int:
        return len(self.scores)

    def __repr__(self) -> str:
        return f"<FilteredDetections: {len(self):,}>"

    def columns(
        self, image_ids: ArrayLike | None = None, category_ids: ArrayLike | None = None
    ) -> dict[str, NDArray[Any] | Boxes]:
        """What `Detections.from_arrays` takes, with the ids of a data set; boxes must be in pixels.

        Args:
            image_ids: (B,) the id of each image of the batch; its position by default.
            category_ids: (C,) the id of each class; its column by default.

        Examples:
            >>> from ioukit import Detections, filter_detections
            >>> found = filter_detections([[0, 0, 10, 10], [1, 0, 11, 10]], [[0.9, 0.1], [0.8, 0.0]])
            >>> Detections.from_arrays(**found.columns(image_ids=[42], category_ids=[1, 3])).category_ids
            array([1, 3])
        """
        images, labels = (np.asarray(host(column, "labels")) for column in (self.images, self.labels))
        return {
            "image_ids": images if image_ids is None else np.asarray(image_ids)[images],
            "category_ids": labels if category_ids is None else np.asarray(category_ids)[labels],
            "boxes": Boxes(host(self.boxes, "boxes"), "xyxy"),
            "scores": np.asarray(host(self.scores, "scores"), np.float64),
        }


def filter_detections(
    boxes: BoxesLike | Sequence[BoxesLike],
    class_scores: ArrayLike | Sequence[ArrayLike],
    *,
    objectness: ArrayLike | Sequence[ArrayLike] | None = None,
    score_threshold: float = 0.05,
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
    """Scores, threshold, the best candidates, NMS per class and image, and the best of what is left.

    In this order, for every image by itself:

    1. ``score = class_score * objectness``; every class of a box is a candidate, or with ``multi_label=False`` its best
       class alone (of equal ones the first).
    2. Candidates whose score is **below** ``score_threshold`` are left out.
    3. The ``top_k`` candidates with the best scores stay, whatever their class.
    4. Greedy NMS, among candidates of one class or with ``class_agnostic`` among all: removes boxes with an overlap
       **above** ``iou_threshold``.
    5. The ``max_detections`` best stay.

    Of equal scores the lower box and then the lower class comes first, everywhere.

    Args:
        boxes: Of one image, `Boxes` or an array-like of shape (N, 4); of a batch, an array of shape (B, N, 4) or a list
            of the boxes of each image. In any unit, of NumPy or another library.
        class_scores: (N, C); (B, N, C) or a list likewise. Probabilities, not logits, finite.
        objectness: (N,); (B, N) or a list likewise. None is 1.
        score_threshold: At least 0.
        iou_threshold: At least 0.
        top_k: At most so many candidates per image go into NMS; None for all.
        max_detections: At most so many detections per image; None for all.
        class_agnostic: Let boxes of different classes suppress each other.
        multi_label: Whether a box may be detected as several classes.
        metric: How overlap is measured.
        format: What plain arrays hold: ``"xyxy"`` (the default), ``"xywh"`` or ``"cxcywh"``. The result is xyxy.
        check: Whether plain arrays are checked.
        threads: How many threads may work, by default all; they change no bit.

    Returns:
        The detections, by image and then by falling score, in arrays of the library of the boxes.

    Raises:
        ValueError: If shapes do not fit, a box or a score is not valid, or an option is out of range; of a list, the
            message names the image.
        TypeError: If something is of the wrong kind.

    Examples:
        >>> from ioukit import filter_detections
        >>> boxes = [[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10]]
        >>> found = filter_detections(boxes, [[0.9, 0.1], [0.8, 0.0], [0.2, 0.6]], score_threshold=0.3)
        >>> found.rows, found.labels, found.scores
        (array([0, 2]), array([0, 1]), array([0.9, 0.6]))
    """
    check_threshold(score_threshold=score_threshold, iou_threshold=iou_threshold)
    before, after = check_most("top_k", top_k), check_most("max_detections", max_detections)
    images = _images(boxes, class_scores, objectness, format, check)

    box, label, scores = _candidates(images.scores, score_threshold, multi_label)
    image = images.number[box]
    best = best_of_images(image, scores, before)
    box, label, scores, image = box[best], label[best], scores[best], image[best]
    kept = nms(
        images.boxes[box],
        scores,
        iou_threshold=iou_threshold,
        labels=None if class_agnostic else label,
        batch=image,
        metric=metric,
        check=False,
        threads=threads,
    )
    kept = np.sort(kept)  # the candidates come by image and falling score
    kept = kept[best_of_images(image[kept], scores[kept], after)]
    box = box[kept]
    like = images.like
    return FilteredDetections(
        images=restore(image[kept], like),
        labels=restore(label[kept], like),
        boxes=restore(images.boxes[box].astype(images.box_dtype, copy=False), like),
        scores=restore(scores[kept].astype(images.score_dtype, copy=False), like),
        rows=restore(box - images.starts[image[kept]], like),
    )


class _Images(NamedTuple):
    """The boxes of all images, one image after the other."""

    boxes: FloatArray
    """(T, 4) xyxy."""
    scores: FloatArray
    """(T, C)"""
    number: NDArray[np.int64]
    """(T,) the image of each box."""
    starts: NDArray[np.int64]
    """(B,) where the boxes of an image begin."""
    like: Any
    box_dtype: np.dtype[Any]
    score_dtype: np.dtype[Any]


def _images(boxes: Any, class_scores: Any, objectness: Any, fmt: BoxFormat | None, check: bool) -> _Images:
    if _is_list_of_arrays(boxes):
        for name, given in (("class_scores", class_scores), ("objectness", objectness)):
            if given is not None and len(given) != len(boxes):
                raise ValueError(f"{name} must have one entry per image, {len(boxes)}, got {len(given)}")
        parts = [
            _image(boxes[k], class_scores[k], None if objectness is None else objectness[k], fmt, check, f"[{k}]")
            for k in range(len(boxes))
        ]
        like = boxes[0]
    else:
        like = boxes
        given = np.asarray(as_floats(host(class_scores, "class_scores"), "class_scores"))
        if given.ndim == 3:
            array = as_floats(host(boxes, "boxes"), "boxes")
            if array.ndim != 3 or array.shape[::2] != (len(given), 4):
                raise ValueError(f"boxes must have shape ({len(given)}, N, 4), got {array.shape}")
            object_scores = None if objectness is None else as_floats(host(objectness, "objectness"), "objectness")
            if object_scores is not None and object_scores.shape != given.shape[:2]:
                raise ValueError(f"objectness must have shape {given.shape[:2]}, got {object_scores.shape}")
            parts = [
                _image(array[k], given[k], None if object_scores is None else object_scores[k], fmt, check, f"[{k}]")
                for k in range(len(given))
            ]
        else:
            parts = [_image(boxes, given, objectness, fmt, check, "")]
    classes = {scores.shape[1] for _, scores, _, _ in parts}
    if len(classes) > 1:
        raise ValueError(f"class_scores must have as many classes in every image, got {sorted(classes)}")
    counts = np.array([len(part[0]) for part in parts], np.int64)
    if not parts:
        single = np.dtype(np.float32)
        parts = [(np.zeros((0, 4), single), np.zeros((0, 0), single), single, single)]
    return _Images(
        boxes=np.concatenate([part[0] for part in parts]),
        scores=np.concatenate([part[1] for part in parts]),
        number=np.repeat(np.arange(len(counts), dtype=np.int64), counts),
        starts=np.cumsum(counts) - counts,
        like=like,
        box_dtype=np.result_type(*(part[2] for part in parts)),
        score_dtype=np.result_type(*(part[3] for part in parts)),
    )


def _is_list_of_arrays(boxes: Any) -> bool:
    """Whether this is a list with the boxes of each image, not the nested lists of one."""
    if not isinstance(boxes, (list, tuple)) or not boxes:
        return False
    first = boxes[0]
    if isinstance(first, (list, tuple)):
        return len(first) == 0 or hasattr(first[0], "__len__")
    return isinstance(first, Boxes) or getattr(first, "ndim", 0) == 2


def _image(
    boxes: Any, class_scores: Any, objectness: Any, fmt: BoxFormat | None, check: bool, at: str
) -> tuple[FloatArray, FloatArray, np.dtype[Any], np.dtype[Any]]:
    """Boxes and scores of an image, and the dtypes they came in."""
    name = f"class_scores{at}"
    corners, box_dtype = single_set(f"boxes{at}", host(boxes, f"boxes{at}"), fmt, check)
    if corners.ndim != 2:
        raise ValueError(f"boxes{at} must have shape (N, 4), got {corners.shape}")
    count = len(corners)
    scores = as_floats(host(class_scores, name), name)
    if scores.shape == (0,) and count == 0:
        scores = scores.reshape(0, 0)
    if scores.ndim != 2 or len(scores) != count:
        raise ValueError(f"{name} must have shape ({count}, C), one row per box, got {scores.shape}")
    dtype = scores.dtype
    if objectness is not None:
        given = as_floats(host(objectness, f"objectness{at}"), f"objectness{at}")
        if given.shape != (count,):
            raise ValueError(f"objectness{at} must have shape ({count},), one number per box, got {given.shape}")
        dtype = np.result_type(dtype, given.dtype)
        scores = scores.astype(computing_dtype(dtype)) * given.astype(computing_dtype(dtype))[:, None]
    if not np.isfinite(scores).all():
        row, column = (int(places[0]) for places in np.nonzero(~np.isfinite(scores)))
        raise ValueError(f"{name}[{row}, {column}] is {scores[row, column]}: every score must be finite")
    return corners, scores.astype(computing_dtype(dtype), copy=False), box_dtype, dtype


def _candidates(
    scores: FloatArray, score_threshold: float, multi_label: bool
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """Box, class and score of what reaches the threshold, by box and then by class."""
    least = scores.dtype.type(score_threshold)
    if multi_label or scores.shape[1] == 0:
        box, label = np.nonzero(scores >= least)
    else:
        label = scores.argmax(axis=1)
        box = np.flatnonzero(scores[np.arange(len(scores)), label] >= least)
        label = label[box]
    return box.astype(np.int64), label.astype(np.int64), scores[box, label]
