"""Rules about what ground truth says of its masks: areas, crowds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit._words_and_colours import percent
from ioukit.checks.repairs.regions import masks_of, written_as_rle
from ioukit.checks.repairs.repair import Repair
from ioukit.checks.suspicion import Suspicion, examples
from ioukit.datasets.columns._checks import pixel_boxes
from ioukit.errors import DatasetError
from ioukit.overlap import elementwise_iou
from ioukit.overlap.join import overlap_join

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ioukit.checks.case import Case


# Choices; none was measured alone. `benchmarks/planted_faults.py` measures the check as a whole (docs/check.md).
FEWEST = 5
LOOKED_AT = 2_000
DIFFERS, HALF = 0.2, 0.5
LEAST_SHARE = 0.1
LARGER = 1.01
IN_A_CROWD = 8
INSIDE = 0.8
FITS, LIKE_OBJECTS = 0.6, 0.3


def areas(case: Case) -> Iterator[Suspicion]:
    """Boxes far from their own mask, and areas that are larger than the box, or far from the area of the mask."""
    gt = case.ground_truth
    of_boxes = gt.boxes[:, 2] * gt.boxes[:, 3]
    rows = np.linspace(0, len(gt) - 1, min(len(gt), LOOKED_AT)).astype(np.intp)
    try:
        masks = masks_of(case.data, gt.take(rows)) if len(gt) else None
    except (DatasetError, OSError):
        masks = None  # masks that cannot be read are an error where masks are compared
    if masks is not None and (masks.area > 0).any():
        of_masks = np.asarray(masks.area, np.float64)
        around = pixel_boxes(masks.to_boxes(), len(rows))
        drawn = (of_masks > 0) & (gt.boxes[rows, 2:] > 0).all(axis=1)  # boxes without size are told elsewhere
        apart = drawn & (elementwise_iou(gt.boxes[rows], around, format="xywh") < HALF)
        if apart.sum() >= max(FEWEST, LEAST_SHARE * len(rows)):
            yield Suspicion(
                "boxes_not_of_masks", "sure",
                f"the boxes of {int(apart.sum()):,} of {len(rows):,} annotations have an IoU below {HALF:g} with the "
                "boxes around their own masks: one of the two is wrong",
                int(apart.sum()), len(rows), "look at some of these images, and write the right ones of the two",
                examples(dict.fromkeys(gt.take(rows[apart]).image_labels().tolist())),
            )  # fmt: skip
        given, known = gt.areas[rows], of_masks > 0
        far = known & (np.abs(given - of_masks) > DIFFERS * of_masks)
        if far.sum() >= max(FEWEST, LEAST_SHARE * known.sum()):
            like_boxes = np.isclose(given[far], of_boxes[rows][far], rtol=1e-3).mean() > INSIDE
            which = "those of the boxes" if like_boxes else "others"
            yield Suspicion(
                "areas_not_of_masks", "sure",
                f"the areas of {int(far.sum()):,} of {int(known.sum()):,} annotations differ from those of their "
                f"masks by more than {percent(DIFFERS, 0)}: they are {which}",
                int(far.sum()), int(known.sum()), "write the areas of the masks, which decide what is small and large",
                examples(dict.fromkeys(gt.take(rows[far]).image_labels().tolist())),
                repair=Repair("areas", "masks", "ground_truth"), must_improve=False,
            )  # fmt: skip
        return
    larger = (of_boxes > 0) & (gt.areas > LARGER * of_boxes + 1)
    wrong = larger | ((of_boxes > FEWEST) & (gt.areas < 0.05 * of_boxes))
    if wrong.sum() >= max(FEWEST, LEAST_SHARE * len(gt)):
        yield Suspicion(
            "areas_not_of_boxes", "sure",
            f"the areas of {int(wrong.sum()):,} of {len(gt):,} annotations cannot be: they are larger than the box, or "
            "less than 5 % of it",
            int(wrong.sum()), len(gt), "write the areas, which decide what is small and large",
            examples(dict.fromkeys(gt.image_labels()[wrong].tolist())),
            repair=Repair("areas", "boxes", "ground_truth"), must_improve=False,
        )  # fmt: skip


def crowds(case: Case) -> Iterator[Suspicion]:
    """Crowds that are not marked: masks in RLE among polygons, as COCO writes crowds; or boxes around many objects."""
    gt = case.ground_truth
    try:
        rle = written_as_rle(gt)
    except OSError:
        rle = None  # the source was a pipe
    if rle is not None:
        lost = rle & ~gt.crowd
        # All masks in RLE is another way of writing, and says nothing about crowds.
        if lost.any() and not rle.all() and rle.mean() < DIFFERS:
            yield Suspicion(
                "crowds_not_marked", "likely",
                f"{int(lost.sum()):,} annotations have a mask in RLE and are not marked as crowds, where the others "
                "have polygons: COCO writes crowds as RLE",
                int(lost.sum()), len(gt), "set iscrowd to 1, if they mark groups",
                examples(dict.fromkeys(gt.image_labels()[lost].tolist())),
                repair=Repair("crowd", "rle", "ground_truth"), must_improve=False,
            )  # fmt: skip
            return
    if case.data.detections is not None and len(case.detections):
        yield from _around_many(case)
        yield from _like_objects(case)


def _around_many(case: Case) -> Iterator[Suspicion]:
    """Objects that contain many detections of their class, and that no detection matches."""
    gt, dt, pairs = case.ground_truth, case.detections, case.pairs
    if not len(pairs.objects):
        return
    outer, inner = gt.boxes[pairs.objects], dt.boxes[pairs.detections]
    low = np.maximum(outer[:, :2], inner[:, :2])
    high = np.minimum(outer[:, :2] + outer[:, 2:], inner[:, :2] + inner[:, 2:])
    shared = np.maximum(high - low, 0).prod(axis=1)
    inside = pairs.same & (shared >= INSIDE * inner[:, 2] * inner[:, 3])
    small = inner[:, 2] * inner[:, 3] <= 0.25 * outer[:, 2] * outer[:, 3]
    many = np.add.reduceat((inside & small).astype(np.int64), pairs.starts)
    best = pairs.best(np.where(pairs.same, case.overlaps, 0.0))
    crowded = pairs.objects[pairs.starts][(many >= IN_A_CROWD) & (best < 0.5)]
    if len(crowded):
        yield Suspicion(
            "crowds_perhaps_not_marked", "possible",
            f"{len(crowded):,} objects contain at least {IN_A_CROWD} detections of their class, and no detection "
            "matches them: they may mark groups",
            len(crowded), len(gt), "set iscrowd to 1, if they mark groups",
            examples(dict.fromkeys(gt.image_labels()[np.sort(crowded)].tolist())),
            repair=Repair("crowd", ",".join(map(str, np.sort(gt.ids[crowded]).tolist())), "ground_truth"),
            least_gain=0.01,
        )  # fmt: skip


def _like_objects(case: Case) -> Iterator[Suspicion]:
    """Crowds that a detection of their class fits as it would fit one object."""
    gt, dt = case.ground_truth, case.detections
    rows = np.flatnonzero(gt.crowd & (gt.boxes[:, 2:] >= 0).all(axis=1))
    found = np.flatnonzero((case.places >= 0) & (dt.boxes[:, 2:] >= 0).all(axis=1))
    if not len(rows):
        return
    kinds = int(max(gt.category_ids.max(initial=0), dt.category_ids.max(initial=0))) + 1
    fits = overlap_join(
        gt.boxes[rows], dt.boxes[found], min_iou=FITS, format="xywh", threads=case.threads,
        labels1=case.object_places[rows] * kinds + gt.category_ids[rows],
        labels2=case.places[found] * kinds + dt.category_ids[found],
    )  # fmt: skip
    like_objects = rows[np.unique(fits.rows)]
    if len(like_objects) >= max(FEWEST, LIKE_OBJECTS * len(rows)):
        yield Suspicion(
            "crowds_are_objects", "likely",
            f"a detection of their class fits {len(like_objects):,} of {len(rows):,} crowds with IoU {FITS:g} or more: "
            "they may be single objects that do not count",
            len(like_objects), len(rows), "set iscrowd to 0, if they are single objects",
            examples(dict.fromkeys(gt.image_labels()[like_objects].tolist())),
        )  # fmt: skip
