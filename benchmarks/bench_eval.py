"""COCO evaluation against its peers: from two files to the twelve numbers, each engine in a fresh process.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data small large x10
    python benchmarks/bench_eval.py bench-data

Engines take turns, so that a busy minute of the machine falls on all of them; the tables show medians. An engine that
is not installed is left out. All engines must print the same twelve numbers: a difference beyond the last digits stops
the benchmark, one within them is shown in the column "numbers".
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from _fresh import Run, run_command, run_program
from _machine import described

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

QUIET = "import contextlib, io, json, sys\ngt, dt, kind, *_ = [*sys.argv[1:], 'bbox']\n"


@dataclass(frozen=True)
class Engine:
    """An engine: the package that brings it, and the programs that use it as its own documentation does."""

    package: str
    evaluate: str  # prints the numbers of the summary as JSON; `kind` is the kind of region
    read: str | None = None  # leaves both files in the engine's own form in memory; None: no reader of its own


ENGINES = {
    "ioukit": Engine(
        "ioukit",
        "import ioukit\nr = ioukit.evaluate(gt, dt, iou_type=kind)\nprint(json.dumps(list(r.summary.values())))",
        "from ioukit import read_coco\nstart()\nread_coco(gt, dt)\nstop()",
    ),
    "hotcoco": Engine(
        "hotcoco",
        "from hotcoco import COCO, COCOeval\ng = COCO(gt)\ne = COCOeval(g, g.load_res(dt), kind)\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n    e.run()\nprint(json.dumps(list(e.stats)))",
        "from hotcoco import COCO\nstart()\nCOCO(gt).load_res(dt)\nstop()",
    ),
    "ultrafast-pycocotools": Engine(
        "ultrafast_pycocotools",
        "from ultrafast_pycocotools import COCO, COCOeval\nwith contextlib.redirect_stdout(io.StringIO()):\n"
        "    g = COCO(gt, verbose=False)\n    e = COCOeval(g, g.loadRes(dt), kind)\n"
        "    e.evaluate()\n    e.accumulate()\n    e.summarize()\nprint(json.dumps([float(x) for x in e.stats]))",
        "from ultrafast_pycocotools import COCO\nstart()\nCOCO(gt, verbose=False).loadRes(dt)\nstop()",
    ),
    "faster-coco-eval": Engine(
        "faster_coco_eval",
        "from faster_coco_eval import COCO, COCOeval_faster\nwith contextlib.redirect_stdout(io.StringIO()):\n"
        "    g = COCO(gt)\n    e = COCOeval_faster(g, g.loadRes(dt), kind)\n"
        "    e.evaluate()\n    e.accumulate()\n    e.summarize()\nprint(json.dumps([float(x) for x in e.stats[:12]]))",
    ),
    "pycocotools": Engine(
        "pycocotools",
        "from pycocotools.coco import COCO\nfrom pycocotools.cocoeval import COCOeval\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    g = COCO(gt)\n    e = COCOeval(g, g.loadRes(dt), kind)\n"
        "    e.evaluate()\n    e.accumulate()\n    e.summarize()\nprint(json.dumps(e.stats.tolist()))",
    ),
    # Not an evaluator: the fastest way to the same columns that a user could write in Python.
    "orjson + NumPy": Engine(
        "orjson",
        "",
        "import numpy as np, orjson\nstart()\nrows = orjson.loads(open(dt, 'rb').read())\n"
        "np.array([r['image_id'] for r in rows]), np.array([r['category_id'] for r in rows])\n"
        "np.array([r['bbox'] for r in rows]), np.array([r['score'] for r in rows])\nstop()",
    ),
}
# The clock runs in the process that reads: the start of the interpreter and the imports are not the subject.
CLOCK = (
    "import time\ndef start():\n    global t\n    t = time.perf_counter()\n"
    "def stop():\n    print(time.perf_counter() - t)\n"
)
SIZES = {
    "small": ("gt.json", "dt_small.json"),
    "large": ("gt.json", "dt_large.json"),
    "x10": ("gt_x10.json", "dt_x10.json"),
}
# They would take minutes, and pycocotools 13 GB.
SLOW = {"x10": {"pycocotools", "faster-coco-eval"}}


def installed(names: Sequence[str]) -> dict[str, Engine]:
    return {name: ENGINES[name] for name in names if importlib.util.find_spec(ENGINES[name].package)}


def take_turns(tasks: Mapping[str, Callable[[], Run]], rounds: int) -> dict[str, list[Run]]:
    """Runs every task once a round, each round beginning with another one."""
    names = list(tasks)
    runs: dict[str, list[Run]] = {name: [] for name in names}
    for i in range(rounds):
        for name in names[i % len(names) :] + names[: i % len(names)]:
            runs[name].append(tasks[name]())
            print(f"  {name:24s} {runs[name][-1].wall:8.3f} s", file=sys.stderr)
    return runs


def wall(runs: Sequence[Run]) -> float:
    return statistics.median(run.wall for run in runs)


def peak_mb(runs: Sequence[Run]) -> float:
    return statistics.median(run.peak for run in runs) / 1e6


def compare_numbers(runs: Mapping[str, Sequence[Run]]) -> dict[str, str]:
    """Says how far each engine's numbers are from those of pycocotools, or of the first engine without it."""
    numbers = {name: json.loads(r[0].output.splitlines()[-1]) for name, r in runs.items()}
    # Undefined is -1 for the peers and NaN for ioukit.
    numbers = {name: [-1.0 if math.isnan(x) else x for x in n] for name, n in numbers.items()}
    reference = numbers.get("pycocotools", next(iter(numbers.values())))
    words = {}
    for name, n in numbers.items():
        gap = max(abs(a - b) for a, b in zip(n, reference, strict=True))
        if gap > 1e-9:
            raise SystemExit(f"{name} disagrees with the others: {n} against {reference}")
        words[name] = "same bits" if gap == 0 else f"within {gap:.0e}"
    return words


