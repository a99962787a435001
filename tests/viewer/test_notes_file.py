"""Files of notes under bad conditions: no database, read-only, a full disk, many processes, and killed ones."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import pytest

from ioukit.datasets import GroundTruth
from ioukit.errors import DatasetError
from ioukit.runs import Ledger
from ioukit.viewer.answers.collection import Collection
from ioukit.viewer.marking.noted_marks import Noting
from ioukit.viewer.marking.notes import SCHEMA, Notes, Subject
from support.evaluated_scenes import made

IMAGE = Subject("image", 7)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "val.view.db", timeout=0.2)


def collection() -> Collection:
    evaluation = made(images=2)
    assert evaluation.ground_truth is not None
    return Collection.of(evaluation.ground_truth, {"a": evaluation})


def refused(notes: Notes, error: type[Exception], message: str) -> None:
    """The app works without: reading gives nothing and says why, writing raises, and the file stays as it is."""
    path = Path(notes.path or "")
    before = path.read_bytes() if path.is_file() else None
    assert not notes.read().entries
    assert message in str(notes.problem())
    if before is not None:
        assert message in str(notes.unread())
    with pytest.raises(error, match=message):
        notes.write(IMAGE, ["a"], "")
    shown = Noting(collection(), notes).to_json()
    assert message in shown["words"]
    assert path.name in shown["words"]
    if before is not None:
        assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"{}", b"\0", b"\xff" * 5000, b"SQLite format 3"])
def test_a_file_that_is_no_database(notes: Notes, content: bytes) -> None:
    Path(notes.path or "").write_bytes(content)
    refused(notes, DatasetError, "expected a file of notes of ioukit, found a file that is not a database of SQLite")


def test_a_database_of_another_program_and_a_ledger(notes: Notes) -> None:
    with closing(sqlite3.connect(notes.path or "")) as db, db:
        db.execute("CREATE TABLE photos (id INTEGER)")
    refused(notes, DatasetError, "found a database of another program with the tables 'photos'")
    os.remove(notes.path or "")
    Ledger(notes.path or "").add(made(images=2), name="run")
    refused(notes, DatasetError, "found a database of another program with the tables 'names', 'runs'")


def test_a_later_version(notes: Notes) -> None:
    notes.write(IMAGE, ["a"], "")
    with closing(sqlite3.connect(notes.path or "")) as db, db:
        db.execute(f"PRAGMA user_version = {SCHEMA.version + 1}")
    refused(Notes(notes.path), DatasetError, f"found version {SCHEMA.version + 1}: a later ioukit wrote it")


def test_a_missing_folder(tmp_path: Path) -> None:
    refused(Notes(tmp_path / "missing" / "a.db"), FileNotFoundError, "there is no folder")


def test_a_damaged_file(notes: Notes) -> None:
    for k in range(200):
        notes.write(Subject("image", k), ["a"], "x" * 500)
    path = Path(notes.path or "")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused(Notes(path), DatasetError, "the file of notes is damaged")
    path.write_bytes(whole)
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE notes SET note = x'00' WHERE id = 3")
    fresh = Notes(path)
    assert not fresh.read().entries
    assert "the entry 3 holds other values" in str(fresh.unread())


def test_a_file_that_breaks_later_keeps_what_was_read(notes: Notes) -> None:
    entry = notes.write(IMAGE, ["a"], "")
    assert notes.read().of(IMAGE) == entry
    whole = Path(notes.path or "").read_bytes()
    Path(notes.path or "").write_bytes(b"no database")
    assert notes.read().of(IMAGE) == entry
    assert "not a database" in str(notes.unread())
    Path(notes.path or "").write_bytes(whole)
    assert notes.read().of(IMAGE) == entry
    assert notes.unread() is None


def test_a_program_that_does_not_let_go(notes: Notes) -> None:
    entry = notes.write(IMAGE, ["a"], "")
    with closing(sqlite3.connect(notes.path or "", isolation_level=None)) as db:
        db.execute("BEGIN EXCLUSIVE")
        with pytest.raises(TimeoutError, match=r"another program uses the file of notes for more than 0\.2 s"):
            notes.write(IMAGE, ["b"], "")
        assert not Notes(notes.path, timeout=0.1).read().entries
        db.execute("ROLLBACK")
    assert notes.read().of(IMAGE) == entry


@pytest.mark.parametrize("lock", ["IMMEDIATE", "EXCLUSIVE"])
def test_who_reads_does_not_wait_for_a_program_that_does_not_let_go(tmp_path: Path, lock: str) -> None:
    shared, other = Notes(tmp_path / "val.view.db", timeout=60), Notes(tmp_path / "val.view.db")
    noting = Noting(collection(), shared)
    entry = shared.write(IMAGE, ["a"], "")
    assert shared.read().of(IMAGE) == entry
    newer = other.write(IMAGE, ["a", "b"], "")
    with closing(sqlite3.connect(shared.path or "", isolation_level=None)) as db:
        db.execute(f"BEGIN {lock}")
        start = time.monotonic()
        for _ in range(10):
            known = shared.read().of(IMAGE)
            words = noting.to_json()["words"]
            assert shared.problem() is None
        assert time.monotonic() - start < 5
        if lock == "IMMEDIATE":
            assert (known, words) == (newer, None)
        else:
            assert known == entry
            assert "another program uses the file of notes" in words
        db.execute("ROLLBACK")
    assert shared.write(IMAGE, ["a", "b", "c"], "").tags == ("a", "b", "c")
    assert shared.read().of(IMAGE).tags == ("a", "b", "c")
    assert shared.unread() is None


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
@pytest.mark.parametrize("dangling", [True, False])
def test_a_link_is_no_file_of_notes_unless_it_was_named(tmp_path: Path, *, dangling: bool) -> None:
    target, link = tmp_path / "elsewhere", tmp_path / "val.view.db"
    if not dangling:
        Notes(target).write(IMAGE, ["there"], "")
    link.symlink_to(target)
    before = None if dangling else target.read_bytes()
    unnamed = Notes(link, follow_link=False)
    assert not unnamed.read().entries
    assert "found a link" in str(unnamed.problem())
    with pytest.raises(OSError, match="found a link"):
        unnamed.write(IMAGE, ["a"], "")
    assert (target.read_bytes() if target.exists() else None) == before
    Notes(link).write(IMAGE, ["a"], "")
    assert Notes(target).read().of(IMAGE).tags == ("a",)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_the_default_file_of_notes_is_no_link(tmp_path: Path) -> None:
    pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
    from ioukit.viewer.server.building import app_of  # noqa: PLC0415 - after the check

    (tmp_path / "val.json").write_text('{"images": [{"id": 1}], "annotations": [], "categories": []}')
    (tmp_path / "val.view.db").symlink_to(tmp_path / "elsewhere")
    app, _ = app_of(GroundTruth.from_coco(tmp_path / "val.json"))
    assert "found a link" in app.views.notes()["words"]
    with pytest.raises(OSError, match="found a link"):
        app.views.write_note({"at": 0, "tags": ["a"], "note": ""})
    app.close()
    assert not (tmp_path / "elsewhere").exists()


def run_program(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


FULL = """
import resource, sys
from ioukit.viewer.marking.notes import Notes, Subject
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
Notes(sys.argv[1]).write(Subject("image", 1000), ["new"], "x" * 10_000)
"""


def test_a_disk_that_is_full(notes: Notes) -> None:
    pytest.importorskip("resource")
    for k in range(20):
        notes.write(Subject("image", k), ["a"], "x" * 1000)
    path = Path(notes.path or "")
    before, size = dict(notes.read().entries), path.stat().st_size
    for room in (0, 4096, size // 2, size + 4096):
        done = run_program(FULL, path, str(room))
        assert done.returncode == 1, room
        assert "OSError" in done.stderr.splitlines()[-1]
        assert "it is as it was" in done.stderr.splitlines()[-1].lower()
        assert dict(Notes(path).read().entries) == before
    assert run_program(FULL, path, str(size + 2**20)).returncode == 0
    assert Notes(path).read().of(Subject("image", 1000)).tags == ("new",)


READ_ONLY = """
import os, sys, tempfile
from ioukit.viewer.marking.notes import Notes, Subject
with tempfile.TemporaryDirectory() as folder:  # imports all that another user may not be able to read
    notes = Notes(f"{folder}/a.db")
    notes.write(Subject("image", 1), ["a"], "")
    notes.read(), notes.problem()
