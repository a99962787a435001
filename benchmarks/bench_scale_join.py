"""Joins and NMS of sets larger than memory against the same in memory: fresh processes in turns, time and peak memory.

    python benchmarks/bench_scale_join.py

The boxes are those of `bench_join.py`, in float32: sides of 10 to 50 pixels, so dense that a box meets about four
others. The second set has the same boxes in another order, moved by some pixels. Chunks of 100,000 boxes are read from
files. The process in memory reads all files first. Both times include the reading. Each row finds the same numbers of
pairs or survivors. Peak memory is that of the process, Python, NumPy and the core included. Time is that of the clock,
and "CPU" the seconds of all cores.
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
first.astype(np.float32).tofile(f"{folder}/first")
second.astype(np.float32).tofile(f"{folder}/second")
((rng.permutation(count) + 1) / count).astype(np.float32).tofile(f"{folder}/scores")
"""

WORK = {
    "join of two sets": (
        "len(ioukit.overlap_join(boxes('first'), boxes('second'), min_iou=0.5))",
        "sum(len(part.rows) for part in scale.overlap_join("
        "chunks('first'), chunks('second'), min_iou=0.5, memory=MEMORY))",
    ),
    "join of one set": (
        "len(ioukit.overlap_join(boxes('first'), min_iou=0.5))",
        "sum(len(part.rows) for part in scale.overlap_join(chunks('first'), min_iou=0.5, memory=MEMORY))",
    ),
    "NMS": (
        "len(ioukit.nms(boxes('first'), scores(), 0.5))",
        "sum(len(part.rows) for part in scale.nms("
        "zip(chunks('first'), score_chunks()), iou_threshold=0.5, memory=MEMORY))",
    ),
}

PROGRAM = """
import sys, time, numpy as np, ioukit
from ioukit import scale
folder, MEMORY = sys.argv[1], "{memory}"
def boxes(name):
    return np.fromfile(f"{{folder}}/{{name}}", np.float32).reshape(-1, 4)
def scores():
    return np.fromfile(f"{{folder}}/scores", np.float32)
def parts(name, wide):
    place = 0
    while len(part := np.fromfile(f"{{folder}}/{{name}}", np.float32, 100_000 * wide, offset=place)):
        place += part.nbytes
        yield part
def chunks(name):
    return (part.reshape(-1, 4) for part in parts(name, 4))
def score_chunks():
    return parts("scores", 1)
ioukit.nms([[0, 0, 1, 1]], [1], 0.5)
start, cpu = time.perf_counter(), time.process_time()
found = {work}
print(time.perf_counter() - start, time.process_time() - cpu, found)
"""


def compare(count: int, runs: int, memories: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        run_program(DATA, str(count), folder)
        for name, (in_memory, in_parts) in WORK.items():
            programs = {"in memory": PROGRAM.format(work=in_memory, memory="")}
            programs |= {f"memory={memory}": PROGRAM.format(work=in_parts, memory=memory) for memory in memories}
            taken = run_in_turns(programs, runs, folder)
            base = [0.0, 0.0]
            for engine, own in taken.items():
                seconds, cpu = (statistics.median(float(run.output.split()[k]) for run in own) for k in (0, 1))
                base = base if base[0] else [seconds, cpu]
                peak = statistics.median(run.peak for run in own) / 1e6
                print(
                    f"| {count:,} | {name} | {engine} | {seconds:.2f} s | {seconds / base[0]:.1f} x | {cpu:.2f} s "
                    f"| {cpu / base[1]:.1f} x | {peak:.0f} MB | {int(own[-1].output.split()[2]):,} |"
                )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3, help="fresh processes per engine (default: 3)")
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000_000], help="boxes in each set")
    parser.add_argument("--memory", nargs="+", default=["250MB", "1GB"], help="memory of the joins in parts")
    options = parser.parse_args()

    print(f"{described('ioukit', 'numpy')}\n")
    print("| Boxes | Work | Engine | Time | | CPU | | Peak memory | Found |")
    print("|---:|---|---|---:|---:|---:|---:|---:|---:|")
    for count in options.sizes:
        compare(count, options.runs, options.memory)


if __name__ == "__main__":
    main()
