"""Faults in the tasks of a Ray cluster: what a task does is read from a file whenever a step begins."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["FAULTS", "LIMIT", "STEPS", "clear", "install", "options", "plant", "planted_times"]

FAULTS = "IOUKIT_TEST_FAULTS"
"""The environment variable with the folder in which the faults are described."""
LIMIT = 80_000_000
"""Bytes that a step may take beside what its process has, with the fault `limit`."""
FILLING = 1_000
"""Rows at a time of a step that `fill` lets live."""
FILLED = 3_000_000_000
"""Bytes that `fill` takes at most. The system has so many more, or the test is skipped."""
STEPS = {
    "read_step": "ray_steps",
    "match_step": "ray_steps",
    "draw_step": "ray_steps",
    "conduct": "ray_conductor",
    "call": "ray_tasks",
}


def options() -> dict[str, Any]:
    """Of `ray.init`, which may change them: the steps of the workers look for faults."""
    return {
        "include_dashboard": False,
        "log_to_driver": False,
        "logging_level": "ERROR",
        "runtime_env": {"worker_process_setup_hook": "support.ray_faults.install"},
    }


def plant(step: str, fault: str, times: int) -> None:
    """Let the next calls of a step `kill` their worker, run out of `memory`, `sleep`, `wait`, run `twice`, and others.

    `limit` gives them little memory: see `LIMIT`. `fill` takes memory until Ray's monitor ends the worker, if the step
    works on more than `FILLING` rows at a time, and `overfill` in any case. `version` is a node with another version.
    Several steps have a space between them.
    """
    clear()
    (_folder() / "fault.json").write_text(json.dumps({"step": step, "fault": fault, "times": times}))


def clear() -> None:
    """Let no step fail."""
    for path in _folder().iterdir():
        path.unlink()


def planted_times() -> int:
    """How often the fault has happened."""
    return len(list(_folder().glob("happened-*")))


def _folder() -> Path:
    return Path(os.environ[FAULTS])


def install() -> None:
    """In a worker: wrap the steps. Ray looks them up by their names in their modules."""
    import ctypes  # noqa: PLC0415 - in the worker
    import importlib  # noqa: PLC0415 - in the worker

    # glibc would keep what is freed, up to 64 MB, and a step with little memory would be given that. With a threshold
    # that does not grow (`M_MMAP_THRESHOLD`), every array has pages of its own and gives them back.
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).mallopt(-3, 128 << 10)
    for step, module in STEPS.items():
        home = importlib.import_module(f"ioukit.scale.engines.{module}")
        setattr(home, step, _faulty(step, getattr(home, step)))


def _faulty(step: str, function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any) -> Any:
        fault = _next(step)
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "memory":
            raise MemoryError("planted")
        if fault == "sleep":
            time.sleep(120)
        if fault == "wait":
            time.sleep(4)
        if fault == "overfill" or (fault == "fill" and arguments[0] > FILLING):
            _fill()
        if fault == "version":
            return function("0.0.1", *arguments[1:])
        if fault == "twice":
            function(*arguments)
        with _limited() if fault == "limit" else contextlib.nullcontext():
            return function(*arguments)

    return run


def _fill() -> None:
    """Take memory until the worker is ended: at most `FILLED` bytes, and for a while."""
    held = []
    for _ in range(FILLED // 50_000_000):
        held.append(b"\1" * 50_000_000)
        time.sleep(0.05)  # the monitor sees it before the system does
    time.sleep(20)


@contextlib.contextmanager
def _limited() -> Iterator[None]:
    """Little memory: of the heap and of private pages, not of the object store, which is shared."""
    import resource  # noqa: PLC0415 - not on Windows

    lines = Path("/proc/self/status").read_text().splitlines()
    taken = next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmData"))
    limits = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (taken + LIMIT, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, limits)


def _next(step: str) -> str | None:
    try:
        planted = json.loads((_folder() / "fault.json").read_text())
    except FileNotFoundError:
        return None
    if step not in planted["step"].split():
        return None
    for number in range(planted["times"]):
        try:
            os.close(os.open(_folder() / f"happened-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return str(planted["fault"])
    return None
