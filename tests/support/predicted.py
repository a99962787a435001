"""Objects with the attributes of those that detectors return, made of arrays of any library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["MAKERS", "NAMES", "Instances", "as_dict", "as_instances", "as_results", "as_sample", "as_supervision"]

NAMES = {0: "cat", 1: "traffic light", 2: "犬"}
"""The classes of a model, by label."""

Found = dict[str, "NDArray[Any]"]
"""``boxes`` (N, 4) xyxy, ``scores``, ``labels``, and perhaps ``rotated`` in radians, ``masks``, ``keypoints`` and
``tracks``: float32 and int64, as in models. The functions take what makes arrays of another library of them."""


class Instances:
    """As Detectron2's ``Instances``: fields by attribute, which must not be asked for if they are missing."""

    def __init__(self, image_size: tuple[int, int], **fields: Any) -> None:
        self._image_size, self._fields = image_size, fields

    @property
    def image_size(self) -> tuple[int, int]:
        return self._image_size

    def __getattr__(self, name: str) -> Any:
        if name == "_fields" or name not in self._fields:
            raise AttributeError(f"Cannot find field {name!r} in the given Instances!")
        return self._fields[name]

    def get_fields(self) -> dict[str, Any]:
        return self._fields

    def __iter__(self) -> Any:
        raise NotImplementedError("`Instances` object is not iterable!")


def as_dict(found: Found, to: Any) -> dict[str, Any]:
    """What torchvision's and Transformers' detectors return for an image."""
    made = {name: to(found[name]) for name in ("boxes", "scores", "labels")}
    if "masks" in found:
        made["masks"] = to(found["masks"][:, None].astype(np.float32) * 0.9)
    if "keypoints" in found:
        made["keypoints"] = to(found["keypoints"])
        made["keypoints_scores"] = to(found["keypoints"][..., 2])
    return made


def as_results(found: Found, to: Any, path: str = "/images/a.jpg") -> Any:
    """Ultralytics' ``Results``. Classes are floats there; masks have the size of the image, as with retina masks."""
    tracks = None if "tracks" not in found else to(found["tracks"].astype(np.float32))
    common = {"conf": to(found["scores"]), "cls": to(found["labels"].astype(np.float32)), "id": tracks}
    rotated = "rotated" in found
    masks = SimpleNamespace(data=to(found["masks"]), xy=[]) if "masks" in found else None
    return SimpleNamespace(
        orig_shape=(40, 60),
        names=NAMES,
        path=path,
        boxes=None if rotated else SimpleNamespace(xyxy=to(found["boxes"]), **common),
        obb=SimpleNamespace(xywhr=to(found["rotated"]), **common) if rotated else None,
        masks=masks,
        keypoints=SimpleNamespace(data=to(found["keypoints"])) if "keypoints" in found else None,
        probs=None,
    )


def as_supervision(found: Found, _: Any) -> Any:
    """supervision's ``Detections``, which hold NumPy's arrays alone."""
    data: dict[str, Any] = {"class_name": np.array([NAMES[one] for one in found["labels"].tolist()])}
    if "rotated" in found:
        cx, cy, width, height, angle = found["rotated"].astype(np.float64).T
        along = np.stack([np.cos(angle), np.sin(angle)], axis=1) * width[:, None] / 2
        across = np.stack([-np.sin(angle), np.cos(angle)], axis=1) * height[:, None] / 2
        centre = np.stack([cx, cy], axis=1)
        corners = [centre - along - across, centre + along - across, centre + along + across, centre - along + across]
        data["xyxyxyxy"] = np.stack(corners, axis=1).astype(np.float32).reshape(-1, 4, 2)
    return SimpleNamespace(
        xyxy=found["boxes"],
        mask=found.get("masks"),
        confidence=found["scores"],
        class_id=found["labels"],
        tracker_id=found.get("tracks"),
        data=data,
        metadata={},
    )


def as_instances(found: Found, to: Any) -> dict[str, Instances]:
    """What Detectron2's models return for an image: angles in degrees, counterclockwise; points half a pixel on."""
    boxes = found["boxes"]
    if "rotated" in found:
        boxes = found["rotated"] * np.array([1, 1, 1, 1, -180 / np.pi], np.float32)
    fields = {
        "pred_boxes": SimpleNamespace(tensor=to(boxes)),
        "scores": to(found["scores"]),
        "pred_classes": to(found["labels"]),
    }
    if "masks" in found:
        fields["pred_masks"] = to(found["masks"])
    if "keypoints" in found:
        fields["pred_keypoints"] = to(found["keypoints"] + np.array([0.5, 0.5, 0], np.float32))
    return {"instances": Instances((40, 60), **fields)}


def as_sample(found: Found, to: Any, **meta: Any) -> Any:
    """MMDetection's ``DetDataSample``: tensors, or boxes with a tensor, as with ``use_box_type``."""
    boxes = to(found["boxes"]) if "rotated" not in found else SimpleNamespace(tensor=to(found["rotated"]))
    instances = SimpleNamespace(bboxes=boxes, scores=to(found["scores"]), labels=to(found["labels"]))
    if "masks" in found:
        instances.masks = to(found["masks"])
    return SimpleNamespace(pred_instances=instances, ori_shape=(40, 60), **meta)


MAKERS: dict[str, Any] = {
    "dict": as_dict,
    "ultralytics": as_results,
    "supervision": as_supervision,
    "detectron2": as_instances,
    "mmdetection": as_sample,
}
