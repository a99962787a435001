"""`ioukit.compat.pycocotools` as a drop-in: the ways in which programs use `COCOeval`, each in a fresh process.

    pip install ".[bench]"
    python benchmarks/make_coco.py bench-data small
    python benchmarks/bench_dropin.py bench-data

- `path`: `COCO(path)`, `loadRes(path)`, `evaluate`, `accumulate`, `summarize`; from the start of the process to its
  end, beside `ioukit eval` of the same files.
- `list`: `loadRes` of a list of dictionaries and the same calls, the ground truth and the list being in memory; inside
  the process. `loadRes` of hotcoco leaves the records as they are, that of ultrafast-pycocotools adds three members;
  pycocotools and ioukit also add polygons.
- `dictionaries`: the same, with a fresh `COCO` whose `dataset` is a dictionary without polygons, as TorchMetrics and
  torchvision make it, and `createIndex`.
- `array`: as `dictionaries`, with `loadRes` of an (N, 7) array.
- `batches`: as torchvision's reference training evaluates: `loadRes` of a list, `evaluate` and `evalImgs` for two
  images at a time, then `accumulate` of all `evalImgs`; inside the process, 1,000 images.

Engines take turns; the tables show medians: of the wall for `path`, else of the processor in all threads, so that other
work on the machine does not count. All engines must print the same first number.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import statistics
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from _fresh import Run, run_command, run_program
from _machine import described
from bench_eval import take_turns

if TYPE_CHECKING:
    from collections.abc import Callable

_START = "import contextlib, copy, io, json, sys, time\ngt, dt = sys.argv[1:3]\n"
_OF_PYCOCOTOOLS = "from {0}.coco import COCO\nfrom {0}.cocoeval import COCOeval\n"
_WHOLE = (
    "with contextlib.redirect_stdout(io.StringIO()):\n    g = COCO(gt)\n    e = COCOeval(g, g.loadRes(dt), 'bbox')\n"
    "    e.evaluate()\n    e.accumulate()\n    e.summarize()\nprint(json.dumps([0.0, float(e.stats[0])]))"
)
_IN_MEMORY = (
    "import numpy as np\nresults = json.load(open(dt))\n{0}with contextlib.redirect_stdout(io.StringIO()):\n{1}"
    "    e = COCOeval(g, g.{2}(results), 'bbox')\n"
    "    e.evaluate()\n    e.accumulate()\n    e.summarize()\n    seconds = time.process_time() - start\n"
    "print(json.dumps([seconds, float(e.stats[0])]))"
)
_FROM_PATH = "    g = COCO(gt)\n    start = time.process_time()\n"
_TRUTH = (
    "truth = json.load(open(gt))\nfor one in truth['annotations']:\n    one.pop('segmentation', None)\n"
    "truth = json.loads(json.dumps(truth))\n"
)
_INDEXED = "    start = time.process_time()\n    g = COCO()\n    g.dataset = truth\n    g.createIndex()\n"
_AT_ONCE = "    start = time.process_time()\n    g = COCO(truth)\n"  # of hotcoco, whose `dataset` is read-only
_ARRAY = "results = np.array([[one['image_id'], *one['bbox'], one['score'], one['category_id']] for one in results])\n"
_BATCHES = """
import numpy as np
by_image = {}
for record in json.load(open(dt)):
    by_image.setdefault(record["image_id"], []).append(record)
with contextlib.redirect_stdout(io.StringIO()):
    g = COCO(gt)
    ids = sorted(g.imgs)[:1000]
    start = time.process_time()
    e, parts = COCOeval(g, iouType="bbox"), []
    for at in range(0, len(ids), 2):
        e.params.imgIds = ids[at : at + 2]
        found = [record for one in e.params.imgIds for record in by_image.get(one, [])]
        e.cocoDt = g.loadRes(found) if found else COCO()
        e.evaluate()
        parts.append(np.asarray(e.evalImgs).reshape(-1, 4, len(ids[at : at + 2])))
    e.evalImgs, e.params.imgIds = list(np.concatenate(parts, 2).flatten()), ids
    e._paramsEval = copy.deepcopy(e.params)
    e.accumulate()
    e.summarize()
    seconds = time.process_time() - start
