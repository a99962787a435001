"""When does another reading of the boxes match much better: of all rows, of some images, or of some classes?

Owns: the comparison of the overlaps before and after, the part of the data that a reading is about, and the suspicion
of it. Does not own: which readings are tried (``boxes.py``, ``frames.py``, ``places.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ioukit._checks import pluralize
from ioukit.checks.case import different
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from ioukit.checks.case import Case, Pairs
    from ioukit.checks.repairs.repair import Side
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.typing import FloatArray


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
# The docstrings of `_of_images` and `_of_classes` explain them.
LARGE = 0.1
SMALL = 0.005
STANDARD_ERRORS = 4.0
MOST_WORSE = 0.25
CLEARLY = 0.2
FEWEST_IMAGES = 2
LEAST_SHARE = 0.01
AS_GOOD = 0.6
FEWEST_OBJECTS = 4
FEWEST_OF_CLASS = 10

NAMES: dict[Side, str] = {"detections": "detections", "ground_truth": "ground truth"}
OTHER: dict[Side, Side] = {"detections": "ground_truth", "ground_truth": "detections"}


class Reading(NamedTuple):
    """How much better the objects match after another reading."""

    gain: float
    """The sum over the images of the gain of the mean IoU."""
    before: float
    """The mean IoU of the objects with their best detection, for the part concerned."""
    after: float
    """The same after the other reading."""
    images: tuple[int | str, ...] | None = None
    """The ids of the images concerned; ``None`` for all."""
    classes: tuple[int, ...] | None = None
    """The ids of the classes concerned, whose objects are compared with detections of their class; ``None`` for all."""

    def repair(self, repairs: Iterable[tuple[str, str]], side: Side) -> Repair:
        """The repairs, one after the other, of the part concerned."""
        return Repair.chain(Repair(*each, side, self.images, self.classes) for each in repairs)

    def rows(self, side: GroundTruth | Detections) -> NDArray[np.bool_]:
        """(N,) which rows of a side are concerned."""
        return Repair("", images=self.images, classes=self.classes).rows(side)

    def changed(self, side: GroundTruth | Detections, boxes: FloatArray) -> FloatArray:
        """(N, 4) the boxes of a side, those of the part concerned as they are read."""
        return np.where(self.rows(side)[:, None], boxes, side.boxes)

    def suspicion(
        self, case: Case, side: Side, code: str, what: str, *, hint: str, repair: Repair | None, least_gain: float
    ) -> Suspicion:
        """The suspicion of this reading.

        Args:
            case: The data.
            side: Whose boxes are read otherwise.
            code: Of the suspicion.
            what: How they match, behind "if they".
            hint: What mends them.
            repair: What mends them, as a repair.
            least_gain: By how much a number must rise for the finding to count.
        """
        named, where, best = self.images or (), "", "their best detection"
        if self.images is not None:
            where = f" of {pluralize(len(self.images), 'image')}"
        elif self.classes is not None:
            named = tuple(case.class_names[number] or number for number in self.classes)
            where, best = f" of {pluralize(len(named), 'class')}", "the best detection of their class"
        rows = self.rows(case.data.of(side))
        return Suspicion(
            code, "likely",
            f"the boxes of the {NAMES[side]}{where} match if they {what}: the objects' mean IoU with {best} is then "
            f"{self.after:.2f} instead of {self.before:.2f}",
            int(rows.sum()), len(rows), hint, examples(named), self.images or (), repair, least_gain=least_gain,
        )  # fmt: skip


def best_reading(
    case: Case,
    side: Side,
    boxes: FloatArray,
    now: FloatArray,
    then: FloatArray,
    pairs: Pairs,
    *,
    fewest_objects: int = FEWEST_OBJECTS,
) -> Reading | None:
    """How much better another reading of boxes matches, of the part that it fits best; ``None`` if of none.

    Args:
        case: The data.
        side: Whose boxes are read otherwise.
        boxes: (N, 4) how they are read.
        now: (P,) the IoU of the pairs as the boxes are.
        then: (P,) their IoU after the reading.
        pairs: The pairs.
        fewest_objects: How many different objects some images must have together.
    """
    if not len(now):
        return None
    found = [
        _of_images(case, side, boxes, now, then, pairs, fewest_objects),
        _of_classes(case, now, then, pairs),
    ]
    return max((one for one in found if one is not None), key=lambda one: one.gain, default=None)


def _of_images(
    case: Case, side: Side, boxes: FloatArray, now: FloatArray, then: FloatArray, pairs: Pairs, fewest_objects: int
) -> Reading | None:
    """How much better a reading matches on all images, or on some of them.

    For each image, the mean over its objects of the IoU with their best detection is compared. The reading is better on
    all images if the mean over the images rises by at least 0.1, or by 0.005 and four standard errors, and falls by
    more than 0.01 on at most a quarter of the images, and by 0.2 on at most one. It is better on some images if that
    mean rises by at least 0.2 on at least 2 images and 1 % of the images, and these then reach at least 0.6 of what the
    others have.
    """
    _, now, _ = pairs.per_image(pairs.best(now))
    images, then, objects = pairs.per_image(pairs.best(then))
    gain = then - now
    rows, all_boxes = pairs.objects[pairs.starts], case.ground_truth.boxes
    mean = float(gain.mean())
    better = mean >= LARGE
    if len(gain) > 2 and SMALL <= mean < LARGE:
        # Frames of one scene repeat what its objects show.
        independent = len(gain) * different(all_boxes[rows]) / len(rows)
        better = mean >= STANDARD_ERRORS * float(gain.std()) / np.sqrt(independent)
    some = gain >= CLEARLY
    if some.any() and not some.all():  # of boxes with a negative side, the image is none of another reading
        places = case.places if side == "detections" else case.object_places
        some &= ~np.isin(images, places[(boxes[:, 2:] < 0).any(axis=1)])
    fits = then[some].mean() >= AS_GOOD * now[~some].mean() if some.any() and not some.all() else some.all()
    mixed = (gain <= -CLEARLY).sum() >= FEWEST_IMAGES and some.any()
    if better and not mixed and (gain < -0.01).mean() <= MOST_WORSE:
        return Reading(float(gain.sum()), *_means(objects, now, then))
    if some.sum() < max(FEWEST_IMAGES, LEAST_SHARE * len(gain)) or not fits:
        return None
    of_some = rows[np.isin(pairs.images[pairs.starts], images[some])]
    if different(all_boxes[of_some]) < fewest_objects or not _holds(case, side, boxes, images[some]):
        return None
    means = _means(objects[some], now[some], then[some])
    return Reading(float(gain[some].sum()), *means, case.labels(images[some]))


def _of_classes(case: Case, now: FloatArray, then: FloatArray, pairs: Pairs) -> Reading | None:
    """How much better a reading matches for some classes, while it is worse for the others.

    For each class, the mean over its objects of the IoU with their best detection of the class is compared. A class
    that is hard for the detector gains nothing by another reading. So it must have at least 10 different objects, rise
    by at least 0.2, and then reach at least 0.6 of what the others have.
    """
    before, after = (pairs.best(np.where(pairs.same, each, 0.0)) for each in (now, then))
    if np.count_nonzero(after - before >= CLEARLY) < FEWEST_OF_CLASS:
        return None  # most readings end here
    objects = pairs.objects[pairs.starts]
    ids, of_class, count = np.unique(case.ground_truth.category_ids[objects], return_inverse=True, return_counts=True)
    means = [np.bincount(of_class, each) / count for each in (before, after)]
    some = (means[1] - means[0] >= CLEARLY) & (count >= FEWEST_OF_CLASS)
    chosen = some[of_class]
    if not some.any() or chosen.all() or (after - before)[~chosen].mean() > -SMALL:
        return None
    some &= means[1] >= AS_GOOD * before[~chosen].mean()
    boxes = case.ground_truth.boxes[objects]
    some &= [different(boxes[of_class == at]) >= FEWEST_OF_CLASS if some[at] else False for at in range(len(ids))]
    chosen = some[of_class]
    if not some.any():
        return None
    gain = pairs.per_image(np.where(chosen, after - before, 0.0))[1].sum()
    return Reading(
        float(gain), float(before[chosen].mean()), float(after[chosen].mean()), classes=tuple(ids[some].tolist())
    )


def _holds(case: Case, side: Side, boxes: FloatArray, images: NDArray[np.intp]) -> bool:
    """Whether the images that a reading is better on are better with all of their objects, too.

    Of many objects, only a few of each image are looked at. In rows at a pitch, another reading puts the detections of
    neighbours on them. On some of many images this looks better, because these few objects are missed.
    """
    pairs = case.pairs_on(images)
    _, now, _ = pairs.per_image(pairs.best(case.overlaps_of(case.detections.boxes, pairs=pairs)))
    _, then, _ = pairs.per_image(pairs.best(case.overlaps_of(boxes, side, pairs=pairs)))
    return float((then - now).mean()) >= LARGE


def _means(weights: NDArray[np.intp], now: FloatArray, then: FloatArray) -> tuple[float, float]:
    return float(np.average(now, weights=weights)), float(np.average(then, weights=weights))


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