if os.getuid() == 0:
    os.setuid(65534)
for name in ("old.db", "new.db"):
    notes = Notes(f"{sys.argv[1]}/{name}")
    print(len(notes.read().entries), notes.unread(), notes.problem(), sep="|")
    try:
        notes.write(Subject("image", 1), ["b"], "")
    except PermissionError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="permissions of files are those of POSIX")
def test_a_folder_that_is_read_only(notes: Notes) -> None:
    """Notes that are there are shown."""
    notes.write(IMAGE, ["a"], "")
    with tempfile.TemporaryDirectory() as folder:  # which another user than root can reach
        path = shutil.copyfile(notes.path or "", Path(folder) / "old.db")
        os.chmod(path, 0o444)
        os.chmod(folder, 0o555)
        try:
            done = run_program(READ_ONLY, folder)
        finally:
            os.chmod(folder, 0o755)
        assert os.listdir(folder) == ["old.db"]
    lines = done.stdout.splitlines()
    assert len(lines) == 4, done.stderr
    assert lines[0].startswith("1|None|")
    assert lines[2].startswith("0|None|")
    assert "its folder does not let files be written" in lines[0]
    assert "its folder does not let files be written" in lines[2]
    assert "Errno 13" in lines[1]
    assert "Errno 13" in lines[3]


