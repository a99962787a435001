"""Random boxes and the formats of torchvision.ops."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ROTATED", "UPRIGHT", "random_boxes"]

UPRIGHT = ("xyxy", "xywh", "cxcywh")
ROTATED = ("cxcywhr", "xywhr", "xyxyxyxy")


def random_boxes(*shape: int, seed: int = 1) -> Any:
    """(..., 4) xyxy, with sides of at least 2; some coordinates are below 0."""
    rng = np.random.default_rng(seed)
    corner, size = rng.uniform(-20, 80, (2, *shape, 2))
    return np.concatenate([corner, corner + abs(size) + 2], axis=-1)
