"""The tables of a ledger, and the steps from each version of them to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit.errors import DatasetError

if TYPE_CHECKING:
    import sqlite3

__all__ = ["APPLICATION_ID", "VERSION", "bring_up_to_date", "version_of"]

APPLICATION_ID = 0x494F554B
"""What SQLite stores in the header of the file to tell whose it is: ``IOUK`` in ASCII."""


def _first(db: sqlite3.Connection) -> None:
    """A row per run with its match table, and the last number of every name."""
    db.execute(
        """
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uid TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            created TEXT NOT NULL,
            protocol TEXT NOT NULL,
            iou_type TEXT NOT NULL,
            dropped INTEGER NOT NULL,
            tags TEXT NOT NULL,
            user_values TEXT NOT NULL,
            summary TEXT NOT NULL,
            counts TEXT NOT NULL,
            notes TEXT NOT NULL,
            options TEXT NOT NULL,
            inputs TEXT NOT NULL,
            versions TEXT NOT NULL,
            rules TEXT NOT NULL,
            table_sha256 TEXT NOT NULL,
            table_bytes INTEGER NOT NULL,
            content BLOB NOT NULL,
            UNIQUE (name, number)
        )
        """
    )
    db.execute("CREATE TABLE names (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID")


def _second(db: sqlite3.Connection) -> None:
    """Match tables in a table of their own, by their hash: equal ones are kept once, and listing runs reads none."""
    db.execute("CREATE TABLE tables (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL)")
    db.execute("INSERT OR IGNORE INTO tables SELECT table_sha256, content FROM runs")
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'").fetchone()
    db.execute("ALTER TABLE runs RENAME TO first_runs")
    db.execute(
        """
        CREATE TABLE runs (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            uid TEXT NOT NULL UNIQUE,
            name TEXT NOT NULL,
            number INTEGER NOT NULL,
            created TEXT NOT NULL,
            protocol TEXT NOT NULL,
            iou_type TEXT NOT NULL,
            dropped INTEGER NOT NULL,
            tags TEXT NOT NULL,
            user_values TEXT NOT NULL,
            summary TEXT NOT NULL,
            counts TEXT NOT NULL,
            notes TEXT NOT NULL,
            options TEXT NOT NULL,
            inputs TEXT NOT NULL,
            versions TEXT NOT NULL,
            rules TEXT NOT NULL,
            table_sha256 TEXT NOT NULL REFERENCES tables,
            table_bytes INTEGER NOT NULL,
            UNIQUE (name, number)
        )
        """
    )
    columns = (
        "id, uid, name, number, created, protocol, iou_type, dropped, tags, user_values, summary, counts, notes, "
        "options, inputs, versions, rules, table_sha256, table_bytes"
    )
    db.execute(f"INSERT INTO runs ({columns}) SELECT {columns} FROM first_runs")
    db.execute("DROP TABLE first_runs")
    db.execute("DELETE FROM sqlite_sequence WHERE name = 'runs'")
    db.execute("INSERT INTO sqlite_sequence VALUES ('runs', ?)", (last,))  # the ids of deleted runs do not come back


_STEPS = (_first, _second)
"""The step to version 1, to version 2, and so on. A new ledger takes all of them. A step never changes again."""

VERSION = len(_STEPS)
"""The version that this program writes, which is ``user_version`` in the file."""


def version_of(db: sqlite3.Connection, source: str) -> int:
    """The version of a ledger; 0 if the file is empty.

    Raises:
        DatasetError: If the file belongs to another program, or to a later version of ioukit.
    """
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    names = [str(name) for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
    if owner == version == 0 and not names:
        return 0
    if owner != APPLICATION_ID or version < 1:
        tables = f" with the tables {', '.join(map(repr, names[:5]))}" if names else ""
        raise DatasetError(f"{source}: expected a ledger of ioukit, found a database of another program{tables}")
    if version > VERSION:
        raise DatasetError(
            f"{source}: expected a ledger of version {VERSION} or less, found version {version}: a later ioukit wrote "
            "it; update ioukit to read it"
        )
    missing = {"runs", "names", *(["tables"] if version > 1 else [])} - set(names)
    if missing:
        raise DatasetError(f"{source}: the ledger is damaged: it lacks the table {min(missing)!r}")
    return int(version)


def bring_up_to_date(db: sqlite3.Connection, version: int) -> None:
    """Takes the steps from a version to :data:`VERSION`, within the transaction that is open."""
    for step in _STEPS[version:]:
        step(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {VERSION}")
