"""Ledgers of older versions are brought up to date, by one process and by many at once."""

from __future__ import annotations

import json
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ioukit import DatasetError
from ioukit.runs import Ledger
from ioukit.runs.ledger import schema
from support.evaluated_scenes import made

DATA = Path(__file__).parent.parent / "data" / "ledger"
EXPECTED: list[dict[str, Any]] = json.loads((DATA / "schema_1.json").read_text(encoding="utf-8"))


def written_by(version: int, folder: Path) -> Ledger:
    """A ledger that a version wrote: B three times, the first two with equal tables; an A before was deleted."""
    return Ledger(shutil.copyfile(DATA / f"schema_{version}.db", folder / "runs.db"))


@pytest.fixture
def first(tmp_path: Path) -> Ledger:
    return written_by(1, tmp_path)


def layout(path: str) -> list[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as db:
        found: list[tuple[str, str]] = db.execute("SELECT name, sql FROM sqlite_master ORDER BY name").fetchall()
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        return found


@pytest.mark.parametrize("version", [1, 2])
def test_nothing_is_lost(version: int, tmp_path: Path) -> None:
    first = written_by(version, tmp_path)
    runs = first.runs()
    assert [(run.id, run.reference) for run in runs] == [(2, "B@1"), (3, "B@2"), (4, "B@3")]
    for k, (run, expected) in enumerate(zip(runs, EXPECTED, strict=True), 1):
        found = first.evaluation(run).to_dict()
        assert {key: found[key] for key in expected} == expected
        assert run.to_dict()["summary"] == expected["summary"]
        assert not run.intervals
        assert (run.tags, run.values, run.created) == (
            {"lr": f"1e-{k}"},
            {"latency": 10.5 + k},
            f"2026-11-22T12:00:0{k}Z",
        )
    with closing(sqlite3.connect(first.path)) as db:
        assert db.execute("SELECT count(*) FROM tables").fetchone() == (2,)
    assert first.add(made(images=2), name="A").reference == "A@2"  # numbers and ids of deleted runs do not come back
    assert [run.id for run in first.runs()] == [2, 3, 4, 5]
    new = Ledger(tmp_path / "new.db")
    new.add(made(images=2), name="A")
    assert layout(first.path) == layout(new.path)


def test_deleted_ids_do_not_come_back(first: Ledger) -> None:
    with closing(sqlite3.connect(first.path)) as db, db:
        db.execute("DELETE FROM runs WHERE id = 4")
    assert first.add(made(images=2), name="B").id == 5


@pytest.mark.parametrize("method", ["add", "delete", "runs", "run", "evaluation", "copy_to"])
def test_every_method_brings_it_up_to_date(first: Ledger, method: str, tmp_path: Path) -> None:
    if method == "add":
        first.add(made(images=2), name="C")
    elif method == "delete":
        first.delete(["B"])
    elif method == "copy_to":
        first.copy_to(Ledger(tmp_path / "copy.db"))
    else:
        getattr(first, method)(*() if method == "runs" else ("B",))
    layout(first.path)


def test_many_do_it_at_once(first: Ledger) -> None:
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: Ledger(first.path).runs(), range(24)))
    assert set(found) == {first.runs()}


def test_a_step_that_fails_leaves_the_file_as_it_was(first: Ledger) -> None:
    with closing(sqlite3.connect(first.path)) as db, db:
        db.execute("CREATE TABLE first_runs (id)")  # in the way of the step
    before = Path(first.path).read_bytes()
    with pytest.raises(DatasetError, match=r"runs\.db: the ledger is damaged: there is already another table"):
        first.runs()
    assert Path(first.path).read_bytes() == before


def test_the_data_are_of_every_version_before() -> None:
    for version in (1, 2):
        with closing(sqlite3.connect(f"file:{DATA / f'schema_{version}.db'}?mode=ro", uri=True)) as db:
            assert db.execute("PRAGMA user_version").fetchone() == (version,)
    assert schema.VERSION == 3, "a new version needs the data of the last one here"
