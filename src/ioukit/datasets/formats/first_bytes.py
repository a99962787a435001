"""The first bytes of a file, by which its format is recognised."""

from __future__ import annotations

import gzip
import re
import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["OTHER_JSON", "first_bytes", "last_bytes"]

_LOOK = 1 << 16

OTHER_JSON: dict[str, re.Pattern[bytes]] = {
    "coco-panoptic": re.compile(rb'"segments_info"\s*:'),
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
        if start[:2] == b"\x1f\x8b":
            with gzip.open(path) as unpacked:
                start = unpacked.read(_LOOK)
    except (OSError, EOFError, zlib.error):
        return b""
    return start


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
