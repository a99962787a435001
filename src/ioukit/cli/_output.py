"""Where results go: stdout, or a file that appears whole or not at all."""

from __future__ import annotations

import os
import signal
import sys

import typer

from ioukit._output import check_output, printable, write_whole

__all__ = ["check_output", "print_result", "printable", "write_whole"]

# Windows has no such signal; a closed pipe ends a command with the same number there.
_SIGPIPE = getattr(signal, "SIGPIPE", 13)


def print_result(text: str) -> None:
    """Writes `text` to stdout; where the reader has closed it (`| head`), ends the command as a shell tool would."""
    if hasattr(sys.stdout, "reconfigure"):  # not where a test has put another stream in its place
        sys.stdout.reconfigure(errors="backslashreplace")  # an old console's code page lacks most names
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        # The interpreter flushes once more as it exits, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(128 + _SIGPIPE) from None
