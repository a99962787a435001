"""Tags and notes of images, objects and detections, kept in a file beside the ground truth.

The file is one of SQLite, see :mod:`ioukit._database`. An entry is about an image id, an annotation id, or a detection
by the name of its model and what it says, never about a row. So entries stay true after another evaluation.
"""

from __future__ import annotations

import datetime
import errno
import os
import threading
import time
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias, get_args

from ioukit._database import Schema, changes_of, check_place, reading, writing
from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import sqlite3


Kind: TypeAlias = Literal["image", "object", "detection"]

MOST_TAGS = 32
"""The most tags of an image or a mark."""
MOST_SIGNS_OF_TAG = 64
"""The most characters of a tag."""
MOST_SIGNS_OF_NOTE = 10_000
"""The most characters of a note."""

_JOINERS = dict.fromkeys((0x200C, 0x200D))  # parts of words in some scripts, and of emoji
_TIMEOUT = 10.0
_SECONDS_TO_READ = 0.2  # others wait for who reads
_SECONDS_TO_NEXT_READ = 5.0  # of a file that another program did not let go of
_SUFFIX = ".view.db"
_TYPES = tuple((int, str, image, int, str, str, str, str) for image in (int, str))
_NO_FILE = "Notes need a file. The data were not read from one, so name a file for the notes."


def _first(db: sqlite3.Connection) -> None:
    """A row per image or mark, and a row per tag of it. ``image`` has no type, so that 1 and "1" differ."""
    db.execute(
        """
        CREATE TABLE notes (
            id INTEGER PRIMARY KEY,
            kind TEXT NOT NULL,
            image NOT NULL,
            annotation INTEGER NOT NULL,
            model TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            note TEXT NOT NULL,
            changed TEXT NOT NULL,
            UNIQUE (kind, image, annotation, model, fingerprint)
        )
        """
    )
    db.execute("CREATE TABLE tags (entry INTEGER NOT NULL REFERENCES notes, tag TEXT NOT NULL, UNIQUE (entry, tag))")


SCHEMA = Schema(
    noun="file of notes",
    application_id=0x494F554E,  # "IOUN"
    steps=(_first,),
    tables=(frozenset({"notes", "tags"}),),
)
"""What a file of notes holds."""


class Subject(NamedTuple):
    """What an entry is about."""

    kind: Kind
    image: int | str
    """The id of the image."""
    annotation: int = 0
    """The id of the annotation, of an object."""
    model: str = ""
    """The name of the model, of a detection."""
    fingerprint: str = ""
    """What identifies the detection among those of the model on the image."""


class Entry(NamedTuple):
    """What is written about an image or a mark."""

    tags: tuple[str, ...] = ()
    note: str = ""
    changed: str = ""
    """When it was written, in UTC; empty if never."""


@dataclass(frozen=True, eq=False)
class Stored:
    """All entries of a file, as they were at one moment."""

    entries: Mapping[Subject, Entry] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, subject: Subject) -> Entry:
        """The entry about an image or a mark; an empty one if there is none."""
        return self.entries.get(subject, Entry())

    def tag_counts(self) -> dict[str, int]:
        """How many images and marks have each tag, the most used first."""
        counts = Counter(tag for entry in self.entries.values() for tag in entry.tags)
        return dict(sorted(counts.items(), key=lambda one: (-one[1], one[0])))


class NotesConflictError(Exception):
    """A note was changed elsewhere since it was read."""

    def __init__(self, entry: Entry) -> None:
        """Take the entry that is stored."""
        super().__init__("this note was changed in another window since you opened it")
        self.entry = entry


