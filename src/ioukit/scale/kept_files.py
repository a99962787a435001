"""Files that a run keeps: how damage is found, and what is said of it. Arrow files have no checksum of their own."""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import hashlib
import json
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ioukit._optional import import_extra
from ioukit.datasets import IdLists
from ioukit.errors import DatasetError

_CHECKED_BYTES = 1 << 20
"""Bytes of a file that are read at a time for its checksum."""
_OF_THE_MACHINE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO)


@functools.cache
def pyarrow() -> Any:
    """PyArrow. A part asks for it a hundred times, and each import of a module that is there takes 15 us."""
    return import_extra("pyarrow", extra="tables", needed_by="ioukit.scale")


def checksum(path: Path, size: int = sys.maxsize) -> int:
    """The CRC-32 of the first ``size`` bytes of a file."""
    found = 0
    with open(path, "rb", buffering=0) as file:
        while part := file.read(min(size, _CHECKED_BYTES)):
            found, size = zlib.crc32(part, found), size - len(part)
    return found


def with_digest(values: Mapping[str, Any]) -> str:
    """Values as JSON, with a digest of them."""
    text = json.dumps(values)
    return f'{text[:-1]}, "digest": "{_digest(text)}"}}'


def checked_digest(text: str) -> dict[str, Any]:
    """The values of :func:`with_digest`.

    Raises:
        ValueError: If the digest is that of other values.
        KeyError: If there is none.
    """
    values = dict(json.loads(text))
    if values.pop("digest") != _digest(json.dumps(values)):
        raise ValueError("it does not have its digest")
    return values


def digest_of(*tables: Any) -> str:
    """A text that differs if columns of tables do; regions, and names of images, do not count."""
    found = hashlib.blake2b(digest_size=16)
    for table in tables:
        for field in dataclasses.fields(table):
            if field.name not in ("regions", "source", "notes"):
                _add(found, field.name, getattr(table, field.name))
    return found.hexdigest()


def _add(found: Any, name: str, value: Any) -> None:
    if isinstance(value, np.ndarray):
        found.update(f"{name} {value.dtype} {value.shape} ".encode())
        found.update(np.ascontiguousarray(value).view(np.uint8).data if value.size else b"")
    elif isinstance(value, IdLists):
        _add(found, f"{name}.ids", value.ids)
        _add(found, f"{name}.ends", value.ends)
    elif isinstance(value, Mapping):
        for key in sorted(value):
            _add(found, f"{name}.{key}", value[key])
    elif isinstance(value, tuple):
        found.update(repr(value).encode())


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """Says that a file is missing, cut or damaged, if the block cannot read it.

    Raises:
        DatasetError: If so. An error of the machine, such as no memory or too many open files, stays as it is.
    """
    try:
        yield
    except MemoryError:
        raise
    except (pyarrow().ArrowException, OSError, ValueError, KeyError, EOFError) as error:
        if isinstance(error, DatasetError) or getattr(error, "errno", None) in _OF_THE_MACHINE:
            raise
        raise DatasetError(f"{what} missing, cut or damaged: {error}") from None
