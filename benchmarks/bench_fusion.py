"""Soft-NMS, Matrix NMS and fusion against other libraries: fresh processes in turns, medians of time.

    pip install 'ioukit[bench]' && python benchmarks/bench_fusion.py

Detections of one class as detectors give them: about ten around each object, in two models, in the unit square (which
ensemble-boxes asks for), so dense that objects touch their neighbours. Every library goes from float64 arrays in memory
to boxes and scores:

- ensemble-boxes: `soft_nms` (compiled by Numba), `weighted_boxes_fusion` (NumPy), `non_maximum_weighted` (Numba);
- NumPy: Soft-NMS as its authors wrote it, a loop over picks with the overlaps of a row each;
- PyTorch: Matrix NMS as its authors wrote it, with the table of all pairs.

A peer that is not installed is left out. Compilers have run before the clock starts; a process measures up to seven
calls and gives their median. The table of all pairs is left out beyond 5,000 boxes: it takes gigabytes.
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
count, folder = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
objects = rng.uniform(0.02, 0.9, (max(count // 10, 1), 2))
sides = rng.uniform(0.3, 1.0, objects.shape) / (count / 10) ** 0.5
of = rng.integers(0, len(objects), count)
low = objects[of] + rng.normal(0, 0.08, (count, 2)) * sides[of]
high = low + sides[of] * rng.uniform(0.85, 1.15, (count, 2))
boxes = np.clip(np.concatenate([low, high], axis=1), 0, 1)
np.save(f"{folder}/boxes.npy", boxes)
np.save(f"{folder}/scores.npy", (rng.permutation(count) + 1) / (count + 1))
"""

# Each defines `work(boxes, scores)`, which returns how many boxes there are in the end.
WORK = {
    "Soft-NMS, linear": {
        "ioukit": "def work(b, s):\n    return len(ioukit.soft_nms(b, s, iou_threshold=0.3)[0])",
        "ensemble-boxes": """
import ensemble_boxes
def work(b, s):
    zeros = [np.zeros(len(b), int)]
    return len(ensemble_boxes.soft_nms([b], [s], zeros, method=1, iou_thr=0.3, thresh=0.001)[0])
""",
        "NumPy loop": """
def work(b, s):
    area, s, left, kept = (b[:, 2:] - b[:, :2]).prod(axis=1), s.copy(), np.arange(len(b)), 0
    while len(left):
        best = left[s[left].argmax()]
        left, kept = left[left != best], kept + 1
        side = np.minimum(b[left, 2:], b[best, 2:]) - np.maximum(b[left, :2], b[best, :2])
        inter = side.clip(0).prod(axis=1)
        iou = inter / (area[left] + area[best] - inter)
        s[left] *= np.where(iou >= 0.3, 1 - iou, 1)
        left = left[s[left] >= 0.001]
    return kept
""",
    },
    "Soft-NMS, Gaussian": {
        "ioukit": "def work(b, s):\n    return len(ioukit.soft_nms(b, s, method='gaussian')[0])",
        "ensemble-boxes": """
import ensemble_boxes
def work(b, s):
    zeros = [np.zeros(len(b), int)]
    return len(ensemble_boxes.soft_nms([b], [s], zeros, method=2, sigma=0.5, thresh=0.001)[0])
""",
    },
    "Matrix NMS": {
        "ioukit": "def work(b, s):\n    return len(ioukit.matrix_nms(b, s, score_threshold=0.05)[0])",
        "PyTorch, dense": """
import torch, torchvision
torch.set_num_threads(THREADS or 2)
def work(b, s):
    b, s = torch.from_numpy(b), torch.from_numpy(s)
    s, order = s.sort(descending=True)
    iou = torchvision.ops.box_iou(b[order], b[order]).triu(diagonal=1)
    covered = iou.max(dim=0).values[:, None]
    decay = ((-2 * iou**2).exp() / (-2 * covered**2).exp()).min(dim=0).values
    return int((s * decay >= 0.05).sum())
""",
    },
    "weighted boxes fusion": {
        "ioukit": """
def work(b, s):
    return len(ioukit.weighted_boxes_fusion([b[::2], b[1::2]], [s[::2], s[1::2]], threads=THREADS)[0])
""",
        "ensemble-boxes": """
import ensemble_boxes
def work(b, s):
    zeros = [np.zeros(len(b[::2]), int), np.zeros(len(b[1::2]), int)]
    return len(ensemble_boxes.weighted_boxes_fusion([b[::2], b[1::2]], [s[::2], s[1::2]], zeros)[0])
""",
    },
    "non-maximum weighted": {
        "ioukit": """
def work(b, s):
    return len(ioukit.non_maximum_weighted([b[::2], b[1::2]], [s[::2], s[1::2]], threads=THREADS)[0])
""",
        "ensemble-boxes": """
import ensemble_boxes
def work(b, s):
    zeros = [np.zeros(len(b[::2]), int), np.zeros(len(b[1::2]), int)]
    return len(ensemble_boxes.non_maximum_weighted([b[::2], b[1::2]], [s[::2], s[1::2]], zeros)[0])
""",
    },
}

