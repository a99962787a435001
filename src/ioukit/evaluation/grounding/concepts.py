"""All regions of a concept, as SAM 3 is evaluated: cgF1, its parts, and whether an image has the concept at all.

Owns: the pairs of each image, which annotator counts there, and the numbers that the authors' program ``cgf1_eval.py``
makes of them. Does not own: overlaps (:func:`~ioukit.evaluation.matching.match` lists them) and the assignment (the
core).

Cut here because nothing is ranked: a score only decides whether a detection counts. The small terms that the authors
add to denominators are a part of their numbers: without them, no number would be theirs to the last bit.

Source: Carion et al., SAM 3: Segment Anything with Concepts, 2025, arXiv:2511.16719; and the authors' program.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from ioukit import _core
from ioukit._checks import check_score_threshold, pluralize
from ioukit._columns import Frozen, positions_in, record
from ioukit._keywords import answers_keywords
from ioukit._output import aligned
from ioukit._plain_values import plain_value
from ioukit.datasets.columns._checks import check_readable_again
from ioukit.datasets.formats.registry import find_format
from ioukit.datasets.formats.text_files import parse_json
from ioukit.errors import DatasetError
from ioukit.evaluation.evaluating import detections_of, ground_truth_of
from ioukit.evaluation.matching import match
from ioukit.evaluation.protocols import COCO
from ioukit.evaluation.summary import Summary
from ioukit.overlap.one_to_one import assign_rows

if TYPE_CHECKING:
    from ioukit._array_types import Flags, Floats, Ids
    from ioukit.datasets import Detections, GroundTruth
    from ioukit.evaluation.evaluating import DetectionsLike, GroundTruthLike
    from ioukit.typing import IouType

Counts: TypeAlias = npt.NDArray[np.int64]

EXHAUSTIVE = "is_instance_exhaustive"
"""The member of an image, or the attribute, that says whether all instances of its concept are marked one by one."""

_OF_REGIONS = (
    "cgF1", "precision", "recall", "F1", "positive_macro_F1", "positive_micro_F1", "positive_micro_precision",
)  # fmt: skip
"""The numbers that depend on an IoU threshold, in the order of the authors' program."""
_LEAST = 1e-300
"""Overlaps below this one are not listed: any overlap counts for the sum that is made as high as possible."""
_REGION_TERM, _IMAGE_TERM = 1e-4, 1e-6
"""What the authors add to denominators of counts of regions, and of images, against a division by 0."""


