"""The predictions and targets of some images, checked and joined to columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from ioukit._array_types import Floats
from ioukit.evaluation.evaluator.values import place_of
from ioukit.regions.masks import Masks

Ints = npt.NDArray[np.int64]

_KEYS = {"bbox": "boxes", "segm": "masks"}
"""What the regions of each kind are called in predictions and targets."""


@dataclass(frozen=True)
class Side:
    """The predictions or the targets of I images, N rows in the order of the images."""

    counts: Ints
    """(I,) the number of rows of each image."""
    labels: Ints
    """(N,) class labels."""
    boxes: Floats | None
    """(N, 4) ``x, y, width, height``; ``None`` without boxes."""
    masks: Masks | None
    """(N,) masks; ``None`` without masks."""
    scores: Floats | None = None
    """(N,) scores of predictions."""
    crowd: npt.NDArray[np.bool_] | None = None
    """(N,) whether each target is a crowd."""
    given_areas: Floats | None = None
    """(N,) the areas that targets come with; 0 where a target has none."""

    def __len__(self) -> int:
        return len(self.labels)

    def areas(self, kind: str) -> Floats:
        """(N,) the given areas where they are above 0, else those of the boxes (``"bbox"``) or masks (``"segm"``)."""
        if kind == "segm":
            assert self.masks is not None
            own = np.asarray(self.masks.area, np.float64)
        else:
            assert self.boxes is not None
            own = self.boxes[:, 2] * self.boxes[:, 3]
        return own if self.given_areas is None else np.where(self.given_areas > 0, self.given_areas, own)


def check_inputs(preds: Any, target: Any, kinds: Sequence[str]) -> None:
    """Refuse what is not a list of dicts of tensors with as many rows each.

    Raises:
        ValueError: In the words of TorchMetrics, because tests of programs compare them.
    """
    sides = {"preds": preds, "target": target}
    for name, side in sides.items():
        if not isinstance(side, Sequence):
            raise ValueError(f"Expected argument `{name}` to be of type Sequence, but got {side}")
    if len(preds) != len(target):
        raise ValueError(
            f"Expected argument `preds` and `target` to have the same length, but got {len(preds)} and {len(target)}"
        )
    regions = [_KEYS[kind] for kind in kinds]
    keys = {"preds": [*regions, "labels", "scores"], "target": [*regions, "labels"]}
    for name, side in sides.items():
        for key in keys[name]:
            if not all(key in item for item in side):
                raise ValueError(f"Expected all dicts in `{name}` to contain the `{key}` key")
    for name, side in sides.items():
        for key in [*regions, *keys[name][len(regions) :][::-1]]:
            if not all(isinstance(item[key], torch.Tensor) for item in side):
                raise ValueError(f"Expected all {key} in `{name}` to be of type Tensor")
    for name, side, called in (("target", target, "targets"), ("preds", preds, "predictions")):
        for at, item in enumerate(side):
            _check_lengths(item, regions, keys[name], f"sample {at} in {called}")


def _check_lengths(item: Mapping[str, Any], regions: Sequence[str], keys: Sequence[str], where: str) -> None:
    others = [key for key in keys if key not in regions]
    for region in regions:
        lengths = {key: len(item[key]) if item[key].ndim else 1 for key in (region, *others)}
        if len(set(lengths.values())) > 1:
            expected = " and ".join(others)
            found = " and ".join(f"{lengths[key]} {key}" for key in others)
            raise ValueError(
                f"Input '{region}', {expected} of {where} have a different length (expected {lengths[region]} "
                f"{expected}, got {found})"
            )


def detection_side(preds: Sequence[Mapping[str, Any]], kinds: Sequence[str], box_format: str) -> Side:
    """The predictions of some images.

    Raises:
        ValueError: If values have another type, shape or range than they need.
    """
    side = _side(preds, kinds, box_format, "preds")
    for at, item in enumerate(preds):
        dtype = item["scores"].dtype
        if not dtype.is_floating_point and item["scores"].numel():
            raise ValueError(
                f"Invalid input score of sample {at}, element 0 (expected value of type float, got {dtype})"
            )
        _check_flat(item, "scores", at, "score")
    scores = _joined([item["scores"] for item in preds]).double().numpy()
    _check_finite(scores, side.counts, "preds", "scores", preds)
    return Side(**vars(side) | {"scores": scores})


def target_side(target: Sequence[Mapping[str, Any]], kinds: Sequence[str], box_format: str) -> Side:
    """The targets of some images.

    Raises:
        ValueError: If values have another type, shape or range than they need.
    """
    side = _side(target, kinds, box_format, "target")
    columns = {}
    for key in ("iscrowd", "area"):
        given = any(key in item for item in target)
        columns[key] = _optional(target, key).double().numpy() if given else np.zeros(len(side))
    return Side(**vars(side) | {"crowd": columns["iscrowd"] != 0, "given_areas": columns["area"]})


def _side(items: Sequence[Mapping[str, Any]], kinds: Sequence[str], box_format: str, name: str) -> Side:
    for at, item in enumerate(items):
        dtype = item["labels"].dtype
        if item["labels"].numel() and (dtype.is_floating_point or dtype.is_complex):
            raise ValueError(
                f"Invalid input class of sample {at}, element 0 (expected value of type integer, got {dtype})"
            )
        _check_flat(item, "labels", at, "class")
    labels = _joined([item["labels"] for item in items]).long().numpy()
    counts = np.array([item["labels"].numel() for item in items], np.int64)
    boxes = masks = None
    if "bbox" in kinds:
        boxes = _boxes([item["boxes"] for item in items], box_format)
        _check_finite(boxes, counts, name, "boxes", items)
    if "segm" in kinds:
        masks = _masks([item["masks"] for item in items])
    return Side(counts, labels, boxes, masks)


def _check_flat(item: Mapping[str, Any], key: str, at: int, called: str) -> None:
    if item[key].ndim != 1 and item[key].numel():
        raise ValueError(
            f"Invalid input {called} of sample {at}, element 0 (expected {key} of shape (N,), got "
            f"{tuple(item[key].shape)})"
        )


def _check_finite(values: Floats, counts: Ints, name: str, key: str, items: Sequence[Mapping[str, Any]]) -> None:
    """Refuse NaN and infinity: pycocotools takes a box with NaN for a match of everything.

    ``values`` are the boxes as they are compared; the error shows the box as it was given.
    """
    good = np.isfinite(values)
    if good.all():
        return
    row = int(np.flatnonzero(~good.reshape(len(values), -1).all(axis=1))[0])
    image, at = place_of(row, counts.tolist())
    raise ValueError(f"{name}[{image}][{key!r}][{at}]: expected finite numbers, found {items[image][key][at].tolist()}")


def _joined(tensors: Sequence[torch.Tensor]) -> torch.Tensor:
    """The rows of all tensors on the CPU. If all are on one device, it is asked once."""
    if not tensors:
        return torch.zeros(0)
    first = tensors[0]
    with torch.no_grad():
        if any(tensor.dtype is not first.dtype or tensor.device != first.device for tensor in tensors):
            whole = not any(tensor.is_floating_point() for tensor in tensors)
            tensors = [tensor.cpu().to(torch.long if whole else torch.double) for tensor in tensors]
        return torch.cat([tensor for tensor in tensors if tensor.numel()] or [first.reshape(-1)]).cpu()


def _optional(items: Sequence[Mapping[str, Any]], key: str) -> torch.Tensor:
    """The values of a key that items may lack; 0 for these."""
    columns = []
    for at, item in enumerate(items):
        column = item.get(key)
        count = item["labels"].numel()
        if column is None:
            column = torch.zeros(count)
        if not isinstance(column, torch.Tensor):
            raise ValueError(f"Expected all {key} in `target` to be of type Tensor, got {type(column).__name__}")
        if column.numel() != count:
            raise ValueError(
                f"Input '{key}' and labels of sample {at} in targets have a different length (expected {count} "
                f"values, got {column.numel()})"
            )
        columns.append(column.reshape(-1))
    return _joined(columns)


def _boxes(tensors: Sequence[torch.Tensor], box_format: str) -> Floats:
    """(N, 4) ``x, y, width, height``, computed in the dtype of the tensors as torchvision converts boxes."""
    for at, tensor in enumerate(tensors):
        if tensor.numel() and (tensor.ndim != 2 or tensor.shape[1] != 4):
            raise ValueError(
                f"Invalid input box of sample {at}, element 0 (expected 4 values, got boxes of shape "
                f"{tuple(tensor.shape)})"
            )
    if len({tensor.dtype for tensor in tensors}) > 1:
        tensors = [_converted(tensor.detach().reshape(-1, 4), box_format).double() for tensor in tensors]
        boxes = _joined(tensors).reshape(-1, 4)
    else:
        boxes = _converted(_joined(tensors).reshape(-1, 4), box_format).double()
    found: Floats = boxes.contiguous().numpy()
    return found


def _converted(boxes: torch.Tensor, box_format: str) -> torch.Tensor:
    if box_format == "xywh":
        return boxes
    low, high = boxes[:, :2], boxes[:, 2:]
    if box_format == "cxcywh":
        low, high = low - 0.5 * high, low + 0.5 * high
    return torch.cat([low, high - low], dim=1)


def _masks(tensors: Sequence[torch.Tensor]) -> Masks:
    """(N,) masks of all images."""
    parts = []
    for at, tensor in enumerate(tensors):
        if not tensor.numel():
            continue
        if tensor.ndim != 3 or tensor.dtype not in (torch.bool, torch.uint8):
            raise ValueError(
                f"Invalid input mask of sample {at} (expected bool or uint8 of shape (N, H, W), got {tensor.dtype} of "
                f"shape {tuple(tensor.shape)})"
            )
        parts.append(Masks.from_arrays(tensor.detach().cpu().numpy()))
    return Masks.concat(parts)
