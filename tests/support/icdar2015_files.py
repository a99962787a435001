"""Boxes in the image as ICDAR 2015's text files: four corners, and what follows them."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets import Detections, GroundTruth

__all__ = ["write_icdar2015"]


def write_icdar2015(
    data: GroundTruth | Detections, gt: GroundTruth, folder: Path, prefix: str, last: list[str]
) -> Path:
    """Write a file per image of the ground truth, with the last field of each line."""
    folder.mkdir()
    labels, boxes = data.image_labels().tolist(), data.boxes.tolist()
    for label, name in zip(gt.images.labels.tolist(), gt.images.names, strict=True):
        lines = [
            f"{x},{y},{x + width},{y},{x + width},{y + height},{x},{y + height},{field}\n"
            for of, (x, y, width, height), field in zip(labels, boxes, last, strict=True)
            if of == label
        ]
        (folder / f"{prefix}_{PurePath(name).stem}.txt").write_text("".join(lines))
    return folder
