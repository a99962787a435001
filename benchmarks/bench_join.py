"""Sparse joins against other libraries: fresh processes in turns, medians of time, and peak memory.

    pip install 'ioukit[bench]' && python benchmarks/bench_join.py

Both sets hold the same boxes in another order, the second with corners moved by some pixels, as predictions are: sides
of 10 to 50 pixels, so dense that a box meets about four others, of which about one reaches IoU 0.5. Every library goes
from two float32 arrays in memory to the pairs with IoU >= 0.5 and their IoU, and each finds the same number:

- geoindex-rs: two packed R-trees, `tree_join`, then IoU of the candidates by NumPy;
- SciPy: two `cKDTree` of the centres, `sparse_distance_matrix` within half the largest side (IoU 0.5 implies it), then
  IoU of the candidates by NumPy;
- Shapely: `STRtree.query` of all boxes, then IoU of the candidates by NumPy; making its geometries is not timed.

A peer that is not installed is left out. Peak memory is that of the process, Python, NumPy and both sets included.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile

from _fresh import run_in_turns, run_program
from _machine import described

DATA = """
import sys, numpy as np
count, folder = int(sys.argv[1]), sys.argv[2]
rng = np.random.default_rng(0)
low = rng.uniform(0, 30 * count**0.5, (count, 2))
first = np.concatenate([low, low + rng.uniform(10, 50, (count, 2))], axis=1)
second = first[rng.permutation(count)] + rng.normal(0, 3, (count, 4))
second[:, 2:] = np.maximum(second[:, 2:], second[:, :2] + 1)
np.save(f"{folder}/first.npy", first.astype(np.float32))
np.save(f"{folder}/second.npy", second.astype(np.float32))
"""

# Defines `join(first, second)`, and where that is in its favour `prepare(boxes)`, which is not timed.
JOINS = {
    "ioukit": """
from ioukit import overlap_join
def join(first, second):
    pairs = overlap_join(first, second, min_iou=0.5, threads=THREADS)
    return pairs.rows, pairs.columns, pairs.values
""",
    "geoindex-rs": """
from geoindex_rs import rtree
def tree(boxes):
    builder = rtree.RTreeBuilder(len(boxes), coord_type="float32")
    builder.add(*(np.ascontiguousarray(column) for column in boxes.T))
    return builder.finish()
def join(first, second):
    found = rtree.tree_join(tree(first), tree(second))
    return reaching(first, second, np.asarray(found["left"]), np.asarray(found["right"]))
""",
    "scipy cKDTree": """
from scipy.spatial import cKDTree
def tree(boxes):
    return cKDTree((boxes[:, :2] + boxes[:, 2:]) / 2)
def join(first, second):
    largest = max((boxes[:, 2:] - boxes[:, :2]).max() for boxes in (first, second))
    found = tree(first).sparse_distance_matrix(tree(second), largest / 2, p=np.inf, output_type="ndarray")
    return reaching(first, second, found["i"], found["j"])
""",
    "shapely STRtree": """
import shapely
def prepare(boxes):
    return boxes, shapely.box(*boxes.T)
def join(first, second):
    (first, queries), (second, geometries) = first, second
    return reaching(first, second, *shapely.STRtree(geometries).query(queries))
""",
}

PROGRAM = """
import sys, time, numpy as np
THREADS = int(sys.argv[2]) or None
def prepare(boxes):
    return boxes
def reaching(first, second, rows, columns):
    a, b = first[rows], second[columns]
    size = np.minimum(a[:, 2:], b[:, 2:]) - np.maximum(a[:, :2], b[:, :2])
    inter = size.clip(0).prod(axis=1)
    iou = inter / ((a[:, 2:] - a[:, :2]).prod(axis=1) + (b[:, 2:] - b[:, :2]).prod(axis=1) - inter)
    keep = iou >= 0.5
    return rows[keep], columns[keep], iou[keep]
{join}
first, second = (np.load(f"{{sys.argv[1]}}/{{name}}.npy") for name in ("first", "second"))
join(prepare(first[:10_000]), prepare(second[:10_000]))
first, second = prepare(first), prepare(second)
start = time.perf_counter()
rows, columns, values = join(first, second)
print(time.perf_counter() - start, len(rows))
"""


def compare(count: int, runs: int, threads: int) -> None:
    programs = {name: PROGRAM.format(join=join) for name, join in JOINS.items()}
    with tempfile.TemporaryDirectory() as folder:
        run_program(DATA, str(count), folder)
        taken = run_in_turns(programs, runs, folder, str(threads))
    seconds = {name: statistics.median(float(run.output.split()[0]) for run in own) for name, own in taken.items()}
    for name, own in taken.items():
        ratio, peak = seconds[name] / seconds["ioukit"], statistics.median(run.peak for run in own) / 1e6
        pairs = int(own[-1].output.split()[1])
        print(
            f"| {count:,} x {count:,} | {name} | {seconds[name] * 1e3:.1f} ms | {ratio:.1f} x | {peak:.0f} MB "
            f"| {pairs:,} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5, help="fresh processes per library and size (default: 5)")
    parser.add_argument("--threads", type=int, default=0, help="threads of ioukit; 0 means all cores (default)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000], help="boxes in each set")
    options = parser.parse_args()

    packages = ("ioukit", "numpy", "geoindex-rs", "scipy", "shapely")
    print(f"{described(*packages)}\n")
    print("| work | library | median | time over ioukit's | peak memory | pairs |")
    print("| --- | --- | --- | --- | --- | --- |")
    for size in options.sizes:
        compare(size, options.runs, options.threads)


if __name__ == "__main__":
    main()
