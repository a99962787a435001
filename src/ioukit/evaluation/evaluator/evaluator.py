"""`Evaluator`: an evaluation that grows batch by batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._checks import check_format, check_threads
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.datasets.formats.text_files import refuse
from ioukit.evaluation.evaluator.buffers import GrowingRows
from ioukit.evaluation.evaluator.categories import KnownCategories, given_categories
from ioukit.evaluation.evaluator.data import data_of
from ioukit.evaluation.evaluator.images import ImageIds
from ioukit.evaluation.evaluator.matched import MatchedParts
from ioukit.evaluation.evaluator.reading import Reader
from ioukit.evaluation.evaluator.rows import Rows
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.matching import checked_near, match
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.results import Evaluation
from ioukit.evaluation.table import MatchTable

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.typing import BoxFormat

__all__ = ["Evaluator"]


class Evaluator:
    """An evaluation that grows batch by batch, for training and validation loops.

    :meth:`update` takes what a model predicts for some images, and what is there; :meth:`compute` returns the
    :class:`~ioukit.Evaluation` of all images so far. The numbers are those of :func:`ioukit.evaluate` on the same data
    to the last bit, however the images are split into updates.

    An evaluator keeps match tables, not boxes, so each image is matched once. Its memory grows by 44 bytes per
    detection, 26 per object and 32 per matching pair once it is matched; before, boxes in float32 wait in 24 bytes per
    row, those in float64 in 44.

    Args:
        protocol: The rules; if ``None``, those of the kind of region: :data:`COCO_KEYPOINTS` for keypoints, else
            :data:`COCO`.
        iou_type: The kind of region that is compared, ``"bbox"``, ``"segm"`` or ``"keypoints"`` for example, see
            :func:`ioukit.evaluation.match`.
        categories: Names of categories, of which labels are the positions; ids, which labels are; names by id; or the
            :class:`~ioukit.datasets.Categories` of a data set. Another label is an error. If ``None``, labels are ids,
            and the categories are those that occur.
        box_format: The format of boxes that are plain arrays: ``"xyxy"`` (two corners), ``"xywh"`` (corner and size)
            or ``"cxcywh"`` (centre and size), in pixels.
        near: As for :func:`ioukit.evaluation.match`: with 0.1, the confusion matrix and the kinds of errors can be
            computed without the data.
        keep_data: Whether the data is kept, too. The evaluations then have :attr:`~ioukit.Evaluation.ground_truth` and
            :attr:`~ioukit.Evaluation.detections`, as figures and reports need them.
        threads: How many threads; all cores if ``None``. The result does not depend on it.

    Raises:
        ValueError: If ``iou_type``, ``box_format`` or ``near`` is invalid, or ``categories`` repeat one.

    Examples:
        >>> evaluator = Evaluator(categories=["cat", "dog"])
        >>> predictions = [{"boxes": [[0, 0, 10, 8]], "scores": [0.9], "labels": [1]}]
        >>> targets = [{"boxes": [[0, 0, 10, 10]], "labels": [1]}]
        >>> evaluator.update(predictions, targets)
        >>> round(evaluator.compute().summary["AP"], 3)
        0.7
    """

    def __init__(
        self,
        protocol: Protocol | None = None,
        *,
        iou_type: str = "bbox",
        categories: Sequence[str] | Sequence[int] | Mapping[int, str] | Categories | None = None,
        box_format: BoxFormat = "xyxy",
        near: float | None = None,
        keep_data: bool = False,
        threads: int | None = None,
    ) -> None:
        kind = find_kind(iou_type)
        self._protocol = kind.protocol if protocol is None else protocol
        self._iou_type = iou_type
        check_format(box_format)
        self._format: BoxFormat = box_format
        self._near = checked_near(self._protocol, near)
        self._keep_data = keep_data
        check_threads(threads)
        self._threads = threads
        given = given_categories(categories)
        self._known = None if given is None else KnownCategories(given)
        self._readers = (Reader("predictions", box_format), Reader("targets", box_format))
        self._clear()

    def _clear(self) -> None:
        self._images = ImageIds()
        self._matched = MatchedParts(keep_data=self._keep_data)
        self._forget_pending()
        self._evaluation: Evaluation | None = None

    def _forget_pending(self) -> None:
        self._pending_ids: list[Any] = []
        self._pending = (GrowingRows(self._format, scores=True), GrowingRows(self._format, scores=False))

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self._protocol

    @property
    def iou_type(self) -> str:
        """The kind of region that is compared."""
        return self._iou_type

    @property
    def box_format(self) -> BoxFormat:
        """The format of boxes that are plain arrays."""
        return self._format

    @property
    def categories(self) -> Categories | None:
        """The categories that were given; ``None`` if they are those that occur."""
        return None if self._known is None else self._known.categories

    def __len__(self) -> int:
        """The number of images."""
        return self._images.count

    def __bool__(self) -> bool:
        return True  # also without images

    def __repr__(self) -> str:
        return f"Evaluator({len(self):,} images, {self._iou_type}, {self._protocol.name})"

    def update(
        self,
        predictions: Detections | Sequence[Any],
        targets: GroundTruth | Sequence[Mapping[str, Any]],
        *,
        image_ids: Sequence[int] | Sequence[str] | npt.NDArray[Any] | None = None,
    ) -> None:
        """Add images. If this raises an error, nothing has been added.

        Values may be lists or arrays of NumPy, PyTorch (on any device), JAX and other libraries. Boxes may also be
        :class:`~ioukit.Boxes`, which know their format.

        Args:
            predictions: (I,) one per image: a dict with ``boxes`` (N, 4), ``scores`` (N,) and ``labels`` (N,). Scores
                may be any finite numbers; only their order matters. Or :class:`~ioukit.Detections` of all images.
            targets: (I,) one dict per image with ``boxes`` (M, 4) and ``labels`` (M,), and perhaps ``iscrowd`` (M,),
                ``area`` (M,) in square pixels, and ``image_id``. Without ``area``, areas are those of the regions that
                are compared. Other keys are not read. Or :class:`~ioukit.GroundTruth`, which lists the images.
            image_ids: (I,) integers or strings that differ from all earlier ones. If ``None``, those of the targets;
                if they have none, the images are numbered in order, starting with 0. The order of the ids decides
                which of two detections with equal scores comes first.

        Raises:
            DatasetError: If a value is missing or invalid; the message names the image, the key and the row.
            TypeError: If an argument is of another type.
            ValueError: If there are not as many predictions as targets or ids.
        """
        if isinstance(predictions, Detections) or isinstance(targets, GroundTruth):
            self._update_with_columns(predictions, targets, image_ids)
            return
        predicted, objects = _listed(predictions, "predictions"), _listed(targets, "targets")
        if len(predicted) != len(objects):
            raise ValueError(
                f"predictions and targets must have one entry per image, got {len(predicted):,} predictions and "
                f"{len(objects):,} targets"
            )
        if not predicted:
            return
        detections = self._readers[0].rows(predicted, self._known)
        ground_truth = self._readers[1].rows(objects, self._known)
        ids = self._images.of_batch(image_ids, objects, len(objects))
        running = image_ids is None and "image_id" not in objects[0]
        if self._matches_at_once(detections):
            first_id = self._matched.objects + self._pending[1].count + 1
            self._add_matched(*data_of(ids, detections, ground_truth, self.categories, first_id))
        else:
            self._pending[0].append(detections)
            self._pending[1].append(ground_truth)
            self._pending_ids += ids
        self._images.add(ids, running=running)
        self._evaluation = None

    def _matches_at_once(self, rows: Rows) -> bool:
        """Whether a batch is matched by `update` itself: regions take much more memory than their matches."""
        return self._iou_type != "bbox" or _needs_more_than_boxes(self._protocol) or bool(rows.regions)

    def _update_with_columns(self, detections: Any, ground_truth: Any, image_ids: Any) -> None:
        for name, value, kind in (("predictions", detections, Detections), ("targets", ground_truth, GroundTruth)):
            if not isinstance(value, kind):
                raise TypeError(
                    f"predictions and targets must be Detections and GroundTruth, or both lists with a dict per image; "
                    f"got {type(value).__name__} as {name}"
                )
        if image_ids is not None:
            raise ValueError("image_ids must be left out: the ground truth lists its images")
        ids = ground_truth.images.labels.tolist()
        if not ids:
            return
        ids = self._images.checked(ids, "targets: images[{}]")
        if self._known is not None:
            ground_truth = _with_categories(ground_truth, self._known.categories)
        self._matched.check_names(ground_truth.categories)
        self._add_matched(ground_truth, detections)
        self._images.add(ids, running=False)
        self._evaluation = None

    def _add_matched(self, ground_truth: GroundTruth, detections: Detections) -> None:
        """Match some images, after those that wait."""
        table = self._match(ground_truth, detections)
        self._match_pending()
        self._matched.add(table, ground_truth, detections)

    def _match(self, ground_truth: GroundTruth, detections: Detections) -> MatchTable:
        return match(
            ground_truth,
            detections,
            self._protocol,
            iou_type=self._iou_type,
            near=self._near,
            threads=self._threads,
        )

    def _match_pending(self) -> None:
        """Match the images that wait."""
        if not self._pending_ids:
            return
        detections, objects = (rows.joined() for rows in self._pending)
        data = data_of(self._pending_ids, detections, objects, self.categories, self._matched.objects + 1)
        self._matched.add(self._match(*data), *data)
        self._forget_pending()

    def compute(self) -> Evaluation:
        """The evaluation of all images so far. Only images that are new since the last call are matched.

        The result is kept until the next :meth:`update`.

        Raises:
            ValueError: If there is no image.
        """
        if self._evaluation is None:
            if not len(self):
                raise ValueError("compute needs at least one image, got none: call update(predictions, targets) first")
            self._match_pending()
            table = self._matched.table()
            data = self._matched.data()
            base = Evaluation.from_table(table, threads=self._threads)
            if data is not None:
                base = dataclasses.replace(base, ground_truth=data[0], detections=data[1])
            self._evaluation = base
        return self._evaluation

    def reset(self) -> None:
        """Forget all images. The settings stay."""
        self._clear()

    def merge(self, other: Evaluator) -> None:
        """Add the images of another evaluator, which stays as it is.

        If neither was given ids of images, those of the other one are numbered on.

        Args:
            other: An evaluator with the same protocol, kind of region and ``near``.

        Raises:
            TypeError: If it is no evaluator.
            ValueError: If its settings differ, both have the same image, or only one of them was given ids.
        """
        if not isinstance(other, Evaluator):
            raise TypeError(f"merge expects an Evaluator, got {type(other).__name__}")
        if not len(other):
            return
        self._check_alike(other)
        running = other._images.running
        if len(self) and self._images.running != running:
            raise ValueError("only one of the evaluators was given ids of images: give ids to both, or to none")
        ids = other._images.ids()
        if not running:
            ids = self._images.checked(ids, "merge: image {}")
        for categories in other._matched.categories():
            self._matched.check_names(categories)
        other._match_pending()
        self._match_pending()
        self._matched.merge(other._matched, images=self._images.count if running else 0)
        self._images.add(ids, running=bool(running))
        self._evaluation = None

    def _check_alike(self, other: Evaluator) -> None:
        settings = (("iou_type", self._iou_type, other._iou_type), ("near", self._near, other._near))
        for name, mine, its in settings:
            if mine != its:
                raise ValueError(f"evaluators must have the same {name}, got {mine!r} and {its!r}")
        if self._protocol != other._protocol:
            raise ValueError(
                f"evaluators must have the same protocol, got {self._protocol.name!r} and {other._protocol.name!r}"
            )


def _listed(given: Any, name: str) -> Sequence[Any]:
    if isinstance(given, Mapping):
        raise TypeError(f"{name} must be a list with one entry per image, got one dict: write [{name[:-1]}]")
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(f"{name} must be a list with one entry per image, got {type(given).__name__}")
    return given


def _needs_more_than_boxes(protocol: Protocol) -> bool:
    """Whether a protocol needs what dicts do not have, so that its data is looked at as it comes."""
    return (
        protocol.verified != "all"
        or protocol.ranges_by == "flag"
        or protocol.objects_choose is not None
        or bool(protocol.detection_values or protocol.counted_values or protocol.category_groups)
        or protocol.clipped_boxes
    )


def _with_categories(ground_truth: GroundTruth, categories: Categories) -> GroundTruth:
    """The ground truth with the categories of the evaluator, which must hold its own."""
    ids = ground_truth.categories.ids
    unknown = np.flatnonzero(~np.isin(ids, categories.ids))
    if len(unknown):
        refuse("targets: categories", "those of the evaluator", f"the id {int(ids[unknown[0]])}")
    return dataclasses.replace(ground_truth, categories=categories)
