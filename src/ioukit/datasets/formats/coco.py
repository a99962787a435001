"""COCO files: how one is recognised, and two that belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.datasets.columns.detections import Detections
from ioukit.datasets.columns.ground_truth import GroundTruth

if TYPE_CHECKING:
    import os
    from pathlib import Path

    from ioukit.datasets.columns._checks import OnInvalid

__all__ = ["read_coco", "recognises"]


def recognises(path: Path) -> bool:
    """Whether the name is that of a JSON file, packed or not; other special files may be JSON too."""
    if path.exists() and not path.is_file():
        return not path.is_dir()
    return path.name.lower().endswith((".json", ".json.gz"))


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
