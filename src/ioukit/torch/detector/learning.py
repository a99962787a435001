"""The targets and losses of the network: which prediction learns which object, and the loss of each.

::

    predictions  --assigner-->  pairs (object, prediction)  --losses-->  one number to minimise

The anchor head learns as YOLOv3 does: boxes and classes of the assigned predictions, and the objectness of all
predictions that are not ignored. The anchor-free head learns the classes of all predictions that are not ignored, with
the scores of the assigner as targets, and the boxes and distances of the assigned ones. Each of its two branches has an
assignment of its own, and their losses are added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from ioukit import assign
from ioukit.anchors import encode_ltrb
from ioukit.overlap import elementwise_iou
from ioukit.torch import losses
from ioukit.torch.detector.batches import Batch
from ioukit.torch.detector.decoding import Priors, decode_anchor_boxes, decode_free_boxes, priors
from ioukit.torch.detector.model import STRIDES, AnchorMaps, Config, FreeMaps


class ImagePredictions(NamedTuple):
    """The P predictions for one image, without gradients, for the assigner.

    Attributes:
        boxes: (P, 4) xyxy in pixels.
        scores: (P, K) within [0, 1], without objectness.
        objectness: (P,) within [0, 1], or None for the anchor-free head.
        priors: Constants of the predictions.
        config: The config of the network.
    """

    boxes: Tensor
    scores: Tensor
    objectness: Tensor | None
    priors: Priors
    config: Config


class Objects(NamedTuple):
    """The objects of one image: (G, 4) boxes in pixels and (G,) labels."""

    boxes: Tensor
    labels: Tensor


def _yolov3(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    return assign.assign_yolov3(
        objects.boxes, anchors=predicted.config.anchors, strides=STRIDES, image_size=predicted.config.image_size,
        predictions=predicted.boxes, check=False,
    )  # fmt: skip


def _yolov5(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    # The rule also assigns an object to neighbours of its cell, although a box whose centre is limited to its cell, as
    # in YOLOv3's decoding, can hardly reach the object from there.
    return assign.assign_yolov5(
        objects.boxes, anchors=predicted.config.anchors, strides=STRIDES, image_size=predicted.config.image_size,
        duplicates=False, check=False,
    )  # fmt: skip


def _max_iou(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    return assign.assign_max_iou(predicted.priors.anchors, objects.boxes, low_quality="detectron2", check=False)


def _atss(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    return assign.assign_atss(predicted.priors.anchors, objects.boxes, levels=predicted.priors.levels, check=False)


def _simota(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    return assign.assign_simota(
        predicted.boxes, predicted.scores, objects.boxes, objects.labels, points=predicted.priors.points,
        strides=predicted.priors.strides[:, 0], rule="yolox", objectness=predicted.objectness, check=False,
    )  # fmt: skip


def _task_aligned(predicted: ImagePredictions, objects: Objects, **options: Any) -> assign.Assignment:
    scores = predicted.scores if predicted.objectness is None else predicted.scores * predicted.objectness[:, None]
    return assign.assign_task_aligned(
        predicted.boxes, scores, objects.boxes, objects.labels, points=predicted.priors.points, strides=STRIDES,
        check=False, **options,
    )  # fmt: skip


def _one_to_one(predicted: ImagePredictions, objects: Objects) -> assign.Assignment:
    # More candidates than of the first branch, so that an object keeps one where others are near.
    return _task_aligned(predicted, objects, top_k=13, second_top_k=1)


Assigner: TypeAlias = Callable[[ImagePredictions, Objects], assign.Assignment]

ASSIGNERS: dict[str, Assigner] = {
    "atss": _atss,
    "max_iou": _max_iou,
    "simota": _simota,
    "task_aligned": _task_aligned,
    "yolov3": _yolov3,
    "yolov5": _yolov5,
}
"""The assigners by name. ``yolov3`` and ``yolov5`` are for the anchor head only."""

BOX_LOSSES: dict[str, type[losses.LossModule]] = {
    "iou": losses.IoULoss,
    "giou": losses.GIoULoss,
    "diou": losses.DIoULoss,
    "ciou": losses.CIoULoss,
    "eiou": losses.EIoULoss,
    "focal_eiou": losses.FocalEIoULoss,
    "siou": losses.SIoULoss,
    "alpha_iou": losses.AlphaIoULoss,
    "wiou": losses.WIoULoss,
    "nwd": losses.NWDLoss,
}
"""The losses of a pair of boxes by name."""

BOX, OBJECTNESS, CLASSES, DISTANCES = 5.0, 1.0, 1.0, 1.5  # the weights of the parts in the total loss


class _Assigned(NamedTuple):
    """The M pairs of a batch, and the ignored predictions.

    Attributes:
        image: (M,) the image in the batch.
        prediction: (M,) the prediction of that image.
        object: (M,) a row of the batch's boxes.
        score: (M,) the target score of the prediction.
        ignore: (B, P) predictions that learn neither an object nor background.
    """

    image: Tensor
    prediction: Tensor
    object: Tensor
    score: Tensor
    ignore: Tensor


class Learning(nn.Module):
    """The losses of a batch by name, from the outputs of the network.

    Args:
        config: The config of the network.
        loss: A name of `BOX_LOSSES`.
        assigner: A name of `ASSIGNERS`; by default ``"yolov3"`` for the anchor head and ``"task_aligned"`` for the
            anchor-free head.

    Raises:
        ValueError: If a name is unknown, or the assigner needs anchors and the head has none.
    """

    def __init__(self, config: Config, *, loss: str = "ciou", assigner: str | None = None) -> None:
        super().__init__()
        assigner = assigner or ("yolov3" if config.head == "anchor" else "task_aligned")
        if loss not in BOX_LOSSES:
            raise ValueError(f"unknown loss {loss!r}; choose from {', '.join(BOX_LOSSES)}")
        if assigner not in ASSIGNERS:
            raise ValueError(f"unknown assigner {assigner!r}; choose from {', '.join(ASSIGNERS)}")
        if config.head == "free" and assigner.startswith("yolo"):
            raise ValueError(f"the assigner {assigner!r} needs anchors, which the anchor-free head has not")
        self.config, self.assigner = config, ASSIGNERS[assigner]
        self.box_loss = BOX_LOSSES[loss](reduction="none")

    def forward(self, outputs: AnchorMaps | tuple[FreeMaps, FreeMaps], batch: Batch) -> dict[str, Tensor]:
        """The losses by name, each a scalar; ``total`` is their sum."""
        config = self.config.resized(batch.images)
        if isinstance(outputs, AnchorMaps):
            parts = self._anchor(outputs.flat().float(), batch, config)
        else:
            many = self._free(outputs[0], batch, config, self.assigner)
            one = self._free(outputs[1], batch, config, _one_to_one)
            parts = {name: many[name] + one[name] for name in many}
        return {"total": torch.stack(list(parts.values())).sum(), **parts}

    def _anchor(self, raw: Tensor, batch: Batch, config: Config) -> dict[str, Tensor]:
        known = priors(config, raw.device)
        boxes = decode_anchor_boxes(raw[..., :4], known)  # (B, P, 4)
        objectness, classes = raw[..., 4], raw[..., 5:]
        found = self._assign(boxes, classes.sigmoid(), objectness.sigmoid(), batch, config, self.assigner)
        pred, target = boxes[found.image, found.prediction], batch.boxes[found.object]  # (M, 4)
        overlap = torch.zeros_like(objectness)
        with torch.no_grad():
            # A prediction that learns several objects gets the largest IoU with one of them as its target.
            values = elementwise_iou(pred.detach(), target, check=False)
            flat = found.image * objectness.shape[1] + found.prediction
            overlap.view(-1).scatter_reduce_(0, flat, values, reduce="amax")
        wanted = functional.one_hot(batch.labels[found.object], self.config.num_classes).to(raw.dtype)
        entropy = functional.binary_cross_entropy_with_logits
        count = _of_all_processes(torch.tensor(float(len(pred)), device=raw.device))
        return {
            "box": BOX * self.box_loss(pred, target).sum() / count,
            "objectness": OBJECTNESS
            * losses.objectness_loss(objectness, overlap, reduction="sum", weight=(~found.ignore).to(raw.dtype))
            / count,
            "classes": CLASSES * entropy(classes[found.image, found.prediction], wanted, reduction="sum") / count,
        }

    def _free(self, maps: FreeMaps, batch: Batch, config: Config, assigner: Assigner) -> dict[str, Tensor]:
        distances, classes = maps.distances.float(), maps.classes.float()
        known = priors(config, classes.device)
        boxes = decode_free_boxes(distances, known)
        found = self._assign(boxes, classes.sigmoid(), None, batch, config, assigner)
        wanted = torch.zeros_like(classes)
        wanted[found.image, found.prediction, batch.labels[found.object]] = found.score
        total = _of_all_processes(found.score.sum())
        pred, target = boxes[found.image, found.prediction], batch.boxes[found.object]
        sides = encode_ltrb(target, known.points[found.prediction], known.strides[found.prediction])  # in strides
        entropy = functional.binary_cross_entropy_with_logits(classes, wanted, reduction="none")
        unsure = (~found.ignore).to(classes.dtype)[..., None]
        return {
            "box": BOX * (self.box_loss(pred, target) * found.score).sum() / total,
            "distances": DISTANCES
            * losses.dfl_loss(distances[found.image, found.prediction], sides, reduction="sum", weight=found.score)
            / total,
            "classes": CLASSES * (entropy * unsure).sum() / total,
        }

    @torch.no_grad()
    def _assign(
        self,
        boxes: Tensor,
        scores: Tensor,
        objectness: Tensor | None,
        batch: Batch,
        config: Config,
        assigner: Assigner,
    ) -> _Assigned:
        """The pairs of the whole batch, assigned image by image."""
        known = priors(config, boxes.device)
        ignore = torch.zeros(boxes.shape[:2], dtype=torch.bool, device=boxes.device)
        parts: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
        for number in range(len(boxes)):
            rows = torch.nonzero(batch.image == number).flatten()
            if not len(rows):
                continue
            predicted = ImagePredictions(
                boxes[number].detach(), scores[number].detach(),
                None if objectness is None else objectness[number].detach(), known, config,
            )  # fmt: skip
            assignment = assigner(predicted, Objects(batch.boxes[rows], batch.labels[rows]))
            objects, prediction = assignment.pairs.to(boxes.device).unbind(dim=1)
            ignore[number] = assignment.ignore
            score = torch.ones(len(prediction), device=boxes.device)
            if assignment.scores is not None:
                score = assignment.scores.to(boxes.device).float()[prediction]
            parts.append((torch.full_like(prediction, number), prediction, rows[objects], score))
        if not parts:
            none = torch.zeros(0, dtype=torch.int64, device=boxes.device)
            return _Assigned(none, none, none, none.float(), ignore)
        image, prediction, owner, score = (torch.cat(column) for column in zip(*parts, strict=True))
        return _Assigned(image, prediction, owner, score, ignore)


def all_finite(outputs: AnchorMaps | tuple[FreeMaps, FreeMaps]) -> bool:
    """Whether the outputs of a network hold neither infinity nor NaN."""
    if isinstance(outputs, AnchorMaps):
        return all(bool(torch.isfinite(one).all()) for one in outputs.maps)
    return all(bool(torch.isfinite(one).all()) for maps in outputs for one in (maps.distances, maps.classes))


def _of_all_processes(count: Tensor) -> Tensor:
    """The divisor of the losses of this process: the count over all processes, at least 1, by their number.

    The processes train on the mean of their gradients, so with this divisor each object has the weight that it has in
    a single process.
    """
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return count.clamp(min=1.0)
    count = count.clone()
    distributed.all_reduce(count)
    return count.clamp(min=1.0) / distributed.get_world_size()
