"""`FolderGather`: processes with a common folder get the same messages, or an error that names who is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ioukit
from evaluation.sync_process import IMAGES, digest, filled, loop_images
from ioukit.evaluation import FolderGather
from ioukit.evaluation.evaluator import folder as gathering

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

HERE = Path(__file__).parent


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    folder = tmp_path / "shared"
    folder.mkdir()
    return folder


@pytest.fixture(autouse=True)
def fresh_rounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathering, "_rounds", {})


def start(rank: int, size: int, shared: Path, run: str, case: str = "", timeout: float = 60) -> subprocess.Popen[str]:
    paths = [str(Path(ioukit.__file__).parent.parent), str(HERE.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "PYTHONHASHSEED": str(rank + 1)}
    arguments = [str(rank), str(size), str(shared.parent), run, case, str(timeout)]
    return subprocess.Popen(
        [sys.executable, str(HERE / "folder_process.py"), *arguments],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(processes: Sequence[subprocess.Popen[str]]) -> list[int]:
    """The codes of processes that ended by themselves."""
    try:
        errors = [process.communicate(timeout=120)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    codes = [process.returncode for process in processes]
    assert 1 not in codes, "\n".join(errors)
    return codes


def answer_of(shared: Path, run: str, rank: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((shared.parent / f"{run}.{rank}.json").read_text(encoding="utf-8"))
    return found


def whole() -> str:
    return digest(filled(loop_images(), list(range(IMAGES)), near=0.1).compute())


@pytest.mark.parametrize(("size", "case"), [(2, ""), (4, "late"), (3, "rounds")])
def test_processes_get_the_bits_of_one(shared: Path, size: int, case: str) -> None:
    assert ended([start(rank, size, shared, "epoch-3", case) for rank in range(size)]) == [0] * size
    repeated = -IMAGES % size
    notes = [f"{repeated:,} images that were in two tables count once"] if repeated else []
    for rank in range(size):
        found = answer_of(shared, "epoch-3", rank)
        assert (found.get("digest"), found.get("notes")) == (whole(), notes), found
    assert list(shared.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(
    ("moment", "complaint"),
    [("before the message", "sent no message"), ("before the answer", "sent a message and then no answer")],
)
def test_a_killed_process_is_named_in_time(shared: Path, moment: str, complaint: str) -> None:
    assert ended([start(rank, 3, shared, "job", f"die {moment}", 4) for rank in range(3)]) == [0, 0, -9]
    for rank in range(2):
        found = answer_of(shared, "job", rank)
        assert found["error"].startswith("TimeoutError: FolderGather: waited 4 s, and rank 2"), found
        assert complaint in found["error"]
        assert found["seconds"] < 15
    assert list(shared.iterdir()) == []
    # The same job again, under the same name.
    assert ended([start(rank, 3, shared, "job") for rank in range(3)]) == [0] * 3
    assert {answer_of(shared, "job", rank)["digest"] for rank in range(3)} == {whole()}
    assert list(shared.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGKILL")
def test_a_process_that_starts_again_takes_the_place_of_the_killed_one(shared: Path) -> None:
    waiting = [start(rank, 3, shared, "job") for rank in range(2)]
    killed = start(2, 3, shared, "job", "die before the answer")
    killed.wait(60)
    again = start(2, 3, shared, "job")
    assert ended([*waiting, again, killed]) == [0, 0, 0, -9]
    assert {answer_of(shared, "job", rank)["digest"] for rank in range(3)} == {whole()}
    assert list(shared.iterdir()) == []


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What `work(rank)` returned or raised in threads that stand for processes."""
    found: list[Any] = [None] * count

    def run(rank: int) -> None:
        try:
            found[rank] = work(rank)
        except Exception as error:
            found[rank] = error

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return found


def gather_of(shared: Path, rank: int, size: int, run: str = "job", timeout: float = 30) -> FolderGather:
    return FolderGather(shared, rank=rank, world_size=size, run=run, timeout=timeout)


