"""The tables of a ledger, and the steps from each version of them to the next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ioukit._database import Schema

if TYPE_CHECKING:
    import sqlite3


APPLICATION_ID = 0x494F554B
"""What SQLite stores in the header of the file to tell whose it is: ``IOUK`` in ASCII."""


def _create_runs(db: sqlite3.Connection, table_sha256: str, content: str = "") -> None:
    """Makes the table of runs, with what a version adds to the column of the hash, and its column of match tables."""
    db.execute(
        f"""
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
            table_sha256 TEXT NOT NULL{table_sha256},
            table_bytes INTEGER NOT NULL,
            {content}UNIQUE (name, number)
        )
        """
    )


def _first(db: sqlite3.Connection) -> None:
    """A row per run with its match table, and the last number of every name."""
    _create_runs(db, "", "content BLOB NOT NULL, ")
    db.execute("CREATE TABLE names (name TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID")


def _second(db: sqlite3.Connection) -> None:
    """Match tables in a table of their own, by their hash: equal ones are kept once, and listing runs reads none."""
    db.execute("CREATE TABLE tables (sha256 TEXT PRIMARY KEY, content BLOB NOT NULL)")
    db.execute("INSERT OR IGNORE INTO tables SELECT table_sha256, content FROM runs")
    (last,) = db.execute("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'runs'").fetchone()
    db.execute("ALTER TABLE runs RENAME TO first_runs")
    _create_runs(db, " REFERENCES tables")
    columns = (
        "id, uid, name, number, created, protocol, iou_type, dropped, tags, user_values, summary, counts, notes, "
        "options, inputs, versions, rules, table_sha256, table_bytes"
    )
    db.execute(f"INSERT INTO runs ({columns}) SELECT {columns} FROM first_runs")
    db.execute("DROP TABLE first_runs")
    db.execute("DELETE FROM sqlite_sequence WHERE name = 'runs'")
    db.execute("INSERT INTO sqlite_sequence VALUES ('runs', ?)", (last,))  # the ids of deleted runs do not come back


def _third(db: sqlite3.Connection) -> None:
    """Intervals of numbers, of runs that were added with some."""
    db.execute("ALTER TABLE runs ADD COLUMN intervals TEXT NOT NULL DEFAULT '{}'")


SCHEMA = Schema(
    noun="ledger",
    application_id=APPLICATION_ID,
    steps=(_first, _second, _third),
    tables=(frozenset({"runs", "names"}), *2 * [frozenset({"runs", "names", "tables"})]),
    made_by=" (`ioukit eval --log FILE` makes one)",
)
"""What a ledger holds."""

VERSION = SCHEMA.version
"""The version that this program writes, which is ``user_version`` in the file."""
