"""A ledger: listing a thousand runs, adding one relative to evaluating, reading one back, and its size.

    pip install . && python benchmarks/make_coco.py bench-data small large
    python benchmarks/bench_ledger.py bench-data

Commands run in fresh processes; the least time of several is shown, and beside it that of a Python that does nothing.
Everything else runs in one process, in turns with `ioukit.evaluate`.
"""

from __future__ import annotations

import argparse
import functools
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from _machine import described

import ioukit
from ioukit.evaluation import Evaluation, save_table
from ioukit.runs import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable


def least(work: Callable[[], object], runs: int) -> float:
    """The least time of several runs, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def command(*words: str) -> Callable[[], object]:
    """A command in a fresh process."""
    return lambda: subprocess.run([sys.executable, *words], check=True, capture_output=True)


def filled(path: Path, runs: int) -> Ledger:
    """A ledger with many runs of a few hundred detections on a hundred images, each with a table of its own."""
    ledger = Ledger(path)
    folder = Path(__file__).parent.parent / "examples" / "coco_val2017_100"
    gt, dt = ioukit.read_coco(folder / "ground_truth.json", folder / "yolact.json")
    evaluations = [ioukit.evaluate(gt, dt[dt.scores > 0.3 + 0.001 * step]) for step in range(100)]
    for run in range(runs):
        evaluation = evaluations[run % len(evaluations)]
        ledger.add(
            evaluation, name=f"model {run % 20}", tags={"lr": f"{run}e-4"}, values={"latency": 10 + run / 7}, inputs={}
        )
    return ledger


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder that make_coco.py wrote")
    parser.add_argument("--runs", type=int, default=7, help="how often each thing is timed")
    parser.add_argument("--entries", type=int, default=1000, help="runs in the ledger that is listed")
    options = parser.parse_args()
    print(described("ioukit", "numpy"))
    with tempfile.TemporaryDirectory() as folder:
        many = filled(Path(folder) / "many.db", options.entries)
        size = Path(many.path).stat().st_size
        idle = least(command("-c", "pass"), options.runs)
        for words in (["--json"], [], ["--sort", "AP", "--last", "10"]):
            listed = least(command("-m", "ioukit", "runs", "--log", many.path, *words), options.runs)
            print(f"ioukit runs {' '.join(words):24} {listed:6.3f} s  (python -c pass: {idle:.3f} s)")
        taken = least(many.runs, options.runs)
        print(f"ledger.runs(): {taken * 1e3:.1f} ms; {size / options.entries / 1e3:.1f} kB per run in all")
        for name in ("dt_small", "dt_large"):
            gt, dt = ioukit.read_coco(options.folder / "gt.json", options.folder / f"{name}.json")
            ledger = Ledger(Path(folder) / f"{name}.db")

            def evaluate(gt: ioukit.GroundTruth = gt, dt: ioukit.Detections = dt) -> Evaluation:
                return ioukit.evaluate(gt, dt)

            def add(ledger: Ledger = ledger, evaluate: Callable[[], Evaluation] = evaluate) -> object:
                return ledger.add(evaluate(), name="B", inputs={})

            whole = least(evaluate, options.runs)
            added = least(add, options.runs) - whole
            read = least(functools.partial(ledger.evaluation, "B"), options.runs)
            table = Path(folder) / f"{name}.npz"
            save_table(evaluate().near_matches(), table)
            kept, file = ledger.run("B").table_bytes / 1e6, table.stat().st_size / 1e6
            print(
                f"{len(dt):>9,} detections: evaluate {whole * 1e3:6.1f} ms, add {added / whole:5.2f} x, read and "
                f"accumulate {read / whole:5.2f} x, {kept:5.2f} MB ({file:.2f} MB as .npz)"
            )


if __name__ == "__main__":
    main()