PROGRAM = """
import sys, time, warnings, numpy as np
warnings.simplefilter("ignore")
THREADS = int(sys.argv[2]) or None
{imports}
{work}
boxes, scores = (np.load(f"{{sys.argv[1]}}/{{name}}.npy") for name in ("boxes", "scores"))
work(boxes[:100].copy(), scores[:100].copy())
times = []
while len(times) < 7 and sum(times) < 0.5:
    b, s = boxes.copy(), scores.copy()
    start = time.perf_counter()
    count = work(b, s)
    times.append(time.perf_counter() - start)
print(f"[{{sorted(times)[len(times) // 2]}}, {{count}}]")
"""


LARGEST_TABLE = 5_000  # boxes


def compare(count: int, runs: int, threads: int) -> list[dict[str, object]]:
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        run_program(DATA, str(count), folder)
        for name, libraries in WORK.items():
            programs = {
                library: PROGRAM.format(imports="import ioukit" if library == "ioukit" else "", work=work)
                for library, work in libraries.items()
                if not (library.endswith("dense") and count > LARGEST_TABLE)
            }
            taken = run_in_turns(programs, runs, folder, str(threads))
            printed = {library: [json.loads(run.output) for run in own] for library, own in taken.items()}
            medians = {library: statistics.median(took for took, _ in own) for library, own in printed.items()}
            rows += [
                {
                    "work": name,
                    "boxes": count,
                    "library": library,
                    "seconds": seconds,
                    "ratio": seconds / medians["ioukit"],
                    "kept": printed[library][-1][1],
                }
                for library, seconds in medians.items()
            ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="fresh processes per library and size (default: 5)")
    parser.add_argument("--threads", type=int, default=0, help="threads of ioukit; 0 means all cores (default)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 5_000, 10_000], help="boxes")
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of the table")
    options = parser.parse_args()

    rows = [row for size in options.sizes for row in compare(size, options.runs, options.threads)]
    if options.json:
        print(json.dumps(rows, indent=2))
        return
    packages = ("ioukit", "numpy", "ensemble-boxes", "numba", "torch", "torchvision")
    print(f"{described(*packages)}\n")
    print("| work | boxes | library | median | time over ioukit's | left |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for row in rows:
        time_ms = 1e3 * float(str(row["seconds"]))
        ratio = float(str(row["ratio"]))
        cells = (
            row["work"],
            f"{row['boxes']:,}",
            row["library"],
            f"{time_ms:.2f} ms",
            f"{ratio:.1f}",
            f"{row['kept']:,}",
        )
        print(f"| {' | '.join(map(str, cells))} |")


if __name__ == "__main__":
    main()