@given(st.data())
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_distribution_gives_the_same_bits(shared: Path, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 5))
    owners = data.draw(st.lists(st.sets(st.integers(0, size - 1), min_size=1), min_size=IMAGES, max_size=IMAGES))
    gathering._rounds.clear()

    def work(rank: int) -> str:
        share = [place for place, ranks in enumerate(owners) if rank in ranks]
        np.random.default_rng(rank).shuffle(share)
        evaluator = filled([loop_images()[place] for place in share], share, near=0.1)
        evaluator.sync(gather=gather_of(shared, rank, size))
        return digest(evaluator.compute())

    assert in_threads(size, work) == [whole()] * size
    assert list(shared.iterdir()) == []


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=6), st.integers(1, 3))
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_messages_come_in_the_order_of_the_ranks(shared: Path, messages: list[bytes], rounds: int) -> None:
    def work(rank: int) -> list[list[bytes]]:
        gather = gather_of(shared, rank, len(messages), "a/b: %ü")
        return [gather(bytes([number]) + messages[rank]) for number in range(rounds)]

    expected = [[bytes([number]) + message for message in messages] for number in range(rounds)]
    assert in_threads(len(messages), work) == [expected] * len(messages)
    assert list(shared.iterdir()) == []


def test_a_new_object_of_the_same_run_goes_on_with_the_rounds(shared: Path) -> None:
    def work(rank: int) -> list[list[bytes]]:
        return [gather_of(shared, rank, 4)(b"%d %d" % (rank, number)) for number in range(5)]

    expected = [[b"%d %d" % (rank, number) for rank in range(4)] for number in range(5)]
    assert in_threads(4, work) == [expected] * 4
    assert list(shared.iterdir()) == []


def test_many_processes_start_at_the_same_time(shared: Path) -> None:
    """Each removes what is left behind while others already write."""

    def work(rank: int) -> list[bytes]:
        return gather_of(shared, rank, 24)(b"%d" % rank)

    for _ in range(6):
        gathering._rounds.clear()  # as new processes
        assert in_threads(24, work) == [[b"%d" % rank for rank in range(24)]] * 24
        assert list(shared.iterdir()) == []


def left_behind(shared: Path, name: str) -> None:
    """The files of two processes whose job was killed before its end."""

    def work(rank: int) -> None:
        gathering._Round(gather_of(shared, rank, 2), shared / name, 0)._send(b"old %d" % rank)

    in_threads(2, work)


def test_files_of_a_killed_job_are_never_read(shared: Path) -> None:
    name = "ioukit-gather.job.0.of-2"
    left_behind(shared, name)
    old = {path.name: path.read_bytes() for path in (shared / name).iterdir()}
    assert sorted(old) == ["0.table", "1.table"]
    gathering._rounds.clear()
    gathers = [gather_of(shared, rank, 2) for rank in range(2)]
    assert list(shared.iterdir()) == []  # each process removed its own
    (shared / name).mkdir()
    for path, content in old.items():  # as if the other process had not started yet
        (shared / name / path).write_bytes(content)
    (shared / name / ".ioukit-cut.tmp").write_bytes(b"half a mess")

    def work(rank: int) -> list[bytes]:
        time.sleep(0.3 * rank)
        return gathers[rank](b"new %d" % rank)

    assert in_threads(2, work) == [[b"new 0", b"new 1"]] * 2
    assert list(shared.iterdir()) == []


def test_other_runs_rounds_and_numbers_of_processes_do_not_meet(shared: Path) -> None:
    def work(number: int) -> list[bytes]:
        rank, run = number % 2, f"run {number // 2}"
        return gather_of(shared, rank, 2, run)(run.encode() + b" %d" % rank)

    expected = [[f"run {run} {rank}".encode() for rank in range(2)] for run in range(3) for _ in range(2)]
    assert in_threads(6, work) == expected
    left_behind(shared, "ioukit-gather.job.0.of-2")
    gathering._rounds.clear()
    with pytest.raises(TimeoutError, match=r"rank 1, 2 of 3 processes .* the folder also has .*of-2") as caught:
        gather_of(shared, 0, 3, timeout=0.2)(b"alone")
    assert "do all processes have the same world_size?" in str(caught.value)


