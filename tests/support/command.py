"""The command `ioukit`: in this process to check its output, in a process of its own to check its use of streams."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest import mock

from ioukit.cli import main

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Outcome", "run_fresh", "run_here"]


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: Any
    out: str
    err: str


def run_here(*arguments: str | Path) -> Outcome:
    """Runs the command in this process: fast, and enough except for streams and crashes."""
    out, err = io.StringIO(), io.StringIO()
    code: Any = None
    with (
        mock.patch.object(sys, "argv", ["ioukit", *map(str, arguments)]),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code
    return Outcome(code, out.getvalue(), err.getvalue())


def run_fresh(*arguments: str | Path, **options: Any) -> Outcome:
    """Runs the command in a new process; `options` go to `subprocess.run`."""
    command = [sys.executable, "-m", "ioukit", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False, **options)
    return Outcome(done.returncode, done.stdout, done.stderr)
