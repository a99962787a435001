"""Tags and notes: what is stored, what they are about, and what happens to the file under bad conditions."""

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
from typing import Any

import numpy as np
import pytest

from ioukit import Detections, Evaluation, GroundTruth, evaluate
from ioukit.errors import DatasetError
from ioukit.viewer.collection import Collection
from ioukit.viewer.notes import (
    MOST_SIGNS_OF_NOTE,
    MOST_TAGS,
    SCHEMA,
    Entry,
    Notes,
    NotesConflictError,
    Subject,
    notes_file,
)
from ioukit.viewer.noting import Noting, Place
from support.evaluated_scenes import made

IMAGE = Subject("image", 7)


@pytest.fixture
def notes(tmp_path: Path) -> Notes:
    return Notes(tmp_path / "val.view.db", timeout=0.2)


def texts(entry: Entry) -> tuple[tuple[str, ...], str]:
    return entry.tags, entry.note


class TestStore:
    def test_an_entry_is_read_back_by_another_process(self, notes: Notes) -> None:
        assert notes.read().of(IMAGE) == Entry()
        assert notes.problem() is None
        assert not os.path.exists(notes.path or "")
        entry = notes.write(IMAGE, ["night", "  wet   road ", "night"], "line 1\r\nline 2 \x00\n")
        assert texts(entry) == (("night", "wet road"), "line 1\nline 2")
        assert notes.read().of(IMAGE) == Notes(notes.path).read().of(IMAGE) == entry
        assert entry.changed.endswith("Z")

    def test_ids_of_numbers_and_strings_differ(self, notes: Notes) -> None:
        notes.write(Subject("image", 1), ["number"], "")
        notes.write(Subject("image", "1"), ["text"], "")
        notes.write(Subject("object", 1, annotation=-(2**63)), ["object"], "")
        notes.write(Subject("detection", 1, model="a", fingerprint="f"), ["a"], "")
        notes.write(Subject("detection", 1, model="b", fingerprint="f"), ["b"], "")
        assert [entry.tags for entry in notes.read().entries.values()] == [
            ("number",), ("text",), ("object",), ("a",), ("b",)
        ]  # fmt: skip
        assert notes.read().tag_counts() == {"a": 1, "b": 1, "number": 1, "object": 1, "text": 1}

    def test_what_is_empty_is_removed(self, notes: Notes) -> None:
        notes.write(IMAGE, ["a"], "")
        assert notes.write(IMAGE, [], "  \n ") == Entry()
        assert not notes.read().entries
        with closing(sqlite3.connect(notes.path or "")) as db:
            assert db.execute("SELECT count(*) FROM tags").fetchone() == (0,)
        assert notes.write(IMAGE, [], "") == Entry()

    def test_nothing_is_written_if_nothing_changes(self, notes: Notes) -> None:
        first = notes.write(IMAGE, ["a", "b"], "n")
        before = Path(notes.path or "").read_bytes()
        assert notes.write(IMAGE, ["b", "a"], "n") == first
        assert Path(notes.path or "").read_bytes() == before
        assert notes.read() is notes.read()

    def test_characters_are_composed_and_halves_are_replaced(self, notes: Notes) -> None:
        entry = notes.write(IMAGE, ["cafe\u0301", "caf\u00e9", "\U0001f9d1\u200d\U0001f33e"], "\ud800 猫")
        assert texts(entry) == (("caf\u00e9", "\U0001f9d1\u200d\U0001f33e"), "? 猫")
        assert notes.read().of(IMAGE) == entry

    @pytest.mark.parametrize(
        ("tags", "note", "message"),
        [
            (["a" * 65], "", "a tag must have 1 to 64 characters, got 65"),
            ([" "], "", "a tag must have 1 to 64 characters, got 0"),
            (["a\u202eb"], "", "printable characters"),
            ([str(k) for k in range(MOST_TAGS + 1)], "", "at most 32 tags, got 33"),
            ([], "x" * (MOST_SIGNS_OF_NOTE + 1), "at most 10,000 characters, got 10,001"),
        ],
    )
    def test_limits(self, notes: Notes, tags: list[str], note: str, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            notes.write(IMAGE, tags, note)
        assert not os.path.exists(notes.path or "")

    def test_data_without_a_file_has_no_notes(self) -> None:
        notes = Notes(None)
        assert "Notes need a file" in str(notes.problem())
        assert notes.name is None
        assert not notes.read().entries
        with pytest.raises(OSError, match="Notes need a file"):
            notes.write(IMAGE, ["a"], "")


class TestTwoWriters:
    """Two windows that read the same entry, and change it one after the other."""

    def test_tags_of_both_are_kept(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a", "b"], "")
        other = Notes(notes.path)
        other.write(IMAGE, ["a", "b", "theirs"], "", was)
        assert notes.write(IMAGE, ["b", "mine"], "", was).tags == ("b", "theirs", "mine")
        assert notes.read().of(IMAGE).tags == other.read().of(IMAGE).tags

    def test_a_note_and_a_tag_do_not_disturb_each_other(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a"], "old")
        notes.write(IMAGE, ["a"], "theirs", was)
        assert texts(notes.write(IMAGE, ["a", "b"], "old", was)) == (("a", "b"), "theirs")

    def test_a_note_that_both_changed_is_refused_with_what_is_stored(self, notes: Notes) -> None:
        was = notes.write(IMAGE, ["a"], "old")
        notes.write(IMAGE, ["a"], "theirs", was)
        with pytest.raises(NotesConflictError) as caught:
            notes.write(IMAGE, ["a", "b"], "mine", was)
        assert caught.value.entry.note == "theirs"
        assert texts(notes.read().of(IMAGE)) == (("a",), "theirs")
        assert notes.write(IMAGE, ["a"], "theirs", was).note == "theirs"  # both wrote the same

    def test_merged_tags_keep_the_limit(self, notes: Notes) -> None:
        notes.write(IMAGE, [f"t{k}" for k in range(20)], "")
        with pytest.raises(ValueError, match="at most 32 tags, got 40"):
            notes.write(IMAGE, [f"m{k}" for k in range(20)], "", Entry())
        assert len(notes.read().of(IMAGE).tags) == 20

    def test_what_another_process_writes_is_seen(self, notes: Notes) -> None:
        notes.write(IMAGE, ["a"], "")
        first = notes.read()
        Notes(notes.path).write(IMAGE, ["a", "b"], "")
        assert notes.read() is not first
        assert notes.read().of(IMAGE).tags == ("a", "b")
        os.remove(notes.path or "")
        assert not notes.read().entries
        Notes(notes.path).write(IMAGE, ["c"], "")
        assert notes.read().of(IMAGE).tags == ("c",)


def collection(**more: Any) -> Collection:
    evaluation = made(images=6, **more)
    assert evaluation.ground_truth is not None
    return Collection.of(evaluation.ground_truth, {"a": evaluation, "b": evaluation})


def doubled_detections() -> Collection:
    """Three equal detections, and one with a zero of the other sign."""
    gt = GroundTruth.from_arrays(image_ids=["x"], category_ids=[1], boxes=[[0, 0, 9, 9]])
    boxes = [[1.0, 2, 3, 4]] * 3 + [[0.0, 2, 3, 4], [-0.0, 2, 3, 4]]
    dt = Detections.from_arrays(image_ids=["x"] * 5, category_ids=[1] * 5, boxes=boxes, scores=[0.5] * 5)
    return Collection.of(gt, {"a": evaluate(gt, dt)})


class TestPlaces:
    def test_every_image_and_mark_is_found_again_in_a_new_evaluation(self, notes: Notes) -> None:
        shown = collection()
        noting = Noting(shown, notes)
        places = [Place(at) for at in range(6)]
        places += [
            Place(int(at), 0, int(row))
            for at, row in zip(shown.table.objects.image, shown.table.objects.row, strict=True)
        ]
        for side, model in enumerate(shown.models, 1):
            rows = model.table.detections
            places += [Place(int(at), side, int(row)) for at, row in zip(rows.image, rows.row, strict=True)]
        subjects = [noting.subject(place) for place in places]
        assert len(set(subjects)) == len(places) > 60

        truth, found = shown.ground_truth, shown.models[0].evaluation.detections
        assert found is not None
        order = np.random.default_rng(0).permutation(len(found))
        mixed = evaluate(truth.take(np.arange(len(truth))[::-1]), found.take(order))
        assert mixed.ground_truth is not None
        again = Noting(Collection.of(mixed.ground_truth, {"b": mixed, "a": mixed}), notes)
        for place, subject in zip(places, subjects, strict=True):
            there = again.place(subject)
            assert there is not None
            assert there.at == place.at
            if place.side == 0:
                assert mixed.ground_truth.ids[there.row] == truth.ids[place.row]
            elif place.side is not None:
                assert there.side == 3 - place.side  # the models are in the other order
                assert order[there.row] == place.row

    def test_equal_detections_are_numbered(self, notes: Notes) -> None:
        noting = Noting(doubled_detections(), notes)
        prints = [noting.subject(Place(0, 1, row)).fingerprint for row in range(5)]
        assert [one[24:] for one in prints] == ["", ":2", ":3", "", ":2"]
        assert len({one[:24] for one in prints}) == 2

    def test_what_is_not_there_is_refused(self, notes: Notes) -> None:
        noting = Noting(collection(), notes)
        for place, message in (
            (Place(6), "no image at position 6"),
            (Place(-1), "no image at position -1"),
            (Place(0, 0, 10**6), "no object 1000000 on image 1"),
            (Place(0, 0, None), "no object None"),
            (Place(0, 1, 10**6), "no detection 1000000 on image 1"),
            (Place(0, 3, 0), "side must be from 0 to 2, got 3"),
        ):
            with pytest.raises(ValueError, match=message):
                noting.subject(place)

    def test_entries_about_something_else_are_kept_and_counted(self, notes: Notes) -> None:
        notes.write(Subject("image", 99), ["other"], "")
        notes.write(Subject("image", 1), ["mine"], "")
        notes.write(Subject("object", 1, annotation=10**6), ["gone"], "")
        notes.write(Subject("detection", 1, model="c", fingerprint="f"), ["gone"], "")
        notes.write(Subject("detection", 1, model="a", fingerprint="f"), ["gone"], "")
        noting = Noting(collection(), notes)
        assert list(noting.entries()) == [Place(0)]
        assert noting.to_json()["elsewhere"] == 4
        assert {one["name"] for one in noting.to_json()["tags"]} == {"other", "mine", "gone"}

    def test_images_are_tagged_by_themselves_and_by_their_marks(self, notes: Notes) -> None:
        shown = collection()
        noting = Noting(shown, notes)
        row = int(shown.table.objects.row[shown.objects_of(2)][0])
        noting.write({"at": 0, "tags": ["t"], "note": ""})
        noting.write({"at": 2, "side": 0, "row": row, "tags": ["t", "u"], "note": "n"})
        tagged = noting.tagged()
        assert {tag: places.tolist() for tag, places in tagged.tags.items()} == {"t": [0, 2], "u": [2]}
        assert tagged.noted.tolist() == [2]
        assert dict(noting.of_image(2)) == {Place(2, 0, row): noting.entry(Place(2, 0, row))}
        assert noting.tagged() is tagged
        assert noting.to_json()["tags"][0] == {"name": "t", "count": 2, "images": 2}

    @pytest.mark.parametrize(
        ("request_", "message"),
        [
            ([], "expected an object with at"),
            ({"tags": []}, "at must be a whole number, got None"),
            ({"at": True}, "at must be a whole number, got True"),
            ({"at": 0.0}, "at must be a whole number"),
            ({"at": 10**30}, "no image at position"),
            ({"at": 0, "side": "0"}, "side must be a whole number"),
            ({"at": 0, "tags": "t"}, "tags must be a list of texts"),
            ({"at": 0, "tags": [1]}, "tags must be a list of texts"),
            ({"at": 0, "note": None}, "note must be a text"),
            ({"at": 0, "was": []}, "was must be an object"),
            ({"at": 0, "was": {"tags": 3}}, "tags must be a list"),
        ],
    )
    def test_requests_that_are_none(self, notes: Notes, request_: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Noting(collection(), notes).write(request_)
        assert not os.path.exists(notes.path or "")

    def test_a_match_table_alone_has_no_detections_to_note(self, notes: Notes) -> None:
        evaluation = made(images=6)
        assert evaluation.ground_truth is not None
        alone = Evaluation.from_table(evaluation.near_matches())
        noting = Noting(Collection.of(evaluation.ground_truth, {"a": alone}), notes)
        with pytest.raises(ValueError, match="no detection 0"):
            noting.subject(Place(0, 1, 0))


def test_the_file_stands_beside_the_ground_truth(tmp_path: Path) -> None:
    for name, expected in (("val.json", "val.view.db"), ("a.b.json.gz", "a.b.view.db"), ("x", "x.view.db")):
        (tmp_path / name).touch()
        assert notes_file(str(tmp_path / name)) == str(tmp_path / expected)
    (tmp_path / "labels.v2").mkdir()
    assert notes_file(str(tmp_path / "labels.v2")) == str(tmp_path / "labels.v2.view.db")
    assert notes_file("ground truth") is None


# ---- Files that cannot be used.


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
    from ioukit.ledger import Ledger  # noqa: PLC0415 - for this test alone

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


def run_program(program: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


FULL = """
import resource, sys
from ioukit.viewer.notes import Notes, Subject
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
from ioukit.viewer.notes import Notes, Subject
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
from ioukit.viewer.notes import Entry, Notes, Subject
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
