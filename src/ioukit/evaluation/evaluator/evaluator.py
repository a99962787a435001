"""`Evaluator`: an evaluation that grows batch by batch.

Owns: what users call, and what is computed once until something changes. Does not own: what a batch may hold
(reading.py, region_reading.py, tools.py), the images so far (collected.py), bytes for checkpoints and processes
(state.py).
Cut so that an update that fails has changed nothing: reading and checking come first, and make rows; only checked rows
reach the images. Boxes wait in few bytes until something is computed, and are then matched many at a time. Regions are
matched at once, as they take more memory than their matches.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

from ioukit._checks import check_format, check_threads
from ioukit._keywords import answers_keywords
from ioukit._near_names import Answering
from ioukit.datasets import Categories, Detections, GroundTruth
from ioukit.evaluation.evaluator.categories import KnownCategories, given_categories
from ioukit.evaluation.evaluator.collected import CollectedImages, Settings
from ioukit.evaluation.evaluator.reading import Reader
from ioukit.evaluation.evaluator.state import (
    Gather,
    checked_messages,
    common_table,
    failure_message,
    gather_by_torch,
    packed_state,
    state_message,
    unpacked_state,
)
from ioukit.evaluation.kinds import find_kind
from ioukit.evaluation.matching import checked_near
from ioukit.evaluation.protocols import Protocol
from ioukit.evaluation.protocols.registry import protocol_of
from ioukit.evaluation.results import Evaluation
from ioukit.evaluation.table import MatchTable

if TYPE_CHECKING:
    import numpy.typing as npt

    from ioukit.typing import BoxFormat, IouType, ProtocolName


class Evaluator(Answering):
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

    OTHER_WORDS: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("add", "append", "process", "step", "add_batch"), "update"),
        **dict.fromkeys(("evaluate", "result", "results", "accumulate", "summarize", "get_metric"), "compute"),
    }

    @answers_keywords
    def __init__(
        self,
        protocol: Protocol | ProtocolName | None = None,
        *,
        iou_type: IouType = "bbox",
        categories: Sequence[str] | Sequence[int] | Mapping[int, str] | Categories | None = None,
        box_format: BoxFormat = "xyxy",
        near: float | None = None,
        keep_data: bool = False,
        threads: int | None = None,
    ) -> None:
        kind = find_kind(iou_type)
        check_format(box_format)
        check_threads(threads)
        given = given_categories(categories)
        rules = kind.protocol if protocol is None else protocol_of(protocol, iou_type)
        self._settings = Settings(
            protocol=rules,
            iou_type=iou_type,
            near=checked_near(rules, near),
            format=box_format,
            known=None if given is None else KnownCategories(given),
            keep_data=keep_data,
            threads=threads,
        )
        self._readers: tuple[Reader, Reader] = (Reader("predictions", box_format), Reader("targets", box_format))
        if iou_type != "bbox":
            from ioukit.evaluation.evaluator.region_reading import RegionReader  # noqa: PLC0415 - boxes do not need it

            self._readers = (
                RegionReader("predictions", box_format, kind.needs),
                RegionReader("targets", box_format, kind.needs),
            )
        self._images = CollectedImages(self._settings)
        self._changed()

    def _changed(self) -> None:
        """Forget what was computed."""
        self._evaluation: Evaluation | None = None
        self._common: MatchTable | None = None  # of all processes, since the last `sync`

    @property
    def protocol(self) -> Protocol:
        """The rules."""
        return self._settings.protocol

    @property
    def iou_type(self) -> str:
        """The kind of region that is compared."""
        return self._settings.iou_type

    @property
    def box_format(self) -> BoxFormat:
        """The format of boxes that are plain arrays."""
        return self._settings.format

    @property
    def categories(self) -> Categories | None:
        """The categories that were given; ``None`` if they are those that occur."""
        return self._settings.categories

    def __len__(self) -> int:
        """The number of images; after :meth:`sync`, and until the next :meth:`update`, that of all processes."""
        return self._images.ids.count if self._common is None else len(self._common.image_ids)

    def __bool__(self) -> bool:
        return True  # also without images

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        """Says what to write, to those who know metrics that are called.

        Raises:
            TypeError: Always.
        """
        raise TypeError("an Evaluator is not called: write update(predictions, targets), and compute() at the end")

    def __repr__(self) -> str:
        return f"Evaluator({len(self):,} images, {self.iou_type}, {self.protocol.name})"

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
            predictions: (I,) one per image: a dict with ``boxes`` (N, 4), ``scores`` (N,) and ``labels`` (N,), or an
                object that :func:`ioukit.datasets.from_predictions` reads, such as Ultralytics' ``Results``. Scores may
                be any finite numbers; only their order matters. Or :class:`~ioukit.Detections` of all images.
            targets: (I,) one dict per image with ``boxes`` (M, 4) and ``labels`` (M,), and perhaps ``iscrowd`` (M,),
                ``area`` (M,) in square pixels, and ``image_id``. Without ``area``, areas are those of the regions that
                are compared. Other keys are not read. Or :class:`~ioukit.GroundTruth`, which lists the images.

                For masks, both sides have ``masks``: (N, H, W) pixels, records of RLE or :class:`~ioukit.Masks`; boxes
                may be missing. For keypoints, both have ``keypoints`` (N, P, 3); detections need no boxes. For other
                kinds, ``boxes`` are a set of such regions, for example :class:`~ioukit.RotatedBoxes`. The area of a
                detection is that of its mask, or of the box around its keypoints, as in pycocotools.
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
        if type(predicted[0]) is not dict or "boxes" not in predicted[0]:
            predicted = self._read_by_tools(predicted)
        known = self._settings.known
        rows = self._readers[0].rows(predicted, known), self._readers[1].rows(objects, known)
        ids = self._images.ids.of_batch(image_ids, objects, len(objects))
        self._images.add_rows(ids, *rows, running=image_ids is None and "image_id" not in objects[0])
        self._changed()

    def _read_by_tools(self, predictions: Sequence[Any]) -> Sequence[Any]:
        """The predictions, as dicts if a tool returned them."""
        from ioukit.evaluation.evaluator.tools import are_of_tools, dicts_of_tools  # noqa: PLC0415 - dicts do not need it

        if not are_of_tools(predictions):
            return predictions
        rotated = find_kind(self.iou_type).needs == "RotatedBoxes"
        return dicts_of_tools(predictions, self._settings.known, rotated=rotated)

    def _update_with_columns(self, detections: Any, ground_truth: Any, image_ids: Any) -> None:
        for name, value, kind in (("predictions", detections, Detections), ("targets", ground_truth, GroundTruth)):
            if not isinstance(value, kind):
                raise TypeError(
                    f"predictions and targets must be Detections and GroundTruth, or both lists with a dict per image; "
                    f"got {type(value).__name__} as {name}"
                )
        if image_ids is not None:
            raise ValueError("image_ids must be left out: the ground truth lists its images")
        self._images.add_data(ground_truth, detections)
        self._changed()

    def compute(self) -> Evaluation:
        """The evaluation of all images so far. Only images that are new since the last call are matched.

        The result is kept until the next :meth:`update`.

        Raises:
            ValueError: If there is no image.
        """
        if self._evaluation is None:
            if not len(self):
                raise ValueError("compute needs at least one image, got none: call update(predictions, targets) first")
            table = self._images.table() if self._common is None else self._common
            assert table is not None
            found = Evaluation.from_table(table, threads=self._settings.threads)
            if self._common is None:  # else each process would know its own data
                gt, dt = self._images.data() or (None, None)
                found = dataclasses.replace(found, ground_truth=gt, detections=dt, sample=self._images.sample)
            self._evaluation = found
        return self._evaluation

    def reset(self) -> None:
        """Forget all images. The settings stay."""
        self._images = CollectedImages(self._settings)
        self._changed()

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
        if other._images.ids.count:
            self._images.merge(other._images)
            self._changed()

    def state_dict(self) -> dict[str, Any]:
        """The images of this process, for a checkpoint: a string and an array of bytes.

        ``numpy.savez(path, **state)`` and ``torch.save(state, path)`` write it. Images that wait are matched first. The
        settings are not part of it, and neither is the data of ``keep_data``.
        """
        return packed_state(self._images.state())

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take the images of a state in place of all that there are. If this raises an error, nothing changes.

        Args:
            state: What :meth:`state_dict` returned, also read back by ``numpy.load`` or ``torch.load``.

        Raises:
            DatasetError: If it is something else or damaged.
            ValueError: If it was made with another protocol, kind of region or ``near``, or with categories that this
                evaluator was not given.
        """
        self._images = CollectedImages.of_state(unpacked_state(state, "state"), self._settings)
        self._changed()

    def sync(self, group: Any = None, *, gather: Gather | None = None) -> None:
        """Add up the images of all processes: :meth:`compute` then returns the same evaluation in each of them.

        Each process matches its own images, and sends its match table, not boxes. An image of several processes counts
        once, as samplers repeat images to fill the last batch; this needs ids of images. Without ids, the images of the
        processes are numbered on in the order of their ranks. A process may have no image. Every process must call
        this. After the next :meth:`update`, this evaluator goes on with the images of its own process, and another
        ``sync`` adds up anew.

        If a process fails here, all others raise an error with its message, and no evaluator is changed.
        :meth:`synced` does the same for errors in the loop before. If a process dies, the others get the error of their
        backend: with gloo at once, with NCCL after the timeout of the group.

        Args:
            group: A group of ``torch.distributed``; the default group if ``None``. If there is none, this process is
                alone.
            gather: For other libraries: a function that takes the bytes of this process, and returns those of all
                processes, in the same order everywhere. ``torch.distributed`` is not used then.

        Raises:
            RuntimeError: If another process failed; the message says which one, and why.
            ValueError: If the settings of the processes differ, or only some of them were given ids of images.
        """
        try:
            message = state_message(self._images.state())
        except Exception as error:
            self._exchange(failure_message(error), group, gather)
            raise
        self._common = common_table(self._exchange(message, group, gather))
        self._evaluation = None

    @contextlib.contextmanager
    def synced(self, group: Any = None, *, gather: Gather | None = None) -> Iterator[Evaluator]:
        """A block that ends with :meth:`sync`. If it raises an error, the other processes raise one with its message.

        Without this, a process that fails in its loop would leave the others waiting in :meth:`sync`. The block must
        not use other collective operations of the group, because a process that fails does not come to them.

        Args:
            group: As for :meth:`sync`.
            gather: As for :meth:`sync`.
        """
        try:
            yield self
        except BaseException as error:
            with contextlib.suppress(Exception):  # the error of the block is what the user must see
                self._exchange(failure_message(error), group, gather)
            raise
        self.sync(group, gather=gather)

    @staticmethod
    def _exchange(message: bytes, group: Any, gather: Gather | None) -> Sequence[bytes]:
        if gather is None:
            return gather_by_torch(message, group)
        if not callable(gather):
            raise TypeError(f"gather must be a function from bytes to a list of bytes, got {type(gather).__name__}")
        return checked_messages(gather(message), message)


def _listed(given: Any, name: str) -> Sequence[Any]:
    if isinstance(given, Mapping):
        raise TypeError(f"{name} must be a list with one entry per image, got one dict: write [{name[:-1]}]")
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TypeError(f"{name} must be a list with one entry per image, got {type(given).__name__}")
    return given
