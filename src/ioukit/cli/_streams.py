"""The streams and signals of a command: results on stdout, lines for a person on stderr, an end at a signal.

Owns: what happens if a stream is closed or its disk is full, spinners and bars on a terminal, and the clean end at
SIGTERM. Does not own: files and ``--json`` (`_output.py`), nor which errors end a command (`_errors.py`).
"""

from __future__ import annotations

import contextlib
import errno
import os
import shlex
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from ioukit._output import in_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


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


class _Forgiving(_Checked):
    """A stream that loses what it cannot write: results and exit codes do not depend on what is said beside them."""

    def write(self, text: str) -> Any:
        try:
            return super().write(text)
        except _UnwritableError:
            _discard(self._stream)
            return len(text)

    def flush(self) -> None:
        with contextlib.suppress(_UnwritableError):
            super().flush()


@contextlib.contextmanager
def standard_error() -> Iterator[None]:
    """Lets a command go on, and end with its exit code, if standard error is closed or its disk is full."""
    stream = sys.stderr
    if stream is not None:
        sys.stderr = _Forgiving(stream)
    try:
        yield
    finally:
        sys.stderr = stream


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
            _discard(stream)
        _end(error.__cause__)
    finally:
        sys.stdout = stream


def _end(error: BaseException | None) -> NoReturn:
    if isinstance(error, OSError) and error.errno == errno.EPIPE:
        raise SystemExit(128 + _SIGPIPE) from None
    reason = in_words(error) if isinstance(error, OSError) else "it is closed"
    typer.echo(f"Error: standard output cannot be written: {reason}", err=True)
    raise SystemExit(2) from None


def _discard(stream: Any) -> None:
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


def has_colours() -> bool:
    """Whether standard output is a terminal that may have colours (https://no-color.org)."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return not plain and sys.stdout is not None and sys.stdout.isatty()


class Talk:
    """Lines for a person; scripts read only stdout.

    Args:
        quiet: Print nothing.
    """

    def __init__(self, *, quiet: bool) -> None:
        # If stderr is closed, print(file=None) would write to stdout.
        self._stream = None if quiet else sys.stderr

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is printed."""
        return self._stream is None

    @property
    def on_terminal(self) -> bool:
        """Whether a person may be watching."""
        return self._stream is not None and self._stream.isatty()

    def say(self, line: str) -> None:
        """Prints one line."""
        if self._stream is not None:
            print(line, file=self._stream, flush=True)

    def suggest(self, *words: str, again: bool = True) -> None:
        """Names the command that shows more, on a terminal.

        Args:
            words: Its words.
            again: Whether they are further words of this command.
        """
        if self.on_terminal:
            self.say(f"next  {shlex.join(['ioukit', *(sys.argv[1:] if again else ()), *words])}")

    @contextlib.contextmanager
    def busy(self, text: str, *, long: bool) -> Iterator[None]:
        """Shows that work goes on: a spinner, for `long` work and on a terminal only.

        Rich is imported here, because its import takes longer than most work does.
        """
        if not long or not self.on_terminal:
            yield
            return
        from rich.console import Console  # noqa: PLC0415

        with Console(stderr=True).status(text):
            yield

    @contextlib.contextmanager
    def steps(self, total: int, *, long: bool) -> Iterator[Callable[[str], None]]:
        """Gives the block a function that begins the next of so many steps, with a few words about it.

        A bar shows them on a terminal, for `long` work. It disappears at the end. Lines are printed after the block.
        """
        if not long or not self.on_terminal:
            yield lambda _: None
            return
        # Imported here, because the import of Rich takes longer than most work does.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn  # noqa: PLC0415

        columns = (
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=total, completed=-1)

            def begin(words: str) -> None:
                bar.update(task, description=words, advance=1, refresh=True)

            yield begin


def _stop(number: int, _: FrameType | None) -> NoReturn:
    raise SystemExit(128 + number)


@contextlib.contextmanager
def stopped_by_signals() -> Iterator[None]:
    """Makes SIGTERM and SIGHUP raise an exception in the block, as Ctrl-C does, so that unfinished files are removed.

    The exit code is that of a shell, 128 plus the number of the signal. A signal that is ignored, as under nohup, stays
    ignored.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread may set handlers
        yield
        return
    names = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Windows has no SIGHUP
    numbers = [getattr(signal, name) for name in names]
    changed = [number for number in numbers if signal.getsignal(number) is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, signal.SIG_DFL)
