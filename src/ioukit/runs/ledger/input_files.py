"""Hashes of the files that an evaluation was made of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_IMAGES = frozenset((".jpg", ".jpeg", ".png", ".bmp", ".webp", ".tif", ".tiff", ".gif", ".mp4", ".avi", ".mov"))
_PIECE = 1 << 20


class InputFile(NamedTuple):
    """A file or folder that an evaluation was made of."""

    role: str
    """What it was, such as ``"ground_truth"`` or ``"detections"``."""
    name: str
    """Its name, without the folder that it lies in."""
    sha256: str | None
    """The SHA-256 of its bytes, as 64 hexadecimal digits. For a folder, see :meth:`ioukit.runs.Ledger.add`. ``None``
    if it could not be read a second time, as a pipe."""
    size: int | None
    """Its bytes; for a folder, those of all files in it. ``None`` as above."""


def hashed_inputs(paths: Mapping[str, str | os.PathLike[str]]) -> tuple[InputFile, ...]:
    """The hashes of files and folders by their roles.

    Raises:
        OSError: If one does not exist or cannot be read.
    """
    return tuple(_hashed(role, os.fspath(path)) for role, path in paths.items())


def _hashed(role: str, path: str) -> InputFile:
    name = _stored(os.path.basename(os.path.abspath(path)))
    if os.path.isdir(path):
        return InputFile(role, name, *_folder(path))
    if os.path.exists(path) and not os.path.isfile(path):
        return InputFile(role, "-" if name == "stdin" else name, None, None)
    return InputFile(role, name, *_file(path))


def _file(path: str) -> tuple[str, int]:
    import hashlib  # noqa: PLC0415 - listing runs does not need it

    found, size = hashlib.sha256(), 0
    with open(path, "rb") as file:
        while piece := file.read(_PIECE):
            found.update(piece)
            size += len(piece)
    return found.hexdigest(), size


def _folder(path: str) -> tuple[str, int]:
    """The hash of the sorted names, sizes and hashes of all files in a folder; of images, the names and sizes."""
    import hashlib  # noqa: PLC0415 - as above

    found, total = hashlib.sha256(), 0
    for inside, size, sha256 in sorted(_files_of(path)):
        found.update(b"%s\0%d\0%s\n" % (inside, size, sha256.encode()))
        total += size
    return found.hexdigest(), total


def _files_of(path: str) -> Iterator[tuple[bytes, int, str]]:
    for folder, _, names in os.walk(path):
        for name in names:
            file = os.path.join(folder, name)
            inside = os.fsencode(os.path.relpath(file, path).replace(os.sep, "/"))
            if not os.path.isfile(file):  # a pipe, or a link to a file that is gone
                continue
            if os.path.splitext(name)[1].lower() in _IMAGES:
                yield inside, os.path.getsize(file), ""
            else:
                sha256, size = _file(file)
                yield inside, size, sha256


def _stored(name: str) -> str:
    """A name of a file as UTF-8 can hold it."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8")
