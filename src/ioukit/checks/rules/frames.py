"""A rule about boxes in the pixels of another image: resized, with or without a border, and not scaled back."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit.checks.case import MATCH
from ioukit.checks.repairs.boxes import FORMATS, MODES, as_xywh, on_image, unit_scales
from ioukit.checks.rules.edges import is_loose, of_wrong_side
from ioukit.checks.rules.readings import Reading, best_reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.checks.suspicion import Suspicion
    from ioukit.typing import FloatArray

    Rows = NDArray[np.intp]


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
# A pair of a detection and an object votes for a size of the network's image. Votes agree within half a percent.
BIN = 0.005
PEAKS = 3
FEWEST_VOTES = 4
# Width and height of a pair that belongs together give about the same scale; centres give the same within 2 %.
SIZES_AGREE = np.log(1.35)
CENTRES_AGREE = 0.02
SMALLEST, LARGEST = 16.0, 16384.0
UNCHANGED = 0.004
# A free size can fit a few objects by chance.
FEWEST_OBJECTS = 6
LITTLE = 0.3  # the mean IoU of the objects with their best detection, below which the format is doubted, too
SHARE_BADLY = 0.1  # of the images, that match so badly
AS_GOOD = 0.95  # of the gain of the better side: then either can be the wrong one
BOTH = 1.1  # a format and a size must match better than either alone, as two free choices fit better by chance
# Sizes and factors that people choose, from the roundest on; the last ones are as exact as the fit.
ROUND_SIZES = (32.0, 50.0, 1.0, 0.1)
ROUND_FACTORS = (0.5, 0.05, 0.01, 0.0001)
NEAR = 0.01
AS_WELL = 0.003

WORDS = {
    "factor": "an image of {0:g} times the size",
    "stretch": "an image that was resized to {0:g} x {1:g}",
    "letterbox": "an image that was resized into a square of {0:g} with equal borders on both sides (letterbox)",
    "longest": "an image whose longer side was resized to {0:g}",
    "shortest": "an image whose shorter side was resized to {0:g}",
}


class _Frame(NamedTuple):
    side: Side
    given: FloatArray
    """(N, 4) the boxes of the side as xywh, in the pixels of the network's image."""
    fmt: str
    """The format in which the file has these; empty if it has xywh."""
    mode: str
    size: tuple[float, float]
    boxes: FloatArray
    """(N, 4) the boxes on the image."""
    reading: Reading


def frames(case: Case) -> Iterator[Suspicion]:
    """Boxes of either side that match after a resizing of the image is undone.

    For each way of resizing, all pairs of a detection and an object of one image vote for the size of the network's
    image. The three sizes with most votes are refined by the median over the pairs that then overlap by at least 0.5,
    and compared as other readings are. Of ways that match equally well, such as those of images of one size, the first
    one is reported. Where hardly anything matches, the same is tried with the boxes of the detections read in each
    other format.

    The ground truth is looked at where a tenth of the images match badly, or the detections match after a resizing. On
    images of one size, or after a resizing by a factor, both sides match equally well.
    """
    pairs = case.fewer_pairs
    if case.iou_type != "bbox" or not len(pairs.objects):
        return
    boxes = case.detections.boxes
    now = case.overlaps_of(boxes, pairs=pairs)
    best = _best_frame(case, "detections", now, boxes, "")
    if float(pairs.best(now).mean()) < LITTLE:
        # Another format hides the size, and the size hides the format.
        for fmt in FORMATS:
            given = as_xywh(boxes, fmt)
            both = _best_frame(case, "detections", now, given, fmt)
            if both is None or both.reading.images is not None:
                continue
            alone = best_reading(case, "detections", given, now, case.overlaps_of(given, pairs=pairs), pairs)
            others = [one.gain for one in (alone, best and best.reading) if one is not None]
            if both.reading.gain > BOTH * max(others, default=0.0):
                best = both
    if best is not None and best.reading.before >= MATCH and is_loose(case, now):
        return
    found = [] if best is None else [best]
    per_image = pairs.per_image(pairs.best(now))[1]
    badly = (per_image < LITTLE).mean() >= SHARE_BADLY
    truth = _best_frame(case, "ground_truth", now, case.ground_truth.boxes, "") if found or badly else None
    # A network that gets images at two scales leaves some of the images, and some of these fit from either side.
    some = truth.reading.images if truth is not None else None
    same_part = best is None or best.reading.images is not None
    if truth is not None and (some is None or (same_part and len(some) >= SHARE_BADLY * len(per_image))):
        found.append(truth)
    gains = [frame.reading.gain for frame in found]
    found = [frame for frame in found if frame.reading.gain >= AS_GOOD * max(gains)]
    told = {frame.side: _suspicion(case, frame) for frame in found}
    if len(told) == 2:
        boxes_of = {each.side: each.reading.changed(case.data.of(each.side), each.boxes) for each in found}
        yield of_wrong_side(case, boxes_of, told, "those of an image of another size")
    else:
        yield from told.values()


