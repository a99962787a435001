"""A ledger: evaluations in one file, to list, compare and evaluate further.

Owns: what a run holds, and reading and writing whole runs; each is one transaction. Does not own: SQLite's connections
and errors (`_database.py`), the steps from one version of the file to the next (``schema.py``), which runs a word names
(``selected_runs.py``). The file has a rollback journal, not a write-ahead log: it works on network folders, and a copy
of the one file is complete. Match tables are stored once, by their hash, as columns without pickle.
"""

from __future__ import annotations

import datetime
import json
import os
import zlib
from typing import TYPE_CHECKING, Any, Literal

from ioukit._database import check_writable, reading, writing
from ioukit._near_names import suggest
from ioukit.errors import DatasetError
from ioukit.runs.ledger.input_files import hashed_inputs
from ioukit.runs.ledger.names import Reference, check_name, check_tags, check_values, parse_reference
from ioukit.runs.ledger.run import COLUMNS, Run, run_of_row, stored_numbers
from ioukit.runs.ledger.schema import SCHEMA
from ioukit.runs.ledger.selected_runs import selected

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping, Sequence

    from ioukit.evaluation import Evaluation, MatchTable
    from ioukit.statistics import Interval


_TIMEOUT = 60.0
_NEAR = 0.1
_LIST = ", ".join(COLUMNS)
_ALL = f"SELECT {_LIST} FROM runs ORDER BY id"


