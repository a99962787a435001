"""Files of SQLite that ioukit writes, such as a ledger: their versions, and connections for one transaction each.

A file has a rollback journal, which is SQLite's default, and not a write-ahead log (WAL). A WAL needs memory that all
processes share, which network folders do not have, and what is committed would lie in a second file until it is merged,
so that a copy of the file alone could lack it. With a rollback journal, one file holds all that is committed at any
time. Its price is that a reader waits while a writer commits. That takes milliseconds, as everything is computed before
the transaction begins.
"""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    from collections.abc import Iterator


Step: TypeAlias = Callable[[sqlite3.Connection], None]

_HEADER = b"SQLite format 3\0"
_MESSAGES = (
    ("locked", errno.ETIMEDOUT, "another program uses the {noun} for more than {timeout:g} s"),
    ("readonly", errno.EACCES, "the {noun} cannot be written: the file or its folder is read-only"),
    ("unable to open", errno.EACCES, "the {noun} cannot be opened: may the file and its folder be used?"),
    ("is full", errno.ENOSPC, "the {noun} cannot be written: the disk is full; it is as it was"),
    ("I/O", errno.EIO, "the {noun} cannot be read or written: {text}; is the disk full? It is as it was"),
)
"""What a message of SQLite says, and the number and the words of the error that a user gets."""
_COUNTER = 24  # where the header counts the commits, as a big-endian number of four bytes


@dataclass(frozen=True)
class Schema:
    """What a file holds, and the steps from each version of it to the next."""

    noun: str
    """What the file is called in messages, such as ``"ledger"``."""
    application_id: int
    """What SQLite stores in the header of the file to tell whose it is."""
    steps: tuple[Step, ...]
    """The step to version 1, to version 2, and so on. A new file takes all of them. A step never changes again."""
    tables: tuple[frozenset[str], ...]
    """The names of the tables that each version has."""
    made_by: str = ""
    """How a user makes such a file, for the message that there is none."""

    @property
    def version(self) -> int:
        """The version that this program writes, which is ``user_version`` in the file."""
        return len(self.steps)

    def version_of(self, db: sqlite3.Connection, source: str) -> int:
        """The version of a file; 0 if it is empty.

        Raises:
            DatasetError: If the file belongs to another program, or to a later version of ioukit.
        """
        (owner,) = db.execute("PRAGMA application_id").fetchone()
        (version,) = db.execute("PRAGMA user_version").fetchone()
        listed = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
        names = [str(name) for (name,) in listed]
        if owner == version == 0 and not names:
            return 0
        if owner != self.application_id or version < 1:
            tables = f" with the tables {', '.join(map(repr, names[:5]))}" if names else ""
            raise DatasetError(
                f"{source}: expected a {self.noun} of ioukit, found a database of another program{tables}"
            )
        if version > self.version:
            raise DatasetError(
                f"{source}: expected a {self.noun} of version {self.version} or less, found version {version}: a later "
                "ioukit wrote it; update ioukit to read it"
            )
        if missing := self.tables[version - 1] - set(names):
            raise DatasetError(f"{source}: the {self.noun} is damaged: it lacks the table {min(missing)!r}")
        return int(version)

    def bring_up_to_date(self, db: sqlite3.Connection, version: int) -> None:
        """Takes the steps from a version to :attr:`version`, within the transaction that is open."""
        for step in self.steps[version:]:
            step(db)
        db.execute(f"PRAGMA application_id = {self.application_id}")
        db.execute(f"PRAGMA user_version = {self.version}")


@contextlib.contextmanager
def reading(schema: Schema, path: str, timeout: float) -> Iterator[sqlite3.Connection]:
    """A connection within a transaction that only reads. An older file is brought up to date before.

    Raises:
        DatasetError: If the file is not of this kind, is damaged, or was written by a later version.
        OSError: If the file cannot be read, or is in use for longer than `timeout` seconds.
    """
    if not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, f"there is no such {schema.noun}{schema.made_by}", path)
    with _explained(schema, path, timeout), contextlib.ExitStack() as stack:
        db = stack.enter_context(_connected(schema, path, timeout, create=False))
        db.execute("BEGIN")
        version = _version(schema, db, path)
        if version < schema.version:
            db.execute("ROLLBACK")
            db = stack.enter_context(_brought_up_to_date(schema, db, path))
            db.execute("BEGIN")
        yield db