print(json.dumps([seconds, float(e.stats[0])]))
"""
_OURS, _THEIRS = (_START + _OF_PYCOCOTOOLS.format(name) for name in ("ioukit.compat.pycocotools", "pycocotools"))
_HOTCOCO = _START + "from hotcoco import COCO, COCOeval\n"
_ULTRAFAST = _START + "from ultrafast_pycocotools import COCO, COCOeval\n"
_FASTER = _START + "from faster_coco_eval import COCO, COCOeval_faster as COCOeval\n"


def _in_memory(before: str, truth: str, of_hotcoco: str) -> dict[str, str]:
    """The program of each engine."""
    program = _IN_MEMORY.format(before, truth, "loadRes")
    return {
        "ioukit.compat.pycocotools": _OURS + program,
        "hotcoco": _HOTCOCO + _IN_MEMORY.format(before, of_hotcoco, "load_res"),
        "ultrafast-pycocotools": _ULTRAFAST + program,
        "faster-coco-eval": _FASTER + program,
        "pycocotools": _THEIRS + program,
    }


PROGRAMS: dict[str, dict[str, str]] = {
    "path": {"ioukit.compat.pycocotools": _OURS + _WHOLE},
    "list": _in_memory("", _FROM_PATH, _FROM_PATH),
    "dictionaries": _in_memory(_TRUTH, _INDEXED, _AT_ONCE),
    "array": _in_memory(_TRUTH + _ARRAY, _INDEXED, _AT_ONCE),
    "batches": {"ioukit.compat.pycocotools": _OURS + _BATCHES, "pycocotools": _THEIRS + _BATCHES},
}
PACKAGES = {"ultrafast-pycocotools": "ultrafast_pycocotools", "faster-coco-eval": "faster_coco_eval"}


def tasks_of(way: str, gt: str, dt: str, engines: list[str]) -> dict[str, Callable[[], Run]]:
    """What is run for one way; an engine that is not installed is left out."""
    chosen = {name: text for name, text in PROGRAMS[way].items() if name in engines}
    there = {
        name: text for name, text in chosen.items() if importlib.util.find_spec(PACKAGES.get(name, name).split(".")[0])
    }
    tasks: dict[str, Callable[[], Run]] = {
        name: lambda text=text: run_program(text, gt, dt)  # type: ignore[misc]
        for name, text in there.items()
    }
    if way == "path":
        tasks["ioukit eval"] = lambda: run_command([sys.executable, "-m", "ioukit", "eval", gt, dt])
    return tasks


def seconds_of(way: str, run: Run) -> float:
    return run.wall if way == "path" else float(json.loads(run.output.splitlines()[-1])[0])


def main() -> None:
    names = list(dict.fromkeys(name for programs in PROGRAMS.values() for name in programs))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="folder written by make_coco.py")
    parser.add_argument("--ways", nargs="+", choices=list(PROGRAMS), default=list(PROGRAMS))
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()

    print(described("ioukit", "numpy", "pycocotools", "hotcoco", "ultrafast-pycocotools", "faster-coco-eval"))
    gt, dt = (str(options.data / name) for name in ("gt.json", "dt_small.json"))
    for way in options.ways:
        runs = take_turns(tasks_of(way, gt, dt, options.engines), options.rounds)
        numbers = {json.loads(of[0].output.splitlines()[-1])[1] for name, of in runs.items() if name != "ioukit eval"}
        if len(numbers) > 1:
            raise SystemExit(f"engines disagree about AP: {numbers}")
        median = {name: statistics.median(seconds_of(way, run) for run in of) for name, of in runs.items()}
        print(f"\n{way}, median of {options.rounds}\n\n| engine | time | of ours |\n| --- | ---: | ---: |")
        for name, seconds in median.items():
            print(f"| {name} | {seconds:.3f} s | {seconds / median['ioukit.compat.pycocotools']:.2f} |")


if __name__ == "__main__":
    main()
