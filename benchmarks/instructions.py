"""How many instructions a call takes, counted by Valgrind, beside the counts of an earlier commit.

    python benchmarks/instructions.py            compares with benchmarks/instructions.json
    python benchmarks/instructions.py --store    writes that file

A clock cannot see a change of a few per cent on a machine that others use. A count can. This ends with status 1 if a
call takes over 3 % and 500 more than stored. Each workload runs in two processes that differ in the number of calls
alone, so what Python needs to start is subtracted. The collector is off, because it comes at times of its own. Counts
depend on the versions of Python and NumPy, which the file names: with others, nothing is compared, and the last line
says so. Valgrind has no AVX-512, so the vectors are those of AVX2.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent.parent
STORED = ROOT / "benchmarks" / "instructions.json"
MOST = 1.03  # times the stored count
# Beside it: where objects lie in memory decides how often Python's cache of attributes misses. One call of 16,000
# instructions took from 15,720 to 16,210 with other paths and variables of the environment.
NOISE = 500
DATA = ROOT / "examples" / "coco_val2017_100"
FILES = f"""
from ioukit import evaluate, read_coco
paths = {str(DATA / "ground_truth.json")!r}, {str(DATA / "yolact.json")!r}
"""
BOXES = """
import numpy as np
rng = np.random.default_rng(0)
corners = rng.uniform(0, 640, ({count}, 2))
boxes = np.concatenate([corners, corners + rng.uniform(8, 128, ({count}, 2))], axis=1)
scores = rng.uniform(0, 1, {count})
"""
# Name: what happens once, then what is counted, and how often it runs.
WORKLOADS: dict[str, tuple[str, str, int]] = {
    "evaluate, 100 images from files": (FILES, "evaluate(*read_coco(*paths, threads=1), threads=1).summary", 20),
    "evaluate, 100 images in memory": (
        FILES + "data = read_coco(*paths)",
        "evaluate(*data, threads=1).summary",
        20,
    ),
    "nms, 1,000 boxes": (
        BOXES.format(count=1000) + "from ioukit import nms",
        "nms(boxes, scores, iou_threshold=0.5, threads=1)",
        100,
    ),
    "nms, 100 boxes": (
        BOXES.format(count=100) + "from ioukit import nms",
        "nms(boxes, scores, iou_threshold=0.5, threads=1)",
        500,
    ),
    "nms, 100 boxes of 3 classes": (  # with an option, Python asks about every argument
        BOXES.format(count=100) + "labels = np.arange(100) % 3\nfrom ioukit import nms",
        "nms(boxes, scores, iou_threshold=0.5, labels=labels, threads=1)",
        500,
    ),
    "pairwise_iou, 300 x 300": (
        BOXES.format(count=300) + "from ioukit import pairwise_iou",
        "pairwise_iou(boxes, boxes, threads=1)",
        100,
    ),
    "pairwise_iou, 10 x 10": (
        BOXES.format(count=10) + "from ioukit import pairwise_iou",
        "pairwise_iou(boxes, boxes, threads=1)",
        500,
    ),
    "pairwise_iou, 10 x 10, format said": (
        BOXES.format(count=10) + "from ioukit import pairwise_iou",
        "pairwise_iou(boxes, boxes, format='xyxy', threads=1)",
        500,
    ),
}


def instructions(program: str) -> int:
    """All instructions of a process of Python that runs the program."""
    counter = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command = [*counter, sys.executable, "-c", program]
    environment = {**os.environ, "PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"valgrind ended with {done.returncode}: {done.stderr[-2000:]}")
    return int(found[1].replace(",", ""))


def per_call(name: str) -> int:
    """Instructions of one call; the first calls, which load and fill what later ones use, do not count."""
    once, call, times = WORKLOADS[name]
    program = "import gc\ngc.disable()\n{}\nfor _ in range({}):\n    {}"
    subprocess.run([sys.executable, "-c", program.format(once, 1, call)], check=True)  # compiles what is imported
    few, many = (instructions(program.format(once, count, call)) for count in (3, 3 + times))
    return round((many - few) / times)


def versions() -> dict[str, str]:
    return {"python": ".".join(map(str, sys.version_info[:2])), "numpy": np.__version__, "machine": os.uname().machine}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", action="store_true", help="write the counts instead of comparing them")
    asked = parser.parse_args()
    if not shutil.which("valgrind"):
        raise SystemExit("this needs valgrind")
    stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
    if not asked.store and stored.get("versions") != versions():
        print(f"not compared: the counts are of {stored.get('versions')}, and this is {versions()}")
        return
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        found = dict(zip(WORKLOADS, pool.map(per_call, WORKLOADS), strict=True))
    if asked.store:
        STORED.write_text(json.dumps({"versions": versions(), "calls": found}, indent=2) + "\n", encoding="utf-8")
    more = []
    for name, count in found.items():
        before = stored.get("calls", {}).get(name, count)
        print(f"{name:34} {count:>14,} {count / before:7.3f} x stored")
        more += [name] if count > MOST * before + NOISE else []
    if more and not asked.store:
        raise SystemExit(
            f"over {MOST - 1:.0%} and {NOISE} more instructions than stored: {'; '.join(more)}. "
            "Find out why: callgrind shows where. If it is worth its price, say so in the commit and use --store"
        )


if __name__ == "__main__":
    main()
