"""Eight processes at once, ended by ``kill -9`` at any moment: no finished run is lost, none is half there."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ioukit.runs import Ledger

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL"),
]

PROCESSES, ROUNDS = 8, 3
# Adds runs until it is ended, and prints each that is finished. Every third time, it deletes one of its own.
PROGRAM = """
import sys
from ioukit.runs import Ledger
from support.evaluated_scenes import made
ledger, name = Ledger(sys.argv[1]), sys.argv[2]
evaluations = [made(images=60, seed=seed) for seed in range(3)]
print("ready", flush=True)
sys.stdin.readline()
for k in range(int(sys.argv[3])):
    run = ledger.add(evaluations[k % 3], name=name, values={"k": k})
    print("added", run.uid, run.id, flush=True)
    if k % 3 == 2:
        print("deleting", run.uid, flush=True)
        ledger.delete([run.id])
        print("deleted", run.uid, flush=True)
"""


def start(path: str, name: str, runs: int) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-c", PROGRAM, path, name, str(runs)]
    return subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, bufsize=1
    )


def go(processes: list[subprocess.Popen[str]]) -> None:
    """All begin at once: the first of them make the file."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def words(process: subprocess.Popen[str]) -> list[list[str]]:
    """The lines that the process finished writing."""
    text, _ = process.communicate()
    return [line.split() for line in text.splitlines(keepends=True) if line.endswith("\n")]


def check(ledger: Ledger, said: list[list[str]]) -> int:
    """The ledger has what was added and not deleted; every run in it is whole. Returns how many there are."""
    with closing(sqlite3.connect(ledger.path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    runs = ledger.runs()
    there = {run.uid for run in runs}
    added, deleting, deleted = (
        {line[1] for line in said if line[0] == word} for word in ("added", "deleting", "deleted")
    )
    assert added - deleting <= there
    assert not deleted & there
    assert len({run.reference for run in runs}) == len({run.id for run in runs}) == len(runs)
    for run in runs:
        assert ledger.evaluation(run).to_dict()["summary"] == run.to_dict()["summary"]
    return len(runs)


def test_processes_wait_for_each_other(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "runs.db")
    processes = [start(ledger.path, "same name", 12) for _ in range(PROCESSES)]
    go(processes)
    said = [line for process in processes for line in words(process)]
    assert [process.wait() for process in processes] == [0] * PROCESSES
    assert check(ledger, said) == PROCESSES * 8
    assert sum(line[0] == "added" for line in said) == PROCESSES * 12
    numbers = sorted(run.number for run in ledger.runs())
    assert numbers[-1] <= PROCESSES * 12


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_kill_loses_no_finished_run(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    ledger = Ledger(tmp_path / "runs.db")
    processes = [start(ledger.path, f"process {k}", 10_000) for k in range(PROCESSES)]
    go(processes)
    for process in rng.sample(processes, len(processes)):
        time.sleep(rng.expovariate(1 / (0.005 if seed == 0 else 0.15)))
        process.send_signal(signal.SIGKILL)
        process.wait()
    said = [line for process in processes for line in words(process)]
    left = 0
    if Path(ledger.path).exists():
        left = check(ledger, said)
    assert left or not said
    # What was killed holds nobody up, and its half-written transaction is gone.
    processes = [start(ledger.path, "after", 3) for _ in range(2)]
    go(processes)
    said += [line for process in processes for line in words(process)]
    assert [process.wait() for process in processes] == [0, 0]
    assert check(ledger, said) == left + 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["runs.db"]