@record(frozen=True, eq=False, repr=False)
class ConceptEvaluation(Frozen):
    """The result of :func:`evaluate_concepts`: counts of each image, and the numbers that they make.

    An image stands for a picture and a phrase.
    """

    image_ids: npt.NDArray[Any]
    """(I,) ids of the images in which all annotators marked all instances, in the order of the file."""
    annotator: Counts
    """(I,) the position of the ground truth that the image was compared with: the one that fits the detections best."""
    num_objects: Counts
    """(I,) objects of that annotator, without crowds."""
    num_detections: Counts
    """(I,) detections whose score is high enough."""
    true_positives: Counts
    """(I, 10) pairs whose IoU reaches each threshold from 0.50 to 0.95."""
    iou_type: str
    """What was compared: ``"segm"`` for masks, ``"bbox"`` for boxes."""
    score_threshold: float
    """The score from which detections count."""
    num_left_out: int
    """Images in which an annotator did not mark all instances."""
    notes: tuple[str, ...] = ()
    """What a user should know about the data."""

    @cached_property
    def curves(self) -> Mapping[str, Floats]:
        """(10,) values of each number that depends on the IoU threshold, by its name."""
        found, has_both = self.num_detections[:, np.newaxis], (self.num_objects > 0) & (self.num_detections > 0)
        false_positives = found - self.true_positives
        hits = self.true_positives.sum(axis=0)
        missed = self.num_objects.sum() - hits
        precision = _share(hits, false_positives.sum(axis=0))
        positive_precision = _share(hits, false_positives[self.num_objects > 0].sum(axis=0))
        recall = _share(hits, missed)
        of_images = _f1_of_images(self.true_positives, self.num_objects, self.num_detections)[has_both]
        # The authors add image by image; NumPy's own sum over this axis need not.
        total = np.add.accumulate(of_images, axis=0)[-1] if len(of_images) else np.full(len(hits), math.nan)
        micro = _f1(positive_precision, recall)
        return {
            "cgF1": micro * self._of_images["IL_MCC"],
            "precision": precision,
            "recall": recall,
            "F1": _f1(precision, recall),
            "positive_macro_F1": total / max(len(of_images), 1),
            "positive_micro_F1": micro,
            "positive_micro_precision": positive_precision,
        }

    @cached_property
    def _of_images(self) -> dict[str, float]:
        """Whether there is any detection, as a prediction whether there is any object."""
        there, seen = self.num_objects > 0, self.num_detections > 0
        tp, fp, fn, tn = (
            int(((there == a) & (seen == b)).sum())
            for a, b in ((True, True), (False, True), (True, False), (False, False))
        )
        recall, precision = tp / (tp + fn + _IMAGE_TERM), tp / (tp + fp + _IMAGE_TERM)
        of_margins = (float(tp + fp) * float(tp + fn) * float(tn + fp) * float(tn + fn)) ** 0.5
        return {
            "IL_precision": precision,
            "IL_recall": recall,
            "IL_F1": 2 * precision * recall / (precision + recall + _IMAGE_TERM),
            "IL_FPR": fp / (fp + tn + _IMAGE_TERM),
            "IL_MCC": float(tp * tn - fp * fn) / (of_margins + _IMAGE_TERM),
        }

    @cached_property
    def summary(self) -> Summary:
        """The 26 numbers of the authors' program, by its names: ``summary["cgF1"]``, ``summary["cgF1@0.5"]``.

        Those without ``@`` are means over IoU thresholds from 0.50 to 0.95, or of images (``IL_``). NaN if undefined,
        where the authors print -1: ``positive_macro_F1`` without an image that has objects and detections.
        """
        numbers = {name: float(np.mean(self.curves[name])) for name in _OF_REGIONS} | self._of_images
        for threshold in (0.5, 0.75):
            at = COCO.iou_thresholds.index(threshold)
            numbers |= {f"{name}@{threshold}": float(self.curves[name][at]) for name in _OF_REGIONS}
        return Summary(numbers)

    @property
    def counts(self) -> dict[str, int]:
        """Images that count, those with objects, objects and detections in them, and images that were left out."""
        return {
            "images": len(self.image_ids),
            "images_with_objects": int((self.num_objects > 0).sum()),
            "objects": int(self.num_objects.sum()),
            "detections": int(self.num_detections.sum()),
            "images_left_out": self.num_left_out,
        }

    def table(self) -> str:
        """The numbers in percent: a line per number of regions, by IoU threshold, then those of images."""
        numbers = self.summary
        rows = [["", "0.50:0.95", "0.50", "0.75"]]
        rows += [[name, *(_percent(numbers[name + at]) for at in ("", "@0.5", "@0.75"))] for name in _OF_REGIONS]
        of_images = [[name, _percent(value)] for name, value in self._of_images.items()]
        return f"{aligned(rows)}\n\n{aligned(of_images)}"

    def to_dict(self) -> dict[str, Any]:
        """All numbers and counts in plain Python values, ``None`` where a number is undefined."""
        return {
            "summary": plain_value(self.summary),
            "counts": self.counts,
            "iou_type": self.iou_type,
            "score_threshold": self.score_threshold,
            "notes": list(self.notes),
            "version": _core.__version__,
        }

    def to_json(self, *, indent: int | None = None) -> str:
        """:meth:`to_dict` as JSON, every number to its last bit."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False)

    def __repr__(self) -> str:
        numbers = ", ".join(f"{key}={self.summary[key]:.4f}" for key in ("cgF1", "positive_micro_F1", "IL_MCC"))
        return f"ConceptEvaluation({numbers}, {pluralize(len(self.image_ids), 'image')})"


@answers_keywords
def evaluate_concepts(
    ground_truth: GroundTruthLike | Sequence[GroundTruthLike],
    detections: DetectionsLike,
    *,
    iou_type: IouType = "segm",
    score_threshold: float = 0.5,
    threads: int | None = None,
) -> ConceptEvaluation:
    """Evaluate how all regions of a concept are found, as SAM 3 is: cgF1, pmF1 (``positive_micro_F1``), IL_MCC.

    An image stands for a picture and a phrase, such as "striped cat", so its objects and detections have no further
    class. Detections count from a score on. In each image, pairs are made one to one, with the highest sum of IoU.
    Crowds are left out. Of several annotators, the one with the highest F1 counts in an image, the first of equal ones;
    without a detection, one who marked nothing. Every number has the bits of the authors' program.

    Args:
        ground_truth: The objects, as for :func:`ioukit.evaluate`, or a list with those of several annotators, for the
            same images. Images whose ``is_instance_exhaustive`` is 0 for an annotator are left out; without it, all
            count. It is a member of the images of COCO's files: give the path or the mapping, because
            :class:`~ioukit.GroundTruth` that was read before lacks it. In memory, it is an attribute of ``images``.
        detections: The detections, as for :func:`ioukit.evaluate`.
        iou_type: The kind of region that is compared, as for :func:`ioukit.evaluate`.
        score_threshold: The score from which detections count.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        DatasetError: If no image counts, annotators list different images, a detection has an image or a category that
            the ground truth does not list, a side lacks the regions that are compared, or a file is invalid.
        ValueError: If there is no ground truth, no kind of region has the name, or the threshold is above 1 and no
            score is.

    Source:
        Carion et al., SAM 3: Segment Anything with Concepts, 2025, arXiv:2511.16719; and ``sam3/eval/cgf1_eval.py`` in
        https://github.com/facebookresearch/sam3

    Examples:
        >>> from ioukit import Detections, GroundTruth
        >>> ground_truth = GroundTruth.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [20, 0, 10, 10]], images=[1, 2]
        ... )
        >>> detections = Detections.from_arrays(
        ...     image_ids=[1, 1], category_ids=[1, 1], boxes=[[0, 0, 10, 10], [20, 0, 10, 8]], scores=[0.9, 0.8]
        ... )
        >>> evaluate_concepts(ground_truth, detections, iou_type="bbox")  # the second image is rightly empty
        ConceptEvaluation(cgF1=0.8499, positive_micro_F1=0.8499, IL_MCC=1.0000, 2 images)
    """
    given: Sequence[Any] = ground_truth if isinstance(ground_truth, list | tuple) else [ground_truth]
    if not given:
        raise ValueError("ground_truth must have at least one annotator, got an empty list")
    annotators = [ground_truth_of(one, None, threads) for one in given]
    first = annotators[0]
    for gt in annotators:
        if len(other := np.setxor1d(gt.images.labels, first.images.labels)):
            label = other[0].item()
            raise DatasetError(f"{gt.source}: images: expected those of {first.source}, only one has image {label!r}")
    listed = [_listed(one, gt) for one, gt in zip(given, annotators, strict=True)]
    counts = np.all([marked for _, marked in listed], axis=0)
    if not counts.any():
        of_all = f"{EXHAUSTIVE}), found none of {pluralize(len(counts), 'image')}"
        raise DatasetError(
            f"{first.source}: images: expected one in which all annotators marked all instances ({of_all}"
        )
    dt = detections_of(detections, first, threads).known_to(first)
    if not dt.scored:
        raise DatasetError(
            f"{dt.source}: the detections have no scores, and those with a score of at least {score_threshold:g} count"
        )
    check_score_threshold(score_threshold, dt.scores)
    labels = first.images.labels[counts]
    dt = dt.take(counts[np.searchsorted(first.images.ids, dt.image_ids_in(first.images))])
    dt = dt.take(dt.scores >= score_threshold)
    scored = [_scored(gt, dt, labels, iou_type, threads) for gt in annotators]
    best = _best(scored)
    left_out = int((~counts).sum())
    notes = [*(note for gt in annotators for note in gt.notes), *dt.notes]
    if left_out:
        of_all = f"{left_out:,} of {pluralize(len(counts), 'image')}"
        notes.append(f"{first.source}: {of_all} left out: not all annotators marked all instances ({EXHAUSTIVE})")
    there = np.stack([one.num_objects for one in scored]) > 0
    if there.all() or not there.any():
        zero = "so IL_MCC and cgF1 are 0 by their definition, whatever is found"
        notes.append(f"{first.source}: {'every' if there.all() else 'no'} image has its concept, {zero}")
    order = listed[0][0]
    rows = (np.cumsum(counts) - 1)[order[counts[order]]]
    return ConceptEvaluation(
        image_ids=labels[rows],
        annotator=best[rows],
        num_objects=np.stack([one.num_objects for one in scored])[best[rows], rows],
        num_detections=scored[0].num_detections[rows],
        true_positives=np.stack([one.true_positives for one in scored])[best[rows], rows],
        iou_type=iou_type,
        score_threshold=float(score_threshold),
        num_left_out=left_out,
        notes=tuple(dict.fromkeys(notes)),
    )


def _listed(given: GroundTruthLike, gt: GroundTruth) -> tuple[Ids, Flags]:
    """What the readers leave out: (I,) the order of the images in the file, and (I,) whether all instances are marked.

    The authors add in the order of the file.
    """
    records: Any = None
    if isinstance(given, Mapping):
        records = given["images"]
    elif isinstance(given, str | os.PathLike) and find_format(given).name == "coco":
        records = read_again(os.fspath(given), "the records of the images")["images"]
    if records is None:
        column = gt.images.attributes.get(EXHAUSTIVE, np.ones(len(gt.images)))
        return np.arange(len(gt.images)), np.array(column, np.bool_)
    values = [one.get(EXHAUSTIVE, 1) for one in records]
    wrong = [row for row, value in enumerate(values) if not isinstance(value, int) or value not in (0, 1)]
    if wrong:
        where = f"{gt.source}: images[{wrong[0]}].{EXHAUSTIVE}"
        raise DatasetError(f"{where}: expected 0 or 1, found {values[wrong[0]]!r}")
    order = gt.images.positions([one["id"] for one in records])
    return order, np.array(values, np.bool_)[np.argsort(order)]


def read_again(path: str, what: str) -> Any:
    """What a JSON file holds that a reader has accepted; `what` is for the message about a pipe."""
    check_readable_again(path, what)
    return parse_json(_core.read_text(path).decode("utf-8-sig"), path)


class _Scored(NamedTuple):
    """The images, compared with one annotator."""

    num_objects: Counts
    num_detections: Counts
    true_positives: Counts
    """(I, 10)."""


def _scored(
    gt: GroundTruth, dt: Detections, labels: npt.NDArray[Any], iou_type: IouType, threads: int | None
) -> _Scored:
    """Makes the pairs of every image, and counts those that reach each threshold."""
    gt = gt.take(~gt.crowd)
    # The list of near pairs has every overlap with the bits of COCO's evaluation; its matches are not used.
    table = match(gt, dt, COCO, iou_type=iou_type, images=labels, near=_LEAST, threads=threads)
    near = table.near
    assert near is not None
    known = gt.images.positions(labels)
    ids = gt.images.ids[known]
    objects, found = (
        _Sorted(positions_in(ids, image_ids), side.category_ids, len(labels))
        for side, image_ids in ((gt, gt.image_ids), (dt, dt.image_ids_in(gt.images)))
    )
    rows = found.rank[table.detections.row[near.detection]]
    columns = objects.rank[table.objects.row[near.object]]
    order = np.argsort(rows, kind="stable")
    rows, columns, overlaps = rows[order], columns[order], near.iou[order]
    begins = np.searchsorted(rows, found.starts)
    hits = np.zeros((len(labels), len(COCO.iou_thresholds)), np.int64)
    thresholds = np.array(COCO.iou_thresholds)
    for image in np.flatnonzero(np.diff(begins)).tolist():
        pairs = slice(begins[image], begins[image + 1])
        iou = np.zeros((found.counts[image], objects.counts[image]))
        iou[rows[pairs] - found.starts[image], columns[pairs] - objects.starts[image]] = overlaps[pairs]
        hits[image] = (iou[assign_rows(-iou)][:, np.newaxis] >= thresholds).sum(axis=0)
    return _Scored(objects.counts, found.counts, hits)


class _Sorted:
    """The rows of one side by image, then by category, then as in the data: of equal sums, the order chooses."""

    def __init__(self, images: npt.NDArray[np.intp], category_ids: Ids, count: int) -> None:
        order = np.lexsort((category_ids, images))
        self.rank = np.empty(len(order), np.int64)
        self.rank[order] = np.arange(len(order))
        self.starts = np.searchsorted(images[order], np.arange(count + 1))
        self.counts = np.diff(self.starts)


def _best(scored: Sequence[_Scored]) -> Counts:
    """(I,) the position of the annotator that counts in each image."""
    of_all = [_f1_of_images(one.true_positives, one.num_objects, one.num_detections) for one in scored]
    f1 = np.stack(of_all).mean(axis=2)
    # Without objects and detections all is right, and no F1 is higher than 1.
    right = np.stack([(one.num_objects == 0) & (one.num_detections == 0) for one in scored])
    best: Counts = np.where(right, 2.0, f1).argmax(axis=0).astype(np.int64)
    return best


def _f1_of_images(true_positives: Counts, num_objects: Counts, num_detections: Counts) -> Floats:
    """(I, 10) the F1 of each image at each threshold."""
    found, objects = num_detections[:, np.newaxis], num_objects[:, np.newaxis]
    return _f1(_share(true_positives, found - true_positives), _share(true_positives, objects - true_positives))


def _share(right: Any, wrong: Any) -> Floats:
    found: Floats = right / (right + wrong + _REGION_TERM)
    return found


def _f1(precision: Floats, recall: Floats) -> Floats:
    return 2 * precision * recall / (precision + recall + _REGION_TERM)


def _percent(value: float) -> str:
    return f"{round(100 * value, 1) + 0:.1f}"  # what rounds to 0 has no sign