class Ledger:
    """Evaluations in one file of SQLite.

    A ledger keeps the match table of every run, compressed, and equal tables once. So every analysis works years later,
    without the files of objects and detections. Many processes may use a ledger at once. A run is there whole or not at
    all, also after ``kill -9`` or a loss of power. Each method opens the file and closes it again, so a ledger may be
    shared by threads and by processes, and may be pickled.

    Runs are chosen by name. Several runs may have one name: ``"B"`` is the newest of them, ``"B@2"`` the second one
    that was added, ``"B@-2"`` the one before the newest. ``"@7"`` or 7 is the run with this id.

    Args:
        path: The file. :meth:`add` makes it if it does not exist.
        timeout: How many seconds a method waits for other processes that use the file.

    Examples:
        >>> import tempfile
        >>> from ioukit import Detections, GroundTruth, evaluate
        >>> gt = GroundTruth.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 50]])
        >>> dt = Detections.from_arrays(image_ids=[1], category_ids=[7], boxes=[[10, 10, 50, 45]], scores=[0.9])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ledger = Ledger(f"{folder}/runs.db")
        ...     run = ledger.add(evaluate(gt, dt), name="B", tags={"lr": "1e-3"}, values={"latency": 12.3})
        ...     found = ledger.evaluation("B")
        ...     print(run.reference, [one.name for one in ledger.runs()], f"{found.summary['AP50']:.3f}")
        B@1 ['B'] 1.000
    """

    def __init__(self, path: str | os.PathLike[str], *, timeout: float = _TIMEOUT) -> None:
        self.path = os.fspath(path)
        self.timeout = float(timeout)
        if not isinstance(self.path, str):
            raise TypeError(f"path must be text or a path, got {type(self.path).__name__}")
        if not 0 <= self.timeout < float("inf"):
            raise ValueError(f"timeout must be a number of seconds, got {timeout}")

    def __repr__(self) -> str:
        return f"Ledger({self.path!r})"

    def check_writable(self) -> None:
        """Raises the errors that :meth:`add` would raise because of the file, as far as they are known before.

        All that a list of the runs needs is read, so that no run is added to a file whose runs cannot be listed.
        """
        check_writable(SCHEMA, self.path, self.timeout, _ALL)

    def add(
        self,
        evaluation: Evaluation,
        *,
        name: str,
        tags: Mapping[str, str] | None = None,
        values: Mapping[str, float] | None = None,
        intervals: Mapping[str, Interval] | None = None,
        options: Mapping[str, Any] | None = None,
        inputs: Mapping[str, str | os.PathLike[str]] | None = None,
        near: float = _NEAR,
        created: datetime.datetime | None = None,
        threads: int | None = None,
    ) -> Run:
        """Add a run. When this returns, the run is on the disk.

        Args:
            evaluation: What to keep. If it holds its data, the match table is kept with the pairs that error kinds and
                the confusion matrix need. If it holds a match table alone, this table is kept as it is.
            name: The name of the run: text without control characters that does not end with ``@`` and a number. Other
                runs may have the same name.
            tags: Text by names, to find runs and to tell them apart.
            values: Finite numbers by names, such as a latency, which rules of a gate may use. A name may not be that of
                a number of the summary.
            intervals: Intervals of numbers of the summary, as :meth:`ioukit.Evaluation.intervals` returns them; their
                limits are kept. A page of runs shows them.
            options: What else decided the numbers, as values that JSON can hold.
            inputs: Files and folders by their roles, whose SHA-256 is kept. By default the files that ground truth and
                detections were read from. The hash of a folder is that of a line for each file in it, sorted by bytes:
                the name within the folder, a zero byte, the size, a zero byte, the SHA-256, and a line feed. Images
                have no SHA-256 in their lines.
            near: Pairs with this IoU or a higher one are kept, within (0, 1]. Analyses below it need the data.
            created: When the run was made; now if ``None``. Without a time zone it is in UTC.
            threads: How many threads; all cores if ``None``.

        Returns:
            The run as it is in the ledger.

        Raises:
            DatasetError: If the file is not a ledger, is damaged, or was written by a later version of ioukit.
            OSError: If the file cannot be written, another program uses it for too long, or an input cannot be read.
                The ledger is as it was.
            TypeError: If a name, a tag or a value is of a wrong kind.
            ValueError: If a name, a tag or a value may not be one, see above.
        """
        import uuid  # noqa: PLC0415 - listing runs does not need it

        fields: dict[str, Any] = {
            "name": check_name(name),
            "tags": json.dumps(check_tags(tags or {})),
            "user_values": json.dumps(check_values(values or {}, evaluation.summary)),
            "intervals": _stored_limits(intervals or {}),
            "options": json.dumps(dict(options or {}), allow_nan=False),
            "created": _utc(created),
        }
        given = _sources(evaluation) if inputs is None else inputs
        fields["inputs"] = json.dumps(hashed_inputs(given))
        evaluation.matches.announce("log", threads=threads)
        fields |= _of_evaluation(evaluation)
        held = evaluation.ground_truth is not None and evaluation.detections is not None
        table = evaluation.near_matches(near, threads=threads) if held else evaluation.matches
        content, sha256 = stored_table(table)
        fields |= {"uid": uuid.uuid4().hex, "table_sha256": sha256, "table_bytes": len(content)}
        with writing(SCHEMA, self.path, self.timeout, create=True) as db:
            row = _insert(db, fields, content)
        return run_of_row(row, self.path)

    def runs(
        self,
        *,
        name: str | None = None,
        tags: Mapping[str, str | None] | None = None,
        sort: str | None = None,
        last: int | None = None,
        on_damaged: Literal["error", "skip"] = "error",
    ) -> tuple[Run, ...]:
        """The runs, in the order in which they were added.

        Args:
            name: Only runs with this name, which may be a pattern: ``"yolo-*"``.
            tags: Only runs that have all of these tags; with ``None`` for the text, any text.
            sort: A number of the summary, a value, a count such as ``"counts/images"``, ``"name"`` or ``"created"``.
                Lower ones come first; with ``-`` before it, higher ones. Runs without the number come before all.
            last: Only so many, the last ones of the order.
            on_damaged: What a run that is damaged does: it is an error, or is left out; then :meth:`damaged` names it.

        Raises:
            DatasetError: If the file is not a ledger, is damaged, or was written by a later version of ioukit.
            OSError: If the file does not exist or cannot be read, or another program uses it for too long.
            ValueError: If no run has the number to sort by, or ``last`` is below 1.
        """
        if on_damaged not in ("error", "skip"):
            raise ValueError(f"on_damaged must be 'error' or 'skip', got {on_damaged!r}")
        found, errors = self._read()
        if errors and on_damaged == "error":
            raise errors[0]
        return selected(found, name=name, tags=tags, sort=sort, last=last)

    def damaged(self) -> tuple[str, ...]:
        """What is wrong with each run that is damaged, though the file can be read.

        Raises:
            DatasetError: As :meth:`Ledger.runs`, for the file.
            OSError: As :meth:`Ledger.runs`.
        """
        return tuple(map(str, self._read()[1]))

    def _read(self) -> tuple[list[Run], list[DatasetError]]:
        """All runs, and an error for each that is damaged."""
        with reading(SCHEMA, self.path, self.timeout) as db:
            rows = db.execute(_ALL).fetchall()
        found: list[Run] = []
        errors: list[DatasetError] = []
        for row in rows:
            try:
                found.append(run_of_row(row, self.path))
            except DatasetError as error:  # noqa: PERF203 - a run that is damaged must not hide the others
                errors.append(error)
        return found, errors

    def run(self, run: str | int) -> Run:
        """One run, by its name, by its name and number, or by its id.

        Raises:
            LookupError: If there is no such run; the message suggests similar names.
            DatasetError: As :meth:`Ledger.runs`.
            OSError: As :meth:`Ledger.runs`.
        """
        reference = parse_reference(run)
        with reading(SCHEMA, self.path, self.timeout) as db:
            return run_of_row(_row(db, reference, self.path), self.path)

    def evaluation(self, run: str | int | Run, *, threads: int | None = None) -> Evaluation:
        """The evaluation of a run. Its numbers and analyses have the bits of the evaluation that was added.

        It holds no boxes, so it cannot be drawn on images.

        Args:
            run: As for :meth:`run`, or what that returned.
            threads: How many threads; all cores if ``None``.

        Raises:
            LookupError: If there is no such run.
            DatasetError: If the run is damaged, or as :meth:`Ledger.runs`.
            OSError: As :meth:`Ledger.runs`.
        """
        from ioukit.evaluation import Evaluation, accumulate  # noqa: PLC0415 - loads NumPy, which listing does not need

        reference = Reference("", run.id) if isinstance(run, Run) else parse_reference(run)
        with reading(SCHEMA, self.path, self.timeout) as db:
            found = run_of_row(_row(db, reference, self.path), self.path)
            content = _content(db, found.table_sha256)
        table = table_of(content, found.table_sha256, f"{self.path}: {found.reference}")
        return Evaluation(table, accumulate(table, threads=threads), found.dropped, found.notes)

    def delete(self, runs: Sequence[str | int]) -> tuple[Run, ...]:
        """Delete runs: all of them, or none if there is an error. Returns what they were.

        The file does not become smaller; new runs use the room.

        Raises:
            LookupError: If there is no such run.
            DatasetError: As :meth:`Ledger.runs`.
            OSError: As :meth:`add`.
        """
        references = [parse_reference(one) for one in ([runs] if isinstance(runs, str | int) else runs)]
        with writing(SCHEMA, self.path, self.timeout, create=False) as db:
            found = {row[0]: row for row in (_row(db, reference, self.path) for reference in references)}
            deleted = tuple(run_of_row(row, self.path) for row in found.values())
            db.executemany("DELETE FROM runs WHERE id = ?", [(run.id,) for run in deleted])
            db.executemany(
                "DELETE FROM tables WHERE sha256 = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE table_sha256 = ?1)",
                {(run.table_sha256,) for run in deleted},
            )
        return deleted

    def copy_to(self, other: Ledger, runs: Sequence[str | int] | None = None) -> tuple[Run, ...]:
        """Copy runs into another ledger: all of them, or none if there is an error.

        Copies keep everything but their id. If the other ledger has had the number of a copy, or a higher one, among
        the runs of its name, the copy gets the next number: copy earlier runs first. Runs that the other ledger has
        already are left out, by their :attr:`Run.uid`.

        Args:
            other: The ledger to copy to. Its file is made if it does not exist.
            runs: The runs, as for :meth:`run`; all if ``None``.

        Returns:
            The runs that were added, as they are in the other ledger.

        Raises:
            LookupError: If there is no such run.
            ValueError: If both ledgers are one file.
            DatasetError: As :meth:`Ledger.runs`, for one of the files.
            OSError: As :meth:`add`, for one of the files.
        """
        if os.path.realpath(self.path) == os.path.realpath(other.path):
            raise ValueError(f"{other.path} is the ledger to copy from: give another file")
        added = []
        with reading(SCHEMA, self.path, self.timeout) as source:
            if runs is None:
                rows = source.execute(_ALL).fetchall()
            else:
                rows = [_row(source, parse_reference(one), self.path) for one in runs]
            with writing(SCHEMA, other.path, other.timeout, create=True) as target:
                known = {uid for (uid,) in target.execute("SELECT uid FROM runs")}
                for row in rows:
                    fields = dict(zip(COLUMNS, row, strict=True))
                    if fields["uid"] not in known:
                        known.add(fields["uid"])
                        del fields["id"]
                        sha256 = fields["table_sha256"]
                        name = f"{self.path}: {fields['name']}@{fields['number']}"
                        added.append(_insert(target, fields, checked(_content(source, sha256), sha256, name)))
        return tuple(run_of_row(row, other.path) for row in added)


