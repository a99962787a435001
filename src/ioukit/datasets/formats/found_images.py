"""The sizes of images whose labels do not say them, if the images lie in the folder of the labels."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from ioukit.datasets.formats.image_files import image_sizes
from ioukit.datasets.formats.objects import UNKNOWN_SIZE
from ioukit.datasets.formats.problems import Problems
from ioukit.datasets.formats.text_files import inside
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["found_size"]


def found_size(folder: Path, named: str) -> tuple[float, float]:
    """(width, height) of an image, from the header of its file; NaN if there is no such image in the folder.

    Args:
        folder: The folder of the labels. The image is looked for there, and in its folder ``images``.
        named: What the labels call the image. A path that leads out of the folder is not opened.
    """
    for name in (named, f"images/{named}"):
        with contextlib.suppress(DatasetError, OSError, ValueError):
            file = inside(folder, name, str(folder))
            if file.is_file():
                width, height = image_sizes([file], Problems(stop=True), threads=1)[0].tolist()
                return float(width), float(height)
    return UNKNOWN_SIZE
