"""What looks wrong with upright boxes, and with arrays of numbers that may not be valid boxes?"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import FORMATS, check_format, largest_coordinate
from ioukit.checks.diagnosis._common_rules import Units, check_image_size, duplicates, places, repeated_rows
from ioukit.checks.diagnosis.findings import Code, Collector, Diagnosis
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from ioukit.checks.diagnosis.findings import Mask
    from ioukit.typing import BoxFormat, FloatArray


LOOKS_LIKE: dict[str, Code] = {
    "xyxy": "looks_like_xyxy",
    "yxyx": "looks_like_yxyx",
    "xywh": "looks_like_xywh",
    "cxcywh": "looks_like_cxcywh",
}
LAYOUTS = {
    "xyxy": "[x1, y1, x2, y2]",
    "yxyx": "[y1, x1, y2, x2]",
    "cxcywh": "[centre x, centre y, width, height]",
    "yxhw": "[y, x, height, width]",
    "yxwh": "[y, x, width, height]",
    "xyhw": "[x, y, height, width]",
    "xxyy": "[x1, x2, y1, y2]",
}
"""The numbers of a box in other formats than COCO's ``[x, y, width, height]``, in words."""

# The thresholds of the rules. They are choices, which the docstring of `diagnose_boxes` explains; none was measured.
STICKS_OUT = 0.1
MISFIT_SHARE = 0.1
MISFIT_ROWS = 3
BETTER = 5
ORDERED_ROWS = 10
TIMES_THE_IMAGE = 4.0


def diagnose_boxes(
    array: object, fmt: BoxFormat, *, image_size: tuple[float, float] | None, normalized: bool
) -> Diagnosis:
    """Findings about upright boxes, or about an array of numbers that may not be valid boxes.

    Facts about single rows:

    - ``nan``, ``infinite``, ``too_large`` (beyond 2**126 in float16 and float32, 2**500 in float64, 2**53 in integers),
      ``inverted`` (a negative side): exactly the rows that `Boxes` refuses, so only arrays can have them.
    - ``zero_size``: a side is 0, so the box has no area.
    - ``negative``: a coordinate is below 0. Only if the size of the image is unknown.
    - ``partly_outside``, ``wholly_outside`` the image, if its size is known. A box that only touches the image is
      wholly outside.
    - ``larger_than_image``: at least 4 times the area of the image.
    - ``duplicate``: all numbers equal those of an earlier row.

    Guesses from all finite rows:

    - ``normalized_not_declared``: no number is beyond 1.5 in magnitude, and one is not an integer. All further rules
      then take 1 by 1 as the size of the image.
    - ``not_normalized``: the boxes are declared as normalized, and at least half of the rows have a number beyond 2.
    - ``mixed_units``: the boxes are declared as normalized, and fewer rows have a number beyond 2. Or they are declared
      as pixels, some rows with an area and a fraction are within [0, 1], and another row has a number beyond 10.
    - ``degrees``, for arrays with 5 columns: an angle, in radians, is beyond 2 pi in magnitude. Degrees below 6.3
      cannot be told from radians.
    - ``looks_like_xyxy``, ``looks_like_xywh``, ``looks_like_cxcywh``: the rows fit another format much better. A row
      misfits a format if it has a negative side, or if more than a tenth of its side is outside the image (if the size
      is unknown: below 0). At least a tenth of the rows, and at least 3 rows (or all, if there are fewer), must misfit
      the declared format, and at most a fifth as many may misfit the other format. Of two other formats, the one with
      fewer misfits is reported, or both if they are equal.
      Without an image size, corners that are declared as xywh have no misfits. Then ``looks_like_xyxy`` needs at least
      10 rows. In each, the last two numbers must be larger than the first two, and along both axes some row must begin
      beyond the end of another. Centres that are declared as xywh cannot be noticed without an image size.

    Args:
        array: (N, 4) numbers, or (N, 5) with an angle in radians.
        fmt: The declared format.
        image_size: (width, height) in pixels, if all boxes are from images of one size.
        normalized: Whether the declared unit is the image.
    """
    case = _Case(array, fmt, image_size=image_size, normalized=normalized)
    _collect(case)
    hint = "the angles are read as radians: convert degrees by numpy.radians"
    case.found.add("degrees", "warning", case.turned, "have an angle beyond 2 pi", hint)
    return case.found.diagnosis()


def collect(array: FloatArray, fmt: BoxFormat, *, image_size: tuple[float, float] | None) -> Collector:
    """The findings of all rules except those about angles; the caller may add more."""
    case = _Case(array, fmt, image_size=image_size, normalized=False)
    _collect(case)
    return case.found


