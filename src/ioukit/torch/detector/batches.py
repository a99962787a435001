"""Batches for training: images of one size, with random changes.

The random changes of a sample depend only on the seed, the epoch and the number of its image, not on the process that
makes it. So a training with more workers, or a resumed one, sees the same images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset, Sampler

from ioukit._optional import import_extra
from ioukit.torch.detector.data import Data, Pixels, open_image
from ioukit.torch.detector.model import STRIDES

GREY = 114  # the value of pixels that no image covers
LEAST_VISIBLE = 0.1  # the smallest fraction of a box that an augmentation may leave; below it the box is dropped
LEAST_SIDE = 1.0  # the shortest side of a box, in pixels
STEPS_PER_SIZE = 10  # as YOLOv3's training, which changes the size every ten batches
SCALES = (0.75, 1.5)  # about the range of its sizes: 320 to 608 around 416


@dataclass(frozen=True)
class Augmentation:
    """The random changes of images in training. If all values are 0, images do not change.

    Attributes:
        mosaic: Probability that four images are combined into one.
        flip: Probability that left and right are swapped.
        scale: The image is enlarged or reduced by a factor of up to ``1 + scale``.
        shift: The image is moved by up to this fraction of the network's width and height.
        hue: The hue is rotated by up to this fraction of the colour circle.
        saturation: The saturation is multiplied or divided by up to ``1 + saturation``.
        brightness: The brightness is multiplied or divided by up to ``1 + brightness``.
    """

    mosaic: float = 0.5
    flip: float = 0.5
    scale: float = 0.3
    shift: float = 0.1
    hue: float = 0.02
    saturation: float = 0.5
    brightness: float = 0.3


NO_AUGMENTATION = Augmentation(0, 0, 0, 0, 0, 0, 0)


class Sample(NamedTuple):
    """An image of the network's size, and its objects in pixels of this image."""

    image: Pixels  # (H, W, 3)
    boxes: np.ndarray[Any, np.dtype[np.float32]]  # (N, 4) xyxy
    labels: np.ndarray[Any, np.dtype[np.int64]]  # (N,)


class Batch(NamedTuple):
    """The images and objects of one training step.

    Attributes:
        images: (B, 3, H, W) uint8.
        boxes: (M, 4) xyxy in pixels: the objects of all images, sorted by image.
        labels: (M,) the class of each object.
        image: (M,) the image of each object, as its position in the batch.
    """

    images: Tensor
    boxes: Tensor
    labels: Tensor
    image: Tensor


_Item: TypeAlias = "tuple[int, int, tuple[int, int]]"


class Samples(Dataset[Sample]):
    """The images of a data set as inputs of the network; the index of an item is (epoch, number, (width, height))."""

    def __init__(self, data: Data, augmentation: Augmentation, seed: int) -> None:
        self.data, self.augmentation, self.seed = data, augmentation, seed

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, item: _Item) -> Sample:
        epoch, number, size = item
        rng = np.random.default_rng([self.seed, epoch, number])
        augmentation = self.augmentation
        if rng.random() < augmentation.mosaic:
            sample = self._mosaic([number, *rng.integers(len(self.data), size=3).tolist()], size, rng)
        else:
            sample = self._place(number, size, rng)
        if rng.random() < augmentation.flip:
            sample = _flipped(sample)
        return sample._replace(image=_coloured(sample.image, augmentation, rng))

    def _place(self, number: int, size: tuple[int, int], rng: np.random.Generator) -> Sample:
        """One image in the middle of the network's image, or moved at random."""
        width, height = size
        canvas = np.full((height, width, 3), GREY, np.uint8)
        factor = _between(rng, self.augmentation.scale)
        shift = rng.uniform(-self.augmentation.shift, self.augmentation.shift, 2) * size
        record = self.data.records[number]
        pixels = open_image(record.path)
        scale = factor * min(width / pixels.shape[1], height / pixels.shape[0])
        corner = (np.array(size) - scale * np.array(pixels.shape[1::-1])) / 2 + shift
        paste(canvas, pixels, scale, corner)
        return _visible(canvas, record.boxes * scale + np.tile(corner, 2), record.labels, (0, 0, width, height))

    def _mosaic(self, numbers: list[int], size: tuple[int, int], rng: np.random.Generator) -> Sample:
        """Four images around a random point, each cut at the edges of its quarter."""
        width, height = size
        canvas = np.full((height, width, 3), GREY, np.uint8)
        x, y = (rng.uniform(0.3, 0.7, 2) * size).astype(int)
        quarters = ((0, 0, x, y), (x, 0, width, y), (0, y, x, height), (x, y, width, height))
        parts = []
        for number, (left, top, right, bottom) in zip(numbers, quarters, strict=True):
            record = self.data.records[number]
            pixels = open_image(record.path)
            factor = _between(rng, self.augmentation.scale)
            scale = factor * min(width / pixels.shape[1], height / pixels.shape[0]) * 0.7
            room = np.array([right - left, bottom - top]) - scale * np.array(pixels.shape[1::-1])
            corner = np.array([left, top]) + room * rng.uniform(0, 1, 2)
            paste(canvas[top:bottom, left:right], pixels, scale, corner - (left, top))
            boxes = record.boxes * scale + np.tile(corner, 2)
            parts.append(_visible(canvas, boxes, record.labels, (left, top, right, bottom)))
        boxes, labels = (np.concatenate([part[field] for part in parts]) for field in (1, 2))
        return Sample(canvas, boxes, labels)


def _between(rng: np.random.Generator, most: float) -> float:
    """A random factor between ``1 / (1 + most)`` and ``1 + most``, uniform in its logarithm."""
    return float((1 + most) ** rng.uniform(-1, 1))


