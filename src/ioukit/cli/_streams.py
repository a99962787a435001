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
from ioukit._progress import watched

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType


# Windows does not have this signal; there, a closed pipe ends a command with the same number.
_SIGPIPE = getattr(signal, "SIGPIPE", 13)
_MOMENT = 0.5  # seconds: a line that shows for less would only flicker
_ALL = 1 - 1e-9  # shares are sums of rounded parts


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
    def busy(self, text: str, *, steps: int | None = None, tells: bool = False) -> Iterator[Callable[[str], None]]:
        """Shows on a terminal that work goes on, and for how long, once it has taken a moment.

        Args:
            text: What goes on.
            steps: In how many steps; a bar shows how many are done. ``None`` if that is unknown.
            tells: Whether the calls in the block tell how far all of it is, see `ioukit._progress`. Where they are a
                part of it, as intervals are of a report, a bar would say that it is done too early.

        Yields:
            What begins the next step, with a few words about it. Lines are printed after the block.
        """
        if not self.on_terminal:
            yield lambda _: None
            return
        line = _BusyLine(text, steps)
        line.start()
        try:
            with watched(line.show_share) if tells else contextlib.nullcontext():
                yield line.begin
        finally:
            line.end()


class _BusyLine(threading.Thread):
    """A line of a terminal that says what goes on. It shows after a moment, and disappears at the end."""

    def __init__(self, text: str, steps: int | None) -> None:
        super().__init__(daemon=True)
        self._text, self._steps, self._done = text, steps, 0 if steps is None else -1
        self._share: float | None = None
        self._over = threading.Event()

    def begin(self, text: str) -> None:
        """The next step begins."""
        self._text, self._done = text, self._done + 1

    def show_share(self, share: float) -> None:
        """This share of the work is done."""
        self._share = share

    def end(self) -> None:
        """The work is over; the line is gone when this returns."""
        self._over.set()
        self.join()

    def run(self) -> None:
        if self._over.wait(_MOMENT):
            return
        # Imported here, because the import of Rich takes longer than most work does.
        from rich import progress  # noqa: PLC0415
        from rich.console import Console  # noqa: PLC0415
        from rich.table import Column  # noqa: PLC0415

        spinner = progress.SpinnerColumn()
        words = progress.TextColumn("{task.description}", markup=False, table_column=Column(ratio=1, no_wrap=True))
        bar, left = progress.BarColumn(20), progress.TimeRemainingColumn()
        # Long words are cut, not the numbers before them.
        of_time = spinner, progress.TimeElapsedColumn(), words
        of_steps = spinner, bar, progress.MofNCompleteColumn(), left, words
        of_share = spinner, bar, progress.TaskProgressColumn(), left, words
        with progress.Progress(
            *(of_time if self._steps is None else of_steps),
            console=Console(stderr=True),
            transient=True,
            expand=True,
            auto_refresh=False,
            redirect_stdout=False,  # the other thread may exchange the streams meanwhile
            redirect_stderr=False,
        ) as line:
            task = line.add_task("", total=self._steps)
            while True:
                share = self._share
                if share is None:
                    line.update(task, completed=self._done)
                else:
                    line.columns = of_share if share < _ALL else of_time  # a little may follow
                    line.update(task, total=1, completed=min(share, _ALL))  # at 1, its clock stops
                line.update(task, description=self._text, refresh=True)
                if self._over.wait(0.1):
                    return


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