@pytest.mark.parametrize("keep", [0, 5, 200, -1])
def test_a_cut_message_names_its_process(shared: Path, keep: int) -> None:
    place = shared / "ioukit-gather.job.0.of-2"
    gathering._Round(gather_of(shared, 1, 2), place, 0)._send(b"a table" * 100)
    path = place / "1.table"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ioukit.DatasetError, match=r"the message of rank 1 \(.*1\.table\) is cut"):
        gather_of(shared, 0, 2)(b"own")
    assert [path.name for path in place.iterdir()] == ["1.table"]


@pytest.mark.parametrize(("old", "new", "message"), [(b"table", b"tabIe", "is damaged"), (b'"job"', b'"jab"', "is of")])
def test_a_damaged_message_names_its_process(shared: Path, old: bytes, new: bytes, message: str) -> None:
    place = shared / "ioukit-gather.job.0.of-2"
    gathering._Round(gather_of(shared, 1, 2), place, 0)._send(b"a table")
    path = place / "1.table"
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(ioukit.DatasetError, match=rf"the message of rank 1 \(.*1\.table\) {message}"):
        gather_of(shared, 0, 2)(b"own")


def test_two_processes_of_one_rank_are_refused(shared: Path) -> None:
    place = shared / "ioukit-gather.job.0.of-2"

    def work(number: int) -> Any:
        gather = gather_of(shared, 0, 2, timeout=3)
        if number:
            time.sleep(0.3)
        return gathering._Round(gather, place, 0).exchanged(b"message %d" % number)

    first, second = in_threads(2, work)
    assert isinstance(first, RuntimeError)
    assert "another process also has rank 0 in run 'job'" in str(first)
    assert isinstance(second, TimeoutError)
    assert list(shared.iterdir()) == []


def test_a_late_process_gets_an_error_and_leaves_nothing(shared: Path) -> None:
    def work(rank: int) -> Any:
        gather = gather_of(shared, rank, 3, timeout=0.6)
        time.sleep(1.2 if rank == 2 else 0)
        return gather(b"%d" % rank)

    errors = in_threads(3, work)
    assert [type(error) for error in errors] == [TimeoutError] * 3
    assert "rank 2 of 3 processes sent no message" in str(errors[0])
    assert list(shared.iterdir()) == []


def test_a_failure_in_the_loop_of_one_process_reaches_the_others(shared: Path) -> None:
    def work(rank: int) -> Any:
        evaluator = filled(loop_images()[rank : rank + 1], [rank])
        with evaluator.synced(gather=gather_of(shared, rank, 3)):
            if rank == 1:
                raise KeyError("frame 17")

    errors = in_threads(3, work)
    assert [type(error) for error in errors] == [RuntimeError, KeyError, RuntimeError]
    assert str(errors[0]) == "sync: process 1 failed: KeyError: 'frame 17'"
    assert list(shared.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_an_error(shared: Path) -> None:
    gather = gather_of(shared, 0, 2)
    shared.rmdir()
    with pytest.raises(FileNotFoundError):
        gather(b"own")


@pytest.mark.parametrize(
    ("wrong", "error", "message"),
    [
        ({"rank": 2}, ValueError, "rank must be within 0 and 1, got 2"),
        ({"rank": -1}, ValueError, "rank must be within 0 and 1, got -1"),
        ({"rank": True}, TypeError, "rank must be an integer, got True"),
        ({"rank": "0"}, TypeError, "rank must be an integer, got '0'"),
        ({"world_size": 0}, ValueError, "world_size must be at least 1, got 0"),
        ({"run": 3}, TypeError, "run must be a string, got int"),
        ({"run": ""}, ValueError, "run must have 1 to 100 characters, got ''"),
        ({"timeout": 0}, ValueError, "timeout must be above 0 seconds, got 0"),
        ({"timeout": float("nan")}, ValueError, "timeout must be above 0 seconds, got nan"),
        (
            {"folder": "nowhere"},
            ValueError,
            "folder must be an existing folder .*, nowhere is none",
        ),
    ],
)
def test_wrong_arguments_are_refused(shared: Path, wrong: dict[str, Any], error: Any, message: str) -> None:
    given_arguments: dict[str, Any] = {"rank": 0, "world_size": 2, "run": "job", "folder": shared, **wrong}
    with pytest.raises(error, match=message):
        FolderGather(given_arguments.pop("folder"), **given_arguments)
