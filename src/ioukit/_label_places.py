"""Places for the labels of boxes: no label covers another, and all stay inside the image."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ioukit.typing import FloatArray


GAP = 1.0
"""Pixels that stay free between two labels."""


def place_labels(
    boxes: FloatArray,
    sizes: Sequence[Sequence[tuple[float, float]]],
    frame: FloatArray,
    *,
    covered: float = 1.0,
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> list[tuple[int, float, float] | None]:
    """Finds a place for a label at each box. The first box chooses first.

    A label may be above the box, in it, below it or to its side, at a corner or anywhere along the edge where there is
    room. A label that would leave the frame is moved into it, if it still touches its box.

    Args:
        boxes: (N, 4) ``[left, top, right, bottom]`` in pixels, y pointing down.
        sizes: For each box the widths and heights of its possible labels, the longest text first.
        frame: (4,) the rectangle that contains all labels.
        covered: The part of the frame that all labels together may cover; the first label may cover more.
        taken: Rectangles ``(left, top, right, bottom)`` that no label may cover.

    Returns:
        For each box the position of the text that fits, and its left and top; ``None`` if no text fits.
    """
    placed = np.array(taken, np.float64).reshape(-1, 4)
    left = covered * float(np.prod(np.maximum(frame[2:] - frame[:2], 0)))  # square pixels
    found: list[tuple[int, float, float] | None] = []
    for box, wordings in zip(boxes, sizes, strict=True):
        best = None
        for wording, (width, height) in enumerate(wordings):
            if len(placed) > len(taken) and width * height > left:
                continue
            spots = np.array(list(_spots(box, width, height, frame)))
            if not len(spots):
                continue
            corners = np.hstack([spots, spots + np.array([width, height])])
            free = ~_meets(corners, placed).any(axis=1)
            if free.any():
                x, y = spots[int(np.argmax(free))].tolist()
                best = (wording, x, y)
                left -= width * height
                placed = np.vstack([placed, [x, y, x + width, y + height]])
                break
        found.append(best)
    return found


def _spots(box: FloatArray, width: float, height: float, frame: FloatArray) -> Iterator[tuple[float, float]]:
    """Left and top of a label, the best first, in the frame and touching the visible part of the box."""
    left, top = np.maximum(box[:2], frame[:2]).tolist()
    right, bottom = np.minimum(box[2:], frame[2:]).tolist()
    last_x, last_y = frame[2] - width, frame[3] - height
    if last_x < frame[0] or last_y < frame[1] or right < left or bottom < top:
        return
    xs = [left, right - width, (left + right - width) / 2]
    step = max(width / 2, 4.0)
    xs += np.arange(left + step, right - width, step)[:24].tolist()
    ys = np.arange(top, bottom - height, max(height, 4.0))[:24].tolist()
    # Above, inside at the top, below, inside at the bottom; then inside further down, and at the sides.
    rows = [top - height, top, bottom, bottom - height]
    # If a box is smaller than its label, a label outside shows more clearly which box it belongs to.
    for y in rows if bottom - top > 2 * height else [rows[0], rows[2], rows[1], rows[3]]:
        if frame[1] <= y <= last_y:
            yield from ((float(np.clip(x, frame[0], last_x)), y) for x in xs)
    for x in (left, right - width, right, left - width):
        if frame[0] <= x <= last_x:
            yield from ((x, y) for y in ys if frame[1] <= y <= last_y)


def _meets(one: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
    """(N, M) whether rectangles are closer than the gap."""
    right_or_below = one[:, None, :2] >= other[None, :, 2:] + GAP
    left_or_above = one[:, None, 2:] + GAP <= other[None, :, :2]
    return np.logical_not((right_or_below | left_or_above).any(axis=2))
