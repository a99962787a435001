"""Target assignment against the plain formulas in PyTorch, in turns, and the memory at 100,000 predictions.

    pip install 'ioukit[bench]' && python benchmarks/bench_assign.py

8,400 predictions (strides 8, 16 and 32 at 640 pixels), 80 classes. The plain formulas (`plain_assign.py`) are tables of
all objects by all predictions, one operation of PyTorch after the other, for one image, without the padding of batches.
Both get float32 tensors on the CPU and answer with one target per prediction; those that agree are counted (ties, and
sums of logarithms in another order, may differ).

Memory is the peak of a fresh process less that of one that reads the same inputs and computes next to nothing. Other
rules than these three are measured for memory and time alone.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import time
from typing import TYPE_CHECKING, Any

from _fresh import run_program
from _machine import described

if TYPE_CHECKING:
    from collections.abc import Callable

# NumPy and PyTorch are imported after memory is measured: a child inherits the peak of a large parent.

MAKE = """
import sys, numpy as np
from plain_assign import scene
names = ("predictions", "scores", "gt", "labels", "points", "strides", "levels")
for name, array in zip(names, scene(100_000, int(sys.argv[2]), 20)):
    np.save(f"{sys.argv[1]}/{name}.npy", array)
"""
MEMORY = """
import sys, time, numpy as np
names = ("predictions", "scores", "gt", "labels", "points", "strides", "levels")
predictions, scores, gt, labels, points, strides, levels = (np.load(f"{{sys.argv[1]}}/{{name}}.npy") for name in names)
from ioukit.assign import *
assign_task_aligned(predictions[:9], scores[:9], gt[:1], labels[:1], points=points[:9])
t = time.perf_counter()
{call}
print(len(predictions), time.perf_counter() - t)
"""
CALLS = {
    "nothing": "",
    "task-aligned, v8": "assign_task_aligned(predictions, scores, gt, labels, points=points, strides=[8, 16, 32])",
    "task-aligned, tood": "assign_task_aligned(predictions, scores, gt, labels, points=points, rule='tood')",
    "SimOTA, mmdet": "assign_simota(predictions, scores, gt, labels, points=points, strides=strides)",
    "SimOTA, yolox": "assign_simota(predictions, scores, gt, labels, points=points, strides=strides, rule='yolox')",
    "ATSS": "assign_atss(predictions, gt, levels=levels)",
    "max-IoU": "assign_max_iou(predictions, gt, low_quality='mmdet')",
}


def memory(objects: int) -> None:
    base = 0
    here = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
    with tempfile.TemporaryDirectory() as folder:
        run_program(here + MAKE, folder, str(objects))
        for name, call in CALLS.items():
            run = run_program(MEMORY.format(call=call), folder)
            count, took = run.output.split()
            if name == "nothing":
                base = run.peak
                continue
            print(f"| {name} | {int(count):,} x {objects} | {(run.peak - base) / 1e6:.0f} MB | {float(took):.2f} s |")


def compare(name: str, ours: Callable[[], Any], plain: Callable[[], Any], objects: int, runs: int) -> None:
    same = int((ours().target == plain()).sum())
    seconds: dict[str, list[float]] = {"ours": [], "plain": []}
    for _ in range(runs):
        for key, work in (("ours", ours), ("plain", plain)):
            start = time.perf_counter()
            work()
            seconds[key].append(time.perf_counter() - start)
    own, other = (statistics.median(seconds[key]) * 1e3 for key in ("ours", "plain"))
    count = len(ours())
    print(f"| {name} | {count:,} x {objects} | {own:.1f} ms | {other:.1f} ms | {other / own:.1f} x | {same:,} |")


def speed(objects: int, runs: int) -> None:
    import numpy as np  # noqa: PLC0415
    import plain_assign as plain  # noqa: PLC0415
    import torch  # noqa: PLC0415

    from ioukit.anchors import anchor_boxes  # noqa: PLC0415
    from ioukit.assign import assign_atss, assign_simota, assign_task_aligned  # noqa: PLC0415

    parts: Any = (torch.from_numpy(p) if isinstance(p, np.ndarray) else p for p in plain.scene(8400, objects))
    predictions, scores, gt, labels, points, strides, levels = parts
    grid = anchor_boxes((640, 640), [8, 16, 32], [[[s * 8, s * 8]] for s in (8, 16, 32)])
    assert grid.levels == tuple(levels)
    anchors = torch.from_numpy(grid.boxes)
    compare(
        "task-aligned, tood",
        lambda: assign_task_aligned(predictions, scores, gt, labels, points=points, rule="tood"),
        lambda: plain.task_aligned(predictions, scores, gt, labels, points), objects, runs,
    )  # fmt: skip
    compare(
        "SimOTA, mmdet",
        lambda: assign_simota(predictions, scores, gt, labels, points=points, strides=strides),
        lambda: plain.simota(predictions, scores, gt, labels, points, strides), objects, runs,
    )  # fmt: skip
    compare(
        "ATSS", lambda: assign_atss(anchors, gt, levels=levels), lambda: plain.atss(anchors, gt, levels), objects, runs
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=15, help="calls of each in turns (default: 15)")
    parser.add_argument("--torch-threads", type=int, default=0, help="0 means PyTorch's default")
    parser.add_argument("--speed-only", action="store_true", help="leave memory out")
    parser.add_argument("--objects", type=int, nargs="+", default=[1, 50, 500])
    options = parser.parse_args()
    print(f"{described('ioukit', 'numpy', 'torch')}\n")
    if not options.speed_only:
        print("| rule | size | memory beyond the inputs | time |")
        print("| --- | --- | --- | --- |")
        for objects in options.objects:
            memory(objects)
    if options.torch_threads:
        import torch  # noqa: PLC0415

        torch.set_num_threads(options.torch_threads)
    print("\n| rule | size | ioukit | plain PyTorch | ratio | equal targets |")
    print("| --- | --- | --- | --- | --- | --- |")
    for objects in options.objects:
        speed(objects, options.runs)


if __name__ == "__main__":
    main()
