"""On which images are the errors?"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit._checks import pluralize
from ioukit._columns import Columns, record
from ioukit.datasets import Images
from ioukit.datasets.columns.ground_truth import named_images
from ioukit.evaluation.analysis._quotient import quotient
from ioukit.evaluation.analysis.outcomes import Outcome, Outcomes
from ioukit.evaluation.table import MatchTable


@record(frozen=True, eq=False, repr=False)
class ImageResults(Columns):
    """The counts of each image, all classes together, and the ratios computed from them.

    ``precision = TP / (TP + FP)``, ``recall = TP / (TP + FN)`` and ``F1 = 2 TP / (2 TP + FP + FN)``, each NaN where its
    denominator is 0: recall of an image without objects, precision of one without detections, F1 of one without both.
    """

    image_ids: npt.NDArray[Any]
    """(I,) ids of the images evaluated, in ascending order."""
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
    """(I,) mean IoU of the true positives with their objects; NaN if the image has no true positives."""

    def __len__(self) -> int:
        return len(self.image_ids)

    def notebook_rows(self) -> tuple[Iterable[Any], int]:
        """The counts of each image, with its name where it is known."""
        rows, count = super().notebook_rows()
        images: Images | None = vars(self).get("_images")
        if images is None:
            return rows, count
        names = named_images(images, self.image_ids)
        counts = ({key: value for key, value in row.items() if key != "image_ids"} for row in rows)
        return [{"image": name, **row} for name, row in zip(names, counts, strict=False)], count

    def __repr__(self) -> str:
        wrong = int((self.false_positives + self.false_negatives > 0).sum())
        return f"ImageResults({pluralize(len(self), 'image')}, {wrong:,} of them with errors)"

    def worst(self, n: int) -> npt.NDArray[np.int64]:
        """Positions of up to ``n`` images: those with the most errors (FP + FN) first, then lower F1, then lower id.

        Images without errors are left out.

        Raises:
            ValueError: If ``n`` is negative.
        """
        if operator.index(n) < 0:
            raise ValueError(f"n must not be negative, got {n}")
        errors = self.false_positives + self.false_negatives
        order = np.lexsort((self.f1, -errors))  # stable, and ids are in ascending order
        return order[: min(n, int(np.count_nonzero(errors)))]


def per_image(table: MatchTable, outcomes: Outcomes) -> ImageResults:
    """The counts of each image.

    Args:
        table: The matches.
        outcomes: The outcome of each of its detections and objects, for one IoU threshold, area range and score
            threshold.

    Raises:
        ValueError: If the outcomes belong to another table.
    """
    if (len(outcomes.detections), len(outcomes.objects)) != (len(table.detections), len(table.objects)):
        raise ValueError("expected the outcomes of this table, got those of another")
    count = len(table.image_ids)

    def counted(image: npt.NDArray[np.uint32], rows: npt.NDArray[Any], **more: Any) -> Any:
        return np.bincount(image[rows], minlength=count, **more)

    hits = np.flatnonzero(outcomes.detections == Outcome.TRUE_POSITIVE)
    # IoUs are added in the order of the data, regardless of the category.
    hits = hits[np.argsort(table.detections.row[hits], kind="stable")]
    tp = counted(table.detections.image, hits)
    fp = counted(table.detections.image, outcomes.detections == Outcome.FALSE_POSITIVE)
    fn = counted(table.objects.image, outcomes.objects == Outcome.FALSE_NEGATIVE)
    total_iou = counted(table.detections.image, hits, weights=outcomes.match_iou[hits])
    return ImageResults(
        image_ids=table.image_ids,
        num_ground_truth=tp + fn,
        num_detections=tp + fp,
        true_positives=tp,
        false_positives=fp,
        false_negatives=fn,
        precision=quotient(tp, tp + fp),
        recall=quotient(tp, tp + fn),
        f1=quotient(2 * tp, 2 * tp + fp + fn),
        mean_iou=quotient(total_iou, tp),
    )
