"""What recognisers of formats look at: the first and the last bytes of a file, and the names in a folder.

Every recogniser is asked about every path, so a folder of 100,000 files is listed once: listings are kept until the
folder changes. A file is never read as a whole, and a pipe not at all.
"""

from __future__ import annotations

import functools
import os
import re
import time
from pathlib import Path
from typing import NamedTuple, TypeVar

T = TypeVar("T")

_LOOK = 1 << 16

_ARCHIVES = (
    (b"PK\x03\x04", "a zip file"),
    (b"PK\x05\x06", "an empty zip file"),
    (b"BZh", "a bzip2 file"),
    (b"\xfd7zXZ\x00", "an xz file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z file"),
    (b"Rar!", "a rar file"),
)


class _Keys:
    """What only files of a format have: keys anywhere, or a start.

    These are two patterns because the module ``re`` looks for the first letter of a pattern, if there is one. A pattern
    of keys or a start has none, and took ten times as long.
    """

    def __init__(self, anywhere: bytes | None, start: bytes | None = None) -> None:
        self._anywhere = None if anywhere is None else re.compile(anywhere)
        self._start = None if start is None else re.compile(rb"(?:\xef\xbb\xbf)?\s*" + start)

    def search(self, text: bytes) -> bool:
        """Whether the first bytes of a file have the keys or the start."""
        if self._start is not None and self._start.match(text):
            return True
        return self._anywhere is not None and self._anywhere.search(text) is not None


OTHER_JSON: dict[str, _Keys] = {
    "answers": _Keys(None, rb'\{[^\n]*"answer"\s*:'),
    "burst": _Keys(
        rb'"(?:annotated_image_paths|all_image_paths|track_category_ids)"\s*:',
        rb'\{\s*"sequences"\s*:',
    ),
    "coco-panoptic": _Keys(rb'"segments_info"\s*:'),
    "createml": _Keys(rb'"(?:coordinates|imagefilename)"\s*:', rb'\[\s*\{\s*"image"\s*:'),
    "labelme": _Keys(rb'"(?:imagePath|imageData|shape_type|shapes)"\s*:'),
    "nuscenes": _Keys(rb'"results"\s*:\s*\{|"detection_name"\s*:'),
    "scalabel": _Keys(
        rb'"(?:box2d|poly2d|videoName|frameIndex|manualShape)"\s*:|"frames"\s*:\s*\[',
        rb'\[\s*\{\s*"name"\s*:',
    ),
    "via": _Keys(rb'"(?:_via_img_metadata|_via_settings|shape_attributes|file_attributes)"\s*:'),
    "youtube-vis": _Keys(rb'"(?:segmentations|file_names)"\s*:\s*\['),
}
"""Keys that only files of a format have, by the name of the format, for all JSON formats but COCO's and LVIS's. A
pattern ends with a colon, so that it does not find a value."""
_SETTLED = 2_000_000_000
"""Nanoseconds after which a change of a folder would have another time: file systems count in steps."""


def first_bytes(path: Path) -> bytes:
    """Up to 64 kB from the start of a file, unpacked if gzip packed it.

    They are empty if the file cannot be read, or is not a plain file: a pipe can be read only once.
    """
    start = _bytes_at(path, 0)
    if start[:2] != b"\x1f\x8b":
        return start
    import gzip  # noqa: PLC0415 - few files are packed
    import zlib  # noqa: PLC0415

    try:
        with gzip.open(path) as file:
            return file.read(_LOOK)
    except (OSError, EOFError, zlib.error):
        return b""


def _bytes_at(path: Path, place: int) -> bytes:
    """Up to 64 kB of a plain file, from a place, or so many bytes before its end if that is negative."""
    try:
        if not path.is_file():
            return b""
        with path.open("rb") as file:
            file.seek(max(path.stat().st_size + place, 0) if place < 0 else place)
            return file.read(_LOOK)
    except OSError:
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
    return _bytes_at(path, -_LOOK)


class _Listing(NamedTuple):
    first: dict[str, str]
    """The first name for each end of names, such as ``.json``, in lower case."""
    counts: dict[str, int]
    folders: tuple[str, ...]


def count_of(folder: Path, suffix: str) -> int:
    """How many files of the folder have names with this end, such as ``.json``; 0 if the folder cannot be read."""
    return _listing(folder).counts.get(suffix, 0)


def first_file(folder: Path, suffix: str, *, depth: int = 1) -> Path | None:
    """The first file by name whose name has this end, or ``None``. Hidden files are not looked at.

    Args:
        folder: Where to look.
        suffix: The end of the name in lower case, such as ``.json``.
        depth: If there is none in the folder, the folders inside are asked, up to this depth; 1 asks only the folder.
    """
    level = [folder]
    for _ in range(depth):
        inner: list[Path] = []
        for place in level:
            listed = _listing(place)
            if suffix in listed.first:
                return place / listed.first[suffix]
            inner += [place / name for name in listed.folders]
        level = inner
    return None


def names_in(folder: str | os.PathLike[str], pattern: str) -> list[str]:
    """The names in a folder that fit a pattern with one star, such as ``*.txt``, sorted.

    Folders inside are not searched. The end may be in capitals, as some systems write it: ``A.TXT`` is a text file.
    """
    start, end = pattern.split("*")
    return sorted(name for name in os.listdir(folder) if name.startswith(start) and name.lower().endswith(end))


def counts_in(folder: Path) -> dict[str, int]:
    """How many files have names with each end, such as ``.json``."""
    return dict(_listing(folder).counts)


def first_words(folder: Path) -> list[str]:
    """The words of the first line with any, in the text files of a folder by name. Lists of classes are left out.

    There are none if a file before it is not text, or is a pipe or a device, whose reading might never end.
    """
    try:
        return list(_kept_until_it_changes(_first_words, folder))
    except (OSError, UnicodeDecodeError):
        return []


@functools.lru_cache(maxsize=32)
def _first_words(folder: str, changed: int) -> tuple[str, ...]:  # noqa: ARG001 - as below
    for name in names_in(folder, "*.txt"):
        if name == "classes.txt":
            continue
        path = os.path.join(folder, name)
        if not os.path.isfile(path):
            return ()
        with open(path, encoding="utf-8-sig") as lines:
            words = next((line.split() for line in lines if line.strip()), None)
        if words is not None:
            return tuple(words)
    return ()


def _kept_until_it_changes(read: functools._lru_cache_wrapper[T], folder: Path) -> T:
    """What a function with a memory reads of a folder; read again if the folder has changed or was changed just now."""
    changed = folder.stat().st_mtime_ns
    chosen = read if time.time_ns() - changed > _SETTLED else read.__wrapped__
    return chosen(os.fspath(folder), changed)


def _listing(folder: Path) -> _Listing:
    try:
        return _kept_until_it_changes(_read, folder)
    except OSError:
        return _Listing({}, {}, ())


@functools.lru_cache(maxsize=32)
def _read(folder: str, changed: int) -> _Listing:  # noqa: ARG001 - another time of change is another listing
    first: dict[str, str] = {}
    counts: dict[str, int] = {}
    folders = []
    with os.scandir(folder) as entries:
        for entry in entries:
            name = entry.name
            if name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(name)
                continue
            suffix = os.path.splitext(name)[1].lower()
            counts[suffix] = counts.get(suffix, 0) + 1
            if suffix not in first or name < first[suffix]:
                first[suffix] = name
    return _Listing(first, counts, tuple(sorted(folders)))
