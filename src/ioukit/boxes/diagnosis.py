"""What looks wrong with an array of boxes? The answer names rows and a way to mend them, and changes nothing."""

from __future__ import annotations

import contextlib
import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from ioukit._arrays import as_floats, computing_dtype
from ioukit._checks import FORMATS, check_format, check_positive
from ioukit.boxes.formats import convert

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from ioukit.boxes.polygons import Polygons
    from ioukit.typing import BoxFormat, FloatArray

    Mask: TypeAlias = NDArray[np.bool_]

__all__ = ["Diagnosis", "Finding", "Severity", "diagnose"]

Code: TypeAlias = Literal[
    "nan",
    "infinite",
    "too_large",
    "inverted",
    "zero_size",
    "mixed_units",
    "normalized_not_declared",
    "not_normalized",
    "degrees",
    "radians",
    "other_sense",
    "looks_like_xyxy",
    "looks_like_xywh",
    "looks_like_cxcywh",
    "negative",
    "partly_outside",
    "wholly_outside",
    "larger_than_image",
    "duplicate",
    "bad_runs",
    "other_size",
    "empty_mask",
    "full_mask",
]
CODES: tuple[Code, ...] = get_args(Code)
PolygonCode: TypeAlias = Literal[
    "no_points", "too_few_points", "zero_area", "self_crossing", "repeated_points", "mixed_orientation"
]
"""What only polygons can have."""
Severity: TypeAlias = Literal["error", "warning", "note"]

LOOKS_LIKE: dict[BoxFormat, Code] = {
    "xyxy": "looks_like_xyxy",
    "xywh": "looks_like_xywh",
    "cxcywh": "looks_like_cxcywh",
}

# The numbers of the heuristics; the docstring of `diagnose` says what they are for.
MOST_OF_A_NORMALIZED = 1.5
BEYOND_NORMALIZED = 2.0
SURELY_PIXELS = 10.0
STICKS_OUT = 0.1
MISFIT_SHARE = 0.1
MISFIT_ROWS = 3
BETTER = 5
ORDERED_ROWS = 10
TIMES_THE_IMAGE = 4.0
SHOWN_ROWS = 5


