"""COCO evaluation of masks and keypoints against its peers, from two files to the numbers, in fresh processes.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data segm keypoints
    python benchmarks/bench_kinds.py bench-data

The masks of the detections are compressed RLE, those of the ground truth polygons; `boundary` compares the same files
by Boundary IoU. As in `bench_eval.py`, engines take turns, an engine that is not installed is left out, and all must
print the same numbers.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from _machine import described
from bench_eval import ENGINES, bench_evaluate, installed

FILES = {
    "segm": ("gt.json", "dt_segm.json"),
    "keypoints": ("gt_keypoints.json", "dt_keypoints.json"),
    "boundary": ("gt.json", "dt_segm.json"),
}
# The others do not know Boundary IoU.
KNOWING = {"boundary": {"ioukit", "faster-coco-eval"}}


def main() -> None:
    names = [name for name, engine in ENGINES.items() if engine.evaluate]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_coco.py")
    parser.add_argument("--kinds", nargs="+", choices=list(FILES), default=list(FILES))
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    print(described(*installed(options.engines)))
    for kind in options.kinds:
        engines = installed([name for name in options.engines if name in KNOWING.get(kind, set(names))])
        truth, found = (options.data / name for name in FILES[kind])
        bench_evaluate(kind, truth, found, engines, options.rounds, kind)


if __name__ == "__main__":
    main()
