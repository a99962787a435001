"""Counts random programs that see something else with `ioukit.compat.pycocotools` than with pycocotools.

    pip install pycocotools
    python benchmarks/exact_cocoeval.py --programs 2000

A program loads a random data set of boxes, masks or keypoints from a file, a list or an array, some with invalid
records; sets parameters; evaluates; looks at `evalImgs`, `ious`, `eval`, `stats` and at what was printed; changes
parameters, records or `evalImgs`, and calls again. At the end it looks at all records. The programs are those of
`tests/compat/test_cocoeval.py`, which runs the first of them.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

from _machine import described

sys.path[:0] = [str(Path(__file__).resolve().parent.parent / "tests")]
from support.cocoeval_runs import OURS, THEIRS, random_run  # noqa: E402 - in the folder above
from support.same_values import difference  # noqa: E402 - likewise


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first program")
    options = parser.parse_args()

    print(described("ioukit", "numpy", "pycocotools"))
    programs, looks, other = Counter[str](), 0, []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(options.first, options.first + options.programs):
            run = random_run(seed)
            ours, theirs = (run.seen(library, Path(folder)) for library in (OURS, THEIRS))
            programs[run.iou_type] += 1
            looks += len(theirs)
            found = difference(ours, theirs)
            if found:
                other.append(seed)
                print(f"{run}\n  {found[:400]}", file=sys.stderr)
    kinds = ", ".join(f"{count:,} of {name}" for name, count in sorted(programs.items()))
    print(f"{options.programs:,} programs ({kinds}) looked {looks:,} times; {len(other):,} saw a difference: {other}")
    raise SystemExit(bool(other))


if __name__ == "__main__":
    main()
