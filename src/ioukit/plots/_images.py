"""Images to draw boxes on, from files and arrays."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

    from ioukit.datasets import GroundTruth


ImageLike: TypeAlias = "str | os.PathLike[str] | Image | NDArray[Any]"
"""A file, a Pillow image, or an array of (H, W), (H, W, 3) or (H, W, 4), uint8 or floats from 0 to 1."""


def pixels_of(image: Any, *, needed_by: str, longest: int | None = None) -> NDArray[Any]:
    """The pixels of an image, as matplotlib needs them.

    Args:
        image: See ``ImageLike``. Files are not rotated by their Exif orientation, because COCO's boxes refer to the
            stored pixels.
        needed_by: The public function that needs Pillow.
        longest: A limit on the longer side of a file, in pixels.

    Raises:
        FileNotFoundError: If the file does not exist.
        ValueError: If an array does not have one of these shapes.
    """
    if isinstance(image, (str, os.PathLike)):
        pil = import_extra("PIL.Image", extra="plots", needed_by=needed_by)
        with pil.open(image) as opened:
            if longest is not None:
                opened.draft("RGB", (longest, longest))  # reads a JPEG at 1/2, 1/4 or 1/8 of its size
            whole = opened.convert("RGB")
            if longest is not None:
                whole.thumbnail((longest, longest))
        pixels: NDArray[Any] = np.asarray(whole)
        return pixels
    loaded = sys.modules.get("PIL.Image")
    if loaded is not None and isinstance(image, loaded.Image):
        image = image.convert("RGB")  # an image with a palette has one number per pixel, too
    array = np.asarray(image)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or not array.size:
        raise ValueError(f"image must be a path or of shape (H, W), (H, W, 3) or (H, W, 4), got {array.shape}")
    # Three channels, because matplotlib would stretch the contrast of a grey image.
    return np.stack([array] * 3, axis=-1) if array.ndim == 2 else array


def frame_of(ground_truth: GroundTruth, position: int, pixels: NDArray[Any] | None, boxes: NDArray[Any]) -> Any:
    """(width, height) of the image of some boxes: from the data set, else from the file, else around the boxes."""
    width, height = ground_truth.images.sizes[position].tolist()
    if width > 0 and height > 0:  # NaN if the data set does not list the size
        return width, height
    if pixels is not None:
        return float(pixels.shape[1]), float(pixels.shape[0])
    if not len(boxes):
        return 1.0, 1.0
    width, height = boxes[:, 2:].max(axis=0).tolist()
    return max(width, 1.0), max(height, 1.0)


def found_in(folder: Path, name: str) -> Path | None:
    """The file with this name in a folder. Names come from data: those that lead out of the folder are refused."""
    path = (folder / name).resolve()
    if not name or not path.is_relative_to(folder.resolve()) or not path.is_file():
        return None
    return path
