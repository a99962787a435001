"""Small photographs for the page. Files outside of the folder of photographs are never opened."""

from __future__ import annotations

import base64
import io
import warnings
from pathlib import Path

from ioukit._optional import import_extra

__all__ = ["Thumbnail", "thumbnail"]

# Large enough to be viewed alone, small enough that two dozen need one or two megabytes.
_SIDE = 720
_QUALITY = 80
_ORIENTATION = 274  # of EXIF
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")

Thumbnail = tuple[str, tuple[int, int]]
"""A ``data:`` address, and the width and height of the photograph."""


def thumbnail(folder: Path, name: str, expected: tuple[float, float] | None = None) -> Thumbnail | str:
    """A small copy of a photograph, or the reason why it is missing.

    The name comes from a data set and cannot be trusted. So only a file within the folder is opened, only as an image
    of a common format, and not if its unpacked size is enormous. The copy has no EXIF data, so no location. It is
    rotated by its EXIF orientation only if the data set lists the rotated size. In that case the boxes refer to the
    rotated photograph, otherwise to the stored pixels.

    Args:
        folder: The folder of the photographs.
        name: The name of the photograph within the folder.
        expected: The width and height of the image in the data set, NaN if unknown.
    """
    turn = import_extra("PIL.ImageOps", extra="report", needed_by="a report with images").exif_transpose
    image_module = import_extra("PIL.Image", extra="report", needed_by="a report with images")
    # For a broken photograph, Pillow may raise errors of many kinds. The report is written without it.
    try:
        path = _within(folder, name)
        if path is None:
            return "not in the folder"
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # Pillow warns about images whose unpacked size is enormous
            with image_module.open(path, formats=_FORMATS) as photograph:
                size = photograph.size
                lies = photograph.getexif().get(_ORIENTATION) in (5, 6, 7, 8)  # stored with a rotation of 90 degrees
                photograph.draft("RGB", (2 * _SIDE, 2 * _SIDE))
                small = photograph.convert("RGB")
        small.thumbnail((_SIDE, _SIDE))
        if lies and size[::-1] == expected:
            small, size = turn(small), size[::-1]
        file = io.BytesIO()
        small.save(file, "JPEG", quality=_QUALITY, optimize=True)
    except Exception as error:
        return f"cannot be read: {type(error).__name__}"
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii"), size


def _within(folder: Path, name: str) -> Path | None:
    """The file with this name within the folder, links followed; otherwise the file with the last part of the name."""
    if not name:
        return None
    root = folder.resolve()
    for candidate in (root / name, root / Path(name).name):
        path = candidate.resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    return None