def _utc(created: datetime.datetime | None) -> str:
    when = datetime.datetime.now(datetime.timezone.utc) if created is None else created
    when = when.replace(tzinfo=datetime.timezone.utc) if when.tzinfo is None else when.astimezone(datetime.timezone.utc)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _sources(evaluation: Evaluation) -> dict[str, str]:
    """The files that the data was read from, as far as they are there."""
    sides = {"ground_truth": evaluation.ground_truth, "detections": evaluation.detections}
    return {role: side.source for role, side in sides.items() if side is not None and os.path.exists(side.source)}


def _of_evaluation(evaluation: Evaluation) -> dict[str, Any]:
    import platform  # noqa: PLC0415 - listing does not need it

    import numpy as np  # noqa: PLC0415 - as above

    from ioukit import _core  # noqa: PLC0415 - as above

    versions = {"ioukit": _core.__version__, "python": platform.python_version(), "numpy": np.__version__}
    return {
        "protocol": evaluation.protocol.name,
        "iou_type": evaluation.matches.iou_type,
        "dropped": evaluation.dropped,
        "summary": stored_numbers(evaluation.summary),
        "counts": json.dumps(dict(evaluation.counts)),
        "notes": json.dumps(list(evaluation.notes)),
        "versions": json.dumps(versions),
        "rules": json.dumps(evaluation.protocol.to_dict()),
    }


