"""Suppression against other libraries: fresh processes in turns, medians of time, and peak memory.

    pip install 'ioukit[bench]' && python benchmarks/bench_nms.py

Boxes are those of a detector before suppression, at IoU 0.5:

- uniform: corners anywhere, sides of 10 to 50 pixels, so dense that a box meets about four others; few are removed;
- clustered: 20 boxes an object, moved by some pixels; most are removed.
- identical: one box many times.

Up to 10,000 boxes, 16 sets are drawn and suppressed in turns, as a detector gives other boxes for each image: asked for
the same few boxes again and again, a processor foresees which of them survive. Of more boxes there is one set.

Every library is given its own dtype (float32 for ioukit, torchvision and OpenCV, float64 for powerboxes and
supervision), made before the clock starts, and the best of powerboxes' two functions is its time. A peer that is not
installed is left out, and one that needs a table of all pairs, or visits them all, is not asked beyond its limit.
Peak memory is that of the process, Python, NumPy and the boxes included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile

from _fresh import run_in_turns, run_program
from _machine import described

DATA = """
import sys, numpy as np
kind, count, folder = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
extent = 30 * count**0.5
def drawn():
    if kind == "identical":
        return np.tile([[5.0, 5.0, 45.0, 35.0]], (count, 1))
    if kind == "uniform":
        low = rng.uniform(0, extent, (count, 2))
        return np.concatenate([low, low + rng.uniform(10, 50, (count, 2))], axis=1)
    objects = rng.uniform(0, extent, (max(1, count // 20), 2))
    low = objects[rng.integers(0, len(objects), count)] + rng.normal(0, 4, (count, 2))
    return np.concatenate([low, low + 30 + rng.normal(0, 3, (count, 2))], axis=1)
sets = range(16 if count <= 10_000 else 1)
np.save(f"{folder}/boxes.npy", [drawn() for _ in sets])
np.save(f"{folder}/scores.npy", [(rng.permutation(count) + 1) / count for _ in sets])
"""

# Makes `given(boxes, scores)`, which takes arrays of float64, and `suppress()`, which takes what that returns; and the
# largest number of boxes it is asked for.
PEERS = {
    "ioukit": (
        """
from ioukit import nms
def given(boxes, scores):
    return boxes.astype(np.float32), scores.astype(np.float32)
def suppress(boxes, scores):
    return nms(boxes, scores, iou_threshold=0.5, threads=THREADS)
""",
        10**9,
    ),
    "powerboxes rtree_nms": (
        """
import powerboxes
def given(boxes, scores):
    return boxes, scores
def suppress(boxes, scores):
    return powerboxes.rtree_nms(boxes, scores, 0.5, -1.0)
""",
        10**9,
    ),
    "powerboxes nms": (
        """
import powerboxes
def given(boxes, scores):
    return boxes, scores
def suppress(boxes, scores):
    return powerboxes.nms(boxes, scores, 0.5, -1.0)
""",
        10_000,
    ),
    "torchvision": (
        """
import torch, torchvision
torch.set_num_threads(THREADS or torch.get_num_threads())
def given(boxes, scores):
    return torch.from_numpy(boxes).float(), torch.from_numpy(scores).float()
def suppress(boxes, scores):
    return torchvision.ops.nms(boxes, scores, 0.5)
""",
        100_000,
    ),
    "OpenCV": (
        """
import cv2
def given(boxes, scores):
    return np.concatenate([boxes[:, :2], boxes[:, 2:] - boxes[:, :2]], axis=1), scores
def suppress(boxes, scores):
    return cv2.dnn.NMSBoxes(boxes, scores, 0.0, 0.5)
""",
        10_000,
    ),
    "supervision": (
        """
from supervision.detection.utils.iou_and_nms import box_non_max_suppression
def given(boxes, scores):
    return (np.concatenate([boxes, scores[:, None]], axis=1),)
def suppress(predictions):
    return np.flatnonzero(box_non_max_suppression(predictions, 0.5))
""",
        1_000,
    ),
}

PROGRAM = """
import itertools, statistics, sys, time, numpy as np
THREADS = int(sys.argv[2]) or None
boxes, scores = (np.load(f"{{sys.argv[1]}}/{{name}}.npy") for name in ("boxes", "scores"))
{peer}
sets = [given(*one) for one in zip(boxes, scores)]
del boxes, scores
count = sum(len(suppress(*one)) for one in sets) // len(sets)
times, until = [], time.perf_counter() + 0.3
for one in itertools.cycle(sets):
    start = time.perf_counter()
    suppress(*one)
    end = time.perf_counter()
    times.append(end - start)
    if len(times) >= 3 and end > until:
        break
print(statistics.median(times), count)
"""


def compare(kind: str, count: int, runs: int, threads: int) -> list[dict[str, object]]:
    programs = {name: PROGRAM.format(peer=peer) for name, (peer, limit) in PEERS.items() if count <= limit}
    if kind == "identical":
        programs = {name: program for name, program in programs.items() if name != "powerboxes nms"}
    with tempfile.TemporaryDirectory() as folder:
        run_program(DATA, kind, str(count), folder)
        taken = run_in_turns(programs, runs, folder, str(threads))
    seconds = {name: statistics.median(float(run.output.split()[0]) for run in own) for name, own in taken.items()}
    return [
        {
            "boxes": f"{count:,} {kind}",
            "library": name,
            "ms": seconds[name] * 1e3,
            "ratio": seconds[name] / seconds["ioukit"],
            "peak_mb": statistics.median(run.peak for run in own) / 1e6,
            "kept": int(own[-1].output.split()[1]),
        }
        for name, own in taken.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="fresh processes per library and size (default: 3)")
    parser.add_argument("--threads", type=int, default=0, help="threads; 0 means all cores (default)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1_000, 10_000, 100_000, 1_000_000])
    parser.add_argument("--kinds", nargs="+", default=["uniform", "clustered"], choices=["uniform", "clustered"])
    parser.add_argument("--identical", type=int, default=100_000, help="copies of one box; 0 leaves them out")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")
    options = parser.parse_args()

    work = [(kind, size) for size in options.sizes for kind in options.kinds]
    if options.identical:
        work.append(("identical", options.identical))
    if options.json:
        print(json.dumps([row for kind, size in work for row in compare(kind, size, options.runs, options.threads)]))
        return
    packages = ("ioukit", "numpy", "powerboxes", "torchvision", "opencv-python-headless", "supervision")
    print(f"{described(*packages)}\n")
    print("| boxes | library | median | time / ioukit | peak memory | kept |")
    print("| --- | --- | ---: | ---: | ---: | ---: |")
    for kind, size in work:
        for row in compare(kind, size, options.runs, options.threads):
            print(
                f"| {row['boxes']} | {row['library']} | {row['ms']:.3g} ms | {row['ratio']:.1f} | "
                f"{row['peak_mb']:.0f} MB | {row['kept']:,} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
