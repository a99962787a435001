"""Replicates of the bootstrap: 1,000 data sets of drawn images, two models, the twelve numbers of COCO.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data small large
    python benchmarks/bench_statistics.py bench-data

ioukit weighs the images of two match tables. Peers evaluate data sets that were drawn and written to files before, and
only reading and evaluating are measured: drawing and writing cost more. A few of their replicates are measured and
scaled; ours are measured in full. Fresh processes in turns, medians. "CPU" is the time of all threads, which other work
on the machine changes little.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import subprocess
import sys
from pathlib import Path

from _fresh import run_program
from _machine import described

# NumPy is not imported here: a child inherits the peak of a large parent.

MAKE = """
import sys
from pathlib import Path
import make_coco
size, model = sys.argv[1], Path(sys.argv[2])
world = make_coco.make_world(5_000, 20170901)
per_image, decimals = (None, (3, 5)) if size == "small" else (100, None)
if not model.exists():
    found = make_coco.detect(world, 20170901 + 77, per_image=per_image)
    make_coco.write_detections(model, world, found, decimals=decimals)
"""
DRAW = """
import sys
import numpy as np, orjson
gt, *found, count = sys.argv[1:]
truth = orjson.loads(open(gt, "rb").read())
models = [orjson.loads(open(path, "rb").read()) for path in found]
images = truth["images"]
ids = [image["id"] for image in images]

def by_image(records):
    rows = {}
    for record in records:
        rows.setdefault(record["image_id"], []).append(record)
    return rows

objects, detections = by_image(truth["annotations"]), [by_image(model) for model in models]
for number in range(int(count)):
    drawn = np.random.default_rng(number).integers(0, len(ids), len(ids)).tolist()
    annotations = [
        {**each, "image_id": new, "id": 0} for new, old in enumerate(drawn, 1) for each in objects.get(ids[old], [])
    ]
    for at, each in enumerate(annotations, 1):
        each["id"] = at
    listed = [{**images[old], "id": new} for new, old in enumerate(drawn, 1)]
    with open(f"{gt}.{number}", "wb") as file:
        file.write(orjson.dumps({**truth, "images": listed, "annotations": annotations}))
    for path, rows in zip(found, detections):
        with open(f"{path}.{number}", "wb") as file:
            file.write(orjson.dumps(
                [{**each, "image_id": new} for new, old in enumerate(drawn, 1) for each in rows.get(ids[old], [])]
            ))
"""
OURS = """
import json, sys, time
import numpy as np
import ioukit
from ioukit.evaluation import accumulate
from ioukit.statistics import bootstrap_weights, compare, intervals, replicate
gt, a, b, count = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
one, other = (ioukit.evaluate(*ioukit.read_coco(gt, path)) for path in (a, b))
taken = {}

def measure(name, function):
    start, cpu = time.perf_counter(), time.process_time()
    function()
    taken[name] = (time.perf_counter() - start, time.process_time() - cpu)

def pair():
    for each in (one, other):
        accumulate(each.matches)

def replicates():
    weights = bootstrap_weights(one.matches.image_ids, count)
    for each in (one, other):
        replicate(each.matches, weights)

pair()
measure("accumulate pair", pair)
measure("replicates", replicates)
measure("compare", lambda: compare(one, other, replicates=count, permutations=count))
measure("intervals", lambda: intervals(one, replicates=count))
print(json.dumps(taken))
"""
TIMED = """
import contextlib, io, json, sys, time
gt, *found, count = sys.argv[1:]
numbers = []
with contextlib.redirect_stdout(io.StringIO()):
    start, cpu = time.perf_counter(), time.process_time()
    for number in range(int(count)):
        truth = read(f"{gt}.{number}")
        for path in found:
            numbers.append(evaluated(truth, f"{path}.{number}"))
    taken = (time.perf_counter() - start, time.process_time() - cpu)
print(json.dumps([taken, numbers]))
"""
COCO_STYLE = """
def evaluated(truth, path):
    e = COCOeval(truth, truth.loadRes(path), "bbox")
    e.evaluate()
    e.accumulate()
    e.summarize()
    return [float(x) for x in e.stats[:12]]
