"""Mean average precision in a training loop: ioukit.torch against TorchMetrics with both of its backends.

    pip install ".[bench]" torchmetrics
    python benchmarks/bench_mean_average_precision.py
    python benchmarks/bench_mean_average_precision.py --class-metrics
    python benchmarks/bench_mean_average_precision.py --images 500 --iou-type segm

The images come in batches of 16 from a seeded generator: 80 classes, 7 targets and 36 detections per image in the mean.
`update` is the time of all updates, `compute` that of the one call behind them, `again` that of a call after 96 more
images. Seconds of CPU of all threads, so that other work on the machine does not count; medians of the rounds. All
numbers of the results must be equal.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from typing import Any

import numpy as np
import torch
from _machine import described

from ioukit.torch import MeanAveragePrecision

BATCH = 16
MORE = 6 * BATCH


def batches(images: int, kind: str) -> list[Any]:
    """Predictions and targets, most predictions near a target."""
    rng = np.random.default_rng(0)
    found = []
    for start in range(0, images, BATCH):
        pairs = [one_image(rng, kind) for _ in range(min(BATCH, images - start))]
        found.append(([pair[0] for pair in pairs], [pair[1] for pair in pairs]))
    return found


def one_image(rng: np.random.Generator, kind: str) -> tuple[dict[str, Any], dict[str, Any]]:
    objects, detections = int(rng.poisson(7)), int(rng.poisson(36))
    low = rng.uniform(0, 400, (objects, 2))
    corners = np.concatenate([low, low + rng.lognormal(4, 0.8, (objects, 2))], axis=1)
    labels = rng.integers(0, 80, objects)
    guesses = rng.uniform(0, 400, (detections, 2))
    boxes = np.concatenate([guesses, guesses + rng.lognormal(4, 0.8, (detections, 2))], axis=1)
    classes = rng.integers(0, 80, detections)
    if objects:
        near = rng.random(detections) < 0.6
        of = rng.integers(0, objects, detections)[near]
        boxes[near] = corners[of] + rng.normal(0, 6, (len(of), 4))
        boxes[:, 2:] = np.maximum(boxes[:, 2:], boxes[:, :2] + 1)
        classes[near] = labels[of]
    preds = regions(boxes, kind) | {"scores": torch.tensor(rng.random(detections), dtype=torch.float32)}
    preds["labels"] = torch.tensor(classes)
    return preds, regions(corners, kind) | {"labels": torch.tensor(labels)}


def regions(corners: np.ndarray[Any, Any], kind: str) -> dict[str, torch.Tensor]:
    if kind == "bbox":
        return {"boxes": torch.tensor(corners, dtype=torch.float32)}
    masks = np.zeros((len(corners), 480, 480), np.bool_)
    for mask, (x, y, x2, y2) in zip(masks, np.clip(corners, 0, 480).astype(int), strict=True):
        mask[y:y2, x:x2] = True
    return {"masks": torch.tensor(masks)}


def timed(metric: Any, first: list[Any], more: list[Any]) -> tuple[list[float], dict[str, Any]]:
    """Seconds of CPU of all updates, of `compute`, and of `compute` after some more images; the last result."""
    times = []
    started = time.process_time()
    for batch in first:
        metric.update(*batch)
    times.append(time.process_time() - started)
    for added in ([], more):
        for batch in added:
            metric.update(*batch)
        started = time.process_time()
        result = metric.compute()
        times.append(time.process_time() - started)
    return times, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--iou-type", choices=("bbox", "segm"), default="bbox")
    parser.add_argument("--class-metrics", action="store_true")
    parser.add_argument("--rounds", type=int, default=3, help="of ioukit; the peers run once")
    parser.add_argument("--backends", nargs="*", default=["pycocotools", "faster_coco_eval"])
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    made = batches(arguments.images + MORE, arguments.iou_type)
    first, more = made[: -(MORE // BATCH)], made[-(MORE // BATCH) :]
    options: dict[str, Any] = {"iou_type": arguments.iou_type, "class_metrics": arguments.class_metrics}
    print(f"{described('ioukit', 'torch', 'torchmetrics', 'pycocotools', 'faster_coco_eval')}\n")
    print(f"{arguments.images:,} images, {arguments.iou_type}, class_metrics={arguments.class_metrics}\n")
    print("| engine | update | compute | again | compute, ratio | again, ratio |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    rounds = [timed(MeanAveragePrecision(**options), first, more) for _ in range(arguments.rounds)]
    ours = [statistics.median(column) for column in zip(*(times for times, _ in rounds), strict=True)]
    expected = rounds[0][1]
    print(f"| ioukit | {ours[0]:.2f} s | {ours[1]:.3f} s | {ours[2]:.3f} s | 1 | 1 |", flush=True)
    from torchmetrics.detection import MeanAveragePrecision as Peer  # noqa: PLC0415 - slow to import

    for backend in arguments.backends:
        theirs, result = timed(Peer(backend=backend, **options), first, more)
        ratios = [peer / own for peer, own in zip(theirs, ours, strict=True)]
        cells = " | ".join(f"{seconds:.2f} s" for seconds in theirs)
        print(f"| TorchMetrics, {backend} | {cells} | {ratios[1]:.0f} x | {ratios[2]:.0f} x |", flush=True)
        for key, value in result.items():
            if not torch.allclose(expected[key], value, atol=1e-6):
                raise SystemExit(f"{backend}: {key} is {value}, ioukit has {expected[key]}")


if __name__ == "__main__":
    main()