@dataclass(frozen=True)
class Finding:
    """One thing that looks wrong, and where."""

    code: Code | PolygonCode
    """What it is, for programs."""
    severity: Severity
    """``"error"``: `Boxes` refuses the rows. ``"warning"``: likely a mistake. ``"note"``: legal, and worth a look."""
    message: str
    """What it is, for people."""
    hint: str
    """How it may be mended."""
    rows: tuple[int, ...]
    """Which boxes, in ascending order."""

    @property
    def count(self) -> int:
        """How many boxes."""
        return len(self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with the ``count``."""
        return {**asdict(self), "rows": list(self.rows), "count": self.count}

    def __str__(self) -> str:
        shown = ", ".join(map(str, self.rows[:SHOWN_ROWS])) + (", ..." if self.count > SHOWN_ROWS else "")
        where = f"row{'s' if self.count > 1 else ''} {shown}"
        return f"{self.severity:<8}{self.code}: {self.message} ({where})\n{'':8}-> {self.hint}"


@dataclass(frozen=True)
class Diagnosis:
    """All that looks wrong with some boxes: iterate over it, print it, or ask whether it is `ok`."""

    findings: tuple[Finding, ...]
    """Errors first, then warnings, then notes."""
    num_boxes: int
    """How many boxes were looked at."""
    kind: str = "box"
    """What they are, in the singular."""

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        raise TypeError("a Diagnosis is neither true nor false: ask for .ok, or len() for the number of findings")

    def __str__(self) -> str:
        found = f"{len(self)} finding{'' if len(self) == 1 else 's'}" if self.findings else "nothing looks wrong"
        return "\n".join([f"{_counted(self.num_boxes, self.kind)}: {found}", *map(str, self.findings)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "ok": self.ok,
            "num_boxes": self.num_boxes,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def diagnose(
    array: Polygons | ArrayLike,
    format: BoxFormat = "xyxy",
    *,
    image_size: tuple[float, float] | None = None,
    normalized: bool = False,
) -> Diagnosis:
    """Says what looks wrong with the boxes of one image, or of many, and changes nothing.

    Facts, by row:

    - ``nan``, ``infinite``, ``too_large`` (beyond 2**126 in float16 and float32, 2**500 in float64, 2**53 in integers),
      ``inverted`` (a side below 0): errors; exactly the rows that `Boxes` refuses.
    - ``zero_size``: a side of 0, hence no area.
    - ``negative``: begins left of or above 0, where no image size is known.
    - ``partly_outside``, ``wholly_outside`` the image, touching it from outside included, where its size is known.
    - ``larger_than_image``: at least 4 times its area.
    - ``duplicate``: all numbers equal those of an earlier row.

    Guesses, which need finite rows:

    - ``normalized_not_declared``: no number beyond 1.5 in magnitude, and one is no integer. What follows then takes
      the image to be 1 by 1.
    - ``not_normalized``: declared as normalized, and at least half of the rows have a number beyond 2.
    - ``mixed_units``: declared as normalized, and fewer rows have one beyond 2; or declared as pixels, and some rows
      with an area and a fraction lie within [0, 1] while another has a number beyond 10.
    - ``degrees``: an angle, in radians, beyond 2 pi in magnitude; degrees below 6.3 cannot be told from radians.
    - ``radians``, ``other_sense``: of `RotatedBoxes` alone, whose method `RotatedBoxes.diagnose` says what they are.
    - ``looks_like_xyxy``, ``looks_like_xywh``, ``looks_like_cxcywh``: a row misfits a format if it has a side below 0,
      or sticks out of the image (where no size is known, of its left and upper edge) by more than a tenth of its side.
      At least a tenth of the rows and 3 of them (or all, if they are fewer) misfit the declared format, and at most a
      fifth as many the other. Of two other formats, that with fewer misfits; both if they are even. Corners
      read as xywh misfit nothing where no size is known; there, ``looks_like_xyxy`` needs 10 or more rows, each
      ending right of and below the two numbers it begins with, some beginning right of and some below where another
      ends. Centres read as xywh are not noticed without an image size.

    Of masks, which are given as a list of COCO's records (`Masks` have ``diagnose`` themselves): ``bad_runs``, exactly
    the records that `Masks.from_rle` refuses; ``other_size`` than the image's; ``empty_mask``, ``full_mask``; and
    ``duplicate``.

    A guess is a warning: a set of boxes may look odd and be right.

    `Polygons` are looked at by rules of their own, which `Polygons.diagnose` states.

    Args:
        array: (N, 4) numbers in ``format``, one box of 4 numbers, or ``[]``; or (N, 5) of rotated boxes with
            ``format="cxcywh"``, whose fifth number is an angle in radians. Any values, NaN and infinity included.
            Or a list of COCO's records of masks, ``{"size": [height, width], "counts": ...}``.
        format: What the numbers are said to be: ``"xyxy"``, ``"xywh"`` or ``"cxcywh"``.
        image_size: (width, height) in pixels, if all boxes are of images of this one size. Boxes that are `normalized`
            need none: their image is 1 by 1.
        normalized: Whether the unit is said to be the image rather than the pixel.

    Returns:
        A `Diagnosis`: findings with rows, in the order above within errors, warnings and notes.

    Raises:
        ValueError: If the shape, the format or the image size is wrong. Never for the value of a coordinate.
        TypeError: If the array does not hold real numbers.

    Examples:
        >>> print(diagnose([[100, 80, 40, 60], [300, 200, 50, 30], [10, 20, 15, 25]], image_size=(640, 480)))
        3 boxes: 1 finding
        error   inverted: 2 of 3 boxes have x2 < x1 or y2 < y1 (rows 0, 1)
                -> order the two numbers of each axis, if the format is right
        >>> diagnose([[100, 80, 40, 60], [300, 200, 50, 30], [10, 20, 15, 25]], "xywh", image_size=(640, 480)).ok
        True
    """
    from ioukit.boxes.polygons import Polygons  # noqa: PLC0415 - they are made of boxes, which use this

    if isinstance(array, Polygons):
        return array.diagnose(image_size)
    if isinstance(array, (list, tuple)) and any(isinstance(item, dict) for item in array[:1]):
        from ioukit.boxes._mask_diagnosis import diagnose_records  # noqa: PLC0415 - it takes its findings from here

        return diagnose_records(array, image_size)
    check_format(format)
    if image_size is not None:
        width, height = image_size
        check_positive(width=width, height=height)
    numbers, too_large = _numbers(array, format)
    case = _Case(numbers, too_large, format, image_size=image_size, normalized=normalized)
    found = [*_unusable(case), *_units(case), *_formats(case), *_places(case), *_duplicates(case)]
    order = get_args(Severity)
    return Diagnosis(tuple(sorted(found, key=lambda finding: order.index(finding.severity))), len(numbers))


class _Case:
    """The boxes and what several checks want to know of them."""

    def __init__(
        self,
        numbers: FloatArray,
        too_large: Mask,
        fmt: BoxFormat,
        *,
        image_size: tuple[float, float] | None,
        normalized: bool,
    ) -> None:
        self.numbers, self.too_large, self.fmt, self.normalized = numbers, too_large, fmt, normalized
        usable = self.usable = np.isfinite(numbers).all(axis=1) & ~too_large
        self.four = numbers[:, :4]  # (N, 4), without the angle
        self.rotated = numbers.shape[1] == 5
        with np.errstate(all="ignore"):
            self.sizes = convert(self.four, fmt, "xywh")[:, 2:]  # (N, 2)
            fractions = usable & _any(self.four % 1 != 0)
            self.inverted = usable & _any(self.sizes < 0)
            self.turned = usable & (np.abs(numbers[:, 4]) > 2 * math.pi) if self.rotated else np.zeros_like(usable)
        largest = np.where(usable, np.abs(self.four).max(axis=1, initial=0), 0)  # (N,)
        self.beyond = largest > BEYOND_NORMALIZED
        # At least half of the rows in pixels: it is the declaration that strays, not the rows.
        self.misdeclared = normalized and self.beyond.any() and 2 * int(self.beyond.sum()) >= int(usable.sum())
        self.undeclared = not normalized and fractions.any() and bool((largest <= MOST_OF_A_NORMALIZED).all())
        if normalized:
            self.stray = self.beyond & (not self.misdeclared)
        else:
            within = fractions & ~_any(self.four < 0) & (largest <= 1) & ~_any(self.sizes <= 0)
            self.stray = within & (largest > SURELY_PIXELS).any()
        self.image: FloatArray | None = None
        if self.undeclared or (normalized and not self.misdeclared):
            self.image = np.array([1.0, 1.0])
        elif image_size is not None:
            self.image = np.array(image_size, np.float64)

    def corners(self) -> tuple[FloatArray, FloatArray]:
        """(N, 2) least and (N, 2) largest coordinates; those of the box around a rotated one."""
        if not self.rotated:
            return _corners(self.four, self.fmt)
        angle = np.radians(self.numbers[:, 4]) if self.turned.any() else self.numbers[:, 4]
        cos, sin = np.abs(np.cos(angle)), np.abs(np.sin(angle))
        width, height = self.sizes.T
        half = np.stack([width * cos + height * sin, width * sin + height * cos], axis=1) / 2
        return self.numbers[:, :2] - half, self.numbers[:, :2] + half

    def finding(self, code: Code, severity: Severity, rows: Mask, says: str, hint: str) -> Iterator[Finding]:
        """The finding, if there are rows; ``says`` follows the number of boxes."""
        if rows.any():
            message = f"{int(rows.sum())} of {_counted(len(rows), 'box')} {says}"
            yield Finding(code, severity, message, hint, tuple(np.flatnonzero(rows).tolist()))


def _unusable(case: _Case) -> Iterator[Finding]:
    nan = _any(np.isnan(case.numbers))
    infinite = _any(np.isinf(case.numbers))
    drop = "drop the rows, and look for a division by zero or a diverged training where they come from"
    yield from case.finding("nan", "error", nan, "hold NaN", drop)
    yield from case.finding("infinite", "error", infinite & ~nan, "hold an infinite number", drop)
    yield from case.finding(
        "too_large", "error", case.too_large, "hold a number whose squares overflow or that is not exact",
        "these are no pixels: look for a failed exp() or a wrong dtype where they come from",
    )  # fmt: skip
    if case.fmt == "xyxy":
        says, hint = "have x2 < x1 or y2 < y1", "order the two numbers of each axis, if the format is right"
    else:
        says, hint = "have a negative width or height", "drop them, if the format is right"
    yield from case.finding("inverted", "error", case.inverted, says, hint)
    flat = case.usable & ~case.inverted & _any(case.sizes == 0)
    yield from case.finding(
        "zero_size", "warning", flat, "have no width or no height", "drop them: IoU with them is 0 (Boxes.drop_empty)"
    )


def _units(case: _Case) -> Iterator[Finding]:
    if case.undeclared:
        yield from case.finding(
            "normalized_not_declared", "warning", case.usable, "lie within an image of 1 by 1",
            "say normalized=True, or multiply by the size of the image",
        )  # fmt: skip
    elif case.misdeclared:
        yield from case.finding(
            "not_normalized", "warning", case.beyond, "are said to be normalized and lie beyond 2",
            "leave out normalized=True, or divide by the size of the image",
        )  # fmt: skip
    else:
        unit = "pixels" if case.normalized else "parts of the image"
        others = "parts of the image" if case.normalized else "pixels"
        yield from case.finding(
            "mixed_units", "warning", case.stray, f"seem to be in {unit}, the others in {others}",
            "bring all to one unit: Boxes.normalize or Boxes.denormalize with the size of the image",
        )  # fmt: skip
    yield from case.finding(
        "degrees", "warning", case.turned, "have an angle beyond 2 pi", "the angle is in radians: use numpy.radians"
    )


def _formats(case: _Case) -> Iterator[Finding]:
    """Whether another format fits the numbers much better than the declared one."""
    rows = case.four[case.usable]
    if case.rotated or not len(rows):
        return
    misfits = {fmt: _misfits(rows, fmt, case.image) for fmt in FORMATS}
    count = {fmt: int(mask.sum()) for fmt, mask in misfits.items()}
    declared = count.pop(case.fmt)
    ordered = case.image is None and _ordered(rows)
    if declared >= max(MISFIT_SHARE * len(rows), min(MISFIT_ROWS, len(rows))):
        fits = [fmt for fmt in count if count[fmt] == min(count.values()) and BETTER * count[fmt] <= declared]
        if ordered and "xyxy" in fits:
            fits = ["xyxy"]
        mask = case.usable.copy()
        mask[case.usable] = misfits[case.fmt]
    elif case.fmt == "xywh" and ordered:
        fits, mask = ["xyxy"], case.usable
    else:
        return
    for fmt in fits:
        alone = "" if len(fits) == 1 else f"; {' and '.join(fits)} fit equally, and an image size would tell"
        yield from case.finding(
            LOOKS_LIKE[fmt], "warning", mask, f"hardly fit {case.fmt!r}, and fit {fmt!r}{alone}",
            f"say format={fmt!r}, if that is where they come from",
        )  # fmt: skip


def _misfits(rows: FloatArray, fmt: BoxFormat, image: FloatArray | None) -> Mask:
    """(N,), true where a row is no box of an image if it is read in this format."""
    low, high = _corners(rows, fmt)
    slack = STICKS_OUT * np.abs(high - low)
    wrong: Mask = (high < low) | (low < -slack)
    if image is not None:
        wrong = wrong | (high > image + slack)
    return _any(wrong)


def _ordered(rows: FloatArray) -> bool:
    """Whether the rows are corners, though they would pass for sizes: many, in order, and spread over the image."""
    low, high = rows[:, :2], rows[:, 2:]
    spread = bool((low.max(axis=0) > high.min(axis=0)).all())
    return len(rows) >= ORDERED_ROWS and spread and bool((high > low).all())


def _places(case: _Case) -> Iterator[Finding]:
    rows = case.usable & ~case.inverted & ~case.stray
    with np.errstate(all="ignore"):
        low, high = case.corners()
    if case.image is None:
        yield from case.finding(
            "negative", "note", rows & _any(low < 0), "begin left of or above the image",
            "clip them (Boxes.clip), if the measure of the protocol is of the visible part",
        )  # fmt: skip
        return
    image = case.image
    away = rows & _any((high <= 0) | (low >= image))
    partly = rows & ~away & _any((low < 0) | (high > image))
    size = " by ".join(f"{side:g}" for side in image)
    yield from case.finding(
        "wholly_outside", "warning", away, f"lie wholly outside the image of {size}", "drop them, or check the size"
    )
    yield from case.finding(
        "partly_outside", "note", partly, f"stick out of the image of {size}",
        "clip them (Boxes.clip), if the measure of the protocol is of the visible part",
    )  # fmt: skip
    times = rows & (case.sizes.prod(axis=1, where=rows[:, None]) >= TIMES_THE_IMAGE * image.prod())
    yield from case.finding(
        "larger_than_image", "warning", times, f"have {TIMES_THE_IMAGE:g} or more times the area of the image",
        "check the unit and the size of the image",
    )  # fmt: skip


def _duplicates(case: _Case) -> Iterator[Finding]:
    usable = np.flatnonzero(case.usable)
    _, first = np.unique(case.numbers[usable] + 0.0, axis=0, return_index=True)
    again = case.usable.copy()
    again[usable[first]] = False
    yield from case.finding(
        "duplicate", "note", again, "repeat an earlier one", "drop them if they are of one image, class and score"
    )


def _any(numbers: Mask) -> Mask:
    """(N,), true where a number of the row is."""
    rows: Mask = np.logical_or.reduce(numbers, axis=1)
    return rows


def _corners(rows: FloatArray, fmt: BoxFormat) -> tuple[FloatArray, FloatArray]:
    corners = convert(rows, fmt, "xyxy")
    return corners[:, :2], corners[:, 2:]


def _counted(count: int, kind: str) -> str:
    plural = f"{kind}es" if kind.endswith("x") else f"{kind}s"
    return f"{count:,} {kind if count == 1 else plural}"


def _numbers(array: object, fmt: BoxFormat) -> tuple[FloatArray, Mask]:
    """(N, 4) or (N, 5) in float64, and (N,) where `Boxes` finds a number too large."""
    if not isinstance(array, (np.ndarray, list, tuple)):
        given = type(array).__name__
        raise TypeError(f"diagnose takes a NumPy array or nested lists, got {given}; Boxes have .diagnose() themselves")
    data = array
    if not isinstance(array, np.ndarray):
        with contextlib.suppress(ValueError):  # as_floats says what is wrong with a ragged list
            data = np.asarray(array)
    if isinstance(data, np.ndarray) and data.dtype.kind in "iu":
        exact = 2**53
        numbers: FloatArray = data.astype(np.float64)
        large: Mask = (data > exact) | (data < -exact) if data.itemsize == 8 else np.zeros(data.shape, np.bool_)
    else:
        floats = as_floats(array, "array")
        limit = 2.0**126 if computing_dtype(floats.dtype) == np.float32 else 2.0**500
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
