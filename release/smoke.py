"""Tries an installed ioukit where nothing else is: python release/smoke.py GROUND_TRUTH DETECTIONS EXPECTED.

`ioukit doctor` must find no fault, and one evaluation must give the numbers of pycocotools in the file EXPECTED. Run it
outside of the repository, so that the installed package is imported.

Each number is a mean, taken by NumPy as in pycocotools. Versions of NumPy add in different orders: in 2.2.6, two of the
twelve numbers of pycocotools end in other bits than in 2.4.6. So numbers from a file may differ by 16 units of the last
place, which is less than one part in 10^14; the tests compare every bit with pycocotools beside the same NumPy.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path


def main(ground_truth: str, detections: str, expected: str) -> None:
    """Raises an error if anything is wrong."""
    command = [sys.executable, "-m", "ioukit"]
    subprocess.run([*command, "doctor"], check=True)
    started = time.perf_counter()
    ran = subprocess.run(
        [*command, "eval", ground_truth, detections, "--json"], check=True, capture_output=True, text=True
    )
    took = time.perf_counter() - started
    summary = json.loads(ran.stdout)["summary"]
    wanted = json.loads(Path(expected).read_text(encoding="utf-8"))["bbox"]["stats"]
    wrong = {key: (summary.get(key), value) for key, value in wanted.items() if not _equal(summary.get(key), value)}
    if wrong:
        raise SystemExit(f"other numbers than pycocotools (ours, pycocotools'): {wrong}")
    same = sum(summary[key] == value for key, value in wanted.items())
    sys.stdout.write(
        f"{len(wanted)} numbers equal to those of pycocotools, {same} to the last bit, in {took:.2f} s, "
        f"Python {sys.version.split()[0]}\n"
    )


def _equal(number: float | None, wanted: float) -> bool:
    return number is not None and abs(number - wanted) <= 16 * math.ulp(wanted)


if __name__ == "__main__":
    main(*sys.argv[1:])
