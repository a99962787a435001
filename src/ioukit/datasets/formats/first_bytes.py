"""The first bytes of a file, by which its format is recognised."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["OTHER_JSON", "archive_in", "first_bytes", "first_lines", "last_bytes"]

_LOOK = 1 << 16

_ARCHIVES = (
    (b"PK\x03\x04", "a zip file"),
    (b"PK\x05\x06", "an empty zip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file"),
    (b"Rar!", "a rar file"),
)

OTHER_JSON: dict[str, re.Pattern[bytes]] = {
    "coco-panoptic": re.compile(rb'"segments_info"\s*:'),
    "createml": re.compile(rb'"(?:coordinates|imagefilename)"\s*:|^(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"image"\s*:'),
    "labelme": re.compile(rb'"(?:imagePath|imageData|shape_type|shapes)"\s*:'),
    "scalabel": re.compile(
        rb'"(?:box2d|poly2d|videoName|frameIndex|manualShape)"\s*:|"frames"\s*:\s*\['
        rb'|^(?:\xef\xbb\xbf)?\s*\[\s*\{\s*"name"\s*:'
    ),
    "via": re.compile(rb'"(?:_via_img_metadata|_via_settings|shape_attributes|file_attributes)"\s*:'),
}
"""Keys that only files of a format have, by the name of the format, for all JSON formats but COCO's and LVIS's. A
pattern ends with a colon, so that it does not find a value."""


def first_bytes(path: Path) -> bytes:
    """Up to 64 kB from the start of a file, unpacked if gzip packed it.

    They are empty if the file cannot be read, or is not a plain file: a pipe can be read only once.
    """
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            start = file.read(_LOOK)
    except OSError:
        return b""
    return _unpacked(path) if start[:2] == b"\x1f\x8b" else start


def _unpacked(path: Path) -> bytes:
    import gzip  # noqa: PLC0415 - few files are packed
    import zlib  # noqa: PLC0415

    try:
        with gzip.open(path) as file:
            return file.read(_LOOK)
    except (OSError, EOFError, zlib.error):
        return b""


def archive_in(start: bytes) -> str | None:
    """The kind of archive that begins with these bytes, or ``None``. Archives are not read."""
    if start[257:262] == b"ustar":
        return "a tar file"
    return next((kind for magic, kind in _ARCHIVES if start.startswith(magic)), None)


def first_lines(path: Path) -> list[list[str]]:
    """The words of the first lines that have any, as far as they are UTF-8; none if the file cannot be read."""
    lines = first_bytes(path).decode("utf-8-sig", "replace").split("\n")
    return [words for line in lines if (words := line.split())]


def last_bytes(path: Path) -> bytes:
    """Up to 64 kB from the end of a plain file, as they are; empty if the file cannot be read."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size - _LOOK, 0))
            return file.read(_LOOK)
    except OSError:
        return b""
