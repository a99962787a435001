"""A folder of drawn scenes, described in the formats of COCO and YOLO."""

from __future__ import annotations

import json
import operator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ioukit._core import __version__
from ioukit._optional import import_extra
from ioukit._output import check_place, whole_folder
from ioukit.datasets.shapes.drawing import CLASSES, MEAN_SHAPES, SIDES, Scene, check_size, draw_scene
from ioukit.datasets.shapes.outlines import has_handwritten
from ioukit.regions.masks import Masks

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence


FORMATS = ("coco", "yolo")


def make_shapes(
    folder: str | os.PathLike[str],
    *,
    images: int = 400,
    seed: int = 1,
    size: tuple[int, int] = (416, 416),
    val: float = 0.2,
    formats: Sequence[str] = FORMATS,
    handwritten: bool | None = None,
    sides: tuple[float, float] = SIDES,
    mean: float = MEAN_SHAPES,
    whole: bool = False,
) -> dict[str, int]:
    """Draws a data set of shapes into a new folder: images, boxes and masks, the same for the same arguments.

    ::

        folder/images/train/000000.png ...  images/val/...
        folder/annotations/train.json, val.json      COCO, with masks as uncompressed RLE
        folder/labels/train/000000.txt ...           YOLO: class cx cy w h, as fractions of the image
        folder/data.yaml                             YOLO: where the images are, and the names

    The held-out images are the last ones, so a larger data set of the same seed begins with the same training images.
    The folder appears whole or not at all.

    Args:
        folder: The folder to make. It must not exist, or be empty.
        images: How many images, at least 1.
        seed: Seed of the drawing, at least 0.
        size: (width, height) in pixels, at least 32 each.
        val: The fraction of the images that is held out, at least 0 and below 1.
        formats: ``"coco"``, ``"yolo"`` or both.
        handwritten: Whether digits are scikit-learn's handwritten ones rather than those of a font; by default
            handwritten if scikit-learn is installed. The COCO files say which.
        sides: The least and the largest longer side of a shape, as fractions of the shorter side of the image.
        mean: How many shapes an image has on average.
        whole: Whether no shape reaches over the edge of its image.

    Returns:
        How many images and objects there are: ``train``, ``train_objects``, ``val``, ``val_objects``.

    Raises:
        ValueError: If a number or a format is wrong.
        FileExistsError: If the folder is not empty, or is a file.
        OSError: If a file cannot be written.
        ModuleNotFoundError: If Pillow is not installed: ``pip install 'ioukit[shapes]'``.
    """
    check_request(folder, images=images, seed=seed, size=size, val=val, formats=formats)
    count = operator.index(images)
    held_out = min(round(count * val), count - 1)
    splits = {"train": range(count - held_out), "val": range(count - held_out, count)}
    draw = partial(draw_scene, seed=seed, size=size, handwritten=handwritten, sides=sides, mean=mean, whole=whole)
    counts: dict[str, int] = {}
    with whole_folder(folder) as unfinished:
        for split, numbers in splits.items():
            writers: list[_Coco | _Yolo] = []
            if "coco" in formats:
                writers.append(_Coco(unfinished, split, f"seed {seed}, {_digits(handwritten)} digits"))
            if "yolo" in formats:
                writers.append(_Yolo(unfinished, split))
            counts[split] = len(numbers)
            counts[f"{split}_objects"] = _draw_split(unfinished / "images" / split, numbers, draw, writers)
    return counts