"""
PEERS = {
    "hotcoco": "from hotcoco import COCO, COCOeval\nread = COCO\ndef evaluated(truth, path):\n"
    "    e = COCOeval(truth, truth.load_res(path), 'bbox')\n    e.run()\n    return list(e.stats)\n",
    "ultrafast_pycocotools": "from ultrafast_pycocotools import COCO, COCOeval\n"
    "read = lambda path: COCO(path, verbose=False)\n" + COCO_STYLE,
    "faster_coco_eval": "from faster_coco_eval import COCO, COCOeval_faster as COCOeval\nread = COCO\n" + COCO_STYLE,
}
SAME = """
import json, sys
import numpy as np
import ioukit
from ioukit.statistics import replicate
gt, *found, count = sys.argv[1:]
values = []
for path in found:
    table = ioukit.evaluate(*ioukit.read_coco(gt, path)).matches
    size = len(table.image_ids)
    draws = [np.random.default_rng(number).integers(0, size, size) for number in range(int(count))]
    weights = np.array([np.bincount(draw, minlength=size) for draw in draws])
    values.append(replicate(table, weights).values.tolist())
print(json.dumps([values[model][number] for number in range(int(count)) for model in range(len(found))]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where make_coco.py wrote")
    parser.add_argument("--sets", nargs="*", default=["small", "large"], choices=["small", "large"])
    parser.add_argument("--replicates", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--drawn", type=int, default=3, help="replicates that the peers evaluate")
    options = parser.parse_args()
    peers = [name for name in PEERS if importlib.util.find_spec(name)]
    print(f"{described('ioukit', 'numpy', *(name.replace('_', '-') for name in peers))}\n")
    for name in options.sets:
        measure(options, name, peers)


def measure(options: argparse.Namespace, name: str, peers: list[str]) -> None:
    files = [str(options.folder / file) for file in ("gt.json", f"dt_{name}.json", f"dt_{name}_other.json")]
    subprocess.run([sys.executable, "-c", MAKE, name, files[2]], check=True, cwd=Path(__file__).parent)
    count = options.replicates
    if peers:
        run_program(DRAW, *files, str(options.drawn))
        expected = json.loads(run_program(SAME, *files, str(options.drawn)).output)
    ours = []
    theirs: dict[str, list[list[float]]] = {peer: [] for peer in peers}
    for _ in range(options.runs):
        ours.append(json.loads(run_program(OURS, *files, str(count)).output))
        for peer in peers:
            taken, numbers = json.loads(run_program(PEERS[peer] + TIMED, *files, str(options.drawn)).output)
            theirs[peer].append(taken)
            rows = zip(numbers, expected, strict=True)
            apart = max(abs(x - y) for one, other in rows for x, y in zip(one, other, strict=True))
            print(f"  {peer}: largest difference to ioukit {apart:.1e}", file=sys.stderr)
    wall, cpu = middle([run["replicates"] for run in ours])
    pair = middle([run["accumulate pair"] for run in ours])
    print(f"### {name}: {count:,} paired replicates of twelve numbers, median of {options.runs}\n")
    print("| engine | wall | CPU | replicates per second | CPU / ioukit |\n| --- | ---: | ---: | ---: | ---: |")
    print(f"| ioukit | {wall:,.2f} s | {cpu:,.2f} s | {count / wall:,.0f} | 1 |")
    for peer, runs in theirs.items():
        one, of_all = (each * count / options.drawn for each in middle(runs))
        print(f"| {peer} | {one:,.0f} s | {of_all:,.0f} s | {count / one:,.1f} | {of_all / cpu:,.0f} |")
    whole = middle([run["compare"] for run in ours])
    print(f"\n100 replicates take {cpu * 100 / count / pair[1]:.1f} times the CPU time of one `accumulate` pair.")
    print(f"`compare` with {count:,} replicates and {count:,} permutations: {whole[0]:.2f} s, CPU {whole[1]:.2f} s.\n")


def middle(pairs: list[list[float]]) -> tuple[float, float]:
    wall, cpu = (statistics.median(column) for column in zip(*pairs, strict=True))
    return wall, cpu


if __name__ == "__main__":
    main()
