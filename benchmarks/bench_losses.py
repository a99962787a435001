"""Losses with their gradients, beside torchvision's CIoU or the same loss there, in one run on one machine.

    pip install 'ioukit[bench]' && python benchmarks/bench_losses.py

Prints a Markdown table: medians of forward and backward of the sum, float32 on the CPU, in turns with torchvision; and
what the autograd graph keeps of it, in bytes a pair (what backward needs: the tensors saved, each counted once). Boxes
are uniform with corners in 1000 x 1000 pixels and sides up to 100. ``--threads`` is PyTorch's number, and ours.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from _machine import described
from torchvision import ops

from ioukit.losses import _pairs
from ioukit.torch import losses

# Losses that torchvision does not have stand beside its CIoU.
LOSSES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "giou": (losses.giou_loss, ops.generalized_box_iou_loss),
    "diou": (losses.diou_loss, ops.distance_box_iou_loss),
    "ciou": (losses.ciou_loss, ops.complete_box_iou_loss),
    "siou": (losses.siou_loss, ops.complete_box_iou_loss),
    "mpdiou": (partial(losses.mpdiou_loss, image_size=(1000, 1000)), ops.complete_box_iou_loss),
    "alpha-ciou": (partial(losses.alpha_iou_loss, base="ciou"), ops.complete_box_iou_loss),
    "wiou v3": (partial(losses.wiou_loss, version=3, mean=0.9), ops.complete_box_iou_loss),
}


def boxes(count: int, seed: int) -> torch.Tensor:
    rng = np.random.default_rng(seed)
    low = rng.uniform(0, 900, (count, 2))
    return torch.tensor(np.concatenate([low, low + rng.uniform(1, 100, (count, 2))], axis=1), dtype=torch.float32)


def run(loss: Callable[..., Any], pred: torch.Tensor, target: torch.Tensor) -> None:
    pred.grad = None
    loss(pred, target, reduction="sum").backward()


def plain(formula: Callable[..., Any]) -> Callable[..., Any]:
    """Ours without native code, as on a device."""

    def loss(*arguments: Any, **options: Any) -> Any:
        native = _pairs.FUSED.pop("torch")
        try:
            return formula(*arguments, **options)
        finally:
            _pairs.FUSED["torch"] = native

    return loss


def kept(loss: Callable[..., Any], count: int = 10_000) -> float:
    """Bytes a pair that backward waits with."""
    pred, target = boxes(count, 0).requires_grad_(), boxes(count, 1)
    storages: dict[int, int] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        storage = tensor.untyped_storage()
        storages[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        result = loss(pred, target, reduction="sum")
    total = sum(storages.values())
    del result
    return total / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0, help="about how long a row may take (default: 3)")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--json", action="store_true", help="print JSON instead")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)

    rows: list[dict[str, Any]] = []
    for count in (1000, 100_000, 1_000_000):
        pred, target = boxes(count, 0).requires_grad_(), boxes(count, 1)
        for name, (ours, peer) in LOSSES.items():
            calls = {"ioukit": ours, "formulas": plain(ours), "torchvision": peer}
            times: dict[str, list[float]] = {which: [] for which in calls}
            for loss in calls.values():
                run(loss, pred, target)
            end = time.perf_counter() + options.seconds
            while time.perf_counter() < end:
                for which, loss in calls.items():
                    start = time.perf_counter()
                    run(loss, pred, target)
                    times[which].append(time.perf_counter() - start)
            medians = {which: statistics.median(taken) * 1e3 for which, taken in times.items()}
            memory = {which: kept(loss) for which, loss in calls.items()}
            rows.append({"loss": name, "pairs": count, "ms": medians, "kept": memory})
    if options.json:
        print(json.dumps(rows))
        return
    print(f"{described('ioukit', 'torch', 'torchvision')}; {options.threads} threads\n")
    print(
        "| loss, forward and backward | ioukit | formulas in PyTorch | torchvision | faster by | kept a pair, ioukit | "
        "torchvision |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        ms, memory = row["ms"], row["kept"]
        print(
            f"| {row['loss']} {row['pairs']:,} | {ms['ioukit']:.3g} ms | {ms['formulas']:.3g} ms | "
            f"{ms['torchvision']:.3g} ms | {ms['torchvision'] / ms['ioukit']:.1f} x | {memory['ioukit']:.0f} B | "
            f"{memory['torchvision']:.0f} B |"
        )


if __name__ == "__main__":
    main()
