"""Records in files of a temporary folder, and which of them a task reads."""

from __future__ import annotations

import os
import uuid
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

__all__ = ["Slice", "concatenated", "read_slices", "total", "write_array"]


class Slice(NamedTuple):
    """Some records of a file, one after the other."""

    path: str
    start: int
    length: int


def write_array(path: str, array: NDArray[Any]) -> None:
    """Writes the items of an array. The file appears complete, so a task that runs twice does no harm.

    Raises:
        OSError: If the disk is full; the error names the file.
    """
    unfinished = f"{path}.{uuid.uuid4().hex[:8]}"
    try:
        with open(unfinished, "wb") as file:
            if array.size:
                file.write(np.ascontiguousarray(array).view(np.uint8).data)
        os.replace(unfinished, path)
    except OSError as error:
        if os.path.exists(unfinished):
            os.unlink(unfinished)
        raise OSError(error.errno, f"{error.strerror} while writing to the work folder", path) from None


def concatenated(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """The records of all parts, of one dtype: `numpy.concatenate` copies records field by field, which is slow."""
    items = np.empty(sum(map(len, parts)), parts[0].dtype)
    whole = items.view(np.dtype((np.void, items.itemsize)))
    np.concatenate([part.view(whole.dtype) for part in parts], out=whole)
    return items


def read_slices(slices: Iterable[Slice], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The items of all slices, one slice after the other."""
    slices = list(slices)
    items = np.empty(total(slices), dtype)
    place = 0
    for path, start, count in slices:
        if not count:
            continue
        part = np.fromfile(path, dtype, count, offset=start * dtype.itemsize)
        if len(part) != count:
            raise OSError(f"{path} was cut short: it has {start + len(part)} records, expected {start + count}")
        items[place : place + count] = part
        place += count
    return items


def total(slices: Iterable[Slice]) -> int:
    """How many items the slices have."""
    return sum(part.length for part in slices)
