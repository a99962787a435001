"""One image on its way through a YOLO, from the recorded outputs of a network (`docs/data/iou_in_yolo.npz`) to AP.

`make_iou_in_yolo.py` writes about it, `yolo_figures.py` draws it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit import elementwise_iou, evaluate, nms, pairwise_iou
from ioukit.anchors import anchor_boxes, decode_yolov3
from ioukit.assign import assign_yolov3
from ioukit.datasets import Detections, GroundTruth
from ioukit.datasets.shapes import CLASSES, draw_scene
from ioukit.losses import ciou_loss

if TYPE_CHECKING:
    from ioukit.assign import Assignment
    from ioukit.datasets.shapes import Scene
    from ioukit.evaluation import Evaluation
    from ioukit.postprocess import Suppression

__all__ = [
    "BOX",
    "CLASS",
    "CLASSES",
    "NMS_IOU",
    "OBJECTNESS",
    "RECORD",
    "SCORE",
    "STEP",
    "STRIDES",
    "Walk",
    "by_detection",
    "costs",
    "cross_entropy",
    "example",
    "precision_recall",
    "scene",
    "sigmoid",
    "walk",
]

RECORD = Path(__file__).parents[1] / "data" / "iou_in_yolo.npz"
STEP = 1e-3  # of the recorded numbers
IMAGE = 379  # of the drawn data set: one that the network was not trained with
STRIDES = (8, 16, 32)
SCORE, NMS_IOU = 0.1, 0.5
BOX, OBJECTNESS, CLASS = 5.0, 1.0, 1.0  # as in learning.py


@lru_cache(maxsize=1)
def scene() -> Scene:
    return draw_scene(IMAGE, seed=1, size=(192, 192), handwritten=False)


@dataclass(frozen=True, eq=False)
class Walk:
    """Everything on the way of the image: P predictions, G objects, N candidates, D detections."""

    scene: Scene
    names: list[str]  # (G,) of the objects, numbered
    anchors: np.ndarray[Any, Any]  # (3, 3, 2)
    raw: np.ndarray[Any, Any]  # (P, 5 + K)
    cells: np.ndarray[Any, Any]  # (P, 2)
    strides: np.ndarray[Any, Any]  # (P, 1)
    own: np.ndarray[Any, Any]  # (P, 2) the anchor of each prediction
    boxes: np.ndarray[Any, Any]  # (P, 4) decoded, xyxy
    alike: np.ndarray[Any, Any]  # (G, 9) IoU of the shapes
    assignment: Assignment
    candidate: np.ndarray[Any, Any]  # (N,) predictions
    labels: np.ndarray[Any, Any]  # (N,) classes
    scores: np.ndarray[Any, Any]  # (N,)
    suppression: Suppression
    evaluation: Evaluation

    @property
    def kept(self) -> np.ndarray[Any, Any]:
        """(D,) candidates that survive, by descending score."""
        return self.suppression.keep


@lru_cache(maxsize=1)
def walk() -> Walk:
    with np.load(RECORD) as record:
        raw, anchors, size = record["raw"] * STEP, record["anchors"], tuple(record["size"].tolist())
    drawn = scene()
    objects, labels = drawn.boxes, drawn.labels
    around, strides, _ = anchor_boxes(size, STRIDES, anchors)
    around, strides = around.astype(np.float64), strides.astype(np.float64)[:, None]
    cells = np.rint((around[:, :2] + around[:, 2:]) / 2 / strides - 0.5)
    counts = [(size[0] // stride) * (size[1] // stride) for stride in STRIDES]
    own = np.concatenate([np.repeat(anchors[k], count, axis=0) for k, count in enumerate(counts)])
    cxcywh = decode_yolov3(raw[:, :4], cells, own, strides)
    boxes = np.concatenate([cxcywh[:, :2] - cxcywh[:, 2:] / 2, cxcywh[:, :2] + cxcywh[:, 2:] / 2], axis=1)
    assignment = assign_yolov3(objects, anchors=anchors, strides=STRIDES, image_size=size, predictions=boxes)
    shapes = anchors.reshape(-1, 2)
    sides = objects[:, 2:] - objects[:, :2]
    alike = pairwise_iou(np.hstack([-sides / 2, sides / 2]), np.hstack([-shapes / 2, shapes / 2]))

    scores = sigmoid(raw[:, 4:5]) * sigmoid(raw[:, 5:])  # (P, K)
    prediction, label = np.nonzero(scores >= SCORE)
    suppression = nms(boxes[prediction], scores[prediction, label], iou_threshold=NMS_IOU, labels=label, explain=True)
    kept = suppression.keep
    found = boxes[prediction[kept]].clip(0, size[0])
    ground_truth = GroundTruth.from_coco(
        {
            "images": [{"id": 1, "width": size[0], "height": size[1]}],
            "categories": [{"id": k, "name": name} for k, name in enumerate(CLASSES)],
            "annotations": [
                {
                    "id": k + 1, "image_id": 1, "category_id": int(of), "bbox": [x1, y1, x2 - x1, y2 - y1],
                    "area": (x2 - x1) * (y2 - y1), "iscrowd": 0,
                }
                for k, (of, (x1, y1, x2, y2)) in enumerate(zip(labels, objects.tolist(), strict=True))
            ],
        }
    )  # fmt: skip
    detections = Detections.from_arrays(
        image_ids=np.ones(len(kept), np.int64), category_ids=label[kept].astype(np.int64),
        boxes=np.hstack([found[:, :2], found[:, 2:] - found[:, :2]]), scores=scores[prediction[kept], label[kept]],
    )  # fmt: skip
    return Walk(
        drawn, [f"{k} {CLASSES[label]}" for k, label in enumerate(labels)], anchors, raw, cells, strides, own, boxes,
        alike, assignment, prediction, label, scores[prediction, label], suppression,
        evaluate(ground_truth, detections),
    )  # fmt: skip


def sigmoid(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return 1 / (1 + np.exp(-x))


def by_detection(w: Walk, iou: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(D,) whether each detection is a true positive, and the object that it matches or -1."""
    table = w.evaluation.matches
    hit, of = np.zeros(len(w.kept), bool), np.full(len(w.kept), -1)
    rows, found = table.detections.row, table.matched_object(iou)
    hit[rows] = table.is_true_positive(iou)
    of[rows] = np.where(found >= 0, table.objects.row[found], -1)
    return hit, of


