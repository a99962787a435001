"""Rules that hold for several kinds of regions: units, places in the image, repetitions, angles, references."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from ioukit._checks import check_positive

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from ioukit.diagnosis.findings import Collector, Mask
    from ioukit.regions._turned import TurnedBoxes
    from ioukit.regions.regions import Regions
    from ioukit.typing import AngleSense, FloatArray

    Turned = TypeVar("Turned", bound=TurnedBoxes)
    AnyRegions = TypeVar("AnyRegions", bound=Regions)

__all__ = [
    "Units",
    "angles",
    "best_overlaps",
    "check_image_size",
    "check_reference",
    "duplicates",
    "places",
    "repeated_keys",
    "repeated_rows",
    "senses",
]

# The numbers of the heuristics; the docstrings of the methods `diagnose` say what they are for.
MOST_OF_A_NORMALIZED = 1.5
BEYOND_NORMALIZED = 2.0
SURELY_PIXELS = 10.0
RADIANS_ROWS = 3
BETTER_IOU = 0.1

PAIRS_AT_ONCE = 1 << 22


def check_image_size(image_size: tuple[float, float] | None) -> None:
    """Refuses what is no (width, height)."""
    if image_size is not None:
        width, height = image_size
        check_positive(width=width, height=height)


class Units:
    """Whether the numbers are pixels or parts of the image, as they are said to be, and what the image is then.

    Args:
        numbers: (N, 4), of a box or of the box around.
        sizes: (N, 2).
        largest: (N,) the largest number in magnitude, 0 for rows that tell nothing.
        fractions: (N,) whether a number is no integer.
        usable: (N,) whether the row tells something.
        image_size: (width, height) in pixels, if known.
        normalized: What is said of the unit.
    """

    def __init__(
        self,
        numbers: FloatArray,
        sizes: FloatArray,
        *,
        largest: FloatArray,
        fractions: Mask,
        usable: Mask,
        image_size: tuple[float, float] | None,
        normalized: bool,
    ) -> None:
        self.usable, self.normalized = usable, normalized
        self.beyond = largest > BEYOND_NORMALIZED
        # At least half of the rows in pixels: it is the declaration that strays, not the rows.
        self.misdeclared = normalized and bool(self.beyond.any()) and 2 * self.beyond.sum() >= usable.sum()
        self.undeclared = not normalized and bool(fractions.any() and (largest <= MOST_OF_A_NORMALIZED).all())
        self.stray: Mask
        if normalized:
            self.stray = self.beyond & (not self.misdeclared)
        else:
            within = usable & fractions & ~(numbers < 0).any(axis=1) & (largest <= 1) & (sizes > 0).all(axis=1)
            self.stray = within & (largest > SURELY_PIXELS).any()
        self.image: FloatArray | None = None
        if self.undeclared or (normalized and not self.misdeclared):
            self.image = np.array([1.0, 1.0])
        elif image_size is not None:
            self.image = np.array(image_size, np.float64)

    def find(self, found: Collector, regions: str) -> None:
        """``normalized_not_declared``, ``not_normalized`` or ``mixed_units``."""
        declarable = regions != "RotatedBoxes"  # in parts of an image, they would have no right angles
        found.add(
            "normalized_not_declared", "warning", self.usable & self.undeclared, "lie within an image of 1 by 1",
            f"{'say normalized=True, or ' if declarable else ''}multiply by the size of the image",
        )  # fmt: skip
        found.add(
            "not_normalized", "warning", self.beyond & self.misdeclared, "are said to be normalized and lie beyond 2",
            "leave out normalized=True, or divide by the size of the image",
        )  # fmt: skip
        if self.undeclared or self.misdeclared:
            return
        unit, others = ("pixels", "parts of the image")[:: 1 if self.normalized else -1]
        how = f": {regions}.normalize or {regions}.denormalize with the size of the image" if declarable else ""
        found.add(
            "mixed_units", "warning", self.stray, f"seem to be in {unit}, the others in {others}",
            f"bring all to one unit{how}",
        )  # fmt: skip


def places(
    found: Collector, low: FloatArray, high: FloatArray, rows: Mask, image: FloatArray | None, regions: str
) -> None:
    """``negative``, or where the image is known ``wholly_outside`` and ``partly_outside``, of those (N,) rows.

    Args:
        found: Where it goes.
        low: (N, 2) least coordinates.
        high: (N, 2) largest.
        rows: (N,) which to look at.
        image: (2,) width and height, if known.
        regions: The name of the kind, for hints.
    """
    clip = f"clip them ({regions}.clip), if the measure of the protocol is of the visible part"
    if regions == "RotatedBoxes":
        clip = "keep them, if the measure of the protocol is of the whole: what an image leaves of them is no rectangle"
    if image is None:
        found.add("negative", "note", rows & (low < 0).any(axis=1), "begin left of or above the image", clip)
        return
    away = rows & ((high <= 0) | (low >= image)).any(axis=1)
    partly = rows & ~away & ((low < 0) | (high > image)).any(axis=1)
    size = " by ".join(f"{side:g}" for side in image)
    found.add(
        "wholly_outside", "warning", away, f"lie wholly outside the image of {size}", "drop them, or check the size"
    )
    found.add("partly_outside", "note", partly, f"stick out of the image of {size}", clip)


def duplicates(found: Collector, again: Mask, says: str = "repeat an earlier one") -> None:
    """``duplicate``: of the (N,) rows that repeat another."""
    found.add("duplicate", "note", again, says, "drop them if they are of one image, class and score")


def repeated_rows(numbers: FloatArray, usable: Mask) -> Mask:
    """(N,), true where all numbers equal those of an earlier row."""
    rows = np.flatnonzero(usable)
    _, first = np.unique(numbers[rows] + 0.0, axis=0, return_index=True)
    again: Mask = usable.copy()
    again[rows[first]] = False
    return again


def repeated_keys(keys: Sequence[Hashable | None]) -> Mask:
    """(N,), true where an earlier key is the same; None repeats nothing."""
    seen: set[Hashable] = {None}
    again = np.zeros(len(keys), np.bool_)
    for row, key in enumerate(keys):
        again[row] = key is not None and key in seen
        seen.add(key)
    return again


def angles(found: Collector, boxes: TurnedBoxes) -> None:
    """``degrees`` said to be radians, and the reverse."""
    small = np.abs(boxes.angle) <= 2 * math.pi
    if boxes.unit == "radians":
        found.add(
            "degrees", "warning", ~small, "have an angle beyond 2 pi", "say unit='degrees', if that is what they are"
        )
    elif len(boxes) >= RADIANS_ROWS and small.all() and (boxes.angle % 1 != 0).any():
        says = f"no angle of {len(boxes):,} boxes is beyond 2 pi degrees, and some are no whole degrees"
        rows = boxes.angle != 0
        found.state("radians", "warning", rows, says, "say unit='radians', if that is what they are")


def check_reference(boxes: Regions, reference: object) -> None:
    """Refuses a reference of another kind."""
    if reference is not None and not isinstance(reference, type(boxes)):
        raise TypeError(f"reference must be {type(boxes).__name__} like the boxes, got {type(reference).__name__}")


def best_overlaps(
    regions: AnyRegions, reference: AnyRegions, iou: Callable[[AnyRegions, AnyRegions], FloatArray]
) -> FloatArray:
    """(N,) the IoU of each with the best of the reference, which has one at least."""
    step = max(1, PAIRS_AT_ONCE // len(reference))
    parts = [iou(regions[row : row + step], reference).max(axis=1) for row in range(0, len(regions), step)]
    return np.concatenate(parts)


def senses(found: Collector, boxes: Turned, reference: Turned, best: Callable[[Turned, Turned], FloatArray]) -> Turned:
    """``other_sense``; returns the boxes with the sense that fits the reference."""
    other: AngleSense = "clockwise" if boxes.sense == "counterclockwise" else "counterclockwise"
    flipped = boxes._with(boxes.numpy(), sense=other)
    as_said, as_flipped = best(boxes, reference), best(flipped, reference)
    if as_flipped.mean() < as_said.mean() + BETTER_IOU:
        return boxes
    says = (
        f"the mean IoU with the best of the reference is {as_said.mean():.2f}, "
        f"and {as_flipped.mean():.2f} if the angles are {other}"
    )
    hint = f"one of the two may be wrong: say sense={other!r} of one"
    found.state("other_sense", "warning", as_flipped > as_said, says, hint)
    return flipped
