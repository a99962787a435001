"""Detections without scores beside the same with scores: files to numbers, in fresh processes.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data small large
    python benchmarks/bench_unranked.py bench-data

With scores, the numbers are COCO's; without, those of the protocol `unranked`, whose pairs are made together. The files
without scores are written into the folder.
"""

from __future__ import annotations

import argparse
import re
import statistics
from pathlib import Path

from _fresh import run_in_turns
from _machine import described

PROGRAM = """
import sys, ioukit
folder, size = sys.argv[1:]
evaluation = ioukit.evaluate(f"{{folder}}/gt.json", f"{{folder}}/dt_{{size}}{suffix}.json")
numbers = [f"{{key}}={{evaluation.summary[key]:.4f}}" for key in evaluation.protocol.headline_keys]
print(evaluation.protocol.name, *numbers)
"""
PROGRAMS = {"with scores": PROGRAM.format(suffix=""), "without": PROGRAM.format(suffix="_unscored")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of make_coco.py")
    parser.add_argument("--sizes", nargs="*", default=["small", "large"])
    parser.add_argument("--runs", type=int, default=9)
    options = parser.parse_args()
    print(f"{described('ioukit', 'numpy')}\n")
    print("| data | detections | time | peak memory | numbers |\n| --- | --- | ---: | ---: | --- |")
    for size in options.sizes:
        text = (options.folder / f"dt_{size}.json").read_text()
        (options.folder / f"dt_{size}_unscored.json").write_text(re.sub(r', *"score": *[-+.e0-9]+', "", text))
        del text
        for name, runs in run_in_turns(PROGRAMS, options.runs, str(options.folder), size).items():
            wall = statistics.median(run.wall for run in runs)
            peak = max(run.peak for run in runs) / 1e6
            print(f"| {size} | {name} | {wall:.3f} s | {peak:,.0f} MB | {runs[0].output.strip()} |")


if __name__ == "__main__":
    main()
