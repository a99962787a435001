"""A rule about boxes whose numbers were rounded: to hundredths of the image, or to the stride of a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._words_and_colours import percent
from ioukit.checks.rules.readings import NAMES
from ioukit.checks.suspicion import Suspicion

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.typing import FloatArray

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
STEPS = (64.0, 32.0, 16.0, 8.0, 4.0)  # pixels
DIGITS = (10.0, 100.0)  # parts of the image
EXACT = 1e-3
FEWEST, LEAST_SHARE = 20, 0.1
NEARLY = 0.9  # as many boxes as of the step that most boxes have
PITCHES, AT_A_PITCH = (2, 3, 5, 7), 0.9  # in steps, and the share of boxes whose begin leaves one remainder
LEAST_STEP = 0.04  # of the side of a typical box: a smaller step costs nothing


class Grid(NamedTuple):
    """What the corners of boxes are multiples of."""

    what: str
    """The step, in words."""
    rows: NDArray[np.bool_]
    """(N,) which boxes have four such corners."""
    steps: FloatArray
    """(N, 2) the step in x and y, in pixels."""


def rounded(case: Case) -> Iterator[Suspicion]:
    """Boxes whose four corners are multiples of a step in pixels, or of a tenth or hundredth of the image.

    Of boxes that were not rounded, one in a hundred or fewer has four such corners by chance. A step counts if it is
    more than 2 pixels and not small beside the boxes: images that were enlarged have such corners, too.
    """
    for side, name in NAMES.items():
        if side == "detections" and case.data.detections is None:
            continue
        data = case.data.of(side)
        if not len(data):
            continue
        typical = float(np.median(np.sqrt(np.abs(data.boxes[:, 2:].prod(axis=1)))))
        grid = grid_of(case, side, max(2.0, LEAST_STEP * typical))
        if grid is not None and not _in_rows(data.boxes, grid):
            count = int(grid.rows.sum())
            yield Suspicion(
                f"{side}_rounded", "likely",
                f"the corners of {count:,} of {len(data):,} boxes of the {name} are multiples of {grid.what}; the "
                f"side of a typical box is {typical:.0f} pixels",
                count, len(data), "write the numbers with all their digits",
            )  # fmt: skip


def grid_of(case: Case, side: Side, least: float = 0.0) -> Grid | None:
    """The grid on which many boxes of a side lie, of those with a step of more than so many pixels; else ``None``."""
    data, sizes = case.data.of(side), case.sizes if side == "detections" else case.object_sizes
    if not len(data):
        return None
    corners = np.concatenate([data.boxes[:, :2], data.boxes[:, :2] + data.boxes[:, 2:]], axis=1)
    known = np.nan_to_num(sizes, nan=1.0)
    image = np.tile(known, 2)
    tried = [(f"{step:g} pixels", corners / step, np.full_like(known, step)) for step in STEPS if step > least]
    tried += [
        (f"{percent(1 / parts)} of the image", corners / image * parts, known / parts)
        for parts in DIGITS
        if image.min() / parts > least
    ]
    inside = ~_at_the_border(corners, image)
    on_grid = [_whole(steps) & inside for _, steps, _ in tried]
    counts = [int(rows.sum()) for rows in on_grid]
    most = max(counts, default=0)
    if most < max(FEWEST, LEAST_SHARE * len(data)):
        return None
    # Of multiples of 8, some are multiples of 16; multiples of 16 are all multiples of 8.
    at = next(at for at, count in enumerate(counts) if count >= NEARLY * most)
    return Grid(tried[at][0], on_grid[at], tried[at][2])


def _in_rows(boxes: FloatArray, grid: Grid) -> bool:
    """Whether nearly all boxes begin at a coarser pitch in x and y: objects in rows, at places that really are so.

    Rounded boxes begin at every multiple of the step.
    """
    begin = np.round(boxes[grid.rows, :2] / grid.steps[grid.rows]).astype(np.int64)
    often = [max(int(np.bincount(begin[:, axis] % times).max()) for times in PITCHES) / len(begin) for axis in (0, 1)]
    return min(often) >= AT_A_PITCH


def _whole(steps: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    return np.asarray((np.abs(steps - np.round(steps)) <= EXACT).all(axis=1))


def _at_the_border(corners: FloatArray, image: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Boxes with three corners at the border of the image, which may be multiples of anything."""
    return np.asarray((np.isclose(corners, 0) | np.isclose(corners, image)).sum(axis=1) >= 3)
