"""The external merge: sorted runs of many parts as one sequence in falling order of score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ioukit.scale.table_files import Run

__all__ = ["merged"]


def merged(runs: Sequence[Iterator[Run]]) -> Iterator[Run]:
    """Slabs of rows: no score of a slab is higher than one of an earlier slab.

    Within a slab, rows with equal scores are in the order of the runs. Rows with equal scores are never in two slabs.
    Of each run, a block is in memory at a time, and as many as have one score.

    Args:
        runs: For each part, in the order of the images, blocks in falling order of score.
    """
    waiting: list[Run | None] = [None] * len(runs)
    ended = [False] * len(runs)

    def load(number: int) -> None:
        block = next(runs[number], None)
        if block is None:
            ended[number] = True
            return
        held = waiting[number]
        waiting[number] = block if held is None else Run.joined([held, block])

    for number in range(len(runs)):
        load(number)
    while True:
        # What follows in a run is at most its last score, so everything above the highest of these is complete.
        lasts = {
            number: held.score[-1] for number, held in enumerate(waiting) if held is not None and not ended[number]
        }
        limit = max(lasts.values(), default=-np.inf)
        slab = []
        for number, held in enumerate(waiting):
            if held is None:
                continue
            count = len(held.score)
            end = count - int(np.searchsorted(held.score[::-1], limit, side="right")) if lasts else count
            if end:
                slab.append(held.cut(0, end))
                waiting[number] = held.cut(end, count) if end < count else None
        if slab:
            yield Run.joined(slab)
        if not lasts:
            return
        for number, last in lasts.items():
            if last == limit or waiting[number] is None:
                load(number)
