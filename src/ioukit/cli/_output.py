"""Where results go: stdout, or a file that appears whole or not at all."""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
from pathlib import Path

import typer

__all__ = ["check_output", "print_result", "printable", "write_whole"]

# Windows has no such signal; a closed pipe ends a command with the same number there.
_SIGPIPE = getattr(signal, "SIGPIPE", 13)


def printable(text: str) -> str:
    """`text` with whatever a terminal would obey (escape codes, line breaks) or cannot show written as an escape."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


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


def check_output(path: Path, inputs: list[Path]) -> None:
    """Raises `ValueError` if `path` is one of the inputs or cannot become a file: before the work, not after it."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder, expected a file to write")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    for source in inputs:
        if path.exists() and source.exists() and path.samefile(source):
            raise ValueError(f"{path} is an input and would be overwritten")


def write_whole(path: Path, text: str) -> None:
    """Writes a file beside `path` and renames it: `path` never holds half of it, whatever happens meanwhile."""
    target = Path(os.path.realpath(path))  # a link goes on pointing where it points
    if target.exists() and not stat.S_ISREG(target.stat().st_mode):
        target.write_text(text, encoding="utf-8")  # a pipe or /dev/null must not be replaced by a file
        return
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with open(beside, "x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            beside.unlink()
        raise