class Notes:
    """The file of the notes. All threads of a process may share it, and many processes may use the file at once."""

    def __init__(
        self, path: str | os.PathLike[str] | None, *, timeout: float = _TIMEOUT, follow_link: bool = True
    ) -> None:
        """Take the file, which is made by the first entry; ``None`` if there is none.

        Args:
            path: The file.
            timeout: How many seconds a writer waits for other programs.
            follow_link: Whether the file may be a link. A name that nobody chose should not lead elsewhere.
        """
        self.path = None if path is None else os.fspath(path)
        self.timeout, self.follow_link = timeout, follow_link
        self._lock = threading.Lock()
        self._stored = Stored()
        self._read_at: tuple[int, int, int] | None = None
        self._unread: str | None = None
        self._busy_until = 0.0

    @property
    def name(self) -> str | None:
        """The name of the file without its folder."""
        return None if self.path is None else os.path.basename(self.path)

    def problem(self) -> str | None:
        """Why entries cannot be stored, in words; ``None`` if nothing is known against it.

        It waits for no other program.
        """
        if self.path is None:
            return _NO_FILE
        try:
            self._check_link()
            check_place(SCHEMA, self.path)
        except (DatasetError, OSError) as error:
            return error_words(error)
        self.read()
        return None if self._is_busy() else self._unread

    def _is_busy(self) -> bool:
        """Whether another program used the file a moment ago."""
        return time.monotonic() < self._busy_until

    def _check_link(self) -> None:
        """Refuse a link where a file is expected.

        Raises:
            OSError: If there is one.
        """
        if self.path is not None and not self.follow_link and os.path.islink(self.path):
            words = "expected a file of notes, found a link; --notes FILE takes the file that it leads to"
            raise OSError(errno.ELOOP, words, self.path)

    def read(self) -> Stored:
        """All entries, read again if the file has changed. It never raises: :meth:`unread` says what went wrong.

        The same object is returned as long as nothing has changed. If another program does not let go of the file, it
        is what was read before, for some seconds without another try.
        """
        if self.path is None:
            return self._stored
        with self._lock:
            if self._is_busy():
                return self._stored
            now = changes_of(self.path)
            if now == self._read_at and self._unread is None:
                return self._stored
            if now is None and not os.path.exists(self.path):
                if self._read_at is not None:
                    self._stored = Stored()
                self._read_at, self._unread = None, None
                return self._stored
            try:
                self._check_link()
                with reading(SCHEMA, self.path, min(self.timeout, _SECONDS_TO_READ)) as db:
                    entries = _entries(db, self.path)
                    self._read_at = changes_of(self.path)
                self._stored, self._unread = Stored(MappingProxyType(entries)), None
            except (DatasetError, OSError) as error:
                self._unread = error_words(error)
                if isinstance(error, TimeoutError):
                    self._busy_until = time.monotonic() + _SECONDS_TO_NEXT_READ
            return self._stored

    def unread(self) -> str | None:
        """Why the entries could not be read the last time, in words; ``None`` if they could."""
        return self._unread

    def write(self, subject: Subject, tags: Sequence[str], note: str, was: Entry | None = None) -> Entry:
        """Store what is written about an image or a mark.

        What changed elsewhere since ``was`` was read is kept: tags that were added or removed here are added or removed
        there, and a note that was changed in both places is refused. An entry without tags and note is removed.

        Args:
            subject: The image or the mark.
            tags: All its tags.
            note: Its note.
            was: The entry as the writer knew it; the stored one if ``None``, which is replaced.

        Returns:
            The entry as it is stored now.

        Raises:
            ValueError: If a tag or the note is too long, or there are too many tags.
            NotesConflictError: If the note was changed elsewhere.
            DatasetError: If the file is no file of notes, is damaged, or was written by a later version.
            OSError: If there is no file, or it cannot be written. It is then as it was.
        """
        new = Entry(checked_tags(tags), checked_note(note))
        if self.path is None:
            raise OSError(_NO_FILE)
        self._check_link()
        with writing(SCHEMA, self.path, self.timeout, create=True) as db:
            self._busy_until = 0.0
            number, now = _entry(db, subject)
            merged = new if was is None else _merged(now, was, new)
            if len(merged.tags) > MOST_TAGS:
                raise ValueError(f"expected at most {MOST_TAGS} tags, got {len(merged.tags)}")
            if (set(merged.tags), merged.note) == (set(now.tags), now.note):
                return now
            return _store(db, subject, number, merged)


def notes_file(source: str) -> str | None:
    """The file of the notes for a ground truth: ``val.view.db`` for ``val.json``; ``None`` if it has no file.

    Standard input and other devices have none, although they may be read from a file.
    """
    if not (os.path.isfile(source) or os.path.isdir(source)) or os.path.abspath(source).startswith("/dev/"):
        return None
    path = Path(os.path.abspath(source))
    stem = path.name if path.is_dir() else Path(path.name.removesuffix(".gz")).stem
    return str(path.with_name(f"{stem or path.name}{_SUFFIX}"))


