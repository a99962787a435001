"""Tries an installed ioukit where nothing else is: python release/smoke.py GROUND_TRUTH DETECTIONS EXPECTED.

`ioukit doctor` must find no fault, and one evaluation must give the numbers of pycocotools in the file EXPECTED. Run it
outside of the repository, so that the installed package is imported.

All bits must be equal. Each number is a mean, taken by NumPy as in pycocotools. NumPy before 2.3 adds in another order:
two of the numbers then end in other bits than in EXPECTED, and so do those of pycocotools itself. With such a NumPy, a
number may differ by 16 units of the last place, which is less than one part in 10^14.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def agrees(ours: float | None, wanted: float, units: int) -> bool:
    """Whether a number differs from the wanted one by at most so many units of the last place."""
    return ours is not None and abs(ours - wanted) <= units * math.ulp(wanted)


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
    units = 0 if tuple(map(int, np.__version__.split(".")[:2])) >= (2, 3) else 16
    wrong = {
        key: (summary.get(key), value) for key, value in wanted.items() if not agrees(summary.get(key), value, units)
    }
    if wrong:
        raise SystemExit(f"other numbers than pycocotools (ours, pycocotools'): {wrong}")
    bits = "the last bit" if units == 0 else f"{units} units of the last place"
    sys.stdout.write(
        f"{len(wanted)} numbers equal to those of pycocotools to {bits}, in {took:.2f} s, "
        f"Python {sys.version.split()[0]}, NumPy {np.__version__}\n"
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
