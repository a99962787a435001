"""By how much the edges of boxes lie apart from those of the other side, and which side that is the fault of.

Owns: the shift of each edge, whether it is of so many pixels or in proportion to the box, and what tells the side. Does
not own: what is suspected of it (``places.py``).
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit.checks.case import MATCH, different
from ioukit.checks.repairs.boxes import with_edges
from ioukit.checks.repairs.regions import masks_of
from ioukit.checks.rules.rounding import grid_of
from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.errors import DatasetError
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.checks.suspicion import Suspicion
    from ioukit.typing import FloatArray

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
TOUCHES = 0.1  # the IoU of boxes that may belong together, before their edges are shifted
ROUNDS = 3
FEWEST = 20  # pairs
NOT_SHIFTED = 0.3  # of the largest shift of an edge
LEAST = 0.03  # of a side, that a shift is worth a look
STANDARD_ERRORS = 4.0
AT_THE_BORDER, OF_THE_SHIFT, MOST = 0.5, 0.25, 2.0  # pixels; the part of a shift by which it may be wrong; pixels
FEWEST_EDGES, SHARE_OF_EDGES = 5, 0.005
LOOKED_AT, NEARER = 500, 0.5


class Shift(NamedTuple):
    """What the boxes of detections lack to those of the objects."""

    pixels: FloatArray
    """(4,) by how many pixels left, top, right and bottom edges have to move; 0 for those that are about right."""
    fixed: bool
    """Whether the pairs lie nearer after so many pixels than after a part of each box, clearly."""

    @property
    def tells(self) -> bool:
        """Whether it is a suspicion: weak detectors draw boxes that are too large, but begin and end alike."""
        begin, end = self.pixels.reshape(2, 2)
        return not self.moves and (self.fixed or (not self.grows and not (begin.any() and end.any())))

    @property
    def moves(self) -> bool:
        """Whether both edges move alike, so that boxes keep their sizes."""
        begin, end = self.pixels.reshape(2, 2)
        return bool((np.abs(end - begin) <= NOT_SHIFTED * np.abs(self.pixels).max()).all())

    @property
    def grows(self) -> bool:
        """Whether boxes become larger or smaller around their centres, as those of a loose or tight detector do."""
        begin, end = self.pixels.reshape(2, 2)
        return bool((np.abs(begin + end) <= NOT_SHIFTED * np.abs(self.pixels).max()).all())


def shift_of(case: Case, now: FloatArray) -> Shift | None:
    """The shift of the edges of detections from those of the objects; ``None`` if it is small, or chance.

    The medians over the pairs that overlap best are applied, and taken again over all pairs that overlap by at least
    0.5 then. Such pairs tell whether pixels, parts of the sides of a box, or parts of its distance to the origin (as
    in an image of another size) fit them best: by the mean over the pairs of what is left, in sides of the box.

    Args:
        case: The data.
        now: (P,) the IoU of some of the pairs.
    """
    pairs = case.fewer_pairs
    touching = np.flatnonzero(now >= TOUCHES)
    best = np.zeros(len(case.ground_truth))
    np.maximum.at(best, pairs.objects[touching], now[touching])
    touching = touching[now[touching] >= best[pairs.objects[touching]]]
    if len(touching) < FEWEST:
        return None
    found, wanted = _corners(case, touching)
    pixels = np.median(wanted - found, axis=0)
    if not _is_large(2 * pixels, wanted[:, 2:] - wanted[:, :2]):
        return None  # most data end here, before all pairs are looked at
    found, wanted = _corners(case, slice(None))
    apart = wanted - found
    close = np.zeros(len(now), np.bool_)
    for _ in range(ROUNDS):
        pixels = np.median(apart[close], axis=0) if close.any() else pixels
        close = case.overlaps_of(with_edges(case.detections.boxes, pixels), pairs=pairs) >= MATCH
        if close.sum() < FEWEST:
            return None
    close |= now >= MATCH
    apart, ends, sides = apart[close], found[close], (wanted[close, 2:] - wanted[close, :2])
    if not _is_large(pixels, sides):
        return None
    pixels = np.where(np.abs(pixels) > NOT_SHIFTED * np.abs(pixels).max(), pixels, 0.0).round(1)
    twice = np.maximum(np.tile(sides, 2), 1.0)
    left = {"pixels": apart - pixels, **_without_pixels(apart, ends, twice)}
    of_pairs = {name: (np.abs(each) / twice).sum(axis=1) for name, each in left.items()}
    number = min(len(sides), different(case.ground_truth.boxes[pairs.objects[close]]))
    clearly = {name: _clearly_more(each - of_pairs["pixels"], number) for name, each in of_pairs.items()}
    if not clearly["nothing"] or _clearly_more(of_pairs["pixels"] - of_pairs["sides"], number):
        return None
    return Shift(pixels, clearly["sides"] and clearly["image"])


def _corners(case: Case, rows: NDArray[np.intp] | slice) -> tuple[FloatArray, FloatArray]:
    """(P, 4) the corners of the detections and objects of some pairs."""
    pairs = case.fewer_pairs
    found, wanted = case.detections.boxes[pairs.detections[rows]], case.ground_truth.boxes[pairs.objects[rows]]
    return convert(found, "xywh", "xyxy"), convert(wanted, "xywh", "xyxy")


def is_loose(case: Case, now: FloatArray) -> bool:
    """Whether a part of each box fits the pairs clearly better than a part of the distance to the origin does.

    The first is how a weak detector draws, and the second is an image of another size.

    Args:
        case: The data.
        now: (P,) the IoU of some of the pairs.
    """
    pairs, close = case.fewer_pairs, now >= MATCH
    if close.sum() < FEWEST:
        return False
    found, wanted = _corners(case, np.flatnonzero(close))
    twice = np.maximum(np.tile(wanted[:, 2:] - wanted[:, :2], 2), 1.0)
    left = _without_pixels(wanted - found, found, twice)
    of_pairs = {name: (np.abs(each) / twice).sum(axis=1) for name, each in left.items()}
    number = different(case.ground_truth.boxes[pairs.objects[close]])
    return all(_clearly_more(of_pairs[name] - of_pairs["sides"], number) for name in ("image", "nothing"))


def _without_pixels(apart: FloatArray, ends: FloatArray, twice: FloatArray) -> dict[str, FloatArray]:
    """(P, 4) what is left of the distances of edges after a part of each box, after a part of the image, as it is."""
    return {
        "sides": apart - twice * np.median(apart / twice, axis=0),
        "image": apart - ends * _of_the_origin(apart, ends, twice),
        "nothing": apart,
    }


def _is_large(pixels: FloatArray, sides: FloatArray) -> bool:
    return bool((np.abs(pixels) >= LEAST * np.tile(np.median(sides, axis=0), 2)).any())


def _of_the_origin(apart: FloatArray, ends: FloatArray, twice: FloatArray) -> FloatArray:
    """(4,) the part of their distance to the origin by which edges lie apart: one for x, and one for y."""
    far = np.maximum(np.abs(ends), twice)
    both = np.median((apart / far).reshape(-1, 2), axis=0)
    return np.tile(both, 2)


def _clearly_more(values: FloatArray, number: float) -> bool:
    """Whether the mean is above 0 by four standard errors, of so many independent values."""
    return float(values.mean()) > STANDARD_ERRORS * float(values.std()) / math.sqrt(number)


def within_a_step(case: Case, pixels: FloatArray) -> bool:
    """Whether a shift is less than the step to which one side was rounded: then it is that of the rounding."""
    grids = [grid for side in ("detections", "ground_truth") if (grid := grid_of(case, side)) is not None]
    return any((np.abs(pixels) < np.median(np.tile(grid.steps, 2), axis=0)).all() for grid in grids)


def of_wrong_side(
    case: Case, then: Mapping[Side, FloatArray], found: Mapping[Side, Suspicion], where: str
) -> Suspicion:
    """Of what is suspected of either side, that of the wrong one; if nothing tells, that of the detections says so.

    Args:
        case: The data.
        then: (N, 4) the changed boxes of each side.
        found: The suspicion of each side.
        where: What is wrong with its boxes, behind "that are".
    """
    side = _wrong_side(case, then)
    one = found[side or "detections"]
    said = "" if side else f". It may as well be the boxes of the ground truth that are {where}"
    return dataclasses.replace(one, message=f"{one.message}{said}")


def _wrong_side(case: Case, then: Mapping[Side, FloatArray]) -> Side | None:
    """Which side is wrong, if either matches after a change of its boxes; ``None`` if nothing tells.

    The masks of the annotations tell it, and their areas, if these are not those of the boxes. Borders of images do:
    boxes were cut there. If many edges come to lie at the border by the change, the boxes are wrong, and they are right
    if many leave it.
    """
    nearer = _nearer_to_masks(case, then["ground_truth"])
    if nearer is None:
        nearer = _nearer_to_areas(case, then["ground_truth"])
    if nearer is not None:
        return "ground_truth" if nearer else "detections"
    more = {side: _more_at_borders(case, side, boxes) for side, boxes in then.items()}
    if more["detections"] == more["ground_truth"]:
        return None
    return "detections" if more["detections"] > more["ground_truth"] else "ground_truth"


def _nearer_to_masks(case: Case, then: FloatArray) -> bool | None:
    """Whether the changed boxes of the objects are nearer to the boxes around their masks; ``None`` without masks."""
    gt = case.ground_truth
    rows = np.flatnonzero(~gt.crowd)
    rows = rows[:: max(1, len(rows) // LOOKED_AT)]
    some = gt.take(rows)
    try:
        masks = masks_of(case.data, some)
    except (ValueError, DatasetError, OSError):
        masks = None  # an error where masks are compared
    if masks is None:
        return None
    around, drawn = pixel_boxes(masks.to_boxes(), len(some)), masks.area > 0
    if not drawn.any() or (some.boxes[drawn] == around[drawn]).all():
        return None  # a tool that computes boxes from masks computes them from wrong ones, too
    apart = [float(np.median(np.abs(each[drawn] - around[drawn]).sum(axis=1))) for each in (some.boxes, then[rows])]
    return bool(apart[1] < apart[0])


def _nearer_to_areas(case: Case, then: FloatArray) -> bool | None:
    """Whether the areas of annotations are those of the changed boxes; ``None`` if they are of neither."""
    areas, kept = case.ground_truth.areas, (then[:, 2:] > 0).all(axis=1) & (case.ground_truth.areas > 0)
    if not kept.any():
        return None
    of_boxes = [each[kept, 2] * each[kept, 3] for each in (case.ground_truth.boxes, then)]
    with np.errstate(all="ignore"):
        apart = [float(np.median(np.abs(np.log(areas[kept] / each)))) for each in of_boxes]
    # A tool that computes areas from boxes computes them from wrong ones, too.
    return True if apart[1] < NEARER * apart[0] and apart[1] < LEAST else None


def _more_at_borders(case: Case, side: Side, then: FloatArray) -> int:
    """1 if more edges of the boxes lie at the borders of images after a change, -1 if fewer do, and 0 if about as many.

    Edges beyond a border count against those at it.
    """
    sizes = np.tile(case.sizes if side == "detections" else case.object_sizes, 2)
    corners = [convert(each, "xywh", "xyxy") for each in (case.data.of(side).boxes, then)]
    shift = np.abs(corners[1] - corners[0])
    changed, near = shift > AT_THE_BORDER, np.clip(OF_THE_SHIFT * shift, AT_THE_BORDER, MOST)
    first = np.array([True, True, False, False])
    counts = []
    for each in corners:
        over = np.where(first, -each, each - sizes)  # NaN where the size of the image is unknown
        at, beyond = np.abs(over) <= near, over > near
        counts.append(int((changed & at).sum()) - int((changed & beyond).sum()))
    more = counts[1] - counts[0]
    return int(np.sign(more)) if abs(more) >= max(FEWEST_EDGES, SHARE_OF_EDGES * len(then)) else 0
