"""Rules about the numbers of boxes: another format, another unit, beyond the image."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._checks import agree
from ioukit._words_and_colours import percent
from ioukit.checks import diagnose
from ioukit.checks.diagnosis._common_rules import SURELY_PIXELS
from ioukit.checks.diagnosis.boxes import LAYOUTS
from ioukit.checks.repairs.boxes import FORMATS, ORDERS, as_pixels, as_xywh
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.rules.readings import NAMES, OTHER, Reading, best_reading
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.checks.suspicion import Sure
    from ioukit.typing import FloatArray

    Flags = NDArray[np.bool_]


WORDS = {
    **LAYOUTS,
    "fractions": "fractions of the image",
    "scaled-twice": "fractions of the image that were multiplied by its size twice",
}

# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
# A fraction is at most 1; boxes may reach a little beyond the image.
MOST_OF_A_FRACTION = 2.0
# Pixels that were multiplied by the size of the image again lie far beyond it.
TIMES_BEYOND = 3.0
BEYOND = 0.02
OFTEN_BEYOND = 0.05
FAR_BEYOND = 0.25
BEYOND_PIXELS = 1.0
OFTEN_FAR = 0.01
FEWEST_BEYOND = 5
FEWEST_OUTSIDE, OFTEN_OUTSIDE = 3, 0.05  # boxes wholly outside, and their share of those that reach beyond
STILL_BEYOND = 0.1  # share of these after width and height are exchanged
ALIKE = 0.5
AS_GOOD = 0.97  # of the gain of the best reading: then the overlaps do not tell which one it is
NEARLY_AS_GOOD = 0.9  # of the gain of the other side: then the borders of the images tell which side it is


def of_ground_truth(case: Case) -> Iterator[Suspicion]:
    """Ground truth that reads better in another format, by the rules of `ioukit.checks.diagnose_data`."""
    for finding in diagnose(case.ground_truth):
        sure: Sure = "likely"
        repair: Repair | None = Repair("boxes", finding.code.removeprefix("looks_like_"), "ground_truth")
        if finding.code == "normalized_not_declared":
            repair = Repair("units", "fractions", "ground_truth")
            if np.isnan(case.object_sizes).any():
                # Formats such as that of Open Images have fractions and no sizes; IoU is the same in both units.
                sure, repair = "possible", None
        yield Suspicion(
            f"ground_truth_{finding.code}", sure, finding.message, finding.count, len(case.ground_truth),
            finding.hint, repair=repair, least_gain=0.005,
        )  # fmt: skip


class _Candidate(NamedTuple):
    repairs: tuple[tuple[str, str], ...]
    """In the order in which they work."""
    boxes: FloatArray

    @property
    def values(self) -> list[str]:
        """The unit before the format."""
        return [value for _, value in sorted(self.repairs, reverse=True)]

    @property
    def words(self) -> str:
        return " and ".join(WORDS[value] for value in self.values)


class _Best(NamedTuple):
    reading: Reading
    candidate: _Candidate
    as_good: list[str]
    """Other readings that the overlaps cannot tell from it."""
    beyond: tuple[int, int]
    """How many boxes reach beyond their images as they are, and if they are read so."""


def readings(case: Case) -> Iterator[Suspicion]:
    """Boxes of either side that match those of the other side after another reading of their numbers.

    Every combination of a format and a unit is tried. A reading is suspicious if the objects have a much larger IoU
    with their best detection: of all images, or of some images that then match as well as the others do.
    """
    if case.iou_type != "bbox":
        return
    found = {side: one for side in NAMES if (one := _best(case, side)) is not None}
    for side in _by_borders(case, found):
        yield _suspicion(case, side, found)
    yield from _fractions_without_sizes(case)


def _by_borders(case: Case, found: dict[Side, _Best]) -> list[Side]:
    """The sides of which a reading is told: where both match about as well, the one that the borders of images name.

    Where x and y are exchanged, both sides can be it. AP hardly differs then, but the boxes of the right side lie
    inside their images as they are, and beyond them if they are read otherwise.
    """
    gains = [one.reading.gain for one in found.values()]
    if len(found) < 2 or min(gains) < NEARLY_AS_GOOD * max(gains):
        return list(found)
    fewer = {side: (now - then) / len(case.data.of(side)) for side, (*_, (now, then)) in found.items()}
    most = max(fewer.values())
    return [side for side in found if fewer[side] == most]


def _best(case: Case, side: Side) -> _Best | None:
    """The reading of one side that matches best, if one matches much better."""
    best: tuple[Reading, _Candidate] | None = None
    gains: dict[str, float] = {}
    for candidate in _candidates(case, side):
        then = case.overlaps_of(candidate.boxes, side)
        reading = best_reading(case, side, candidate.boxes, case.overlaps, then, case.pairs)
        gains[candidate.words] = 0.0 if reading is None else reading.gain
        if reading is not None and (best is None or reading.gain > best[0].gain):
            best = reading, candidate
    if best is None:
        return None
    (gain, *_), words = best[0], best[1].words
    as_good = [one for one in gains if one != words and AS_GOOD * gain <= gains[one] <= gain]
    return _Best(*best, as_good, _beyond_now_and_then(case, side, *best))


def _beyond_now_and_then(case: Case, side: Side, reading: Reading, candidate: _Candidate) -> tuple[int, int]:
    rows = reading.rows(case.data.of(side))
    sizes = _sizes_of(case, side)[rows]
    now, then = (_beyond(boxes[rows], sizes).number for boxes in (case.data.of(side).boxes, candidate.boxes))
    return now, then


def _fractions_without_sizes(case: Case) -> Iterator[Suspicion]:
    """One side in fractions and the other in pixels, where no size of an image is known to repair it."""
    if not len(case.detections) or not len(case.ground_truth) or not np.isnan(case.ground_truth.images.sizes).all():
        return
    largest = {side: float(np.abs(case.data.of(side).boxes).max()) for side in NAMES}
    for side, other in OTHER.items():
        if largest[side] <= MOST_OF_A_FRACTION and largest[other] > SURELY_PIXELS:
            data = case.data.of(side)
            yield Suspicion(
                f"{side}_are_fractions", "likely",
                f"no number of the boxes of the {NAMES[side]} is above {MOST_OF_A_FRACTION:g}, and the boxes of the "
                f"{NAMES[other]} reach {largest[other]:g}: fractions and pixels do not match",
                len(data), len(data), "multiply the fractions by the size of the image",
            )  # fmt: skip


def _candidates(case: Case, side: Side) -> Iterator[_Candidate]:
    """The readings that the magnitudes of the numbers allow."""
    data = case.data.of(side)
    boxes, sizes = data.boxes, case.sizes if side == "detections" else case.object_sizes
    for fmt in FORMATS:
        yield _Candidate((("boxes", fmt),), as_xywh(boxes, fmt))
    known = np.logical_not(np.isnan(sizes.sum(axis=1)))
    small: NDArray[np.bool_] = known & (np.abs(boxes) <= MOST_OF_A_FRACTION).all(axis=1)
    in_pixels = np.where(known[:, None], sizes, 1.0)
    if small.any() and (sizes[small] > 2 * MOST_OF_A_FRACTION).all():
        yield _Candidate((("units", "fractions"),), as_pixels(boxes, in_pixels, "fractions"))
        for fmt in FORMATS:
            steps = (("boxes", fmt), ("units", "fractions"))
            if fmt in ORDERS:  # fractions of the height come first there, or between those of the width
                yield _Candidate(steps, as_pixels(as_xywh(boxes, fmt), in_pixels, "fractions"))
            else:
                yield _Candidate(steps[::-1], as_xywh(as_pixels(boxes, in_pixels, "fractions"), fmt))
    extent = np.nan_to_num(sizes.max(axis=1, initial=0))
    far: NDArray[np.bool_] = known & (np.abs(boxes).max(axis=1, initial=0) > TIMES_BEYOND * extent)
    if far.any():
        yield _Candidate((("units", "scaled-twice"),), as_pixels(boxes, in_pixels, "scaled-twice"))


def _suspicion(case: Case, side: Side, found: dict[Side, _Best]) -> Suspicion:
    reading, candidate, as_good, _ = found[side]
    what, message = candidate.words, ""
    if as_good:
        message += f". Read as {' or '.join(as_good)}, they match about as well"
    for other in found.keys() - {side}:
        if found[other].candidate.words == what and found[other].reading.gain >= NEARLY_AS_GOOD * reading.gain:
            message += f". Those of the {NAMES[other]} match about as well if they are read so instead"
            now, then = found[other].beyond
            if now < then:
                message += f", but {then:,} of them reach beyond their images then, and {now:,} do now"
    code = "_".join(value.replace("-", "_") for value in candidate.values)
    found_so = reading.suspicion(
        case, side, f"{side}_are_{code}", f"are read as {what}", hint=f"read the boxes of the {NAMES[side]} as {what}",
        repair=reading.repair(candidate.repairs, side), least_gain=0.005,
    )  # fmt: skip
    return dataclasses.replace(found_so, message=f"{found_so.message}{message}")


class _Beyond(NamedTuple):
    """Which boxes reach beyond their images."""

    rows: Flags
    """(N,) by more than a little."""
    far: Flags
    """(N,) by a large part of their own side."""
    outside: Flags
    """(N,) with all of their area."""

    @property
    def number(self) -> int:
        return int(self.rows.sum())

    @property
    def wholly(self) -> int:
        """How many lie wholly outside; 0 if they are too few to tell that something else is wrong."""
        count = int((self.rows & self.outside).sum())
        return count if count >= max(FEWEST_OUTSIDE, OFTEN_OUTSIDE * self.number) else 0


def _beyond(boxes: FloatArray, sizes: FloatArray) -> _Beyond:
    low, high = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
    over = np.maximum(-low, high - sizes)  # NaN where the size of the image is unknown
    far = (over > FAR_BEYOND * boxes[:, 2:]) & (over > BEYOND_PIXELS)
    outside = ((low >= sizes) | (high <= 0)).any(axis=1)
    flags = (((over > BEYOND * sizes) | far).any(axis=1), far.any(axis=1), outside)
    return _Beyond(*map(np.asarray, flags))


def beyond_image(case: Case) -> Iterator[Suspicion]:
    """Boxes that reach beyond the image, by more than 2 % of its size or a quarter of their own side.

    Boxes that lie wholly outside tell that the sizes of the images, or the scale of the boxes, are wrong: to cut them
    would leave nothing of them.
    """
    sides: tuple[Side, ...] = ("ground_truth",) if case.data.detections is None else ("ground_truth", "detections")
    found = {side: _beyond(case.data.of(side).boxes, _sizes_of(case, side)) for side in sides}
    shares = {side: one.number / max(len(one.rows), 1) for side, one in found.items()}
    for side, one in found.items():
        if not one.number:
            continue
        # Where nothing of the ground truth lies outside, the sizes are right, and the detections are not.
        exchanged = found["ground_truth"].number > 0 and _fit_exchanged(case, side, one)
        often = one.number >= FEWEST_BEYOND and (
            one.number > OFTEN_BEYOND * len(one.rows) or one.far.sum() > OFTEN_FAR * len(one.rows)
        )
        # Where both sides reach as far, it is how these boxes are meant.
        alike = len(shares) > 1 and all(share >= ALIKE * shares[side] for share in shares.values())
        yield _reaching(case, side, one, likely=exchanged or (often and not alike), exchanged=exchanged)


def _reaching(case: Case, side: Side, beyond: _Beyond, *, likely: bool, exchanged: bool) -> Suspicion:
    data, count = case.data.of(side), beyond.number
    message = (
        f"{count:,} of {len(data):,} boxes of the {NAMES[side]} {agree(count, 'reach')} beyond the image, by "
        f"more than {percent(BEYOND, 0)} of the image or {percent(FAR_BEYOND, 0)} of their own side"
    )
    hint = "cut them at the border of the image, if the other side ends there"
    if beyond.wholly:
        message += f"; {beyond.wholly:,} of them lie wholly outside"
        hint = "check the sizes of the images, and the scale of the boxes"
    if exchanged:
        message += ". Nearly all lie inside if width and height of their images are exchanged"
        hint = "write the width and height of the images in the right order"
    # With detections, the numbers show whether it helps to cut them.
    unfit = exchanged or (beyond.wholly and case.data.detections is None)
    return Suspicion(
        f"{side}_beyond_image", "likely" if likely else "possible", message, count, len(data), hint,
        examples(dict.fromkeys(data.image_labels()[beyond.rows].tolist())),
        repair=Repair("clip", side=side) if likely and not unfit else None, least_gain=0.002,
    )  # fmt: skip


def _sizes_of(case: Case, side: Side) -> FloatArray:
    return case.sizes if side == "detections" else case.object_sizes


def _fit_exchanged(case: Case, side: Side, beyond: _Beyond) -> bool:
    """Whether the boxes of the images concerned lie inside if width and height of these images are exchanged."""
    if not beyond.wholly:
        return False
    labels = case.data.of(side).image_labels()
    rows = np.isin(labels, labels[beyond.rows])
    then = _beyond(case.data.of(side).boxes[rows], _sizes_of(case, side)[rows, ::-1])
    return then.number <= STILL_BEYOND * beyond.number
