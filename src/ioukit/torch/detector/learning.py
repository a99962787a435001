"""What the network learns: which guess is taught which object, and how much it costs to be wrong.

::

    guesses  --assigner-->  pairs (object, guess)  --losses-->  one number to make smaller

The anchor head is taught as YOLOv3: boxes and classes of the assigned guesses, objectness of all that are not ignored.
The anchor-free head is taught as its family is: classes of all guesses towards the scores the assigner gives, boxes and
the distributions of their sides for the assigned ones; each of its two branches has an assignment, and losses add up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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

__all__ = ["ASSIGNERS", "BOX_LOSSES", "Guessed", "Learning", "Objects"]


class Guessed(NamedTuple):
    """What an assigner may look at: the guesses of one image, without gradients.

    Attributes:
        boxes: (P, 4) xyxy in pixels.
        scores: (P, K) within [0, 1], without objectness.
        objectness: (P,) within [0, 1], or None for the anchor-free head.
        priors: What was known before.
        config: Of the network.
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


def _yolov3(guessed: Guessed, objects: Objects) -> assign.Assignment:
    return assign.assign_yolov3(
        objects.boxes, anchors=guessed.config.anchors, strides=STRIDES, image_size=guessed.config.image_size,
        predictions=guessed.boxes, check=False,
    )  # fmt: skip


def _yolov5(guessed: Guessed, objects: Objects) -> assign.Assignment:
    # The rule gives an object to neighbours of its cell, whose centres YOLOv3's sigmoid cannot quite reach.
    return assign.assign_yolov5(
        objects.boxes, anchors=guessed.config.anchors, strides=STRIDES, image_size=guessed.config.image_size,
        duplicates=False, check=False,
    )  # fmt: skip


def _max_iou(guessed: Guessed, objects: Objects) -> assign.Assignment:
    return assign.assign_max_iou(guessed.priors.anchors, objects.boxes, low_quality="detectron2", check=False)


def _atss(guessed: Guessed, objects: Objects) -> assign.Assignment:
    return assign.assign_atss(guessed.priors.anchors, objects.boxes, levels=guessed.priors.levels, check=False)


def _simota(guessed: Guessed, objects: Objects) -> assign.Assignment:
    return assign.assign_simota(
        guessed.boxes, guessed.scores, objects.boxes, objects.labels, points=guessed.priors.points,
        strides=guessed.priors.strides[:, 0], rule="yolox", objectness=guessed.objectness, check=False,
    )  # fmt: skip


def _task_aligned(guessed: Guessed, objects: Objects) -> assign.Assignment:
    scores = guessed.scores if guessed.objectness is None else guessed.scores * guessed.objectness[:, None]
    return assign.assign_task_aligned(
        guessed.boxes, scores, objects.boxes, objects.labels, points=guessed.priors.points, strides=STRIDES, check=False
    )


def _one_to_one(guessed: Guessed, objects: Objects) -> assign.Assignment:
    return assign.assign_task_aligned(
        guessed.boxes, guessed.scores, objects.boxes, objects.labels, points=guessed.priors.points, strides=STRIDES,
        top_k=7, second_top_k=1, check=False,
    )  # fmt: skip


ASSIGNERS: dict[str, Callable[[Guessed, Objects], assign.Assignment]] = {
    "atss": _atss,
    "max_iou": _max_iou,
    "simota": _simota,
    "task_aligned": _task_aligned,
    "yolov3": _yolov3,
    "yolov5": _yolov5,
}
"""By name. The YOLO rules are for the anchor head."""

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
"""By name: what makes the loss of a pair of boxes."""

BOX, OBJECTNESS, CLASSES, DISTANCES = 5.0, 1.0, 1.0, 1.5  # the shares of the parts in the whole


class _Found(NamedTuple):
    """The pairs of a batch: (M,) image, guess, object (a row of the batch's boxes), score; (B, P) what is ignored."""

    image: Tensor
    guess: Tensor
    object: Tensor
    score: Tensor
    ignore: Tensor


