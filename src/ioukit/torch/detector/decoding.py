"""From what the heads say to boxes in pixels and scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ioukit.anchors import anchor_boxes, decode_ltrb, decode_yolov3, expected_distances
from ioukit.torch.detector.model import STRIDES, AnchorMaps, Config, FreeMaps
from ioukit.typing import FloatArray

__all__ = ["Guesses", "Priors", "decode", "decode_anchor_boxes", "decode_free_boxes", "priors"]

# exp of more than this is no size of anything: 8,000 times the anchor.
LARGEST_LOG_SIZE = 9.0


@dataclass(frozen=True)
class Priors:
    """What is known of the P guesses before the network has said anything, in the order of the maps.

    Attributes:
        cells: (P, 2) corner of the cell, in cells.
        strides: (P, 1) pixels a cell.
        anchors: (P, 4) xyxy the anchor around the centre of its cell, in pixels; for the anchor-free head a square of
            eight strides.
        levels: How many guesses each stride has.
    """

    cells: Tensor
    strides: Tensor
    anchors: Tensor
    levels: tuple[int, ...]

    @property
    def points(self) -> Tensor:
        """(P, 2) centres of the cells in pixels."""
        return (self.cells + 0.5) * self.strides


@dataclass(frozen=True)
class Guesses:
    """All guesses of a batch.

    Attributes:
        boxes: (B, P, 4) xyxy in pixels of the network's image.
        scores: (B, P, K) within [0, 1].
        needs_nms: Whether several guesses may be of one object.
    """

    boxes: Tensor
    scores: Tensor
    needs_nms: bool


def priors(config: Config, device: Any = "cpu") -> Priors:
    """The guesses of an image of the config's size."""
    # Arrays are kept, not tensors: one made while a program is traced is none outside of it.
    cells, strides, boxes, levels = _priors(config)
    cell, stride, box = (torch.from_numpy(array).to(device) for array in (cells, strides, boxes))
    return Priors(cell, stride, box, levels)


@lru_cache(maxsize=8)
def _priors(config: Config) -> tuple[FloatArray, FloatArray, FloatArray, tuple[int, ...]]:
    sizes = [[(8.0 * stride, 8.0 * stride)] for stride in STRIDES] if config.head == "free" else config.anchors
    boxes, strides, levels = anchor_boxes(config.image_size, STRIDES, sizes)
    cells = np.rint((boxes[:, :2] + boxes[:, 2:]) / 2 / strides[:, None] - 0.5)
    return cells, strides[:, None], boxes, levels


def decode_anchor_boxes(raw: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels of (B, P, 4): ``(sigmoid(t_xy) + cell) * stride`` and ``exp(t_wh) * anchor``."""
    limited = torch.cat([raw[..., :2], raw[..., 2:].clamp(max=LARGEST_LOG_SIZE)], dim=-1)
    anchors = known.anchors[:, 2:] - known.anchors[:, :2]
    boxes: Tensor = decode_yolov3(limited, known.cells, anchors, known.strides)  # cxcywh
    centre, half = boxes[..., :2], boxes[..., 2:] / 2
    return torch.cat([centre - half, centre + half], dim=-1)


def decode_free_boxes(distances: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels of (B, P, 4, bins): the mean of each distribution, in strides from the cell's centre."""
    boxes: Tensor = decode_ltrb(expected_distances(distances), known.points, known.strides)
    return boxes


def decode(outputs: AnchorMaps | tuple[FreeMaps, FreeMaps], config: Config) -> Guesses:
    """Boxes and scores of what a network said in inference; of two branches the one that needs no NMS."""
    if isinstance(outputs, AnchorMaps):
        raw = outputs.flat().float()
        known = priors(config, raw.device)
        scores = raw[..., 4:5].sigmoid() * raw[..., 5:].sigmoid()
        return Guesses(decode_anchor_boxes(raw[..., :4], known), scores, needs_nms=True)
    distances, classes = outputs[1].distances.float(), outputs[1].classes.float()
    known = priors(config, distances.device)
    return Guesses(decode_free_boxes(distances, known), classes.sigmoid(), needs_nms=False)
