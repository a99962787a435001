"""`match_boxes`, and the assignment under it, against SciPy's solver: in turns in one process, the least of many calls.

    pip install 'ioukit[bench]' && python benchmarks/bench_one_to_one.py

Both sets hold the same boxes, the second with corners moved by some pixels. "Boxes" goes from two float64 arrays to the
pairs with IoU >= 0.5 of the highest sum; SciPy gets ioukit's table of IoU, with 0 below 0.5. "Costs of boxes" is the
solver alone on a table of 1 - IoU, "random costs" on one in which every path is worth a look. Both give the same pairs.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from _machine import described
from scipy.optimize import linear_sum_assignment

import ioukit
from ioukit.overlap.one_to_one import assign_rows

if TYPE_CHECKING:
    from collections.abc import Callable

ROUNDS, SECONDS = 15, 0.05


def by_scipy(first: Any, second: Any) -> tuple[Any, Any, Any]:
    """The pairs as one makes them with SciPy."""
    table = ioukit.pairwise_iou(first, second)
    table = np.where(table >= 0.5, table, 0)
    rows, columns = linear_sum_assignment(-table)
    kept = table[rows, columns] > 0
    return rows[kept], columns[kept], table[rows, columns][kept]


def least(*calls: Callable[[], Any]) -> list[float]:
    """The least seconds of each call, in turns."""
    found = [float("inf")] * len(calls)
    for _ in range(ROUNDS):
        for at, call in enumerate(calls):
            start, count = time.perf_counter(), 0
            while time.perf_counter() - start < SECONDS:
                call()
                count += 1
            found[at] = min(found[at], (time.perf_counter() - start) / count)
    return found


def main() -> None:
    print(f"{described('ioukit', 'scipy')}\n")
    print("| boxes | work | ioukit | SciPy | ioukit / SciPy |")
    print("| ---: | --- | ---: | ---: | ---: |")
    rng = np.random.default_rng(0)
    for count in (20, 200, 1000):
        low = rng.uniform(0, 25 * count**0.5, (count, 2))
        first = np.concatenate([low, low + rng.uniform(10, 50, (count, 2))], axis=1)
        second = first + rng.normal(0, 2, first.shape)
        costs, drawn = 1 - ioukit.pairwise_iou(first, second), rng.random((count, count))
        works: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "boxes": (partial(ioukit.match_boxes, first, second, min_iou=0.5), partial(by_scipy, first, second)),
            "costs of boxes": (partial(assign_rows, costs), partial(linear_sum_assignment, costs)),
            "random costs": (partial(assign_rows, drawn), partial(linear_sum_assignment, drawn)),
        }
        for work, (ours, theirs) in works.items():
            for one, other in zip(ours(), theirs(), strict=True):
                np.testing.assert_array_equal(one, other)
            mine, peer = least(ours, theirs)
            print(f"| {count:,} | {work} | {mine * 1e6:,.1f} us | {peer * 1e6:,.1f} us | {mine / peer:.2f} |")


if __name__ == "__main__":
    main()
