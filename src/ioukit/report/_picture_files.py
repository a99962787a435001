"""Photographs in a folder: files outside of it are never opened, and only as images of common formats.

Names come from a data set, and files from anywhere. Neither can be trusted.
"""

from __future__ import annotations

import contextlib
import math
import os
import stat
import threading
import warnings
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, BinaryIO

from ioukit._optional import import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator


FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
"""The formats that are opened, by the names of Pillow."""
SUFFIXES = (".jpg", ".png", ".jpeg", ".webp", ".tif", ".tiff", ".bmp", ".gif", ".JPG", ".PNG", ".JPEG")
"""What is put behind names that have no suffix."""

_MOST_PIXELS = 89_478_485  # Pillow's default: a quarter of a GiB in RGB
_ORIENTATION = 274  # of EXIF
_PIXELS_AT_ONCE = 1 << 20
# Pillow warns about large images, and the filters of warnings are those of the process.
_OPENING = threading.Lock()


def file_within(folder: Path, name: str) -> Path | None:
    """The file with this name within the folder, links followed; otherwise the file with the last part of the name.

    The last part finds photographs of a data set that was moved: absolute names, and names of another system. A name
    without suffix, as some data sets have them, also means the file with the suffix of a picture. ``None``
    if there is no such file, it is no ordinary file (a device, a pipe), or a link leads out of the folder.
    """
    if not name or "\0" in name:
        return None
    try:
        root = folder.resolve()
        names = dict.fromkeys((name, Path(name).name, PureWindowsPath(name).name))
        for suffix in ("",) if Path(name).suffix else ("", *SUFFIXES):
            for candidate in names:
                path = (root / f"{candidate}{suffix}").resolve()
                if path.is_relative_to(root) and path != root and path.is_file():
                    return path
    except (OSError, RuntimeError, ValueError):  # too long, a circle of links, characters that the system has not
        return None
    return None


