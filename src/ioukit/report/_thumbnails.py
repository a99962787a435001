"""Small photographs for the page. Files outside of the folder of photographs are never opened."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

from ioukit._optional import import_extra
from ioukit.report._picture_files import as_rgb, file_within, opened, picture, turned, turns

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Thumbnail", "thumbnail"]

# Large enough to be viewed alone, small enough that two dozen need one or two megabytes.
_SIDE = 720
_QUALITY = 80

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
    import_extra("PIL", extra="report", needed_by="a report with images")
    # For a broken photograph, Pillow may raise errors of many kinds. The report is written without it.
    try:
        path = file_within(folder, name)
        if path is None:
            return "not in the folder"
        with opened(path) as stream:
            photograph, orientation = picture(stream, needed_by="a report with images")
            size = photograph.size
            photograph.draft("RGB", (2 * _SIDE, 2 * _SIDE))
            small = as_rgb(photograph, _SIDE)
        if turns(size, orientation, expected):
            small, size = turned(small, orientation), size[::-1]
        file = io.BytesIO()
        small.save(file, "JPEG", quality=_QUALITY, optimize=True)
    except Exception as error:
        return f"cannot be read: {type(error).__name__}"
    return "data:image/jpeg;base64," + base64.b64encode(file.getvalue()).decode("ascii"), size