class Learning(nn.Module):
    """From what the network said of a batch to losses by name, ``total`` among them.

    Args:
        config: Of the network.
        loss: A name of `BOX_LOSSES`.
        assigner: A name of `ASSIGNERS`; by default that of the head.
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
        """Losses by name, each a scalar."""
        if isinstance(outputs, AnchorMaps):
            parts = self._anchor(outputs.flat().float(), batch)
        else:
            many = self._free(outputs[0], batch, self.assigner)
            one = self._free(outputs[1], batch, _one_to_one)
            parts = {name: many[name] + one[name] for name in many}
        return {"total": torch.stack(list(parts.values())).sum(), **parts}

    def _anchor(self, raw: Tensor, batch: Batch) -> dict[str, Tensor]:
        known = priors(self.config, raw.device)
        boxes = decode_anchor_boxes(raw[..., :4], known)  # (B, P, 4)
        objectness, classes = raw[..., 4], raw[..., 5:]
        found = self._assign(boxes, classes.sigmoid(), objectness.sigmoid(), batch, self.assigner)
        pred, target = boxes[found.image, found.guess], batch.boxes[found.object]  # (M, 4)
        overlap = torch.zeros_like(objectness)
        with torch.no_grad():
            # A guess that learns several objects is as sure as the best of them lets it be.
            values = elementwise_iou(pred.detach(), target, check=False)
            flat = found.image * objectness.shape[1] + found.guess
            overlap.view(-1).scatter_reduce_(0, flat, values, reduce="amax")
        wanted = functional.one_hot(batch.labels[found.object], self.config.num_classes).to(raw.dtype)
        entropy = functional.binary_cross_entropy_with_logits
        count = _of_all_processes(torch.tensor(float(len(pred)), device=raw.device))
        return {
            "box": BOX * self.box_loss(pred, target).sum() / count,
            "objectness": OBJECTNESS
            * losses.objectness_loss(objectness, overlap, reduction="sum", weight=(~found.ignore).to(raw.dtype))
            / count,
            "classes": CLASSES * entropy(classes[found.image, found.guess], wanted, reduction="sum") / count,
        }

    def _free(
        self, maps: FreeMaps, batch: Batch, assigner: Callable[[Guessed, Objects], assign.Assignment]
    ) -> dict[str, Tensor]:
        distances, classes = maps.distances.float(), maps.classes.float()
        known = priors(self.config, classes.device)
        boxes = decode_free_boxes(distances, known)
        found = self._assign(boxes, classes.sigmoid(), None, batch, assigner)
        wanted = torch.zeros_like(classes)
        wanted[found.image, found.guess, batch.labels[found.object]] = found.score
        total = _of_all_processes(found.score.sum())
        pred, target = boxes[found.image, found.guess], batch.boxes[found.object]
        sides = encode_ltrb(target, known.points[found.guess], known.strides[found.guess])  # in strides
        entropy = functional.binary_cross_entropy_with_logits(classes, wanted, reduction="none")
        unsure = (~found.ignore).to(classes.dtype)[..., None]
        return {
            "box": BOX * (self.box_loss(pred, target) * found.score).sum() / total,
            "distances": DISTANCES
            * losses.dfl_loss(distances[found.image, found.guess], sides, reduction="sum", weight=found.score)
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
        assigner: Callable[[Guessed, Objects], assign.Assignment],
    ) -> _Found:
        """Image by image, the pairs of the whole batch."""
        known = priors(self.config, boxes.device)
        ignore = torch.zeros(boxes.shape[:2], dtype=torch.bool, device=boxes.device)
        parts: list[tuple[Tensor, Tensor, Tensor, Tensor]] = []
        for number in range(len(boxes)):
            rows = torch.nonzero(batch.image == number).flatten()
            if not len(rows):
                continue
            guessed = Guessed(
                boxes[number].detach(), scores[number].detach(),
                None if objectness is None else objectness[number].detach(), known, self.config,
            )  # fmt: skip
            assignment = assigner(guessed, Objects(batch.boxes[rows], batch.labels[rows]))
            objects, guess = assignment.pairs.to(boxes.device).unbind(dim=1)
            ignore[number] = assignment.ignore
            score = (
                torch.ones(len(guess), device=boxes.device)
                if assignment.scores is None
                else assignment.scores.to(boxes.device).float()[guess]
            )
            parts.append((torch.full_like(guess, number), guess, rows[objects], score))
        if not parts:
            none = torch.zeros(0, dtype=torch.int64, device=boxes.device)
            return _Found(none, none, none, none.float(), ignore)
        image, guess, owner, score = (torch.cat(column) for column in zip(*parts, strict=True))
        return _Found(image, guess, owner, score, ignore)


def _of_all_processes(count: Tensor) -> Tensor:
    """What the losses of this process are divided by: the count of all, at least 1, over the number of processes.

    Processes train on the mean of their gradients, so with this each object weighs what it would in one process.
    """
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return count.clamp(min=1.0)
    count = count.clone()
    distributed.all_reduce(count)
    return count.clamp(min=1.0) / distributed.get_world_size()
