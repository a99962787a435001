"""Rules for several kinds of regions: units, places in the image, and duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._checks import check_positive

if TYPE_CHECKING:
    from collections.abc import Hashable, Sequence

    from ioukit.checks.diagnosis.findings import Collector, Mask
    from ioukit.typing import FloatArray


# The thresholds of the rules. They are choices, which the docstrings of `diagnose_<kind>` explain; none was measured.
MOST_OF_A_NORMALIZED = 1.5
BEYOND_NORMALIZED = 2.0
SURELY_PIXELS = 10.0


def check_image_size(image_size: tuple[float, float] | None) -> None:
    """Raises an error unless the size is None or (width, height), both positive."""
    if image_size is not None:
        width, height = image_size
        check_positive(width=width, height=height)


class Units:
    """Whether the numbers are in the declared unit, and the size of the image in this unit.

    Args:
        numbers: (N, 4) of the boxes, or of the boxes around the regions.
        sizes: (N, 2) widths and heights.
        largest: (N,) the largest magnitude in each row, 0 for rows without valid numbers.
        fractions: (N,) whether a number of the row is not an integer.
        usable: (N,) whether the row has valid numbers.
        image_size: (width, height) in pixels, if known.
        normalized: The declared unit.
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
        # If at least half of the rows look like pixels, the declaration is wrong rather than the rows.
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
        declarable = regions != "RotatedBoxes"  # normalized, they would have no right angles
        found.add(
            "normalized_not_declared", "warning", self.usable & self.undeclared, "fit into an image of 1 by 1",
            f"{'pass normalized=True, or ' if declarable else ''}multiply by the size of the image",
        )  # fmt: skip
        found.add(
            "not_normalized", "warning", self.beyond & self.misdeclared, "are declared as normalized and lie beyond 2",
            "leave out normalized=True, or divide by the size of the image",
        )  # fmt: skip
        if self.undeclared or self.misdeclared:
            return
        unit, others = ("in pixels", "normalized")[:: 1 if self.normalized else -1]
        how = f": {regions}.normalize or {regions}.denormalize with the size of the image" if declarable else ""
        found.add(
            "mixed_units", "warning", self.stray, f"seem to be {unit}, and the others {others}",
            f"bring all to one unit{how}",
        )  # fmt: skip


def places(
    found: Collector, low: FloatArray, high: FloatArray, rows: Mask, image: FloatArray | None, regions: str
) -> None:
    """Adds ``negative`` or, if the size of the image is known, ``wholly_outside`` and ``partly_outside``.

    Args:
        found: Where findings are added.
        low: (N, 2) smallest coordinates.
        high: (N, 2) largest coordinates.
        rows: (N,) whether to check a row.
        image: (2,) width and height of the image, if known.
        regions: The name of the kind, for hints.
    """
    clip = f"clip them ({regions}.clip) if your protocol measures the visible part"
    if regions == "RotatedBoxes":
        clip = "keep them if your protocol measures whole boxes: the visible part of a rotated box is not a rectangle"
    if image is None:
        found.add("negative", "note", rows & (low < 0).any(axis=1), "have a coordinate below 0", clip)
        return
    away = rows & ((high <= 0) | (low >= image)).any(axis=1)
    partly = rows & ~away & ((low < 0) | (high > image)).any(axis=1)
    size = " by ".join(f"{side:g}" for side in image)
    found.add(
        "wholly_outside", "warning", away, f"lie wholly outside the image of {size}", "drop them, or check the size"
    )
    found.add("partly_outside", "note", partly, f"reach beyond the image of {size}", clip)


def duplicates(found: Collector, again: Mask, says: str = "repeat an earlier one") -> None:
    """Adds ``duplicate`` for the (N,) rows that repeat an earlier one."""
    found.add("duplicate", "note", again, says, "drop them if image, class and score are equal, too")


def repeated_rows(numbers: FloatArray, usable: Mask) -> Mask:
    """(N,) true where all numbers equal those of an earlier row."""
    rows = np.flatnonzero(usable)
    _, first = np.unique(numbers[rows] + 0.0, axis=0, return_index=True)
    again: Mask = usable.copy()
    again[rows[first]] = False
    return again


def repeated_keys(keys: Sequence[Hashable | None]) -> Mask:
    """(N,) true where an earlier key is equal; None is never a repetition."""
    seen: set[Hashable] = {None}
    again = np.zeros(len(keys), np.bool_)
    for row, key in enumerate(keys):
        again[row] = key is not None and key in seen
        seen.add(key)
    return again
