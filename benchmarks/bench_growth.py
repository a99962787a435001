"""How time and memory grow with data sets of odd shapes: the exponents of a power of their size.

    python benchmarks/bench_growth.py
    python benchmarks/bench_growth.py categories polygons --sizes 5

Each shape is made at four sizes, each twice the one before, in a fresh process per size. Measured are the CPU time of
one call (all threads, the best of several calls where these are short) and how far the peak of the process rises above
what it held before. An exponent is the slope of a straight line through the logarithms: 1 is in proportion to the data,
2 is the square. There is none where a millisecond or a megabyte is not reached. Memory is measured on Linux alone.
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

from _fresh import run_program
from _machine import described

# NumPy is not imported here: a child inherits the peak of a large parent.

PROGRAM = """
import sys, time
import numpy as np
import ioukit
from ioukit import Detections, GroundTruth, evaluate
n, rng = int(sys.argv[1]), np.random.default_rng(0)

def boxes(count, least=8, most=96):
    return np.concatenate([rng.uniform(0, 4000, (count, 2)), rng.uniform(least, most, (count, 2))], axis=1)

def scene(categories, used, images, objects, detections):
    # Every used class has an object, and most detections lie near an object.
    of_class = np.concatenate([np.arange(used), rng.integers(0, used, max(objects - used, 0))])[:objects]
    truth, image = boxes(objects), rng.integers(0, images, objects)
    names = {number: f"class {number}" for number in range(categories)}
    near = rng.integers(0, objects, detections)
    moved = truth[near] + rng.normal(0, 3, (detections, 4)) * [1, 1, 0, 0]
    gt = GroundTruth.from_arrays(
        image_ids=image, category_ids=of_class, boxes=truth, categories=names, images=np.arange(images)
    )
    return gt, Detections.from_arrays(
        image_ids=image[near], category_ids=of_class[near], boxes=moved, scores=rng.random(detections)
    )

def stars(count, points):
    angle = np.linspace(0, 2 * np.pi, points, endpoint=False)
    radius = 100 + 40 * rng.random((count, points))
    centre = rng.uniform(200, 300, (count, 1, 2))
    return centre + radius[..., None] * np.stack([np.cos(angle), np.sin(angle)], axis=-1)

def held(name):
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))
    except OSError:
        return 0

MAKE
def work():
    WORK

start = time.process_time()
work()
times = [time.process_time() - start]
while sum(times) < 0.5 and len(times) < 5:
    start = time.process_time()
    work()
    times.append(time.process_time() - start)
# The second half of the answer: what one more call needs. Linux forgets the old peak for this.
try:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
except OSError:
    pass
