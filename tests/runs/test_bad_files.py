"""Files that are no ledger, or no longer one, and disks that are full: a clear error, and nothing half-written."""

from __future__ import annotations

import io
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from ioukit import DatasetError
from ioukit.runs import Ledger
from ioukit.runs.ledger import schema
from ioukit.runs.ledger.ledger import sha256_of
from support.evaluated_scenes import made

EVALUATION = made(images=40, seed=1)
SQLITE = b"SQLite format 3\0"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Three runs of two names."""
    found = Ledger(tmp_path / "runs.db")
    for seed, name in enumerate("ABB"):
        found.add(made(images=40, seed=seed), name=name)
    return found


def change(ledger: Ledger, command: str, *values: object) -> None:
    with closing(sqlite3.connect(ledger.path)) as db, db:
        db.execute(command, values)


def refused(path: Path, error: type[Exception], message: str) -> None:
    """All methods refuse the file by name, and leave it as it is."""
    before = path.read_bytes() if path.is_file() else None
    ledger = Ledger(path, timeout=0.1)
    with pytest.raises(error, match=message) as caught:
        ledger.runs()
    assert path.name in str(caught.value)
    with pytest.raises(error, match=message):
        ledger.add(EVALUATION, name="B")
    with pytest.raises(error, match=message):
        ledger.delete(["B"])
    with pytest.raises(error, match=message):
        ledger.check_writable()
    if before is not None:
        assert path.read_bytes() == before


@pytest.mark.parametrize(
    "content", [b"{}", b"PK\x03\x04", b"\0", b"SQLite format 3", SQLITE[:-1] + b"x", b"\xff" * 5000]
)
def test_another_kind_of_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "runs.db"
    path.write_bytes(content)
    refused(path, DatasetError, "not a database of SQLite")


def test_a_folder_a_pipe_and_a_missing_folder(tmp_path: Path) -> None:
    refused(tmp_path, IsADirectoryError, "found a folder")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    refused(pipe, OSError, "found a pipe")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Ledger(tmp_path / "missing" / "runs.db").add(EVALUATION, name="B")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        Ledger(tmp_path / "missing" / "runs.db").check_writable()
    with pytest.raises(FileNotFoundError, match="no such ledger"):
        Ledger(tmp_path / "runs.db").delete(["B"])
    Ledger(tmp_path / "runs.db").check_writable()
    assert not (tmp_path / "runs.db").exists()


def test_a_database_of_another_program(tmp_path: Path) -> None:
    path = tmp_path / "mlflow.db"
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE experiments (id INTEGER)")
    refused(path, DatasetError, "another program with the tables 'experiments'")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE experiments")
        db.execute("PRAGMA application_id = 7")
    refused(path, DatasetError, "another program$")
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("PRAGMA application_id = 0")
        db.execute("PRAGMA user_version = 3")
    refused(path, DatasetError, "another program$")


def test_a_later_version(ledger: Ledger) -> None:
    change(ledger, f"PRAGMA user_version = {schema.VERSION + 1}")
    refused(Path(ledger.path), DatasetError, f"found version {schema.VERSION + 1}: a later ioukit wrote it")


def test_an_empty_file_is_an_empty_ledger(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "runs.db")
    Path(ledger.path).touch()
    assert ledger.runs() == ()
    assert ledger.add(EVALUATION, name="B").reference == "B@1"


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_file_that_is_cut(ledger: Ledger, part: float) -> None:
    path = Path(ledger.path)
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    refused(path, DatasetError, "the ledger is damaged: (database disk image is malformed|the file is cut)")


def test_a_file_with_any_byte_changed(ledger: Ledger) -> None:
    """It is refused, or it gives what was added: never other numbers of a match table."""
    path, rng = Path(ledger.path), np.random.default_rng(0)
    content = path.read_bytes()
    objects = {run.table_sha256: ledger.evaluation(run).matches.num_objects.sum() for run in ledger.runs()}
    refusals, late = [], 0
    for _ in range(150):
        spoilt = bytearray(content)
        for place in rng.integers(0, len(spoilt), int(rng.integers(1, 30))):
            spoilt[place] ^= int(rng.integers(1, 256))
        path.write_bytes(spoilt)
        try:
            ledger.damaged()
        except (DatasetError, OSError):
            with pytest.raises((DatasetError, OSError)):
                ledger.check_writable()  # so that `ioukit eval --log` does not add to it
            late += 1
        try:
            for run in ledger.runs():
                # Names and numbers of a run have no hash: neither SQLite nor the ledger finds a digit that changed.
                assert ledger.evaluation(run).matches.num_objects.sum() == objects[run.table_sha256]
        except (DatasetError, OSError) as error:
            refusals.append(str(error))
    assert all("runs.db" in message for message in refusals)
    assert len(refusals) > late > 20


def test_a_match_table_that_is_changed(ledger: Ledger) -> None:
    (content, sha256) = stored(ledger, "B@2")
    for spoilt in (content[:-1], content[:100] + b"\0" + content[101:], b"", zlib.compress(b"")):
        change(ledger, "UPDATE tables SET content = ? WHERE sha256 = ?", spoilt, sha256)
        with pytest.raises(DatasetError, match=r"runs\.db: B@2: the match table is damaged"):
            ledger.evaluation("B")
        with pytest.raises(DatasetError, match=r"runs\.db: B@2: the match table is damaged"):
            ledger.copy_to(Ledger(f"{ledger.path}.copy"))
    assert not os.path.exists(f"{ledger.path}.copy") or Ledger(f"{ledger.path}.copy").runs() == ()
    assert ledger.evaluation("B@1").summary
    change(ledger, "DELETE FROM tables WHERE sha256 = ?", sha256)
    with pytest.raises(DatasetError, match="the match table is missing"):
        ledger.evaluation("B")


def stored(ledger: Ledger, run: str) -> tuple[bytes, str]:
    sha256 = ledger.run(run).table_sha256
    with closing(sqlite3.connect(ledger.path)) as db:
        (content,) = db.execute("SELECT content FROM tables WHERE sha256 = ?", (sha256,)).fetchone()
    return content, sha256


class Bomb:
    """Unpickling this makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


