"""Fuzzes the drop-in by random programs that replace, subclass, mock, pickle and reload what they use.

    pip install pycocotools lvis
    python tests/fuzz/foreign_programs.py pycocotools [--seconds 600] [--first 0]
    python tests/fuzz/foreign_programs.py lvis [--seconds 600]

Each program runs with the original package and with `ioukit.patch`, in two processes. The programs are those of
`tests/support/foreign_programs.py`; the first ones run in `tests/compat/test_foreign_programs.py`. Every difference is
printed with the seed of its program. The status is 1 if there is one.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.foreign_programs import differences  # found in the folder above


def main() -> None:
    """Reads the arguments, and runs programs until the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("package", choices=["pycocotools", "lvis"])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    given = parser.parse_args()
    end, programs, looks, other = time.monotonic() + given.seconds, 0, 0, []
    for seed, count, found in differences(itertools.count(given.first), given.package):
        programs += 1
        looks += count
        if found:
            other.append(seed)
            sys.stderr.write(f"seed {seed}: {found[:400]}\n")
        if time.monotonic() > end:
            break
    sys.stderr.write(f"{programs:,} programs looked {looks:,} times; {len(other):,} saw a difference: {other}\n")
    raise SystemExit(bool(other))


if __name__ == "__main__":
    main()
