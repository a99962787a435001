"""From images to boxes: files, folders and arrays go in, results in the pixels of each image come out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor, nn

from ioukit._optional import import_extra
from ioukit.anchors import Letterbox
from ioukit.datasets import Detections
from ioukit.errors import DatasetError
from ioukit.postprocess import filter_detections
from ioukit.torch.detector.data import SUFFIXES, Data, OnInvalid, open_image
from ioukit.torch.detector.decoding import Guesses, decode
from ioukit.torch.detector.model import STRIDES, YOLO

__all__ = ["FoundBoxes", "Result", "detections_of", "draw", "export_onnx", "images_in", "predict", "to_coco"]

Pixels: TypeAlias = "np.ndarray[Any, np.dtype[np.uint8]]"


@dataclass(frozen=True, eq=False)
class FoundBoxes:
    """N boxes found in an image, the best first."""

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
        """(N, 4) the corner of least x and y, and the size, as COCO has it (other tools mean the centre)."""
        return np.concatenate([self.xyxy[:, :2], self.xyxy[:, 2:] - self.xyxy[:, :2]], axis=1)

    @property
    def cxcywh(self) -> np.ndarray[Any, np.dtype[np.float32]]:
        """(N, 4) centre and size."""
        sides = self.xyxy[:, 2:] - self.xyxy[:, :2]
        return np.concatenate([self.xyxy[:, :2] + sides / 2, sides], axis=1)


@dataclass(frozen=True, eq=False)
class Result:
    """What was found in one image."""

    image: str | Pixels
    """The path, or the array that was given."""
    size: tuple[int, int]
    """(width, height) in pixels."""
    boxes: FoundBoxes
    names: tuple[str, ...]
    """Of the classes; empty if the network does not know them."""


def predict(
    model: YOLO,
    images: str | os.PathLike[str] | Pixels | Sequence[str | os.PathLike[str] | Pixels],
    *,
    score_threshold: float = 0.25,
    iou_threshold: float = 0.5,
    max_detections: int = 100,
    batch: int = 8,
    on_invalid: OnInvalid = "error",
) -> Iterator[Result]:
    """Finds the objects of images, one result after the other.

    A network with the anchor-free head answers by its second branch, which needs no NMS; ``iou_threshold`` is for the
    other.

    Args:
        model: As `load_model` gives it.
        images: A file, a folder, an (H, W, 3) uint8 RGB array, or several files and arrays.
        score_threshold: Boxes of lower scores are left out.
        iou_threshold: Of two boxes of a class with an IoU above it, the better stays.
        max_detections: The best of an image, at most.
        batch: Images at once.
        on_invalid: ``"error"`` stops at a file that cannot be read, ``"skip"`` gives no result for it.

    Raises:
        DatasetError: If an image cannot be read and is not to be skipped.
        FileNotFoundError: If there is no such file.
        ValueError: If an array is no RGB image.
    """
    if on_invalid not in ("error", "skip"):
        raise ValueError(f"unknown on_invalid {on_invalid!r}; choose from error, skip")
    for part, pixels in _opened(_batches(_sources(images), batch), skip=on_invalid == "skip"):
        boxed = [Letterbox((one.shape[1], one.shape[0]), model.config.image_size) for one in pixels]
        placed = [letterbox.apply(one) for letterbox, one in zip(boxed, pixels, strict=True)]
        stacked = torch.from_numpy(np.stack(placed)).permute(0, 3, 1, 2)
        found = _answer(
            model, stacked, score_threshold=score_threshold, iou_threshold=iou_threshold, max_detections=max_detections
        )
        owner = np.asarray(found.images)
        for number, (image, letterbox) in enumerate(zip(part, boxed, strict=True)):
            rows = owner == number
            corners = letterbox.boxes_back(np.asarray(found.boxes)[rows], clip=True)
            boxes = FoundBoxes(corners, np.asarray(found.scores)[rows], np.asarray(found.labels)[rows])
            shown = image if isinstance(image, np.ndarray) else str(image)
            yield Result(shown, letterbox.image_size, boxes, model.config.names)


def detections_of(model: YOLO, data: Data, *, batch: int = 8) -> Detections:
    """What a network finds in a data set, with all scores from 0.001 on, as evaluation takes it."""
    columns: dict[str, list[Any]] = {"image_ids": [], "category_ids": [], "boxes": [], "scores": []}
    categories = data.ground_truth.categories.ids
    results = predict(
        model, [record.path for record in data.records], score_threshold=0.001, iou_threshold=0.6, batch=batch
    )
    for record, result in zip(data.records, results, strict=True):
        columns["image_ids"].append(np.full(len(result.boxes), record.image_id))
        columns["category_ids"].append(categories[result.boxes.cls])
        columns["boxes"].append(result.boxes.xywh.astype(np.float64))
        columns["scores"].append(result.boxes.conf.astype(np.float64))
    joined: dict[str, Any] = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in columns.items()}
    return Detections.from_arrays(**joined)


def images_in(path: str | os.PathLike[str]) -> list[Path]:
    """The file itself, or the images of a folder by name.

    Raises:
        FileNotFoundError: If there is no such file, or no image in the folder.
    """
    path = Path(path)
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix.lower() in SUFFIXES)
        if not found:
            raise FileNotFoundError(f"there is no image in {path}: expected one of {', '.join(sorted(SUFFIXES))}")
        return found
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}")
    return [path]


def _sources(images: Any) -> list[Path | Pixels]:
    if isinstance(images, (str, os.PathLike)):
        return list(images_in(images))
    if isinstance(images, np.ndarray) and images.ndim == 3:
        return [images]
    return [image if isinstance(image, np.ndarray) else one for image in images for one in _paths(image)]


def _paths(image: Any) -> list[Any]:
    return [image] if isinstance(image, np.ndarray) else list(images_in(image))


def _pixels(image: Path | Pixels) -> Pixels:
    if isinstance(image, Path):
        return open_image(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise ValueError(f"an image must be (H, W, 3) of uint8 in RGB, got {image.dtype} of shape {image.shape}")
    return image


def _batches(items: list[Any], size: int) -> Iterator[list[Any]]:
    for start in range(0, len(items), size):
        yield items[start : start + size]


def _opened(parts: Iterable[list[Path | Pixels]], *, skip: bool) -> Iterator[tuple[list[Path | Pixels], list[Pixels]]]:
    """Batches, and the pixels of their images; with ``skip`` of those that can be read."""
    for part in parts:
        there, pixels = [], []
        for image in part:
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
def _answer(model: YOLO, images: Tensor, *, score_threshold: float, iou_threshold: float, max_detections: int) -> Any:
    """The boxes of a batch in the network's pixels."""
    device = next(model.parameters()).device
    was_training = model.training
    model.eval()
    guesses = decode(model(images.to(device).float() / 255), model.config)
    model.train(was_training)
    return filter_detections(
        guesses.boxes.cpu().numpy(),
        guesses.scores.cpu().numpy(),
        score_threshold=score_threshold,
        iou_threshold=iou_threshold if guesses.needs_nms else 1.0,
        max_detections=max_detections,
        check=False,
    )


