"""When does another reading of the boxes match much better: on all images, or on some of them?"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit.checks.case import different

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.case import Case, Pairs
    from ioukit.checks.repairs.repair import Side
    from ioukit.typing import FloatArray


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
# The docstring of `best_reading` explains them.
LARGE = 0.1
SMALL = 0.005
STANDARD_ERRORS = 4.0
MOST_WORSE = 0.25
CLEARLY = 0.2
FEWEST_IMAGES = 2
LEAST_SHARE = 0.01
AS_GOOD = 0.6
FEWEST_OBJECTS = 4


class Reading(NamedTuple):
    """How much better the objects match after another reading."""

    gain: float
    """The sum over the images of the gain of the mean IoU."""
    before: float
    """The mean IoU of the objects with their best detection, for the images concerned."""
    after: float
    """The same after the other reading."""
    images: NDArray[np.intp] | None
    """The positions of the images concerned; ``None`` for all."""


def best_reading(
    now: FloatArray, then: FloatArray, pairs: Pairs, boxes: FloatArray, *, fewest_objects: int = FEWEST_OBJECTS
) -> Reading | None:
    """How much better another reading matches; ``None`` if it is not clearly better.

    For each image, the mean over its objects of the IoU with their best detection is compared. The reading is better on
    all images if the mean over the images rises by at least 0.1, or by 0.005 and four standard errors, and falls by
    more than 0.01 on at most a quarter of the images, and by 0.2 on at most one. It is better on some images if that
    mean rises by at least 0.2 on at least 2 images and 1 % of the images, and these then reach at least 0.6 of what the
    others have.

    Args:
        now: (P,) the IoU of the pairs as the boxes are.
        then: (P,) their IoU after the reading.
        pairs: The pairs.
        boxes: (G, 4) the boxes of all objects.
        fewest_objects: How many different objects some images must have together.
    """
    if not len(now):
        return None
    _, now, _ = pairs.per_image(pairs.best(now))
    images, then, objects = pairs.per_image(pairs.best(then))
    gain = then - now
    rows = pairs.objects[pairs.starts]
    mean = float(gain.mean())
    better = mean >= LARGE
    if len(gain) > 2 and SMALL <= mean < LARGE:
        # Frames of one scene repeat what its objects show.
        independent = len(gain) * different(boxes[rows]) / len(rows)
        better = mean >= STANDARD_ERRORS * float(gain.std()) / np.sqrt(independent)
    some = gain >= CLEARLY
    fits = then[some].mean() >= AS_GOOD * now[~some].mean() if some.any() and not some.all() else some.all()
    mixed = (gain <= -CLEARLY).sum() >= FEWEST_IMAGES and some.any()
    if better and not mixed and (gain < -0.01).mean() <= MOST_WORSE:
        return _reading(gain, now, then, objects, None)
    if some.sum() < max(FEWEST_IMAGES, LEAST_SHARE * len(gain)) or not fits:
        return None
    if different(boxes[rows[np.isin(pairs.images[pairs.starts], images[some])]]) >= fewest_objects:
        return _reading(gain[some], now[some], then[some], objects[some], images[some])
    return None


def better_on_all(now: FloatArray, then: FloatArray, pairs: Pairs) -> bool:
    """Whether another reading matches better on all images, by the mean and the share of worse images alone.

    Of a reading that a single image may fit better or worse by chance, such as the sense of angles.

    Args:
        now: (P,) the IoU of the pairs as the regions are.
        then: (P,) their IoU after the reading.
        pairs: The pairs.
    """
    (_, before, _), (_, after, _) = (pairs.per_image(pairs.best(each)) for each in (now, then))
    gain = after - before
    by_chance = STANDARD_ERRORS * float(gain.std()) / np.sqrt(len(gain))
    return bool(gain.mean() >= max(min(LARGE, by_chance), SMALL) and (gain < -0.01).mean() <= MOST_WORSE)


def holds(case: Case, side: Side, boxes: FloatArray, reading: Reading) -> bool:
    """Whether the images that a reading is better on are better with all of their objects, too.

    Of many objects, only a few of each image are looked at. In rows at a pitch, another reading puts the detections of
    neighbours on them. On some of many images this looks better, because these few objects are missed.

    Args:
        case: The data.
        side: Whose boxes are read otherwise.
        boxes: (N, 4) how they are read.
        reading: How much better they match.
    """
    if reading.images is None:
        return True
    pairs = case.pairs_on(reading.images)
    _, now, _ = pairs.per_image(pairs.best(case.overlaps_of(case.detections.boxes, pairs=pairs)))
    _, then, _ = pairs.per_image(pairs.best(case.overlaps_of(boxes, side, pairs=pairs)))
    return float((then - now).mean()) >= LARGE


def _reading(
    gain: FloatArray, now: FloatArray, then: FloatArray, objects: NDArray[np.intp], images: NDArray[np.intp] | None
) -> Reading:
    """The reading for the means of some images, which have so many objects."""
    before, after = (float(np.average(each, weights=objects)) for each in (now, then))
    return Reading(float(gain.sum()), before, after, images)
