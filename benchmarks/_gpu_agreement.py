"""The parts of `gpu.py` about what is computed: the machine, and whether its GPU agrees with the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import torch
from _gpu_rows import Measured, Works, host, random_boxes, roundings, verdict
from _machine import described

import ioukit
from ioukit import assign
from ioukit.cli._gpu import find_gpu, gpu_text
from ioukit.overlap._conformance import BOXES
from ioukit.overlap.variants import VARIANTS
from ioukit.torch import losses

__all__ = ["PARTS"]


def machine(device: str, quick: bool) -> Works:  # noqa: ARG001 - all parts have the same arguments
    """What this runs on, in words."""

    def words() -> Measured:
        here = described("ioukit", "torch", "torchvision", "triton")
        if not device.startswith("cuda"):
            return here, {}
        gpu = find_gpu()
        lines = [here, *gpu_text(gpu)]
        return ("" if gpu.usable else "FAILED: ") + "; ".join(line.strip() for line in lines), {}

    yield "doctor", words


def agreement(device: str, quick: bool) -> Works:
    """Every family beside native code, or beside PyTorch's formulas on the CPU."""
    count = 60 if quick else 1500
    sets = [(BOXES, BOXES[::-1].copy()), (random_boxes(count, 0, 300), random_boxes(count, 1, 300))]

    def overlaps(family: str) -> Measured:
        worst = (0.0, "")
        for variant in VARIANTS:
            function = getattr(ioukit, f"{family}_{variant.name}")
            for dtype in (np.float32, np.float64):
                for pair in sets:
                    one, other = (boxes.astype(dtype) for boxes in pair)
                    # With a gradient, so that the CPU runs the formulas of the GPU if the device is the CPU.
                    there = [torch.tensor(boxes, device=device, requires_grad=True) for boxes in (one, other)]
                    found = function(*there, **variant.option_values)
                    off = roundings(found, function(one, other, **variant.option_values))
                    worst = max(worst, (off, f"{variant.name} {np.dtype(dtype).name}"))
        return verdict(*worst), {}

    for family in ("pairwise", "elementwise"):
        yield f"{family}, {len(VARIANTS)} measures, float32 and float64", partial(overlaps, family)

    def slopes(name: str, options: Mapping[str, Any]) -> float:
        loss, worst = getattr(losses, name), 0.0
        for dtype in (torch.float32, torch.float64):
            values = []
            for place in ("cpu", device):
                pred, target = (torch.tensor(boxes, dtype=dtype, device=place, requires_grad=True) for boxes in sets[1])
                value = loss(pred, target, **options)
                values.append([value, *torch.autograd.grad(value.sum(), (pred, target))])
            # A gradient is a sum of products of many rounded numbers.
            worst = max(worst, *(roundings(there, here) / 8 for here, there in zip(*values, strict=True)))
        return worst

    def all_losses() -> Measured:
        named: dict[str, dict[str, Any]] = {
            **{f"{name}_loss": {} for name in ("iou", "giou", "diou", "ciou", "eiou", "focal_eiou", "siou", "nwd")},
            **{f"{name}_loss": {} for name in ("alpha_iou", "shape_iou", "wiou")},
            "inner_iou_loss": {"ratio": 0.8},
            "mpdiou_loss": {"image_size": (1000, 1000)},
            "focaler_iou_loss": {"low": 0.1, "high": 0.9},
        }
        return verdict(*max((slopes(name, options), name) for name, options in named.items())), {}

    yield "14 losses and their gradients, float32 and float64", all_losses
    yield from same_boxes(device, count)
    yield from same_assignments(device)