def to_coco(results: Iterable[Result], image_ids: Iterable[int], category_ids: Sequence[int]) -> list[dict[str, Any]]:
    """Results as COCO has them: ``image_id``, ``category_id``, ``bbox`` and ``score``.

    Args:
        results: Of some images.
        image_ids: Theirs, in the same order.
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


# Okabe and Ito's colours, which all eyes tell apart.
COLOURS = ((0, 114, 178), (213, 94, 0), (0, 158, 115), (204, 121, 167), (230, 159, 0), (86, 180, 233), (0, 0, 0))


def draw(result: Result) -> Pixels:
    """(H, W, 3) the image with its boxes, classes and scores."""
    image, image_draw, font = (
        import_extra(f"PIL.{name}", extra="torch", needed_by="drawing") for name in ("Image", "ImageDraw", "ImageFont")
    )
    pixels = result.image if isinstance(result.image, np.ndarray) else open_image(result.image)
    canvas = image.fromarray(pixels)
    pen = image_draw.Draw(canvas)
    line = max(2, round(min(result.size) / 200))
    letters = font.load_default(max(11, round(min(result.size) / 32)))
    for box, score, label in zip(
        result.boxes.xyxy[::-1].tolist(), result.boxes.conf[::-1].tolist(), result.boxes.cls[::-1].tolist(), strict=True
    ):
        colour = COLOURS[label % len(COLOURS)]
        text = f"{result.names[label] if result.names else label} {score:.2f}"
        pen.rectangle(box, outline=colour, width=line)
        _, _, wide, high = pen.textbbox((0, 0), text, font=letters)
        # Over the box, or inside where the image ends; never beyond its right edge.
        x, y = max(line, min(box[0], result.size[0] - wide - line)), max(line, box[1] - high - line)
        pen.rectangle((x - line, y - line, x + wide + line, y + high + line), fill=colour)
        pen.text((x, y), text, fill=(255, 255, 255), font=letters)
    return np.asarray(canvas)


class _Exported(nn.Module):
    """Images within [0, 1] to boxes and scores, without the choice among them."""

    def __init__(self, model: YOLO) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:  # (B, 3, H, W) -> (B, P, 4), (B, P, K)
        guesses: Guesses = decode(self.model(images), self.model.config)
        return guesses.boxes, guesses.scores


def export_onnx(model: YOLO, path: str | os.PathLike[str]) -> None:
    """Writes the network and its decoding as ONNX: ``images`` (B, 3, H, W) within [0, 1] to ``boxes`` and ``scores``.

    Boxes are (B, P, 4) xyxy in pixels of the network's image, scores (B, P, K); B may be any. Of the anchor-free head
    it is the second branch, whose best guesses are the answer; that of the anchor head needs NMS.
    """
    import_extra("onnx", extra="onnx", needed_by="export_onnx")
    width, height = model.config.image_size
    example = torch.zeros(2, 3, height, width)
    assert height % max(STRIDES) == 0
    batch = torch.export.Dim("batch", min=1)
    torch.onnx.export(
        _Exported(model).eval(), (example,), str(path), input_names=["images"], output_names=["boxes", "scores"],
        dynamic_shapes={"images": {0: batch}}, dynamo=True, external_data=False, verbose=False,
    )  # fmt: skip
