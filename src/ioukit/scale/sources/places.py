"""Where files are: paths, folders, patterns, and addresses of object stores.

Local files are found by Python: PyArrow's file systems refuse names that are not UTF-8, and know no patterns.
"""

from __future__ import annotations

import dataclasses
import functools
import glob
import os
import re
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from ioukit._optional import import_extra
from ioukit.datasets.formats.table_sources import first_line
from ioukit.errors import DatasetError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_PATTERN = re.compile(r"[*?\[]")
_RETRY = "retry_limit_seconds"
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclasses.dataclass(frozen=True)
class FilePlace:
    """A file, here or in a store, and the columns that the names of its folders give."""

    path: str
    """The path or the address, for messages."""
    size: int
    """In bytes."""
    changed: int
    """When it was changed, in nanoseconds since 1970."""
    folders: Mapping[str, str] = dataclasses.field(default_factory=dict)
    """Name and value of each folder ``name=value`` on the way to the file; ``""`` is no value."""
    address: str | None = None
    """An address of the store, from which its file system is made; ``None`` for a local file."""
    inner: str = ""
    """The path within the store."""

    def open(self) -> Any:
        """The file, open for reading: a file of PyArrow.

        Raises:
            DatasetError: If there is no such file, or the store cannot be reached.
        """
        arrow = import_extra("pyarrow", extra="tables", needed_by="reading from object stores")
        try:
            if self.address is None:
                return arrow.OSFile(os.fsencode(self.path), "rb")
            return _store(self.address, os.getpid())[0].open_input_file(self.inner)
        except (OSError, ValueError) as error:
            raise DatasetError(f"{self.path}: cannot be read: {first_line(error)}") from None


def find_files(given: str | os.PathLike[str]) -> list[FilePlace]:
    """The files at a path, in a folder, of a pattern such as ``results/*.parquet``, or at an address, sorted by name.

    Names that begin with ``_`` or ``.`` are left out in folders and patterns, as in Hive, Spark and PyArrow.

    Raises:
        DatasetError: If nothing is there.
        ModuleNotFoundError: If an address needs a package that is not installed.
    """
    text = os.fspath(given)
    found = [
        dataclasses.replace(file, folders=_columns_of(below))
        for below, file in (_in_store(text) if _ADDRESS.match(text) else _local(text))
        if not any(part.startswith(("_", ".")) and "=" not in part for part in below.split("/"))
    ]
    if not found:
        raise DatasetError(f"{text}: expected files in this folder or of this pattern, found none")
    return sorted(found, key=lambda file: file.path)


def _local(text: str) -> Iterator[tuple[str, FilePlace]]:
    """Files, each behind its path below the folder or the fixed part of the pattern; ``""`` for a single file."""
    folder = None
    if os.path.isdir(text):
        folder, paths = text, [os.path.join(place, name) for place, _, names in os.walk(text) for name in names]
    elif os.path.exists(text):
        paths = [text]
    elif _PATTERN.search(text):
        folder, paths = os.path.dirname(_PATTERN.split(text)[0]) or ".", glob.glob(text, recursive=True)
    else:
        raise DatasetError(f"{text}: expected a file, a folder or a pattern such as *.parquet, found nothing there")
    for path in paths:
        if folder is None or os.path.isfile(path):
            about = os.stat(path)
            below = "" if folder is None else os.path.relpath(path, folder).replace(os.sep, "/")
            yield below, FilePlace(path, about.st_size, about.st_mtime_ns)


def _in_store(address: str) -> Iterator[tuple[str, FilePlace]]:
    """The same for an address; what follows a ``?`` are options of the store."""
    named, _, options = address.partition("?")
    folder = named.partition("*")[0].rpartition("/")[0] if "*" in named else named
    base = f"{folder}?{options}" if options else folder
    arrow_fs = import_extra("pyarrow.fs", extra="tables", needed_by="reading from object stores")
    store, inner = _store(base, os.getpid())
    try:
        about = store.get_file_info([inner])[0]
        if about.type == arrow_fs.FileType.NotFound:
            raise DatasetError(f"{address}: expected a file or a folder, found nothing there")
        listed = [about] if about.is_file else store.get_file_info(arrow_fs.FileSelector(inner, recursive=True))
    except OSError as error:
        raise DatasetError(f"{address}: cannot be read: {first_line(error)}") from None
    pattern = _matching(named[len(folder) :].lstrip("/") or "**")
    for about in listed:
        below = about.path.removeprefix(inner).lstrip("/")
        if about.is_file and pattern.fullmatch(below):
            path = f"{folder.rstrip('/')}/{below}".rstrip("/")
            yield below, FilePlace(path, about.size, about.mtime_ns or 0, address=base, inner=about.path)


@functools.lru_cache(maxsize=16)  # a client connects, and asks for credentials, once
def _store(address: str, process: int) -> tuple[Any, str]:  # noqa: ARG001 - clients do not survive a fork
    """The file system of an address, and the path in it: of PyArrow, else of fsspec."""
    arrow_fs = import_extra("pyarrow.fs", extra="tables", needed_by="reading from object stores")
    if address.startswith(("gs://", "gcs://")) and _RETRY not in address:  # else it tries for a quarter of an hour
        address += f"{'&' if '?' in address else '?'}{_RETRY}=30"
    try:
        return arrow_fs.FileSystem.from_uri(address)  # type: ignore[no-any-return]
    except (ValueError, NotImplementedError) as first:
        try:
            fsspec = import_extra("fsspec", extra="fsspec", needed_by=f"reading {address.partition(':')[0]}://")
            store, inner = fsspec.core.url_to_fs(address)
        except (ValueError, ImportError, OSError) as error:
            raise DatasetError(
                f"{address}: expected an address that PyArrow or fsspec can read: {first_line(first)}; "
                f"{first_line(error)}"
            ) from None
        return arrow_fs.PyFileSystem(arrow_fs.FSSpecHandler(store)), inner


def _matching(pattern: str) -> re.Pattern[str]:
    """A pattern of paths in a store: ``*`` stays within a folder, ``**`` does not."""
    meanings = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in re.split(r"(\*\*/|\*\*|\*)", pattern)))


def _columns_of(path: str) -> dict[str, str]:
    """Names and values of the folders of a path such as ``split=val/camera=3/0.parquet``."""
    pairs = [part.split("=", 1) for part in path.split("/")[:-1] if "=" in part[1:]]
    return {name: "" if text == _NO_VALUE else urllib.parse.unquote(text) for name, text in pairs}
