"""Small photographs for the page, from a folder that nothing leads out of."""

from __future__ import annotations

import base64
import io
import warnings
from pathlib import Path

from ioukit._optional import import_extra

__all__ = ["Thumbnail", "thumbnail"]

# Wide enough to be looked at alone, small enough that two dozen make one or two megabytes.
_SIDE = 720
_QUALITY = 80
_ORIENTATION = 274  # of EXIF
_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")

Thumbnail = tuple[str, tuple[int, int]]
"""A ``data:`` address, and width and height of the whole photograph."""


def thumbnail(folder: Path, name: str, expected: tuple[float, float] | None = None) -> Thumbnail | str:
    """A small copy of a photograph, or the reason why there is none.

    The name comes out of a data set and may be anything: only a file within the folder is opened, only as an image of
    a common kind, and not if it would unpack to an enormous one. The copy has the pixels alone: neither EXIF data nor a
    place. It is turned as EXIF asks only where the data have the turned size: their boxes lie on the turned photograph
    then, and else on the pixels as they are stored.

    Args:
        folder: Where the photographs are.
        name: Of the photograph, within the folder.
        expected: Width and height that the data give the image, NaN where they do not.
    """
    turn = import_extra("PIL.ImageOps", extra="report", needed_by="a report with images").exif_transpose
    image_module = import_extra("PIL.Image", extra="report", needed_by="a report with images")
    # A broken photograph makes Pillow raise nearly anything, and the report is made all the same.
    try:
        path = _within(folder, name)
        if path is None:
            return "not in the folder"
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # that it would unpack to an enormous image is a warning first
            with image_module.open(path, formats=_FORMATS) as photograph:
                size = photograph.size
                lies = photograph.getexif().get(_ORIENTATION) in (5, 6, 7, 8)  # a quarter turn from how it is looked at
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
    """The file of that name within the folder, links followed; else of the last part of the name alone."""
    if not name:
        return None
    root = folder.resolve()
    for candidate in (root / name, root / Path(name).name):
        path = candidate.resolve()
        if path.is_relative_to(root) and path.is_file():
            return path
    return None
