"""What is taken for what?"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ioukit._checks import check_choice, check_number
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation._rows import frozen, quotient
from ioukit.evaluation.analysis.outcomes import Outcome, outcomes
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols.protocol import AreaRange, Protocol

__all__ = ["ConfusionMatrix", "confusion_matrix"]

# As many as the match table can count.
_NO_CAP = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionMatrix:
    """The result of :func:`confusion_matrix`.

    Rows are true classes, columns predicted ones; the last row and the last column stand for the background. ``P``
    entries, one for each matched pair, each missed object and each detection of nothing, say what was counted.
    """

    categories: Categories
    """(K,) the classes, in the order of rows and columns."""
    counts: npt.NDArray[np.int64]
    """(K + 1, K + 1) objects of the true class matched by detections of the predicted one. Last row: detections that
    match nothing; last column: objects that nothing matches; where both meet: 0."""
    iou_threshold: float
    """The IoU from which a detection can match an object."""
    score_threshold: float
    """The score from which detections count."""
    image_ids: npt.NDArray[np.int64]
    """(I,) ids of the images looked at, rising."""
    image: npt.NDArray[np.int64]
    """(P,) position of the image in :attr:`image_ids`."""
    ground_truth: npt.NDArray[np.int64]
    """(P,) row of the annotation; -1 for a detection of nothing."""
    detection: npt.NDArray[np.int64]
    """(P,) row of the detection; -1 for a missed object."""
    true: npt.NDArray[np.int64]
    """(P,) row of the matrix, K for the background."""
    predicted: npt.NDArray[np.int64]
    """(P,) column of the matrix, K for the background."""

    def __repr__(self) -> str:
        inner = self.counts[:-1, :-1]
        return (
            f"ConfusionMatrix({len(self.categories):,} classes, {int(inner.trace()):,} right, "
            f"{int(inner.sum() - inner.trace()):,} confused, {int(self.counts[:-1, -1].sum()):,} missed, "
            f"{int(self.counts[-1, :-1].sum()):,} of nothing)"
        )

    def cell(self, true: int, predicted: int) -> npt.NDArray[np.int64]:
        """Which of the P entries a cell counts.

        Args:
            true: Row of the matrix, K for the background.
            predicted: Column of the matrix, K for the background.

        Raises:
            ValueError: If there is no such row or column.
        """
        size = len(self.counts)
        for name, place in (("true", true), ("predicted", predicted)):
            if not 0 <= operator.index(place) < size:
                raise ValueError(f"{name} must be within 0 to {size - 1} (the background), got {place}")
        return np.flatnonzero((self.true == true) & (self.predicted == predicted))

    def normalized(self, by: Literal["truth", "prediction"] = "truth") -> npt.NDArray[np.float64]:
        """The matrix as shares.

        Args:
            by: ``"truth"`` divides each row by its sum, so that the diagonal holds the recall of each class;
                ``"prediction"`` each column, so that it holds the precision.

        Returns:
            (K + 1, K + 1), NaN along rows (columns) that are empty.

        Raises:
            ValueError: If ``by`` is neither.
        """
        check_choice("by", by, ("truth", "prediction"))
        return quotient(self.counts, self.counts.sum(axis=1 if by == "truth" else 0, keepdims=True))


def confusion_matrix(
    ground_truth: GroundTruth,
    detections: Detections,
    *,
    iou_threshold: float = 0.5,
    score_threshold: float = 0.25,
    max_dets: int | None = None,
    categories: Sequence[int | str] | None = None,
    images: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    threads: int | None = None,
) -> ConfusionMatrix:
    """Count which class is taken for which.

    The matching rule: on each image the detections with ``score_threshold`` or more choose in the order of falling
    scores, whatever their class. Each takes the free object of **any** class with the highest IoU at or above
    ``iou_threshold``; of equal IoU the last in the file, as everywhere in COCO's matching. One that finds no free
    object but lies on a crowd (of any class; intersection over its own area) is left out. So every object but the
    crowds is counted once, in its row, and every detection that is not left out once, in its column.

    A detection next to two objects of different classes takes the better overlap, not the right class: this is what
    distinguishes the matrix from AP, where classes are matched apart.

    Args:
        ground_truth: The objects.
        detections: What is judged, of images and categories that the ground truth lists.
        iou_threshold: IoU from which a detection can match, within (0, 1].
        score_threshold: Detections with this score or a higher one count.
        max_dets: Cap on the detections of an image, all classes together, best first; none if ``None``.
        categories: Ids or names of the categories to look at, objects and detections of others being left out; all if
            ``None``.
        images: Ids of the images to look at; all if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a detection is of an image or category that the ground truth does not list.
        ValueError: If a threshold or cap makes no sense, or if ``categories`` or ``images`` names one that is not
            there.

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> boxes = [[0, 0, 9, 9], [20, 0, 9, 9], [40, 0, 9, 9]]
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1, 1], category_ids=[1, 1, 2], boxes=boxes, categories={1: "cat", 2: "dog"}
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1, 1], category_ids=[1, 2, 2], boxes=[*boxes[:2], [60, 0, 9, 9]], scores=[0.9, 0.8, 0.7]
        ... )
        >>> confusion_matrix(ground_truth, detections).counts  # a cat, a cat taken for a dog, a dog missed, one made up
        array([[1, 1, 0],
               [0, 0, 1],
               [0, 1, 0]])
    """
    check_number(score_threshold=score_threshold)
    protocol = Protocol(
        name="confusion",
        iou_thresholds=(iou_threshold,),
        recall_thresholds=(1.0,),
        max_dets=(_NO_CAP if max_dets is None else max_dets,),
        area_ranges=(AreaRange("all", 0.0, math.inf),),
        class_agnostic=True,
    )
    table = match(ground_truth, detections, protocol, categories=categories, images=images, threads=threads)
    became = outcomes(table, ground_truth, detections, iou=iou_threshold, score_threshold=score_threshold)

    listed = ground_truth.categories
    chosen = np.flatnonzero(np.isin(listed.ids, table.category_ids))
    evaluated = Categories(listed.ids[chosen], tuple(listed.names[position] for position in chosen))
    background = len(evaluated)
    hits = np.isin(became.detections, (Outcome.TRUE_POSITIVE, Outcome.FALSE_POSITIVE))
    dt_rows = table.detection[hits[table.detection]]  # by image, best first
    missed = np.flatnonzero(became.ground_truth == Outcome.FALSE_NEGATIVE)
    dt_image = table.image[hits[table.detection]].astype(np.int64)
    image = np.concatenate([dt_image, np.searchsorted(table.image_ids, ground_truth.image_ids[missed])])
    gt_of = np.concatenate([became.matched_ground_truth[dt_rows], missed])
    dt_of = np.concatenate([dt_rows, np.full(len(missed), -1)])
    order = np.argsort(image, kind="stable")
    image, gt_of, dt_of = image[order], gt_of[order], dt_of[order]
    true, predicted = np.full(len(gt_of), background), np.full(len(dt_of), background)
    true[gt_of >= 0] = np.searchsorted(evaluated.ids, ground_truth.category_ids[gt_of[gt_of >= 0]])
    predicted[dt_of >= 0] = np.searchsorted(evaluated.ids, detections.category_ids[dt_of[dt_of >= 0]])
    size = background + 1
    counts = np.bincount(true * size + predicted, minlength=size * size).reshape(size, size)
    return ConfusionMatrix(
        evaluated,
        iou_threshold=float(iou_threshold),
        score_threshold=float(score_threshold),
        image_ids=table.image_ids,
        **frozen(counts=counts, image=image, ground_truth=gt_of, detection=dt_of, true=true, predicted=predicted),
    )