class _Case:
    """The boxes, and values that several rules use."""

    def __init__(
        self, array: object, fmt: BoxFormat, *, image_size: tuple[float, float] | None, normalized: bool
    ) -> None:
        check_format(fmt)
        check_image_size(image_size)
        numbers, too_large = _numbers(array, fmt)
        self.numbers, self.too_large, self.fmt = numbers, too_large, fmt
        self.found = Collector(len(numbers), "box")
        usable = self.usable = np.isfinite(numbers).all(axis=1) & ~too_large
        self.four = numbers[:, :4]  # (N, 4), without the angle
        self.rotated = numbers.shape[1] == 5
        self.regions = "RotatedBoxes" if self.rotated else "Boxes"
        with np.errstate(all="ignore"):
            self.sizes = convert(self.four, fmt, "xywh")[:, 2:]  # (N, 2)
            fractions = usable & _any(self.four % 1 != 0)
            self.inverted = usable & _any(self.sizes < 0)
            self.turned = usable & (np.abs(numbers[:, 4]) > 2 * math.pi) if self.rotated else np.zeros_like(usable)
        self.units = Units(
            self.four,
            self.sizes,
            largest=np.where(usable, np.abs(self.four).max(axis=1, initial=0), 0),
            fractions=fractions,
            usable=usable,
            image_size=image_size,
            normalized=normalized,
        )

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """(N, 2) smallest and (N, 2) largest coordinates, of the upright box around a rotated box."""
        if not self.rotated:
            return _corners(self.four, self.fmt)
        angle = np.radians(self.numbers[:, 4]) if self.turned.any() else self.numbers[:, 4]
        cos, sin = np.abs(np.cos(angle)), np.abs(np.sin(angle))
        width, height = self.sizes.T
        half = np.stack([width * cos + height * sin, width * sin + height * cos], axis=1) / 2
        return self.numbers[:, :2] - half, self.numbers[:, :2] + half


def _collect(case: _Case) -> None:
    _unusable(case)
    case.units.find(case.found, case.regions)
    _formats(case)
    _places(case)
    duplicates(case.found, repeated_rows(case.numbers, case.usable))


def _unusable(case: _Case) -> None:
    nan = _any(np.isnan(case.numbers))
    infinite = _any(np.isinf(case.numbers))
    drop = "drop the rows, and look for the cause, such as a division by zero or a training that diverged"
    case.found.add("nan", "error", nan, "hold NaN", drop)
    case.found.add("infinite", "error", infinite & ~nan, "hold an infinite number", drop)
    case.found.add(
        "too_large", "error", case.too_large, "hold a number that is not exact, or whose square overflows",
        "these cannot be pixels: look for the cause, such as an exp() of a large number or a wrong dtype",
    )  # fmt: skip
    if case.fmt == "xyxy":
        says, hint = "have x2 < x1 or y2 < y1", "order the two numbers of each axis, if the format is right"
    else:
        says, hint = "have a negative width or height", "drop them, if the format is right"
    case.found.add("inverted", "error", case.inverted, says, hint)
    flat = case.usable & ~case.inverted & _any(case.sizes == 0)
    hint = f"drop them: IoU with them is 0 ({case.regions}.drop_empty)"
    case.found.add("zero_size", "warning", flat, "have no width or no height", hint)


def _formats(case: _Case) -> None:
    """Adds a finding if another format fits the numbers much better than the declared one."""
    rows = case.four[case.usable]
    if case.rotated or not len(rows):
        return
    fits, misfits = other_formats(rows, case.fmt, case.units.image)
    mask = case.usable.copy()
    mask[case.usable] = misfits
    for fmt in fits:
        tie = "" if len(fits) == 1 else f"; {' and '.join(fits)} fit equally, and an image size would tell"
        case.found.add(
            LOOKS_LIKE[fmt], "warning", mask, f"hardly fit {case.fmt!r}, and fit {fmt!r}{tie}",
            f"pass format={fmt!r} if that is their format",
        )  # fmt: skip


