"""Boxes in the image as nuScenes' records: boxes in space, seen from above."""

from __future__ import annotations

import json
from pathlib import PurePath
from typing import TYPE_CHECKING

from ioukit._columns import positions_in

if TYPE_CHECKING:
    from pathlib import Path

    from ioukit.datasets import GroundTruth

__all__ = ["write_nuscenes"]


def write_nuscenes(gt: GroundTruth, path: Path) -> Path:
    """Write a file in which the samples have the names of the images without suffix."""
    samples = [PurePath(name).stem for name in gt.images.names]
    results: dict[str, list[object]] = {sample: [] for sample in samples}
    classes = dict(zip(gt.categories.ids.tolist(), gt.categories.names, strict=True))
    places = positions_in(gt.images.ids, gt.image_ids).tolist()
    for place, category, (x, y, width, height) in zip(places, gt.category_ids.tolist(), gt.boxes.tolist(), strict=True):
        results[samples[place]].append(
            {
                "translation": [x + width / 2, y + height / 2, 0],
                "size": [height, width, 1],
                "rotation": [1, 0, 0, 0],
                "velocity": [0.5, 0],
                "detection_name": classes[category],
                "attribute_name": "vehicle.parked",
                "ego_translation": [3, 4, 0],
                "num_pts": 5,
            }
        )
    path.write_text(json.dumps({"meta": {}, "results": results}))
    return path