def _stored_limits(intervals: Mapping[str, Interval]) -> str:
    """Limits as JSON: the lower one, the upper one, and the level. Those that are undefined are left out."""
    return json.dumps({key: [one.low, one.high, one.level] for key, one in intervals.items() if one.low <= one.high})


def _insert(db: sqlite3.Connection, fields: dict[str, Any], content: bytes) -> tuple[Any, ...]:
    """Adds a row and returns it. A copy keeps its number if that is a new one here; else it is the next of the name."""
    db.execute(
        "INSERT INTO names VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET last = max(last + 1, excluded.last)",
        (fields["name"], fields.get("number", 1)),
    )
    (number,) = db.execute("SELECT last FROM names WHERE name = ?", (fields["name"],)).fetchone()
    db.execute("INSERT OR IGNORE INTO tables VALUES (?, ?)", (fields["table_sha256"], content))
    row = {**fields, "number": number}
    added = db.execute(f"INSERT INTO runs ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})", tuple(row.values()))
    found: tuple[Any, ...] = db.execute(f"SELECT {_LIST} FROM runs WHERE id = ?", (added.lastrowid,)).fetchone()
    return found


def _content(db: sqlite3.Connection, sha256: str) -> bytes | None:
    """The bytes of a match table; ``None`` if they are not there."""
    found = db.execute("SELECT content FROM tables WHERE sha256 = ?", (sha256,)).fetchone()
    return None if found is None else found[0]