def check_request(
    folder: str | os.PathLike[str],
    *,
    images: int,
    seed: int,
    size: tuple[int, int],
    val: float,
    formats: Sequence[str],
) -> None:
    """Raises what `make_shapes` raises for wrong arguments, before anything is drawn."""
    if operator.index(images) < 1:
        raise ValueError(f"images must be at least 1, got {images}")
    if not 0 <= val < 1:  # NaN is refused too
        raise ValueError(f"val must be at least 0 and below 1, got {val}")
    check_size(size)
    unknown = [name for name in formats if name not in FORMATS]
    if unknown or not formats:
        raise ValueError(f"formats must be one or both of {', '.join(FORMATS)}, got {list(formats)}")
    if operator.index(seed) < 0:
        raise ValueError(f"seed must be at least 0, got {seed}")
    import_extra("PIL.Image", extra="shapes", needed_by="make_shapes")
    target = Path(folder)
    if target.is_file() or (target.is_dir() and any(target.iterdir())):
        raise FileExistsError(f"{folder} is there already and not empty: name a new folder")
    check_place(target)


def _draw_split(
    folder: Path, numbers: Iterable[int], draw: Callable[[int], Scene], writers: Sequence[_Coco | _Yolo]
) -> int:
    """Draws and describes the images of a split; gives the number of their objects."""
    image = import_extra("PIL.Image", extra="shapes", needed_by="make_shapes")
    folder.mkdir(parents=True)
    objects = 0
    for number in numbers:
        scene, name = draw(number), f"{number:06d}"
        image.fromarray(scene.pixels).save(folder / f"{name}.png")
        for writer in writers:
            writer.add(name, scene)
        objects += len(scene.labels)
    for writer in writers:
        writer.finish()
    return objects


def _write(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


class _Yolo:
    """Writes a text file per image, and the file that names the classes."""

    def __init__(self, folder: Path, split: str) -> None:
        self.folder, self.labels = folder, folder / "labels" / split
        self.labels.mkdir(parents=True)

    def add(self, name: str, scene: Scene) -> None:
        height, width = scene.pixels.shape[:2]
        low, high = scene.boxes[:, :2], scene.boxes[:, 2:]
        numbers = np.hstack([(low + high) / 2, high - low]) / (width, height, width, height)
        rows = zip(scene.labels.tolist(), numbers.tolist(), strict=True)
        lines = (" ".join([str(label), *(f"{number:.10g}" for number in row)]) for label, row in rows)
        _write(self.labels / f"{name}.txt", lines)

    def finish(self) -> None:
        names = [f"  {number}: {name}" for number, name in enumerate(CLASSES)]
        _write(self.folder / "data.yaml", ["train: images/train", "val: images/val", "names:", *names])


class _Coco:
    """Writes one annotation file per split."""

    def __init__(self, folder: Path, split: str, drawn: str) -> None:
        self.path = folder / "annotations" / f"{split}.json"
        self.data: dict[str, Any] = {
            "info": {"description": f"shapes drawn by ioukit {__version__}, {drawn}"},
            "images": [],
            "annotations": [],
            "categories": [{"id": number, "name": name} for number, name in enumerate(CLASSES, start=1)],
        }

    def add(self, name: str, scene: Scene) -> None:
        height, width = scene.pixels.shape[:2]
        images, annotations = self.data["images"], self.data["annotations"]
        images.append({"id": len(images) + 1, "file_name": f"{name}.png", "width": width, "height": height})
        masks = Masks.from_arrays(scene.masks)
        columns = (scene.labels.tolist(), scene.boxes.tolist(), masks.area.tolist(), masks.to_rle(compressed=False))
        for label, box, area, segmentation in zip(*columns, strict=True):
            x1, y1, x2, y2 = box
            annotations.append(
                {
                    "id": len(annotations) + 1,
                    "image_id": len(images),
                    "category_id": label + 1,
                    "bbox": [x1, y1, x2 - x1, y2 - y1],
                    "area": int(area),
                    "iscrowd": 0,
                    "segmentation": segmentation,
                }
            )

    def finish(self) -> None:
        self.path.parent.mkdir(exist_ok=True)
        _write(self.path, [json.dumps(self.data)])


def _digits(handwritten: bool | None) -> str:
    return "handwritten" if (has_handwritten() if handwritten is None else handwritten) else "typeset"
