"""What the data of a report say at a position of the score threshold, read as the script of the page reads them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["cell_images", "kinds_at", "matrix_at", "rows_at", "up_to"]

_OBJECTS = (0, 3, 4)
_DETECTED, _MISSED = 0, 3


def up_to(steps: list[int], position: int) -> int:
    return sum(steps[: position + 1])


def matrix_at(matrix: dict[str, Any], position: int) -> npt.NDArray[np.int64]:
    """(K + 1, K + 1) the counts."""
    background = len(matrix["classes"])
    counts = np.zeros((background + 1, background + 1), np.int64)
    for cell in matrix["cells"]:
        at = 0
        steps = cell.get("steps", [])
        for gap, new in zip(steps[::2], steps[1::2], strict=True):
            at += gap
            counts[cell["true"], cell["predicted"]] += new if at <= position else 0
    counts[:background, background] = np.array(matrix["objects"], np.int64) - counts[:background, :background].sum(
        axis=1
    )
    return counts


def cell_images(cell: dict[str, Any], background: int, position: int) -> dict[int, int]:
    """From images to how often the list of a cell has them."""
    found: dict[int, int] = {}
    for image, at in zip(cell["images"][::2], cell["images"][1::2], strict=True):
        if at > position if cell["predicted"] == background else at <= position:
            found[image] = found.get(image, 0) + 1
    return found


def rows_at(image: dict[str, Any]) -> tuple[npt.NDArray[np.int64], list[list[int]]]:
    """(B, 7) the boxes, and the marks of each."""
    boxes = np.array(image["boxes"], np.int64).reshape(-1, 7)
    marks, at = [], 0
    for kind in boxes[:, 0].tolist():
        count = 3 if kind in _OBJECTS else 7
        marks.append(image["marks"][at : at + count])
        at += count
    assert at == len(image["marks"])
    return boxes, marks


def kinds_at(image: dict[str, Any], position: int) -> npt.NDArray[np.int64]:
    """(B,) the kind of each region: as in the data, -1 for a detection that does not count."""
    boxes, marks = rows_at(image)
    kinds = []
    for kind, mark in zip(boxes[:, 0].tolist(), marks, strict=True):
        if kind in (_DETECTED, _MISSED):
            kinds.append(_DETECTED if mark[0] <= position else _MISSED)
        else:
            kinds.append(kind if kind in _OBJECTS or mark[0] <= position else -1)
    return np.array(kinds, np.int64)
