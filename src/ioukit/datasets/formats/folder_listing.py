"""What lies in a folder, for recognisers: all of them ask about the same folder, which may have 100,000 files."""

from __future__ import annotations

import functools
import os
import time
from pathlib import Path
from typing import NamedTuple

__all__ = ["count_of", "counts_in", "first_file", "first_words"]

_SETTLED = 2_000_000_000
"""Nanoseconds after which a change of a folder would have another time: file systems count in steps."""


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


def counts_in(folder: Path) -> dict[str, int]:
    """How many files have names with each end, such as ``.json``."""
    return dict(_listing(folder).counts)


def first_words(folder: Path) -> list[str]:
    """The words of the first line with any, in the text files of a folder by name. Lists of classes are left out.

    There are none if a file before it is not text.
    """
    try:
        changed = folder.stat().st_mtime_ns
        read = _first_words if time.time_ns() - changed > _SETTLED else _first_words.__wrapped__
        return list(read(os.fspath(folder), changed))
    except (OSError, UnicodeDecodeError):
        return []


@functools.lru_cache(maxsize=32)
def _first_words(folder: str, changed: int) -> tuple[str, ...]:  # noqa: ARG001 - as below
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".txt") or name == "classes.txt":
            continue
        with open(os.path.join(folder, name), encoding="utf-8-sig") as lines:
            words = next((line.split() for line in lines if line.strip()), None)
        if words is not None:
            return tuple(words)
    return ()


def _listing(folder: Path) -> _Listing:
    try:
        changed = folder.stat().st_mtime_ns
        read = _read if time.time_ns() - changed > _SETTLED else _read.__wrapped__
        return read(os.fspath(folder), changed)
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
