"""COCO's AP of rotated boxes against supervision, from arrays to the number, each engine in a fresh process.

    pip install . supervision
    python benchmarks/bench_rotated_eval.py --runs 3

The scene is like DOTA: 15 classes, and on each image 20 objects of any angle and 60 detections near them. The time is
that of the evaluation alone, from arrays as each library takes them, without its import. Both compute the overlaps
exactly; supervision's have the precision of float32, so its AP may differ in a late digit.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path

from _fresh import run_in_turns
from _machine import described

SCENE = """
import numpy as np, sys
rng = np.random.default_rng(5)
images, objects, found = int(sys.argv[2]), 20, 60
shape = (images, objects)
places, sides = rng.uniform(0, 1000, (2, *shape)), rng.uniform(10, 120, (2, *shape))
boxes = np.stack([*places, *sides, rng.uniform(0, np.pi, shape)], -1)
classes = rng.integers(0, 15, shape)
of = rng.integers(0, objects, (images, found))
near = np.take_along_axis(boxes, of[..., None], 1)
near = near + rng.normal(0, [4, 4, 4, 4, 0.05], near.shape) * rng.choice([1, 1, 4], (images, found, 1))
near[..., 2:4] = np.maximum(near[..., 2:4], 2)
of_any = rng.integers(0, 15, (images, found))
seen = np.where(rng.random((images, found)) < 0.8, np.take_along_axis(classes, of, 1), of_any)
def corners(rows):
    cos, sin = np.cos(rows[..., 4]), np.sin(rows[..., 4])
    x, y = np.array([-1, 1, 1, -1]) / 2, np.array([-1, -1, 1, 1]) / 2
    dx, dy = rows[..., 2:3] * x, rows[..., 3:4] * y
    turned = dx * cos[..., None] - dy * sin[..., None], dx * sin[..., None] + dy * cos[..., None]
    return np.stack([rows[..., :1] + turned[0], rows[..., 1:2] + turned[1]], -1)
of_both = {"boxes": boxes, "near": near, "truth": corners(boxes), "found": corners(near)}
np.savez(sys.argv[1], **of_both, classes=classes, seen=seen, scores=rng.random(seen.shape))
"""

LOAD = """
import json, sys, time
import numpy as np
scene = dict(np.load(sys.argv[1]))
"""

ENGINES = {
    "ioukit": LOAD
    + """
from ioukit import Detections, GroundTruth, RotatedBoxes, evaluate
evaluate
start = time.perf_counter()
def columns(boxes, classes):
    count, each = classes.shape
    return {
        "image_ids": np.repeat(np.arange(count), each),
        "category_ids": classes.reshape(-1) + 1,
        "regions": RotatedBoxes(boxes.reshape(-1, 5), unit="radians", sense="clockwise"),
    }
gt = GroundTruth.from_arrays(**columns(scene["boxes"], scene["classes"]))
dt = Detections.from_arrays(**columns(scene["near"], scene["seen"]), scores=scene["scores"].reshape(-1))
ap = evaluate(gt, dt, iou_type="rotated").summary["AP"]
print(json.dumps([time.perf_counter() - start, ap]))
""",
    "supervision": LOAD
    + """
from supervision import Detections
from supervision.metrics import MeanAveragePrecision, MetricTarget
start = time.perf_counter()
def detections(corners, classes, scores=None):
    xyxy = np.concatenate([corners.min(1), corners.max(1)], 1)
    return Detections(xyxy=xyxy, class_id=classes, confidence=scores, data={"xyxyxyxy": corners})
metric = MeanAveragePrecision(metric_target=MetricTarget.ORIENTED_BOUNDING_BOXES)
for image in range(len(scene["truth"])):
    truth = detections(scene["truth"][image], scene["classes"][image])
    metric.update(detections(scene["found"][image], scene["seen"][image], scene["scores"][image]), truth)
ap = metric.compute().map50_95
print(json.dumps([time.perf_counter() - start, float(ap)]))
""",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    print(described("ioukit", "supervision"))
    with tempfile.TemporaryDirectory() as folder:
        scene = str(Path(folder) / "scene.npz")
        run_in_turns({"scene": SCENE}, 1, scene, str(options.images))
        runs = run_in_turns(ENGINES, options.runs, scene)
    times = {name: statistics.median(json.loads(run.output)[0] for run in of) for name, of in runs.items()}
    print(f"\n{options.images} images, {20 * options.images:,} objects, {60 * options.images:,} detections\n")
    print("| engine | time | time / ioukit | peak memory | AP |\n| --- | ---: | ---: | ---: | ---: |")
    for name, of in sorted(runs.items(), key=lambda item: times[item[0]]):
        peak, ap = statistics.median(run.peak for run in of) / 1e6, json.loads(of[0].output)[1]
        print(f"| {name} | {times[name]:.3f} s | {times[name] / times['ioukit']:.1f} | {peak:.0f} MB | {ap:.6f} |")


if __name__ == "__main__":
    main()