def _row(db: sqlite3.Connection, reference: Reference, source: str) -> tuple[Any, ...]:
    """The row of the run that is meant.

    Raises:
        LookupError: If there is none.
    """
    where, column = "1", "id"
    values: list[str | int] = []
    if reference.name:
        where, values, column = "name = ?", [reference.name], "number"
    number = -1 if reference.number is None else reference.number
    if number > 0:
        where, values, end = f"{where} AND {column} = ?", [*values, number], ""
    else:
        end, values = "LIMIT 1 OFFSET ?", [*values, -number - 1]
    found: tuple[Any, ...] | None = db.execute(
        f"SELECT {_LIST} FROM runs WHERE {where} ORDER BY {column} DESC {end}", values
    ).fetchone()
    if found is None:
        raise LookupError(_missing(db, reference, source))
    return found


def _missing(db: sqlite3.Connection, reference: Reference, source: str) -> str:
    names = [str(name) for (name,) in db.execute("SELECT name FROM runs GROUP BY name ORDER BY max(id) DESC")]
    start = f"{source}: there is no run {str(reference)!r}"
    if not names:
        return f"{start}: the ledger has no runs"
    if reference.name in names:
        numbers = [row[0] for row in db.execute("SELECT number FROM runs WHERE name = ?", (reference.name,))]
        return f"{start}; the runs of this name have the numbers {', '.join(map(str, sorted(numbers)[-10:]))}"
    return start + suggest(reference.name, names, f"the newest are {', '.join(map(repr, names[:5]))}")


_LEVEL = 1
"""Of zlib. Higher levels take three times as long, and save less than a tenth."""


def stored_table(table: MatchTable) -> tuple[bytes, str]:
    """The bytes of a match table, and their SHA-256."""
    from ioukit.evaluation.table_file import pack_table  # noqa: PLC0415 - loads NumPy, which listing does not need

    content = zlib.compress(pack_table(table, compress=False), _LEVEL)
    return content, sha256_of(content)


def table_of(content: bytes | None, sha256: str, source: str) -> MatchTable:
    """The match table of the bytes.

    Nothing in the bytes is executed: they are columns of numbers and text, see
    :func:`ioukit.evaluation.table_file.load_table`.

    Args:
        content: What :func:`stored_table` returned; ``None`` if it is missing.
        sha256: Their SHA-256.
        source: Their name in messages.

    Raises:
        DatasetError: If the bytes are not those that were stored.
    """
    from ioukit.evaluation.table_file import unpack_table  # noqa: PLC0415 - as above

    try:
        packed = zlib.decompress(checked(content, sha256, source))
    except zlib.error as error:
        raise DatasetError(f"{source}: the match table is damaged: {error}") from None
    return unpack_table(packed, source)


def checked(content: bytes | None, sha256: str, source: str) -> bytes:
    """The bytes, if they are those that were stored; else raises as :func:`table_of`."""
    if not isinstance(content, bytes):
        raise DatasetError(f"{source}: the match table is missing: the ledger is damaged")
    if sha256_of(content) != sha256:
        raise DatasetError(f"{source}: the match table is damaged: its SHA-256 is not the one that was stored")
    return content


def sha256_of(content: bytes) -> str:
    """The SHA-256 of the bytes, as hexadecimal digits."""
    import hashlib  # noqa: PLC0415 - listing runs does not need it

    return hashlib.sha256(content).hexdigest()