# ---- Many processes.

# Adds its own tag to one common entry, and an entry of its own, again and again; prints what is stored.
WRITER = """
import sys
from ioukit.viewer.marking.notes import Entry, Notes, Subject
notes, name = Notes(sys.argv[1], timeout=60), sys.argv[2]
print("ready", flush=True)
sys.stdin.readline()
common = Subject("image", "common")
for k in range(int(sys.argv[3])):
    known = notes.read().of(common)
    notes.write(Subject("image", name), [f"{k}"], f"{name} {k}")
    print(k, flush=True)
    if k % 5 == 0 and name not in known.tags:
        notes.write(common, [*known.tags, name], "", known)
"""


def started(path: str, name: str, rounds: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", WRITER, path, name, str(rounds)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
    )


def go(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


@pytest.mark.slow
def test_processes_that_write_at_once_lose_nothing(notes: Notes) -> None:
    names = [f"p{k}" for k in range(4)]
    processes = [started(notes.path or "", name, 12) for name in names]
    go(processes)
    assert [(process.communicate(), process.returncode)[1] for process in processes] == [0] * 4
    stored = Notes(notes.path).read()
    assert sorted(stored.of(Subject("image", "common")).tags) == names
    assert {stored.of(Subject("image", name)).note for name in names} == {f"{name} 11" for name in names}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize("seed", range(2))
def test_a_process_that_is_killed_loses_no_finished_note(notes: Notes, seed: int) -> None:
    rng = random.Random(seed)
    names = [f"p{k}" for k in range(3)]
    processes = [started(notes.path or "", name, 10_000) for name in names]
    go(processes)
    last: list[int] = []
    for process in processes:
        time.sleep(rng.expovariate(1 / 0.2))
        process.send_signal(signal.SIGKILL)
        text, _ = process.communicate()
        whole = [int(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]
        last.append(whole[-1] if whole else -1)
    stored = Notes(notes.path).read()
    for name, number in zip(names, last, strict=True):
        entry = stored.of(Subject("image", name))
        if number >= 0:
            written = int(entry.tags[0])
            assert entry.note == f"{name} {written}"  # both or none
            assert written in (number, number + 1)
    Notes(notes.path, timeout=5).write(IMAGE, ["after"], "")
    with closing(sqlite3.connect(notes.path or "")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert os.listdir(Path(notes.path or "").parent) == ["val.view.db"]
