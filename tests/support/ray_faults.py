"""Faults in the tasks of a Ray cluster: what a task does is read from a file whenever a step begins."""

from __future__ import annotations

import functools
import json
import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FAULTS", "STEPS", "clear", "install", "plant", "planted_times"]

FAULTS = "IOUKIT_TEST_FAULTS"
"""The environment variable with the folder in which the faults are described."""
STEPS = {
    "split_step": "ray_steps",
    "match_step": "ray_steps",
    "draw_of_files": "ray_steps",
    "draw_of_runs": "ray_steps",
    "conduct": "ray_conductor",
}


def plant(step: str, fault: str, times: int) -> None:
    """Let the next calls of a step `kill` their worker, run out of `memory`, `sleep`, `wait` or run `twice`."""
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
    import importlib  # noqa: PLC0415 - in the worker

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
        if fault == "twice":
            function(*arguments)
        return function(*arguments)

    return run


def _next(step: str) -> str | None:
    try:
        planted = json.loads((_folder() / "fault.json").read_text())
    except FileNotFoundError:
        return None
    if planted["step"] != step:
        return None
    for number in range(planted["times"]):
        try:
            os.close(os.open(_folder() / f"happened-{number}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            continue
        return str(planted["fault"])
    return None
