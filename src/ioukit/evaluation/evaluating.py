"""The whole way in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.datasets import Detections, GroundTruth
from ioukit.evaluation.curves import accumulate
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols.protocol import COCO, Protocol
from ioukit.evaluation.results import Evaluation

__all__ = ["evaluate"]


def evaluate(
    ground_truth: GroundTruth,
    detections: Detections,
    protocol: Protocol = COCO,
    *,
    categories: Sequence[int | str] | None = None,
    images: Sequence[int] | npt.NDArray[np.integer[Any]] | None = None,
    threads: int | None = None,
) -> Evaluation:
    """Judge detections: ``summarise(accumulate(match(...)))``, kept together.

    With the protocol :data:`COCO`, arrays and numbers are those of pycocotools 2.0.11 to the last bit.

    Args:
        ground_truth: The objects that are there.
        detections: What a detector says, of images and categories that the ground truth lists.
        protocol: The rules; ``COCO.replace(...)`` changes some.
        categories: Ids or names of the categories to evaluate; all if ``None``.
        images: Ids of the images to evaluate; all if ``None``.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If a detection is of an image or category that the ground truth does not list.
        ValueError: If ``categories`` or ``images`` names one that is not there.

    Examples:
        >>> ground_truth = GroundTruth.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 10]])
        >>> detections = Detections.from_arrays(image_ids=[1], category_ids=[1], boxes=[[0, 0, 10, 8]], scores=[0.9])
        >>> round(evaluate(ground_truth, detections).summary["AP"], 3)
        0.7
    """
    table = match(ground_truth, detections, protocol, categories=categories, images=images, threads=threads)
    counts = {
        "images": len(table.image_ids),
        "categories": len(table.categories),
        "annotations": len(ground_truth),
        "crowds": int(ground_truth.crowd.sum()),
        "detections": len(detections),
        "dropped": ground_truth.dropped + detections.dropped,
    }
    notes = (*ground_truth.notes, *detections.notes)
    return Evaluation(table, accumulate(table, threads=threads), counts, notes, ground_truth, detections)
