"""LVIS's evaluation against its peers: from two files to the thirteen numbers, each engine in a fresh process.

    pip install ".[bench]" lvis
    python benchmarks/make_lvis.py bench-data --images 500
    python benchmarks/make_lvis.py bench-data
    python benchmarks/bench_lvis.py bench-data --images 500 --engines ioukit hotcoco faster-coco-eval lvis
    python benchmarks/bench_lvis.py bench-data

An engine that is not installed is left out. lvis and faster-coco-eval need minutes and many gigabytes for 20,000
images, and take part only if they are named. The last column compares the numbers with those of lvis, or of the first
engine where lvis is left out. lvis 0.5.3 needs NumPy's old name of a float, which is put back here.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import statistics
from pathlib import Path

from _fresh import Run, run_program
from _machine import described

START = (
    "import contextlib, io, json, logging, sys\nlogging.disable()\ngt, dt = sys.argv[1:3]\nprinted = io.StringIO()\n"
)
ENGINES = {
    "ioukit": (
        "ioukit",
        "import ioukit\nfrom ioukit.evaluation.protocols import LVIS\n"
        "print(json.dumps(list(ioukit.evaluate(gt, dt, LVIS).summary.values())))",
    ),
    "hotcoco": (
        "hotcoco",
        "from hotcoco import COCO, LVISEval, LVISResults\nwith contextlib.redirect_stdout(printed):\n    g = COCO(gt)\n"
        "    e = LVISEval(g, LVISResults(g, dt), 'bbox')\n    e.run()\n"
        "k = 'AP AP50 AP75 APs APm APl APr APc APf AR@300 ARs@300 ARm@300 ARl@300'.split()\n"
        "print(json.dumps([float(e.get_results()[x]) for x in k]))",
    ),
    "faster-coco-eval": (
        "faster_coco_eval",
        "from faster_coco_eval import COCO, COCOeval_faster\nwith contextlib.redirect_stdout(printed):\n"
        "    g = COCO(gt)\n    e = COCOeval_faster(g, g.loadRes(dt), 'bbox', lvis_style=True)\n"
        "    e.params.maxDets = [300]\n    e.run()\n"
        "s = e.stats_as_dict\n"
        "k = 'AP_all AP_50 AP_75 AP_small AP_medium AP_large APr APc APf AR_all AR_small AR_medium AR_large'.split()\n"
        "print(json.dumps([float(s[x]) for x in k]))",
    ),
    "lvis": (
        "lvis",
        "import numpy\nnumpy.float = float\nfrom lvis import LVIS, LVISEval, LVISResults\n"
        "g = LVIS(gt)\ne = LVISEval(g, LVISResults(g, dt), 'bbox')\ne.run()\n"
        "print(json.dumps([float(x) for x in e.get_results().values()]))",
    ),
}


def gap(run: Run, reference: Run) -> float:
    """The largest difference between the numbers of two runs; undefined ones are -1 or NaN."""
    numbers, others = (
        [-1.0 if math.isnan(x) else x for x in json.loads(r.output.splitlines()[-1])] for r in (run, reference)
    )
    return float(max(abs(a - b) for a, b in zip(numbers, others, strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_lvis.py")
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--engines", nargs="+", choices=list(ENGINES), default=["ioukit", "hotcoco"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    engines = {n: ENGINES[n] for n in options.engines if importlib.util.find_spec(ENGINES[n][0])}
    suffix = "" if options.images == 20_000 else f"_{options.images}"
    files = [str(options.data / f"{side}_lvis{suffix}.json") for side in ("gt", "dt")]
    runs: dict[str, list[Run]] = {name: [] for name in engines}
    for turn in range(options.rounds):
        names = list(engines)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            runs[name].append(run_program(START + engines[name][1], *files))
    wall = {name: statistics.median(run.wall for run in r) for name, r in runs.items()}
    best = min((seconds for name, seconds in wall.items() if name != "ioukit"), default=math.nan)
    reference = runs["lvis" if "lvis" in runs else next(iter(runs))][0]
    megabytes = sum(Path(path).stat().st_size for path in files) / 1e6
    print(described(*engines))
    print(f"\n### LVIS, {options.images:,} images, {megabytes:,.0f} MB of files to thirteen numbers\n")
    print("| engine | wall | peak memory | wall / best peer | numbers |\n| --- | ---: | ---: | ---: | --- |")
    for name, seconds in sorted(wall.items(), key=lambda item: item[1]):
        peak = statistics.median(run.peak for run in runs[name]) / 1e6
        apart = gap(runs[name][0], reference)
        words = "same bits" if apart == 0 else f"within {apart:.0e}"
        print(f"| {name} | {seconds:.3f} s | {peak:,.0f} MB | {seconds / best:.2f} | {words} |")


if __name__ == "__main__":
    main()
