"""A network as an ONNX file, for programs that run without PyTorch.

The file holds the network, the decoding of its outputs, and NMS. It has no score threshold: a box never depends on
those with a lower score, so whoever runs the file leaves out what it is not sure enough of.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ioukit._optional import import_extra
from ioukit._output import whole_file
from ioukit.postprocess import nms_padded
from ioukit.torch.detector.decoding import decode
from ioukit.torch.detector.model import YOLO

CANDIDATES = 1000  # those with the best scores go through NMS, as in `predict`
_PIXELS, _SCORE = 0.1, 1e-3  # how far two boxes may be apart that count as the same


class Detector(nn.Module):
    """From images within [0, 1] to the best boxes of each, as `predict` finds them without a score threshold.

    Args:
        model: The network.
        max_detections: M, the number of boxes per image.
        iou_threshold: As in `ioukit.torch.detector.predict.predict`.
    """

    def __init__(self, model: YOLO, *, max_detections: int = 100, iou_threshold: float = 0.5) -> None:
        super().__init__()
        self.model, self.max_detections, self.iou_threshold = model.eval(), max_detections, iou_threshold

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        # (B, 3, H, W) -> (B, M, 4), (B, M), (B, M)
        found = decode(self.model(images), self.model.config)
        classes, most = found.scores.shape[2], found.scores[0].numel()
        scores, place = found.scores.flatten(1).topk(min(CANDIDATES if found.needs_nms else self.max_detections, most))
        boxes, labels = _rows(found.boxes, place // classes), place % classes  # every class of a box is a candidate
        if not found.needs_nms:
            return boxes, scores, labels
        keep, valid = nms_padded(boxes, scores, self.iou_threshold, max_keep=self.max_detections, labels=labels)
        keep = keep.clamp(min=0)
        return _rows(boxes, keep), scores.gather(1, keep) * valid, labels.gather(1, keep)


def _rows(boxes: Tensor, keep: Tensor) -> Tensor:
    """(B, M, 4) the boxes (B, N, 4) at the positions (B, M)."""
    return boxes.gather(1, keep[..., None].expand(-1, -1, 4))


@dataclass(frozen=True)
class Difference:
    """How the boxes of an exported file differ from those of the network, on images of noise.

    Attributes:
        count: The number of boxes of the network.
        same: How many of them the file has, too: of the same class, and nearly with the same corners and score. The
            order of two scores that are equal up to rounding may decide otherwise which of two boxes is kept.
        boxes: The largest difference of their coordinates, in pixels.
        scores: The largest difference of their scores.
    """

    count: int
    same: int
    boxes: float
    scores: float


def export_onnx(
    model: YOLO,
    path: str | os.PathLike[str],
    *,
    batch: int | None = None,
    max_detections: int = 100,
    iou_threshold: float = 0.5,
) -> Difference:
    """Writes the network, its decoding and NMS as ONNX: ``images`` to ``boxes``, ``scores`` and ``labels``.

    ``images`` are (B, 3, H, W) float32 within [0, 1], RGB, of the size of the network. ``boxes`` are (B, M, 4) xyxy
    in pixels of that size, ``scores`` (B, M) by descending score, ``labels`` (B, M) classes from 0 on. Where
    an image has fewer than M boxes, the last scores are 0. The file is run by onnxruntime before it appears.

    Args:
        model: The network, on the CPU; ``load_model(path, "cpu", image_size)`` is one for images of another size.
        path: The file.
        batch: B, the number of images per run; by default any number.
        max_detections: M, the number of boxes per image.
        iou_threshold: NMS removes the worse of two boxes of a class with an IoU above this. It has no effect on a
            network with the anchor-free head, whose predictions need no NMS.

    Returns:
        How the file differs from the network.

    Raises:
        OSError: If the file cannot be written.
        FloatingPointError: If more than a tenth of the boxes differ. In both cases, no file appears.
        ModuleNotFoundError: If a package is not installed: ``pip install 'ioukit[export]'``.
    """
    _, _, runtime = (
        import_extra(package, extra="export", needed_by="the export")
        for package in ("onnx", "onnxscript", "onnxruntime")
    )
    detector = Detector(model, max_detections=max_detections, iou_threshold=iou_threshold)
    width, height = model.config.image_size
    noise = torch.rand(batch or 3, 3, height, width, generator=torch.Generator().manual_seed(0))
    runs = [noise] if batch else noise.split([1, 2])
    with whole_file(path) as unfinished:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the exporter's own
            torch.onnx.export(
                detector, (noise,), str(unfinished), input_names=["images"],
                output_names=["boxes", "scores", "labels"], dynamo=True, external_data=False, verbose=False,
                dynamic_shapes=None if batch else ({0: torch.export.Dim("batch")},),
            )  # fmt: skip
        session = runtime.InferenceSession(str(unfinished), providers=["CPUExecutionProvider"])
        theirs = [session.run(["boxes", "scores", "labels"], {"images": part.numpy()}) for part in runs]
        with torch.no_grad():
            ours = [part.numpy() for part in detector(noise)]
        found = _difference(ours, [np.concatenate(parts) for parts in zip(*theirs, strict=True)])
        if not found.same > 0.9 * found.count:
            raise FloatingPointError(
                f"onnxruntime finds {found.same} of the {found.count} boxes that the network finds in images of noise: "
                "expected nearly all, so the file is not kept"
            )
    return found


def _difference(ours: Sequence[Any], theirs: Sequence[Any]) -> Difference:
    """Compares boxes (B, M, 4), scores (B, M) and labels (B, M), whatever their order."""
    apart = np.abs(ours[0][:, :, None] - theirs[0][:, None]).max(axis=3)  # (B, M, M)
    unlike = np.abs(ours[1][:, :, None] - theirs[1][:, None])
    cost = np.maximum(apart / _PIXELS, unlike / _SCORE)
    cost[ours[2][:, :, None] != theirs[2][:, None]] = np.inf
    nearest = cost.argmin(axis=2, keepdims=True)
    boxes, scores, cost = (np.take_along_axis(part, nearest, axis=2)[..., 0] for part in (apart, unlike, cost))
    there = ours[1] > 0
    same = there & (cost <= 1)
    return Difference(
        int(there.sum()), int(same.sum()), float(boxes[same].max(initial=0)), float(scores[same].max(initial=0))
    )
