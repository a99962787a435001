"""Decoding: from the outputs of the heads to boxes in pixels and scores."""

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

# exp(9) is 8,000 times the anchor, larger than any object; a larger exponent could overflow.
LARGEST_LOG_SIZE = 9.0


@dataclass(frozen=True)
class Priors:
    """Constants of the P predictions, which do not depend on the image, in the order of the maps.

    Attributes:
        cells: (P, 2) column and row of the cell.
        strides: (P, 1) pixels per cell.
        anchors: (P, 4) xyxy the anchor around the centre of its cell, in pixels; for the anchor-free head a square
            with a side of eight strides.
        levels: The number of predictions of each stride.
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
class Predictions:
    """All P predictions for each of the B images of a batch.

    Attributes:
        boxes: (B, P, 4) xyxy in pixels of the network's image.
        scores: (B, P, K) within [0, 1].
        needs_nms: Whether several predictions may be of one object, so that NMS must choose.
    """

    boxes: Tensor
    scores: Tensor
    needs_nms: bool


def priors(config: Config, device: Any = "cpu") -> Priors:
    """The priors of a network, which depend only on its config."""
    # The cache keeps arrays: a tensor that is made while PyTorch traces a program cannot be used outside of it.
    cells, strides, boxes, levels = _priors(config)
    cell, stride, box = (torch.from_numpy(array).to(device) for array in (cells, strides, boxes))
    return Priors(cell, stride, box, levels)


def _priors_of(outputs: Tensor, config: Config) -> Priors:
    """The priors of outputs (B, P, ...)."""
    known = priors(config, outputs.device)
    if len(known.cells) != outputs.shape[1]:
        raise ValueError(
            f"expected {len(known.cells):,} predictions, as for an image of {config.image_size}, got "
            f"{outputs.shape[1]:,}: for images of another size, decode with config.resized(images)"
        )
    return known


@lru_cache(maxsize=32)
def _priors(config: Config) -> tuple[FloatArray, FloatArray, FloatArray, tuple[int, ...]]:
    sizes = [[(8.0 * stride, 8.0 * stride)] for stride in STRIDES] if config.head == "free" else config.anchors
    boxes, strides, levels = anchor_boxes(config.image_size, STRIDES, sizes)
    cells = np.rint((boxes[:, :2] + boxes[:, 2:]) / 2 / strides[:, None] - 0.5)
    return cells, strides[:, None], boxes, levels


def decode_anchor_boxes(raw: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels from (B, P, 4) raw numbers, with YOLOv3's formulas.

    The centre is ``(sigmoid(t_xy) + cell) * stride``, the size ``exp(t_wh) * anchor``.
    """
    limited = torch.cat([raw[..., :2], raw[..., 2:].clamp(max=LARGEST_LOG_SIZE)], dim=-1)
    anchors = known.anchors[:, 2:] - known.anchors[:, :2]
    boxes: Tensor = decode_yolov3(limited, known.cells, anchors, known.strides)  # cxcywh
    centre, half = boxes[..., :2], boxes[..., 2:] / 2
    return torch.cat([centre - half, centre + half], dim=-1)


def decode_free_boxes(distances: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels from (B, P, 4, bins) distributions of the distances to the four sides.

    The mean of each distribution is the distance of a side from the centre of the cell, in strides.
    """
    boxes: Tensor = decode_ltrb(expected_distances(distances), known.points, known.strides)
    return boxes


def decode(outputs: AnchorMaps | tuple[FreeMaps, FreeMaps], config: Config) -> Predictions:
    """Boxes and scores from the outputs of a network; for the anchor-free head, from the branch that needs no NMS.

    Raises:
        ValueError: If the outputs are those for images of another size than ``config.image_size``.
    """
    if isinstance(outputs, AnchorMaps):
        raw = outputs.flat().float()
        known = _priors_of(raw, config)
        scores = raw[..., 4:5].sigmoid() * raw[..., 5:].sigmoid()
        return Predictions(decode_anchor_boxes(raw[..., :4], known), scores, needs_nms=True)
    distances, classes = outputs[1].distances.float(), outputs[1].classes.float()
    known = _priors_of(distances, config)
    return Predictions(decode_free_boxes(distances, known), classes.sigmoid(), needs_nms=False)
