"""On which images does it fail?"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation._rows import check_data, frozen, positions, quotient
from ioukit.evaluation.analysis.outcomes import Outcome, Outcomes
from ioukit.evaluation.matching import MatchTable

__all__ = ["ImageResults", "per_image"]


@dataclass(frozen=True, eq=False, repr=False)
class ImageResults:
    """The counts of each image, all classes pooled, and what follows from them.

    ``precision = TP / (TP + FP)``, ``recall = TP / (TP + FN)`` and ``F1 = 2 TP / (2 TP + FP + FN)``, each NaN where its
    denominator is 0: an image without objects has no recall, one without detections no precision, one without either
    no F1.
    """

    image_ids: npt.NDArray[np.int64]
    """(I,) ids of the images evaluated, rising."""
    num_ground_truth: npt.NDArray[np.int64]
    """(I,) objects to find: TP + FN."""
    num_detections: npt.NDArray[np.int64]
    """(I,) detections that count: TP + FP."""
    true_positives: npt.NDArray[np.int64]
    """(I,) TP."""
    false_positives: npt.NDArray[np.int64]
    """(I,) FP."""
    false_negatives: npt.NDArray[np.int64]
    """(I,) FN."""
    precision: npt.NDArray[np.float64]
    """(I,) within [0, 1] or NaN."""
    recall: npt.NDArray[np.float64]
    """(I,) within [0, 1] or NaN."""
    f1: npt.NDArray[np.float64]
    """(I,) within [0, 1] or NaN."""
    mean_iou: npt.NDArray[np.float64]
    """(I,) mean IoU of the true positives with their objects; NaN where there are none."""

    def __len__(self) -> int:
        return len(self.image_ids)

    def __repr__(self) -> str:
        wrong = int((self.false_positives + self.false_negatives > 0).sum())
        return f"ImageResults({len(self):,} images, {wrong:,} of them with errors)"

    def worst(self, n: int) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` images: those with the most errors (FP + FN) first, then lower F1, then lower id.

        Images without an error are not among them.

        Raises:
            ValueError: If ``n`` is negative.
        """
        if operator.index(n) < 0:
            raise ValueError(f"n must not be negative, got {n}")
        errors = self.false_positives + self.false_negatives
        order = np.lexsort((self.f1, -errors))  # stable, and ids rise
        return order[: min(n, int(np.count_nonzero(errors)))]


def per_image(outcomes: Outcomes, table: MatchTable, ground_truth: GroundTruth, detections: Detections) -> ImageResults:
    """Count the outcomes of each image.

    Args:
        outcomes: What became of every detection and object, which says at which IoU, area and score.
        table: The matches that they came from.
        ground_truth: The annotations that were matched.
        detections: The detections that were matched.

    Raises:
        ValueError: If the data is not what the table was made of.
    """
    check_data(table, ground_truth, detections)
    if (len(outcomes.ground_truth), len(outcomes.detections)) != table.sources:
        raise ValueError("expected the outcomes of this table, got those of another")
    count = len(table.image_ids)
    dt_image = np.zeros(len(detections), np.int64)
    dt_image[table.detection] = table.image
    gt_image = positions(table, ground_truth)[0]

    def counted(image: npt.NDArray[np.int64], kinds: npt.NDArray[np.int8], kind: Outcome, **more: Any) -> Any:
        rows = kinds == kind
        weights = {name: column[rows] for name, column in more.items()}
        return np.bincount(image[rows], minlength=count, **weights)

    tp = counted(dt_image, outcomes.detections, Outcome.TRUE_POSITIVE)
    fp = counted(dt_image, outcomes.detections, Outcome.FALSE_POSITIVE)
    fn = counted(gt_image, outcomes.ground_truth, Outcome.FALSE_NEGATIVE)
    total_iou = counted(dt_image, outcomes.detections, Outcome.TRUE_POSITIVE, weights=outcomes.match_iou)
    return ImageResults(
        image_ids=table.image_ids,
        **frozen(
            num_ground_truth=tp + fn,
            num_detections=tp + fp,
            true_positives=tp,
            false_positives=fp,
            false_negatives=fn,
            precision=quotient(tp, tp + fp),
            recall=quotient(tp, tp + fn),
            f1=quotient(2 * tp, 2 * tp + fp + fn),
            mean_iou=quotient(total_iou, tp),
        ),
    )