before = held("VmRSS")
work()
print(min(times), max(held("VmHWM") - before, 0))
"""


class Shape(NamedTuple):
    """A shape of data, and a call with it."""

    title: str
    size: int
    """The smallest of the sizes."""
    make: str
    work: str


SHAPES = {
    "categories": Shape(
        "classes, all of them used: evaluate",
        2_000,
        "gt, dt = scene(n, n, n // 2, 10 * n, 20 * n)",
        "evaluate(gt, dt).summary",
    ),
    "unused": Shape(
        "classes, 1 % of them used: evaluate",
        31_250,
        "gt, dt = scene(n, n // 100, n // 100, n // 20, n // 10)",
        "evaluate(gt, dt).summary",
    ),
    "per_class": Shape(
        "classes, all of them used: the numbers of each",
        2_000,
        "found = evaluate(*scene(n, n, n // 2, 10 * n, 20 * n))",
        "ioukit.Evaluation.from_table(found.matches).per_class",
    ),
    "replicates": Shape(
        "classes, all of them used: an interval of 10 replicates",
        1_000,
        "found = evaluate(*scene(n, n, n // 2, 10 * n, 20 * n))",
        "ioukit.statistics.intervals(found, 'AP', replicates=10)",
    ),
    "one_image": Shape(
        "detections on one image, 1,000 objects: evaluate",
        250_000,
        "gt, dt = scene(1, 1, 1, 1_000, n)",
        "evaluate(gt, dt).summary",
    ),
    "one_image_all": Shape(
        "detections on one image, 1,000 objects, no cap: evaluate",
        25_000,
        "gt, dt = scene(1, 1, 1, 1_000, n)\nrules = ioukit.COCO.replace(max_dets=(1, 10, n))",
        "evaluate(gt, dt, rules).summary",
    ),
    "nms": Shape(
        "boxes, as dense at each size: nms",
        250_000,
        "given, scores = boxes(n) * ([(n / 5e4) ** 0.5] * 2 + [1, 1]), rng.random(n)",
        "ioukit.nms(given, scores, 0.5, format='xywh')",
    ),
    "polygons": Shape(
        "points of each of two polygons: IoU",
        1_250,
        "one, other = (ioukit.Polygons(list(stars(1, n))) for _ in range(2))",
        "ioukit.pairwise_iou(one, other)",
    ),
    "outlines": Shape(
        "points of each of 200 outlines: masks drawn, evaluate by mask",
        1_250,
        "outlines = [[one.ravel().tolist()] for one in stars(200, n)]\n"
        "image, box = dict(id=1, width=500, height=500), [60, 60, 380, 380]\n"
        "truth = [dict(id=at, image_id=1, category_id=1, bbox=box, area=4e4, iscrowd=0, segmentation=one)\n"
        "         for at, one in enumerate(outlines[:100], 1)]\n"
        "found = [dict(image_id=1, category_id=1, score=at / 100, bbox=box, segmentation=one)\n"
        "         for at, one in enumerate(outlines[100:])]\n"
        "gt = GroundTruth.from_coco(dict(images=[image], annotations=truth, categories=[dict(id=1, name='a')]))\n"
        "dt = Detections.from_coco(found)",
        "evaluate(gt, dt, iou_type='segm').summary",
    ),
}


def slope(sizes: list[int], values: list[float], least: float) -> str:
    """The slope of a straight line through the logarithms, by least squares; none if a value is below the least."""
    if min(values) < least:
        return "-"
    x, y = [math.log(size) for size in sizes], [math.log(value) for value in values]
    centre = sum(x) / len(x), sum(y) / len(y)
    pairs = [(one - centre[0], other - centre[1]) for one, other in zip(x, y, strict=True)]
    return f"{sum(one * other for one, other in pairs) / sum(one * one for one, _ in pairs):.2f}"


def measured(shape: Shape, size: int) -> tuple[float, float]:
    """Seconds of CPU time and megabytes of memory of one call."""
    program = PROGRAM.replace("MAKE\n", f"{shape.make}\n").replace("    WORK\n", f"    {shape.work}\n")
    seconds, memory = run_program(program, str(size)).output.split()
    return float(seconds), int(memory) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("shapes", nargs="*", help=f"which of {', '.join(SHAPES)}; all if none is named")
    parser.add_argument("--sizes", type=int, default=4, help="how many sizes, each twice the one before (default: 4)")
    options = parser.parse_args()
    if unknown := set(options.shapes) - SHAPES.keys():
        parser.error(f"there is no shape {', '.join(sorted(unknown))}")
    print(f"{described('ioukit', 'numpy')}\n")
    print("| from | to | of what, and the call | CPU at the largest | memory there | exponent of time | of memory |")
    print("| ---: | ---: | --- | ---: | ---: | ---: | ---: |")
    for name in options.shapes or SHAPES:
        shape = SHAPES[name]
        sizes = [shape.size << step for step in range(options.sizes)]
        seconds, memory = (list(column) for column in zip(*(measured(shape, size) for size in sizes), strict=True))
        print(
            f"| {sizes[0]:,} | {sizes[-1]:,} | {shape.title} | {seconds[-1]:.2f} s | {memory[-1]:.0f} MB | "
            f"{slope(sizes, seconds, 1e-3)} | {slope(sizes, memory, 1)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