def test_nothing_is_executed_when_a_table_is_read(ledger: Ledger, tmp_path: Path) -> None:
    """Also if its hash is right, as in a file that somebody else has sent."""
    trace = tmp_path / "trace"
    array = np.empty(1, object)
    array[0] = Bomb(trace)
    packed = io.BytesIO()
    np.savez(packed, header=array)
    for content in (pickle.dumps(Bomb(trace)), packed.getvalue()):
        store(ledger, zlib.compress(content))
        with pytest.raises(DatasetError, match=r"runs\.db: B@2: "):
            ledger.evaluation("B")
    assert not trace.exists()


def test_a_table_with_the_right_hash_that_is_not_compressed(ledger: Ledger) -> None:
    whole = zlib.compress(b"any" * 1000)
    for content in (b"any", whole[:-5], whole[:8] + b"\xff" + whole[9:]):
        store(ledger, content)
        with pytest.raises(DatasetError, match=r"runs\.db: B@2: the match table is damaged: Error -"):
            ledger.evaluation("B")


def store(ledger: Ledger, content: bytes) -> None:
    """Makes the bytes the match table of B@2, with their hash."""
    sha256 = sha256_of(content)
    change(ledger, "INSERT INTO tables VALUES (?, ?)", sha256, content)
    change(ledger, "UPDATE runs SET table_sha256 = ? WHERE name = 'B' AND number = 2", sha256)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("summary", "{", "damaged"),
        ("summary", "[]", "not a mapping"),
        ("summary", '{"AP": "0.4"}', "not a number"),
        ("summary", "[" * 100_000, "damaged"),
        ("user_values", '{"latency": null}', "not a number"),
        ("intervals", '{"AP": [0.1, 0.2]}', "damaged"),
        ("intervals", '{"AP": [0.1, "0.2", 0.95]}', "not a number"),
        ("notes", "7", "damaged"),
        ("inputs", "[[1]]", "damaged"),
        ("inputs", '[["gt", 7, null, null]]', "inputs holds 7, not text"),
        ("tags", '{"lr": [1]}', r"tags holds \[1\], not text"),
        ("versions", '{"ioukit": 1}', "versions holds 1, not text"),
        ("rules", "x", "damaged"),
        ("name", b"B", "name is bytes, not str"),
        ("number", "two", "number is str, not int"),
    ],
)
def test_a_row_that_is_changed(ledger: Ledger, column: str, value: object, message: str) -> None:
    others = [run.id for run in ledger.runs() if run.id != 3]
    assert ledger.damaged() == ()
    change(ledger, f"UPDATE runs SET {column} = ? WHERE id = 3", value)
    with pytest.raises(DatasetError, match=rf"runs\.db: the run with the id 3 is damaged: .*{message}|{message}"):
        ledger.runs()
    with pytest.raises(DatasetError, match="damaged"):
        ledger.run(3)
    assert ledger.run("A").id == 1
    assert [run.id for run in ledger.runs(on_damaged="skip")] == others
    (said,) = ledger.damaged()
    assert "runs.db: the run with the id" in said


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_what_cannot_be_read_twice_has_no_hash(ledger: Ledger, tmp_path: Path) -> None:
    """A pipe is not read again: it would wait for a writer for ever. In a folder, it and broken links do not count."""
    folder = tmp_path / "labels"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"0")
    inputs = {"ground_truth": folder}
    (alone,) = ledger.add(EVALUATION, name="B", inputs=inputs).inputs
    os.mkfifo(folder / "pipe")
    (folder / "link").symlink_to(tmp_path / "gone")
    assert ledger.add(EVALUATION, name="B", inputs=inputs).inputs == (alone,)
    os.mkfifo(tmp_path / "stdin")
    inputs = {"ground_truth": folder / "pipe", "detections": tmp_path / "stdin"}
    found = ledger.add(EVALUATION, name="B", inputs=inputs).inputs
    assert found == (("ground_truth", "pipe", None, None), ("detections", "-", None, None))
    assert ledger.run("B").inputs == found