@contextlib.contextmanager
def writing(schema: Schema, path: str, timeout: float, *, create: bool) -> Iterator[sqlite3.Connection]:
    """A connection within a transaction that is committed if the block ends without an error.

    Args:
        schema: What the file holds.
        path: The file; it is made if it does not exist and `create` is true.
        timeout: How many seconds to wait for other processes.
        create: Whether to make the file.

    Raises:
        DatasetError: As :func:`reading`.
        OSError: If the file cannot be written, or is in use for longer than `timeout` seconds.
    """
    if not create and not os.path.exists(path):
        raise FileNotFoundError(errno.ENOENT, f"there is no such {schema.noun}", path)
    with _explained(schema, path, timeout), _connected(schema, path, timeout, create=create) as db:
        db.execute("BEGIN IMMEDIATE")
        version = _version(schema, db, path)
        if version < schema.version:
            schema.bring_up_to_date(db, version)
        yield db
        db.execute("COMMIT")


def check_place(schema: Schema, path: str) -> None:
    """Raises the errors of :func:`writing` that the folder and the kind of the file tell. It waits for nobody."""
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {folder}", path)
    if not os.access(folder, os.W_OK):
        raise PermissionError(
            errno.EACCES, f"its folder does not let files be written, which a {schema.noun} needs", path
        )
    _check_file(schema, path)
    if os.path.exists(path) and not os.access(path, os.W_OK):
        _raise(schema, sqlite3.OperationalError("readonly"), path, 0)


def check_writable(schema: Schema, path: str, timeout: float, query: str | None = None) -> None:
    """Raises the errors of :func:`writing`, as far as they are known before. Makes and changes no file.

    Args:
        schema: What the file holds.
        path: The file.
        timeout: How many seconds to wait for other processes.
        query: What must be readable, in SQL of the version that this program writes; older files are not asked.
    """
    check_place(schema, path)
    if not os.path.exists(path):
        return
    with _explained(schema, path, timeout), _connected(schema, path, timeout, create=False) as db:
        db.execute("BEGIN IMMEDIATE")
        if _version(schema, db, path) == schema.version and query is not None:
            for _ in db.execute(query):
                pass


@contextlib.contextmanager
def _connected(schema: Schema, path: str, timeout: float, *, create: bool) -> Iterator[sqlite3.Connection]:
    _check_file(schema, path)
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


def _check_file(schema: Schema, path: str) -> None:
    """Refuses what SQLite would take, or would complain about without a reason."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise FileNotFoundError(errno.ENOENT, f"there is no folder {os.path.dirname(path)}", path) from None
        return
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, f"expected a {schema.noun}, found a folder", path)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, f"expected a {schema.noun}, found a pipe or a device", path)
    if found.st_size:
        with open(path, "rb") as file:
            start = file.read(len(_HEADER))
        if start != _HEADER:
            raise DatasetError(
                f"{path}: expected a {schema.noun} of ioukit, found a file that is not a database of SQLite"
            )


def _version(schema: Schema, db: sqlite3.Connection, path: str) -> int:
    """The version of the file, within a transaction, so that no other process writes.

    SQLite takes a last page that is cut for one that ends with zeros, so its size is compared here.
    """
    version = schema.version_of(db, path)
    (mode,), (pages,), (size,) = (
        db.execute(f"PRAGMA {name}").fetchone() for name in ("journal_mode", "page_count", "page_size")
    )
    if version and mode != "wal" and os.path.getsize(path) < pages * size:
        raise DatasetError(
            f"{path}: the {schema.noun} is damaged: the file is cut, {pages * size:,} bytes were expected"
        )
    return version


@contextlib.contextmanager
def _brought_up_to_date(schema: Schema, db: sqlite3.Connection, path: str) -> Iterator[sqlite3.Connection]:
    """The same data in the version of this program: the file itself, or a copy in memory if it cannot be written."""
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
def _explained(schema: Schema, path: str, timeout: float) -> Iterator[None]:
    """Turns the errors of SQLite into those of Python, with the name of the file."""
    try:
        yield
    except (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.IntegrityError):
        raise  # a defect of ioukit
    except sqlite3.Error as error:
        _raise(schema, error, path, timeout)
    except UnicodeDecodeError as error:  # of SQLite's own message
        raise DatasetError(f"{path}: the {schema.noun} is damaged: {error}") from error


def _raise(schema: Schema, error: sqlite3.Error, path: str, timeout: float) -> NoReturn:
    text = str(error)
    for part, number, says in _MESSAGES:
        if part in text:
            told = says.format(noun=schema.noun, timeout=timeout, text=text)
            # Python makes the kind of an OSError of its number: TimeoutError, PermissionError, ...
            raise OSError(number, told, path) from error
    raise DatasetError(f"{path}: the {schema.noun} is damaged: {text}") from error


def changes_of(path: str) -> tuple[int, int, int] | None:
    """What tells whether a file has changed since: its device, its number, and the count of its commits.

    ``None`` if there is no file that can be read. Within a transaction the count is that of what is read.
    """
    try:
        with open(path, "rb") as file:
            found = os.fstat(file.fileno())
            file.seek(_COUNTER)
            return found.st_dev, found.st_ino, int.from_bytes(file.read(4), "big")
    except OSError:
        return None
