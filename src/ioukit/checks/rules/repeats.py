"""Rules about rows that repeat another: equal rows, and NMS that is missing or removed too much."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import agree
from ioukit._words_and_colours import percent
from ioukit.checks.case import different
from ioukit.checks.diagnosis.data_sets import first_of_each
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.datasets.columns._regions import KEYPOINTS
from ioukit.evaluation.kinds.registry import find_kind
from ioukit.overlap import overlap_join
from ioukit.regions import Boxes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ioukit.checks.case import Case
    from ioukit.checks.repairs.repair import Side
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.typing import FloatArray


def duplicates(case: Case) -> Iterator[Suspicion]:
    """Annotations with equal image, class and box, or with another class; detections with an equal score, too."""
    sides: list[tuple[Side, str]] = [("ground_truth", "annotations")]
    if case.data.detections is not None:
        sides.append(("detections", "detections"))
    for side, name in sides:
        data = case.data.of(side)
        first = first_of_each(data)
        count = int((~first).sum())
        if not count:
            continue
        images, where = np.unique(data.image_labels(), return_inverse=True)
        repeated = np.bincount(where[~first], minlength=len(images))
        last = first_of_each(data.take(np.arange(len(data))[::-1]))[::-1]
        alone = np.bincount(where[first & last], minlength=len(images))
        whole = (repeated > 0) & (alone == 0)
        padded = (whole & (repeated >= SEVERAL)).sum() > 1  # all of one or two rows are repeated by chance, too
        of_images = f"; {whole.sum():,} images have all their {name} at least twice, as a padded sampler leaves them"
        repeats = f"{agree(count, 'repeat')} an earlier one{of_images if padded else ''}"
        yield Suspicion(
            f"repeated_{name}", "sure",
            f"{count:,} of {len(data):,} {name} {repeats}",
            count, len(data), "leave them out", examples(images[repeated > 0].tolist()),
            tuple(images[repeated > 0].tolist()), Repair("duplicates", side=side), must_improve=False,
        )  # fmt: skip
    yield from _several_classes(case)


def copies(case: Case) -> Iterator[Suspicion]:
    """Detections with the very box and score of one of another class, or of another image, where no object has that."""
    gt, dt = case.ground_truth, case.detections
    once = dt[first_of_each(dt)]  # repeated rows have a rule of their own
    for code, column, what, why in (
        ("detections_of_several_classes", "category_ids", "class", "one box was written for several classes"),
        ("detections_of_several_images", "image_ids", "image", "a list of results was not emptied between images"),
    ):
        without: list[Any] = [{column: np.zeros(len(side), np.int64)} for side in (once, gt)]
        again = ~first_of_each(dataclasses.replace(once, **without[0]))
        of_objects = ~first_of_each(dataclasses.replace(gt, **without[1]))
        where = np.unique(once.image_ids, return_inverse=True)[1].reshape(-1)
        again &= (np.bincount(where, again) >= OF_AN_IMAGE * np.bincount(where))[where]
        count = int(again.sum())
        if count >= max(FEWEST_PAIRS, LEAST_SHARE * len(once)) and again.mean() > 2 * of_objects.mean():
            yield Suspicion(
                code, "likely",
                f"{count:,} of {len(once):,} detections have the very box and score of an earlier one of another "
                f"{what}: {why}",
                count, len(once), "write each detection once",
                examples(dict.fromkeys(once.image_labels()[again].tolist())),
            )  # fmt: skip


def _several_classes(case: Case) -> Iterator[Suspicion]:
    """Annotations with the very box of one of another class, as a merge of two lists of classes makes them."""
    gt = case.ground_truth
    once = gt.take(first_of_each(gt))
    again = ~first_of_each(dataclasses.replace(once, category_ids=np.zeros(len(once), np.int64)))
    count = int(again.sum())
    if count >= max(FEWEST_PAIRS, LEAST_SHARE * len(once)):
        yield Suspicion(
            "annotations_of_several_classes", "possible",
            f"{count:,} of {len(once):,} annotations have the very box of an earlier one of another class: a detector "
            "that gives each object one class misses as many",
            count, len(once), "write each object once, unless it belongs to several classes",
            examples(dict.fromkeys(once.image_labels()[again].tolist())),
        )  # fmt: skip


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
SEVERAL = 3
CLOSE = 0.6
LEAST_SHARE = 0.03
# A detector with NMS leaves some duplicates, too: few must raise AP more.
FEW, GAIN, GAIN_OF_FEW = 0.08, 0.004, 0.02
LOWEST = 0.05
THRESHOLDS = (0.5, 0.65, 0.8)
FEWEST_PAIRS = 10
MOST_PAIRS = 2_000_000
STRICT = 0.5
CROWDED = 0.02
OF_AN_IMAGE = 0.3  # of the detections of an image; single ones may have one box for two names of an object


def suppression(case: Case) -> Iterator[Suspicion]:
    """Detections of one class that overlap much more often than objects do, or never as much as objects do."""
    gt, dt = case.ground_truth, case.detections
    of_points = find_kind(case.iou_type).needs == KEYPOINTS  # detections lie as close as the boxes around them
    if (case.iou_type != "bbox" and not of_points) or len(dt) < FEWEST_PAIRS:
        return
    dt = dt[first_of_each(dt)]  # repeated rows have a rule of their own
    _, rows, _ = close_pairs(dt, CLOSE)
    close = np.unique(rows)
    share = len(close) / len(dt)
    of_objects = gt.take(~gt.crowd)
    _, object_rows, object_overlaps = close_pairs(of_objects, LOWEST)
    among_objects = len(np.unique(object_rows[object_overlaps >= CLOSE])) / max(1, len(of_objects))
    if share >= LEAST_SHARE + 2 * among_objects:
        yield _missing(case, dt, close, share, among_objects)
    elif not len(rows) and not of_points:
        yield from _too_strict(dt, of_objects, object_rows, object_overlaps)


def close_pairs(
    data: GroundTruth | Detections, least: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], FloatArray]:
    """For the pairs of rows of one image and class that overlap: the earlier row, the later one, and the IoU."""
    usable = np.flatnonzero((data.boxes[:, 2:] > 0).all(axis=1))
    if not len(usable):
        return np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)
    keys = np.stack([data.image_ids[usable], data.category_ids[usable]], axis=1)
    groups = np.unique(keys, axis=0, return_inverse=True)[1].reshape(-1)
    pairs = overlap_join(Boxes(data.boxes[usable], "xywh"), min_iou=least, labels1=groups)
    return usable[pairs.rows], usable[pairs.columns], pairs.values.astype(np.float64)


def _missing(case: Case, dt: Detections, close: NDArray[np.int64], share: float, among_objects: float) -> Suspicion:
    best, highest = THRESHOLDS[1], -1.0
    for threshold in THRESHOLDS:
        numbers = case.repaired(Repair("nms", f"{threshold:g}")).summary
        value = next(iter(numbers.values()), float("nan"))
        if value > highest:
            best, highest = threshold, value
    images = dict.fromkeys(dt.image_labels()[close].tolist())
    few = share < FEW or len(close) < FEWEST_PAIRS
    return Suspicion(
        "nms_missing", "possible",
        f"{percent(share, 0)} of the detections overlap an earlier one of their class by at least {CLOSE:g}, and "
        f"{percent(among_objects, 0)} of the objects do (without repeated detections and crowds)",
        len(close), len(dt), "apply NMS", examples(images), repair=Repair("nms", f"{best:g}"),
        least_gain=GAIN_OF_FEW if few else GAIN,
    )  # fmt: skip


def _too_strict(
    dt: Detections, objects: GroundTruth, rows: NDArray[np.int64], overlaps: FloatArray
) -> Iterator[Suspicion]:
    """NMS with a low threshold: no two detections of a class overlap by more than it, but objects do."""
    _, _, of_detections = close_pairs(dt, LOWEST)
    # Rounded up as it is printed, so that no two overlap by more than what is printed.
    limit = math.ceil(100 * float(of_detections.max())) / 100 if len(of_detections) else LOWEST
    # One detection of a class on an image overlaps no other one, whatever NMS does.
    times = np.unique(np.stack([dt.image_ids, dt.category_ids]), axis=1, return_counts=True)[1]
    if times[times > 1].sum() < FEWEST_PAIRS:
        return
    lost = np.unique(rows[overlaps > limit])
    share = len(lost) / max(1, len(objects))
    if limit > STRICT + 0.01 or different(objects.boxes[lost]) < FEWEST_PAIRS:
        return
    yield Suspicion(
        "nms_too_strict", "likely" if share >= CROWDED else "possible",
        f"no two detections of one class overlap by more than {limit:.2f}, but {len(lost):,} of {len(objects):,} "
        f"objects ({percent(share, 1)}) overlap an earlier one of their class by more: NMS with a low threshold, or "
        "applied twice, loses them",
        len(lost), len(objects), "write the detections again with a higher IoU threshold of NMS",
        examples(dict.fromkeys(objects.image_labels()[lost].tolist())),
    )  # fmt: skip
