"""Boxes in the pixels of a network's image: the ways of resizing, and how they are undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit.checks.repairs.boxes import sizes_of_rows, with_boxes

if TYPE_CHECKING:
    from ioukit.checks.repairs.repair import Data, Repair
    from ioukit.typing import FloatArray

__all__ = ["MODES", "from_network", "on_image", "unit_scales"]

MODES = ("factor", "stretch", "letterbox", "longest", "shortest")
"""Ways of resizing: by a factor; to a width and a height; to a square with a border on two sides; to a longest side
(also with a border on the right or below); to a shortest side."""


def unit_scales(sizes: FloatArray, mode: str) -> tuple[FloatArray, FloatArray]:
    """(N, 2) scale and (N, 2) shift in x and y for a network of size 1: ``(x * scale + shift) * size``.

    Args:
        sizes: (N, 2) width and height of the image.
        mode: One of `MODES`.
    """
    longest, shortest = sizes.max(axis=1, keepdims=True), sizes.min(axis=1, keepdims=True)
    shift = np.zeros_like(sizes)
    if mode == "factor":
        return np.ones_like(sizes), shift
    if mode == "stretch":
        return 1 / sizes, shift
    if mode == "letterbox":
        return np.broadcast_to(1 / longest, sizes.shape), (longest - sizes) / 2 / longest
    return np.broadcast_to(1 / (longest if mode == "longest" else shortest), sizes.shape), shift


def on_image(boxes: FloatArray, sizes: FloatArray, mode: str, size: tuple[float, float]) -> FloatArray:
    """(N, 4) xywh in pixels of the image, from boxes in the pixels of the network's image.

    Args:
        boxes: (N, 4) xywh.
        sizes: (N, 2) width and height of the image.
        mode: One of `MODES`.
        size: Width and height of the network's image; equal numbers except for ``"stretch"``.
    """
    scale, shift = unit_scales(sizes, mode)
    network = np.array(size)
    low = (boxes[:, :2] / network - shift) / scale
    return np.concatenate([low, boxes[:, 2:] / network / scale], axis=1)


def from_network(data: Data, repair: Repair) -> Data:
    """Undoes the resizing of images, for boxes in the pixels of the network's image."""
    mode, _, text = repair.value.partition(":")
    try:
        numbers = [float(part) for part in text.split("x")]
    except ValueError:
        raise repair.wrong_value() from None
    if (
        mode not in MODES
        or len(numbers) > (2 if mode == "stretch" else 1)
        or not all(number > 0 and np.isfinite(number) for number in numbers)
    ):
        raise repair.wrong_value()
    side = data.of(repair.side)
    rows, sizes = repair.rows(side.image_labels()), sizes_of_rows(data, side)
    if mode == "factor":
        sizes = np.ones_like(sizes)  # it does not depend on the size of the image
    if np.isnan(sizes[rows]).any():
        raise ValueError(f"repair {str(repair)!r} needs the width and height of the images, and the data lack some")
    boxes = np.where(rows[:, None], on_image(side.boxes, sizes, mode, (numbers[0], numbers[-1])), side.boxes)
    return data.with_side(with_boxes(side, boxes))
