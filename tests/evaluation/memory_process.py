"""Fills an `Evaluator` with some hundred thousand detections, and prints how many bytes it takes for each."""

from __future__ import annotations

import ctypes
import gc
import itertools
import json
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np

from ioukit import Evaluator

__all__ = ["many_images"]

HALF = 260_000


def many_images(rng: np.random.Generator, count: int, dtype: Any) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Images with 10 to 100 detections and 1 to 13 objects; a fifth of the detections match."""
    predictions, targets = [], []
    for _ in range(count):
        objects, found = int(rng.integers(1, 14)), int(rng.integers(10, 101))
        low = rng.uniform(0, 400, (objects, 2))
        truth = np.concatenate([low, low + rng.uniform(5, 150, (objects, 2))], axis=1)
        labels = rng.integers(0, 80, objects)
        of = rng.integers(0, objects, found)
        boxes = truth[of] + rng.normal(0, 4, (found, 4))
        boxes[:, 2:] = np.maximum(boxes[:, :2], boxes[:, 2:])
        classes = np.where(rng.random(found) < 0.8, labels[of], rng.integers(0, 80, found))
        predictions.append({"boxes": boxes.astype(dtype), "scores": rng.random(found).astype(dtype), "labels": classes})
        area = rng.uniform(10, 1e4, objects).astype(dtype)
        crowd = np.zeros(objects, np.int64)
        targets.append({"boxes": truth.astype(dtype), "labels": labels, "area": area, "iscrowd": crowd})
    return predictions, targets


def copied(images: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same images in other arrays."""
    return [{name: column.copy() for name, column in image.items()} for image in images]


def resident() -> int:
    """Bytes in memory, after what is free went back to the system."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * 4096


def main(dtype: str, measure: str) -> None:
    """Print bytes per detection: of what waits, and of what is matched."""
    rng = np.random.default_rng(0)
    evaluator = Evaluator()
    if measure == "traced":
        tracemalloc.start()

    def now() -> int:
        return tracemalloc.get_traced_memory()[0] if measure == "traced" else resident()

    # Drawing all images anew would take as long as all else here. The evaluator gets arrays of its own each time.
    drawn = [many_images(rng, 16, dtype) for _ in range(20)]

    def fill() -> int:
        count = 0
        for batch in itertools.cycle(drawn):
            if count >= HALF:
                break
            predictions, targets = map(copied, batch)
            evaluator.update(predictions, targets)
            count += sum(len(one["scores"]) for one in predictions)
        return count

    fill()
    evaluator.compute()
    evaluator._changed()  # forgets the curves, whose size does not depend on the detections
    start, count = now(), fill()
    waiting = (now() - start) / count
    evaluator.compute()
    evaluator._changed()
    sys.stdout.write(json.dumps({"waiting": waiting, "matched": (now() - start) / count}))


if __name__ == "__main__":
    main(*sys.argv[1:])
