"""Connections to the file of a ledger, each for one transaction.

The file has a rollback journal, which is SQLite's default, and not a write-ahead log (WAL). A WAL needs memory that all
processes share, which network folders do not have, and finished runs would lie in a second file until it is merged, so
that a copy of the ledger alone could lack them. With a rollback journal, one file holds all finished runs at any time.
Its price is that a reader waits while a writer commits. That takes milliseconds, as everything is computed before the
transaction begins.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ioukit.errors import DatasetError
from ioukit.ledger import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["check_writable", "reading", "writing"]

_HEADER = b"SQLite format 3\0"


@contextlib.contextmanager
def reading(path: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """A connection within a transaction that only reads. An older ledger is brought up to date before.

    Raises:
        DatasetError: If the file is not a ledger, is damaged, or was written by a later version.
        OSError: If the file cannot be read, or is in use for longer than `timeout` seconds.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such ledger (`ioukit eval --log FILE` makes one)", path)
    with _explained(path, timeout), contextlib.ExitStack() as stack:
        db = stack.enter_context(_connected(path, timeout, create=False))
        db.execute("BEGIN")
        version = _version(db, path)
        if version < schema.VERSION:
            db.execute("ROLLBACK")
            db = stack.enter_context(_brought_up_to_date(db, path))
            db.execute("BEGIN")
        yield db


@contextlib.contextmanager
def writing(path: str, timeout: float, *, create: bool) -> Iterator[sqlite3.Connection]:
    """A connection within a transaction that is committed if the block ends without an error.

    Args:
        path: The file; it is made if it does not exist and `create` is true.
        timeout: How many seconds to wait for other processes.
        create: Whether to make the file.

    Raises:
        DatasetError: As :func:`reading`.
        OSError: If the file cannot be written, or is in use for longer than `timeout` seconds.
    """
    if not create and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, "there is no such ledger", path)
    with _explained(path, timeout), _connected(path, timeout, create=create) as db:
        db.execute("BEGIN IMMEDIATE")
        version = _version(db, path)
        if version < schema.VERSION:
            schema.bring_up_to_date(db, version)
        yield db
        db.execute("COMMIT")


def check_writable(path: str, timeout: float) -> None:
    """Raises the errors of :func:`writing`, as far as they are known before. Makes and changes no file."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(errno.EACCES, "its folder does not let files be written, which a ledger needs", path)
    if not os.path.exists(path):
        return
    with _explained(path, timeout), _connected(path, timeout, create=False) as db:
        db.execute("BEGIN IMMEDIATE")
        _version(db, path)


@contextlib.contextmanager
def _connected(path: str, timeout: float, *, create: bool) -> Iterator[sqlite3.Connection]:
    _check_file(path)
    # A URI, because it alone says that a file must not be made, and because it takes names that are not UTF-8.
    uri = f"{Path(path).absolute().as_uri()}?mode={'rwc' if create else 'rw'}"
    db = sqlite3.connect(uri, timeout=timeout, isolation_level=None, uri=True)
    try:
        db.execute("PRAGMA trusted_schema = OFF")  # what a foreign file defines calls no function
        db.execute("PRAGMA cell_size_check = ON")
        db.execute("PRAGMA synchronous = EXTRA")  # a commit also outlives a loss of power
        yield db
    finally:
        db.close()  # an open transaction is rolled back


def _check_file(path: str) -> None:
    """Refuses what SQLite would take, or would complain about without a reason."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {os.path.dirname(path)}", path) from None
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, "expected the file of a ledger, found a folder", path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "expected the file of a ledger, found a pipe or a device", path)
    if found.st_size:
        with open(path, "rb") as file:
            start = file.read(len(_HEADER))
        if start != _HEADER:
            raise DatasetError(f"{path}: expected a ledger of ioukit, found a file that is not a database of SQLite")


def _version(db: sqlite3.Connection, path: str) -> int:
    """The version of the ledger, within a transaction, so that no other process writes.

    SQLite takes a last page that is cut for one that ends with zeros, so its size is compared here.
    """
    version = schema.version_of(db, path)
    (mode,), (pages,), (size,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "page_count", "page_size")
    )
    if version and mode != "wal" and os.path.getsize(path) < pages * size:
        raise DatasetError(f"{path}: the ledger is damaged: the file is cut, {pages * size:,} bytes were expected")
    return version


@contextlib.contextmanager
def _brought_up_to_date(db: sqlite3.Connection, path: str) -> Iterator[sqlite3.Connection]:
    """The same ledger in the version of this program: the file itself, or a copy in memory if it cannot be written."""
    try:
        db.execute("BEGIN IMMEDIATE")
        schema.bring_up_to_date(db, schema.version_of(db, path))
        db.execute("COMMIT")
    except sqlite3.OperationalError as error:
        if db.in_transaction:
            db.execute("ROLLBACK")
        if "readonly" not in str(error) and "unable to open" not in str(error):
            raise
        with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as copy:
            db.backup(copy)
            copy.execute("BEGIN")
            schema.bring_up_to_date(copy, schema.version_of(copy, path))
            copy.execute("COMMIT")
            yield copy
    else:
        yield db


@contextlib.contextmanager
def _explained(path: str, timeout: float) -> Iterator[None]:
    """Turns the errors of SQLite into those of Python, with the name of the file."""
    try:
        yield
    except (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # a defect of ioukit
    except sqlite3.Error as error:
        _raise(error, path, timeout)
    except UnicodeDecodeError as error:  # of SQLite's own message
        raise DatasetError(f"{path}: the ledger is damaged: {error}") from error


def _raise(error: sqlite3.Error, path: str, timeout: float) -> NoReturn:
    text = str(error)
    if "locked" in text:
        raise TimeoutError(
            errno.ETIMEDOUT, f"another program uses the ledger for more than {timeout:g} s", path
        ) from error
    if "readonly" in text:
        raise PermissionError(errno.EACCES, "the ledger cannot be written: the file or its folder is read-only", path)
    if "unable to open" in text:
        raise PermissionError(errno.EACCES, "the ledger cannot be opened: may the file and its folder be used?", path)
    if "is full" in text:
        raise OSError(errno.ENOSPC, "the ledger cannot be written: the disk is full; it is as it was", path) from error
    if "I/O" in text:
        raise OSError(
            errno.EIO, f"the ledger cannot be read or written: {text}; is the disk full? It is as it was", path
        ) from error
    raise DatasetError(f"{path}: the ledger is damaged: {text}") from error