def same_boxes(device: str, count: int) -> Works:
    """Suppression and fusion: the same boxes survive."""
    boxes = random_boxes(3 * count, 2, 8 * count**0.5)  # dense: most boxes have a better one near
    rng = np.random.default_rng(3)
    scores = rng.uniform(0, 1, len(boxes)).round(2).astype(np.float32)
    labels, batch = rng.integers(0, 3, len(boxes)), rng.integers(0, 2, len(boxes))
    calls: dict[str, Callable[..., Any]] = {
        "nms": lambda b, s, _, __: ioukit.nms(b, s, 0.5),
        "nms of labels in a batch": lambda b, s, k, i: ioukit.nms(b, s, 0.5, labels=k, batch=i, max_keep=50),
        "nms by DIoU": lambda b, s, k, _: ioukit.nms(b, s, 0.3, labels=k, metric="diou", score_threshold=0.2),
        "nms by IoA": lambda b, s, _, __: ioukit.nms(b, s, 0.6, metric="ioa", suppress="at_or_above"),
        "soft_nms": lambda b, s, k, _: ioukit.soft_nms(b, s, method="gaussian", score_threshold=0.1, labels=k),
        "fast_nms": lambda b, s, k, _: ioukit.fast_nms(b, s, 0.5, labels=k),
        "cluster_nms": lambda b, s, k, _: ioukit.cluster_nms(b, s, 0.5, labels=k),
        "matrix_nms": lambda b, s, k, _: ioukit.matrix_nms(b, s, labels=k),
        "weighted_boxes_fusion": lambda b, s, k, _: ioukit.weighted_boxes_fusion([b], [s], [k]),
    }

    def compared(call: Callable[..., Any]) -> Measured:
        given = (boxes, scores, labels, batch)
        here, there = call(*given), call(*(torch.tensor(array, device=device) for array in given))
        for one, other in zip(columns(here), columns(there), strict=True):
            if str(getattr(other, "device", device)) != str(torch.empty(0, device=device).device):
                return f"FAILED: the result is on {other.device}, not on {device}", {}
            if not np.array_equal(host(one), host(other)):
                return f"FAILED: {len(host(other))} rows, or others than the {len(host(one))} of the CPU", {}
        return f"the same {len(host(columns(here)[0])):,} of {len(boxes):,} boxes", {}

    for name, call in calls.items():
        yield name, partial(compared, call)


def columns(result: Any) -> list[Any]:
    """The arrays of a result."""
    return list(result) if isinstance(result, tuple) else [result]


def same_assignments(device: str) -> Works:
    """Assignment: the same pairs."""
    rng = np.random.default_rng(4)
    cells = np.arange(8, 328, 16.0)
    points = np.stack(np.meshgrid(cells, cells), axis=-1).reshape(-1, 2)
    low = points - rng.uniform(4, 60, points.shape)
    predictions = np.concatenate([low, points + rng.uniform(4, 60, points.shape)], axis=1).astype(np.float32)
    objects, labels = random_boxes(12, 5, 200), rng.integers(0, 3, 12)
    scores = rng.uniform(0, 1, (len(points), 3)).astype(np.float32)
    points = points.astype(np.float32)
    calls: dict[str, Callable[..., Any]] = {
        "assign_max_iou": lambda p, _, o, __, ___: assign.assign_max_iou(p, o),
        "assign_atss": lambda p, _, o, __, ___: assign.assign_atss(p, o, levels=[len(p)]),
        "assign_task_aligned": lambda p, s, o, k, c: assign.assign_task_aligned(p, s, o, k, points=c),
        "assign_simota": lambda p, s, o, k, c: assign.assign_simota(p, s, o, k, points=c, strides=16.0),
        "assign_hungarian": lambda p, s, o, k, _: assign.assign_hungarian(p, s, o, k, image_size=(328, 328)),
    }

    def compared(call: Callable[..., Any]) -> Measured:
        given = (predictions, scores, objects, labels, points)
        here, there = call(*given).pairs, call(*(torch.tensor(array, device=device) for array in given)).pairs
        if not np.array_equal(host(here), host(there)):
            return f"FAILED: {len(there)} pairs, or others than the {len(here)} of the CPU", {}
        return f"the same {len(here)} pairs", {}

    for name, call in calls.items():
        yield name, partial(compared, call)


PARTS = {"machine": machine, "agreement": agreement}