def test_a_table_that_is_missing(ledger: Ledger) -> None:
    change(ledger, "DROP TABLE names")
    with pytest.raises(DatasetError, match="damaged: it lacks the table 'names'"):
        ledger.runs()


def test_another_program_that_does_not_let_go(ledger: Ledger) -> None:
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        impatient = Ledger(ledger.path, timeout=0.2)
        with pytest.raises(TimeoutError, match=r"another program uses the ledger for more than 0\.2 s"):
            impatient.add(EVALUATION, name="B")
        with pytest.raises(TimeoutError, match=r"runs\.db"):
            impatient.runs()
        db.execute("ROLLBACK")
    assert len(ledger.runs()) == 3


ADD = """
import resource, sys
from ioukit.runs import Ledger
from support.evaluated_scenes import made
evaluation = made(images=40, seed=9)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
Ledger(sys.argv[1]).add(evaluation, name="new")
"""


def run_program(program: str, *arguments: str | Path, **options: object) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, **options)  # type: ignore[call-overload,no-any-return]


def test_a_disk_that_is_full(ledger: Ledger, tmp_path: Path) -> None:
    """Wherever the room ends, the ledger is as it was."""
    pytest.importorskip("resource")
    runs, size = ledger.runs(), Path(ledger.path).stat().st_size
    for room in (0, 4096, size // 2, size + 4096):
        done = run_program(ADD, ledger.path, str(room))
        assert done.returncode == 1, room
        assert "OSError" in done.stderr.splitlines()[-1], done.stderr
        assert "runs.db" in done.stderr.splitlines()[-1]
        assert ledger.runs() == runs
        new = tmp_path / f"new{room}.db"
        done = run_program(ADD, new, str(min(room, 4096)))
        assert done.returncode == 1
        assert not new.exists() or Ledger(new).runs() == ()
    assert run_program(ADD, ledger.path, str(size + 2**20)).returncode == 0
    assert [run.reference for run in ledger.runs()][3:] == ["new@1"]
    assert not list(tmp_path.glob("*-journal"))


READ_ONLY = """
import difflib, os, sys, tempfile
from ioukit.runs import Ledger
from support.evaluated_scenes import made
evaluation = made(images=2)
with tempfile.TemporaryDirectory() as folder:  # imports all that another user may not be able to read
    ledger = Ledger(f"{folder}/runs.db")
    ledger.add(evaluation, name="B")
    _ = ledger.runs(), ledger.evaluation("B").summary, difflib
if os.getuid() == 0:
    os.setuid(65534)
ledger = Ledger(sys.argv[1])
print(len(ledger.runs()), ledger.evaluation("B").summary["AP"] >= 0)
for action in (lambda: ledger.add(evaluation, name="B"), lambda: ledger.delete(["B"]), ledger.check_writable):
    try:
        action()
    except PermissionError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are those of POSIX")
@pytest.mark.parametrize("version", ["this", "first"])
def test_a_file_that_is_read_only(ledger: Ledger, version: str) -> None:
    """It can be read, also if it is of an older version."""
    first = Path(__file__).parent.parent / "data" / "ledger" / "schema_1.db"
    with tempfile.TemporaryDirectory() as folder:  # which another user than root can reach
        path = shutil.copyfile(ledger.path if version == "this" else first, Path(folder) / "runs.db")
        os.chmod(path, 0o444)
        os.chmod(folder, 0o555)
        before = path.read_bytes()
        try:
            done = run_program(READ_ONLY, path)
            assert path.read_bytes() == before
        finally:
            os.chmod(folder, 0o755)
    lines = done.stdout.splitlines()
    assert lines[:1] == ["3 True"], done.stderr
    assert len(lines) == 4
    assert all("runs.db" in line and "Errno 13" in line for line in lines[1:])
