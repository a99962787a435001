"""Files that need not be regular: pipes and devices, of which nobody knows when they end.

Owns: reading them by Python, which Ctrl-C and SIGTERM interrupt while it waits, and a bound for those without an end.
Does not own: regular files of data, which the core reads. It refuses others, and asks `read_parts` where the path of a
user may be a pipe, as standard input is.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator

_AT_ONCE = 1 << 20
_MOST_OF_A_DEVICE = 1 << 26
"""Bytes. Of the devices that a user may name, a terminal and ``/dev/null`` give less, and ``/dev/zero`` never ends."""
_MOST_OF_A_PIPE = 1 << 33
"""Bytes: more than the results of 50 million detections."""


def read_all(path: str | os.PathLike[str]) -> bytes:
    """All bytes of a file, a pipe or a device.

    Raises:
        DatasetError: If there is no end in sight.
        OSError: If it cannot be read.
    """
    return b"".join(read_parts(path))


def read_parts(path: str | os.PathLike[str]) -> Iterator[bytes]:
    """What :func:`read_all` reads, in parts."""
    with open(path, "rb", buffering=0) as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISREG(mode):
            yield file.readall()
            return
        most = _MOST_OF_A_DEVICE if stat.S_ISCHR(mode) else _MOST_OF_A_PIPE
        while part := file.read(_AT_ONCE):
            most -= len(part)
            if most < 0:
                kind, bound = ("a device", "64 MB") if stat.S_ISCHR(mode) else ("a pipe", "8 GB")
                raise DatasetError(f"{os.fspath(path)}: expected {kind} that ends, found more than {bound}")
            yield part