def checked_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Tags in one spelling, each once.

    Raises:
        ValueError: If one of them is empty, too long, or has a ``;``, or if there are too many.
    """
    found = list(dict.fromkeys(" ".join(_composed(tag).split()) for tag in tags))
    for tag in found:
        if not tag or len(tag) > MOST_SIGNS_OF_TAG:
            raise ValueError(f"a tag must have 1 to {MOST_SIGNS_OF_TAG} characters, got {len(tag)}")
        if not tag.translate(_JOINERS).isprintable():
            raise ValueError(f"a tag must have printable characters alone, got {tag!r}")
        if ";" in tag:  # which separates the tags in a CSV file
            raise ValueError(f"a tag must have no ';', got {tag!r}")
    if len(found) > MOST_TAGS:
        raise ValueError(f"expected at most {MOST_TAGS} tags, got {len(found)}")
    return tuple(found)


def checked_note(note: str) -> str:
    """A note in one spelling: composed characters, line ends of Unix, no other control characters.

    Raises:
        ValueError: If it is too long.
    """
    text = _composed(note).replace("\r\n", "\n").replace("\r", "\n")
    text = "".join(sign for sign in text if sign in "\n\t" or unicodedata.category(sign) != "Cc").strip()
    if len(text) > MOST_SIGNS_OF_NOTE:
        raise ValueError(f"a note must have at most {MOST_SIGNS_OF_NOTE:,} characters, got {len(text):,}")
    return text


def _composed(text: str) -> str:
    """A text in composed characters; halves of characters, which no file can hold, become question marks."""
    return unicodedata.normalize("NFC", text.encode("utf-8", "replace").decode("utf-8"))


def _merged(now: Entry, was: Entry, new: Entry) -> Entry:
    """What is stored, with the changes from ``was`` to ``new``.

    Raises:
        NotesConflictError: If the note was changed in both.
    """
    tags = [tag for tag in now.tags if tag in new.tags or tag not in was.tags]
    tags += [tag for tag in new.tags if tag not in was.tags and tag not in tags]
    note = now.note if new.note == checked_note(was.note) else new.note
    if note != now.note and now.note not in (checked_note(was.note), new.note):
        raise NotesConflictError(now)
    return Entry(tuple(tags), note)


def _entries(db: sqlite3.Connection, source: str) -> dict[Subject, Entry]:
    tags: dict[int, list[str]] = {}
    for number, tag in db.execute("SELECT entry, tag FROM tags ORDER BY rowid"):
        tags.setdefault(number, []).append(str(tag))
    columns = "id, kind, image, annotation, model, fingerprint, note, changed"
    rows = db.execute(f"SELECT {columns} FROM notes ORDER BY id").fetchall()
    for row in rows:
        types = tuple(map(type, row))
        if types not in _TYPES or row[1] not in get_args(Kind):
            raise DatasetError(f"{source}: the file of notes is damaged: the entry {row[0]} holds other values")
    return {Subject(*row[1:6]): Entry(tuple(tags.get(row[0], ())), row[6], row[7]) for row in rows}


def _entry(db: sqlite3.Connection, subject: Subject) -> tuple[int | None, Entry]:
    """The number and the entry of a subject."""
    found = db.execute(
        "SELECT id, note, changed FROM notes "
        "WHERE kind = ? AND image = ? AND annotation = ? AND model = ? AND fingerprint = ?",
        subject,
    ).fetchone()
    if found is None:
        return None, Entry()
    tags = db.execute("SELECT tag FROM tags WHERE entry = ? ORDER BY rowid", found[:1])
    return found[0], Entry(tuple(tag for (tag,) in tags), found[1], found[2])


def _store(db: sqlite3.Connection, subject: Subject, number: int | None, entry: Entry) -> Entry:
    if number is not None:
        db.execute("DELETE FROM tags WHERE entry = ?", (number,))
    if not entry.tags and not entry.note:
        db.execute("DELETE FROM notes WHERE id = ?", (number,))
        return Entry()
    changed = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    if number is None:
        columns = "kind, image, annotation, model, fingerprint, note, changed"
        values = (*subject, entry.note, changed)
        number = db.execute(f"INSERT INTO notes ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?)", values).lastrowid
    else:
        db.execute("UPDATE notes SET note = ?, changed = ? WHERE id = ?", (entry.note, changed, number))
    db.executemany("INSERT INTO tags VALUES (?, ?)", [(number, tag) for tag in entry.tags])
    return entry._replace(changed=changed)


def error_words(error: Exception) -> str:
    """What is wrong with the file, for a reader who did not name it on a command line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)
