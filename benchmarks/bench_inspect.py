"""What a data set holds: how long it takes to read, to measure, and to write as a page.

    pip install ".[report]"
    python benchmarks/make_coco.py bench-data large segm x10
    python benchmarks/bench_inspect.py bench-data

`gt.json` has 5,000 images and 36,000 objects with polygons, whose masks are drawn to measure them; `gt_x10.json` ten
times as many. The last row has a million boxes on 100,000 images in memory. Medians of wall time in one process.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from _machine import described

from ioukit import GroundTruth, inspect
from ioukit.datasets import read
from ioukit.report import write_inspection

if TYPE_CHECKING:
    from collections.abc import Callable


def in_memory(objects: int, images: int, classes: int) -> GroundTruth:
    """Random boxes on images of 700 x 700 pixels."""
    rng = np.random.default_rng(0)
    boxes = np.hstack([rng.uniform(0, 600, (objects, 2)), rng.uniform(1, 80, (objects, 2))])
    return GroundTruth.from_arrays(
        image_ids=rng.integers(0, images, objects),
        category_ids=rng.integers(0, classes, objects),
        boxes=boxes,
        images=np.arange(images),
        sizes=np.full((images, 2), 700.0),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="what make_coco.py wrote")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    print(f"{described('ioukit', 'numpy')}\n")
    print("| data | read | measure | page | size of the page |")
    print("| --- | ---: | ---: | ---: | ---: |")
    sources: dict[str, Callable[[], GroundTruth]] = {
        f"{name}, {what}": lambda path=arguments.data / name: read(path)  # type: ignore[misc]
        for name, what in (("gt.json", "36,000 objects"), ("gt_x10.json", "360,000 objects"))
        if (arguments.data / name).is_file()
    }
    made = in_memory(1_000_000, 100_000, 365)
    sources["1,000,000 boxes in memory"] = lambda: made
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.html"
        for what, source in sources.items():
            times = []
            for _ in range(arguments.rounds):
                clock = [time.perf_counter()]
                gt = source()
                clock.append(time.perf_counter())
                held = inspect(gt)
                clock.append(time.perf_counter())
                write_inspection(held, page)
                clock.append(time.perf_counter())
                times.append(np.diff(clock))
            medians = [statistics.median(column) for column in zip(*times, strict=True)]
            cells = " | ".join(f"{seconds:.2f} s" for seconds in medians)
            print(f"| {what} | {cells} | {page.stat().st_size / 1e6:.1f} MB |", flush=True)


if __name__ == "__main__":
    main()