def _best_frame(case: Case, side: Side, now: FloatArray, given: FloatArray, fmt: str) -> _Frame | None:
    """The resizing after which the boxes match best, and better than now; ``None`` if there is none."""
    pairs = case.fewer_pairs
    best: _Frame | None = None
    sizes_are_known = not np.isnan(case.sizes[case.places >= 0]).any()
    for mode in MODES if sizes_are_known else ("factor",):
        for size in _sizes(case, side, given, mode):
            size = _refined(case, side, given, mode, size)  # noqa: PLW2901 - the same size, more exactly
            boxes = _boxes(case, side, given, mode, size)
            then = case.overlaps_of(boxes, side, pairs=pairs)
            reading = best_reading(case, side, boxes, now, then, pairs, fewest_objects=FEWEST_OBJECTS)
            if reading is not None and (best is None or reading.gain > 1.02 * best.reading.gain):
                best = _Frame(side, given, fmt, mode, size, boxes, reading)
    return best


def _boxes(case: Case, side: Side, given: FloatArray, mode: str, size: tuple[float, float]) -> FloatArray:
    """(N, 4) boxes on the image."""
    sizes = case.sizes if side == "detections" else case.object_sizes
    return on_image(given, np.ones_like(sizes) if mode == "factor" else np.nan_to_num(sizes, nan=1.0), mode, size)


def _pairs_of(case: Case, side: Side, given: FloatArray, rows: Rows | slice) -> tuple[FloatArray, FloatArray, Rows]:
    """(P, 4) the boxes of some pairs in the network's image, (P, 4) those on the image, and (P,) the images."""
    pairs = case.fewer_pairs
    own, other = pairs.detections[rows], pairs.objects[rows]
    if side == "ground_truth":
        return given.take(other, axis=0), case.detections.boxes.take(own, axis=0), pairs.images[rows]
    return given.take(own, axis=0), case.ground_truth.boxes.take(other, axis=0), pairs.images[rows]


def _sizes(case: Case, side: Side, given: FloatArray, mode: str) -> list[tuple[float, float]]:
    """The sizes of the network's image with most votes; a factor of 1, which changes nothing, is left out."""
    found, wanted, images = _pairs_of(case, side, given, slice(None))
    scale, shift = (unit.take(images, axis=0) for unit in unit_scales(case.ground_truth.images.sizes, mode))
    with np.errstate(all="ignore"):
        by_side = np.log(found[:, 2:]) - np.log(wanted[:, 2:] * scale)
        centre = (found[:, :2] + found[:, 2:] / 2) / ((wanted[:, :2] + wanted[:, 2:] / 2) * scale + shift)
        by_centre = np.log(centre)
        near = np.abs(by_side - by_centre) <= SIZES_AGREE  # not of infinities, nor of what is no number
    low, high = (np.log([SMALLEST, LARGEST]) if mode != "factor" else np.log([1 / 16, 16])).tolist()
    agree = near[:, 0] & near[:, 1]
    if mode == "stretch":
        peaks = [_peaks(by_centre[agree, axis], low, high) for axis in (0, 1)]
        return [(wide, tall) for wide in peaks[0][:2] for tall in peaks[1][:2]]
    by_centre = by_centre[agree]
    by_centre = by_centre[np.abs(by_centre[:, 0] - by_centre[:, 1]) <= CENTRES_AGREE]
    peaks_of_both = _peaks(by_centre.mean(axis=1), low, high)
    return [(size, size) for size in peaks_of_both if mode != "factor" or abs(size - 1) > UNCHANGED]


