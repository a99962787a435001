"""The rows of one side of a batch: detections or objects, of all images, in order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ioukit.typing import BoxFormat

__all__ = ["Rows"]


@dataclass
class Rows:
    """The detections, or the objects, of the images of a batch. Values are checked."""

    counts: list[int]
    """(I,) the number of rows of each image."""
    labels: npt.NDArray[np.int64]
    """(N,) ids of categories."""
    boxes: npt.NDArray[Any] | None
    """(N, 4) float32 or float64; ``None`` if boxes are those around the regions."""
    format: BoxFormat
    """The format of the boxes."""
    scores: npt.NDArray[Any] | None = None
    """(N,) scores of detections."""
    crowd: npt.NDArray[np.bool_] | None = None
    """(N,) whether an object is a crowd; ``None`` if none is."""
    areas: npt.NDArray[Any] | None = None
    """(N,) areas, NaN where they are to be computed; ``None`` if all are."""
    regions: list[Any] = field(default_factory=list)
    """Sets of N regions of different kinds."""
    keypoints: npt.NDArray[np.float64] | None = None
    """(N, P, 3) x, y and visibility or score."""
