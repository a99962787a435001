"""COCO files: the ground truth and the detections that belong together."""

from __future__ import annotations

import os

from ioukit.datasets._columns import OnInvalid
from ioukit.datasets.detections import Detections
from ioukit.datasets.ground_truth import GroundTruth

__all__ = ["read_coco"]


def read_coco(
    ground_truth_path: str | os.PathLike[str],
    detections_path: str | os.PathLike[str],
    *,
    on_invalid: OnInvalid = "error",
    threads: int | None = None,
) -> tuple[GroundTruth, Detections]:
    """Read an annotation file and a results file straight into columns, and check that they belong together.

    Args:
        ground_truth_path: ``instances_*.json``, or ``.json.gz``; see :meth:`GroundTruth.from_coco`.
        detections_path: A results file, or ``.json.gz``; see :meth:`Detections.from_coco`.
        on_invalid: What to do with invalid records, and with detections of an image or category that the ground truth
            does not list: ``"error"``, ``"drop"`` or ``"pycocotools"``.
        threads: How many threads read; all cores if ``None``.

    Raises:
        DatasetError: If a file is invalid or they do not belong together.
        OSError: If a file cannot be read.
    """
    ground_truth = GroundTruth.from_coco(ground_truth_path, on_invalid=on_invalid, threads=threads)
    detections = Detections.from_coco(detections_path, on_invalid=on_invalid, threads=threads)
    return ground_truth, detections.known_to(ground_truth, on_invalid=on_invalid)
