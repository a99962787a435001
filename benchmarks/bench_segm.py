"""COCO evaluation of masks against its peers: from two files to the twelve numbers, each engine in a fresh process.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data segm
    python benchmarks/bench_segm.py bench-data

The masks of the detections are compressed RLE, those of the ground truth polygons. As in `bench_eval.py`, engines take
turns, an engine that is not installed is left out, and all must print the same twelve numbers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from _machine import described
from bench_eval import ENGINES, bench_evaluate, installed


def main() -> None:
    names = [name for name, engine in ENGINES.items() if engine.evaluate]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_coco.py")
    parser.add_argument("--detections", type=Path, help="results with masks (default: dt_segm.json in the folder)")
    parser.add_argument("--ground-truth", type=Path, help="annotations (default: gt.json in the folder)")
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    engines = installed(options.engines)
    print(described(*engines))
    ground_truth = options.ground_truth or options.data / "gt.json"
    detections = options.detections or options.data / "dt_segm.json"
    bench_evaluate("masks", ground_truth, detections, engines, options.rounds, "segm")


if __name__ == "__main__":
    main()
