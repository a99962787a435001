"""Where files are: paths, folders, patterns, and addresses of object stores."""

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
from ioukit.errors import DatasetError

_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
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
    address: str | None = None
    """An address of the store, from which its file system is made; ``None`` for a local file."""
    inner: str = ""
    """The path within the store."""
    partition: tuple[tuple[str, str | None], ...] = ()
    """Name and value of each folder ``name=value`` on the way to the file."""

    @property
    def lines(self) -> bool | None:
        """Whether the name says that each line is a record; ``None`` if it does not."""
        name = self.path.lower().removesuffix(".gz")
        return True if name.endswith((".jsonl", ".ndjson")) else None

    @property
    def is_local(self) -> bool:
        """Whether the file has a path in the local file system."""
        return self.address is None

    def open(self) -> Any:
        """The file, open for reading: a file of PyArrow.

        Raises:
            DatasetError: If there is no such file, or the store cannot be reached.
        """
        arrow = import_extra("pyarrow", extra="tables", needed_by="reading from object stores")
        try:
            if self.address is None:
                return arrow.OSFile(self.path, "rb")
            return _store(self.address, os.getpid())[0].open_input_file(self.inner)
        except (arrow.ArrowException, OSError) as error:
            raise DatasetError(f"{self.path}: cannot be read: {_first_line(error)}") from None


def find_files(given: str | os.PathLike[str]) -> list[FilePlace]:
    """The files at a path, in a folder, of a pattern such as ``results/*.parquet``, or at an address, sorted by name.

    Names in folders that begin with ``_`` or ``.`` are left out, as in Hive, Spark and PyArrow.

    Raises:
        DatasetError: If nothing is there.
        ModuleNotFoundError: If an address needs a package that is not installed.
    """
    text = os.fspath(given)
    found = list(_in_store(text) if _ADDRESS.match(text) else _local(text))
    if not found:
        what = "a folder with files" if not _is_pattern(text) else "files of this pattern"
        raise DatasetError(f"{text}: expected {what}, found none")
    return sorted(found, key=lambda file: file.path)


def _local(text: str) -> Iterator[FilePlace]:
    if os.path.isdir(text):
        for folder, folders, names in os.walk(text):
            folders[:] = [name for name in folders if not _is_hidden(name)]
            for name in names:
                if not _is_hidden(name):
                    path = os.path.join(folder, name)
                    yield _local_file(path, os.path.relpath(folder, text))
    elif os.path.exists(text):
        yield _local_file(text, "")
    elif _is_pattern(text):
        root = re.split(r"[*?\[]", text, maxsplit=1)[0].rpartition(os.sep)[0] or "."
        for path in glob.glob(text, recursive=True):
            if os.path.isfile(path):
                yield _local_file(path, os.path.relpath(os.path.dirname(path) or ".", root))
    else:
        raise DatasetError(f"{text}: expected a file, a folder or a pattern such as *.parquet, found nothing there")


def _local_file(path: str, folder: str) -> FilePlace:
    about = os.stat(path)
    return FilePlace(path, about.st_size, about.st_mtime_ns, partition=_partition(folder))


def _in_store(address: str) -> Iterator[FilePlace]:
    head, _, query = address.partition("?") if not _is_pattern(address.partition("?")[0]) else (address, "", "")
    root = re.split(r"[*\[]", head, maxsplit=1)[0].rpartition("/")[0] if _is_pattern(head) else head
    base = f"{root}?{query}" if query else root
    arrow_fs = import_extra("pyarrow.fs", extra="tables", needed_by="reading from object stores")
    store, inner = _store(base, os.getpid())
    try:
        about = store.get_file_info([inner])[0]
        if about.type == arrow_fs.FileType.NotFound:
            raise DatasetError(f"{address}: expected a file or a folder, found nothing there")
        if about.is_file:
            yield FilePlace(head, about.size, about.mtime_ns or 0, base, inner)
            return
        listed = store.get_file_info(arrow_fs.FileSelector(inner, recursive=True))
    except OSError as error:
        raise DatasetError(f"{address}: cannot be read: {_first_line(error)}") from None
    pattern = _matching(head[len(root) :].lstrip("/")) if _is_pattern(head) else None
    for about in listed:
        below = about.path.removeprefix(inner).lstrip("/")
        folder, _, name = below.rpartition("/")
        hidden = _is_hidden(name) or any(map(_is_hidden, folder.split("/")))
        if about.is_file and not hidden and (pattern is None or pattern.fullmatch(below)):
            path, changed = f"{root.rstrip('/')}/{below}", about.mtime_ns or 0
            yield FilePlace(path, about.size, changed, base, about.path, _partition(folder))


@functools.lru_cache(maxsize=16)  # a client connects, and asks for credentials, once
def _store(address: str, process: int) -> tuple[Any, str]:  # noqa: ARG001 - clients do not survive a fork
    """The file system of an address, and the path in it: of PyArrow, else of fsspec."""
    arrow = import_extra("pyarrow", extra="tables", needed_by="reading from object stores")
    arrow_fs = import_extra("pyarrow.fs", extra="tables", needed_by="reading from object stores")
    if address.startswith(("gs://", "gcs://")) and _RETRY not in address:  # else it tries for a quarter of an hour
        address += f"{'&' if '?' in address else '?'}{_RETRY}=30"
    try:
        return arrow_fs.FileSystem.from_uri(address)  # type: ignore[no-any-return]
    except (arrow.ArrowException, NotImplementedError) as first:
        try:
            fsspec = import_extra("fsspec", extra="fsspec", needed_by=f"reading {address.partition(':')[0]}://")
            store, inner = fsspec.core.url_to_fs(address)
        except (ValueError, ImportError, OSError) as error:
            raise DatasetError(
                f"{address}: expected an address that PyArrow or fsspec can read: {_first_line(first)}; "
                f"{_first_line(error)}"
            ) from None
        return arrow_fs.PyFileSystem(arrow_fs.FSSpecHandler(store)), inner


def _is_pattern(text: str) -> bool:
    return any(sign in text for sign in "*[") or ("?" in text and not _ADDRESS.match(text))


def _matching(pattern: str) -> re.Pattern[str]:
    """A pattern of paths: ``*`` stays within a folder, ``**`` does not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", pattern)
    meanings: Mapping[str, str] = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meanings.get(part, re.escape(part)) for part in parts))


def _is_hidden(name: str) -> bool:
    return name.startswith(("_", ".")) and "=" not in name


def _partition(folder: str) -> tuple[tuple[str, str | None], ...]:
    """Names and values of folders such as ``split=val/camera=3``."""
    found: dict[str, str | None] = {}
    for part in folder.replace(os.sep, "/").split("/"):
        name, sign, value = part.partition("=")
        if sign and name:
            found[name] = None if value == _NO_VALUE else urllib.parse.unquote(value)
    return tuple(found.items())


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
