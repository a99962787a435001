"""Evaluation on Ray when Ray's monitor ends workers because no memory is left: the same bits or a clear error.

The monitor is Ray's own. Its limit is a little above what this machine has in use, so that tasks reach it for certain.
It counts the memory of all processes, also of those that end or begin beside the tests. So these tests run by hand,
on a machine that does nothing else:

    IOUKIT_RAY_MONITOR=1 pytest -n 0 tests/scale/test_ray_memory.py
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ioukit import Detections, Evaluation, GroundTruth, scale
from support import ray_faults
from support.same_columns import assert_same_evaluation

if TYPE_CHECKING:
    from collections.abc import Iterator

pytest.importorskip("pyarrow")
ray = pytest.importorskip("ray", reason="evaluation on Ray needs Ray: pip install 'ioukit[ray]'")
pytestmark = [
    pytest.mark.skipif(not Path("/proc/meminfo").exists(), reason="reads /proc"),
    pytest.mark.skipif(
        "IOUKIT_RAY_MONITOR" not in os.environ,
        reason="Ray's monitor counts the memory of all processes: set IOUKIT_RAY_MONITOR=1 on an idle machine",
    ),
    pytest.mark.usefixtures("nothing_left", "watched"),
    pytest.mark.filterwarnings("ignore::FutureWarning:ray"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
LIMIT = 2_200_000_000
"""Bytes that may be in use beside those that are at the start: for the cluster, and what else the machine does."""


def memory_in_use() -> tuple[int, int]:
    """The bytes that are in use, and those that there are: of this container, if it has a limit, as Ray counts them."""
    lines = dict(line.split(":") for line in Path("/proc/meminfo").read_text().splitlines())
    total, free = (int(lines[name].split()[0]) * 1024 for name in ("MemTotal", "MemAvailable"))
    group = Path("/sys/fs/cgroup")
    limit = (group / "memory.max").read_text().strip() if (group / "memory.max").exists() else "max"
    if limit == "max" or int(limit) >= total:
        return total - free, total
    cached = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    return int((group / "memory.current").read_text()) - int(cached["inactive_file"]), int(limit)


def settled_memory() -> tuple[int, int]:
    """The memory in use and that there is, as soon as processes of earlier tests have given theirs back."""
    before, total = memory_in_use()
    for _ in range(30):
        time.sleep(1)
        used, total = memory_in_use()
        if used > before - 20_000_000:
            return used, total
        before = used
    return before, total


@pytest.fixture(scope="module")
def watched(environment: None) -> Iterator[None]:  # noqa: ARG001 - workers inherit it
    """A cluster of this machine whose monitor has a limit that tasks can reach."""
    used, total = settled_memory()
    if total - used < ray_faults.FILLED + 1_000_000_000:
        pytest.skip("too little memory is free for a task that takes it until it is ended")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_memory_usage_threshold", str((used + LIMIT) / total))
        # The system takes its time to give back what a worker had: a quicker look would kill the next process, too.
        patch.setenv("RAY_memory_monitor_refresh_ms", "1000")
        patch.setenv("RAY_max_kill_memory_buffer_bytes", "1000000")  # so that the one worker is enough
        ray.init(num_cpus=2, object_store_memory=100_000_000, **ray_faults.options())
        yield
        ray.shutdown()


def test_a_part_is_matched_with_fewer_rows(real: tuple[GroundTruth, Detections], expected: Evaluation) -> None:
    ray_faults.plant("match_step", "fill", 100)
    ours = scale.evaluate(*real, near=0.1, parts=1, on="ray", timeout=60)
    assert ray_faults.planted_times() >= 3  # 3,380, 1,690 and 845 rows at a time
    assert_same_evaluation(ours, expected)


@pytest.mark.parametrize(
    ("step", "name"), [("match_step", r"part 0 of 1 \(images \d+ to \d+\)"), ("conduct", "the ev")]
)
def test_what_takes_too_much_in_any_case_is_named(real: tuple[GroundTruth, Detections], step: str, name: str) -> None:
    ray_faults.plant(step, "overfill", 100)
    start = time.monotonic()
    with pytest.raises(MemoryError, match=rf"^{name}.*: killed.* because its node ran out of memory: use more parts"):
        scale.evaluate(*real, parts=1, on="ray")  # without a time limit
    assert 4 <= ray_faults.planted_times() <= 16  # not for ever
    assert time.monotonic() - start < 60
