"""The parts of `gpu.py` about speed: overlaps, losses and NMS beside torchvision, and the detector."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
import torch
from _gpu_rows import Measured, Works, host, random_boxes, roundings, verdict
from torchvision import ops

import ioukit
from ioukit.torch import compiled, losses
from ioukit.torch.detector.batches import Batch
from ioukit.torch.detector.devices import fast_in_bfloat16
from ioukit.torch.detector.learning import Learning
from ioukit.torch.detector.model import YOLO, Config
from ioukit.torch.detector.predict import predict

Head: TypeAlias = Literal["anchor", "free"]

__all__ = ["PARTS"]


def medians(calls: Mapping[str, Callable[[], Any]], device: str, quick: bool) -> dict[str, float]:
    """Milliseconds per call, in turns: between CUDA events, or by the clock on other devices."""
    taken: dict[str, list[float]] = {name: [] for name in calls}
    for call in calls.values():
        for _ in range(1 if quick else 5):
            call()
    end = time.perf_counter() + (0.05 if quick else 1.5)
    while time.perf_counter() < end or not all(taken.values()):
        for name, call in calls.items():
            if device.startswith("cuda"):
                begun, done = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                torch.cuda.synchronize()
                begun.record()
                call()
                done.record()
                torch.cuda.synchronize()
                taken[name].append(begun.elapsed_time(done))
            else:
                start = time.perf_counter()
                call()
                taken[name].append((time.perf_counter() - start) * 1e3)
    return {name: statistics.median(times) for name, times in taken.items()}


def compared(
    calls: Mapping[str, Callable[[], Any]], device: str, quick: bool, check: Callable[[Any, Any], str]
) -> Measured:
    """The times of all engines, and how the best of ours compares with torchvision."""
    ms = medians(calls, device, quick)
    words = []
    ours = min((name for name in calls if name != "torchvision"), key=ms.__getitem__)
    if "torchvision" in ms:
        words.append(f"{ours} is {ms['torchvision'] / ms[ours]:.2g} x as fast as torchvision")
    if "compiled" in calls:
        said = check(calls["compiled"](), calls["plain"]())
        words.append(f"compiled {said}")
        if said.startswith("FAILED"):
            return "; ".join(["FAILED", *words]), ms
    return "; ".join(words), ms


def close(found: Any, expected: Any) -> str:
    """How two arrays compare."""
    off = roundings(found, expected)
    return "has the same bits" if off == 0 else verdict(off, "of plain")


def overlaps(device: str, quick: bool) -> Works:
    """Tables of overlaps beside torchvision's."""
    peers = {
        "iou": ops.box_iou,
        "giou": ops.generalized_box_iou,
        "diou": ops.distance_box_iou,
        "ciou": ops.complete_box_iou,
    }
    for name in ["iou"] if quick else peers:
        function = getattr(ioukit, f"pairwise_{name}")
        program = compiled(function)
        for rows, columns_ in [(20, 30)] if quick else [(1000, 1000), (10_000, 1000), (10_000, 5000)]:
            a = torch.tensor(random_boxes(rows, 0), device=device)
            b = torch.tensor(random_boxes(columns_, 1), device=device)
            calls = {
                "plain": partial(function, a, b, check=False),
                "compiled": partial(program, a, b),
                "torchvision": partial(peers[name], a, b),
            }
            work = f"pairwise_{name}, {rows:,} x {columns_:,}"
            yield work, partial(compared, calls, device, quick, close)


def losses_part(device: str, quick: bool) -> Works:
    """Losses with their gradients beside torchvision's."""
    peers = {
        "giou": ops.generalized_box_iou_loss,
        "diou": ops.distance_box_iou_loss,
        "ciou": ops.complete_box_iou_loss,
    }
    for name in ["giou"] if quick else peers:
        loss = getattr(losses, f"{name}_loss")
        engines = {"plain": loss, "compiled": compiled(loss), "torchvision": peers[name]}
        for count in [50] if quick else [10_000, 1_000_000]:
            pred = torch.tensor(random_boxes(count, 0), device=device, requires_grad=True)
            target = torch.tensor(random_boxes(count, 1), device=device)

            def step(function: Callable[..., Any], pred: Any = pred, target: Any = target) -> Any:
                return torch.autograd.grad(function(pred, target, reduction="sum"), pred)[0]

            calls = {engine: partial(step, f) for engine, f in engines.items()}
            work = f"{name}_loss, forward and backward, {count:,} pairs"
            yield work, partial(compared, calls, device, quick, close)


