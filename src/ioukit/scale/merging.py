"""The external merge: sorted runs of many parts as one sequence in falling order of score."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ioukit.scale.table_files import Run

FAN_IN = 128
"""How many runs are merged at once; a merge looks at each of them for every block that it reads."""


def merged(runs: Sequence[Iterator[Run]]) -> Iterator[Run]:
    """Slabs of rows: no score of a slab is higher than one of an earlier slab.

    Within a slab, rows with equal scores are in the order of the runs. Rows with equal scores are never in two slabs.
    Of each run, a block is in memory at a time, and as many as have one score.

    Args:
        runs: For each part, in the order of the images, blocks in falling order of score.
    """
    while len(runs) > FAN_IN:
        groups = [runs[start : start + FAN_IN] for start in range(0, len(runs), FAN_IN)]
        runs = [map(sorted_rows, _merged(group)) for group in groups]
    return _merged(runs)


def sorted_rows(slab: Run) -> Run:
    """The rows in falling order of score; equal scores keep their order."""
    order = np.argsort(-slab.score, kind="stable")
    return Run(slab.rank[order], slab.score[order], slab.matched[order], slab.ignored[order])


def _merged(runs: Sequence[Iterator[Run]]) -> Iterator[Run]:
    waiting: list[Run | None] = [None] * len(runs)
    ended = [False] * len(runs)

    def load(number: int) -> None:
        """Read a block, and those behind it until there is a lower score than that of the last row."""
        held = waiting[number]
        blocks = [] if held is None else [held]
        while len(blocks) < 2 or blocks[-1].score[-1] == blocks[0].score[-1]:
            block = next(runs[number], None)
            if block is None:
                ended[number] = True
                break
            blocks.append(block)
            if held is None:
                break
        waiting[number] = Run.joined(blocks) if blocks else None

    for number in range(len(runs)):
        load(number)
    while True:
        # What follows in a run is at most its last score, so everything above the highest of these is complete.
        lasts = {at: held.score[-1] for at, held in enumerate(waiting) if held is not None and not ended[at]}
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