@contextlib.contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """An ordinary file, open for reading; the last part of its path is not followed if it has become a link.

    Raises:
        OSError: If it cannot be opened, or is no ordinary file.
    """
    flags = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    number = os.open(path, flags)
    try:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(f"expected a file, got another thing: {path.name}")
        with os.fdopen(number, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(number)


def picture(file: BinaryIO, *, needed_by: str) -> tuple[Any, int]:
    """The image of Pillow in an open file, and its EXIF orientation. Its pixels are not read yet.

    Args:
        file: The file, from its start.
        needed_by: Who needs Pillow, for the message if it is not installed.

    Returns:
        The image, and its orientation, 1 to 8; 1 if it has none.

    Raises:
        Exception: Of any kind, if it is no image of a known format. Of Pillow's ``DecompressionBombError`` or
            ``DecompressionBombWarning`` if its unpacked size is enormous.
    """
    image_module = import_extra("PIL.Image", extra="report", needed_by=needed_by)
    with _OPENING, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what stands beside the pixels
        warnings.simplefilter("error", image_module.DecompressionBombWarning)
        image = image_module.open(file, formats=FORMATS)
    if image.width * image.height > _MOST_PIXELS:  # other libraries take Pillow's own limit away, for the whole process
        raise image_module.DecompressionBombError(f"an image of {image.width:,} x {image.height:,} pixels")
    if image.format == "PNG" and "exif" not in image.info and _has_late_exif(file):
        image.load()  # what stands behind the pixels is read with them
    with _OPENING, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        # The method of `Image`, because that of PNG reads all pixels of an image without EXIF.
        exif = image_module.Image.getexif(image) if image.format == "PNG" else image.getexif()
        found = exif.get(_ORIENTATION, 1)
    return image, found if found in range(2, 9) else 1


def _has_late_exif(file: BinaryIO) -> bool:
    """Whether a PNG file has EXIF data behind its pixels. Only the heads of its chunks are read."""
    place = file.tell()
    try:
        file.seek(8)  # the signature
        while len(head := file.read(8)) == 8 and head[4:] != b"IEND":
            if head[4:] == b"eXIf":
                return True
            file.seek(int.from_bytes(head[:4], "big") + 4, os.SEEK_CUR)  # its data and checksum
        return False
    finally:
        file.seek(place)


def small_copy(
    path: Path, side: int, expected: tuple[float, float] | None, *, needed_by: str
) -> tuple[Any, tuple[int, int]]:
    """A copy of at most ``side`` pixels, turned as the data set means it, and the width and height before.

    Args:
        path: An ordinary file.
        side: The most pixels of its width and height.
        expected: The width and height in the data set, NaN if unknown.
        needed_by: As for :func:`picture`.

    Raises:
        Exception: As :func:`opened` and :func:`picture`.
    """
    with opened(path) as file:
        image, orientation = picture(file, needed_by=needed_by)
        size = image.size
        image.draft("RGB", (2 * side, 2 * side))
        small = as_rgb(image, side)
    return (turned(small, orientation), size[::-1]) if turns(size, orientation, expected) else (small, size)


def turns(size: tuple[int, int], orientation: int, expected: tuple[float, float] | None) -> bool:
    """Whether an image must be turned by its EXIF orientation: if the data set lists the size after turning.

    Then the boxes refer to the turned photograph, otherwise to the stored pixels.

    Args:
        size: The stored width and height.
        orientation: The orientation of EXIF, 1 to 8.
        expected: The width and height in the data set, NaN if unknown.
    """
    return orientation >= 5 and size[::-1] == expected  # stored with a rotation of 90 degrees


def turned(image: Any, orientation: int) -> Any:
    """The image as its EXIF orientation says."""
    methods = import_extra("PIL.Image", extra="report", needed_by="a photograph").Transpose
    names = ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270", "TRANSVERSE", "ROTATE_90")
    return image if orientation == 1 else image.transpose(methods[names[orientation - 2]])


def as_rgb(image: Any, side: int | None = None) -> Any:
    """The image with three channels of eight bits; what is transparent becomes white.

    Args:
        image: The image of Pillow.
        side: The most pixels of its width and height; ``None`` keeps its size.
    """
    whole = _stretched(image) if image.mode.startswith(("I", "F")) else _three_channels(image)
    if side is not None:
        whole.thumbnail((side, side))
    return whole if whole.mode == "RGB" else whole.convert("RGB")  # one channel becomes three when it is small


def _three_channels(image: Any) -> Any:
    if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") or (image.mode == "P" and "transparency" in image.info):
        image_module = import_extra("PIL.Image", extra="report", needed_by="a photograph")
        layer = image.convert("RGBA")
        ground = image_module.new("RGB", layer.size, (255, 255, 255))
        ground.paste(layer, mask=layer.getchannel("A"))
        return ground
    return image.convert("RGB")


def _stretched(image: Any) -> Any:
    """Values of 16 bits or more from black, the lowest of the image, to white, the highest; one channel of eight bits.

    A few rows at a time, so that the memory is little more than that of the image.
    """
    import numpy as np  # noqa: PLC0415 - for images of few kinds

    image_module = import_extra("PIL.Image", extra="report", needed_by="a photograph")
    width, height = image.size
    step = max(1, _PIXELS_AT_ONCE // max(width, 1))

    def strip(top: int) -> Any:
        return np.asarray(image.crop((0, top, width, min(top + step, height))))

    low, high = math.inf, -math.inf
    for top in range(0, height, step):
        values = strip(top)
        finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:  # no value is finite
        low, high = 0.0, 1.0

    def stretched(values: Any) -> Any:
        shares = np.nan_to_num((values.astype(np.float64) - low) / max(high - low, 1e-300), posinf=1, neginf=0)
        return (255 * shares.clip(0, 1)).round().astype(np.uint8)

    table = stretched(np.arange(1 << 16))
    made = image_module.new("L", image.size)
    for top in range(0, height, step):
        values = strip(top)
        eight = table[values] if values.dtype.kind == "u" and values.dtype.itemsize == 2 else stretched(values)
        made.paste(image_module.fromarray(eight), (0, top))
    return made
