"""What the examples decide by themselves."""

from __future__ import annotations

import runpy

import numpy as np
import pytest

pytest.importorskip("torch", reason="the detector needs PyTorch: pip install 'ioukit[torch]'")

from ioukit import COCO, evaluate
from ioukit.datasets import Detections, GroundTruth
from support.paths import ROOT


def test_photos_are_evaluated_on_objects_larger_than_16_pixels_on_both_sides() -> None:
    example = runpy.run_path(str(ROOT / "examples" / "overfit_photos.py"))
    boxes: list[list[float]] = [[0, 0, 100, 10], [0, 20, 20, 17], [0, 50, 16, 300], [50, 50, 16.5, 16.5]]
    ones = np.ones(4, np.int64)
    truth = GroundTruth.from_arrays(image_ids=ones, category_ids=ones, boxes=boxes)
    thin: list[float] = [0, 0, 100, 9]
    # The thin ones are not found, and one of them is found badly: neither counts.
    found = Detections.from_arrays(
        image_ids=ones, category_ids=ones, boxes=[boxes[1], boxes[3], thin, boxes[2]],
        scores=[0.5, 0.6, 0.9, 1.0],
    )  # fmt: skip
    protocol = COCO.replace(area_ranges={"all": (example["LARGER"] ** 2 + 1e-6, 1e10)})
    result = evaluate(example["larger_than"](truth), found, protocol)
    assert result.per_class[0].num_ground_truth == 2
    assert result.summary["AP50"] == pytest.approx(1.0)