def other_formats(
    rows: FloatArray, declared: BoxFormat, image: FloatArray | None, *, axes: bool = False
) -> tuple[list[str], Mask]:
    """The formats that fit much better than the declared one, by the rules of `diagnose_boxes`, and why.

    Args:
        rows: (N, 4) finite numbers, at least one row.
        declared: The declared format.
        image: (2,) width and height of the image of all rows, or (N, 2) of each, NaN where unknown; None if all are
            unknown.
        axes: Whether ``"yxyx"``, which only images of unequal sides can tell from ``"xyxy"``, is one of the formats.

    Returns:
        The formats, several if they fit equally; and (N,) which rows do not fit the declared format.
    """
    misfits: dict[str, Mask] = {fmt: _misfits(rows, fmt, image) for fmt in FORMATS}
    if axes and image is not None:
        exchanged = _misfits(rows[:, [1, 0, 3, 2]], "xyxy", image)
        if exchanged.sum() < misfits["xyxy"].sum():
            misfits["yxyx"] = exchanged
    count = {fmt: int(mask.sum()) for fmt, mask in misfits.items()}
    misfitting = count.pop(declared)
    ordered = image is None and _ordered(rows)
    if misfitting >= max(MISFIT_SHARE * len(rows), min(MISFIT_ROWS, len(rows))):
        fits = [fmt for fmt in count if count[fmt] == min(count.values()) and BETTER * count[fmt] <= misfitting]
        return ["xyxy"] if ordered and "xyxy" in fits else fits, misfits[declared]
    if declared == "xywh" and ordered:
        return ["xyxy"], np.ones(len(rows), np.bool_)
    return [], misfits[declared]


def _misfits(rows: FloatArray, fmt: BoxFormat, image: FloatArray | None) -> Mask:
    """(N,) true where a row, read in this format, is not a box inside an image."""
    low, high = _corners(rows, fmt)
    slack = STICKS_OUT * np.abs(high - low)
    wrong: Mask = (high < low) | (low < -slack)
    if image is not None:
        wrong = wrong | (high > image + slack)
    return _any(wrong)


def _ordered(rows: FloatArray) -> bool:
    """Whether the rows look like corners although they could be sizes: many, in order, and spread over the image."""
    low, high = rows[:, :2], rows[:, 2:]
    spread = bool((low.max(axis=0) > high.min(axis=0)).all())
    return len(rows) >= ORDERED_ROWS and spread and bool((high > low).all())


def _places(case: _Case) -> None:
    rows, image = case.usable & ~case.inverted & ~case.units.stray, case.units.image
    with np.errstate(all="ignore"):
        low, high = case.corners()
    places(case.found, low, high, rows, image, case.regions)
    if image is not None:
        times = rows & (case.sizes.prod(axis=1, where=rows[:, None]) >= TIMES_THE_IMAGE * image.prod())
        says = f"have at least {TIMES_THE_IMAGE:g} times the area of the image"
        case.found.add("larger_than_image", "warning", times, says, "check the unit and the size of the image")


def _any(numbers: Mask) -> Mask:
    """(N,) true where one number of the row is true."""
    rows: Mask = np.logical_or.reduce(numbers, axis=1)
    return rows


def _corners(rows: FloatArray, fmt: BoxFormat) -> tuple[FloatArray, FloatArray]:
    corners = convert(rows, fmt, "xyxy")
    return corners[:, :2], corners[:, 2:]


def _numbers(array: object, fmt: BoxFormat) -> tuple[FloatArray, Mask]:
    """(N, 4) or (N, 5) numbers in float64, and (N,) whether `Boxes` would refuse a number as too large."""
    if not isinstance(array, (np.ndarray, list, tuple)):
        given = type(array).__name__
        raise TypeError(f"diagnose takes regions, records of masks, a NumPy array or nested lists, got {given}")
    data = array
    if not isinstance(array, np.ndarray):
        with contextlib.suppress(ValueError):  # as_floats raises the error about a ragged list
            data = np.asarray(array)
    if isinstance(data, np.ndarray) and data.dtype.kind in "iu":
        exact = 2**53
        numbers: FloatArray = data.astype(np.float64)
        large: Mask = (data > exact) | (data < -exact) if data.itemsize == 8 else np.zeros(data.shape, np.bool_)
    else:
        floats = as_floats(array, "array")
        limit = largest_coordinate(computing_dtype(floats.dtype))
        numbers = floats.astype(np.float64)
        large = np.isfinite(numbers) & (np.abs(numbers) > limit)
    if numbers.ndim == 1 and numbers.size in (0, 4, 5):
        columns = numbers.size or 4
        numbers, large = numbers.reshape(-1, columns), large.reshape(-1, columns)
    if numbers.ndim != 2 or numbers.shape[1] not in (4, 5):
        raise ValueError(f"array must have shape (N, 4), or (N, 5) for rotated boxes, got {numbers.shape}")
    if numbers.shape[1] == 5 and fmt != "cxcywh":
        raise ValueError(f"5 numbers are cx, cy, w, h and an angle: pass format='cxcywh', got {fmt!r}")
    return numbers, _any(large)
