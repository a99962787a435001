"""What looks wrong with a data set: the meaning of its boxes, its category ids, or images without detections?

Such files are valid and can be read, but their AP says little. All rules are guesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ioukit import _core
from ioukit._array_types import Ids
from ioukit._columns import positions_in
from ioukit.checks.class_ids import conventions, in_words, other_ids
from ioukit.checks.diagnosis._common_rules import MOST_OF_A_NORMALIZED, SURELY_PIXELS
from ioukit.checks.diagnosis.boxes import LAYOUTS, LOOKS_LIKE, other_formats
from ioukit.checks.diagnosis.findings import Collector, Diagnosis
from ioukit.datasets import GroundTruth
from ioukit.regions.formats import convert

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ioukit.checks.diagnosis.findings import Mask
    from ioukit.datasets import Detections, Images
    from ioukit.typing import FloatArray

    Rows = NDArray[np.intp]


# The thresholds of the rules. They are choices, which the docstring of `diagnose_data` explains; none was measured.
LOOKED_AT = 5_000
ONE_OF = 5
MOST_PAIRS = 200_000
MATCH = 0.5
MATCHED_ROWS = 20
RARELY = 0.2
MOSTLY = 0.5
CATEGORIES = 2
IMAGES = 10
SHARE_OF_IMAGES = 0.3
LAST_ROWS = 50
REPEATED = 0.2
REPEATED_ROWS = 10

_GOLDEN = 0.6180339887498949  # (sqrt(5) - 1) / 2, whose multiples spread most evenly


def diagnose_data(
    data: GroundTruth | Detections, ground_truth: GroundTruth | None = None, *, most_rows: int | None = LOOKED_AT
) -> Diagnosis:
    """Findings about ground truth, or about detections and the ground truth that they are compared with.

    - ``normalized_not_declared``: no number of a box is beyond 1.5 in magnitude, and one is not an integer, but boxes
      should be in pixels. There is no finding if the largest image, or the largest box of the ground truth, is small as
      well.
    - ``looks_like_xyxy``, ``looks_like_yxyx``, ``looks_like_cxcywh``: the boxes are read as ``[x, y, width, height]``,
      and fit another format much better. The rule is that of `ioukit.checks.diagnose_boxes`, with the size of each
      box's image.
    - ``other_category_ids``: at least 20 of the detections that are looked at overlap an object with an IoU of at least
      0.5, and at most a fifth of these have the category of such an object. At least half of them have it if a constant
      is added to all category ids, if the ids are positions in the list of categories, or if COCO's 80 or 91 ids stand
      for each other. These must be detections of at least two categories.
    - ``images_without_detections``: at least 10 images have objects, and at least three tenths of these images have no
      detection. There is no finding if there are no detections at all.
    - ``repeated_images``: of the images of the last detections of the file, at least a fifth of the detections, and at
      least 10, repeat an earlier one with its score, as the padding of a sampler leaves them.
    - ``swapped_sides``: the detections have no scores, and the objects have some, as an attribute ``score``.

    Args:
        data: Ground truth or detections.
        ground_truth: The ground truth of the detections. Without it, only the rules about boxes apply, and the sizes of
            images are not known.
        most_rows: How many boxes to check, spread evenly over all; None for all. The rule about category ids checks a
            fifth as many.

    Returns:
        A `Diagnosis`. Its rows are rows of ``data`` that were checked.

    Raises:
        TypeError: If ``data`` is ground truth and ``ground_truth`` is given, or if the image ids of only one side are
            strings.
        ValueError: If ``most_rows`` is not positive.
        DatasetError: If the image id of a detection is a string that the ground truth does not list.
    """
    if most_rows is not None and most_rows < 1:
        raise ValueError(f"most_rows must be positive, got {most_rows}")
    rows = _spread(len(data), most_rows)
    if isinstance(data, GroundTruth):
        if ground_truth is not None:
            raise TypeError("ground truth is not compared with ground truth: leave the second one out")
        found = Collector(len(data), "annotation")
        sizes = sizes_at(data.images, positions_in(data.images.ids, data.image_ids[rows]))
        _boxes(found, data.boxes, rows, sizes, others=None)
        return found.diagnosis()
    found = Collector(len(data), "detection")
    if ground_truth is None:
        _boxes(found, data.boxes, rows, np.full((len(rows), 2), np.nan), others=None)
        return found.diagnosis()
    data = data.meeting(ground_truth)
    image_ids = data.image_ids_in(ground_truth.images)
    others = ground_truth.boxes[_spread(len(ground_truth), most_rows)]
    sizes = sizes_at(ground_truth.images, positions_in(ground_truth.images.ids, image_ids[rows]))
    _boxes(found, data.boxes, rows, sizes, others=others)
    few = rows if most_rows is None else _spread(len(data), -(-most_rows // ONE_OF))
    places = np.searchsorted(ground_truth.images.ids, ground_truth.image_ids)
    _categories(found, data, few, image_ids[few], ground_truth, places)
    _images(found, image_ids, ground_truth, places)
    _repeated(found, data, most_rows)
    if len(data) and not data.scored and "score" in ground_truth.attributes:
        message = "the detections have no scores, and the objects of the ground truth have scores"
        found.state("swapped_sides", "warning", None, message, "check whether the two files are swapped")
    return found.diagnosis()


def notes_on_data(ground_truth: GroundTruth, detections: Detections, codes: tuple[str, ...] = ("",)) -> tuple[str, ...]:
    """What looks wrong with both sides, in a sentence each: the notes of a command and of an evaluation.

    Args:
        ground_truth: The objects.
        detections: The detections.
        codes: How the codes of the findings begin.
    """
    sides = ((ground_truth, None), (detections, ground_truth))
    return tuple(
        f"{side.source}: {finding.message}: {finding.hint}"
        for side, reference in sides
        for finding in diagnose_data(side, reference)
        if finding.code.startswith(codes)
    )


def _spread(count: int, most: int | None) -> Rows:
    """Rows spread evenly over ``count`` rows, ascending: about ``most`` of them, or all if there are no more."""
    if most is None or count <= most:
        return np.arange(count)
    # Steps of the golden ratio. Equal steps could coincide with a period of the file, such as one row per class.
    rows = np.sort((np.arange(most) * _GOLDEN % 1 * count).astype(np.intp))
    return rows[np.diff(rows, prepend=-1) > 0]


def sizes_at(images: Images, places: Rows) -> FloatArray:
    """(N, 2) width and height of the images at these positions, NaN for the position -1."""
    sizes = np.full((len(places), 2), np.nan)
    sizes[places >= 0] = images.sizes[places[places >= 0]]
    return sizes


def _looked_at(found: Collector, rows: Rows) -> str:
    """The words for the rows that were looked at."""
    all_of = f"{len(rows):,} {found.kind}s"
    return all_of if len(rows) == found.count else f"{all_of} that were looked at (of {found.count:,})"


def _mask(count: int, rows: Rows) -> Mask:
    mask = np.zeros(count, np.bool_)
    mask[rows] = True
    return mask


def _boxes(found: Collector, boxes: FloatArray, rows: Rows, sizes: FloatArray, *, others: FloatArray | None) -> None:
    """Adds ``normalized_not_declared`` and ``looks_like_...``; ``others`` are boxes of the same images."""
    if not len(rows):
        return
    looked, total = boxes[rows], len(boxes)
    side = "--repair gt:" if found.kind == "annotation" else "--repair "
    known = ~np.isnan(sizes)
    scale = np.inf  # the size of images or boxes that are known to be in pixels
    if known.any():
        scale = sizes[known].max()
    elif others is not None and len(others):
        scale = np.abs(others).max()
    image: FloatArray | None = sizes if known.any() else None
    if np.abs(looked).max() <= MOST_OF_A_NORMALIZED and (looked % 1 != 0).any() and scale > SURELY_PIXELS:
        image = np.ones(2)
        says = f"{_looked_at(found, rows)} fit into an image of 1 by 1, and boxes should be in pixels"
        hint = "multiply x and width by the width of the image, y and height by its height"
        hint += f": {side}units=fractions in a command"
        found.state("normalized_not_declared", "warning", _mask(total, rows), f"all of {says}", hint)
    fits, misfits = other_formats(looked, "xywh", image, axes=True)
    for fmt in fits:
        says = f"{_looked_at(found, rows)} hardly fit [x, y, width, height], and fit {LAYOUTS[fmt]}"
        numbers, corners = ("boxes[:, [1, 0, 3, 2]]", "xyxy") if fmt == "yxyx" else ("boxes", fmt)
        python = f"Boxes({numbers}, {corners!r}).convert('xywh')"
        hint = f"convert them, if that is their format: {side}boxes={fmt} in a command, {python} in Python"
        message = f"{int(misfits.sum()):,} of {says}"
        found.state(LOOKS_LIKE[fmt], "warning", _mask(total, rows[misfits]), message, hint)


def _categories(
    found: Collector, detections: Detections, rows: Rows, image_ids: Ids, ground_truth: GroundTruth, places: Rows
) -> None:
    """Adds ``other_category_ids``.

    Args:
        found: Where a finding is added.
        detections: All detections.
        rows: (N,) the rows to check.
        image_ids: (N,) the images of these rows.
        ground_truth: The ground truth.
        places: (G,) the positions of the images of its annotations.
    """
    which, objects = _pairs(detections, rows, image_ids, ground_truth, places)
    given, wanted = detections.category_ids[rows[which]], ground_truth.category_ids[objects]
    located, own = _mask(len(rows), which).sum(), _mask(len(rows), which[wanted == given]).sum()
    if located < MATCHED_ROWS or own > RARELY * located:
        return
    for how in conventions(wanted - given):
        fits = other_ids(given, how, ground_truth.categories.ids) == wanted
        rightly = _mask(len(rows), which[fits])
        if rightly.sum() >= MOSTLY * located and len(np.unique(given[fits])) >= CATEGORIES:
            message = (
                f"of {located:,} {found.kind}s that overlap an object by at least {MATCH:g}, {own:,} have its "
                f"category, and {rightly.sum():,} have it if {in_words(how)}"
            )
            hint = f"add {int(how)} to the category ids" if how[0] in "+-" else "write the ids of the ground truth"
            hint += f": --repair classes={how} in a command"
            found.state("other_category_ids", "warning", _mask(len(detections), rows[rightly]), message, hint)
            return


def _pairs(
    detections: Detections, rows: Rows, image_ids: Ids, ground_truth: GroundTruth, places: Rows
) -> tuple[Rows, Rows]:
    """Pairs that overlap by at least `MATCH` in one image: (P,) positions in ``rows``, and (P,) rows of objects.

    Crowds do not count as objects. If an image has more than `MOST_PAIRS` pairs, some rows are left out.
    """
    listed = ground_truth.images
    chosen = np.zeros(len(listed) + 1, np.bool_)  # the last one is for detections of images that are not listed
    chosen[np.searchsorted(listed.ids, image_ids)] = True
    objects = np.flatnonzero(~ground_truth.crowd & chosen[places])
    objects = objects[np.argsort(ground_truth.image_ids[objects], kind="stable")]
    images = ground_truth.image_ids[objects]
    starts = np.searchsorted(images, image_ids, side="left")
    counts = np.searchsorted(images, image_ids, side="right") - starts
    step = max(1, -(-int(counts.sum()) // MOST_PAIRS))
    which, starts, counts = np.arange(len(rows))[::step], starts[::step], counts[::step]
    before = np.cumsum(counts) - counts
    columns = objects[np.repeat(starts - before, counts) + np.arange(counts.sum())]
    which = np.repeat(which, counts)
    first, second = detections.boxes[rows[which]], ground_truth.boxes[columns]
    iou = np.empty(len(which))
    # Without `ioukit.overlap`, because its import takes longer than all the rules.
    _core.elementwise("iou", (), convert(first, "xywh", "xyxy"), convert(second, "xywh", "xyxy"), iou, 1)
    return which[iou >= MATCH], columns[iou >= MATCH]


def _images(found: Collector, image_ids: Ids, ground_truth: GroundTruth, places: Rows) -> None:
    """Adds ``images_without_detections``; ``image_ids`` are those of all detections."""
    listed = ground_truth.images
    with_objects = _mask(len(listed), places[~ground_truth.crowd])
    total = int(with_objects.sum())
    if total < IMAGES or not len(image_ids):
        return
    lacking = with_objects & ~np.isin(listed.ids, image_ids)
    count = int(lacking.sum())
    if count >= SHARE_OF_IMAGES * total:
        found.state(
            "images_without_detections", "warning", None,
            f"{count:,} of {total:,} images with objects have no detection, such as image {listed.labels[lacking][0]}",
            "check that the detector ran on all images, and that its image ids are those of the ground truth: all "
            "objects of these images count as missed",
        )  # fmt: skip


def first_of_each(side: GroundTruth | Detections) -> Mask:
    """(N,) false for rows that repeat an earlier one: image, class, box, and the score of detections."""
    columns = [side.image_ids, side.category_ids, *(side.boxes.T + 0.0)]
    if not isinstance(side, GroundTruth):
        columns.append(side.scores)
    order = np.lexsort(columns)
    same = np.ones(max(len(order) - 1, 0), np.bool_)
    for column in columns:
        same &= column[order][1:] == column[order][:-1]
    first = np.ones(len(order), np.bool_)
    first[order[1:]] = ~same  # lexsort is stable: the first of equal rows comes first
    return first


def _repeated(found: Collector, detections: Detections, most_rows: int | None) -> None:
    """Adds ``repeated_images``. A sampler is padded at its end, so the images of the last rows are looked at."""
    last = np.isin(detections.image_ids, np.unique(detections.image_ids[-LAST_ROWS:]))
    rows = np.flatnonzero(last)[-(most_rows or len(last)) :]
    if not len(rows):
        return
    again = rows[~first_of_each(detections.take(rows))]
    if len(again) >= max(REPEATED_ROWS, REPEATED * len(rows)):
        images = len(np.unique(detections.image_ids[again]))
        message = (
            f"{len(again):,} of {len(rows):,} detections of the last images repeat an earlier one, on {images:,} images"
        )
        hint = "leave out rows with equal image, class, box and score: each of them is a false positive"
        found.state("repeated_images", "warning", _mask(len(detections), again), message, hint)
