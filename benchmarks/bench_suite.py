"""One number over many data sets: 100 sets of 500 images, read and evaluated in one process, and the mean of AP.

    pip install ".[bench]"
    python benchmarks/bench_suite.py bench-data/suite

The files of the first call stay in the folder. Peers are called once for each data set, in one process, too. Fresh
processes in turns, medians; the start of the interpreter counts. All must find the same mean. The command of ioukit
without intervals and with them is measured besides.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
from pathlib import Path

from _fresh import Run, run_command, run_in_turns
from _machine import described

MAKE = """
import sys
from pathlib import Path
import make_coco
folder, count, images = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
(folder / "gt").mkdir(parents=True, exist_ok=True)
(folder / "dt").mkdir(exist_ok=True)
for number in range(count):
    world = make_coco.make_world(images, 20170901 + number)
    make_coco.write_ground_truth(folder / f"gt/{number}.json", world)
    found = make_coco.detect(world, 77 + number, per_image=None)
    make_coco.write_detections(folder / f"dt/{number}.json", world, found, decimals=(3, 5))
lines = [f'{number} = "gt/{number}.json"\\n' for number in range(count)]
(folder / "suite.toml").write_text("[sets]\\n" + "".join(lines) + '[models]\\nfirst = "dt/{set}.json"\\n')
"""
OURS = """
import sys
from ioukit import evaluate, read_coco
from ioukit.comparison import evaluate_suite
folder, count = sys.argv[1], int(sys.argv[2])
sets = {
    str(number): {"first": evaluate(*read_coco(f"{folder}/gt/{number}.json", f"{folder}/dt/{number}.json"))}
    for number in range(count)
}
print(repr(float(evaluate_suite(sets, replicates=0).means[0])))
"""
COCO_STYLE = """
import contextlib, io, sys
folder, count = sys.argv[1], int(sys.argv[2])
found = []
with contextlib.redirect_stdout(io.StringIO()):
    for number in range(count):
        truth = read(f"{folder}/gt/{number}.json")
        e = COCOeval(truth, truth.loadRes(f"{folder}/dt/{number}.json"), "bbox")
        e.evaluate()
        e.accumulate()
        e.summarize()
        found.append(float(e.stats[0]))
print(repr(sum(found) / len(found)))
"""
PROGRAMS = {
    "ioukit": OURS,
    "ultrafast-pycocotools": "from ultrafast_pycocotools import COCO, COCOeval\n"
    "read = lambda path: COCO(path, verbose=False)\n" + COCO_STYLE,
    "faster-coco-eval": "from faster_coco_eval import COCO, COCOeval_faster as COCOeval\nread = COCO\n" + COCO_STYLE,
    "pycocotools": "from pycocotools.coco import COCO\nfrom pycocotools.cocoeval import COCOeval\nread = COCO\n"
    + COCO_STYLE,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the data sets are, or are written")
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--engines", nargs="*", default=[*PROGRAMS], choices=[*PROGRAMS])
    options = parser.parse_args()
    count = str(options.sets)
    if not (options.folder / "suite.toml").exists():
        make = [sys.executable, "-c", MAKE, str(options.folder.resolve()), count, str(options.images)]
        subprocess.run(make, check=True, cwd=Path(__file__).parent)
    runs = run_in_turns(
        {name: PROGRAMS[name] for name in ("ioukit", *options.engines)}, options.runs, str(options.folder), count
    )
    command = [sys.executable, "-m", "ioukit", "suite", str(options.folder / "suite.toml"), "--quiet"]
    runs["ioukit suite --replicates 0"] = [run_command([*command, "--replicates", "0"]) for _ in range(options.runs)]
    runs["ioukit suite"] = [run_command(command)]
    print(f"{described('ioukit', 'numpy', *[name for name in runs if name in PROGRAMS][1:])}\n")
    print(f"### {options.sets} data sets of {options.images} images, median of {options.runs}\n")
    print("| engine | time | time / ioukit | peak memory | mean AP |\n| --- | ---: | ---: | ---: | --- |")
    ours = middle(runs["ioukit"])
    for name, found in runs.items():
        mean = found[0].output.strip() if name in PROGRAMS else ""
        peak = max(one.peak for one in found) / 1e6
        print(f"| {name} | {middle(found):.2f} s | {middle(found) / ours:.2f} | {peak:,.0f} MB | {mean} |")


def middle(runs: list[Run]) -> float:
    return statistics.median(run.wall for run in runs)


if __name__ == "__main__":
    main()
