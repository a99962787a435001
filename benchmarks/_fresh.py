"""Runs a Python program in a fresh process: wall time and peak memory, which the user would feel, and work."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Run", "run_command", "run_in_turns", "run_program"]

# Compiled files are kept, as pip leaves them. Where a user turned that off, what pip installed still has its own, while
# ioukit, used in place, would be compiled again in every process.
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
# ru_maxrss is in bytes on macOS and in kilobytes elsewhere.
_RSS_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Run:
    """What one process took and printed."""

    wall: float  # seconds, start of the interpreter included
    peak: int  # bytes of resident memory, mapped files included
    output: str
    work: float  # seconds of all processors together, which other programs on the machine hardly change


def run_command(command: Sequence[str]) -> Run:
    """Runs a command to its end; raises `RuntimeError` with its last words if it fails.

    Linux counts the memory of the parent towards the child's peak until the child calls exec, so the caller has to stay
    small: no NumPy in the process that measures.
    """
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=err, env=_ENVIRONMENT)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)  # wait4 took it from Popen
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"exit code {process.returncode} from {command[:2]}: {err.read()[-400:]}")
        return Run(wall, usage.ru_maxrss * _RSS_UNIT, out.read(), usage.ru_utime + usage.ru_stime)


def run_program(program: str, *arguments: str) -> Run:
    """Runs Python source in a fresh interpreter, `sys.argv[1:]` being `arguments`."""
    return run_command([sys.executable, "-c", program, *arguments])


def run_in_turns(programs: Mapping[str, str], rounds: int, *arguments: str) -> dict[str, list[Run]]:
    """Runs every program once a round, in fresh processes; one whose library is not installed is left out."""
    left = dict(programs)
    runs: dict[str, list[Run]] = {}
    for _ in range(rounds):
        for name, program in list(left.items()):
            try:
                run = run_program(program, *arguments)
            except RuntimeError as error:
                if "ModuleNotFoundError" not in str(error):
                    raise
                del left[name]
                continue
            runs.setdefault(name, []).append(run)
    return runs
