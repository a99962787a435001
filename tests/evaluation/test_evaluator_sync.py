"""`Evaluator.sync`: each process gets the bits of one evaluator with all images. Errors reach every process."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

import ioukit
from evaluation.loop_batches import batch_of
from evaluation.sync_process import IMAGES, digest, filled, loop_images, moved_labels
from ioukit.evaluation.evaluator.state import _device_of, state_message

if TYPE_CHECKING:
    from collections.abc import Callable

WORLD = 4
SIZES = (1, 2, 4)
Results = list[dict[str, Any]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """What each of four processes wrote."""
    if importlib.util.find_spec("torch") is None:
        pytest.skip("torch is not installed")
    folder = tmp_path_factory.mktemp("sync")
    script = Path(__file__).parent / "sync_process.py"
    paths = [str(Path(ioukit.__file__).parent.parent), str(script.parent.parent)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}
    processes = [
        subprocess.Popen(
            [sys.executable, str(script), str(rank), str(WORLD), str(folder)],
            env=environment,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(WORLD)
    ]
    try:
        errors = [process.communicate(timeout=120)[1] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert [process.returncode for process in processes] == [0] * WORLD, "\n".join(errors)
    return [json.loads((folder / f"{rank}.json").read_text(encoding="utf-8")) for rank in range(WORLD)]


def of_case(results: Results, name: str, size: int) -> list[Any]:
    return [results[rank][f"{name} {size}"] for rank in range(size)]


@pytest.mark.parametrize("size", SIZES)
def test_padded_images_count_once(results: Results, size: int) -> None:
    whole = filled(loop_images(), [50 - place for place in range(IMAGES)], near=0.1).compute()
    repeated = -IMAGES % size
    notes = [f"{repeated:,} images that were in two tables count once"] if repeated else []
    assert of_case(results, "padded", size) == [[digest(whole), notes]] * size


@pytest.mark.parametrize("size", SIZES)
def test_images_are_numbered_on_in_the_order_of_the_ranks(results: Results, size: int) -> None:
    assert of_case(results, "numbered", size) == [digest(filled(loop_images(), None).compute())] * size


@pytest.mark.parametrize("size", SIZES)
def test_processes_see_different_categories(results: Results, size: int) -> None:
    whole = filled(moved_labels(), list(range(IMAGES))).compute()
    assert of_case(results, "other_categories", size) == [digest(whole)] * size


@pytest.mark.parametrize("size", SIZES)
def test_an_update_that_fails_in_one_process_stops_all(results: Results, size: int) -> None:
    message = "DatasetError: predictions[0]: boxes: row 0: expected x1 <= x2 and y1 <= y2, found [5.0, 5.0, 1.0, 1.0]"
    *others, failed = of_case(results, "failed_loop", size)
    assert failed.startswith(message)
    assert others == [f"RuntimeError: sync: process {size - 1} failed: {failed}"] * (size - 1)


@pytest.mark.parametrize("size", SIZES)
def test_matching_that_fails_in_one_process_stops_all(results: Results, size: int) -> None:
    *others, failed = of_case(results, "failed_matching", size)
    assert failed == "MemoryError: no room"
    assert others == [f"RuntimeError: sync: process {size - 1} failed: MemoryError: no room"] * (size - 1)


@pytest.mark.parametrize("size", SIZES)
def test_images_come_after_a_sync(results: Results, size: int) -> None:
    assert of_case(results, "going_on", size) == [digest(filled(loop_images(), list(range(IMAGES))).compute())] * size


@pytest.mark.parametrize("size", SIZES)
def test_ids_of_some_processes_alone_are_refused(results: Results, size: int) -> None:
    message = "sync: some processes were given ids of images, others were not: give ids to all, or to none"
    assert of_case(results, "some_with_ids", size) == ([message] * size if size > 1 else [1])


@pytest.mark.parametrize("size", SIZES)
def test_no_process_has_images(results: Results, size: int) -> None:
    for found in of_case(results, "nobody_has_images", size):
        assert found.startswith("compute needs at least one image")


def test_a_process_that_dies_gives_the_others_an_error(results: Results) -> None:
    for rank in range(WORLD - 1):
        assert results[rank]["dead"].startswith(("RuntimeError", "DistBackendError"))


def test_without_a_group_the_process_is_alone() -> None:
    pytest.importorskip("torch")
    evaluator = filled(loop_images(), None)
    before = digest(evaluator.compute())
    evaluator.sync()
    assert digest(evaluator.compute()) == before


def threads_of(size: int, work: Callable[[int, Any], None]) -> None:
    """Runs `work(rank, gather)` in threads that stand for processes of another library."""
    barrier, box = threading.Barrier(size), [b""] * size

    def gather_of(rank: int) -> Any:
        def gather(message: bytes) -> list[bytes]:
            box[rank] = message
            barrier.wait(30)
            received = list(box)
            barrier.wait(30)
            return received

        return gather

    failures: list[BaseException] = []

    def run(rank: int) -> None:
        try:
            work(rank, gather_of(rank))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_another_library_gathers() -> None:
    whole = digest(filled(loop_images(), list(range(IMAGES))).compute())
    found: dict[int, str] = {}

    def work(rank: int, gather: Any) -> None:
        share = list(range(IMAGES))[rank::3]
        evaluator = filled([loop_images()[place] for place in share], share)
        evaluator.sync(gather=gather)
        found[rank] = digest(evaluator.compute())

    threads_of(3, work)
    assert found == dict.fromkeys(range(3), whole)


def test_an_interrupt_in_the_block_reaches_the_others() -> None:
    found: dict[int, str] = {}

    def work(rank: int, gather: Any) -> None:
        evaluator = filled(loop_images()[rank : rank + 1], None)
        try:
            with evaluator.synced(gather=gather) as same:
                assert same is evaluator
                if rank == 1:
                    raise KeyboardInterrupt
        except BaseException as error:
            found[rank] = repr(error)

    threads_of(2, work)
    assert found == {0: "RuntimeError('sync: process 1 failed: KeyboardInterrupt: ')", 1: "KeyboardInterrupt()"}


def test_other_settings_stop_all() -> None:
    found: dict[int, str] = {}

    def work(rank: int, gather: Any) -> None:
        evaluator = filled(loop_images()[rank : rank + 1], [rank], near=0.1 if rank else None)
        with pytest.raises(ValueError, match="tables with different near pairs do not go together") as caught:
            evaluator.sync(gather=gather)
        found[rank] = str(caught.value)

    threads_of(2, work)
    assert len(set(found.values())) == 1


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (None, TypeError, "gather must return a list with the bytes of every process, got NoneType"),
        ([1], TypeError, "gather must return a list with the bytes of every process, got other values"),
        ([], ValueError, "those of this process are missing"),
        ([b"other"], ValueError, "those of this process are missing"),
    ],
)
def test_a_wrong_gather_is_refused(answer: Any, error: Any, message: str) -> None:
    evaluator = filled(loop_images(), None)
    with pytest.raises(error, match=message):
        evaluator.sync(gather=lambda _: answer)
    assert len(evaluator) == IMAGES


def test_what_cannot_be_called_gathers_nothing() -> None:
    evaluator = filled(loop_images(), None)
    gather: Any = 3
    with pytest.raises(TypeError, match="gather must be a function from bytes to a list of bytes, got int"):
        evaluator.sync(gather=gather)
    assert len(evaluator) == IMAGES


def test_bytes_of_something_else_are_refused() -> None:
    evaluator = filled(loop_images(), None)
    with pytest.raises(ioukit.DatasetError, match="sync: expected the bytes that process 1 sent, found others"):
        evaluator.sync(gather=lambda own: [own, b"other"])
    with pytest.raises(ioukit.DatasetError, match="sync: process 1: table: the match table is cut or damaged"):
        evaluator.sync(gather=lambda own: [own, own[:-100]])


@pytest.mark.parametrize(
    ("config", "device"),
    [("cuda:nccl", "cuda 3"), ("cpu:gloo,cuda:nccl", "cpu"), ("cpu:gloo,cuda:gloo", "cpu"), ("xpu:xccl", "xpu 3")],
)
def test_the_device_is_that_of_the_group(config: str, device: str) -> None:
    current = SimpleNamespace(current_device=lambda: 3)
    torch = SimpleNamespace(device=lambda *parts: " ".join(map(str, parts)), cuda=current, xpu=current)
    distributed = SimpleNamespace(get_backend_config=lambda _: config)
    assert _device_of(torch, distributed, None) == device


def test_merging_after_a_sync_goes_on_with_the_own_images() -> None:
    evaluator = filled(loop_images()[:5], list(range(5)))
    other = filled(loop_images()[5:9], list(range(5, 9)))
    message = state_message(other._images.state())
    evaluator.sync(gather=lambda own: [own, message])
    assert len(evaluator) == 9
    evaluator.update(*batch_of(loop_images()[9:]), image_ids=list(range(9, IMAGES)))
    assert len(evaluator) == IMAGES - 4
    evaluator.merge(other)
    assert digest(evaluator.compute()) == digest(filled(loop_images(), list(range(IMAGES))).compute())
