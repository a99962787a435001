"""The photographs of a folder, as files that a browser shows, and small copies of them.

Names come from a data set and cannot be trusted, nor can files: see ``ioukit.report._picture_files``, which opens them.
"""

from __future__ import annotations

import hashlib
import io
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ioukit.report._picture_files import as_rgb, file_within, opened, picture, small_copy, turned, turns

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

    from ioukit.viewer.images.thumbnails import Thumbnails


_NEEDED_BY = "ioukit view --images"
_SIDES = (160, 320, 640, 1280)
_QUALITY = 82  # of small copies
_FULL_QUALITY = 92  # of photographs that browsers cannot show
_MOST_BYTES = 1 << 28  # of a file
# What browsers show as it is: the content type and the modes of Pillow.
_SHOWN = {
    "JPEG": ("image/jpeg", ("L", "RGB")),
    "PNG": ("image/png", ("1", "L", "LA", "P", "RGB", "RGBA")),
    "WEBP": ("image/webp", ("RGB", "RGBA")),
    "GIF": ("image/gif", ("L", "P", "RGB", "RGBA")),
}


class MissingPictureError(Exception):
    """A photograph cannot be shown; the text says why, for the reader."""


@dataclass(frozen=True)
class Picture:
    """A picture as a browser gets it."""

    content: bytes
    kind: str
    """The content type."""


class Photographs:
    """The photographs of the images of a data set.

    Args:
        folder: The folder; without one, all are missing.
        names: (I,) the name of each image within the folder.
        sizes: (I, 2) width and height in the data set, NaN if unknown.
        store: Keeps small copies; none are kept if ``None``.
    """

    def __init__(
        self,
        folder: Path | None,
        names: Sequence[str],
        sizes: npt.NDArray[np.float64],
        store: Thumbnails | None = None,
    ) -> None:
        self._folder, self._store = folder, store
        self._names, self._sizes = names, sizes

    def __len__(self) -> int:
        return len(self._names)

    def has(self, at: int) -> bool:
        """Whether there is a file for the image at a position. It may not be a picture."""
        return self._folder is not None and file_within(self._folder, self._names[at]) is not None

    def tag(self, at: int, side: int | None) -> str:
        """A text that changes whenever the picture would change; for the browser and for the store.

        Raises:
            MissingPictureError: If there is no file.
        """
        path = self._path(at)
        try:
            state = path.stat()
        except OSError as error:
            raise MissingPictureError(_reason(error)) from None
        side = None if side is None else _side(side)
        key = ("1", str(path), state.st_mtime_ns, state.st_size, side, self._expected(at))
        return hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest()[:40]

    def small(self, at: int, side: int) -> Picture:
        """A copy of at most ``side`` pixels, or the next larger of a few sizes. It has no EXIF data.

        Raises:
            MissingPictureError: If it cannot be made.
        """
        key = self.tag(at, side)
        known = None if self._store is None else self._store.get(key)
        if known is None:
            known = self._made(at, _side(side))
            if self._store is not None:
                self._store.put(key, known)
        return Picture(known, "image/jpeg")

    def full(self, at: int) -> Picture:
        """The photograph: the bytes of its file if every browser shows them as the data set means them.

        Otherwise (TIFF, BMP, 16 bits per channel, CMYK, another orientation) a JPEG of the same size.

        Raises:
            MissingPictureError: If it cannot be shown.
        """
        path = self._path(at)
        try:
            with opened(path) as file:
                content = file.read(_MOST_BYTES + 1)
            if len(content) > _MOST_BYTES:
                raise MissingPictureError(f"the file has more than {_MOST_BYTES >> 20} MiB")
            image, orientation = picture(io.BytesIO(content), needed_by=_NEEDED_BY)
            size, (kind, modes) = image.size, _SHOWN.get(image.format, ("", ()))
            if kind and image.mode in modes and orientation == 1:
                _check(image)
                return Picture(content, kind)
            whole = as_rgb(image)
            if turns(size, orientation, self._expected(at)):
                whole = turned(whole, orientation)
            return Picture(_jpeg(whole, _FULL_QUALITY), "image/jpeg")
        except Exception as error:  # Pillow raises errors of many kinds
            raise MissingPictureError(_reason(error)) from None

    def words(self, at: int) -> str | None:
        """What a reader should know about the photograph of an image; ``None`` if it is as the data set says."""
        if self._folder is None:
            return None
        try:
            with opened(self._path(at)) as file:
                image, orientation = picture(file, needed_by=_NEEDED_BY)
                width, height = image.size
                _check(image)
        except Exception as error:
            return f"No photograph: {_reason(error)}."
        expected = self._expected(at)
        as_listed = (width, height) == expected or turns((width, height), orientation, expected)
        if as_listed or any(map(math.isnan, expected)):
            return None
        return (
            f"The photograph is {width:,} x {height:,} pixels, the data set says {expected[0]:,g} x {expected[1]:,g}: "
            "what is drawn may be in the wrong place."
        )

    def size(self, at: int) -> tuple[int, int] | None:
        """Width and height of the photograph of an image as it is shown; ``None`` if it cannot be read."""
        try:
            with opened(self._path(at)) as file:
                image, orientation = picture(file, needed_by=_NEEDED_BY)
        except Exception:  # Pillow raises errors of many kinds
            return None
        width, height = image.size
        return (height, width) if turns((width, height), orientation, self._expected(at)) else (width, height)

    def _made(self, at: int, side: int) -> bytes:
        path = self._path(at)
        try:
            small, _ = small_copy(path, side, self._expected(at), needed_by=_NEEDED_BY)
            return _jpeg(small, _QUALITY)
        except Exception as error:
            raise MissingPictureError(_reason(error)) from None

    def _path(self, at: int) -> Path:
        if self._folder is None:
            raise MissingPictureError("no folder of images was given: --images DIR")
        path = file_within(self._folder, self._names[at])
        if path is None:
            raise MissingPictureError("the file is not in the folder of images")
        return path

    def _expected(self, at: int) -> tuple[float, float]:
        width, height = self._sizes[at].tolist()
        return width, height


def _side(side: int) -> int:
    return next((known for known in _SIDES if known >= side), _SIDES[-1])


def _check(image: Any) -> None:
    """Reads all pixels, those of a JPEG at an eighth of its size.

    Raises:
        Exception: Of any kind, if a part is missing or broken.
    """
    image.draft("L", (1, 1))
    image.load()


def _jpeg(image: Any, quality: int) -> bytes:
    file = io.BytesIO()
    image.info.clear()  # EXIF, colour profiles and comments
    image.save(file, "JPEG", quality=quality)
    return file.getvalue()


def _reason(error: Exception) -> str:
    """Why a photograph cannot be shown, without the path of a file."""
    name = type(error).__name__
    if name.startswith("DecompressionBomb"):
        return "its unpacked size is enormous"
    if name == "UnidentifiedImageError":
        return "the file is no picture of a known format (BMP, GIF, JPEG, PNG, TIFF, WebP)"
    if isinstance(error, PermissionError):
        return "the file may not be read"
    if isinstance(error, FileNotFoundError):
        return "the file is not in the folder of images"
    if isinstance(error, ModuleNotFoundError | MissingPictureError):
        return str(error)
    return f"the file cannot be read as a picture ({name})"
