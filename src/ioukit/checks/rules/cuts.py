"""A rule about boxes that end where their objects go on: at the border of another image, or of a tile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._words_and_colours import percent
from ioukit.checks.case import different, most_by_chance
from ioukit.checks.rules.readings import NAMES, OTHER
from ioukit.checks.rules.rounding import grid_of
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.typing import FloatArray

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
FEWEST = 10
SAME_NUMBER, SAME_PLACE = 0.05, 0.02  # shares of the rows; by chance, one box in some hundred ends at a given place
INSIDE, EXACT = 8.0, 0.5  # pixels
MARGIN, OVERLAPS, OFTEN_BEYOND, TIMES_USUAL = 0.1, 0.2, 0.2, 2.0
TILES = ((1, 2), (1, 3), (2, 3), (1, 4), (3, 4))


def cuts(case: Case) -> Iterator[Suspicion]:
    """Boxes of one side that end at one place inside their images, where the boxes of the other side go on."""
    if not len(case.pairs.objects):
        return
    for side, name in NAMES.items():
        data = case.data.of(side)
        met, beyond = _go_on(case, side)
        for ends, place, where, least, axis in _places(case, side):
            count, there, elsewhere = int(ends.sum()), met & ends, met & ~ends
            # A goal before a fixed camera ends at one place, too: in all frames together, it is one box.
            if count < least * len(data) or not there.any() or different(data.boxes[ends]) < FEWEST:
                continue
            often = float(beyond[there, axis].mean())
            usual = float(beyond[elsewhere, axis].mean()) if elsewhere.any() else 0.0
            if often >= max(OFTEN_BEYOND, TIMES_USUAL * usual) and count >= _by_rounding(case, side, place, axis):
                yield Suspicion(
                    "detections_cut" if side == "detections" else "annotations_cut", "likely",
                    f"{count:,} of {len(data):,} boxes of the {name} end at {where}, inside their images, and those of "
                    f"the {NAMES[OTHER[side]]} go on there in "
                    f"{percent(often, 0)} of the pairs, {percent(usual, 0)} elsewhere: they were cut at the border of "
                    "another image, or of a tile",
                    count, len(data), "cut boxes at the size of their own image, and merge those of neighbouring tiles",
                    examples(dict.fromkeys(data.image_labels()[ends].tolist())),
                )  # fmt: skip
                break


def _by_rounding(case: Case, side: Side, place: FloatArray, axis: int) -> float:
    """How many boxes rounding puts at a place at most: from those that end one step before and behind it."""
    grid = grid_of(case, side)
    if grid is None:
        return 0.0
    apart = np.abs(_ends(case, side)[:, axis] - place)
    return most_by_chance(float((np.abs(apart - grid.steps[:, axis]) <= EXACT).sum() / 2))


def _places(case: Case, side: Side) -> Iterator[tuple[NDArray[np.bool_], FloatArray, str, float, int]]:
    """Which boxes end at a place, (N,) the place, its words, which share of the boxes is suspicious, and the axis."""
    ends = _ends(case, side)
    sizes = case.sizes if side == "detections" else case.object_sizes
    for axis, (name, own, other) in enumerate((("x", "width", "height"), ("y", "height", "width"))):
        values, size = ends[:, axis], sizes[:, axis]
        inside = values < size - INSIDE
        at_other_side = inside & (np.abs(values - sizes[:, 1 - axis]) <= EXACT)
        yield at_other_side, sizes[:, 1 - axis], f"the {other} of the image in {name}", SAME_PLACE, axis
        for part, of in TILES:
            place = size * part / of
            at_tile = inside & (np.abs(values - place) <= EXACT)
            yield at_tile, place, f"{part}/{of} of the {own} of the image", SAME_PLACE, axis
        numbers, times = np.unique(values[inside], return_counts=True)
        if len(numbers):
            common = float(numbers[np.argmax(times)])
            yield inside & (values == common), np.full_like(values, common), f"{name} = {common:g}", SAME_NUMBER, axis


def _ends(case: Case, side: Side) -> FloatArray:
    boxes = case.data.of(side).boxes
    ends: FloatArray = boxes[:, :2] + boxes[:, 2:]
    return ends


def _go_on(case: Case, side: Side) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """(N,) whether a box of the other side overlaps this one, and (N, 2) whether one of these ends well beyond it."""
    pairs = case.pairs
    rows, others = (pairs.detections, pairs.objects) if side == "detections" else (pairs.objects, pairs.detections)
    close = case.overlaps >= OVERLAPS
    rows, others = rows[close], others[close]
    ends = _ends(case, side)
    margin = np.maximum(INSIDE, MARGIN * case.data.of(side).boxes[:, 2:])
    reached = np.full_like(ends, -np.inf)
    np.maximum.at(reached, rows, _ends(case, OTHER[side])[others])
    return reached[:, 0] > -np.inf, np.asarray(reached > ends + margin)
