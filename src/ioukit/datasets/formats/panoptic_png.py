"""Maps of segment ids from arrays and PNG files, as COCO's panoptic files use them, and PNG files of one channel.

Neighbouring pixels mostly belong to one segment. So a map is read as runs of equal ids: finding their starts takes one
comparison per pixel, and everything else is done per run. The ids of a PNG are computed only for these few pixels.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ioukit._optional import import_extra
from ioukit.errors import DatasetError

HIGHEST_ID = 2**32 - 1
"""The largest id of a segment: two ids make one key of 64 bits."""


class SegmentMap(NamedTuple):
    """The segments of one image."""

    pixels: npt.NDArray[Any]
    """(H, W) integer ids, or (H, W, 3) uint8 colours with the id R + 256 G + 65,536 B."""
    where: str
    """Its name in messages: a file, or an argument and an image."""

    @classmethod
    def of_array(cls, values: object, where: str) -> SegmentMap:
        """The map of an array.

        Raises:
            DatasetError: If it has neither of the two shapes, or does not hold integers.
        """
        pixels = np.asarray(values)
        if pixels.ndim == 3 and pixels.shape[2] == 3 and pixels.dtype == np.uint8:
            return cls(pixels, where)
        if pixels.ndim != 2 or pixels.dtype.kind not in "iu":
            raise DatasetError(
                f"{where}: expected segment ids, (H, W) integers or (H, W, 3) uint8 colours, found an array of shape "
                f"{pixels.shape} and dtype {pixels.dtype}"
            )
        return cls(pixels, where)

    @property
    def size(self) -> tuple[int, int]:
        """Height and width in pixels."""
        height, width = self.pixels.shape[:2]
        return height, width

    def run_starts(self) -> npt.NDArray[np.intp]:
        """Positions of pixels, in the order of rows, whose id differs from that of the pixel before."""
        flat = self.pixels.reshape(-1)
        if self.pixels.ndim == 2:
            return np.flatnonzero(flat[1:] != flat[:-1]) + 1
        return np.flatnonzero(flat[3:] != flat[:-3]) // 3 + 1  # a pixel may be listed for each of its colours

    def ids_at(self, positions: npt.NDArray[np.intp]) -> npt.NDArray[np.uint64]:
        """(P,) ids of the pixels at these positions.

        Raises:
            DatasetError: If an id is negative or does not fit 32 bits.
        """
        if self.pixels.ndim == 3:
            red, green, blue = self.pixels.reshape(-1, 3)[positions].astype(np.uint64).T
            coded: npt.NDArray[np.uint64] = red | green << np.uint64(8) | blue << np.uint64(16)
            return coded
        ids = self.pixels.reshape(-1)[positions]
        wrong = ids[(ids < 0) | (ids > HIGHEST_ID)] if ids.dtype.itemsize > 4 else ids[ids < 0]
        if len(wrong):
            raise DatasetError(f"{self.where}: expected segment ids from 0 (void) to {HIGHEST_ID}, found {wrong[0]}")
        return ids.astype(np.uint64)


def read_png(path: str | os.PathLike[str], where: str) -> SegmentMap:
    """The segments of a PNG file whose colours are ids, as COCO writes them.

    Args:
        path: The file.
        where: The record that names the file, for messages.

    Raises:
        DatasetError: If the file does not exist, or is not a PNG in colour.
        ModuleNotFoundError: If Pillow is not installed.
    """
    image = import_extra("PIL.Image", extra="shapes", needed_by="panoptic segmentation with PNG files")
    try:
        with image.open(path) as opened:
            kind, mode = opened.format, opened.mode
            # Programs that shrink PNG files write few colours as a palette. The colours stay the same.
            pixels = np.asarray(opened.convert("RGB") if mode in ("P", "RGBA") else opened)
    except FileNotFoundError:
        raise DatasetError(f"{where}.file_name: there is no file {os.fspath(path)}") from None
    except Exception as error:  # for a broken file, Pillow may raise errors of many kinds
        raise DatasetError(f"{where}.file_name: {os.fspath(path)} cannot be read as a PNG: {error}") from None
    if kind != "PNG" or pixels.ndim != 3 or pixels.dtype != np.uint8:
        raise DatasetError(
            f"{where}.file_name: expected a PNG with 8 bits of red, green and blue, found {kind} of mode {mode} in "
            f"{os.fspath(path)}"
        )
    return SegmentMap(pixels, os.fspath(path))


def read_label_png(path: str | os.PathLike[str], where: str, *, needed_by: str) -> npt.NDArray[Any]:
    """(H, W) the integers in a PNG file of one channel; with a palette, the numbers and not the colours.

    Pixels of 1 bit are 0 or 1.

    Args:
        path: The file.
        where: What messages call it.
        needed_by: What needs Pillow, for the message if it is not installed.

    Raises:
        DatasetError: If the file is not such a PNG.
        FileNotFoundError: If there is none.
        ModuleNotFoundError: If Pillow is not installed.
    """
    image = import_extra("PIL.Image", extra="shapes", needed_by=needed_by)
    try:
        with image.open(path) as opened:
            kind, mode = opened.format, opened.mode
            pixels: npt.NDArray[Any] = np.asarray(opened, np.uint8 if mode == "1" else None)
    except FileNotFoundError:
        raise
    except Exception as error:  # for a broken file, Pillow may raise errors of many kinds
        raise DatasetError(f"{where} cannot be read as a PNG: {error}") from None
    if kind != "PNG" or pixels.ndim != 2 or pixels.dtype.kind not in "iu":
        raise DatasetError(f"{where}: expected a PNG of one channel, found {kind} of mode {mode}")
    return pixels
