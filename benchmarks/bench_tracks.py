"""Time from files to HOTA, CLEAR and Identity, beside TrackEval, each in a process of its own.

    python benchmarks/bench_tracks.py [--sequences 7] [--frames 600] [--objects 25] [--repeats 3]

The data are MOTChallenge's files of objects that walk, and of a tracker that loses some and switches others. TrackEval
1.3.0 is needed: pip install trackeval. Printed are the best times and the largest memory of the processes, and whether
the numbers are the same.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

OURS = """
import ioukit
found = ioukit.evaluate_tracks(root + "/gt", root + "/found").summary
numbers = {key: float(found[key]) for key in keys}
"""
THEIRS = """
import contextlib, io, os
with contextlib.redirect_stdout(io.StringIO()):
    import numpy as np, trackeval
    quiet = {"PRINT_CONFIG": False}
    off = ("PRINT_RESULTS", "TIME_PROGRESS", "OUTPUT_SUMMARY", "OUTPUT_DETAILED", "PLOT_CURVES")
    evaluator = trackeval.Evaluator({**quiet, **dict.fromkeys(off, False)})
    folders = {"GT_FOLDER": root + "/gt", "TRACKERS_FOLDER": root, "TRACKERS_TO_EVAL": ["."]}
    names = {"SEQ_INFO": {name: None for name in sorted(os.listdir(root + "/gt"))}}
    how = {"TRACKER_SUB_FOLDER": "found", "SKIP_SPLIT_FOL": True, "DO_PREPROC": False}
    data = trackeval.datasets.MotChallenge2DBox({**quiet, **folders, **names, **how})
    measures = [trackeval.metrics.HOTA(), trackeval.metrics.CLEAR(quiet), trackeval.metrics.Identity(quiet)]
    result = evaluator.evaluate([data], measures)[0]["MotChallenge2DBox"]["."]["COMBINED_SEQ"]["pedestrian"]
every = {**result["HOTA"], **result["CLEAR"], **result["Identity"]}
numbers = {key: float(np.mean(every.get(key, every.get("CLR_" + key)))) for key in keys}
"""
KEYS = ("HOTA", "DetA", "AssA", "LocA", "MOTA", "MOTP", "IDF1", "TP", "FN", "FP", "IDSW", "Frag", "MT", "ML")


def write_files(root: Path, sequences: int, frames: int, objects: int) -> int:
    """Write the files, and return how many rows they have."""
    rng = np.random.default_rng(1)
    total = 0
    (root / "found").mkdir()
    for number in range(sequences):
        folder = root / "gt" / f"S{number:02d}"
        (folder / "gt").mkdir(parents=True)
        (folder / "seqinfo.ini").write_text(f"[Sequence]\nname={folder.name}\nimDir=img1\nseqLength={frames}\n")
        places, speed = rng.uniform(0, 60 * objects, (objects, 2)), rng.normal(0, 2, (objects, 2))
        sizes, followers = rng.uniform(40, 160, (objects, 2)), np.arange(objects) + 1
        truth, found = [], []
        for frame in range(1, frames + 1):
            places = places + speed
            for at in np.flatnonzero(rng.random(objects) < 0.01):
                followers[at] = followers.max() + 1
            boxes = np.column_stack([places, sizes])
            near = boxes + rng.normal(0, 4, boxes.shape)
            truth += [f"{frame},{at + 1},{_spelled(box)},1,1,1\n" for at, box in enumerate(boxes)]
            seen = np.flatnonzero(rng.random(objects) < 0.95)
            found += [f"{frame},{followers[at]},{_spelled(near[at])},0.9,-1,-1,-1\n" for at in seen]
        (folder / "gt" / "gt.txt").write_text("".join(truth))
        (root / "found" / f"{folder.name}.txt").write_text("".join(found))
        total += len(truth) + len(found)
    return total


def _spelled(box: Any) -> str:
    return ",".join(f"{number:.2f}" for number in box)


def run(program: str, root: Path) -> tuple[dict[str, float], float, float]:
    """The numbers, the seconds and the megabytes of a process."""
    start = f"import json, resource\nroot, keys = {str(root)!r}, {KEYS!r}\n"
    end = "print(json.dumps([numbers, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))"
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", f"{start}{program}{end}"], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    numbers, megabytes = json.loads(done.stdout.splitlines()[-1])
    return numbers, seconds, megabytes


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("sequences", 7), ("frames", 600), ("objects", 25), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = write_files(Path(folder), given.sequences, given.frames, given.objects)
        print(f"{rows:,} rows, {given.objects} objects per frame")
        found = {name: [] for name in ("ioukit", "TrackEval")}  # type: dict[str, list[Any]]
        for _ in range(given.repeats):
            for name, program in (("ioukit", OURS), ("TrackEval", THEIRS)):
                found[name].append(run(program, Path(folder)))
    best = {name: min(seconds for _, seconds, _ in runs) for name, runs in found.items()}
    for name, runs in found.items():
        memory = max(megabytes for *_, megabytes in runs)
        print(f"{name:10} {best[name]:6.2f} s  {memory:5.0f} MB  {best['TrackEval'] / best[name]:5.1f} x")
    same = found["ioukit"][0][0] == found["TrackEval"][0][0]
    print("the numbers are the same" if same else f"the numbers differ: {found}")


if __name__ == "__main__":
    main()
