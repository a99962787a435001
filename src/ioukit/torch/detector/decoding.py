"""From what the heads say to boxes in pixels and scores."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from ioukit.torch.detector.model import STRIDES, AnchorMaps, Config, FreeMaps

__all__ = ["Guesses", "Priors", "decode", "decode_anchor_boxes", "decode_free_boxes", "priors"]

# exp of more than this is no size of anything: 8,000 times the anchor.
LARGEST_LOG_SIZE = 9.0


@dataclass(frozen=True)
class Priors:
    """What is known of the P guesses before the network has said anything, in the order of the maps.

    Attributes:
        cells: (P, 2) corner of the cell, in cells.
        strides: (P,) pixels a cell.
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
        return (self.cells + 0.5) * self.strides[:, None]


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
    return _priors(config, str(device))


@lru_cache(maxsize=8)
def _priors(config: Config, device: str) -> Priors:
    width, height = config.image_size
    cells, strides, sizes, levels = [], [], [], []
    for stride, anchors in zip(STRIDES, config.anchors, strict=True):
        if config.head == "free":
            anchors = ((8.0 * stride, 8.0 * stride),)
        rows, columns = torch.meshgrid(torch.arange(height // stride), torch.arange(width // stride), indexing="ij")
        cell = torch.stack([columns, rows], dim=-1).flatten(0, 1).float()  # (h * w, 2)
        cells.append(cell.repeat(len(anchors), 1))
        strides.append(torch.full((len(cell) * len(anchors),), float(stride)))
        sizes.append(torch.tensor(anchors, dtype=torch.float32).repeat_interleave(len(cell), dim=0))
        levels.append(len(cell) * len(anchors))
    place, step, size = torch.cat(cells), torch.cat(strides), torch.cat(sizes)
    centre = (place + 0.5) * step[:, None]
    boxes = torch.cat([centre - size / 2, centre + size / 2], dim=1)
    return Priors(place.to(device), step.to(device), boxes.to(device), tuple(levels))


def decode_anchor_boxes(raw: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels: ``(sigmoid(t_xy) + cell) * stride`` and ``exp(t_wh) * anchor``."""
    centre = (raw[..., :2].sigmoid() + known.cells) * known.strides[:, None]
    half = raw[..., 2:4].clamp(max=LARGEST_LOG_SIZE).exp() * (known.anchors[:, 2:] - known.anchors[:, :2]) / 2
    return torch.cat([centre - half, centre + half], dim=-1)


def decode_free_boxes(distances: Tensor, known: Priors) -> Tensor:
    """(B, P, 4) xyxy in pixels from (B, P, 4, bins) logits: the mean of each distribution, in strides, from the centre."""
    bins = torch.arange(distances.shape[-1], device=distances.device, dtype=distances.dtype)
    mean = (distances.softmax(dim=-1) * bins).sum(dim=-1) * known.strides[:, None]  # (B, P, 4): l, t, r, b
    return torch.cat([known.points - mean[..., :2], known.points + mean[..., 2:]], dim=-1)


def decode(outputs: AnchorMaps | tuple[FreeMaps, FreeMaps], config: Config) -> Guesses:
    """Boxes and scores of what a network said in inference; of two branches the one that needs no NMS."""
    if isinstance(outputs, AnchorMaps):
        raw = outputs.flat().float()
        known = priors(config, raw.device)
        scores = raw[..., 4:5].sigmoid() * raw[..., 5:].sigmoid()
        return Guesses(decode_anchor_boxes(raw, known), scores, needs_nms=True)
    distances, classes = outputs[1].distances.float(), outputs[1].classes.float()
    known = priors(config, distances.device)
    return Guesses(decode_free_boxes(distances, known), classes.sigmoid(), needs_nms=False)
