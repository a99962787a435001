"""Evaluation in parts beside evaluation in memory: time, peak memory and disk, at 5 and more million detections.

    pip install '.[tables]' && python benchmarks/make_coco.py bench-data x10 x100 --parquet
    python benchmarks/bench_scale.py bench-data --sizes 10 100 --memory 2GB
    python benchmarks/bench_scale.py bench-data --sizes 10 --parts 200

Each run is a fresh process. In memory, the folder of Parquet files is read as a whole, then evaluated. CPU is of all
threads. Both must find the same numbers. With ``--errors``, the kinds of errors and the best F1 are among them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from _machine import described

RUN = """
import json, resource, sys, time
from ioukit import Detections, evaluate, scale
from ioukit.cli._tables import analyse
from ioukit.datasets import read
from ioukit.scale import open_detections

how, gt, dt, memory, work, near, parts = sys.argv[1:]
gt, near, parts = read(gt), float(near) or None, int(parts) or None
start, cpu = time.perf_counter(), time.process_time()
if how == "memory":
    evaluation = evaluate(gt, Detections.concat(list(open_detections(dt, gt).batches())), near=near)
else:
    evaluation = scale.evaluate(gt, dt, memory=memory, work=work, near=near, parts=parts)
summary = {**evaluation.summary, **({"errors": analyse(evaluation, threads=None)} if near else {})}
print(json.dumps({
    "seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, "summary": summary,
    "detections": evaluation.counts["detections"],
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
}))
"""


def run(how: str, gt: Path, dt: Path, memory: str, near: float, parts: int) -> dict[str, Any]:
    """One evaluation in a fresh process; ``disk`` is what its folder holds at the end.

    Args:
        how: ``"memory"`` or ``"parts"``.
        gt: The ground truth.
        dt: The detections.
        memory: The memory to stay under.
        near: The least IoU of near pairs, for the kinds of errors; 0 for none.
        parts: Into how many parts the images are cut; 0 for as many as the memory asks for.
    """
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "work"
        command = [sys.executable, "-c", RUN, how, str(gt), str(dt), memory, str(work), str(near), str(parts)]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        found: dict[str, Any] = json.loads(done.stdout)
        found["disk"] = sum(file.stat().st_size for file in work.rglob("*") if file.is_file())
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10])
    parser.add_argument("--memory", default="2GB")
    parser.add_argument("--parts", type=int, default=0, help="0: as many as the memory asks for")
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--in-memory-up-to", type=int, default=10, help="larger sizes are evaluated in parts alone")
    options = parser.parse_args()
    print(described())
    print(f"{'data':24} {'how':8} {'seconds':>8} {'CPU':>7} {'us/det':>7} {'peak MB':>8} {'disk MB':>8} {'/input':>7}")
    for size in options.sizes:
        gt = options.folder / f"gt_x{size}_parquet.json"
        for name in (f"dt_x{size}.parquet", f"dt_x{size}_shuffled.parquet"):
            dt = options.folder / name
            if not dt.is_dir():
                continue
            given = sum(file.stat().st_size for file in dt.iterdir())
            summaries = []
            for how in ("memory", "parts") if size <= options.in_memory_up_to else ("parts",):
                runs = [
                    run(how, gt, dt, options.memory, 0.1 * options.errors, options.parts) for _ in range(options.runs)
                ]
                summaries += [one["summary"] for one in runs]
                best = min(runs, key=lambda one: float(one["seconds"]))
                print(
                    f"{name:24} {how:8} {best['seconds']:8.2f} {best['cpu']:7.2f} "
                    f"{best['cpu'] / best['detections'] * 1e6:7.2f} {max(one['peak'] for one in runs) / 1e6:8.0f} "
                    f"{best['disk'] / 1e6:8.0f} {best['disk'] / given:7.2f}",
                    flush=True,
                )
            assert all(summary == summaries[0] for summary in summaries), "the numbers differ"


if __name__ == "__main__":
    main()
