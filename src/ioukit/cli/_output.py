"""Where results go: standard output, or a file that appears complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import os
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ioukit._output import check_output, printable, whole_file, write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

__all__ = [
    "check_output",
    "discard",
    "print_result",
    "printable",
    "standard_output",
    "whole_file",
    "write_markdown",
    "write_whole",
]

# Windows does not have this signal; there, a closed pipe ends a command with the same number.
_SIGPIPE = getattr(signal, "SIGPIPE", 13)


class _UnwritableError(Exception):
    """Standard output cannot be written. It is not an `OSError`, because that would look like an error about a file."""


class _Checked:
    """A stream whose errors are `_UnwritableError`; the rest is passed to the stream."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> Any:
        return self._checked(lambda: self._stream.write(text))

    def flush(self) -> None:
        self._checked(self._stream.flush)

    @staticmethod
    def _checked(act: Callable[[], Any]) -> Any:
        try:
            return act()
        except OSError as error:
            raise _UnwritableError from error


@contextlib.contextmanager
def standard_output() -> Iterator[None]:
    """Ends the command if standard output cannot be written, with one line on stderr and exit code 2.

    If the reader has closed it (``| head``), the command ends without a message, with the exit code of a shell tool.
    """
    stream = sys.stdout
    if stream is not None:
        sys.stdout = _Checked(stream)
    try:
        yield
    except _UnwritableError as error:
        if stream is not None:
            discard(stream)
        _end(error.__cause__)
    finally:
        sys.stdout = stream


def _end(error: BaseException | None) -> NoReturn:
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        raise SystemExit(128 + _SIGPIPE) from None
    reason = (error.strerror or str(error)) if isinstance(error, OSError) else "it is closed"
    typer.echo(f"Error: standard output cannot be written: {reason}", err=True)
    raise SystemExit(2) from None


def discard(stream: Any) -> None:
    """Discards the unwritten text of a stream, because the interpreter flushes it at its exit and would complain."""
    with contextlib.suppress(OSError, ValueError):  # a stream in memory has no file descriptor
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_result(text: str) -> None:
    """Writes `text` and a line break to standard output."""
    if sys.stdout is None:
        raise _UnwritableError
    if hasattr(sys.stdout, "reconfigure"):  # a test may have replaced the stream
        sys.stdout.reconfigure(errors="backslashreplace")  # the code page of an old console lacks most letters
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def write_markdown(path: Path, text: str) -> None:
    """Replaces the file; the summary of a job of GitHub Actions is appended to, as other commands of the step do."""
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary and os.path.realpath(path) == os.path.realpath(summary):
        with open(path, "ab", buffering=0) as file:
            file.write(text.encode())
    else:
        write_whole(path, text)
