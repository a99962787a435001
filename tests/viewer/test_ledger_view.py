"""`ioukit view` of a ledger: its runs as they are now, and the comparison of two of them."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import ioukit
from ioukit.runs import Ledger
from support.command import run_here
from support.paths import DEMO

pytest.importorskip("jinja2", reason="needs Jinja2: pip install 'ioukit[view]'")
pytest.importorskip("uvicorn", reason="needs uvicorn: pip install 'ioukit[view]'")

from ioukit.cli.view import _pages_of
from ioukit.viewer.server.running import Server
from support.viewing import Client

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    made = Ledger(tmp_path / "runs.db")
    for name in ("a", "b"):
        made.add(ioukit.evaluate(DEMO / "gt.json", DEMO / f"{name}.json"), name=name)
    return made


@pytest.fixture
def client(ledger: Ledger) -> Iterator[Client]:
    with Server(_pages_of(Path(ledger.path), 1), port=0) as server:
        yield Client(server.address())


def test_a_run_that_is_added_is_on_the_page_that_is_opened_next(ledger: Ledger, client: Client) -> None:
    first = client.ask("/").body.decode()
    assert '"number":1' in first
    assert '"name":"c"' not in first
    ledger.add(ioukit.evaluate(DEMO / "gt.json", DEMO / "a.json"), name="c")
    assert '"name":"c"' in client.ask("/").body.decode()


def test_two_runs_are_compared_as_by_the_command(ledger: Ledger, client: Client) -> None:
    page = client.ask("/compare?a=1&b=2")
    assert page.status == 200
    words = run_here("compare", ledger.path, "a@1", "b@1").out
    verdict = next(line for line in words.splitlines() if line)
    assert verdict in page.body.decode()
    assert "sandbox" not in str(page.header("content-security-policy"))


@pytest.mark.parametrize(
    ("address", "status", "words"),
    [
        ("/compare?a=1&b=9", 400, "there is no run"),
        ("/compare?a=1&b=x", 400, "expected the ids of two different runs"),
        ("/compare", 400, "expected the ids of two different runs"),
        ("/compare?a=1&b=1", 400, "expected the ids of two different runs"),
        ("/api/data", 404, "There is no such page."),
    ],
)
def test_what_is_wrong_is_said_to_the_reader(client: Client, address: str, status: int, words: str) -> None:
    reply = client.ask(address)
    assert reply.status == status
    assert words in reply.body.decode()
    assert str(reply.header("content-type")).startswith("text/plain")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--images", "."], "--images"),
        (["--issues"], "--issues"),
        (["--filter", "outcome=fp"], "--filter"),
        (["other.json"], "DT"),
    ],
)
def test_options_about_data_are_refused(ledger: Ledger, words: list[str], said: str) -> None:
    done = run_here("view", ledger.path, *words, "--no-browser")
    assert done.code == 2
    assert said in done.err
    assert "is a ledger" in done.err


def test_a_data_base_that_is_no_ledger_is_said_before_anything_is_served(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.db") as base:
        base.execute("create table t (x)")
    done = run_here("view", tmp_path / "other.db", "--no-browser")
    assert done.code == 2
    assert "other.db" in done.err
    assert done.out == ""