def bench_evaluate(
    title: str, gt: Path, dt: Path, engines: Mapping[str, Engine], rounds: int, kind: str = "bbox"
) -> None:
    """Prints the table of all engines that evaluate, for two files of a kind of region."""
    files = str(gt), str(dt), kind
    tasks = {n: (lambda e=e: run_program(QUIET + e.evaluate, *files)) for n, e in engines.items() if e.evaluate}
    runs = take_turns(tasks, rounds)
    agreement = compare_numbers(runs)
    megabytes = (os.path.getsize(gt) + os.path.getsize(dt)) / 1e6
    best = min((wall(r) for n, r in runs.items() if n != "ioukit"), default=float("nan"))
    print(f"\n### {title}: {megabytes:,.0f} MB of files to numbers, fresh process, median of {rounds}\n")
    print("| engine | wall | peak memory | wall / best peer | numbers |\n| --- | ---: | ---: | ---: | --- |")
    for name, r in sorted(runs.items(), key=lambda item: wall(item[1])):
        print(f"| {name} | {wall(r):.3f} s | {peak_mb(r):,.0f} MB | {wall(r) / best:.2f} | {agreement[name]} |")


# Runs in a process of its own: the dictionaries of the whole file would count as the memory of those measured after it.
DROP_ANNOTATIONS = """
import json, sys
dataset = json.load(open(sys.argv[1]))
json.dump({**dataset, "annotations": []}, open(sys.argv[2], "w"))
"""


def bench_read(data: Path, engines: Mapping[str, Engine], rounds: int) -> None:
    """Detections alone: the ground truth has no annotations, so nearly all bytes are those of the results."""
    dt = data / "dt_large.json"
    with tempfile.TemporaryDirectory() as directory:
        gt = Path(directory) / "images.json"
        run_program(DROP_ANNOTATIONS, str(data / "gt.json"), str(gt))
        tasks = {
            n: (lambda e=e: run_program(QUIET + CLOCK + e.read, str(gt), str(dt))) for n, e in engines.items() if e.read
        }
        runs = take_turns(tasks, rounds)
    seconds = {n: statistics.median(float(run.output) for run in r) for n, r in runs.items()}
    best = min((s for n, s in seconds.items() if n != "ioukit"), default=float("nan"))
    size = dt.stat().st_size
    print(f"\n### reading dt_large.json ({size / 1e6:,.0f} MB) into memory, median of {rounds}\n")
    print("| reader | time | speed | speed / best peer | peak memory |\n| --- | ---: | ---: | ---: | ---: |")
    for name, s in sorted(seconds.items(), key=lambda item: item[1]):
        speed, peak = size / s / 1e6, peak_mb(runs[name])
        print(f"| {name} | {s * 1e3:,.0f} ms | {speed:,.0f} MB/s | {best / s:.2f} | {peak:,.0f} MB |")


def bench_command(data: Path, rounds: int) -> None:
    """The command `ioukit eval` against the same through the Python API."""
    command = shutil.which("ioukit", path=str(Path(sys.executable).parent)) or shutil.which("ioukit")
    if command is None:
        return
    gt, dt = (str(data / name) for name in SIZES["small"])
    program = QUIET + "import ioukit\nprint(ioukit.evaluate(*ioukit.read_coco(gt, dt)).table())"
    runs = take_turns(
        {
            "Python API": lambda: run_program(program, gt, dt),
            "ioukit eval": lambda: run_command([command, "eval", gt, dt]),
            "ioukit eval --json": lambda: run_command([command, "eval", gt, dt, "--json"]),
        },
        rounds,
    )
    base = wall(runs["Python API"])
    print(f"\n### the command on the small files, median of {rounds}\n")
    print("| way | wall | more than the API | peak memory |\n| --- | ---: | ---: | ---: |")
    for name, r in runs.items():
        print(f"| {name} | {wall(r) * 1e3:.0f} ms | {(wall(r) - base) * 1e3:+.0f} ms | {peak_mb(r):,.0f} MB |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_coco.py")
    parser.add_argument("--sizes", nargs="+", choices=list(SIZES), default=["small", "large"])
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=list(ENGINES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--skip", nargs="+", choices=["evaluate", "read", "command"], default=[])
    options = parser.parse_args()

    engines = installed(options.engines)
    print(described(*(name.partition(" ")[0] for name in engines)))
    if "evaluate" not in options.skip:
        for size in options.sizes:
            chosen = {name: engine for name, engine in engines.items() if name not in SLOW.get(size, ())}
            gt, dt = (options.data / name for name in SIZES[size])
            bench_evaluate(size, gt, dt, chosen, options.rounds)
    if "read" not in options.skip:
        bench_read(options.data, engines, options.rounds)
    if "command" not in options.skip and "ioukit" in engines:
        bench_command(options.data, options.rounds)


if __name__ == "__main__":
    main()