def paste(
    canvas: np.ndarray[Any, Any], pixels: np.ndarray[Any, Any], scale: float, corner: np.ndarray[Any, Any]
) -> None:
    """Draws a scaled image onto the canvas; its upper left corner may be between pixels or outside."""
    image = import_extra("PIL.Image", extra="torch", needed_by="resizing images")
    height, width = canvas.shape[:2]
    low = np.maximum(np.rint(corner).astype(int), 0)
    high = np.minimum(np.rint(corner + scale * np.array(pixels.shape[1::-1])).astype(int), (width, height))
    if (high <= low).any():
        return
    size = tuple((high - low).tolist())
    window = np.concatenate([(low - corner) / scale, (high - corner) / scale])
    window = window.clip(0, np.tile(pixels.shape[1::-1], 2))
    part = image.fromarray(pixels).resize(size, image.Resampling.BILINEAR, tuple(window.tolist()))
    canvas[low[1] : high[1], low[0] : high[0]] = np.asarray(part)


def _visible(
    canvas: np.ndarray[Any, Any], boxes: np.ndarray[Any, Any], labels: np.ndarray[Any, Any], window: tuple[int, ...]
) -> Sample:
    """The objects that are visible enough in a window, cut at its edges."""
    left, top, right, bottom = window
    inside = boxes.clip([left, top, left, top], [right, bottom, right, bottom])
    sides, before = inside[:, 2:] - inside[:, :2], boxes[:, 2:] - boxes[:, :2]
    kept = (sides >= LEAST_SIDE).all(axis=1) & (sides.prod(axis=1) >= LEAST_VISIBLE * before.prod(axis=1))
    return Sample(canvas, inside[kept].astype(np.float32), labels[kept])


def _flipped(sample: Sample) -> Sample:
    boxes = sample.boxes.copy()
    boxes[:, [0, 2]] = sample.image.shape[1] - sample.boxes[:, [2, 0]]
    return Sample(np.ascontiguousarray(sample.image[:, ::-1]), boxes, sample.labels)


def _coloured(pixels: np.ndarray[Any, Any], augmentation: Augmentation, rng: np.random.Generator) -> Pixels:
    """The image with random changes of hue, saturation and brightness."""
    hue = rng.uniform(-augmentation.hue, augmentation.hue)
    saturation, brightness = _between(rng, augmentation.saturation), _between(rng, augmentation.brightness)
    if (hue, saturation, brightness) == (0, 1, 1):
        return pixels
    image = import_extra("PIL.Image", extra="torch", needed_by="colours")
    levels = np.arange(256.0)
    tables = [(levels + 256 * hue) % 256, levels * saturation, levels * brightness]
    table = np.concatenate([np.clip(one, 0, 255) for one in tables]).astype(np.uint8)
    hsv = image.fromarray(pixels).convert("HSV").point(table.tolist())
    return np.asarray(hsv.convert("RGB"))


def collate(samples: list[Sample]) -> Batch:
    """Puts samples of one size into a batch."""
    images = torch.from_numpy(np.stack([sample.image for sample in samples])).permute(0, 3, 1, 2).contiguous()
    image = torch.repeat_interleave(torch.arange(len(samples)), torch.tensor([len(one.labels) for one in samples]))
    boxes = torch.from_numpy(np.concatenate([sample.boxes for sample in samples]))
    return Batch(images, boxes, torch.from_numpy(np.concatenate([sample.labels for sample in samples])), image)


class _Order(Sampler[list[_Item]]):
    """The batches of an epoch in a random order: lists of (epoch, number, size), the share of one process."""

    def __init__(
        self,
        count: int,
        size: tuple[int, int],
        batch: int,
        seed: int,
        *,
        epoch: int,
        start: int,
        rank: int,
        world: int,
        multi_scale: bool,
    ) -> None:
        self.numbers = np.random.default_rng([seed, epoch]).permutation(count)
        self.size, self.seed, self.multi_scale = size, seed, multi_scale
        self.batch, self.epoch, self.start, self.rank, self.world = batch, epoch, start, rank, world

    def __len__(self) -> int:
        return max(len(self.numbers) // self.batch, 1) - self.start

    def _size(self, number: int) -> tuple[int, int]:
        if not self.multi_scale:
            return self.size
        # The last number makes these draws others than those of an image.
        factor = np.random.default_rng([self.seed, self.epoch, number // STEPS_PER_SIZE, 1]).uniform(*SCALES)
        step = max(STRIDES)
        width, height = (max(1, round(side * factor / step)) * step for side in self.size)
        return width, height

    def __iter__(self) -> Iterator[list[_Item]]:
        for step in range(self.start, self.start + len(self)):
            part = self.numbers[step * self.batch : (step + 1) * self.batch]
            yield [(self.epoch, int(number), self._size(step)) for number in part[self.rank :: self.world]]


def loader(
    data: Data,
    size: tuple[int, int],
    *,
    batch: int,
    epoch: int,
    seed: int,
    augmentation: Augmentation | None = None,
    start: int = 0,
    workers: int = 0,
    rank: int = 0,
    world: int = 1,
    multi_scale: bool = False,
) -> DataLoader[Sample]:
    """The batches of one epoch, from batch ``start`` on; an incomplete batch at the end is left out.

    With ``multi_scale``, every ten batches have a size of their own, between 0.75 and 1.5 times ``size``.
    """
    samples = Samples(data, augmentation or Augmentation(), seed)
    order = _Order(
        len(data), size, batch, seed, epoch=epoch, start=start, rank=rank, world=world, multi_scale=multi_scale
    )
    return DataLoader(samples, batch_sampler=order, collate_fn=collate, num_workers=workers)
