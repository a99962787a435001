"""Prediction: from files, folders and arrays of images to boxes in the pixels of each image."""

from __future__ import annotations

import errno
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ioukit.anchors import Letterbox
from ioukit.datasets import Detections
from ioukit.errors import DatasetError
from ioukit.postprocess import OperatingPoints, filter_detections
from ioukit.torch.detector.data import SUFFIXES, Data, OnInvalid, Pixels, check_on_invalid, open_image
from ioukit.torch.detector.decoding import decode
from ioukit.torch.detector.model import STRIDES, YOLO

SCORE_THRESHOLD = 0.25
"""The lowest score of a box, if nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class FoundBoxes:
    """The N boxes found in an image, by descending score."""

    xyxy: np.ndarray[Any, np.dtype[np.float32]]
    """(N, 4) corners in pixels of the image."""
    conf: np.ndarray[Any, np.dtype[np.float32]]
    """(N,) scores within [0, 1]."""
    cls: np.ndarray[Any, np.dtype[np.int64]]
    """(N,) classes."""

    def __len__(self) -> int:
        return len(self.conf)

    @property
    def xywh(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(N, 4) the upper left corner and the size, as in COCO's files; in other tools `xywh` has the centre."""
        return np.concatenate([self.xyxy[:, :2], self.xyxy[:, 2:] - self.xyxy[:, :2]], axis=1)

    @property
    def cxcywh(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(N, 4) centre and size."""
        sides = self.xyxy[:, 2:] - self.xyxy[:, :2]
        return np.concatenate([self.xyxy[:, :2] + sides / 2, sides], axis=1)


@dataclass(frozen=True, eq=False)
class Result:
    """The boxes found in one image."""

    image: str | Pixels
    """The path, or the array that was given."""
    size: tuple[int, int]
    """(width, height) in pixels."""
    boxes: FoundBoxes
    names: tuple[str, ...]
    """Names of the classes; empty if the network has none."""
    best_score: float = math.nan
    """The highest score that the network gave in the image, before any threshold; NaN if it was not kept."""


def predict(
    model: YOLO,
    images: str | os.PathLike[str] | Pixels | Sequence[str | os.PathLike[str] | Pixels],
    *,
    score_threshold: float | None = None,
    operating_points: OperatingPoints | None = None,
    iou_threshold: float = 0.5,
    max_detections: int = 100,
    batch: int = 8,
    rectangular: bool = False,
    on_invalid: OnInvalid = "error",
) -> Iterator[Result]:
    """Yields the boxes found in each image, in the order of the images.

    Args:
        model: The network, for example from `load_model`.
        images: A file, a folder, an (H, W, 3) uint8 RGB array, or a list of files, folders and arrays.
        score_threshold: Boxes with a lower score are left out; 0.25 if ``None``.
        operating_points: Instead, a score threshold for each class of the network, in its order.
        iou_threshold: NMS removes the worse of two boxes of a class with an IoU above this. It has no effect on a
            network with the anchor-free head, whose predictions need no NMS.
        max_detections: The largest number of boxes per image; the best are kept.
        batch: How many images the network takes at once.
        rectangular: Images are made as large as for ``model.config.image_size``, but padded no further than to the
            next multiples of 32 that hold all images of the batch. So wide or high images take less time, and what is
            found in an image depends a little on the others of its batch.
        on_invalid: ``"error"`` stops at a file that cannot be read; ``"skip"`` yields no result for it.

    Raises:
        DatasetError: If a file cannot be read as an image and ``on_invalid`` is ``"error"``.
        FileNotFoundError: If a file does not exist, or a folder has no images.
        ValueError: If an array is not an RGB image, both thresholds are given, or the operating points have other
            classes than the network.
        FloatingPointError: If the outputs of the network are not finite.
    """
    check_on_invalid(on_invalid)
    least = SCORE_THRESHOLD if score_threshold is None and operating_points is None else score_threshold
    if operating_points is not None:
        _check_points(operating_points, model.config.names, model.config.num_classes)
    options = {"score_threshold": least, "operating_points": operating_points, "max_detections": max_detections}
    for part, pixels in _opened(_sources(images), batch, skip=on_invalid == "skip"):
        sizes = [(one.shape[1], one.shape[0]) for one in pixels]
        target = _rectangle(sizes, model.config.image_size) if rectangular else model.config.image_size
        boxed = [Letterbox(size, target) for size in sizes]
        placed = [letterbox.apply(one) for letterbox, one in zip(boxed, pixels, strict=True)]
        stacked = torch.from_numpy(np.stack(placed)).permute(0, 3, 1, 2)
        found, best = _answer(model, stacked, iou_threshold, options)
        owner = np.asarray(found.images)
        for number, (image, letterbox) in enumerate(zip(part, boxed, strict=True)):
            rows = owner == number
            corners = letterbox.boxes_back(np.asarray(found.boxes)[rows], clip=True)
            boxes = FoundBoxes(corners, np.asarray(found.scores)[rows], np.asarray(found.labels)[rows])
            shown = image if isinstance(image, np.ndarray) else str(image)
            yield Result(shown, letterbox.image_size, boxes, model.config.names, best[number])


def detections_of(model: YOLO, data: Data, *, batch: int = 8, rectangular: bool = False) -> Detections:
    """The detections of a network on a data set, for evaluation: those with a score of at least 0.001."""
    columns: dict[str, list[Any]] = {"image_ids": [], "category_ids": [], "boxes": [], "scores": []}
    categories = data.ground_truth.categories.ids
    paths = [record.path for record in data.records]
    results = predict(
        model, paths, score_threshold=0.001, iou_threshold=0.6, batch=batch, rectangular=rectangular
    )  # fmt: skip
    for record, result in zip(data.records, results, strict=True):
        columns["image_ids"].append(np.full(len(result.boxes), record.image_id))
        columns["category_ids"].append(categories[result.boxes.cls])
        columns["boxes"].append(result.boxes.xywh.astype(np.float64))
        columns["scores"].append(result.boxes.conf.astype(np.float64))
    joined: dict[str, Any] = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in columns.items()}
    return Detections.from_arrays(**joined)


def _rectangle(sizes: list[tuple[int, int]], most: tuple[int, int]) -> tuple[int, int]:
    """The smallest multiples of 32 that hold all images when each is scaled to fit into ``most``."""
    width, height = np.max([Letterbox(size, most).content for size in sizes], axis=0).tolist()
    step = max(STRIDES)
    return -(-width // step) * step, -(-height // step) * step


def _check_points(points: OperatingPoints, names: Sequence[str], num_classes: int) -> None:
    if (names and points.names != tuple(names)) or len(points) != num_classes:
        raise ValueError(
            f"the operating points are of {list(points.names)}, and the network of "
            f"{list(names) or f'{num_classes} classes'}: expected the same classes in the same order; "
            "points.for_classes(names) brings them into the order of a network"
        )


def images_in(path: str | os.PathLike[str]) -> list[Path]:
    """The path itself if it is a file, or the images of the folder, sorted by name.

    Raises:
        FileNotFoundError: If there is no such file, or no image in the folder.
    """
    path = Path(path)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not found:
            raise FileNotFoundError(f"there is no image in {path}: expected one of {', '.join(sorted(SUFFIXES))}")
        return found
    if not path.exists():
        raise FileNotFoundError(errno.ENOENT, "there is no file", str(path))
    return [path]


def _sources(images: Any) -> list[Path | Pixels]:
    if isinstance(images, str | os.PathLike) or (isinstance(images, np.ndarray) and images.ndim == 3):
        images = [images]
    return [one for image in images for one in ([image] if isinstance(image, np.ndarray) else images_in(image))]


def _pixels(image: Path | Pixels) -> Pixels:
    if isinstance(image, Path):
        return open_image(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"an image must be (H, W, 3) of uint8 in RGB, got {image.dtype} of shape {image.shape}")
    return image


def _opened(
    images: list[Path | Pixels], size: int, *, skip: bool
) -> Iterator[tuple[list[Path | Pixels], list[Pixels]]]:
    """Batches of images with their pixels; with ``skip`` without the images that cannot be read."""
    for start in range(0, len(images), size):
        there, pixels = [], []
        for image in images[start : start + size]:
            try:
                pixels.append(_pixels(image))
            except DatasetError:
                if not skip:
                    raise
                continue
            there.append(image)
        if there:
            yield there, pixels


@torch.no_grad()
def _answer(model: YOLO, images: Tensor, iou_threshold: float, options: dict[str, Any]) -> tuple[Any, list[float]]:
    """The boxes of a batch in pixels of the network's image, and the highest score of each image.

    Args:
        model: The network.
        images: (B, 3, H, W) of uint8.
        iou_threshold: For networks that need NMS.
        options: Those of `filter_detections`.
    """
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    predictions = decode(model(images.to(device).float() / 255), model.config.resized(images))
    model.train(was_training)
    if not (torch.isfinite(predictions.boxes).all() and torch.isfinite(predictions.scores).all()):
        raise FloatingPointError("the outputs of the network are not finite: did its training diverge?")
    scores = predictions.scores.cpu().numpy()
    found = filter_detections(
        predictions.boxes.cpu().numpy(),
        scores,
        iou_threshold=iou_threshold if predictions.needs_nms else 1.0,
        check=False,
        **options,
    )
    return found, scores.reshape(len(scores), -1).max(axis=1, initial=0).tolist()


def to_coco(results: Iterable[Result], image_ids: Iterable[int], category_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Results as records of a COCO results file: ``image_id``, ``category_id``, ``bbox`` and ``score``.

    Args:
        results: The results of some images.
        image_ids: The id of each of these images, in the same order.
        category_ids: (K,) the id of each class.
    """
    return [
        {
            "image_id": image_id,
            "category_id": int(category_ids[label]),
            "bbox": [round(float(number), 3) for number in box],
            "score": round(float(score), 6),
        }
        for image_id, result in zip(image_ids, results, strict=True)
        for box, score, label in zip(result.boxes.xywh, result.boxes.conf, result.boxes.cls, strict=True)
    ]