def _peaks(votes: FloatArray, low: float, high: float) -> list[float]:
    """The values with most votes, from logarithms."""
    bins = int((high - low) / BIN) + 1
    counts, edges = np.histogram(votes, bins=bins, range=(low, high))
    smooth = np.convolve(counts, np.ones(3), mode="same")
    peaks: list[float] = []
    for _ in range(PEAKS):
        at = int(np.argmax(smooth))
        if smooth[at] < FEWEST_VOTES:
            break
        near = votes[np.abs(votes - (edges[at] + edges[at + 1]) / 2) <= 1.5 * BIN]
        peaks.append(float(np.exp(np.median(near))))
        smooth[max(0, at - 4) : at + 5] = 0
    return peaks


def _refined(case: Case, side: Side, given: FloatArray, mode: str, size: tuple[float, float]) -> tuple[float, float]:
    """The size by the median over the edges of the pairs that overlap by at least 0.5."""
    boxes = _boxes(case, side, given, mode, size)
    close = np.flatnonzero(case.overlaps_of(boxes, side, pairs=case.fewer_pairs) >= MATCH)
    if len(close) < FEWEST_VOTES:
        return size
    found, wanted, images = _pairs_of(case, side, given, close)
    image = np.ones((len(images), 2)) if mode == "factor" else case.ground_truth.images.sizes[images]
    scale, shift = unit_scales(image, mode)
    edges: list[FloatArray] = [found[:, :2], found[:, :2] + found[:, 2:]]
    units = [wanted[:, :2] * scale + shift, (wanted[:, :2] + wanted[:, 2:]) * scale + shift]
    weight = np.concatenate(units)
    with np.errstate(all="ignore"):
        ratios = np.concatenate(edges) / weight
    if mode == "stretch":
        return _weighted_median(ratios[:, 0], weight[:, 0]), _weighted_median(ratios[:, 1], weight[:, 1])
    both = _weighted_median(ratios.reshape(-1), weight.reshape(-1))
    return both, both


def _weighted_median(values: FloatArray, weights: FloatArray) -> float:
    """The median, with the weight of each value: an edge far from the origin tells the scale better."""
    good: NDArray[np.bool_] = np.isfinite(values) & (weights > 0)
    order = np.argsort(values[good])
    total = np.cumsum(weights[good][order])
    return float(values[good][order][np.searchsorted(total, total[-1] / 2)])


def _rounded(case: Case, frame: _Frame) -> tuple[float, float]:
    """The size as a whole number, or as a rounder one, if the boxes match as well."""
    pairs = case.fewer_pairs
    concerned = frame.reading.rows(case.ground_truth)[pairs.objects[pairs.starts]]
    best, highest = frame.size, -1.0
    for step in ROUND_FACTORS if frame.mode == "factor" else ROUND_SIZES:
        size = tuple(max(round(side / step), 1) * step for side in frame.size)
        if any(abs(near - side) > NEAR * side for near, side in zip(size, frame.size, strict=True)):
            continue
        wide, tall = (float(f"{side:.6g}") for side in size)
        overlaps = case.overlaps_of(
            _boxes(case, frame.side, frame.given, frame.mode, (wide, tall)), frame.side, pairs=pairs
        )
        mean = float(pairs.best(overlaps)[concerned].mean())
        if mean > highest + AS_WELL:
            best, highest = (wide, tall), mean
    return best


def _suspicion(case: Case, frame: _Frame) -> Suspicion:
    mode, side, size = frame.mode, frame.side, _rounded(case, frame)
    text = f"{size[0]:g}x{size[1]:g}" if mode == "stretch" else f"{size[0]:g}"
    repairs = [("boxes", frame.fmt)] if frame.fmt else []
    corners = f"{frame.fmt} and " if frame.fmt else ""
    return frame.reading.suspicion(
        case, side, "other_image_size",
        f"are {corners}in the pixels of {WORDS[mode].format(*size)}",
        hint="scale the boxes back to the size of the image, after its border is subtracted",
        repair=frame.reading.repair([*repairs, ("network", f"{mode}:{text}")], side), least_gain=0.005,
    )  # fmt: skip