def nms_part(device: str, quick: bool) -> Works:
    """Suppression beside torchvision's."""
    program = compiled(ioukit.nms)

    def same(found: Any, expected: Any) -> str:
        equal = np.array_equal(host(found), host(expected))
        return f"keeps the same {len(expected):,} boxes" if equal else f"FAILED: keeps {len(found):,} boxes, or others"

    for count in [200] if quick else [1000, 10_000, 100_000]:
        boxes = torch.tensor(random_boxes(count, 0, 30 * count**0.5), device=device)
        scores = torch.tensor(np.random.default_rng(1).uniform(0, 1, count).astype(np.float32), device=device)
        classes = torch.tensor(np.random.default_rng(2).integers(0, 80, count), device=device)
        for labels, peer in [(None, ops.nms)] if quick else [(None, ops.nms), (classes, ops.batched_nms)]:
            given = (boxes, scores) if labels is None else (boxes, scores, labels)
            calls = {
                "plain": partial(ioukit.nms, boxes, scores, 0.5, labels=labels, check=False),
                "compiled": partial(program, boxes, scores, 0.5, labels=labels, check=False),
                "torchvision": partial(peer, *given, 0.5),
            }
            work = f"nms, {count:,} boxes" + ("" if labels is None else ", 80 classes")
            yield work, partial(compared, calls, device, quick, same)


def detector(device: str, quick: bool) -> Works:
    """Darknet-53 with both heads: training steps and inference."""
    half = fast_in_bfloat16(torch.device(device))
    side, images = (64, 2) if quick else (416, 16)
    shape = replace(Config(), image_size=(side, side))
    if quick:
        shape = replace(shape, width=0.125, depth=0.1)
    rng = np.random.default_rng(0)
    pixels = rng.integers(0, 256, (images, 3, side, side), dtype=np.uint8)
    boxes = random_boxes(images * 8, 6, side - 20).clip(0, side)
    batch = Batch(
        torch.tensor(pixels), torch.tensor(boxes), torch.tensor(rng.integers(0, 80, images * 8)),
        torch.arange(images).repeat_interleave(8),
    )  # fmt: skip
    batch = Batch(*(part.to(device) for part in batch))

    def train(head: Head) -> Measured:
        config = replace(shape, head=head)
        torch.manual_seed(0)
        model, learning = YOLO(config).to(device).train(), Learning(config)
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        values = []

        def step() -> None:
            with torch.autocast(torch.device(device).type, torch.bfloat16, enabled=half):
                outputs = model(batch.images.float() / 255)
            total = learning(outputs, batch)["total"]
            optimizer.zero_grad(set_to_none=True)
            total.backward()
            optimizer.step()
            values.append(total.detach())

        words, ms = rate(step)
        if not all(bool(torch.isfinite(value)) for value in values):
            return f"FAILED: the loss is not finite; {words}", ms
        return words, ms

    def forward(head: Head) -> Measured:
        model = YOLO(replace(shape, head=head)).to(device).eval()

        def call() -> None:
            with torch.inference_mode(), torch.autocast(torch.device(device).type, torch.bfloat16, enabled=half):
                model(batch.images.float() / 255)

        return rate(call)

    def infer(head: Head) -> Measured:
        torch.manual_seed(0)
        model = YOLO(replace(shape, head=head)).to(device).eval()
        arrays = [np.ascontiguousarray(image.transpose(1, 2, 0)) for image in pixels]
        return rate(lambda: list(predict(model, arrays, score_threshold=0.25, batch=images)))

    def rate(call: Callable[[], Any]) -> Measured:
        on_gpu = device.startswith("cuda")
        if on_gpu:
            torch.cuda.reset_peak_memory_stats()
        ms = medians({"plain": call}, device, quick)
        memory = f", {torch.cuda.max_memory_allocated() / 2**30:.2f} GiB at most" if on_gpu else ""
        return f"{images / ms['plain'] * 1e3:,.0f} images per second{memory}", ms

    precision = "bfloat16" if half else "float32"
    heads: tuple[Head, Head] = ("anchor", "free")
    for head in heads:
        yield f"{head} head, training step of {images} images, {side} x {side}, {precision}", partial(train, head)
        yield f"{head} head, network alone, {images} images, {side} x {side}, {precision}", partial(forward, head)
        yield (
            f"{head} head, pixels on the host to boxes, {images} images, {side} x {side}, float32",
            partial(infer, head),
        )


PARTS = {"overlaps": overlaps, "losses": losses_part, "nms": nms_part, "detector": detector}
