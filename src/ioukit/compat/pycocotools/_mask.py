"""``pycocotools._mask``, the compiled module behind `pycocotools.mask`: the same functions for lists alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ioukit.compat.pycocotools.mask import Record, area, decode, encode, frPyObjects, iou, merge, toBbox

__all__ = ["area", "decode", "encode", "frBbox", "frPoly", "frPyObjects", "frUncompressedRLE", "iou", "merge", "toBbox"]


def frPoly(poly: list[list[float]], h: int, w: int) -> list[Record]:  # noqa: N802 - pycocotools' name
    """The records of flat polygons."""
    found: list[Record] = frPyObjects(poly, h, w)
    return found


def frBbox(bb: NDArray[np.float64], h: int, w: int) -> list[Record]:  # noqa: N802
    """The records of (N, 4) boxes ``[x, y, width, height]``."""
    found: list[Record] = frPyObjects(bb, h, w)
    return found


def frUncompressedRLE(ucRles: list[dict[str, Any]], h: int, w: int) -> list[Record]:  # noqa: N802, N803
    """The records of records whose counts are lists."""
    found: list[Record] = frPyObjects(ucRles, h, w)
    return found
