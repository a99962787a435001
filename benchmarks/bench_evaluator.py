"""A validation loop: update per batch, compute at the end, and compute again; ioukit and torchmetrics.

    pip install 'ioukit[bench]' torchmetrics && python benchmarks/bench_evaluator.py

Batches of 16 images with 10 to 100 detections and 1 to 13 objects of 80 classes: float32 and int64 tensors on the CPU,
or NumPy arrays, made before the clock starts. A fresh process runs the whole loop:

- update: the median over all batches;
- compute: once all images are there;
- again: compute after 100 more images.

torchmetrics runs with each of its backends, pycocotools and faster-coco-eval. A peer that is not installed is left out.
"AP" is the number of each. torchmetrics rounds the thresholds of IoU and recall to float32, which moves the last
digits; with its thresholds, ioukit gives its number.
"""

from __future__ import annotations

import argparse
import json
import statistics

from _fresh import run_in_turns
from _machine import described

DATA = """
import sys, time, statistics, json, warnings, logging, contextlib, io, resource
import numpy as np
warnings.simplefilter("ignore")
images, tensors = int(sys.argv[1]), sys.argv[2] == "torch"
rng = np.random.default_rng(0)
def batch(count):
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
        predictions.append(dict(boxes=boxes.astype("f4"), scores=rng.random(found).astype("f4"), labels=classes))
        area = rng.uniform(10, 1e4, objects).astype("f4")
        crowd = np.zeros(objects, np.int64)
        targets.append(dict(boxes=truth.astype("f4"), labels=labels, area=area, iscrowd=crowd))
    if tensors:
        import torch
        predictions = [{name: torch.from_numpy(value) for name, value in one.items()} for one in predictions]
        targets = [{name: torch.from_numpy(value) for name, value in one.items()} for one in targets]
    return predictions, targets
batches = [batch(16) for _ in range(images // 16)]
more = batch(100)
"""

LOOP = """
evaluator = make()
taken = []
for predictions, targets in batches:
    start = time.perf_counter()
    evaluator.update(predictions, targets)
    taken.append(time.perf_counter() - start)
first = time.perf_counter()
with contextlib.redirect_stdout(io.StringIO()):
    ap = read(evaluator.compute())
    second = time.perf_counter()
    evaluator.update(*more)
    third = time.perf_counter()
    read(evaluator.compute())
    last = time.perf_counter()
print(json.dumps({"update": statistics.median(taken), "compute": second - first, "again": last - third, "AP": ap}))
"""

TORCHMETRICS = """
import torch
from torchmetrics.detection import MeanAveragePrecision
make = lambda: MeanAveragePrecision(backend="{backend}")
read = lambda found: float(found["map"])
"""

ENGINES = {
    "ioukit": """
import ioukit
make = ioukit.Evaluator
read = lambda found: found.summary["AP"]
""",
    "torchmetrics, pycocotools": TORCHMETRICS.format(backend="pycocotools"),
    "torchmetrics, faster-coco-eval": TORCHMETRICS.format(backend="faster_coco_eval")
    + "\nimport faster_coco_eval; faster_coco_eval.__version__",
}


def compare(images: int, kind: str, runs: int) -> list[dict[str, object]]:
    """One row per engine: medians over the processes."""
    engines = {name: program for name, program in ENGINES.items() if kind == "torch" or name == "ioukit"}
    taken = run_in_turns({name: DATA + program + LOOP for name, program in engines.items()}, runs, str(images), kind)
    rows = []
    for name, own in taken.items():
        printed = [json.loads(run.output.splitlines()[-1]) for run in own]
        medians = {key: statistics.median(one[key] for one in printed) for key in ("update", "compute", "again")}
        rows.append(
            {"engine": name, "values": kind, "images": images, **medians, "AP": round(printed[0]["AP"], 6)}
            | {"peak": statistics.median(run.peak for run in own)}
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="fresh processes per engine (default: 3)")
    parser.add_argument("--images", type=int, default=5_000, help="images before the first compute (default: 5000)")
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of the table")
    options = parser.parse_args()

    rows = [row for kind in ("torch", "numpy") for row in compare(options.images, kind, options.runs)]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    print(f"{described('ioukit', 'numpy', 'torch', 'torchmetrics', 'pycocotools', 'faster-coco-eval')}\n")
    print("| engine | values | update of 16 images | compute | compute again | peak memory | AP |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        update, compute, again, peak = (float(str(row[key])) for key in ("update", "compute", "again", "peak"))
        cells = (row["engine"], row["values"], f"{1e3 * update:.2f} ms", f"{1e3 * compute:,.0f} ms")
        print(f"| {' | '.join(map(str, cells))} | {1e3 * again:,.0f} ms | {peak / 1e6:,.0f} MB | {row['AP']} |")


if __name__ == "__main__":
    main()
