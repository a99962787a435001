"""Tries an installed ioukit where nothing else is: python release/smoke.py GROUND_TRUTH DETECTIONS EXPECTED.

`ioukit doctor` must find no fault, and one evaluation must give the numbers of pycocotools in the file EXPECTED, to the
last bit. Run it outside of the repository, so that the installed package is imported.
"""

from __future__ import annotations

import json
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
    wrong = {key: (summary.get(key), value) for key, value in wanted.items() if summary.get(key) != value}
    if wrong:
        raise SystemExit(f"other numbers than pycocotools (ours, pycocotools'): {wrong}")
    sys.stdout.write(f"twelve numbers equal to those of pycocotools in {took:.2f} s, Python {sys.version.split()[0]}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