def precision_recall(w: Walk, iou: float) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """(D,) precision and recall after each detection of any class, best first."""
    right = np.cumsum(by_detection(w, iou)[0])
    return right / np.arange(1, len(right) + 1), right / len(w.names)


def example(w: Walk) -> int:
    """The object of the worked example: the one with the best IoU with its prediction."""
    owners, chosen = w.assignment.pairs.T
    return int(owners[elementwise_iou(w.boxes[chosen], w.scene.boxes[owners]).argmax()])


def cross_entropy(logit: Any, target: Any) -> Any:
    return np.logaddexp(0, logit) - target * logit


def costs(w: Walk) -> dict[str, float]:
    """The parts of the loss of the image, as `learning.py` adds them."""
    owners, chosen = w.assignment.pairs.T
    pred, target = w.boxes[chosen], w.scene.boxes[owners]
    wanted = np.zeros(len(w.raw))
    wanted[chosen] = elementwise_iou(pred, target)
    classes = np.eye(len(CLASSES))[w.scene.labels[owners]]
    count = len(chosen)
    objectness = cross_entropy(w.raw[:, 4], wanted)
    return {
        "box": BOX * float(ciou_loss(pred, target, reduction="sum")) / count,
        "objectness": OBJECTNESS * objectness[~w.assignment.ignore].sum() / count,
        "classes": CLASS * cross_entropy(w.raw[chosen, 5:], classes).sum() / count,
    }
