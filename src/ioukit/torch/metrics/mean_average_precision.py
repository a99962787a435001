"""Mean average precision with the arguments and results of TorchMetrics."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import torch
from torch import Tensor

from ioukit._checks import check_choice
from ioukit._optional import import_extra
from ioukit.torch.metrics.arguments import BACKENDS, Arguments
from ioukit.torch.metrics.coco_files import packed_sides, read_files, write_files
from ioukit.torch.metrics.inputs import Side, check_inputs, detection_side, target_side
from ioukit.torch.metrics.results import results
from ioukit.torch.metrics.tables import matched, merged

import_extra("torchmetrics", extra="torch", needed_by="ioukit.torch.MeanAveragePrecision")

from torchmetrics import Metric  # noqa: E402 - the line above raises a clear error if TorchMetrics is missing
from torchmetrics.utilities.distributed import gather_all_tensors  # noqa: E402

Batch = Sequence[dict[str, Tensor]]


class MeanAveragePrecision(Metric):
    """Mean average precision and recall of boxes and masks, with the arguments and results of TorchMetrics.

    It takes the place of ``torchmetrics.detection.MeanAveragePrecision``: the import is the only line to change. The
    numbers are those of TorchMetrics 1.9 with its backend ``pycocotools``, to the last bit, and ``compute`` takes a
    small part of its time. It is a subclass of TorchMetrics' ``Metric``, so it works in a ``MetricCollection`` and in
    Lightning. Without TorchMetrics, use :class:`ioukit.Evaluator`.

    Each ``update`` matches its images, and the metric keeps the match tables on the CPU: 44 bytes per detection, 26 per
    target and 32 per match, and no tensor of a batch. Processes exchange these tables, each once. ``state_dict`` holds
    them after ``persistent(True)``, as in TorchMetrics.

    Args:
        box_format: ``"xyxy"``, ``"xywh"`` (corner and size) or ``"cxcywh"`` (centre and size), in pixels.
        iou_type: ``"bbox"``, ``"segm"``, or a tuple of both.
        iou_thresholds: IoU thresholds within (0, 1]; 0.5, 0.55, ..., 0.95 if ``None``.
        rec_thresholds: Recalls within [0, 1] at which precision is read; 0, 0.01, ..., 1 if ``None``.
        max_detection_thresholds: Three caps on the detections per image and class; 1, 10 and 100 if ``None``.
        class_metrics: Whether AP and AR of each class are computed, too.
        extended_summary: Whether the results also hold IoUs and curves. This needs more memory.
        average: ``"macro"`` for the mean over the classes; ``"micro"`` takes all labels for one class.
        backend: ``"pycocotools"`` or ``"faster_coco_eval"``. ioukit's engine computes the numbers in both cases; the
            packages are not needed. The backends differ in one number: ``map`` is AP at 100 detections with
            ``"pycocotools"``, -1 if 100 is not a cap, and AP at the last cap with ``"faster_coco_eval"``.
        keep_inputs: Whether :meth:`tm_to_coco` can be called. It needs about 30 bytes per box, and the runs of masks.
        **kwargs: The options of TorchMetrics' ``Metric``: ``compute_on_cpu``, ``dist_sync_on_step``, ``process_group``,
            ``dist_sync_fn``, ``distributed_available_fn``, ``sync_on_compute``, ``compute_with_cache``.

    Raises:
        ValueError: If an argument is invalid.

    ``compute`` and ``forward`` return a dict of float32 tensors; -1 where a number is undefined. With two kinds of
    regions, the keys begin with ``bbox_`` and ``segm_``.

    - ``map``, ``map_50``, ``map_75``: AP over all thresholds, at IoU 0.5 and at IoU 0.75.
    - ``map_small``, ``map_medium``, ``map_large``: AP of targets below 32 x 32, up to 96 x 96, and above.
    - ``mar_1``, ``mar_10``, ``mar_100``: AR with so many detections per image and class, named after the caps.
    - ``mar_small``, ``mar_medium``, ``mar_large``: AR by size.
    - ``map_per_class``, ``mar_100_per_class``: of each label in ``classes``; -1 without ``class_metrics``.
    - ``classes``: int32, the labels in predictions or targets.
    - With ``extended_summary``: ``precision`` and ``scores`` (T, R, K, A, M), ``recall`` (T, K, A, M), float64, for T
      IoU thresholds, R recalls, K classes, A area ranges and M caps; ``ious``, a dict by image number and label of
      (n, m) IoUs, detections in the order of their scores, and an empty list where one side has none.

    These rules of TorchMetrics are kept, because numbers and shapes depend on them:

    - Tensors with one value have no dimensions: ``classes``, ``map_per_class`` and a 1 x 1 table of IoUs, for example.
    - The default thresholds are rounded to float32. So AP can differ from COCO's in the last digits:
      0.1 is 0.10000000149, which a recall of exactly 0.1 does not reach.
    - A label seen in predictions or targets is a class. One without targets counts in no mean, and its AP is -1.
    - All but ``map`` and the first two recalls are taken at the last cap.
    - With masks alone, only images whose targets have masks are evaluated: detections on other images are not counted.
      Every number is -1 if no image has predicted masks, or none has masks of targets.
    - With boxes and masks, the size of a target is the area of its mask for both; that of a detection is its own.
    - An ``area`` of 0 or less is replaced by that of the region.
    - Without images, the results have no ``map_per_class``, ``mar_100_per_class``, ``ious`` and curves.
    - A box with a negative side overlaps nothing, and a detection whose area is negative is not counted.
    - An image that a sampler repeats counts each time; :class:`ioukit.Evaluator` can count it once.

    These are not kept:

    - With ``average="micro"``, ``class_metrics`` and two kinds of regions, TorchMetrics evaluates the second kind with
      ``average="macro"``. Here both are ``"micro"``.
    - With recall thresholds in descending order, pycocotools stops at the first one that is not reached. Here
      each is read by itself.
    - Boxes and scores with NaN or infinity are refused. pycocotools takes a box with NaN for a match.
    - Values of a wrong type or shape are refused by ``update``, not by ``compute``.
    - ``tm_to_coco`` lists all labels as categories. TorchMetrics lists category 0 alone.
    - Tensors may lie on different devices.

    Examples:
        >>> import torch
        >>> from ioukit.torch import MeanAveragePrecision
        >>> metric = MeanAveragePrecision()
        >>> boxes = torch.tensor([[258.0, 41.0, 606.0, 285.0]])
        >>> preds = [{"boxes": boxes, "scores": torch.tensor([0.5]), "labels": torch.tensor([0])}]
        >>> target = [{"boxes": boxes - torch.tensor([44.0, 0, 44, 0]), "labels": torch.tensor([0])}]
        >>> metric.update(preds, target)
        >>> result = metric.compute()
        >>> result["map"], result["map_small"]
        (tensor(0.6000), tensor(-1.))
    """

    is_differentiable = False
    higher_is_better = True
    full_state_update = False
    plot_lower_bound = 0.0
    plot_upper_bound = 1.0

    # Without annotations: TorchScript, which compiles modules that hold metrics, reads them and knows no strings.
    warn_on_many_detections = True
    """Whether ``update`` warns of images with more detections than the last cap."""

    if TYPE_CHECKING:
        tables: list[Tensor]
        inputs: list[Tensor]

    __jit_unused_properties__: ClassVar[list[str]] = [
        *Metric.__jit_unused_properties__,
        *("box_format", "iou_type", "iou_thresholds", "rec_thresholds", "max_detection_thresholds"),
        *("class_metrics", "extended_summary", "average", "backend"),
    ]

    def __init__(
        self,
        box_format: str = "xyxy",
        iou_type: str | tuple[str, ...] = "bbox",
        iou_thresholds: list[float] | None = None,
        rec_thresholds: list[float] | None = None,
        max_detection_thresholds: list[int] | None = None,
        class_metrics: bool = False,
        extended_summary: bool = False,
        average: str = "macro",
        backend: str = "pycocotools",
        *,
        keep_inputs: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self._arguments = Arguments.checked(
            box_format=box_format,
            iou_type=iou_type,
            iou_thresholds=iou_thresholds,
            rec_thresholds=rec_thresholds,
            max_detection_thresholds=max_detection_thresholds,
            class_metrics=class_metrics,
            extended_summary=extended_summary,
            average=average,
            backend=backend,
        )
        self._keep_inputs = keep_inputs
        self.add_state("tables", default=[], dist_reduce_fx="cat")
        self.add_state("inputs", default=[], dist_reduce_fx="cat")

    @property
    def box_format(self) -> str:
        """The format of boxes."""
        return self._arguments.box_format

    @property
    def iou_type(self) -> tuple[str, ...]:
        """The kinds of regions."""
        return self._arguments.kinds

    @property
    def iou_thresholds(self) -> list[float]:
        """The IoU thresholds."""
        return list(self._arguments.iou_thresholds)

    @property
    def rec_thresholds(self) -> list[float]:
        """The recalls at which precision is read."""
        return list(self._arguments.rec_thresholds)

    @property
    def max_detection_thresholds(self) -> list[int]:
        """The three caps, in ascending order."""
        return list(self._arguments.max_detection_thresholds)

    @property
    def class_metrics(self) -> bool:
        """Whether AP and AR of each class are computed."""
        return self._arguments.class_metrics

    @property
    def extended_summary(self) -> bool:
        """Whether the results hold IoUs and curves."""
        return self._arguments.extended_summary

    @property
    def average(self) -> str:
        """``"macro"`` or ``"micro"``."""
        return self._arguments.average

    @property
    def backend(self) -> str:
        """Whose rule decides the cap of ``map``."""
        return self._arguments.backend

    def update(self, preds: Batch, target: Batch) -> None:
        """Add images. After an error, the metric is as before.

        Args:
            preds: A dict per image: ``boxes`` (N, 4) and/or ``masks`` (N, H, W) of bool or uint8, ``scores`` (N,) of
                floats, ``labels`` (N,) of integers.
            target: A dict per image: ``boxes`` and/or ``masks``, ``labels``, and perhaps ``iscrowd`` (N,) and ``area``
                (N,). Other keys are ignored. Tensors may lie on any device.

        Raises:
            ValueError: If they are not lists of dicts of tensors, a key is missing, lengths differ, or values have a
                wrong type, shape or range.
            DatasetError: If masks of one image differ in size.
        """
        arguments = self._arguments
        check_inputs(preds, target, arguments.kinds)
        if not len(preds):
            return
        detections = detection_side(preds, arguments.kinds, arguments.box_format)
        targets = target_side(target, arguments.kinds, arguments.box_format)
        self._warn(detections, targets)
        self.tables.append(torch.from_numpy(matched(detections, targets, arguments)))
        if self._keep_inputs:
            self.inputs.append(torch.from_numpy(packed_sides(detections, targets)))

    def compute(self) -> dict[str, Any]:
        """The results over all images since the last ``reset``, of all processes; see :class:`MeanAveragePrecision`.

        Before the first ``update``, it warns, and every number is -1.
        """
        # After `_sync_dist`, each element has the tables of a process.
        every = [table.cpu().numpy() for table in self.tables]
        streams = [[stream] for stream in every] if self._is_synced else [every]
        return results(merged(streams, self._arguments), self._arguments)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Draw results with TorchMetrics.

        Args:
            val: A result of ``compute`` or ``forward``, or a list of them; that of ``compute`` if ``None``.
            ax: The axes to draw in.

        Returns:
            The figure and the axes.
        """
        return self._plot(val, ax)

    @staticmethod
    def coco_to_tm(
        coco_preds: str, coco_target: str, iou_type: str | Sequence[str] = ("bbox",), backend: str = "pycocotools"
    ) -> tuple[list[dict[str, Tensor]], list[dict[str, Tensor]]]:
        """The predictions and targets in COCO's files.

        Args:
            coco_preds: Path of the results.
            coco_target: Path of the annotations.
            iou_type: ``"bbox"``, ``"segm"`` or both: which regions to read.
            backend: As in the class; it changes nothing.

        Returns:
            Two lists of dicts, one per image that has annotations, in the order of their first annotations. Boxes are
            ``x, y, width, height``: the metric needs ``box_format="xywh"``. Results on other images are left out, as
            in TorchMetrics.

        Raises:
            DatasetError: If a file is invalid.
        """
        check_choice("backend", backend, BACKENDS)
        return read_files(coco_preds, coco_target, iou_type)

    def tm_to_coco(self, name: str = "tm_map_input") -> None:
        """Write the images of this process to ``<name>_preds.json`` and ``<name>_target.json``, in COCO's format.

        Raises:
            ValueError: If the metric was made with ``keep_inputs=False``.
        """
        if not self._keep_inputs:
            raise ValueError("tm_to_coco needs the inputs: make the metric with keep_inputs=True")
        write_files(name, [record.cpu().numpy() for record in self.inputs], self._arguments.kinds)

    def _warn(self, detections: Side, targets: Side) -> None:
        """Warn of what the numbers do not show."""
        cap = self._arguments.max_detection_thresholds[-1]
        many = int((detections.counts > cap).sum())
        if many and self.warn_on_many_detections and _is_first_process():
            warnings.warn(
                f"Encountered more than {cap} detections in a single image. Of each class, only the {cap} with the "
                f"highest scores count on an image ({many:,} images of this batch have more). The argument "
                "`max_detection_thresholds` sets the number; `warn_on_many_detections = False` of the metric turns "
                "this warning off.",
                stacklevel=4,
            )
        for name, side in (("preds", detections), ("target", targets)):
            if side.boxes is not None and (inverted := int((side.boxes[:, 2:] < 0).any(axis=1).sum())):
                warnings.warn(
                    f"{name}: {inverted:,} of {len(side):,} boxes have a negative side, and overlap nothing. Is "
                    f"box_format={self.box_format!r} right?",
                    stacklevel=4,
                )

    def _apply(self, fn: Callable[[Tensor], Tensor], *args: Any, **kwargs: Any) -> Any:
        """Move the metric; the tables stay on the CPU, where they are read."""
        return super()._apply(fn, *args, **{**kwargs, "exclude_state": ("tables", "inputs")})

    def _copy_state_dict(self) -> dict[str, list[Tensor]]:
        """The states. Their tensors are never written to, so the lists are copied and the tensors are not."""
        return {"tables": list(self.tables), "inputs": list(self.inputs)}

    def _sync_dist(self, dist_sync_fn: Callable[..., Any] = gather_all_tensors, process_group: Any = None) -> None:
        """Gather the tables of all processes in one message each. The inputs stay where they are."""
        own = torch.cat([table.cpu() for table in self.tables]) if self.tables else torch.zeros(0, dtype=torch.uint8)
        parts = dist_sync_fn(own.to(self.device), group=process_group or self.process_group)
        self.tables = [part.cpu() for part in parts]


def _is_first_process() -> bool:
    distributed = torch.distributed
    return not (distributed.is_available() and distributed.is_initialized()) or distributed.get_rank() == 0
